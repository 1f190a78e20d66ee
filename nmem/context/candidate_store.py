"""What settling asks to prepare contexts: turns of sessions, tables of candidates, learnings, of what use items were.

Tables: sessions, prompts, observations, context_* and injection_items. No hook loads this module.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.context.items import ASK, BESIDE
from nmem.store import trace
from nmem.store.schema.found import CANDIDATES

# the past of a project


def project_ids(db: Connection) -> list[tuple[int, str]]:
    """Every project and its name."""
    return [(row[0], row[1]) for row in db.execute("SELECT id, name FROM projects ORDER BY id").fetchall()]


def session_ids(db: Connection, project_id: int) -> list[str]:
    """The project's sessions, in the order in which they began."""
    rows = db.execute("SELECT id FROM sessions WHERE project_id = ? ORDER BY started_at, id", (project_id,))
    return [row[0] for row in rows.fetchall()]


def session(db: Connection, session_id: str) -> tuple[str | None, int, str] | None:
    """A session's branch, when it did something last, and its state."""
    query = "SELECT branch, last_at, state FROM sessions WHERE id = ?"
    found: tuple[str | None, int, str] | None = db.execute(query, (session_id,)).fetchone()
    return found


def asked(db: Connection, session_id: str) -> list[tuple[int, int, str]]:
    """The person's prompts of a session: number, time and text."""
    return db.execute(
        "SELECT id, at, content FROM prompts"
        " WHERE session_id = ? AND source = 'user' AND agent_id IS NULL ORDER BY at, id",
        (session_id,),
    ).fetchall()


def answered(db: Connection, session_id: str) -> list[tuple[int, str]]:
    """What the agent said at the end of turns, and summaries: time and text."""
    return db.execute(
        "SELECT at, content FROM prompts WHERE session_id = ? AND source = 'agent' AND agent_id IS NULL"
        " AND kind IN ('closing', 'summary') ORDER BY at, id",
        (session_id,),
    ).fetchall()


def stories(db: Connection, session_id: str) -> dict[int, tuple[str, str]]:
    """The first prompt of each episode -> what it was about, and what came of it."""
    rows = db.execute(
        "SELECT first_prompt_id, coalesce(title, intent), coalesce(summary, '') FROM work_units WHERE session_id = ?",
        (session_id,),
    )
    return {first: (intent, summary) for first, intent, summary in rows.fetchall()}


def touched(db: Connection, session_id: str) -> list[tuple[int, str, str | None, str | None, int]]:
    """Files and commits of a session: time, type, file, metadata, number; of what was swept by its traces."""
    found = db.execute(
        "SELECT at, obs_type, file_path, metadata, id FROM observations WHERE session_id = ?"
        " AND (obs_type = 'git_commit' OR obs_type IN ('file_edit', 'file_write', 'file_read')"
        " AND outcome != 'failed' AND NOT instr(coalesce(metadata, ''), '\"refused\":')) ORDER BY at, id",
        (session_id,),
    ).fetchall()
    if trace.swept(db, session_id):
        files = ("file_edit", "file_write", "file_read")
        found += [
            (one.at, one.obs_type, one.file_path, one.metadata, one.id) for one in trace.gone(db, session_id)
            if one.obs_type == "git_commit"
            or (one.obs_type in files and one.outcome != "failed" and '"refused":' not in (one.metadata or ""))
        ]  # fmt: skip
        found.sort(key=lambda row: (row[0], row[4]))
    return found


# the tables of candidates


def behind(db: Connection) -> bool:
    """Whether the sessions of some project are told nothing until it is folded anew."""
    return db.execute("SELECT 1 FROM context_projects WHERE taken != known LIMIT 1").fetchone() is not None


def begun(db: Connection, project_id: int) -> bool:
    """Whether anything of a project is folded."""
    look = "SELECT 1 FROM context_sessions WHERE project_id = ? LIMIT 1"
    return db.execute(look, (project_id,)).fetchone() is not None


def standing(db: Connection, project_id: int, rules: str) -> tuple[str, int, int]:
    """By which rules the tables were made, how often something was taken away since ever, and until then."""
    query = "SELECT told_of, taken, known FROM context_projects WHERE project_id = ?"
    row = db.execute(query, (project_id,)).fetchone()
    if row is None:
        db.execute("INSERT OR IGNORE INTO context_projects (project_id, told_of) VALUES (?, ?)", (project_id, rules))
        row = db.execute(query, (project_id,)).fetchone()
    told_of, taken, known = row
    return told_of, taken, known


def changed(db: Connection, project_id: int) -> list[str]:
    """Sessions in which something has happened, or whose branch is another, since they were looked at."""
    rows = db.execute(
        "SELECT s.id FROM sessions s LEFT JOIN context_sessions c ON c.session_id = s.id WHERE s.project_id = ?"
        " AND (c.session_id IS NULL OR c.last_at IS NOT s.last_at OR c.branch IS NOT coalesce(s.branch, ''))"
        " ORDER BY s.started_at, s.id",
        (project_id,),
    )
    return [row[0] for row in rows.fetchall()]


TABLES = ("context_files", "context_turns", "context_terms", "context_names", "context_branches", "context_sessions")
_COUNTS = "sessions, turns, files, roots, told_of, upto_at, upto_prompt"
_COUNTED = f"UPDATE context_projects SET {_COUNTS.replace(',', ' = ?,')} = ?"  # noqa: S608 - our own names


def empty() -> Connection:
    """Empty tables, beside those that are told from."""
    beside = sqlite3.connect(":memory:", isolation_level=None)
    beside.executescript(CANDIDATES)
    return beside


def put_in_place(db: Connection, beside: Connection, project_id: int, taken: int) -> None:
    """Put a project's tables that were made beside in place of its own, in one transaction.

    Sessions that were counted for another project are this one's now; that one is counted anew.
    """
    moved = "session_id IN (SELECT id FROM sessions WHERE project_id = ?1) AND project_id != ?1"
    with transaction(db):
        db.execute(
            "UPDATE context_projects SET taken = taken + 1 WHERE project_id IN"  # noqa: S608 - our own words
            f" (SELECT project_id FROM context_sessions WHERE {moved})",
            (project_id,),
        )
        db.execute(f"DELETE FROM context_sessions WHERE {moved}", (project_id,))  # noqa: S608
        for table in TABLES:
            db.execute(f"DELETE FROM {table} WHERE project_id = ?", (project_id,))  # noqa: S608 - our own names
            found = beside.execute(f"SELECT * FROM {table}")  # noqa: S608
            db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(found.description))})", found)  # noqa: S608
        made = beside.execute(f"SELECT {_COUNTS} FROM context_projects").fetchone()  # noqa: S608
        db.execute(f"{_COUNTED}, known = ? WHERE project_id = ?", (*made, taken, project_id))


class Candidates:
    """The tables of one project, as folding reads and writes them; the caller commits."""

    def __init__(self, db: Connection, project_id: int, rules: str) -> None:
        self.db, self.project_id, self.rules = db, project_id, rules
        query = f"SELECT {_COUNTS} FROM context_projects WHERE project_id = ?"  # noqa: S608
        row = db.execute(query, (project_id,)).fetchone()
        if row is None:
            db.execute("INSERT INTO context_projects (project_id, told_of) VALUES (?, ?)", (project_id, rules))
        counts: tuple[int, int, int, str, str, int, int] = row or (0, 0, 0, "", "", 0, 0)
        self.sessions, self.turns, self.files, roots, _, *upto = counts
        self.upto = (upto[0], upto[1])
        self.roots = roots.split("\n") if roots else []
        self.terms = Postings(db, "context_terms", ("term", "turns_with", "turns"), project_id)
        self.names = Postings(db, "context_names", ("word", "files_with", "files"), project_id)

    def put_counts(self) -> None:
        """Write how far the project has come."""
        counts = self.sessions, self.turns, self.files, "\n".join(self.roots), self.rules, *self.upto
        self.db.execute(f"{_COUNTED} WHERE project_id = ?", (*counts, self.project_id))

    def session(self, session_id: str) -> tuple[int, str, int, str, int, bytes, bytes] | None:
        """What a session was counted for: number, branch, turns, their digest, time, files edited and read packed."""
        query = "SELECT number, branch, turns, facts, last_at, edited, read FROM context_sessions WHERE session_id = ?"
        found: tuple[int, str, int, str, int, bytes, bytes] | None = self.db.execute(query, (session_id,)).fetchone()
        return found

    def put_session(self, session_id: str, counted: tuple[int, str, int, str, int, bytes, bytes]) -> None:
        """Write what a session is counted for now."""
        self.db.execute(
            "INSERT OR REPLACE INTO context_sessions (session_id, project_id, number, branch, turns, facts,"
            " last_at, edited, read) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (session_id, self.project_id, *counted),
        )

    def paths(self) -> list[tuple[int, str]]:
        """The project's files by number."""
        query = "SELECT file, path FROM context_files WHERE project_id = ?"
        return self.db.execute(query, (self.project_id,)).fetchall()

    def file(self, path: str) -> int:
        """The number of a file; 0 for none."""
        query = "SELECT file FROM context_files WHERE project_id = ? AND path = ?"
        row = self.db.execute(query, (self.project_id, path)).fetchone()
        return row[0] if row else 0

    def add_file(self, path: str) -> int:
        """One more file; its number."""
        self.files += 1
        new = "INSERT INTO context_files (project_id, file, path) VALUES (?, ?, ?)"
        self.db.execute(new, (self.project_id, self.files, path))
        return self.files

    def weigh(self, weights: Iterable[tuple[float, int]]) -> None:
        """Write what the words of names weigh: weight and file."""
        change = "UPDATE context_files SET name_weight = ? WHERE project_id = ? AND file = ?"
        self.db.executemany(change, [(weight, self.project_id, file) for weight, file in weights])

    def warmth(self, file: int) -> dict[str, float | None]:
        """The columns of a file that turns change."""
        query = f"SELECT {', '.join(_WARM)} FROM context_files WHERE project_id = ? AND file = ?"  # noqa: S608 - our names
        row = self.db.execute(query, (self.project_id, file)).fetchone()
        return dict(zip(_WARM, row, strict=True))

    def put_warmth(self, warmed: dict[int, dict[str, float | None]]) -> None:
        """Write these columns of some files."""
        self.db.executemany(
            f"UPDATE context_files SET {', '.join(f'{name} = ?' for name in _WARM)}"  # noqa: S608 - our names
            " WHERE project_id = ? AND file = ?",
            [(*held.values(), self.project_id, file) for file, held in warmed.items()],
        )

    def put_turn(self, at: int, prompt_id: int, norm: float, edited: list[int], read: list[int]) -> None:
        """Add the newest turn."""
        self.db.execute(
            "INSERT INTO context_turns (project_id, turn, at, prompt_id, norm, edited, read)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self.project_id, self.turns, at, prompt_id, norm, pack(edited), pack(read)),
        )

    def on_branch(self, words: Sequence[str], files: Sequence[int], by: int) -> None:
        """Count so many sessions more, or fewer, that edited files on branches with some words."""
        keys = [(self.project_id, word, file) for word in words for file in files]
        self.db.executemany(
            "INSERT INTO context_branches (project_id, word, file, sessions) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (project_id, word, file) DO UPDATE SET sessions = sessions + excluded.sessions",
            ((*key, by) for key in keys),
        )
        if by < 0:
            gone = "DELETE FROM context_branches WHERE project_id = ? AND word = ? AND file = ? AND sessions <= 0"
            self.db.executemany(gone, keys)


_WARM = ("edit_heat", "long_heat", "read_heat", "last_turn")
POSTINGS = 128
"""Turns, and files, remembered a word: the newest."""


class Postings:
    """The words of one project in one table."""

    def __init__(self, db: Connection, table: str, columns: tuple[str, str, str], project_id: int) -> None:
        word, count, numbers = columns
        self._db, self._project_id = db, project_id
        self._read = f"SELECT {count}, {numbers} FROM {table} WHERE project_id = ? AND {word} = ?"  # noqa: S608 - our names
        self._write = f"INSERT OR REPLACE INTO {table} (project_id, {word}, {count}, {numbers}) VALUES (?, ?, ?, ?)"  # noqa: S608
        self._held: dict[str, tuple[int, list[int]]] = {}
        self._new: set[str] = set()

    def append(self, word: str, number: int) -> None:
        """One more turn or file that has the word."""
        count, numbers = self._get(word)
        numbers.append(number)
        del numbers[:-POSTINGS]
        self._held[word] = (count + 1, numbers)
        self._new.add(word)

    def count(self, word: str) -> int:
        """How many have the word."""
        return self._get(word)[0]

    def flush(self) -> None:
        """Write what has changed."""
        self._db.executemany(
            self._write,
            ((self._project_id, word, self._held[word][0], pack(self._held[word][1])) for word in sorted(self._new)),
        )
        self._held.clear()
        self._new.clear()

    def _get(self, word: str) -> tuple[int, list[int]]:
        held = self._held.get(word)
        if held is None:
            row = self._db.execute(self._read, (self._project_id, word)).fetchone()
            held = self._held[word] = (row[0], unpack(row[1])) if row else (0, [])
        return held


def pack(numbers: list[int]) -> bytes:
    """Numbers as 32-bit machine integers."""
    return array("I", numbers).tobytes()


def unpack(packed: bytes) -> list[int]:
    """What pack made."""
    return list(memoryview(packed).cast("I"))


# learnings, as sessions are told of them


def prepared(db: Connection, project_id: int | None) -> dict[int, tuple[object, ...]]:
    """The learnings that are prepared, by number; of a project or of all."""
    ours, of = ("", ()) if project_id is None else (" WHERE project_id = ?", (project_id,))
    return {row[0]: tuple(row) for row in db.execute(f"SELECT * FROM context_learnings{ours}", of).fetchall()}  # noqa: S608


def prepare(db: Connection, gone: Iterable[int], new: Iterable[tuple[object, ...]]) -> None:
    """Take prepared learnings away and put others there; in the caller's transaction or its own."""
    with nullcontext() if db.in_transaction else transaction(db):
        db.executemany("DELETE FROM context_learnings WHERE learning_id = ?", [(each,) for each in gone])
        db.executemany("INSERT OR REPLACE INTO context_learnings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", new)


def passed(db: Connection, project_id: int, since: int, now: int, part: str, most: int) -> list[tuple[str, str]]:
    """The newest commands of a project that hold a text and passed within a time: session and command."""
    return db.execute(
        "SELECT o.session_id, o.content FROM observations o JOIN sessions s ON s.id = o.session_id"
        " WHERE s.project_id = ? AND o.at BETWEEN ? AND ? AND o.outcome = 'ok' AND o.obs_type IN ('command', 'test',"
        " 'build', 'lint', 'install') AND instr(o.content, ?) > 0 ORDER BY o.at DESC LIMIT ?",
        (project_id, since, now, part, most),
    ).fetchall()


# of what use items were


def due(db: Connection) -> list[str]:
    """Sessions that have gone on since what they were told was judged."""
    rows = db.execute(
        "SELECT DISTINCT j.session_id FROM injections j JOIN injection_items i ON i.injection_id = j.id"
        " JOIN sessions s ON s.id = j.session_id WHERE i.kind NOT IN (?, ?) AND (i.used IS NULL"
        " OR (i.used = 0 AND s.last_at > i.used_at)) ORDER BY j.session_id",
        (ASK, BESIDE),
    )
    return [row[0] for row in rows.fetchall()]


def unjudged(db: Connection, session_id: str) -> list[tuple[int, int, str, str, str, int]]:
    """Items that a session has not used yet: number, when told, item, text, files, telling."""
    return db.execute(
        "SELECT i.id, j.at, i.item, i.text, i.files, j.id FROM injection_items i"
        " JOIN injections j ON j.id = i.injection_id WHERE j.session_id = ? AND coalesce(i.used, 0) = 0"
        " AND i.kind NOT IN (?, ?)",
        (session_id, ASK, BESIDE),
    ).fetchall()


def judge(
    db: Connection, project_id: int, verdicts: Iterable[tuple[int, str, int | None, int]], items: Iterable[str]
) -> None:
    """Keep verdicts (used, how, when, number), and what is known of items anew: only of what was really told."""
    with transaction(db):
        db.executemany("UPDATE injection_items SET used = ?, used_how = ?, used_at = ? WHERE id = ?", verdicts)
        db.executemany(
            "INSERT OR REPLACE INTO context_usefulness SELECT ?1, ?2, count(*), total(i.used) FROM injection_items i"
            " JOIN injections j ON j.id = i.injection_id AND NOT j.withheld JOIN sessions s ON s.id = j.session_id"
            " WHERE i.item = ?2 AND s.project_id = ?1 AND i.used IS NOT NULL HAVING count(*)",
            [(project_id, item) for item in sorted(items)],
        )


def told(db: Connection, session_id: str) -> tuple[int, int, str, int]:
    """A session's project, when it did something last, its state, and when it was told something first."""
    found: tuple[int, int, str, int] = db.execute(
        "SELECT project_id, last_at, state, coalesce((SELECT min(at) FROM injections WHERE session_id = s.id), 0)"
        " FROM sessions s WHERE id = ?",
        (session_id,),
    ).fetchone()
    return found


def done(db: Connection, session_id: str, since: int) -> list[tuple[int, str, str | None, str]]:
    """What a session did since a time: when, type, file, text."""
    return db.execute(
        "SELECT at, obs_type, file_path, content FROM observations WHERE session_id = ? AND at >= ? ORDER BY seq",
        (session_id, since),
    ).fetchall()


def said(db: Connection, session_id: str) -> list[tuple[int, str, str]]:
    """All that was said in a session: when, by whom, in what words."""
    query = "SELECT at, source, content FROM prompts WHERE session_id = ? ORDER BY at, id"
    return db.execute(query, (session_id,)).fetchall()


def remedy(db: Connection, learning_id: int) -> str | None:
    """What puts a learning right, as it is stored."""
    row = db.execute("SELECT remedy FROM learnings WHERE id = ?", (learning_id,)).fetchone()
    return row[0] if row else None


def turns(db: Connection, project_id: int) -> int:
    """How many turns of a project are folded."""
    row = db.execute("SELECT turns FROM context_projects WHERE project_id = ?", (project_id,)).fetchone()
    return row[0] if row else 0
