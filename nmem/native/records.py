"""Reads what a project's instructions are held against (SQL): calls on files, commands, decisions, rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.decisions import store as decisions
from nmem.decisions.store import DISMISSED
from nmem.learn import commands, errors
from nmem.learn.errors import USAGE, WORLD
from nmem.learn.learning import CORRECTION, RECURRING_ERROR
from nmem.learn.rows import LONGEST
from nmem.text import json_object

_RUNS = 3
"""Failing runs, in two sessions at least, from which on a command is one that always fails."""
_MOST = 500


@dataclass(frozen=True, slots=True)
class Touched:
    """The newest call on a path, and how many calls there were that went well and that did not."""

    observation: int
    at: int
    done: int
    failed: int


@dataclass(frozen=True, slots=True)
class Failing:
    """A command none of whose runs on record went well: it cannot run, whatever the code is like."""

    observation: int
    at: int
    runs: int
    sessions: int
    said: str
    """What the newest run said went wrong."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a person said that is to be so: a decision, or a correction that became a learning."""

    id: str
    """decision/12, learning/4"""
    at: int
    text: str
    about: str
    """The text with what it answers."""
    later: str = ""
    """The decision that holds instead, as it is told."""
    later_text: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that nmem wrote, and the file that it wrote it into."""

    learning: int
    text: str


class Records:
    """What is recorded of one project; each is asked for once."""

    def __init__(self, db: Connection, project_id: int) -> None:
        self.db, self.project_id = db, project_id
        self._paths: list[tuple[str, str, int, int, int]] | None = None
        self._missed: list[tuple[int, str, int]] | None = None
        self._ran: dict[str, list[tuple[int, int, str, str, str]]] = {}

    def touched(self, path: str) -> Touched | None:
        """The calls on a path, or on what lay in it; None where none is on record."""
        if self._paths is None:
            self._paths = self.db.execute("SELECT o.file_path, o.outcome, count(*), max(o.id), max(o.at)"
                                          " FROM observations o JOIN sessions s ON s.id = o.session_id"
                                          " WHERE s.project_id = ? AND o.file_path != ''"
                                          " AND o.obs_type IN ('file_read', 'file_edit', 'file_write') GROUP BY 1, 2",
                                          (self.project_id,)).fetchall()  # fmt: skip
        name = f"/{path.strip('/')}"
        mine = [row for row in self._paths if f"/{row[0]}".endswith(name) or f"{name}/" in f"/{row[0]}"]
        if not mine:
            return None
        newest = max(mine, key=lambda row: (row[4], row[3]))
        failed = sum(row[2] for row in mine if row[1] == "failed")
        return Touched(newest[3], newest[4], sum(row[2] for row in mine) - failed, failed)

    def missed(self, path: str) -> tuple[int, str, int] | None:
        """The learning that a path does not exist: its number, title and sessions."""
        if self._missed is None:
            self._missed = self.db.execute(
                "SELECT id, title, sessions FROM learnings WHERE project_id = ? AND kind = ?"
                " AND title LIKE '% does not exist' AND state != 'dismissed'", (self.project_id, RECURRING_ERROR),
            ).fetchall()  # fmt: skip
        name = path.strip("/")
        named = ((row, str(row[1]).removesuffix(" does not exist")) for row in self._missed)
        found = next((row for row, at in named if at == name or ("/" in name and at.endswith(f"/{name}"))), None)
        return (int(found[0]), str(found[1]), int(found[2])) if found else None

    def failing(self, command: str) -> Failing | None:
        """How a command failed, where it always did because it cannot run; None else."""
        normal = commands.normalise(command)
        if normal is None:
            return None
        runs = self._commands(_first(normal.key))
        mine = [row for row in runs if (other := commands.normalise(row[2])) and other.key == normal.key]
        if len(mine) < _RUNS or any(row[3] != "failed" for row in mine) or len({row[4] for row in mine}) < 2:
            return None
        causes = [_cause(self._metadata(row[0])) for row in mine]
        if not all(causes):
            return None
        newest = max(range(len(mine)), key=lambda at: mine[at][1])
        row = mine[newest]
        return Failing(row[0], row[1], len(mine), len({each[4] for each in mine}), causes[newest])

    def _commands(self, words: str) -> list[tuple[int, int, str, str, str]]:
        """The shell calls that hold some words."""
        if words not in self._ran:
            self._ran[words] = self.db.execute(
                "SELECT o.id, o.at, o.content, o.outcome, o.session_id FROM observations o"
                " JOIN sessions s ON s.id = o.session_id WHERE s.project_id = ? AND instr(o.content, ?) AND o.tool_name"
                " IN ('Bash', 'PowerShell', 'shell', 'local_shell', 'exec_command', 'run_shell_command', 'bash')",
                (self.project_id, words)).fetchall()  # fmt: skip
        return self._ran[words]

    def _metadata(self, observation: int) -> str:
        found = self.db.execute("SELECT coalesce(metadata, '') FROM observations WHERE id = ?", (observation,))
        return str(found.fetchone()[0])

    def statements(self) -> Iterator[Statement]:
        """What the person settled in this project, decisions and corrections, the newest first."""
        every = decisions.of_project(self.db, self.project_id, _MOST)
        texts = {one.id: one.text for one in every}
        for one in every:
            if one.state != DISMISSED and len(one.text) <= LONGEST:
                later = one.superseded
                yield Statement(f"decision/{one.id}", one.at, one.text, f"{one.text}\n{one.question}",
                                later.told if later else "", texts.get(later.id, "") if later else "")  # fmt: skip
        found = self.db.execute("SELECT id, last_at, coalesce(rule, title) FROM learnings WHERE project_id = ?"
                                " AND kind = ? AND state NOT IN ('dismissed', 'weak') ORDER BY last_at DESC",
                                (self.project_id, CORRECTION))  # fmt: skip
        for number, at, text in found.fetchall():
            yield Statement(f"learning/{number}", at, text, text)

    def rules(self) -> Iterator[Rule]:
        """The rules that were accepted into a file."""
        found = self.db.execute("SELECT id, rule FROM learnings WHERE project_id = ? AND state = 'accepted'"
                                " AND rule != ''", (self.project_id,))  # fmt: skip
        yield from (Rule(int(number), str(text)) for number, text in found.fetchall())

    def sessions(self, since: int) -> int:
        """How many sessions began since a time."""
        return int(self.db.execute("SELECT count(*) FROM sessions WHERE project_id = ? AND started_at >= ?"
                                   " AND parent_id IS NULL", (self.project_id, since)).fetchone()[0])  # fmt: skip


def _first(key: str) -> str:
    return " ".join(key.split(" ")[:2])


def _cause(metadata: str) -> str:
    """What kept a command from running at all; empty where it ran, and found something wrong."""
    said = str(json_object(metadata).get("response") or json_object(metadata).get("error") or "")
    found: Iterable[errors.Signature] = errors.signatures(said)
    return next((one.title for one in found if one.nature in (USAGE, WORLD)), "")
