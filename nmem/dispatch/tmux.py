"""Opens, reads and attaches tmux panes through libtmux; a shell line only in an idle pane that a person chose.

Nothing here knows of tasks. All raise NmemError, one line.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nmem.errors import NmemError
from nmem.text import printable

if TYPE_CHECKING:
    from libtmux import Server

_SHELLS = frozenset(("sh", "bash", "zsh", "fish", "dash", "ksh", "mksh", "ash", "tcsh", "csh", "nu", "xonsh", "elvish"))
_WIDE, _HIGH = 200, 50
_STILL = 1.0
_TARGET = re.compile(r"%\d{1,9}|[\w.@ -]{1,80}(?::[\w.@ -]{1,80}(?:\.\d{1,4})?)?")
_FACTS = (
    "pane_id", "pane_pid", "pane_current_command", "pane_in_mode", "pane_dead", "history_size", "cursor_y",
    "alternate_on",
)  # fmt: skip


class Busy(NmemError):
    """A chosen pane is in use; the text says by what."""


@dataclass(frozen=True, slots=True)
class Pane:
    """What tmux tells of a pane."""

    id: str
    pid: int
    command: str
    in_mode: bool
    dead: bool
    line: int
    """Lines above its cursor, the scrolled ones too."""
    history: int
    alternate: bool
    """A program has the whole screen for itself, and takes it along when it ends."""


def installed() -> bool:
    """Whether there is a tmux to run."""
    return shutil.which("tmux") is not None


def server(socket: str) -> Server:
    """The server of a socket: by its name, or by its path where it holds a slash; empty: tmux's own."""
    from libtmux import Server  # on use: start-up stays short

    if not installed():
        raise NmemError("tmux is not installed: install it, or run tasks with --headless")
    if not socket:
        return Server()
    return Server(socket_path=socket) if "/" in socket else Server(socket_name=socket)


def open_window(socket: str, session: str, name: str, cwd: str, words: Sequence[str]) -> str:
    """A new window that runs these words, in a session that is made when it is not there; the id of its pane."""
    tmux = server(socket)
    folder = cwd.replace("#", "##")  # tmux expands what it takes for a format: `#(...)` of a folder's name would run
    tail = ("-P", "-F", "#{pane_id}", "-n", name, "-c", folder, "--", *words)
    made = ("new-session", "-d", "-s", session, "-x", str(_WIDE), "-y", str(_HIGH), *tail)
    window = ("new-window", "-d", "-t", f"={session}:", *tail)
    said = ""
    for command in (window, made, window):  # another runner may make the session meanwhile
        done = _command(tmux, *command)
        if not done[1]:
            return done[0][0]
        said = done[1][0]
    raise NmemError(f"tmux did not open a window: {printable(said)[:200]}")


def open_beside(socket: str, target: str, cwd: str, words: Sequence[str]) -> str:
    """A new pane beside another one, that runs these words and has the keyboard; its id."""
    folder = cwd.replace("#", "##")  # as in a window
    done = _command(server(socket), "split-window", "-h", "-P", "-F", "#{pane_id}", "-t", target, "-c", folder, "--",
                    *words)  # fmt: skip
    if done[1]:
        raise NmemError(f"tmux did not open a pane: {printable(done[1][0])[:200]}")
    return done[0][0]


def type_into(socket: str, target: str, words: Sequence[str]) -> str:
    """Run these words in a pane that a person chose, if it is idle; its id. Raises Busy when it is not."""
    found = idle(socket, target)
    tmux = server(socket)
    line = " " + shlex.join(words)  # the blank keeps it out of most shells' history
    for keys in (("C-u",), ("-l", "--", line), ("Enter",)):
        _, error = _command(tmux, "send-keys", "-t", found.id, *keys)
        if error:
            raise NmemError(f"tmux cannot type into {found.id}: {printable(error[0])[:200]}")
    return found.id


def idle(socket: str, target: str) -> Pane:
    """A pane whose shell waits at its prompt and whose screen stands still. Raises Busy, NmemError."""
    found = pane(socket, target)
    if found is None:
        raise Busy(f"tmux has no pane {printable(target)}")
    if found.dead or found.in_mode:
        raise Busy(f"pane {found.id} is {'dead' if found.dead else 'being scrolled or copied from'}")
    if found.command.lstrip("-") not in _SHELLS or not _at_prompt(found.pid):
        raise Busy(f"pane {found.id} is busy: {printable(found.command)} runs in it")
    before = capture(socket, found.id)
    time.sleep(_STILL)
    if capture(socket, found.id) != before or pane(socket, found.id) != found:
        raise Busy(f"pane {found.id} is busy: something is written or typed in it")
    return found


def _at_prompt(shell: int) -> bool:
    """Whether a shell has its terminal for itself: a script that it runs, of whatever name, would have it instead."""
    done = subprocess.run(["ps", "-o", "tpgid=,pgid=", "-p", str(shell)], capture_output=True, text=True, check=False)
    groups = done.stdout.split()
    return len(groups) == 2 and groups[0] == groups[1]


def pane(socket: str, target: str) -> Pane | None:
    """What tmux tells of a pane; None when there is none, or no server."""
    if not _TARGET.fullmatch(target):
        return None
    shown = "\t".join(f"#{{{name}}}" for name in _FACTS)
    out, error = _command(server(socket), "display-message", "-p", "-t", target, shown)
    facts = out[0].split("\t") if out and not error else []
    if len(facts) != len(_FACTS) or not facts[0] or not facts[1].isdecimal():
        return None
    history, cursor = int(facts[5] or 0), int(facts[6] or 0)
    flags = [fact not in ("", "0") for fact in (facts[3], facts[4], facts[7])]
    return Pane(facts[0], int(facts[1]), facts[2], flags[0], flags[1], history + cursor, history, flags[2])


def exists(socket: str, pane_id: str) -> bool:
    """Whether this very pane is there: by its id, which tmux never gives twice while it runs."""
    found = pane(socket, pane_id) if pane_id.startswith("%") else None
    return found is not None and found.id == pane_id


def capture(socket: str, pane_id: str, since: int = -1) -> str:
    """What a pane shows, from its line `since` on (see Pane.line), else its screen; empty when it is gone."""
    words = ["capture-pane", "-p", "-J", "-t", pane_id]
    if since >= 0:
        found = pane(socket, pane_id)
        if found is None:
            return ""
        words += ["-S", str(since - found.history)]
    out, error = _command(server(socket), *words)
    return "" if error else "\n".join(line.rstrip() for line in out).strip("\n")


def attach(socket: str, pane_id: str, inside: bool) -> list[str]:
    """The words that bring a person to a pane, from within tmux or from without."""
    chosen = (["-S", socket] if "/" in socket else ["-L", socket]) if socket else []
    verb = "switch-client" if inside else "attach-session"
    there = ["select-window", "-t", pane_id, ";", "select-pane", "-t", pane_id]
    return ["tmux", *chosen, *there, ";", verb, "-t", pane_id]


def _command(tmux: Server, *words: str) -> tuple[list[str], list[str]]:
    """What tmux answers, and what it complains of."""
    from libtmux.exc import LibTmuxException  # on use: start-up stays short

    try:
        done = tmux.cmd(*words)
    except (LibTmuxException, OSError, ValueError) as error:
        return [], [str(error) or type(error).__name__]
    failed = done.returncode not in (0, None)
    return list(done.stdout), list(done.stderr) or (["it failed"] if failed else [])
