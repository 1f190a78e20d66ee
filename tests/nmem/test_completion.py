"""A shell completes nmem's words: quickly, from a table, and silently whatever is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmem.commands import complete
from nmem.commands.main import COMMANDS, nmem
from tests.nmem.conftest import Recorded
from tests.reference import words


def ask(line: str, shell: str = "bash", **more: str) -> subprocess.CompletedProcess[str]:
    """What a shell is answered whose person has typed a line and presses tab."""
    typed = line.split(" ")
    env = {"COMP_WORDS": line, "COMP_CWORD": typed[-1] if shell == "fish" else str(len(typed) - 1), **more}
    return subprocess.run(
        [sys.executable, "-m", "nmem"], capture_output=True, text=True, timeout=300,
        env={**os.environ, "_NMEM_COMPLETE": f"{shell}_complete", **env},
    )  # fmt: skip


def offered(line: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words that bash is offered, asked in this process."""
    monkeypatch.setenv("_NMEM_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    return [each.removeprefix("plain,") for each in complete.answer().split()]


def test_the_table_is_that_of_the_command_line() -> None:
    assert complete.TABLE.read_text("utf-8") == words(), "`python -m tests.reference` writes it anew"


@pytest.mark.parametrize(("line", "expected"), [
    ("nmem se", ["sessions", "search", "settle"]),
    ("nmem sessions un", ["unarchive", "untag"]),
    ("nmem sessions list --st", ["--state"]),
    ("nmem sessions --st", ["--state"]),
    ("nmem sessions --state ", ["working", "waiting", "done", "failed"]),
    ("nmem sessions --state done --sort p", ["prompts", "project"]),
    ("nmem init --client g", ["gemini"]),
    ("nmem config get context.start", ["context.start_tokens"]),
    ("nmem completion ", ["bash", "zsh", "fish"]),
    ("nmem show file ", ["file,"]),
    ("nmem when --project ", ["dir,"]),
    ("nmem task schedule --sy", ["--systemd"]),
    ("nmem learn rep", ["report"]),
    ("nmem no-such-command -", ["--version", "--help"]),
    ("nmem pin obs/1", []),
])  # fmt: skip
def test_words_and_values_are_offered(line: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert offered(line, monkeypatch) == expected


def test_all_commands_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(COMMANDS) <= set(offered("nmem ", monkeypatch))


def test_projects_and_sessions_come_from_the_memory(record: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    record.coupon("3f2a-1").coupon("6b6f-2")
    assert offered("nmem status --project ", monkeypatch) == ["shop"]
    assert offered("nmem stance ", monkeypatch) == ["6b6f-2", "3f2a-1"]
    assert offered("nmem sessions tag 3", monkeypatch) == ["3f2a-1"]
    assert offered("nmem purge --session 6", monkeypatch) == ["6b6f-2"]
    assert ask("nmem stance 3", "zsh").stdout == "plain\n3f2a-1\nshop\n"
    assert ask("nmem stance 3", "fish").stdout == "plain,3f2a-1\tshop\n"


def test_a_name_that_a_shell_would_run_is_not_offered(record: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("$(touch x)", "a;b", "`id`", "two words", "new\nline", "\x1b[31m", "*", "a,b", "-rf'"):
        record.db.execute("UPDATE projects SET name = ?", (name,))
        record.coupon(f"s {name}")
        assert offered("nmem status --project ", monkeypatch) == []
        assert offered("nmem stance ", monkeypatch) == []


def test_nothing_is_made_and_nothing_said_without_a_memory(db_path: str, own_home: Path) -> None:
    before = sorted(own_home.rglob("*"))
    done = ask("nmem stance ")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
    assert sorted(own_home.rglob("*")) == before and not Path(db_path).exists()


@pytest.mark.parametrize("env", [
    {"COMP_CWORD": "x"}, {"_NMEM_COMPLETE": "nothing"}, {"_NMEM_COMPLETE": "bash_source"},
])  # fmt: skip
def test_a_fault_is_silence(env: dict[str, str]) -> None:
    done = ask("nmem stance ", **env)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_a_file_that_is_no_memory_is_left_alone(db_path: str) -> None:
    Path(db_path).parent.mkdir(mode=0o700)
    Path(db_path).write_bytes(b"not a database" * 100)
    done = ask("nmem stance ")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
    assert Path(db_path).read_bytes() == b"not a database" * 100 and len(list(Path(db_path).parent.iterdir())) == 1


def test_no_command_is_imported_for_it() -> None:
    """That is what keeps an answer short: some commands load for half a second."""
    script = "import sys; from nmem.commands.complete import answer; answer(); print(*sys.modules)"
    env = {**os.environ, "_NMEM_COMPLETE": "bash_complete", "COMP_WORDS": "nmem settle --", "COMP_CWORD": "2"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, check=True)
    heavy = {"rich", "textual", "sklearn", "nmem.commands.main", "nmem.commands.settle", "sqlite3"}
    assert not heavy & set(done.stdout.split())


@pytest.mark.parametrize("shell", complete.SHELLS)
def test_the_script_asks_nmem(shell: str) -> None:
    done = CliRunner().invoke(nmem, ["completion", shell])
    assert done.exit_code == 0 and f"_NMEM_COMPLETE={shell}_complete" in done.stdout


def test_bash_completes_by_the_script(tmp_path: Path) -> None:
    program = tmp_path / "nmem"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nmem "$@"\n')
    program.chmod(0o755)
    script = CliRunner().invoke(nmem, ["completion", "bash"]).stdout
    typed = 'COMP_WORDS=(nmem sessions --state w); COMP_CWORD=3; _nmem_completion nmem; echo "${COMPREPLY[@]}"'
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(["bash", "-c", f"{script}\n{typed}"], capture_output=True, text=True, env=env, timeout=300)
    assert (done.stdout.split(), done.stderr) == (["working", "waiting"], "")
