"""The registered command: any path survives the shell, and nmem knows its own again."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from capture.install import registered

AWKWARD = ["plain", "with space", "it's", 'say "hi"', "a$HOME`id`;&|*", "tab\there", "new\nline", "é ü"]


@pytest.mark.parametrize("package", ["nmem", "capture"])
@pytest.mark.parametrize("name", AWKWARD)
def test_a_command_of_any_path_runs_through_sh_and_is_known_again(name: str, package: str, tmp_path: Path) -> None:
    folder = tmp_path / name / package
    folder.mkdir(parents=True)
    entry = folder / "entry.py"
    entry.write_text("import sys; print(sys.argv[1:], sys.flags.isolated, sys.flags.no_site)")
    python = tmp_path / name / "python 3"
    python.symlink_to(registered.interpreter())
    line = registered.line(
        [str(python), "-I", "-S", str(entry), "claude", "Stop", "--db", f"/d/{name}.db"], windows=False
    )
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{['claude', 'Stop', '--db', f'/d/{name}.db']} 1 1"
    found = registered.recognise(line)
    assert found is not None
    assert (found.client, found.event, found.db) == ("claude", "Stop", f"/d/{name}.db")
    assert (found.interpreter, found.entry) == (str(python), str(entry))


@pytest.mark.parametrize("name", AWKWARD)
def test_a_registered_command_is_silent_and_ends_well_when_what_it_runs_is_gone(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name / "nmem"
    folder.mkdir(parents=True)
    entry, python = folder / "entry.py", tmp_path / name / "python 3"
    entry.write_text("import sys; print(sys.argv[1:], sys.stdin.read())")
    python.symlink_to(registered.interpreter())
    line = registered.guarded(
        [str(python), "-I", "-S", str(entry), "codex", "Stop", "--db", "/d/x y.db"], windows=False
    )
    for shell in ("sh", "bash"):
        done = subprocess.run([shell, "-c", line], input="given", capture_output=True, text=True, check=True)
        assert done.stdout == "['codex', 'Stop', '--db', '/d/x y.db'] given\n"
    found = registered.recognise(line)
    assert found is not None
    assert (found.client, found.event, found.db) == ("codex", "Stop", "/d/x y.db")
    assert (found.interpreter, found.entry) == (str(python), str(entry))
    for gone in (entry, python):
        gone.unlink()
        done = subprocess.run(["sh", "-c", line], input="given", capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_the_hook_itself_ends_with_is_not_hidden(tmp_path: Path) -> None:
    entry = tmp_path / "nmem" / "entry.py"
    entry.parent.mkdir()
    entry.write_text("raise SystemExit(3)")
    line = registered.guarded([registered.interpreter(), "-I", "-S", str(entry), "claude", "Stop"], windows=False)
    assert subprocess.run(["sh", "-c", line]).returncode == 3


def test_on_windows_a_command_stands_alone() -> None:
    parts = ["C:/Py/python.exe", "-I", "-S", "C:/nmem/entry.py", "claude", "Stop"]
    assert registered.guarded(parts, windows=True) == registered.line(parts, windows=True)


def test_windows_commands_keep_spaces_and_survive_gits_sh() -> None:
    line = registered.line(
        [r"C:\Program Files\Py\python.exe", "-I", "-S", r"C:\Users\Jo Do\nmem\entry.py", "claude", "Stop"], windows=True
    )
    assert line == '"C:/Program Files/Py/python.exe" -I -S "C:/Users/Jo Do/nmem/entry.py" claude Stop'
    assert shlex.split(line)[3] == "C:/Users/Jo Do/nmem/entry.py"
    found = registered.recognise(r'"C:\Program Files\Py\python.exe" -I -S "C:\Users\Jo Do\capture\entry.py" codex Stop')
    assert found is not None and found.client == "codex"


@pytest.mark.parametrize(
    "line",
    ["", "python /x/nmem/entry.py", "python /x/nmem/entry.py other Stop", "python /x/capture/entry.py other Stop",
     "/x/recapture/entry.py.bak claude Stop", "/x/premem/entry.py claude Stop",
     "echo 'capture/entry.py", "cat capture/entry.py > claude"],
)  # fmt: skip
def test_other_commands_are_not_taken_for_ours(line: str) -> None:
    assert registered.recognise(line) is None


def test_the_interpreter_is_a_program_not_a_script() -> None:
    path = registered.interpreter()
    assert Path(path).is_absolute()
    assert Path(path).read_bytes()[:2] != b"#!"
    done = subprocess.run([path, "-I", "-S", "-c", "import sys; print(sys.version)"], capture_output=True, text=True)
    assert done.stdout.strip() == sys.version
