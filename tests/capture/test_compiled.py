"""How a hook finds its own modules: at once where they are compiled as they should be, else as Python does."""

from __future__ import annotations

import json
import os
import py_compile
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from capture import compiled, paths
from capture.install import bytecode

_HOW = """
import os, sys
leave = os._exit
def tell(code):
    ours = {n: type(getattr(m.__spec__, "loader", None)).__name__
            for n, m in sys.modules.items() if n.startswith(("capture.", "nmem."))}
    os.write(1, "\\n".join(f"{n} {how}" for n, how in ours.items()).encode())
    leave(code)
os._exit = tell
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A module and a package of one, both compiled."""
    made = tmp_path / "one.py"
    made.write_text("WORD = 'first'\n")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "__init__.py").write_text("WORD = 'package'\n")
    for each in (made, tmp_path / "more" / "__init__.py"):
        py_compile.compile(str(each), bytecode._compiled(str(each)), doraise=True)
    return made


def found(name: str, folder: Path) -> str | None:
    """What a module says that is found this way; None where Python is left to find it."""
    finder = compiled._Finder()
    spec = finder.find_spec(name, [str(folder)])
    if spec is None:
        return None
    module = type(sys)(name)
    module.__spec__ = spec
    finder.exec_module(module)
    assert module.__file__ == spec.origin
    return str(module.WORD)


def test_a_compiled_module_and_a_package_are_found(source: Path) -> None:
    assert found("capture.one", source.parent) == "first"
    assert found("nmem.more", source.parent) == "package"
    spec = compiled._Finder().find_spec("nmem.more", [str(source.parent)])
    assert spec is not None
    assert spec.submodule_search_locations == [f"{source.parent}/more"]


def test_what_is_not_ours_or_not_there_is_left_to_python(source: Path) -> None:
    assert found("json.one", source.parent) is None
    assert found("capture.two", source.parent) is None
    assert compiled._Finder().find_spec("capture", None) is None


@pytest.mark.parametrize("change", ["newer", "longer", "damaged", "empty", "other interpreter", "by hash", "gone"])
def test_bytecode_that_is_not_of_this_very_source_is_not_believed(source: Path, change: str) -> None:
    kept = Path(bytecode._compiled(str(source)))
    state, data = source.stat(), kept.read_bytes()
    if change == "newer":
        os.utime(source, (state.st_atime, state.st_mtime + 2))
    elif change == "longer":
        source.write_text("WORD = 'second'\n")
        os.utime(source, (state.st_atime, state.st_mtime))
    elif change == "by hash":
        py_compile.compile(str(source), str(kept), invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    elif change == "gone":
        source.unlink()
    else:
        kept.write_bytes({"damaged": data[:40], "empty": b"", "other interpreter": b"\0\0" + data[2:]}[change])
    assert found("capture.one", source.parent) is None


def test_a_hook_finds_all_of_its_modules_so(tmp_path: Path, hook: Callable[..., object], db_path: str) -> None:
    if bytecode.make():
        pytest.skip("nothing can be written beside the sources")
    payload = {"session_id": "s", "cwd": str(tmp_path), "prompt": "make the parser faster"}
    hook(payload, "UserPromptSubmit")
    entry = paths.entry()
    run = (
        f"{_HOW}sys.argv = {[entry, 'claude', 'UserPromptSubmit', '--db', db_path]!r}\n"
        f"exec(compile(open({entry!r}).read(), {entry!r}, 'exec'), {{'__name__': '__main__', '__file__': {entry!r}}})"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", run], input=json.dumps(payload).encode(),
                          capture_output=True, timeout=300)  # fmt: skip
    how = dict(line.split() for line in done.stdout.decode().splitlines() if line.startswith(("capture.", "nmem.")))
    assert how.pop("capture.compiled") == "SourceFileLoader"
    assert len(how) > 40
    assert set(how.values()) <= {"_Finder", "NoneType"}, "one by one, or of a pack"


@pytest.mark.parametrize("module", ["capture/hook", "capture/compiled", "capture/storage/store", "nmem/live"])
def test_bytecode_that_a_full_disk_cut_short_stops_no_hook(tmp_path: Path, module: str, db_path: str) -> None:
    """Its head is whole, so Python itself believes it and fails: it is taken away and made anew."""
    here = Path(compiled.__file__).parents[1]
    for package in ("capture", "nmem"):
        shutil.copytree(here / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / f"{module}.py"
    kept = Path(bytecode._compiled(str(source)))
    py_compile.compile(str(source), str(kept), doraise=True)
    kept.write_bytes(kept.read_bytes()[:100])
    words = [sys.executable, "-I", "-S", str(tmp_path / "nmem" / "entry.py"), "claude", "UserPromptSubmit"]
    payload = {"session_id": "s", "cwd": str(tmp_path), "prompt": "make the parser faster"}
    done = subprocess.run([*words, "--db", db_path], input=json.dumps(payload).encode(), capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    with closing(sqlite3.connect(db_path)) as db:
        assert db.execute("SELECT content FROM prompts").fetchall() == [("make the parser faster",)]
    assert len(kept.read_bytes()) > 100


def test_bytecode_that_was_cut_short_and_cannot_be_taken_away_is_passed_over(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Path(bytecode._compiled(str(source)))
    kept.write_bytes(kept.read_bytes()[:40])

    def refused(_path: str) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "unlink", refused)
    assert found("capture.one", source.parent) == "first"
