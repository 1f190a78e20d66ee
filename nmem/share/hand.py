"""Starts a client with a brief as its first prompt: takes words, gives a running client; in this terminal or in tmux.

The client is started from a list of words, never by a shell, in the folder where the work was done.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from nmem.dispatch import clients, tmux
from nmem.dispatch.child import own_environment, without_parents
from nmem.dispatch.config import load
from nmem.dispatch.task import CLIENTS
from nmem.errors import NmemError
from nmem.share.brief import Brief
from nmem.text import printable

_SETTLES = 0.6
"""Seconds after which a client that cannot start has ended."""


@dataclass(frozen=True, slots=True)
class Started:
    """A client in a pane of tmux, and the words that bring a person there."""

    pane: str
    attach: tuple[str, ...]

    @property
    def command(self) -> str:
        """What a person types to be there."""
        server = " ".join(self.attach[1 : self.attach.index("select-window")])
        verb = "switch-client" if "switch-client" in self.attach else "attach"
        return " ".join(word for word in ("tmux", server, verb, "-t", self.pane) if word)


def installed() -> list[str]:
    """The clients that can be started here."""
    return [one for one in CLIENTS if _program(clients.opening(one, "", load()))]


def words(client: str, brief: Brief) -> list[str]:
    """The command line, its program with its folder. Raises NmemError where it is not installed."""
    found = clients.opening(client, brief.text, load())
    program = _program(found)
    if not program:
        raise NmemError(f"{printable(found[0])} is not on PATH: install it, or --print gives the brief for another")
    return [program, *found[1:]]


def folder(brief: Brief) -> str:
    """Where the work was done, if that is there; else the current folder."""
    return brief.cwd if brief.cwd and Path(brief.cwd).is_dir() else os.getcwd()  # noqa: PTH109 - a string is wanted


def here(client: str, brief: Brief) -> None:
    """Become the client, in this terminal. Raises NmemError; else it does not return."""
    found = words(client, brief)
    try:
        os.chdir(folder(brief))
        os.execve(found[0], found, {**own_environment(), "PWD": folder(brief)})  # noqa: S606 - words, no shell
    except OSError as error:
        raise NmemError(f"{client} cannot be started: {error.strerror or error}") from None


def wait(client: str, brief: Brief) -> int:
    """Run the client in this terminal until it ends; its exit code. Raises NmemError."""
    try:
        done = subprocess.run(words(client, brief), cwd=folder(brief), env=own_environment(), check=False)
    except OSError as error:
        raise NmemError(f"{client} cannot be started: {error.strerror or error}") from None
    return done.returncode


def pane(client: str, brief: Brief) -> Started:
    """Open a window of tmux with the client. Raises NmemError, also where the client ends at once."""
    found, config = words(client, brief), load()
    opened = tmux.open_window(
        config.tmux_socket, config.tmux_session, f"episode-{brief.episode}", folder(brief), without_parents(found)
    )
    time.sleep(_SETTLES)
    if not tmux.exists(config.tmux_socket, opened):
        raise NmemError(f"{client} ended at once in its pane: --run starts it here, where it can say why")
    return Started(opened, tuple(tmux.attach(config.tmux_socket, opened, bool(os.environ.get("TMUX")))))


def _program(found: list[str]) -> str:
    return shutil.which(found[0]) or ""
