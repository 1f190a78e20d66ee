"""The Tool class; one call of a tool, with its project and database; stable ids such as obs/12.

Definitions stand in an agent's context whether it uses them or not, so they are short; they need no database.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from capture import paths
from capture.project import resolve
from capture.storage.store import called_by
from nmem import database, tables, upgrade
from nmem.errors import NmemError
from nmem.mcp.reply import line
from nmem.names import cited
from nmem.search.clock import OUTER_STEPS
from nmem.store import project

TEXT, NUMBER, TEXTS = "string", "integer", "array"
_LONGEST = 20_000
"""Characters of one argument: more is no question."""
_WORDS = {TEXT: "a text", NUMBER: "a whole number", TEXTS: "a list of texts"}

Answer = dict[str, object]


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter; of a number `default` and the bounds that it is brought within."""

    name: str
    kind: str = TEXT
    says: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    default: Value | None = None
    low: int = 0
    high: int = 0

    def schema(self) -> dict[str, object]:
        """As JSON Schema, without what a model can do without."""
        out: dict[str, object] = {"type": self.kind}
        if self.kind == TEXTS:
            out["items"] = {"type": TEXT}
        if self.says:
            out["description"] = self.says
        if self.choices:
            out["enum"] = list(self.choices)
        if self.default is not None:
            out["default"] = self.default
        if self.high:
            out["maximum"] = self.high
        return out

    def value(self, given: object) -> Value:
        """What was given, as what it should be. Raises Usage."""
        if self.kind == NUMBER:
            return min(max(self._number(given), self.low), self.high or self._number(given))
        if self.kind == TEXTS:
            return tuple(self._text(each) for each in (given if isinstance(given, list) else [given]))
        text = self._text(given)
        if self.choices and text not in self.choices:
            raise Usage(f"{self.name}: {line(text, 60)} is not one of {', '.join(self.choices)}")
        return text

    def _number(self, given: object) -> int:
        if isinstance(given, str) and given.strip().lstrip("+-").isdecimal() and len(given) < 18:
            given = int(given)
        if isinstance(given, float) and given.is_integer():
            given = int(given)
        if isinstance(given, bool) or not isinstance(given, int):
            raise self._wrong(given)
        return given

    def _text(self, given: object) -> str:
        if isinstance(given, int) and not isinstance(given, bool):
            given = str(given)
        if not isinstance(given, str):
            raise self._wrong(given)
        if len(given) > _LONGEST:
            raise Usage(f"{self.name}: {len(given)} characters exceed the limit of {_LONGEST}")
        return given.replace("\0", "")

    def _wrong(self, given: object) -> Usage:
        return Usage(f"{self.name}: {line(repr(given), 60)} is not {_WORDS[self.kind]}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; `run` answers with what becomes one JSON object, or raises NmemError."""

    name: str
    says: str
    params: tuple[Param, ...]
    run: Callable[[Ask], Answer]
    writes: bool = False

    def schema(self) -> dict[str, object]:
        """Its parameters as JSON Schema."""
        out: dict[str, object] = {"type": "object", "properties": {each.name: each.schema() for each in self.params}}
        if needed := [each.name for each in self.params if each.required]:
            out["required"] = needed
        return out

    def checked(self, given: Mapping[str, object]) -> dict[str, Value]:
        """Arguments as the tool takes them; null is as good as absent. Raises Usage."""
        known = {each.name: each for each in self.params}
        if strange := sorted(set(given) - set(known)):
            takes = ", ".join(known) or "nothing"
            raise Usage(f"{self.name} has no {', '.join(line(name, 40) for name in strange)}: it takes {takes}")
        out = {each.name: each.default for each in self.params if each.default is not None}
        out |= {name: known[name].value(value) for name, value in given.items() if value is not None}
        if missing := [each.name for each in self.params if each.required and out.get(each.name) in (None, "", ())]:
            raise Usage(f"{self.name} needs {' and '.join(missing)}")
        return out


PROJECT = Param("project")
CURSOR = Param("cursor")


def limit(default: int, most: int) -> Param:
    """How many at most."""
    return Param("limit", NUMBER, default=default, low=1, high=most)


Value = str | int | tuple[str, ...]
EVERYWHERE = "*"
SECONDS = 10.0
"""How long one call may read."""
_NAMED = 8
_SESSION = "CLAUDE_CODE_SESSION_ID"
"""Where a client tells the programs that it starts which session is theirs."""


class Usage(NmemError):
    """Arguments that a tool cannot use; the text says which, and what it takes."""


@dataclass(frozen=True, slots=True)
class Place:
    """A project; every one of them when `key` is empty."""

    id: int | None
    key: str
    name: str


class Ask:
    """A call of one tool, while it is answered."""

    def __init__(self, given: Mapping[str, Value], cwd: str = "") -> None:
        self._given = given
        self.cwd = cwd or str(Path.cwd())
        self.now = time.time_ns() // 1_000_000
        self._db: Connection | None = None
        self._until = 0.0

    def text(self, name: str) -> str:
        """An argument that is a text; empty when it was not given."""
        return str(self._given.get(name, "")).strip()

    def number(self, name: str) -> int:
        """An argument that is a number, within its bounds."""
        value = self._given.get(name, 0)
        assert isinstance(value, int)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """An argument that is a list."""
        value = self._given.get(name, ())
        assert isinstance(value, tuple)
        return value

    @property
    def db(self) -> Connection:
        """The database, read-only. Raises NoDatabase or NmemError, which say what to do."""
        if self._db is None:
            self._db = database.one_moment(database.leniently(upgrade.reader(paths.database())))
            self._until = time.monotonic() + SECONDS
            self._db.set_progress_handler(lambda: int(self.over()), OUTER_STEPS)
        return self._db

    def over(self) -> bool:
        """Whether the call has read for as long as it may."""
        return time.monotonic() > self._until

    def close(self) -> None:
        """Let go of the database."""
        if self._db is not None:
            self._db.close()
            self._db = None

    @property
    def place(self) -> Place:
        """The project that was asked for, else the one that the server runs in. Raises NmemError."""
        named = self.text("project")
        if named == EVERYWHERE:
            return Place(None, "", "")
        found = project.meant(self.db, named) if named else project.here(self.db, self.cwd)
        if found is not None:
            return Place(found.id, found.key, found.name)

        raise NmemError(
            f"nothing is recorded of {cited(named or project.called(self.db, resolve(self.cwd)), 80)}: {self._others()}"
        )

    def called(self) -> tuple[str, ...]:
        """What the project asked about is called in settings; () for all of them. Raises NmemError."""
        return called_by(self.db, self.place.id or 0)

    def _others(self) -> str:
        """Which projects there are, those worked on last first."""
        names = [cited(one.name, 60) for one in project.recorded(self.db, _NAMED + 1)]
        if not names:
            return "no session is recorded at all yet"
        more = " …" if len(names) > _NAMED else ""
        return f"project may be {', '.join(names[:_NAMED])}{more} or {EVERYWHERE} for all"

    def cursor(self) -> tuple[int, int] | None:
        """The two numbers of a cursor; None on the first page. Raises Usage for one that no reply gave."""
        text = self.text("cursor")
        if not text:
            return None
        found = [part for part in text.split(".") if part.isascii() and part.isdecimal() and len(part) < 19]
        if len(found) != 2 or ".".join(found) != text:
            raise Usage("cursor: pass the `next` of an earlier reply to the same question, unchanged")
        return int(found[0]), int(found[1])

    def session_named(self) -> str:
        """The session that the client named; empty without one, or where that has ended: clearing makes another."""
        from nmem.read import views  # on use: start-up stays short

        db, own = self.db, os.environ.get(_SESSION, "")
        row = views.session(db, own) if own else None
        return own if row is not None and row.state != "ended" else ""

    def session_here(self) -> str:
        """The session that is going on in the project that is asked about. Raises NmemError when there is none."""
        from nmem.read import views  # on use: start-up stays short
        from nmem.stance.read import newest  # on use: start-up stays short

        if not self.text("project") and (own := self.session_named()):
            return own
        place = self.place
        found = newest(self.db, place.key) if place.key else next((row.id for row in views.sessions(self.db, 1)), None)
        if found is None:
            raise NmemError(f"no session is recorded{f' of {cited(place.name, 80)}' if place.key else ''} yet")
        return found


@contextmanager
def asking(given: Mapping[str, Value], cwd: str = "") -> Iterator[Ask]:
    """A call that lets go of the database at its end."""
    ask = Ask(given, cwd)
    try:
        yield ask
    finally:
        ask.close()


OBS, PROMPT, EPISODE, SESSION, THREAD, LEARNING = "obs", "prompt", "episode", "session", "thread", "learning"
TASK, DECISION = "task", "decision"
KINDS = (OBS, PROMPT, EPISODE, SESSION, THREAD, LEARNING, TASK, DECISION)
_TABLES = {OBS: "observations", PROMPT: "prompts", EPISODE: "work_units", THREAD: "threads", LEARNING: "learnings",
           TASK: "tasks", DECISION: "said_decisions"}  # fmt: skip
_ALIASES = {"observation": OBS, "marker": OBS, "reasoning": PROMPT, "next": EPISODE, "unit": EPISODE}
_FORMS = "obs/12, prompt/5, episode/3, session/abc, thread/4, learning/2, task/7 or decision/4"
_FEW = 3


class Unknown(NmemError):
    """An id that names nothing; the text says what there is."""


@dataclass(frozen=True, slots=True)
class Ref:
    """What an id names; of a session `key` is its whole id, of anything else `number` counts."""

    kind: str
    number: int = 0
    key: str = ""

    def __str__(self) -> str:
        return f"{self.kind}/{self.key or self.number}"


def parse(db: Connection, text: str) -> Ref:
    """What an id names; a session may be named by the beginning of its id. Raises Usage or Unknown."""
    kind, slash, rest = text.strip().removeprefix("pin/").partition("/")
    kind = _ALIASES.get(kind, kind)
    if kind == "file" and rest:
        raise Usage(f"{line(text, 80)} is a file: use file_history")
    if kind not in KINDS or not slash or not rest:
        raise Usage(f"{line(text, 80) or 'nothing'} is not an id: {_FORMS}")
    if kind == SESSION:
        return Ref(SESSION, key=_session(db, rest))
    if not (rest.isascii() and rest.isdecimal() and len(rest) < 19):
        raise Usage(f"{line(text, 80)} is not an id: {kind}/ and a number")
    ref = Ref(kind, int(rest))
    if not _there(db, ref):
        raise unknown(db, ref)
    return ref


def _session(db: Connection, beginning: str) -> str:
    from nmem.read.store import sessions_like  # on use: start-up stays short

    found = sessions_like(db, beginning)
    if len(found) == 1:
        return found[0]
    if found:
        named = ", ".join(f"session/{line(each, 60)}" for each in found)
        raise Unknown(f"session/{line(beginning, 60)} matches several sessions: {named}")
    from nmem.store.store import newest_sessions  # on use: an error is rare

    there = ", ".join(f"session/{line(newest, 60)}" for newest, _ in newest_sessions(db, _FEW))
    raise Unknown(f"there is no session/{line(beginning, 60)}: the newest are {there or 'none at all'}")


def _there(db: Connection, ref: Ref) -> bool:
    known = ref.kind in (OBS, PROMPT) or tables.version(db) > 0
    return known and tables.has(db, _TABLES[ref.kind], ref.number)


def unknown(db: Connection, ref: Ref) -> Unknown:
    """What to say of a number that names nothing."""
    if ref.kind not in (OBS, PROMPT) and not tables.version(db):
        return Unknown(f"there is no {ref}: nothing was settled yet, so there are prompts, obs and sessions only")
    low, high = tables.ids(db, _TABLES[ref.kind])
    if not high:
        return Unknown(f"there is no {ref}: no {ref.kind} is recorded yet")
    if low < ref.number < high:
        return Unknown(f"there is no {ref}: it was forgotten, or never there; ids go up to {ref.kind}/{high}")
    return Unknown(f"there is no {ref}: they are {ref.kind}/{low} to {ref.kind}/{high}")
