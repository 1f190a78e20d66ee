"""What a session would be told now, or would have been at a moment, with everything that was weighed (SQL).

Now is read from the very tables that a hook reads; a moment that is over is veiled and folded anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from sqlite3 import Connection

from nmem import database
from nmem.context import asof, history, keep, present, warm
from nmem.context.beginning import goes_on
from nmem.context.budget import packed
from nmem.context.candidates import gathered
from nmem.context.choose import FEW, FLOOR
from nmem.context.compose import compose
from nmem.context.items import FILE, PIN, Item, tokens
from nmem.context.present import Present
from nmem.context.rank import rank
from nmem.errors import NmemError
from nmem.text import printable


@dataclass(frozen=True, slots=True)
class Preview:
    """A text and what it is made of."""

    project: str
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
    """Why nothing is told; empty when something is."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose context: a project (name, key or root) or a session, what is asked, when (None: now)."""

    project: str = ""
    session_id: str = ""
    prompt: str = ""
    branch: str = ""
    now: int = 0
    as_of: int | None = None


def preview(path: str, asked: Asked, budget: int) -> Preview:
    """What would be told within `budget` tokens. Raises NmemError for a project or session that is not known."""
    with _opened(path, asked) as db:
        present = _present(db, asked)
        if asked.as_of is not None:
            _fold(db, present)
        found = gathered(db, present)
        told = found if present.prompt or goes_on(db, present) else [item for item in found if item.kind == PIN]
        items = packed(told, budget)
        text = compose(items, present)
        return Preview(
            present.project, present.session_id, asked.prompt, present.at, budget, text, tokens(text) if text else 0,
            tuple(items), _left_out(found, items), "" if text else _silent(db, present, found),
        )  # fmt: skip


def _left_out(found: list[Item], items: list[Item]) -> tuple[Item, ...]:
    """What was weighed and is not told; a file that an episode names is."""
    named = {path for item in items for path in item.files}
    return tuple(
        item for item in found if item not in items and not (item.kind == FILE and named.issuperset(item.files))
    )


@contextmanager
def _opened(path: str, asked: Asked) -> Iterator[Connection]:
    if asked.as_of is not None:
        with asof.opened(path, asked.as_of) as db:
            yield db
        return
    with closing(database.reader(path)) as db:
        db.row_factory = None
        yield db


def _present(db: Connection, asked: Asked) -> Present:
    at = asked.now if asked.as_of is None else asked.as_of
    if asked.session_id:
        known = present.read(db, asked.session_id, at, asked.prompt)
        if known is None:
            raise NmemError(f"there is no session {printable(asked.session_id)}{' then' if asked.as_of else ''}")
        return known
    row = db.execute(
        "SELECT id, name FROM projects WHERE ?1 IN (key, root, name) ORDER BY key = ?1 DESC, root = ?1 DESC, id DESC",
        (asked.project,),
    ).fetchone()
    if row is None:
        raise NmemError(f"nothing is recorded of project {printable(asked.project)}")
    out = Present(row[0], "", at, asked.prompt)
    out.project, out.branch = row[1], asked.branch
    return out


def _fold(db: Connection, present: Present) -> None:
    """Candidates of the moment, of all sessions but the one that asks."""
    pasts = list(history.sessions(db, present.project_id, present.at, partly=True, without=present.session_id))
    db.execute("BEGIN")
    keep.fold_into(db, pasts, present.project_id, present.project)
    warm.keep(db, present.project_id, present.at)
    db.execute("COMMIT")


def _silent(db: Connection, present: Present, found: list[Item]) -> str:
    """Why nothing is told."""
    row = db.execute(
        "SELECT files, taken = known FROM context_projects WHERE project_id = ?", (present.project_id,)
    ).fetchone()
    if row is None:
        return "nothing of this project is prepared yet: `nmem settle` does it"
    if not row[1]:
        return "something was taken away since it was prepared: `nmem settle` prepares it anew"
    if not present.prompt and not goes_on(db, present):
        return "nothing says what a session that starts goes on with; what its first prompt brings is shown by --prompt"
    if found:
        return "nothing of what is known fits the budget"
    ranking = rank(db, present.project_id, present.prompt, present.branch)
    if not ranking.files:
        return "no file of this project was ever touched"
    if present.given:
        return "this session has been told already"
    if len(ranking.files) >= FEW:
        return f"nothing is likely enough to matter (the least chance is {FLOOR:.0%}), or it is about something else"
    return "the prompt is about something else"
