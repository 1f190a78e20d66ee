"""Registry of local histories that are read as a whole: one module a format, which gives its sessions and their events.

Each module has HISTORY. A history is found by what its files are called; a session is read again when its version is
another, and what of it is stored already has the same keys and is not stored again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from capture.clients import said
from capture.event import PROMPT, THINKING, TOOL_ERROR, TOOL_RESULT, TURN_END, USER, Event
from capture.files import read
from capture.keys import digest
from capture.transcript.reading import Reader, Source

NAMES = ("opencode", "cline", "aider", "specstory", "goose", "cursor")
"""The formats, the most used first; each is a module of this package."""
_MOST = 1 << 28
"""Bytes of a file that are read at most."""
EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")


@dataclass(slots=True)
class Session:
    """One session of a history, as its file tells before it is read."""

    path: str
    """The file, and which session of it where it has several: `file#session`."""
    file: str
    client: str
    session_id: str
    cwd: str = ""
    size: int = 0
    version: int = 1
    """Another one means that there is something new; never 0."""
    at: int = 0
    """When it was last changed, in milliseconds."""
    same_as: str = ""
    """The id of the session of another client that it repeats."""
    inner: str = ""
    """The id of a subagent, whose session is its parent's."""


@dataclass(frozen=True, slots=True)
class History:
    """A format: where it lies, which files are its own, what sessions they have, and what happened in one."""

    clients: tuple[str, ...]
    title: str
    place: str
    """Where its files are, in words."""
    tried: str
    """On what real sample it was tried; empty: on none."""
    folders: Callable[[], list[Path]]
    owns: Callable[[Path], bool]
    sessions: Callable[[Path], Iterator[Session]]
    events: Callable[[Session, Teller], Iterator[Event]]


class Teller(Reader):
    """Makes the events of one session, and keeps what is said of it as a whole."""

    def prompt(self, at: int, words: str, turn: str = "") -> Iterator[Event]:
        """What a person typed, unless a machine did."""
        self.turn = turn
        event = self.event(PROMPT, at, "history")
        event.text, event.source = said.prompt(words)
        if event.text and event.source == USER and not event.agent_id:
            yield event

    def says(self, at: int, words: str, *, thinking: bool = False) -> Iterator[Event]:
        """A thought of the agent, or the text that closes its turn."""
        event = self.event(THINKING if thinking else TURN_END, at, "history")
        event.text = said.strip_own(words).strip()
        if event.text and (thinking or not event.agent_id):
            yield event

    def call(self, at: int, tool: str, given: dict[str, object], name: str = "", *, ok: bool | None = None) -> Event:
        """A call of a tool, under its canonical name and with canonical arguments."""
        event = self.event(TOOL_ERROR if ok is False else TOOL_RESULT, at, "history")
        event.tool, event.tool_input, event.tool_name, event.ok = tool, given, name or tool, ok
        return event

    def feed(self, record: dict[str, object], offset: int) -> list[Event]:
        """Nothing: a history has no records to read on from."""
        raise NotImplementedError

    def finish(self, over: bool) -> list[Event]:  # noqa: ARG002 - as its base
        """Nothing: all is read at once."""
        return []


@cache
def of(name: str) -> History:
    """A format by its module's name."""
    found: History = import_module(f"nmem.importing.histories.{name}").HISTORY
    return found


def clients() -> tuple[str, ...]:
    """The names of all clients whose histories can be read."""
    return tuple(client for name in NAMES for client in of(name).clients)


def by_client(client: str) -> History | None:
    """The format that a client writes."""
    return next((of(name) for name in NAMES if client in of(name).clients), None)


def at(path: Path, client: str = "") -> Iterator[Session]:
    """The sessions of a file, if it is a history's; a file that cannot be read has none."""
    for name in NAMES:
        history = of(name)
        if client and client not in history.clients:
            continue
        try:
            if history.owns(path):
                yield from history.sessions(path)
                return
        except (OSError, ValueError, RecursionError):
            continue


def events(session: Session, source: Source) -> tuple[Teller, Iterator[Event]]:
    """What happened in a session, in order. Raises OSError, and ValueError for a file that is broken."""
    history, teller = by_client(session.client), Teller(source)
    return teller, history.events(session, teller) if history else iter(())


def text_of(path: str) -> str:
    """A file's text. Raises OSError."""
    return read(path, _MOST).decode("utf-8", "replace")


def json_of(path: str) -> object:
    """A file's JSON. Raises OSError or ValueError."""
    return json.loads(text_of(path))


def stamp(path: Path) -> tuple[int, int, int]:
    """(size, version, time of the last change in milliseconds) of a file."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns // 1_000 or 1, found.st_mtime_ns // 1_000_000


def number(*parts: str) -> str:
    """An id for a session that has none of its own, or whose own is another client's: told apart by its beginning."""
    return digest("\0".join(parts))


def data_home(name: str) -> Path:
    """A program's folder where the desktop keeps data."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / name


def above(part: str) -> list[Path]:
    """What lies under this name in the folder that we run in, or the nearest above that has it."""
    here = Path.cwd()
    return [folder / part for folder in (here, *here.parents) if (folder / part).exists()][:1]
