"""Registry of local histories that are read as a whole: one module a format, which gives its sessions and their events.

Each module has HISTORY. A history is found by what its files are called; a session is read again when its version is
another, and what of it is stored already has the same keys and is not stored again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from errno import EINVAL
from functools import cache
from importlib import import_module
from pathlib import Path

from capture.clients import said
from capture.event import PROMPT, THINKING, TOOL_ERROR, TOOL_RESULT, TURN_END, USER, Event
from capture.files import read, regular
from capture.keys import digest
from capture.transcript.reading import Reader, Source

NAMES = ("opencode", "cline", "aider", "specstory", "goose", "cursor")
"""The formats, the most used first; each is a module of this package."""
_MOST = 1 << 28
"""Bytes of a file that are read at most."""
SETTLED = 600.0
"""Seconds after which nobody writes to a file any more."""
_DAY = 86_400_000
_FINER = 100_000_000_000_000
"""From here on, a time is in microseconds or in nanoseconds: as milliseconds it is beyond the year 5000."""
BROKEN = (OSError, ValueError, RecursionError, TypeError, AttributeError, KeyError, sqlite3.Error)
"""What the reading of a history may raise: what other programs wrote can hold anything at any place."""
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
    error: str = ""
    """Why the sessions of its file cannot be told; it stands for all of them."""

    def __post_init__(self) -> None:
        self.at = possible(self.at)


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

    def event(self, kind: str, at: int, native: str) -> Event:
        """An Event at a time that can be."""
        return super().event(kind, possible(at), native)

    def seen(self, tokens: int | None, window: int | None, at: int) -> None:
        """How full the context was, at a time that can be."""
        super().seen(tokens, window, possible(at))

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
    """The sessions of a file, if it is a history's; one with an `error` where they cannot be told."""
    for name in NAMES:
        history = of(name)
        if client and client not in history.clients:
            continue
        try:
            if not history.owns(path):
                continue
        except (OSError, ValueError):
            continue
        try:
            yield from history.sessions(path)
        except BROKEN as error:
            yield Session(str(path), str(path), history.clients[0], "", at=_now(), error=why(error))
        return


def events(session: Session, source: Source) -> tuple[Teller, Iterator[Event]]:
    """What happened in a session, in order. Raises BROKEN."""
    history, teller = by_client(session.client), Teller(source)
    return teller, history.events(session, teller) if history else iter(())


def possible(at: int) -> int:
    """A time in milliseconds that a session can have: what is stored is compared and shown from then on."""
    while at > _FINER:
        at //= 1_000
    return max(0, min(at, _now() + _DAY))


def _now() -> int:
    return int(time.time() * 1000)


def why(error: BaseException) -> str:
    """What went wrong with a file, in one line."""
    said = str(getattr(error, "strerror", "") or error)
    return said if isinstance(error, OSError | ValueError | sqlite3.Error) else f"not as expected ({said})"


def head_of(path: Path, most: int) -> bytes:
    """The beginning of a regular file: a FIFO of the same name may never end. Raises OSError."""
    with open(path, "rb", opener=regular) as file:
        return file.read(most)


def text_of(path: str) -> str:
    """A file's text. Raises OSError."""
    return read(path, _MOST).decode("utf-8", "replace")


def json_of(path: str) -> object:
    """A file's JSON. Raises OSError or ValueError."""
    return json.loads(text_of(path))


@contextmanager
def opened(path: str) -> Iterator[sqlite3.Connection]:
    """Another program's database, which is only read. Raises OSError and sqlite3.Error."""
    if not Path(path).is_file():  # opening a pipe waits for ever
        raise OSError(EINVAL, "not a regular file", path)
    with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as db:
        yield db


def stamp(path: Path) -> tuple[int, int, int]:
    """(size, version, time of the last change in milliseconds) of a file."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns // 1_000 or 1, found.st_mtime_ns // 1_000_000


def own_id(*parts: str) -> str:
    """An id for a session that has none of its own, or whose own is another client's: told apart by its beginning."""
    return digest("\0".join(parts))


def data_home(name: str) -> Path:
    """A program's folder where the desktop keeps data."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / name


def above(part: str) -> list[Path]:
    """What lies under this name in the folder that we run in, or the nearest above that has it."""
    here = Path.cwd()
    return [folder / part for folder in (here, *here.parents) if (folder / part).exists()][:1]
