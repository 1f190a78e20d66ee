"""Counts the words, files and branch of each turn into the tables that file ranking reads (SQL). Never in a hook.

What a turn needs (its words, files, branch) is read on demand and written in the caller's transaction: 1.5 ms a turn,
whatever the size of the project. The same turns give the same tables, in however many pieces they came.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from functools import lru_cache
from sqlite3 import Connection

from nmem.context.history import Past, Turn
from nmem.context.places import Places
from nmem.context.rank import LONG, PLAIN, SHORT
from nmem.retrieval.terms import base, branch_terms, name_terms, terms

RULES = "2"
"""Counted up when folding changes: tables made by other rules are made again."""
_WARM = ("edit_heat", "long_heat", "read_heat", "last_turn")
"""Columns of a file that turns change."""


class Counted:
    """What a session has been counted for."""

    __slots__ = ("branch", "edited", "facts", "last_at", "number", "read", "turns")

    def __init__(self) -> None:
        self.number = 0
        self.branch = ""
        self.turns = 0
        self.facts = ""
        self.last_at = -1
        self.edited: set[int] = set()
        self.read: set[int] = set()


class Folder:
    """Folds the turns of one project."""

    def __init__(self, db: Connection, project_id: int, name: str) -> None:
        self.db, self.project_id = db, project_id
        row = db.execute(
            "SELECT sessions, turns, files, roots, upto_at, upto_prompt FROM context_projects WHERE project_id = ?",
            (project_id,),
        ).fetchone()
        if row is None:
            db.execute("INSERT INTO context_projects (project_id, told_of) VALUES (?, ?)", (project_id, RULES))
        counts: tuple[int, int, int, str, int, int] = row or (0, 0, 0, "", 0, 0)
        self.sessions, self.turns, self.files, roots = counts[:4]
        self.upto: tuple[int, int] = counts[4:]
        self._before = self.files
        known = db.execute("SELECT path FROM context_files WHERE project_id = ?", (project_id,)).fetchall()
        self.places = Places(name, (path for (path,) in known), roots.split("\n") if roots else ())
        self._met: dict[str, int] = {}
        self._warmed: dict[int, dict[str, float | None]] = {}
        """Numbers of files, and the columns of those that turns changed; both until `close`, with its transaction."""
        self.terms = Postings(db, "context_terms", ("term", "turns_with", "turns"), project_id)
        self.names = Postings(db, "context_names", ("word", "files_with", "files"), project_id)
        self._counted: dict[str, Counted] = {}

    def counted(self, session_id: str) -> Counted:
        """What a session has been counted for so far."""
        found = self._counted.get(session_id)
        if found is None:
            found = self._counted[session_id] = Counted()
            row = self.db.execute(
                "SELECT number, branch, turns, facts, last_at, edited, read FROM context_sessions WHERE session_id = ?",
                (session_id,),
            ).fetchone()
            if row:
                found.number, found.branch, found.turns, found.facts, found.last_at = row[:5]
                found.edited, found.read = set(unpack(row[5])), set(unpack(row[6]))
        return found

    def turn(self, turn: Turn, past: Past) -> None:
        """Fold one turn; turns come in their order."""
        one = self.counted(turn.session_id)
        self.rebranch(one, past.branch)
        self.upto = turn.order
        one.turns += 1
        self.places.learn((*turn.edited, *turn.read))
        edited, read = self._numbers(turn.edited), self._numbers(turn.read)
        if not edited and not read:
            return
        self._bag(turn, edited, read)
        if not one.number:
            self.sessions += 1
            one.number = self.sessions
        new = [file for file in edited if file not in one.edited]
        self._warm(new, ("edit_heat", SHORT), ("long_heat", LONG))
        self._warm([file for file in read if file not in one.read], ("read_heat", SHORT))
        self._on_branch(one.branch, new, 1)
        one.edited.update(edited)
        one.read.update(read)

    def rebranch(self, one: Counted, branch: str) -> None:
        """A session is on another branch than it was counted for."""
        if one.branch != branch:
            self._on_branch(one.branch, sorted(one.edited), -1)
            one.branch = branch
            self._on_branch(branch, sorted(one.edited), 1)

    def store(self, pasts: Iterable[Past]) -> None:
        """Write how far sessions have come."""
        for past in pasts:
            one = self.counted(past.session_id)
            whole = one.turns == len(past.turns) and not past.waiting
            self.db.execute(
                "INSERT OR REPLACE INTO context_sessions (session_id, project_id, number, branch, turns, facts,"
                " last_at, edited, read) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (past.session_id, self.project_id, one.number, one.branch, one.turns, past.facts(one.turns),
                 past.last_at if whole else -1, pack(sorted(one.edited)), pack(sorted(one.read))),
            )  # fmt: skip

    def close(self) -> None:
        """Write what is left; the caller commits."""
        self.terms.flush()
        self._flush_files()
        if self.files > self._before:
            self._weigh_names()
            self._before = self.files
        self.names.flush()
        self.db.execute(
            "UPDATE context_projects SET sessions = ?, turns = ?, files = ?, roots = ?, told_of = ?, upto_at = ?,"
            " upto_prompt = ? WHERE project_id = ?",
            (self.sessions, self.turns, self.files, "\n".join(self.places.roots), RULES, *self.upto, self.project_id),
        )

    def _numbers(self, paths: list[str]) -> list[int]:
        names = dict.fromkeys(name for path in paths if (name := self.places.name_of(path)))
        return [self._file(name) for name in names]

    def _file(self, path: str) -> int:
        found = self._met.get(path)
        if found is None:
            found = self._met[path] = self._stored(path) or self._add(path)
        return found

    def _stored(self, path: str) -> int:
        row = self.db.execute(
            "SELECT file FROM context_files WHERE project_id = ? AND path = ?", (self.project_id, path)
        ).fetchone()
        return row[0] if row else 0

    def _add(self, path: str) -> int:
        self.files += 1
        for word in (*name_terms(path), "=" + base(path)):
            self.names.append(word, self.files)
        self.db.execute(
            "INSERT INTO context_files (project_id, file, path) VALUES (?, ?, ?)", (self.project_id, self.files, path)
        )
        return self.files

    def _weigh_names(self) -> None:
        """Weigh every file's name anew: each new file makes some words more common. A name has one weight anywhere."""
        rows = self.db.execute("SELECT file, path FROM context_files WHERE project_id = ?", (self.project_id,))
        named = [(file, path.rpartition("/")[2]) for file, path in rows.fetchall()]
        weight = {
            name: sum([idf(self.files, self.names.count(word)) for word in _name_terms(name)]) or 1.0
            for name in {name for _, name in named}
        }
        weights = [(weight[name], self.project_id, file) for file, name in named]
        self.db.executemany("UPDATE context_files SET name_weight = ? WHERE project_id = ? AND file = ?", weights)

    def _bag(self, turn: Turn, edited: list[int], read: list[int]) -> None:
        """The turn and its words."""
        bag = sorted({term for text in turn.text for term in _terms(text)})
        self.turns += 1
        for term in bag:
            self.terms.append(term, self.turns)
        norm = math.sqrt(sum(idf(self.turns, self.terms.count(term)) ** 2 for term in bag)) or 1.0
        self.db.execute(
            "INSERT INTO context_turns (project_id, turn, at, prompt_id, norm, edited, read)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self.project_id, self.turns, turn.at, turn.prompt_id, norm, pack(edited), pack(read)),
        )
        for file in edited:
            self._held(file)["last_turn"] = self.turns

    def _warm(self, files: Iterable[int], *columns: tuple[str, float]) -> None:
        """One more session for each file; heat - now / half-life is the log2 of the decayed count."""
        for file in files:
            held = self._held(file)
            for column, half_life in columns:
                now, heat = self.sessions / half_life, held[column]
                held[column] = now if heat is None else now + math.log2(2.0 ** max(heat - now, -60.0) + 1.0)

    def _held(self, file: int) -> dict[str, float | None]:
        """The columns of a file that turns change: read once, written by `_flush_files`."""
        held = self._warmed.get(file)
        if held is None:
            row = self.db.execute(
                f"SELECT {', '.join(_WARM)} FROM context_files WHERE project_id = ? AND file = ?",  # noqa: S608 - our names
                (self.project_id, file),
            ).fetchone()
            held = self._warmed[file] = dict(zip(_WARM, row, strict=True))
        return held

    def _flush_files(self) -> None:
        """Write what turns changed of files."""
        self.db.executemany(
            f"UPDATE context_files SET {', '.join(f'{name} = ?' for name in _WARM)}"  # noqa: S608 - our names
            " WHERE project_id = ? AND file = ?",
            [(*held.values(), self.project_id, file) for file, held in self._warmed.items()],
        )
        self._warmed.clear()
        self._met.clear()

    def _on_branch(self, branch: str, files: list[int], by: int) -> None:
        """A session that edited these files counts, or no longer counts, for the words of a branch."""
        if branch.lower() in PLAIN or not files:
            return
        keys = [(self.project_id, word, file) for word in branch_terms(branch) for file in files]
        self.db.executemany(
            "INSERT INTO context_branches (project_id, word, file, sessions) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (project_id, word, file) DO UPDATE SET sessions = sessions + excluded.sessions",
            ((*key, by) for key in keys),
        )
        if by < 0:
            self.db.executemany(
                "DELETE FROM context_branches WHERE project_id = ? AND word = ? AND file = ? AND sessions <= 0", keys
            )


@lru_cache(maxsize=20_000)
def _terms(text: str) -> tuple[str, ...]:
    """The distinct terms of a text; a replay reads each many times."""
    return tuple(terms(text))


_name_terms = lru_cache(maxsize=20_000)(name_terms)


def idf(all_of_them: int, with_it: int) -> float:
    """How much a word says, from how many have it."""
    return math.log(1.0 + all_of_them / (1.0 + with_it))


def pack(numbers: list[int]) -> bytes:
    """Numbers as 32-bit machine integers."""
    return array("I", numbers).tobytes()


def unpack(packed: bytes) -> list[int]:
    """What pack made."""
    return list(memoryview(packed).cast("I"))


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
