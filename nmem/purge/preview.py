"""Previews a purge, and selects more around its rows: their files, episodes, threads, sessions (SQL, reading only).

A person who looks at one thing chooses how far a purge reaches from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.purge import files, journal, reach, sweep, traces
from nmem.purge.needles import Needles
from nmem.purge.reach import IN, Reach
from nmem.purge.selection import Selection, parse
from nmem.text import fit, printable

EXCERPT = 200


@dataclass(frozen=True, slots=True)
class Item:
    """One row that goes, as text that still has to be made printable."""

    id: str
    """obs/12, prompt/5, session/ID, project/2, learning/4, task/7."""
    at: int
    kind: str
    text: str


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
    counted = rows(db, found)
    units, derived = _derived(db, found)
    words = chosen.matcher.needles(found.words)
    held: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    if db_path and words:
        held = tuple(str(path) for path in files.holding(files.beside(db_path), words))
    if db_path and (words or not found.empty):
        backups = tuple(map(str, copies(db_path, words)))
    return Preview(
        counted, _items(db, found, most, each=each), sum(counted.values()), units, tuple(sorted(found.touched)),
        derived,
        _elsewhere(db, chosen, found) if chosen.everywhere else {}, held, backups, transcripts(db, found),
    )  # fmt: skip


def copies(db_path: str, words: Needles) -> list[Path]:
    """Backups that hold words or cannot be looked into; all of them where there are no words."""
    return [path for path in files.backups(db_path)
            if not words or path.suffix == ".age" or files.holds(path, words)]  # fmt: skip


def rows(db: Connection, found: Reach) -> dict[str, int]:
    """How many rows go, by kind: see nmem.purge.said."""
    of = json.dumps(sorted(found.sessions))
    out = {"session": len(found.sessions), "project": len(found.projects), "learning": len(found.learnings),
           "task": len(found.tasks)}  # fmt: skip
    for kind, table, ids in (("obs", "observations", found.observations), ("prompt", "prompts", found.prompts)):
        whole = db.execute(
            f"SELECT count(*) FROM {table} WHERE session_id IN (SELECT value FROM json_each(?))",  # noqa: S608
            (of,),
        ).fetchone()[0]
        out[kind] = whole + len(ids)
    out["trace"] = len(found.traced)
    return {kind: number for kind, number in out.items() if number}


_ITEMS = (
    ("obs/", "observations", "SELECT id, at, obs_type, content FROM observations WHERE"),
    ("prompt/", "prompts", "SELECT id, at, source || ' ' || kind, content FROM prompts WHERE"),
)


def _items(db: Connection, found: Reach, most: int, *, each: bool) -> tuple[Item, ...]:
    out: list[Item] = []
    named: dict[str, tuple[Iterable[object], str]] = {
        "session/": (found.sessions, "SELECT id, last_at, client, cwd FROM sessions WHERE id"),
        "project/": (found.projects, "SELECT id, created_at, 'project', name || ' ' || root FROM projects WHERE id"),
        "learning/": (found.learnings, "SELECT id, last_at, kind, title FROM learnings WHERE id"),
        "task/": (found.tasks, "SELECT id, created_at, state, prompt FROM tasks WHERE id"),
    }
    for kind, (ids, sql) in named.items():
        rows = db.execute(f"{sql} IN (SELECT value FROM json_each(?)) LIMIT ?", (json.dumps(list(ids)), most))  # noqa: S608
        out += [_item(kind, tuple(row)) for row in rows]
    of = json.dumps(sorted(found.sessions))
    for kind, table, sql in _ITEMS:
        ids = json.dumps(sorted(found.facts(table), reverse=True))
        rows = db.execute(
            f"{sql} id IN (SELECT value FROM json_each(?)) OR session_id IN"  # noqa: S608
            " (SELECT value FROM json_each(?)) ORDER BY at DESC, id DESC LIMIT ?",
            (ids, of, most),
        )
        out += [_item(kind, tuple(row)) for row in rows]
    traced = [
        Item(f"obs/{row[traces.ID]}", row[traces.AT], str(row[traces.TYPE]), str(row[traces.PATH] or ""))
        for session_id, row in (traces.entries(db) if found.traced else ())
        if (session_id, row[traces.ID]) in found.traced
    ]
    out += traced[-most:] if each else traced
    return tuple(sorted(out, key=lambda one: (one.at, one.id), reverse=True)[: None if each else most])


def _item(kind: str, row: tuple[object, ...]) -> Item:
    number, at, word, text = row
    return Item(f"{kind}{number}", int(str(at)), str(word), str(text)[:EXCERPT])


_DERIVED = {
    "episodes told": "SELECT count(*) FROM work_units WHERE summary IS NOT NULL AND session_id IN ({})",
    "session summaries": "SELECT count(*) FROM session_summaries WHERE session_id IN ({})",
    "threads summed up": "SELECT count(DISTINCT t.id) FROM threads t JOIN session_threads s ON s.thread_id = t.id"
                         " WHERE t.micro IS NOT NULL AND s.session_id IN ({})",
    "learnings that rest on it": "SELECT count(DISTINCT learning_id) FROM learning_evidence WHERE session_id IN ({})",
    "notes that learnings are made of": "SELECT count(*) FROM learning_findings WHERE session_id IN ({})",
    "corrections that can be undone": "SELECT count(*) FROM corrections WHERE"
                                          " iif(json_valid(payload), json_extract(payload, '$.session'), NULL) IN ({})",
    "items told to sessions": "SELECT count(*) FROM injection_items WHERE item IN"
                                 " (SELECT 'episode/' || id FROM work_units WHERE session_id IN ({}))",
}  # fmt: skip


def _derived(db: Connection, found: Reach) -> tuple[tuple[int, ...], dict[str, int]]:
    of = json.dumps(sorted(found.sessions | found.touched))
    each = "SELECT value FROM json_each(?)"
    units = db.execute(f"SELECT id FROM work_units WHERE session_id IN ({each}) ORDER BY id", (of,))  # noqa: S608
    numbers = tuple(row[0] for row in units)
    counts = {name: int(db.execute(sql.format(each), (of,)).fetchone()[0]) for name, sql in _DERIVED.items()}
    return numbers, {name: number for name, number in counts.items() if number}


def _elsewhere(db: Connection, chosen: Selection, reached: Reach) -> dict[str, int]:
    """Where else the words stand, besides the rows that go and what is made of their sessions."""
    told = {"transcript_copies.packed": len(reached.copies), "transcripts": len(reached.uncopied)}
    out = {name: number for name, number in told.items() if number}
    sweep.watch(db, chosen)
    for table in journal.tables(db, (*sweep.FACTS, "tasks")):  # a task that says them is a row that goes
        for name in sweep.says(db, table.name):
            test = sweep.test(chosen, table.name, name)
            number = db.execute(f"SELECT count(*) FROM {table.name} WHERE {test}").fetchone()[0]  # noqa: S608
            if number:
                out[f"{table.name}.{name}"] = int(number)
    return out


def transcripts(db: Connection, found: Reach) -> tuple[str, ...]:
    """The clients' own files of the sessions that lose something or say the words: these are theirs, and stay."""
    of = json.dumps(sorted(found.sessions | found.touched | found.uncopied))
    rows = db.execute("SELECT DISTINCT transcript_path FROM sessions WHERE transcript_path != ''"
                      " AND id IN (SELECT value FROM json_each(?)) ORDER BY 1", (of,))  # fmt: skip
    return tuple(row[0] for row in rows if Path(row[0]).exists())


ITEM, FILE, EPISODE, THREAD, SESSION, PROJECT = "item", "file", "episode", "thread", "session", "project"
_NAME = 40


@dataclass(frozen=True, slots=True)
class Wider:
    """One reach: what it is, what of it, and the selection that takes it."""

    kind: str
    name: str
    """What is meant, printable: `episode/3`, `src/upload.py`, `4 sessions`."""
    chosen: Selection


@dataclass
class _Lies:
    """Where things lie; ids as they are stored."""

    files: set[str] = field(default_factory=set)
    prompts: set[int] = field(default_factory=set)
    episodes: set[int] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    threads: set[int] = field(default_factory=set)
    projects: dict[int, str] = field(default_factory=dict)


def around(db: Connection, ids: Sequence[str]) -> tuple[Wider, ...]:
    """The reaches of a purge of some ids (obs/12, episode/3 ...), the narrowest first. Raises NmemError for no id."""
    named = tuple(dict.fromkeys(map(parse, ids)))
    if not named:
        raise NmemError("nothing selected")
    kinds = {kind for kind, _ in named}
    lies = _lies(db, named)
    out = [Wider(ITEM, _several([f"{kind}/{rest}" for kind, rest in named], "items"), Selection(ids=named))]
    if lies.files and kinds == {"obs"} and len(lies.projects) == 1:  # of several, each has its own files
        within = tuple(f"project/{number}" for number in sorted(lies.projects))
        files = tuple(sorted(lies.files))
        out.append(Wider(FILE, _several(files, "files"), Selection(files=files, projects=within)))
    for kind, numbers in ((EPISODE, lies.episodes), (THREAD, lies.threads), (SESSION, lies.sessions)):
        if numbers and kinds != {kind}:
            wide = tuple((kind, str(one)) for one in sorted(numbers, key=str))
            out.append(Wider(kind, _several([f"{kind}/{rest}" for _, rest in wide], f"{kind}s"), Selection(ids=wide)))
    if lies.projects:
        out.append(
            Wider(
                PROJECT, _several(list(lies.projects.values()), "projects"),
                Selection(projects=tuple(f"project/{number}" for number in lies.projects)),
            )
        )  # fmt: skip
    return tuple(out)


def _several(names: Sequence[str], what: str) -> str:
    return fit(printable(names[0]), _NAME) if len(names) == 1 else f"{len(names)} {what}"


def _lies(db: Connection, named: Iterable[tuple[str, str]]) -> _Lies:
    of: dict[str, list[object]] = {}
    for kind, rest in named:
        of.setdefault(kind, []).append(rest if kind == "session" else min(int(rest), (1 << 63) - 1))
    out = _Lies(sessions=set(map(str, of.get("session", ()))))
    calls = db.execute(f"SELECT session_id, prompt_id, file_path FROM observations WHERE id {IN}",  # noqa: S608
                       (json.dumps(of.get("obs", [])),)).fetchall()  # fmt: skip
    out.files = {row[2] for row in calls if row[2]}
    out.prompts = {row[1] for row in calls if row[1]} | {int(str(one)) for one in of.get("prompt", ())}
    told = json.dumps(of.get("prompt", []))
    out.sessions |= {row[0] for row in calls}
    out.sessions |= {row[0] for row in db.execute(f"SELECT session_id FROM prompts WHERE id {IN}", (told,))}  # noqa: S608
    units = db.execute(f"SELECT id, session_id FROM work_units WHERE id {IN} OR id IN"  # noqa: S608
                       f" (SELECT unit_id FROM unit_prompts WHERE prompt_id {IN})",
                       (json.dumps(of.get("episode", [])), json.dumps(sorted(out.prompts)))).fetchall()  # fmt: skip
    out.episodes = {row[0] for row in units}
    out.sessions |= {row[1] for row in units}
    if "session" not in of:
        linked = db.execute(f"SELECT DISTINCT thread_id FROM session_threads WHERE session_id {IN}",  # noqa: S608
                            (json.dumps(sorted(out.sessions)),))  # fmt: skip
        out.threads = {row[0] for row in linked}
    out.projects = _projects(db, of, out)
    return out


def _projects(db: Connection, of: dict[str, list[object]], lies: _Lies) -> dict[int, str]:
    rows = db.execute(
        "SELECT id, name FROM projects WHERE id IN"  # noqa: S608 -- our names
        f" (SELECT project_id FROM sessions WHERE id {IN} UNION SELECT project_id FROM learnings WHERE id {IN}"
        f" UNION SELECT project_id FROM threads WHERE id {IN}) ORDER BY id",
        (json.dumps(sorted(lies.sessions)), json.dumps(of.get("learning", [])), json.dumps(of.get("thread", []))),
    )
    return {int(row[0]): str(row[1]) for row in rows}
