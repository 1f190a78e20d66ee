"""Starts the client process on its terminal, ends it with all its children, and holds its output: bounded, redacted."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from capture.redaction import redact
from capture.text import clean
from nmem.dispatch import processes, tmux
from nmem.dispatch.folder import Folder, Spec
from nmem.errors import NmemError

_PARENTS = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_CODE_SSE_PORT")
"""What a client tells those that it starts: a task is not one of them, whoever started the runner."""
_CHUNK = 65_536


class NotStarted(NmemError):
    """The client could not be started; the text says why."""


class Child:
    """One client."""

    def __init__(self, folder: Folder, spec: Spec) -> None:
        """Start it. Raises NotStarted."""
        self._headless = spec.headless
        self._code: int | None = None
        env = _environment(spec)
        program = spec.argv[0]
        found = program if "/" in program else shutil.which(program, path=env["PATH"])
        if not found:
            raise NotStarted(f"{program} is not on PATH")
        stdin = folder.prompt.open("rb") if spec.stdin else None
        pipe = subprocess.PIPE if spec.headless else None
        try:
            self._process = subprocess.Popen(
                [found, *spec.argv[1:]], cwd=spec.cwd, env=env,
                stdin=stdin or (subprocess.DEVNULL if spec.headless else None), stdout=pipe,
                stderr=subprocess.STDOUT if pipe else None, preexec_fn=_own_group if spec.headless else _in_front,  # noqa: PLW1509 - one thread
            )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise NotStarted(f"{program} cannot be started: {error}") from None
        finally:
            if stdin:
                stdin.close()
        self._group = self._process.pid
        self._out = self._process.stdout.fileno() if self._process.stdout else -1
        folder.with_client(processes.name(self._process.pid))

    def code(self) -> int | None:
        """Its exit code, negative where a signal ended it; None while it runs. One that was stopped goes on."""
        if self._code is None:
            self._bury()
            try:
                pid, status = os.waitpid(self._process.pid, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                pid, status = self._process.pid, 0
            if pid and os.WIFSTOPPED(status):
                if not self._headless:
                    _foreground(self._group)
                os.killpg(self._group, signal.SIGCONT)
            elif pid:
                self._code = self._process.returncode = os.waitstatus_to_exitcode(status)
                if not self._headless:
                    _foreground(os.getpgrp())
        return self._code

    def _bury(self) -> None:
        """Take leave of what the client left behind and that has ended since: it has become this process's own."""
        while hasattr(os, "waitid"):
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if found is None or found.si_pid in (0, self._process.pid):
                return
            os.waitpid(found.si_pid, 0)

    def read(self, ring: Ring, seconds: float) -> None:
        """Take what it printed, waiting at most so long; a pipe that others hold open is not waited for."""
        if self._out < 0:
            time.sleep(seconds)
            return
        until = time.monotonic() + seconds
        while select.select([self._out], [], [], max(0.0, until - time.monotonic()))[0]:
            data = os.read(self._out, _CHUNK)
            if not data:
                self._out = -1
                return
            ring.add(data)
            if ring.total > (1 << 20) and time.monotonic() > until + 1:
                return  # it prints without end: its time and its owner are looked at between

    def end(self, grace: float) -> None:
        """Ask it and all that it started to end, kill what does not."""
        processes.end(os.getpid(), grace, itself=False)
        until = time.monotonic() + grace
        while self.code() is None and time.monotonic() < until:
            time.sleep(0.02)


def own_environment() -> dict[str, str]:
    """The environment of this process without what a client tells those that it starts."""
    return {name: value for name, value in os.environ.items() if name not in _PARENTS}


def without_parents(words: Sequence[str]) -> list[str]:
    """A command line that runs without what a client tells those that it starts: tmux keeps its server's environment,
    which may be that of another client's call."""
    return ["env", *(f"-u{name}" for name in sorted(_PARENTS)), *words]


def _environment(spec: Spec) -> dict[str, str]:
    env = own_environment()
    own = env.get("PATH", os.defpath).split(os.pathsep)
    more = [each for each in spec.path.split(os.pathsep) if each and each not in own]
    env["PATH"] = os.pathsep.join(own + more)
    env |= dict(spec.environment)
    env |= {"NMEM_TASK": str(spec.task_id), "PWD": str(Path(spec.cwd))}
    return env


def _own_group() -> None:
    """In the child: a group of its own."""
    os.setpgid(0, 0)
    _default_signals()


def _in_front() -> None:
    """In the child: a group of its own that has the terminal, as a shell does it."""
    os.setpgid(0, 0)
    _foreground(os.getpgrp())
    _default_signals()


def _default_signals() -> None:
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGTTOU):
        signal.signal(each, signal.SIG_DFL)


def _foreground(group: int) -> None:
    """Give the terminal to a group; without one there is nothing to give."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        os.tcsetpgrp(terminal, group)
    except OSError:
        return  # the terminal went away
    finally:
        os.close(terminal)
        signal.signal(signal.SIGTTOU, before)


class Screen:
    """Bounded, cleaned and redacted whenever it is looked at."""

    def __init__(self, headless: bool) -> None:
        self.ring = Ring()
        socket, pane = os.environ.get("TMUX", "").partition(",")[0], os.environ.get("TMUX_PANE", "")
        self._socket, self._pane = ("", "") if headless else (socket, pane)
        self._shown = ""
        self._full = ""
        self._from = 0
        if self._pane:
            found = self._ask()
            self._from = found.line if found else 0

    def look(self) -> str:
        """What it shows now; what it showed last when its pane has gone."""
        return self._show(whole=False)

    def last(self) -> str:
        """What it showed in the end, and before it what a program of the whole screen showed last."""
        shown = self._show(whole=True)
        return kept(f"{self._full}\n\n{shown}") if self._full and self._full != shown else shown

    def _show(self, whole: bool) -> str:
        if not self._pane:
            return self.ring.text(whole)
        try:
            found = tmux.pane(self._socket, self._pane)
            shown = kept(tmux.capture(self._socket, self._pane, self._from)) if found else ""
        except NmemError:
            found, shown = None, ""
        if found and found.alternate:
            self._full = shown
        self._shown = shown or self._shown
        return self._shown

    def _ask(self) -> tmux.Pane | None:
        try:
            return tmux.pane(self._socket, self._pane)
        except NmemError:
            return None


KEPT = 16_000
"""Characters that are kept."""
READ = 65_536
"""Bytes that are looked at: a secret that begins before what is kept is whole when it is looked for."""


def kept(text: str, whole: bool = True) -> str:
    """What is kept of a text: its end, from a line's beginning. `whole`: its last line is finished."""
    text = clean(text[-READ:])
    if not whole:
        text = text[: text.rfind("\n") + 1]
    text = redact("\n".join(line.rstrip() for line in text.split("\n")).strip("\n"))
    if len(text) <= KEPT:
        return text
    text = text[-KEPT:]
    first = text.find("\n") + 1
    return "…\n" + (text[first:] if 0 < first < KEPT // 2 else text)


class Ring:
    """The last bytes of a stream."""

    def __init__(self) -> None:
        self._data = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """More of it."""
        self.total += len(data)
        self._data += data
        if len(self._data) > 2 * READ:
            del self._data[:-READ]

    def text(self, whole: bool) -> str:
        """What is kept; a first line that is torn is left out."""
        data = bytes(self._data[-READ:])
        if self.total > len(data) and b"\n" in data:
            data = data[data.index(b"\n") + 1 :]
        return kept(data.decode("utf-8", "replace"), whole)
