"""What each compaction of a session dropped, and what was done again because of it (SQL): derived when it is read.

Given a session, gives a Compaction for each: what was known before it (decisions, open ends, files that were changed,
commands that pass), what its summary names of that, and what came up again until the next one. What an earlier summary
dropped, and nobody touched since, is not known any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem.decisions import read as decisions
from nmem.episodes import open_ends
from nmem.episodes.text import checkout_path, tokens
from nmem.learn import errors
from nmem.text import json_object

if TYPE_CHECKING:
    from nmem.episodes.open_ends import Row

DECISION, OPEN, FILE, COMMAND = "decision", "open end", "file", "command"
KINDS = (DECISION, OPEN, FILE, COMMAND)
READ, FAILED, ASKED = "read again", "failed again", "asked again"
AGAIN = (READ, FAILED, ASKED)
_NEAR = 900_000
"""Milliseconds between a compaction and the summary that is its own."""
_SAID, _SAME, _LEAST = 0.6, 0.7, 3
"""The part of a text's words that say it in another one, that ask the same again, and how many it must have."""
_COMMAND = 200


@dataclass(frozen=True, slots=True)
class Known:
    """Something that was known when a session was compacted."""

    kind: str
    text: str
    id: str
    """The newest row that says it: obs/12, prompt/5, decision/3."""
    named: bool
    """Whether the summary names it; False where there is no summary."""


@dataclass(frozen=True, slots=True)
class Again:
    """What was done or asked again after a compaction, and whether the summary had dropped it."""

    kind: str
    text: str
    id: str
    before: str
    """The row that knew it before."""
    dropped: bool


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction of a session."""

    id: str
    at: int
    summary: str
    """The row that holds the summary; empty where none was recorded."""
    tokens: int
    """About how many tokens the summary takes."""
    known: tuple[Known, ...]
    again: tuple[Again, ...]

    @property
    def dropped(self) -> tuple[Known, ...]:
        """What the summary does not name; nothing where there is no summary to tell."""
        return tuple(one for one in self.known if not one.named) if self.summary else ()


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of the session's own agent, as `open_ends` has it, and its row."""

    number: int
    row: Row


def sessions(db: Connection, project: str = "") -> list[tuple[str, str, int]]:
    """Sessions that were compacted, with their project and how often: the newest first; `project`: key, name, root."""
    found = db.execute(
        "SELECT o.session_id, p.name, count(*) FROM observations o JOIN sessions s ON s.id = o.session_id"
        " JOIN projects p ON p.id = s.project_id WHERE o.obs_type = 'session_compact' AND o.agent_id IS NULL"
        " AND (?1 = '' OR ?1 IN (p.key, p.name, p.root)) GROUP BY 1 ORDER BY s.last_at DESC",
        (project,),
    )
    return [(str(row[0]), str(row[1]), int(row[2])) for row in found.fetchall()]


def of_session(db: Connection, session_id: str) -> tuple[Compaction, ...]:
    """The compactions of a session, in its order; none where it was not compacted."""
    ends = db.execute(
        "SELECT id, at FROM observations WHERE session_id = ? AND obs_type = 'session_compact' AND agent_id IS NULL"
        " ORDER BY seq, id", (session_id,),
    ).fetchall()  # fmt: skip
    if not ends:
        return ()
    calls = _calls(db, session_id)
    summaries, spoken, settled = _summaries(db, session_id), _spoken(db, session_id), _settled(db, session_id)
    out: list[Compaction] = []
    carried: list[Known] = []
    begin = 0
    for place, (number, at) in enumerate(ends):
        after = ends[place + 1][1] if place + 1 < len(ends) else 1 << 62
        summary = _own(summaries, at)
        names = _Names(summary[1] if summary else "")
        before = [call for call in calls if begin <= call.row[0] <= at]
        known = [*_decided(settled, begin, at), *_open(before), *_files(before), *_passing(before)]
        fresh = {(one.kind, one.text) for one in known}
        known += [one for one in carried if (one.kind, one.text) not in fresh and not _over(one, before)]
        held = tuple(Known(one.kind, one.text, one.id, names.have(one)) for one in known)
        later = [call for call in calls if at < call.row[0] <= after]
        said = [each for each in spoken if at < each[1] <= after]
        again = tuple(_again(held, before, later, said, settled, names))
        out.append(Compaction(f"obs/{number}", at, f"prompt/{summary[0]}" if summary else "",
                              summary[2] // 4 if summary else 0, held, again))  # fmt: skip
        carried, begin = [one for one in held if one.named or not summary], at + 1
    return tuple(out)


# What is recorded


def _calls(db: Connection, session_id: str) -> list[_Call]:
    found = db.execute(
        f"SELECT o.id, {open_ends.COLUMNS} FROM observations o WHERE o.session_id = ? AND o.agent_id IS NULL"  # noqa: S608
        " ORDER BY o.seq", (session_id,),
    )  # fmt: skip
    return [_Call(int(row[0]), tuple(row[1:])) for row in found.fetchall()]


def _summaries(db: Connection, session_id: str) -> list[tuple[int, str, int, int]]:
    found = db.execute("SELECT id, content, length(content), at FROM prompts WHERE session_id = ? AND kind = 'summary'"
                       " AND agent_id IS NULL AND content != '' ORDER BY at", (session_id,))  # fmt: skip
    return [(int(row[0]), str(row[1]), int(row[2]), int(row[3])) for row in found.fetchall()]


def _own(summaries: Sequence[tuple[int, str, int, int]], at: int) -> tuple[int, str, int, int] | None:
    """The summary of the compaction at a time: the nearest one, where one is near."""
    nearest = min(summaries, key=lambda one: abs(one[3] - at), default=None)
    return nearest if nearest and abs(nearest[3] - at) <= _NEAR else None


def _spoken(db: Connection, session_id: str) -> list[tuple[int, int, str]]:
    """Row, time and text of what the person said and what the agent asked at the end of a turn."""
    found = db.execute(
        "SELECT id, at, CASE source WHEN 'user' THEN substr(content, 1, 2000) ELSE substr(content, -600) END"
        " FROM prompts WHERE session_id = ? AND agent_id IS NULL AND ((source = 'user' AND kind IN ('prompt', 'late'))"
        " OR (source = 'agent' AND kind = 'closing' AND instr(substr(content, -200), '?'))) ORDER BY at, id",
        (session_id,),
    )
    return [(int(row[0]), int(row[1]), str(row[2])) for row in found.fetchall()]


def _settled(db: Connection, session_id: str) -> list[tuple[int, Known]]:
    """Decisions said in the session and questions that were answered, with their times."""
    units = [int(row[0]) for row in db.execute("SELECT id FROM work_units WHERE session_id = ?", (session_id,))]
    out = [(one.at, Known(DECISION, _line(one.text), f"decision/{one.id}", named=False))
           for one in decisions.of_units(db, units)]  # fmt: skip
    answered = db.execute(
        "SELECT id, at, substr(content, 1, 1000) FROM observations WHERE session_id = ? AND agent_id IS NULL"
        " AND (obs_type = 'question' AND instr(content, ' -> ') OR obs_type = 'marker') ORDER BY seq", (session_id,),
    )  # fmt: skip
    out += [(int(at), Known(DECISION, _line(text), f"obs/{number}", named=False)) for number, at, text in answered]
    return out


def _line(text: str) -> str:
    return " ".join(text.split())[:400]


# What was known


def _decided(settled: Iterable[tuple[int, Known]], begin: int, at: int) -> list[Known]:
    return [one for when, one in settled if begin <= when <= at]


def _open(before: Sequence[_Call]) -> Iterator[Known]:
    """Failures that nothing passed, and to-dos that are not done."""
    rows = [call.row for call in before]
    for place in open_ends.failures(rows):
        yield Known(OPEN, f"fails: {open_ends.plain(rows[place][3])[:_COMMAND]}", _id(before[place]), named=False)
    place, boxes = open_ends.todos(rows)
    for box in boxes:
        yield Known(OPEN, f"to do: {_line(box)}", _id(before[place]), named=False)


def _files(before: Sequence[_Call]) -> list[Known]:
    """The files that were changed, each by its newest change."""
    found: dict[str, Known] = {}
    for call in before:
        _, kind, path, _, outcome, _ = call.row
        if path and kind in open_ends.EDITS and outcome != "failed":
            found[checkout_path(path)] = Known(FILE, checkout_path(path), _id(call), named=False)
    return list(found.values())


def _passing(before: Sequence[_Call]) -> list[Known]:
    """The checks and builds whose newest run passed."""
    found: dict[str, Known | None] = {}
    for call in before:
        _, kind, _, content, outcome, _ = call.row
        if kind in open_ends.CHECKS and (command := open_ends.plain(content)[:_COMMAND]):
            found[command] = Known(COMMAND, command, _id(call), named=False) if outcome == "ok" else None
    return [one for one in found.values() if one]


def _over(one: Known, before: Sequence[_Call]) -> bool:
    """Whether what an earlier summary named is no longer so: the open end was closed, the command fails."""
    rows = [call.row for call in before]
    if one.kind == OPEN:
        end = one.text.partition(": ")[2]
        return any(row[1] == "todo" or open_ends.closes(end, row) for row in rows) or any(
            row[4] == "ok" and (row[1] == "git_commit" or open_ends.plain(row[3]) == end) for row in rows
        )
    return one.kind == COMMAND and any(row[4] == "failed" and open_ends.plain(row[3]) == one.text for row in rows)


def _id(call: _Call) -> str:
    return f"obs/{call.number}"


class _Names:
    """What a summary names."""

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        self.lines = [set(tokens(line)) for line in text.split("\n") if line.strip()]
        self.all = set().union(*self.lines)

    def have(self, one: Known) -> bool:
        """Whether it names one: a file by its name, a command by its words, a decision by most of what it says."""
        if one.kind == FILE:
            return self._holds(one.text.rpartition("/")[2])
        if one.kind == COMMAND or one.text.startswith("fails: "):
            command = one.text.removeprefix("fails: ")
            return self._holds(command) or self._holds(" ".join(_core(command)))
        return self._says(one.text.partition(": ")[2] if one.kind == OPEN else one.text)

    def _holds(self, text: str) -> bool:
        """Whether a text stands in it as it is, not as a part of a longer name."""
        return bool(text) and re.search(rf"(?<![\w.-]){re.escape(text)}(?![\w-]|\.\w)", self.text) is not None

    def _says(self, text: str) -> bool:
        """Whether a line of it has most of the words of a text; of a long text it is enough that the whole has them."""
        words = set(tokens(text))
        if not words:
            return False
        return any(len(words & line) >= _SAID * len(words) for line in self.lines) or (
            len(words) > 2 * _LEAST and len(words & self.all) >= 0.85 * len(words)
        )


def _core(command: str) -> list[str]:
    """The program and what it is told to do, without options, files and what follows."""
    words = command.rpartition(" && ")[2].partition(" | ")[0].split()
    kept = [word for word in words if not word.startswith("-") and "=" not in word]
    return kept[:3] if len(kept) > 1 and kept[1] in ("run", "exec") else kept[:2]


# What came again


def _again(
    known: Sequence[Known], before: Sequence[_Call], later: Sequence[_Call], said: Sequence[tuple[int, int, str]],
    settled: Sequence[tuple[int, Known]], names: _Names,
) -> Iterator[Again]:  # fmt: skip
    """What the session did again of what it knew, each once."""
    yield from _reread(before, later, names)
    yield from _failed(before, later, names)
    decided = [one for one in known if one.kind == DECISION]
    made = {one.id: when for when, one in settled}
    for one in decided:
        words = set(tokens(one.text))
        for number, at, text in said:
            asked = set(tokens(text))
            if len(words) >= _LEAST and at > made.get(one.id, 0) and len(words & asked) >= _SAME * len(words):
                yield Again(ASKED, _line(text), f"prompt/{number}", one.id, not one.named and bool(names.text))
                break


def _reread(before: Sequence[_Call], later: Sequence[_Call], names: _Names) -> Iterator[Again]:
    """Files that were read or changed before, and read again before anything changed them."""
    seen: dict[str, str] = {}
    for call in before:
        _, kind, path, _, outcome, _ = call.row
        if path and outcome != "failed" and (kind == "file_read" or kind in open_ends.EDITS):
            seen[checkout_path(path)] = _id(call)
    for call in later:
        _, kind, path, _, outcome, _ = call.row
        name = checkout_path(path)
        if path and kind in open_ends.EDITS and outcome != "failed":
            seen.pop(name, None)
        elif path and kind == "file_read" and outcome != "failed" and name in seen:
            dropped = bool(names.text) and not names.have(Known(FILE, name, "", named=False))
            yield Again(READ, name, _id(call), seen.pop(name), dropped)


def _failed(before: Sequence[_Call], later: Sequence[_Call], names: _Names) -> Iterator[Again]:
    """Commands that failed before and fail again with the same error."""
    seen: dict[tuple[str, str], str] = {}
    for call in before:
        if call.row[4] == "failed" and call.row[1] in open_ends.RUNS:
            seen[_way(call.row)] = _id(call)
    for call in later:
        way = _way(call.row) if call.row[4] == "failed" and call.row[1] in open_ends.RUNS else None
        if way in seen and way is not None:
            dropped = bool(names.text) and not names.have(Known(OPEN, f"fails: {way[0]}", "", named=False))
            yield Again(FAILED, way[0] + (f": {way[1]}" if way[1] else ""), _id(call), seen.pop(way), dropped)


def _way(row: Row) -> tuple[str, str]:
    """A command, and how it failed."""
    told = json_object(row[5])
    found = errors.signatures(str(told.get("response") or told.get("error") or row[5]))
    return open_ends.plain(row[3])[:_COMMAND], found[0].title if found else ""
