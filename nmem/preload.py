"""The modules of a hook in one file: loading them at once costs half of loading them one by one.

A pack holds the code of what one kind of hook always needs, in the order in which that may run. Each source's time and
size decide whether its pack is used, by Python's own rule for bytecode: one that differs, and the modules are looked
up as ever. Packs lie beside the bytecode; settling makes those that are missing or stale.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

    Row = tuple[str, bool, bytes]
    """A module's name, whether it is a package, and the stamp of its source."""

KINDS = {
    "PreToolUse": "before", "PostToolUse": "tool", "PostToolUseFailure": "tool", "AfterTool": "tool",
    "UserPromptSubmit": "prompt", "BeforeAgent": "prompt", "Stop": "end", "AfterAgent": "end",
}  # fmt: skip
"""Events of the clients -> the pack that serves them."""
TELLING, LATER = "telling", "later"
"""The packs of what a prompt needs on top: where it may be told something, and where others came before it."""
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_MOST = 1 << 22
"""Bytes of the largest pack."""
_FROM = 12
"""Where the rows begin: after the head and their size."""


def pack(above: str, kind: str) -> str:
    """The file of a kind of hook, for packages that lie in the folder `above`."""
    return f"{above}/nmem/__pycache__/hook-{kind}.{sys.implementation.cache_tag}.pack"


def head() -> bytes:
    """Bytes that a pack of this interpreter begins with."""
    from _frozen_importlib_external import MAGIC_NUMBER

    return MAGIC_NUMBER + b"nmem"


def preload(above: str, kind: str) -> None:
    """Load a kind's modules; without a fresh pack, or where one module fails, nothing is lost."""
    from marshal import loads

    try:
        data = _read(pack(above, kind))
        rows = _rows(above, data)
        codes = loads(memoryview(data)[_rows_end(data) :]) if rows else []  # noqa: S302 -- as Python loads bytecode
    except (OSError, ValueError, EOFError, TypeError):
        return
    _run(above, rows, codes)


def begin(above: str, event: str) -> None:
    """Load what a hook of this event needs: the entry of a hook's own process calls it before anything else."""
    import gc

    gc.disable()  # the code of all these modules would be searched for garbage a dozen times
    kind = KINDS.get(event)
    if kind is not None:
        _above.append(above)
        preload(above, kind)


def more(kind: str) -> None:
    """Load what a hook needs on top, the first time that it asks; only in a hook's own process."""
    if _above and kind not in _loaded_kinds:
        _loaded_kinds.add(kind)
        preload(_above[0], kind)


_above: list[str] = []
_loaded_kinds: set[str] = set()


def _read(file: str, most: int = _MOST) -> bytes:
    handle = os.open(file, _FLAGS)
    try:
        return os.read(handle, most)
    finally:
        os.close(handle)


def _rows(above: str, data: bytes) -> list[Row]:
    """The modules of a pack; none where one of their sources is another than it was made of. Raises as `loads`."""
    from marshal import loads

    begins = head()
    if data[: len(begins)] != begins:
        return []
    rows: list[Row] = loads(data[_FROM : _rows_end(data)])  # noqa: S302 -- it lies beside the bytecode
    for name, package, made in rows:
        if stamp(source(above, name, package)) != made:
            return []
    return rows


def _rows_end(data: bytes) -> int:
    return _FROM + int.from_bytes(data[_FROM - 4 : _FROM], "little")


def _run(above: str, rows: list[Row], codes: list[CodeType]) -> None:
    """Make the modules, then run them: a package may be ready only after modules inside of it, which look it up."""
    modules, module_type = sys.modules, type(sys)
    waiting = []
    for (name, package, _), code in zip(rows, codes, strict=True):
        if name not in modules:
            module = modules[name] = module_type(name)
            module.__file__ = file = source(above, name, package)
            module.__package__ = name if package else name.rpartition(".")[0]
            if package:
                module.__path__ = [file[: -len("/__init__.py")]]
            waiting.append((module, code))
    waiting.reverse()
    try:
        while waiting:
            module, code = waiting[-1]
            exec(code, module.__dict__)  # noqa: S102 -- what Python does with a module
            parent, _, last = module.__name__.rpartition(".")
            setattr(modules[parent], last, module)
            waiting.pop()
    except BaseException:  # noqa: BLE001 -- the ordinary import says why, at the place that handles a failure
        for module, _ in waiting:
            del modules[module.__name__]


def source(above: str, name: str, package: bool) -> str:
    """The file of a module."""
    return f"{above}/{name.replace('.', '/')}{'/__init__' if package else ''}.py"


def stamp(file: str) -> bytes:
    """The time and size of a source, as bytecode notes them. Raises OSError."""
    state = os.stat(file)  # noqa: PTH116 -- on the hook's path
    return ((int(state.st_mtime) & 0xFFFFFFFF) | (state.st_size & 0xFFFFFFFF) << 32).to_bytes(8, "little")


def fresh(above: str) -> bool:
    """Whether all packs are there and of these sources."""
    try:
        return all(_rows(above, _read(pack(above, kind))) for kind in {*KINDS.values(), TELLING, LATER})
    except (OSError, ValueError, EOFError, TypeError):
        return False


def make() -> bool:
    """Make the packs anew unless all are fresh, from what hooks load in a scratch database. False: it was not possible.

    Costs a dozen short processes, once an installation.
    """
    import sqlite3
    from pathlib import Path
    from subprocess import SubprocessError

    from capture.files import replace

    above = str(Path(__file__).resolve().parent.parent)
    if fresh(above):
        return True
    try:
        if not os.access(Path(pack(above, TELLING)).parent, os.W_OK):
            return False
        for kind, names in _traced(above).items():
            replace(pack(above, kind), _packed(above, [*names, __name__]))  # another maker makes other packs
    except (OSError, SubprocessError, sqlite3.Error):
        return False
    return True


def _packed(above: str, names: list[str]) -> bytes:
    from marshal import dumps
    from pathlib import Path

    rows, codes = [], []
    for name in names:
        package = Path(source(above, name, True)).exists()
        file = source(above, name, package)
        rows.append((name, package, stamp(file)))
        codes.append(compile(Path(file).read_bytes(), file, "exec", dont_inherit=True))
    first = dumps(rows)
    return head() + len(first).to_bytes(4, "little") + first + dumps(codes)


_TRACE = """
import os, sys
sys.argv[0] = {entry!r}
done, leave = [], os._exit
def told(code):
    os.write(1, "\\n".join(["", *done]).encode())
    leave(code)
os._exit = told
sys.path[:] = [{above!r}, *sys.path]
from capture import compiled
run = compiled._Finder.exec_module
def exec_module(self, module):
    run(self, module)
    done.append(module.__name__)
compiled._Finder.exec_module = exec_module
compiled.install()
import nmem.entry
nmem.entry.main()
"""
"""Runs a hook in a process of its own that says which modules it loaded, in the order in which they were ready."""


def _traced(above: str) -> dict[str, list[str]]:
    """Kind of hook -> the modules that all of its kind load in a session that goes on, ready ones first."""
    import tempfile

    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (event, payload) in enumerate((*_TURN, *_TURN, *_TURN)):
            said = {"prompt": f"{_PROMPT} And again: {number}."} if event == "UserPromptSubmit" else {}
            names = _loaded(above, folder, event, {**payload, **said})  # the same prompt again would be none
            if number == 0:
                _fold(f"{folder}/data/nmem.db")
            if number >= len(_TURN):  # the first turn makes what later ones find
                kept = found.setdefault(KINDS[event], names)
                found[KINDS[event]] = [name for name in kept if name in names]
        first = _loaded(above, folder, "UserPromptSubmit", {"prompt": _PROMPT, "session_id": "another"})
    usual = found["prompt"]
    found["prompt"] = [name for name in usual if name in first]
    found[LATER] = [name for name in usual if name not in first]
    found[TELLING] = [*(name for name in first if name not in usual), *_WORDED]
    return found


def _fold(db_path: str) -> None:
    """Fold the log back: after the tables were made it is so large that each hook would look after it."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(db_path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _loaded(above: str, folder: str, event: str, payload: dict[str, object]) -> list[str]:
    import json
    import subprocess

    from capture.hook import SKIP
    from capture.settle import OFF

    given = {"session_id": "preload", "cwd": folder, "hook_event_name": event, **payload}
    code = _TRACE.format(entry=f"{above}/nmem/entry.py", above=above)
    words = [sys.executable, "-I", "-S", "-c", code, "claude", event, "--db", f"{folder}/data/nmem.db"]
    env = {name: value for name, value in os.environ.items() if name != SKIP}
    done = subprocess.run(
        words, input=json.dumps(given).encode(), capture_output=True, env={**env, OFF: "1"}, timeout=60, check=False
    )
    return [name for name in done.stdout.decode().split("\n") if name.startswith(("capture.", "nmem."))]


_BASH: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
_WORDED = ("nmem.context.budget", "nmem.context.marks", "nmem.context.compose")
"""What only a session with a past loads: the scratch database has none."""
_PROMPT = "Make the parser of the settings keep all comments, please."
_TURN: tuple[tuple[str, dict[str, object]], ...] = (
    ("UserPromptSubmit", {}),
    ("PreToolUse", _BASH),
    ("PostToolUse", {**_BASH, "tool_response": {"stdout": "2 passed", "stderr": "", "interrupted": False}}),
    ("PostToolUse", {"tool_name": "Read", "tool_input": {"file_path": "a.py"}, "tool_response": {"type": "text"}}),
    ("Stop", {"last_assistant_message": "The parser keeps comments.", "stop_hook_active": False}),
)
"""The hooks of a turn."""
