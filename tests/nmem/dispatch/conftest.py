"""A client of our own on PATH, a project that is a git repository, a tmux server of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nmem.dispatch import act, queue, read, runner
from nmem.dispatch.config import Dispatch
from nmem.dispatch.task import NewTask, Task
from tests.nmem import command_line

CLIENT = '''#!/bin/sh
"exec" "{python}" "$0" "$@"
"""Does what its prompt says, word by word; @/ is the folder of the test, whatever blanks its path has."""
import os, signal, subprocess, sys, time
prompt = sys.stdin.read() if "-p" in sys.argv else sys.argv[-1]
print("doing:", prompt, flush=True)
for word in prompt.split():
    verb, _, value = word.replace("=@/", "={folder}/").partition("=")
    if verb == "exit": sys.exit(int(value))
    if verb == "sleep": time.sleep(float(value))
    if verb == "write": open(value, "w").write("x")
    if verb == "env": print(value, os.environ.get(value, "-"))
    if verb == "child": subprocess.Popen([sys.executable, "-c", "import time, os; os.setsid(); open(%r, 'w').write(str(os.getpid())); time.sleep(300)" % value]); time.sleep(0.5)
    if verb == "stubborn": signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if verb == "kill": os.kill(os.getpid(), int(value))
    if verb == "lines": print("\\n".join("line %d" % n for n in range(int(value))))
    if verb == "wait-for":
        while not os.path.exists(value): time.sleep(0.05)
    if verb == "ask": input("which one? ")
'''  # noqa: E501


class Place:
    """Where tasks are queued and run."""

    def __init__(self, db_path: str, folder: Path) -> None:
        self.db_path = db_path
        self.folder = folder
        self.project = folder / "my project"
        self.config = Dispatch(how="headless")

    def add(self, prompt: str, **values: object) -> int:
        """Queue a task; its number."""
        new = NewTask(prompt, **{"cwd": str(self.project), "worktree": False, **values})  # type: ignore[arg-type]
        with queue.writing(self.db_path) as db:
            return act.add(db, new, queue.now()).id

    def task(self, number: int) -> Task:
        """As it stands, without anything being taken up."""
        with queue.writing(self.db_path) as db:
            one = read.task(db, number)
        assert one is not None
        return one

    def happened(self, number: int) -> list[str]:
        """The names of its events."""
        with queue.writing(self.db_path) as db:
            return [each.what for each in read.events(db, number)]

    def run(self, **options: object) -> runner.Left:
        """Work until there is nothing to wait for."""
        until = time.monotonic() + 300
        worker = runner.Runner(self.db_path, self.config)

        def wait(_: float) -> bool:
            time.sleep(0.05)
            return time.monotonic() > until

        return runner.run(worker, wait, **options)  # type: ignore[arg-type]

    def until(self, number: int, fits: Callable[[Task], bool], seconds: float = 300) -> Task:
        """The task once it fits, with ends taken up on the way."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            runner.refresh(self.db_path)
            if fits(one := self.task(number)):
                return one
            time.sleep(0.05)
        raise AssertionError(self.task(number))

    def command(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """The command line, as a person would."""
        return _sound(command_line.run("task", *words), check)

    def process(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """The same in a process that is over afterwards."""
        done = subprocess.run([sys.executable, "-m", "nmem", "task", *words], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=600)  # fmt: skip
        return _sound(done, check)


def _sound(done: subprocess.CompletedProcess[str], check: bool) -> subprocess.CompletedProcess[str]:
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def git(folder: Path, *words: str) -> str:
    env = {**os.environ, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
           "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": "/dev/null"}  # fmt: skip
    return subprocess.run(
        ["git", "-C", str(folder), *words], env=env, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def place(db_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A project under git, and `claude` on PATH that does what it is told."""
    made = Place(db_path, tmp_path)
    made.project.mkdir()
    (made.project / "app.py").write_text("x = 1\n")
    git(made.project, "init", "-q", "-b", "main")
    git(made.project, "add", ".")
    git(made.project, "commit", "-q", "-m", "begin")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("claude", "codex", "gemini"):
        (programs / name).write_text(CLIENT.replace("{python}", sys.executable).replace("{folder}", str(tmp_path)))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    for name in ("TMUX", "TMUX_PANE", "NMEM_TASK"):
        monkeypatch.delenv(name, raising=False)
    return made


@pytest.fixture
def socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a tmux server that nobody else has."""
    import shutil

    if shutil.which("tmux") is None:
        pytest.skip("tmux is absent")
    name = f"nmem-test-{os.getpid()}-{time.monotonic_ns() % 1_000_000}"
    monkeypatch.setenv("TMUX_TMPDIR", "/tmp")
    yield name
    subprocess.run(["tmux", "-L", name, "kill-server"], capture_output=True)
