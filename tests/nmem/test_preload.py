"""The modules of a hook in one file: used when fresh, passed over when anything about them is odd."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from capture import compiled
from nmem import packs, preload

ROOT = Path(preload.__file__).parents[1]
_FOUND = """
import os, sys
leave = os._exit
def tell(code):
    one_by_one = [n for n, m in sys.modules.items() if n.startswith(("capture.", "nmem.")) and m.__spec__ is not None]
    os.write(1, " ".join(one_by_one).encode())
    leave(code)
os._exit = tell
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both packages, compiled, and the packs of their hooks."""
    folder = tmp_path_factory.mktemp("installed")
    for package in ("capture", "nmem"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "from capture.install import bytecode\nfrom nmem import packs\n"
        "assert not bytecode.make() and packs.make()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300, cwd=folder)
    return folder


@pytest.fixture
def copy(packed: Path, tmp_path: Path) -> Path:
    """One of a test's own; sources keep their times."""
    for package in ("capture", "nmem"):
        shutil.copytree(packed / package, tmp_path / "own" / package, copy_function=shutil.copy2)
    return tmp_path / "own"


def run(above: Path, event: str, db_path: Path, **payload: object) -> list[str]:
    """Run a hook of the packages there; its modules that were looked up one by one."""
    entry = str(above / "nmem" / "entry.py")
    code = (
        f"{_FOUND}sys.argv = {[entry, 'claude', event, '--db', str(db_path)]!r}\n"
        f"exec(compile(open({entry!r}).read(), {entry!r}, 'exec'), {{'__name__': '__main__', '__file__': {entry!r}}})"
    )
    given = {"session_id": "s", "cwd": str(db_path.parent), "hook_event_name": event, **payload}
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], input=json.dumps(given).encode(),
                          capture_output=True, timeout=300, check=True)  # fmt: skip
    assert done.stderr == b""
    return done.stdout.decode().split()


def turn(above: Path, folder: Path) -> tuple[list[list[str]], list[tuple[object, ...]]]:
    """Two turns of a session: what was looked up one by one in each hook, and what was stored."""
    db_path, looked_up = folder / "nmem.db", []
    for number in range(2):
        looked_up += [
            run(above, "UserPromptSubmit", db_path, prompt=f"Make the parser of the settings faster: {number}."),
            run(above, "PostToolUse", db_path, tool_name="Bash", tool_input={"command": f"ls {number}"},
                tool_response={"stdout": "a.py"}, tool_use_id=f"toolu_{number}"),
            run(above, "Stop", db_path, last_assistant_message=f"It is faster: {number}.", stop_hook_active=False),
        ]  # fmt: skip
    with closing(sqlite3.connect(db_path)) as db:
        rows = db.execute("SELECT source, content FROM prompts UNION ALL SELECT tool_name, content FROM observations")
        return looked_up[3:], sorted(rows.fetchall(), key=str)


def test_a_turn_looks_up_hardly_a_module_and_stores_the_same(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    looked_up, rows = turn(packed, tmp_path / "with")
    cuts = {"capture.settle"}  # started where the write-ahead log has grown, which another process may have held
    prompt, call, end = (len(set(names) - cuts) for names in looked_up)
    assert (prompt, end) <= (3, 3), looked_up
    assert call <= 25, "a command is looked into and labelled, which other calls are not"
    plain = tmp_path / "plain"
    for package in ("capture", "nmem"):
        shutil.copytree(
            packed / package, plain / package, copy_function=shutil.copy2, ignore=shutil.ignore_patterns("*.pack")
        )
    looked_up, same = turn(plain, tmp_path / "without")
    assert min(map(len, looked_up)) > 30
    assert rows == same
    assert len(rows) == 6


@pytest.mark.parametrize("change", ["newer", "longer", "cut", "empty", "other", "gone"])
def test_a_pack_that_is_not_of_these_sources_is_passed_over(copy: Path, tmp_path: Path, change: str) -> None:
    source, pack = copy / "capture" / "keys.py", Path(preload.pack(str(copy), "end"))
    data, state = pack.read_bytes(), source.stat()
    if change == "newer":
        os.utime(source, (state.st_atime, state.st_mtime + 2))
    elif change == "longer":
        source.write_text(source.read_text() + "\n")
        os.utime(source, (state.st_atime, state.st_mtime))
    elif change == "gone":
        pack.unlink()
    else:
        pack.write_bytes({"cut": data[:-900], "empty": b"", "other": b"\0\0" + data[2:]}[change])
    assert not packs.fresh(str(copy))
    db_path = tmp_path / "nmem.db"
    looked_up = run(copy, "Stop", db_path, last_assistant_message="Done.", stop_hook_active=False)
    assert len(looked_up) > 30
    with closing(sqlite3.connect(db_path)) as db:
        assert db.execute("SELECT content FROM prompts").fetchall() == [("Done.",)]


def test_a_pack_whose_code_fails_stops_no_hook(copy: Path, tmp_path: Path) -> None:
    from marshal import dumps

    pack = Path(preload.pack(str(copy), "end"))
    rows = dumps([("capture.keys", False, compiled.stamp(str(copy / "capture" / "keys.py")))])
    code = dumps([(compile("raise MemoryError", "keys.py", "exec"), (), 0, 0)])
    sizes = [len(part).to_bytes(4, "little") for part in (rows, code, b"")]
    pack.write_bytes(b"".join((preload.head(), *sizes, rows, code)))
    run(copy, "Stop", tmp_path / "nmem.db", last_assistant_message="Done.", stop_hook_active=False)
    with closing(sqlite3.connect(tmp_path / "nmem.db")) as db:
        assert db.execute("SELECT content FROM prompts").fetchall() == [("Done.",)]


def test_a_pack_whose_end_is_damaged_loses_no_event_and_is_made_anew(copy: Path, tmp_path: Path) -> None:
    for kind in ("prompt", "end"):
        pack = Path(preload.pack(str(copy), kind))
        with pack.open("rb") as file:
            _, begins, size = preload.rows_of(str(copy), file.fileno())
        data = pack.read_bytes()
        assert len(data) > begins + size
        pack.write_bytes(data[: begins + size] + bytes(len(data) - begins - size))
    assert not packs.fresh(str(copy))
    said = f"Look at src/parser.py\u200b: STRIPE_KEY=sk_live_{'4eC39HqLyjWDarjtT1zdp7dc'} fails"
    run(copy, "UserPromptSubmit", tmp_path / "nmem.db", prompt=said, session_id="a")
    run(copy, "Stop", tmp_path / "nmem.db", last_assistant_message=said, stop_hook_active=False, session_id="a")
    with closing(sqlite3.connect(tmp_path / "nmem.db")) as db:
        rows = [row[0] for row in db.execute("SELECT content FROM prompts")]
    assert len(rows) == 2
    assert not any("4eC39" in row or "\u200b" in row for row in rows)


def test_an_answer_that_is_nested_deep_is_stored_as_without_packs(packed: Path, tmp_path: Path) -> None:
    deep: object = "\ud800"
    for _ in range(400):
        deep = [deep]
    given = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": deep}
    run(packed, "PostToolUse", tmp_path / "nmem.db", **given)
    with closing(sqlite3.connect(tmp_path / "nmem.db")) as db:
        assert db.execute("SELECT content FROM observations").fetchall() == [("make",)]


def test_functions_that_a_pack_is_without_are_there_when_called(packed: Path, tmp_path: Path) -> None:
    """A secret, hidden characters and a file: no hook of those that were traced meets any of them."""
    key = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    said = f"Look at src/parser.py\u200b: STRIPE_KEY={key} fails in test_parser.py::test_x, see https://x.example/i/7"
    rows = []
    for name in ("with", "without"):
        above, folder = packed, tmp_path / name
        if name == "without":
            above = tmp_path / "plain"
            for package in ("capture", "nmem"):
                ignore = shutil.ignore_patterns("*.pack")
                shutil.copytree(packed / package, above / package, copy_function=shutil.copy2, ignore=ignore)
        folder.mkdir()
        for session in "ab":
            run(above, "UserPromptSubmit", folder / "nmem.db", prompt=f"{said} {session}", session_id=session)
        run(above, "Stop", folder / "nmem.db", last_assistant_message=said, stop_hook_active=False, session_id="a")
        with closing(sqlite3.connect(folder / "nmem.db")) as db:
            rows.append(db.execute("SELECT source, content FROM prompts ORDER BY id").fetchall())
    assert rows[0] == rows[1]
    assert len(rows[0]) == 3
    assert key not in str(rows[0])


def test_without_leave_to_write_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "fresh", lambda _above: False)
    monkeypatch.setattr(packs, "_traced", lambda _above: pytest.fail("nothing is to be measured"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert not packs.make()


def test_what_is_packed_by_name_is_there_and_named_once() -> None:
    for names in (packs._WORDED, packs._TOLD):
        assert len(names) == len(set(names))
        assert all(importlib.util.find_spec(name) is not None for name in names)
