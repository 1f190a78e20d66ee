"""Previews a session's context, now or at a past moment, with all candidates.

Now is read from the very tables that a hook reads; a moment that is over is veiled and folded anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from sqlite3 import Connection

from capture import clients
from capture.storage.store import called_by
from nmem import database
from nmem.context import ask, decide, keep, pinned, present, review_store, store, work
from nmem.context.candidates import gathered
from nmem.context.compose import outward, packed
from nmem.context.config import Config, load
from nmem.context.episodes import goes_on
from nmem.context.items import FILE, NEXT, Item, subject, tokens
from nmem.context.present import Present
from nmem.context.quiet import quiet
from nmem.context.rank import rank
from nmem.errors import NmemError
from nmem.store.project import named
from nmem.text import printable
from nmem.threads import continuity

UNKNOWN = "nothing says what a session that starts goes on with: its first prompt will"


@dataclass(frozen=True, slots=True)
class Preview:
    """A text and what it is made of."""

    project: str
    project_id: int
    session_id: str
    prompt: str
    at: int
    budget: int
    text: str
    """Exactly what would be told; empty: nothing."""
    tokens: int
    items: tuple[Item, ...]
    """In the order in which they are told."""
    left_out: tuple[Item, ...]
    """Weighed, but told no more: too little room, or too little worth."""
    why_silent: str
    """Why nothing that was recorded is told; empty when something is."""
    excluded: tuple[Item, ...] = ()
    """What a person said shall never be told, as far as it is still there."""
    choices: dict[str, str] = field(default_factory=dict)
    """What a person said: the own id of an item -> include, exclude or pin; pins of its own count as well."""
    occasion: str = ""
    """Why a session that starts is told more than pins; at a prompt nothing."""
    before: tuple[Item, ...] = ()
    """What a new session's start tells, and its prompt therefore does not; only where it is a prompt that is asked."""
    held: tuple[Item, ...] = ()
    """Not told because it quotes something excluded; each says what."""

    @property
    def every(self) -> tuple[Item, ...]:
        """Told or not."""
        return (*self.items, *self.before, *self.left_out, *self.held, *self.excluded)


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose context: a project (name, key or root) or a session, what is asked, when (None: now)."""

    project: str = ""
    session_id: str = ""
    prompt: str = ""
    branch: str = ""
    now: int = 0
    as_of: int | None = None
    like: str = ""
    """Instead of all these: a new session of the project, branch, client and folder of this one."""


def preview(path: str, asked: Asked, budget: int) -> Preview:
    """What would be told within `budget` tokens. Raises NmemError for a project or session that is not known."""
    with _opened(path, asked) as db:
        return of(db, asked, budget)


def of(db: Connection, asked: Asked, budget: int) -> Preview:
    """The same on a connection; of a moment that is over, on one that is veiled (nmem.context.review_store)."""
    present = _present(db, asked)
    if asked.as_of is not None:
        keep.refold_past(db, present.project_id, present.project, present.at, present.session_id)
    most = clients.most(present.client)
    goes = _goes_on(db, present)
    config = load() if asked.as_of is None else None
    before = _begun(db, present, config, most) if present.prompt and not present.session_id else ()
    made = (
        decide.prompt(db, present, config, budget, most, "a prompt that opens an episode")
        if present.prompt
        else decide.start(db, present, config, budget, most, goes, present.source if present.session_id else "")
    )
    found = gathered(db, present) if made.found is None else made.found
    silent = "" if made.text else made.silent or _silent(db, present, found, goes)
    if not present.prompt:
        ask.add(db, present, config, made, most, present.source if present.session_id else "")
    said, held = store.choices(db, present.project_id), _held(present)
    made.text = outward(made.text, called_by(db, present.project_id), most)
    return Preview(
        present.project, present.project_id, present.session_id, asked.prompt, present.at, decide.within(budget, most),
        made.text, tokens(made.text) if made.text else 0, tuple(made.items), _left_out(found, made.items),
        silent,
        tuple(_excluded(db, present, said)), _stands([*found, *before], said), goes, before, held,
    )  # fmt: skip


def _begun(db: Connection, present: Present, config: Config | None, most: int) -> tuple[Item, ...]:
    """What a new session's start tells before its prompt comes: from here on that counts as told."""
    first = Present(present.project_id, "", present.at)
    first.project, first.branch, first.client, first.cwd = (
        present.project, present.branch, present.client, present.cwd
    )  # fmt: skip
    made = decide.start(db, first, config, (config or load()).start_tokens, most, _goes_on(db, first))
    ask.add(db, first, config, made, most, "")
    present.given = frozenset(item.id for item in made.items)
    present.given_files = frozenset(path for item in made.items for path in item.files)
    return tuple(made.items)


def after_reset(db: Connection, session_id: str, at: int, budget: int, cleared: bool = False) -> Preview:
    """What a session would be told if its conversation were compacted, or cleared, now. Raises NmemError."""
    known = present.read(db, session_id, at)
    if known is None:
        raise NmemError(f"there is no session {printable(session_id)}")
    most = clients.most(known.client)
    config = load()
    made = decide.recovered(db, known, config, budget, most, session_id, cleared)
    silent = "" if made.text else made.silent or "no episode of this session is known yet: its first prompt opens one"
    ask.add(db, known, config, made, most, "compact")
    made.text = outward(made.text, called_by(db, known.project_id), most)
    return Preview(
        known.project, known.project_id, session_id, "", at, decide.within(budget, most), made.text,
        tokens(made.text) if made.text else 0, tuple(made.items), (), silent, held=_held(known),
    )  # fmt: skip


def _held(present: Present) -> tuple[Item, ...]:
    """What quotes something excluded, and is not told for that."""
    return tuple(present.unsaid.held.values()) if present.unsaid else ()


_EVERY = 100
"""Pins among which those are looked for that find no room: more than a hook looks at."""


def pins_left_out(db: Connection, item: str, budget: int, now: int) -> list[str]:
    """What is pinned in the project of `item` and finds no room when a session starts, the newest first."""
    project_id = review_store.project_of(db, item)
    if project_id is None:
        return []
    there = Present(project_id, "", now)
    said = pinned.heed(db, there)
    found = pinned.heeded(pinned.pins(db, there, said, _EVERY), there, said)
    told = packed(found, budget)
    return [subject(one.id) for one in found if one not in told]


def _goes_on(db: Connection, present: Present) -> str:
    """What says that a session that starts goes on with earlier work; a session that is not there yet counts, too."""
    if present.prompt:
        return ""
    if not present.session_id:
        thread, why = continuity.awaited(db, present.project_id, present.at, present.client, present.branch)
        if why == continuity.CHOSEN and thread is not None:
            present.thread_id = thread
            return "the thread was chosen"
        found = goes_on(db, present)
        present.thread_id = thread
        return found
    return goes_on(db, present)


def _excluded(db: Connection, present: Present, chosen: dict[str, str]) -> Iterator[Item]:
    """What is never told, each as it would be."""
    present.unsaid = None
    for item, choice in chosen.items():
        if choice == pinned.EXCLUDE and item != store.EVERYTHING:
            kind = item.partition("/")[0]
            for one in _never(db, item, present)[:1]:
                yield Item(item, kind, one.text, files=one.files, score=0.0, reason=one.reason)


def _never(db: Connection, item: str, present: Present) -> list[Item]:
    """What an id stands for; of an episode's next steps these, and the episode once it has none any more."""
    reason = "you said that it is never told"
    kind, _, rest = item.partition("/")
    if kind != NEXT:
        return pinned.resolved(db, item, present, reason)
    steps = work.left_by(db, int(rest), present, reason) if rest.isdecimal() and len(rest) < 19 else []
    return steps or pinned.resolved(db, f"episode/{rest}", present, reason)


def _stands(found: list[Item], chosen: dict[str, str]) -> dict[str, str]:
    """What a person said of each item, by choice or by a pin of its own."""
    out = {subject(item.id): pinned.PINNED for item in found if item.id.startswith("pin/")}
    return {**out, **{item: choice for item, choice in chosen.items() if item != store.EVERYTHING}}


def _left_out(found: list[Item], items: list[Item]) -> tuple[Item, ...]:
    """What was weighed and is not told; a file that an episode names is."""
    named, told = {path for item in items for path in item.files}, {item.id for item in items}
    return tuple(
        item for item in found if item.id not in told and not (item.kind == FILE and named.issuperset(item.files))
    )


@contextmanager
def _opened(path: str, asked: Asked) -> Iterator[Connection]:
    if asked.as_of is not None:
        with review_store.as_of(path, asked.as_of) as db:
            yield db
        return
    with closing(database.one_moment(database.reader(path))) as db:
        db.row_factory = None
        yield db


def _present(db: Connection, asked: Asked) -> Present:
    out = _of(db, asked)
    out.over = asked.as_of is not None
    return out


def _of(db: Connection, asked: Asked) -> Present:
    at = asked.now if asked.as_of is None else asked.as_of
    if asked.session_id:
        known = present.read(db, asked.session_id, at, asked.prompt)
        if known is None:
            raise NmemError(f"there is no session {printable(asked.session_id)}{' then' if asked.as_of else ''}")
        return known
    if asked.like:
        other = present.read(db, asked.like, at)
        if other is None:
            raise NmemError(f"there is no session {printable(asked.like)}")
        out = Present(other.project_id, "", at, asked.prompt)
        out.project, out.branch, out.client, out.cwd = other.project, other.branch, other.client, other.cwd
        return out
    project = named(db, asked.project)
    out = Present(project.id, "", at, asked.prompt)
    out.project, out.branch = (
        project.name,
        asked.branch or (review_store.branch(db, project.id, at) if asked.as_of is None else ""),
    )
    return out


def _silent(db: Connection, present: Present, found: list[Item], goes: str) -> str:
    """Why nothing is told."""
    if not review_store.is_prepared(db, present.project_id):
        return "nothing of this project is prepared yet: `nmem settle` does it"
    if not present.prompt and not goes:
        return UNKNOWN
    if found:
        return "nothing of what is known fits the budget"
    if why := quiet(present.prompt):
        return f"{why}: nothing is searched for that"
    ranking = rank(db, present.project_id, present.prompt, present.branch)
    if not ranking.files:
        return "nothing recorded says enough of what the prompt asks, and no file of this project was ever touched"
    if present.given - {ask.ID}:
        told = "this session was told" if present.session_id else "its start told"
        return f"nothing beyond what {told} says enough of what the prompt asks"
    return "nothing recorded says enough of what the prompt asks"
