"""What a hook loads: only the standard library, and of that only what is cheap."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import capture
import nmem
from capture import paths

_NAMES = """re json dataclasses typing enum pathlib datetime logging hashlib sqlite3 collections functools threading
subprocess tempfile argparse tomllib uuid contextlib shlex asyncio traceback inspect importlib ast random urllib
socket"""
COSTLY = set(_NAMES.split())
PROBE = """
import sys
sys.argv = {argv!r}
sys.path.append({here!r}) if {listed} else None
import os
leave = os._exit
def tell(code):
    os.write(1, "\\n".join(f"{{n}}\\t{{getattr(m, '__file__', None) or ''}}" for n, m in sys.modules.items()).encode())
    leave(code)
os._exit = tell
exec(compile(open({entry!r}).read(), {entry!r}, "exec"), {{"__name__": "__main__", "__file__": {entry!r}}})
"""


def loaded(payload: dict[str, object], event: str, db: str, listed: bool = False) -> dict[str, str]:
    entry = paths.entry()
    here = str(Path(entry).parents[1])
    code = PROBE.format(argv=[entry, "claude", event, "--db", db], entry=entry, here=here, listed=listed)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], input=json.dumps(payload).encode(),
                          capture_output=True, timeout=300)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    return dict(line.split("\t") for line in done.stdout.decode().splitlines())


def test_a_tool_call_loads_nothing_foreign_and_nothing_costly(
    bash: Callable[..., dict[str, object]], db_path: str, hook: Callable[..., object], rows: Callable[[str], list[int]]
) -> None:
    hook(bash(0))
    modules = loaded(bash(1, "cd src && make -j4 all | tee build.log"), "PostToolUse", db_path)
    assert rows("SELECT count(*) FROM observations") == [2]
    assert not COSTLY & set(modules)
    package = str(Path(capture.__file__).parent), str(Path(nmem.__file__).parent)
    library = {str(Path(folder)) for folder in sys.path if "site-packages" not in folder}
    assert {name for name in modules if name.startswith("nmem.")} <= {"nmem.entry", "nmem.preload", "nmem.live"}
    for name, file in modules.items():
        assert name == "__main__" or name.split(".")[0] in sys.stdlib_module_names | {"capture", "nmem"}, name
        assert "site-packages" not in file or file.startswith(package), name
        assert not file or file.startswith((*package, *library, sys.base_prefix)), (name, file)


def test_a_prompt_loads_nothing_costly(db_path: str, hook: Callable[..., object]) -> None:
    payload: dict[str, object] = {"session_id": "s", "cwd": "/srv/x", "prompt": "make the parser faster"}
    hook(payload, "UserPromptSubmit")
    assert not COSTLY & set(loaded({**payload, "prompt": "and smaller"}, "UserPromptSubmit", db_path))


def test_the_schema_is_not_read_once_the_database_is_there(
    bash: Callable[..., dict[str, object]], db_path: str, hook: Callable[..., object]
) -> None:
    hook(bash(0))
    modules = loaded(bash(1), "PostToolUse", db_path)
    assert not {
        "capture.storage.schema",
        "capture.storage.spool",
        "capture.settle",
        "capture.salvage",
        "capture.log",
    } & set(modules)


def test_it_also_runs_as_a_console_script(db_path: str, bash: Callable[..., dict[str, object]],
                                          rows: Callable[[str], list[str]]) -> None:  # fmt: skip
    code = "import sys; sys.argv = ['nmem-hook', 'claude', 'PostToolUse']; from nmem.entry import main; main()"
    done = subprocess.run([sys.executable, "-c", code], input=json.dumps(bash()).encode(), capture_output=True,
                          timeout=300, cwd=Path(capture.__file__).parents[1])  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert rows("SELECT content FROM observations") == ["make all"]
