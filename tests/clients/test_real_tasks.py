"""Tasks of a real client in panes of tmux; runners are killed midway, and the next ones take up what they left."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from nmem.dispatch import processes

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]
Told = dict[str, Any]


class Board:
    """The queue of a stage, run in a tmux of its own against one scripted model."""

    def __init__(
        self, stage: Stage, client: ModuleType, port: int, kind: str, words: list[str] | None, opens: list[str] | None
    ) -> None:
        self.stage = stage
        self.socket = f"tasks-{os.getpid()}-{port}"
        own = client.environment(kind, stage.home, port, [])
        self.env = {**os.environ, **own, "PATH": f"{client.binary(kind).parent}:{own['PATH']}"}
        self.env["TMUX_TMPDIR"] = "/tmp"
        for unwanted in ("NMEM_DB", "TMUX", "TMUX_PANE", "CLAUDECODE"):
            self.env.pop(unwanted, None)
        config = stage.home / ".config" / "nmem" / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        with config.open("a") as file:
            file.write(
                f'\n[dispatch]\nhow = "tmux"\ntmux_socket = "{self.socket}"\nidle_seconds = 8\nclient = "{kind}"\n'
            )
            file.write(f"commands.{kind} = {json.dumps(words)}\n" if words else "")
            file.write(f"interactive_commands.{kind} = {json.dumps(opens)}\n" if opens else "")

    def nmem(self, *words: str, check: bool = True) -> str:
        """The command line of this home."""
        done = subprocess.run([sys.executable, "-m", "nmem", *words], env=self.env, capture_output=True, text=True,
                              cwd=self.stage.project, stdin=subprocess.DEVNULL, timeout=600)  # fmt: skip
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def runner(self) -> subprocess.Popen[bytes]:
        """`nmem task run --watch` in the background."""
        words = [sys.executable, "-m", "nmem", "task", "run", "--watch", "--quiet"]
        return subprocess.Popen(words, env=self.env, cwd=self.stage.project, stdin=subprocess.DEVNULL)

    def task(self, number: int) -> Told:
        """`nmem task show --json`."""
        told: Told = json.loads(self.nmem("task", "show", str(number), "--json"))
        return told

    def until(self, number: int, fits: Callable[[Told], bool], seconds: float = 300) -> Told:
        """The task once it fits."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.stage.database().close()
            if fits(told := self.task(number)):
                return told
            time.sleep(1)  # a look is a process of its own
            if told["state"] in ("failed", "cancelled", "timed-out"):
                break
        raise AssertionError("\n".join((self.nmem("task", "list", "--json"), self.screens())))

    def tmux(self, *words: str) -> str:
        """One command to the server of this test."""
        return subprocess.run(["tmux", "-L", self.socket, *words], env=self.env, capture_output=True, text=True).stdout

    def screens(self) -> str:
        """What every pane shows, for a failure's message."""
        panes = self.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
        return "\n----\n".join(self.tmux("capture-pane", "-p", "-t", pane) for pane in panes)

    def order(self) -> list[tuple[int, str]]:
        """Every event, as the database has them."""
        with self.stage.database() as db:
            rows = db.execute("SELECT task_id, what FROM task_events ORDER BY id").fetchall()
        db.close()
        return [(task, what) for task, what in rows if what in ("started", "ended", "cancelled", "asked", "answered")]

    def said(self, session_id: str) -> list[str]:
        """What the user said in a session, as the hooks stored it."""
        with self.stage.database() as db:
            rows = db.execute("SELECT content FROM prompts WHERE session_id = ? AND source = 'user'", (session_id,))
            found = [text for (text,) in rows.fetchall()]
        db.close()
        return found


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_client", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def open_board(stage: Stage, shared: Path) -> Iterator[Callable[..., Board]]:
    """Boards over one project under git; each with its script."""
    if shutil.which("tmux") is None or shutil.which("git") is None:
        pytest.skip("tmux or git is absent")
    boards: list[tuple[Board, Any]] = []

    def make(kind: str, turns: list[Told], words: list[str] | None = None, opens: list[str] | None = None) -> Board:
        stage.connect(kind)
        client = _module(stage.runner)
        for command in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
            subprocess.run(
                ["git", "-C", str(stage.project), "-c", "user.name=a", "-c", "user.email=a@b", *command], check=True
            )
        sys.path.insert(0, str(stage.runner.parent))
        server, script = client.serve(turns, Path())
        script.project = Path("/")  # paths of the script are absolute, or the client's own folder
        port = server.server_address[1]
        client.prepare(kind, stage.home, stage.project, port)
        board = Board(stage, client, port, kind, words, opens)
        boards.append((board, server))
        return board

    yield make
    for board, server in boards:
        server.shutdown()
        server.server_close()
        board.tmux("kill-server")


def shell(command: str) -> Told:
    return {"tools": [{"shell": command, "why": "as asked"}]}


CLAUDE = ["claude", "-p", "--settings", "{hooks}", "--dangerously-skip-permissions"]


def test_three_tasks_in_order_in_worktrees_through_the_death_of_their_runner(
    open_board: Callable[..., Board], tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    endless = f"while [ ! -e {gate}-never ]; do sleep 0.2; done"
    board = open_board("claude", [
        {"prompt": "one", "replies": [
            shell("echo one > one.txt && git add . && git -c user.name=a -c user.email=a@b commit -qm one"),
            shell(f"while [ ! -e {gate} ]; do sleep 0.2; done"),
            {"say": "One is written."}]},
        {"prompt": "two", "replies": [shell("cat one.txt && echo two > two.txt"), {"say": "Two stands on one."}]},
        {"prompt": "three", "replies": [shell(endless), {"say": "never said"}]},
    ], CLAUDE)  # fmt: skip
    board.nmem("task", "add", "write one; say 'it' $(isn't run)", "--worktree")
    board.nmem("task", "add", "write two", "--worktree", "--depends-on", "1")
    board.nmem("task", "add", "take long", "--worktree", "--depends-on", "2")
    board.nmem("task", "add", "never", "--depends-on", "3")
    first = board.runner()
    try:
        board.until(1, lambda told: bool(told["session_id"]))
        runner_name = board.task(1)["runner"]
        assert processes.pid(runner_name) == first.pid
        first.send_signal(signal.SIGKILL)
        first.wait()
        told = board.task(1)
        assert (told["state"], told["how"]) == ("running", "tmux")
        assert told["pane"] in board.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
        gate.touch()
        told = board.until(1, lambda told: told["state"] != "running")
        assert (told["state"], told["exit_code"]) == ("succeeded", 0)  # though no runner is there
        assert "One is written." in told["output"]
        assert board.task(2)["state"] == "queued"
        second = board.runner()
        try:
            board.until(3, lambda told: bool(told["session_id"] and board.said(told["session_id"])))
            second.send_signal(signal.SIGKILL)
        finally:
            second.kill()
            second.wait()
        third = board.runner()
        try:
            processes_of_client = processes.below(processes.pid(board.task(3)["process"]))
            assert processes_of_client, board.nmem("task", "show", "3", "--json")
            assert "task/3 is cancelled" in board.nmem("task", "cancel", "3")
        finally:
            third.terminate()
            assert third.wait(120) == 0
    finally:
        first.kill()
        first.wait()
    one, two, three, four = (board.task(number) for number in (1, 2, 3, 4))
    assert [each["state"] for each in (one, two, three, four)] == ["succeeded", "succeeded", "cancelled", "cancelled"]
    assert four["reason"] == "task/3, which it needs, was cancelled"
    assert (two["exit_code"], three["exit_code"]) == (0, None)
    assert "Two stands on one." in two["output"]
    assert [each["attempt"] for each in (one, two, three, four)] == [1, 1, 1, 0]
    assert not any(processes.name(pid).partition("@")[2] for pid in processes_of_client)
    assert board.order() == [(1, "started"), (1, "ended"), (2, "started"), (2, "ended"), (3, "started"), (3, "ended"),
                             (4, "cancelled")]  # fmt: skip
    assert board.said(one["session_id"]) == ["write one; say 'it' $(isn't run)"]
    assert board.said(two["session_id"]) == ["write two"]
    assert board.said(three["session_id"]) == ["take long"]
    assert len({each["session_id"] for each in (one, two, three)}) == 3
    assert (one["branch"], two["branch"], three["branch"]) == ("nmem/task-1", "nmem/task-2", "")
    assert sorted(path.name for path in Path(two["worktree_path"]).iterdir()) == [".git", "one.txt", "two.txt"]
    assert [path.name for path in board.stage.project.iterdir()] == [".git"]
    board.stage.nmem("settle")
    with board.stage.database() as db:
        assert db.execute("SELECT count(DISTINCT project_id) FROM sessions").fetchone() == (1,)
    db.close()


def test_one_fails_one_needs_a_person_who_answers_and_the_rest_waits(open_board: Callable[..., Board]) -> None:
    board = open_board("claude", [
        {"prompt": "one", "replies": [shell("touch allowed.txt"), {"say": "It is allowed."}]},
        {"prompt": "two", "replies": [{"say": "Bye."}]},
    ], opens=["claude", "--settings", "{hooks}", "--permission-mode", "default", "--", "{prompt}"])  # fmt: skip
    board.nmem("task", "add", "make the file", "--interactive", "--no-worktree")
    board.nmem("task", "add", "after it", "--depends-on", "1")
    with (board.stage.home / ".config/nmem/config.toml").open("a") as file:
        file.write('commands.codex = ["codex", "exec", "--no-such-flag"]\n')
    board.nmem("task", "add", "fails", "--client", "codex", "--cwd", str(board.stage.home))
    runner = board.runner()
    try:
        asks = "asks for permission: Bash touch allowed.txt"  # one that begins slowly stands still before
        told = board.until(1, lambda told: told["state"] == "needs-input" and told["reason"].startswith(asks))
        assert told["session_id"]
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        runner = board.runner()
        if shutil.which("codex", path=board.env["PATH"]):
            failed = board.until(3, lambda told: told["state"] == "failed")
            assert failed["exit_code"] == 2
            assert "--no-such-flag" in failed["output"]
        board.until(1, lambda told: told["state"] == "needs-input")
        assert board.task(2)["state"] == "queued"

        def allowed(told: Told) -> bool:
            """Whether its turn is over; until then the first choice is yes, once the client has drawn it."""
            if told["reason"].startswith(asks):
                board.tmux("send-keys", "-t", told["pane"], "Enter")
            return bool(told["reason"].startswith("its turn is over"))

        told = board.until(1, allowed)
        assert (board.stage.project / "allowed.txt").exists()
        board.tmux("send-keys", "-t", told["pane"], "-l", "/exit")

        def over(told: Told) -> bool:
            """Whether it has left; enter is pressed again, because one right behind a word may be taken for pasted."""
            if told["state"] in ("running", "needs-input"):
                time.sleep(0.6)
                board.tmux("send-keys", "-t", told["pane"], "Enter")
                return False
            return True

        told = board.until(1, over)
        assert (told["state"], told["exit_code"]) == ("succeeded", 0)
        assert "It is allowed." in told["output"]
        told = board.until(2, lambda told: told["state"] == "failed")
        assert told["reason"] == "it changed nothing", "an answer alone is no success"
    finally:
        runner.kill()
        runner.wait()
    happened = [what for task, what in board.order() if task == 1]
    assert happened[:2] == ["started", "asked"] and happened[-1] == "ended"
    assert "answered" in happened or happened.count("asked") > 1  # between two looks its turn may have ended as well


@pytest.mark.parametrize("kind", ["codex", "gemini"])
def test_other_clients_run_tasks_by_their_own_commands(kind: str, open_board: Callable[..., Board]) -> None:
    trusting = ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-"]
    turns = [{"prompt": "one", "replies": [{"say": "Nothing was to be done."}]}]
    board = open_board(kind, turns, trusting if kind == "codex" else None)
    board.nmem("task", "add", "look around; 'quoted' $HOME", "--client", kind, "--no-worktree")
    board.nmem("task", "run", "--quiet", check=False)
    told = board.task(1)
    assert (told["state"], told["exit_code"]) == ("failed", 0), told["output"]
    assert told["reason"] == "it changed nothing", "an answer alone is no success"
    assert "Nothing was to be done." in told["output"]
    assert board.said(told["session_id"]) == ["look around; 'quoted' $HOME"]
