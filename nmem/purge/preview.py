"""Previews a purge, and selects more around its rows: their files, episodes, threads, sessions (SQL, reading only).

A person who looks at one thing chooses how far a purge reaches from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.purge import files, journal, reach
from nmem.purge.needles import Needles
from nmem.purge.reach import FACTS, Reach, saying
from nmem.purge.selection import Selection, parse
from nmem.purge.store import Item, derived, items, lies, rows_by_kind, transcripts
from nmem.text import fit, printable


@dataclass(frozen=True, slots=True)
class Preview:
    """What would go and what would be made anew. All counts are exact."""

    rows: dict[str, int]
    """Facts and what is named, by kind: obs prompt trace session project learning task."""
    items: tuple[Item, ...]
    """The first of them, the newest first; `total` says of how many."""
    total: int
    episodes: tuple[int, ...]
    """Episodes that go, or that are told anew."""
    sessions: tuple[str, ...]
    """Sessions that stay and whose story is made anew."""
    derived: dict[str, int]
    """What goes of what was made of them, by kind, in words."""
    elsewhere: dict[str, int]
    """Values that say the chosen words in other tables, by table.column."""
    files: tuple[str, ...]
    """Files of ours beside the database that hold the chosen words."""
    backups: tuple[str, ...]
    """Backups that hold them, or that cannot be looked into."""
    transcripts: tuple[str, ...]
    """Files of the clients that tell the same; they are not ours, and stay."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to purge."""
        return not (self.rows or self.elsewhere or self.files)


def preview(
    db: Connection, chosen: Selection, db_path: str = "", most: int = 50, stopped: Callable[[], bool] = lambda: False,
    *, each: bool = False,
) -> Preview:  # fmt: skip
    """Everything a purge would take, exactly. `db_path` empty: files are not looked through. Raises NmemError.

    `each`: `most` rows of each kind are shown, else of all together.
    """
    found = reach.find(db, chosen, stopped)
    counted = rows_by_kind(db, found)
    units, made = derived(db, found)
    words = chosen.matcher.needles(found.words)
    held: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    if db_path and words:
        held = tuple(str(path) for path in files.holding(files.beside(db_path), words))
    if db_path and (words or not found.empty):
        backups = tuple(map(str, copies(db_path, words)))
    return Preview(
        counted, items(db, found, most, each=each), sum(counted.values()), units, tuple(sorted(found.touched)),
        made,
        _elsewhere(db, chosen, found) if chosen.everywhere else {}, held, backups, transcripts(db, found),
    )  # fmt: skip


def copies(db_path: str, words: Needles) -> list[Path]:
    """Backups that hold words or cannot be looked into; all of them where there are no words."""
    return [path for path in files.backups(db_path)
            if not words or path.suffix == ".age" or files.holds(path, words)]  # fmt: skip


def _elsewhere(db: Connection, chosen: Selection, reached: Reach) -> dict[str, int]:
    """Where else the words stand, besides the rows that go and what is made of their sessions."""
    told = {"transcript_copies.packed": len(reached.copies), "transcripts": len(reached.uncopied)}
    out = {name: number for name, number in told.items() if number}
    # a task that says them is a row that goes
    return out | saying(db, chosen, [table.name for table in journal.tables(db, (*FACTS, "tasks"))])


ITEM, FILE, EPISODE, THREAD, SESSION, PROJECT = "item", "file", "episode", "thread", "session", "project"
_NAME = 40


@dataclass(frozen=True, slots=True)
class Wider:
    """One reach: what it is, what of it, and the selection that takes it."""

    kind: str
    name: str
    """What is meant, printable: `episode/3`, `src/upload.py`, `4 sessions`."""
    chosen: Selection


def around(db: Connection, ids: Sequence[str]) -> tuple[Wider, ...]:
    """The reaches of a purge of some ids (obs/12, episode/3 ...), the narrowest first. Raises NmemError for no id."""
    named = tuple(dict.fromkeys(map(parse, ids)))
    if not named:
        raise NmemError("nothing selected")
    kinds = {kind for kind, _ in named}
    found = lies(db, named)
    out = [Wider(ITEM, _several([f"{kind}/{rest}" for kind, rest in named], "items"), Selection(ids=named))]
    if found.files and kinds == {"obs"} and len(found.projects) == 1:  # of several, each has its own files
        within = tuple(f"project/{number}" for number in sorted(found.projects))
        files = tuple(sorted(found.files))
        out.append(Wider(FILE, _several(files, "files"), Selection(files=files, projects=within)))
    for kind, numbers in ((EPISODE, found.episodes), (THREAD, found.threads), (SESSION, found.sessions)):
        if numbers and kinds != {kind}:
            wide = tuple((kind, str(one)) for one in sorted(numbers, key=str))
            out.append(Wider(kind, _several([f"{kind}/{rest}" for _, rest in wide], f"{kind}s"), Selection(ids=wide)))
    if found.projects:
        out.append(
            Wider(
                PROJECT, _several(list(found.projects.values()), "projects"),
                Selection(projects=tuple(f"project/{number}" for number in found.projects)),
            )
        )  # fmt: skip
    return tuple(out)


def _several(names: Sequence[str], what: str) -> str:
    return fit(printable(names[0]), _NAME) if len(names) == 1 else f"{len(names)} {what}"
