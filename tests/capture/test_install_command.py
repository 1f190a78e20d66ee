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


def test_windows_commands_keep_spaces_and_survive_gits_sh() -> None:
    line = registered.line(
        [r"C:\Program Files\Py\python.exe", "-I", "-S", r"C:\Users\Jo Do\nmem\entry.py", "claude", "Stop"],
        windows=True,
    )
    assert line == '"C:/Program Files/Py/python.exe" -I -S "C:/Users/Jo Do/nmem/entry.py" claude Stop'
    assert shlex.split(line)[3] == "C:/Users/Jo Do/nmem/entry.py"
    found = registered.recognise(r'"C:\Program Files\Py\python.exe" -I -S "C:\Users\Jo Do\capture\entry.py" codex Stop')
    assert found is not None and found.client == "codex"


@pytest.mark.parametrize(
    "line",
    ["", "python /x/nmem/entry.py", "python /x/nmem/entry.py other Stop", "python /x/capture/entry.py other Stop", "/x/recapture/entry.py.bak claude Stop",
     "/x/premem/entry.py claude Stop", "echo 'capture/entry.py", "cat capture/entry.py > claude"],
)  # fmt: skip
def test_other_commands_are_not_taken_for_ours(line: str) -> None:
    assert registered.recognise(line) is None


def test_the_interpreter_is_a_program_not_a_script() -> None:
    path = registered.interpreter()
    assert Path(path).is_absolute()
    assert Path(path).read_bytes()[:2] != b"#!"
    done = subprocess.run([path, "-I", "-S", "-c", "import sys; print(sys.version)"], capture_output=True, text=True)
    assert done.stdout.strip() == sys.version
