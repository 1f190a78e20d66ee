"""`nmem resume`: the command of each client in the right folder, in a pane of tmux; a transcript given back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands import resume as command
from nmem.commands.main import nmem
from nmem.errors import NmemError
from nmem.purge.rules import rules
from nmem.sessions import copies, resume
from nmem.settle import settle
from tests.nmem.command_line import run as command_line
from tests.nmem.conftest import MINUTE, Recorded
from tests.nmem.sessions.conftest import ID, SECRET


def run(*args: str) -> Any:
    return CliRunner().invoke(nmem, ["resume", *args])


@pytest.mark.parametrize(
    ("client", "words"),
    [("claude", f"claude --resume {ID}"), ("codex", f"codex resume {ID}"), ("gemini", f"gemini --resume {ID}")],
)
def test_the_command_can_be_pasted(record: Recorded, shop: Path, transcript: Path, client: str, words: str) -> None:
    record.db.execute("UPDATE sessions SET client = ?", (client,))
    result = run(ID[:4])
    assert (result.exit_code, result.output) == (0, f"cd {shop} && {words}\n")
    assert run("--project", "shop").output == result.output
    said = json.loads(run(ID, "--json").output)
    assert (said["folder"], said["command"], said["transcript_deleted"]) == (str(shop), result.output.strip(), False)


def test_claude_is_run_where_the_session_began_wherever_it_went(record: Recorded, shop: Path, transcript: Path) -> None:
    inner = shop / "packages" / "app"
    inner.mkdir(parents=True)
    record.db.execute("UPDATE sessions SET cwd = ?", (str(inner),))
    assert run(ID).output.startswith(f"cd {shop} && ")


def test_a_folder_with_blanks_is_quoted(record: Recorded, transcript: Path) -> None:
    record.db.execute("UPDATE sessions SET client = 'codex', cwd = '/src/my shop; rm x'")
    assert run(ID).output.startswith("cd '/src/my shop; rm x' && codex resume")


@pytest.mark.parametrize("given", ["--dangerous", "a b", "x\nrm"])
def test_an_id_is_never_an_option(record: Recorded, transcript: Path, given: str) -> None:
    record.db.execute("PRAGMA foreign_keys=OFF")
    record.db.execute("UPDATE sessions SET id = ?", (given,))
    with pytest.raises(NmemError, match="is no id"):
        resume.plan(record.db, given)


def test_a_client_that_nmem_cannot_resume_is_said(record: Recorded, transcript: Path) -> None:
    record.db.execute("UPDATE sessions SET client = 'copilot'")
    assert "nmem does not know how copilot resumes" in str(run(ID).exception)


def test_a_deleted_transcript_is_said_and_given_back(record: Recorded, shop: Path, transcript: Path) -> None:
    copies.keep(record.db, record.at + MINUTE, rules())
    transcript.unlink()
    result = run(ID)
    assert result.exit_code == 1
    assert "--restore` gives it back" in str(result.exception)
    back = run(ID, "--restore")
    assert back.exit_code == 0, back.exception
    assert f"cd {shop} && claude --resume {ID}" in back.output
    assert SECRET not in transcript.read_text()
    assert "nothing to restore" in run(ID, "--restore").output


def test_without_a_copy_nothing_is_promised(record: Recorded, transcript: Path) -> None:
    transcript.unlink()
    assert "nmem has no copy of it" in str(run(ID).exception)
    assert "no copy of this session's transcript" in str(run(ID, "--restore").exception)


@pytest.mark.parametrize("args", [("--run", "--pane"), ("--run", "--json"), ("--project", "shop")])
def test_what_excludes_each_other_is_said(record: Recorded, transcript: Path, args: tuple[str, ...]) -> None:
    assert run(ID, *args).exit_code == 2


def test_it_runs_in_this_terminal_only_where_there_is_one(
    record: Recorded, transcript: Path, program: Callable[[str], Path]
) -> None:
    assert "claude is not on the PATH" in str(run(ID, "--run").exception) or shutil.which("claude")
    program("claude")
    assert "there is no terminal here" in str(run(ID, "--run").exception)


def test_it_becomes_the_client_in_its_folder(
    record: Recorded, shop: Path, transcript: Path, program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    program("claude")
    called: list[object] = []
    monkeypatch.chdir(Path.cwd())
    monkeypatch.setenv("CLAUDECODE", "1")

    def becomes(name: str, words: list[str], environ: dict[str, str]) -> None:
        called.append((name, words, str(Path.cwd()), environ["PWD"], "CLAUDECODE" in environ))

    monkeypatch.setattr("os.execvpe", becomes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
        command._run(resume.plan(record.db, ID))
    assert called == [("claude", ["claude", "--resume", ID], str(shop), str(shop), False)]


def test_a_folder_that_is_gone_is_said(record: Recorded, shop: Path, transcript: Path) -> None:
    shop.rmdir()
    assert "its folder is gone" in str(run(ID, "--pane").exception)


@pytest.fixture
def tmux(tmp_path: Path, program: Callable[[str], Path]) -> Iterator[tuple[str, str]]:
    """A tmux of the test's own: its TMUX and TMUX_PANE."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    socket = str(tmp_path / "socket")
    words = ["tmux", "-S", socket, "-f", "/dev/null"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("TMUX")}
    made = subprocess.run(
        [*words, "new-session", "-d", "-s", "s", "-x", "120", "-y", "20", "-P", "-F", "#{pane_id}", "sleep 60"],
        env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    yield f"{socket},1,0", made.stdout.strip()
    subprocess.run([*words, "kill-server"], env=env, check=False)


def test_a_pane_opens_beside_this_one(
    record: Recorded, shop: Path, transcript: Path, program: Callable[[str], Path], tmux: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    told = program("claude")
    for name, value in zip(("TMUX", "TMUX_PANE"), tmux, strict=True):
        monkeypatch.setenv(name, value)
    result = run(ID, "--pane")
    assert (result.exit_code, result.output) == (0, "resumed in a pane beside this one\n"), result.exception
    end = time.monotonic() + 20
    while not told.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert told.read_text() == f"--resume {ID} in {shop}\n"


@pytest.mark.parametrize("given", ["", " ", "session/"])
@pytest.mark.parametrize(
    "words",
    [("resume",), ("compactions",), ("now",), ("stance",), ("show",), ("share",), ("handoff",),
     ("sessions", "name"), ("sessions", "tag"), ("sessions", "untag"), ("sessions", "archive")],
)  # fmt: skip
def test_an_empty_id_names_no_session(record: Recorded, transcript: Path, words: tuple[str, ...], given: str) -> None:
    more = ("x",) if words[-1] in ("name", "tag", "untag") else ()
    done = command_line(*words, given, *more)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.count("\n") == 1
    assert "  " not in done.stderr.strip()
    assert record.db.execute("SELECT count(*) FROM corrections").fetchone()[0] == 0


def test_a_session_of_another_folder_is_printed_with_a_word_and_never_run(record: Recorded, transcript: Path) -> None:
    for words in ((), ("last",)):
        done = command_line("resume", *words)
        assert (done.returncode, done.stdout.endswith(f"--resume {ID}\n")) == (0, True)
        assert "no session is recorded of this folder" in done.stderr
        assert "of shop" in done.stderr
    for way in ("--run", "--pane", "--restore"):
        done = command_line("resume", way)
        assert (done.returncode, "name it if you mean it" in done.stderr) == (1, True)
    assert command_line("resume", "--project", "shop").stderr == ""


def test_a_folder_that_is_gone_is_said_where_the_command_is_printed(
    record: Recorded, shop: Path, transcript: Path
) -> None:
    assert command_line("resume", ID).stderr == ""
    shop.rmdir()
    done = command_line("resume", ID)
    assert (done.returncode, "its folder is gone" in done.stderr) == (0, True)
    assert json.loads(run(ID, "--json").output)["folder_gone"]


def test_an_episode_stands_for_its_session(record: Recorded, transcript: Path, db_path: str) -> None:
    settle(db_path, models=False)
    assert run("episode/1").output == run(ID).output
    assert "there is no episode 99" in str(run("episode/99").exception)
    assert "by its id, by episode/12 or by last" in str(run("thread/1").exception)
    assert command_line("show", "last").stdout == command_line("show", "episode/1").stdout != ""
    assert command_line("show", "last", "--diff").stdout == "episode 1 changed no file and committed nothing\n"
    assert "is a session: name an episode" in command_line("handoff", f"session/{ID}").stderr
    assert "12 or episode/12, or last" in command_line("handoff", "next").stderr
