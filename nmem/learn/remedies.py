"""Finds the change between a failing run and the next passing one, and the likely remedy in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from nmem.learn import commands
from nmem.learn.errors import RULE, USAGE, WORLD
from nmem.learn.errors.normal import tail, within
from nmem.learn.rows import Row

SPELLING, COMMAND, EDIT, RERUN = "spelling", "command", "edit", "rerun"
NEAR = 10
"""Observations after a failure in which another spelling of the command is looked for."""
FAR = 400
"""Observations between a failure and the passing run that are looked through, and before a first passing run."""
_WITHOUT, _THERE = "Without", ": the shell is there already"
WITHOUT_CD = f"{_WITHOUT} `cd` it works{_THERE}"
"""What is left of several such remedies that differ in the folder."""
_COMMANDS = 3
_MENDING = frozenset(("fix", "fmt", "format", "tidy", "gofmt", "gofumpt", "autofix"))
_MISSING = (": no command ", ": no module ", ": no script ", ": no program ")
_REPLACED = frozenset(("test", "build", "lint"))
"""What one program does as well as another."""
_SAME_WORK = frozenset(("test", "build", "lint", "install", "git", "git_push", "git_commit", "github"))


class Fix(NamedTuple):
    """One way in which one failure ended."""

    kind: str
    text: str
    files: tuple[str, ...]
    commands: tuple[str, ...]
    ids: tuple[int, ...]
    """What was done in between, then the passing run."""

    def stored(self) -> dict[str, object]:
        """As JSON holds it."""
        return {"kind": self.kind, "text": self.text, "files": list(self.files), "commands": list(self.commands),
                "ids": list(self.ids)}  # fmt: skip


def without_cd(text: str) -> bool:
    """Whether a remedy says that it works without a `cd`, whichever."""
    return text.startswith(f"{_WITHOUT} `cd") and text.endswith(_THERE)


def of_command(runs: Runs, at: int, nature: str, key: str = "") -> Fix | None:
    """How the failure of a command at a place of its session ended there; None when it did not.

    `key`: of its error. Where the program itself is missing, another one that does the same kind of work is the remedy.
    """
    rows = runs.rows
    if nature in (USAGE, WORLD) and (spelled := _spelling(rows, at, missing=_is_missing(key, rows[at].key))):
        return spelled
    end = runs.next_pass(rows[at].key, at, FAR)
    return None if end is None else between(runs, at + 1, end, nature)


def of_file(rows: Sequence[Row], at: int) -> Fix | None:
    """How a refused edit of a file ended: with the next edit of it, after it was read or without."""
    failed = rows[at]
    read: Row | None = None
    for row in rows[at + 1 : at + 1 + 4 * NEAR]:
        if row.path != failed.path or row.failed:
            continue
        if row.type == "file_read":
            read = row
        elif row.edits:
            if read is None:
                return None
            text = "Read the file (again) right before it is edited"
            return Fix(COMMAND, text, (), ("Read",), (read.id, row.id))
    return None


def of_path(rows: Sequence[Row], at: int) -> Fix | None:
    """What was meant by a file that is not there: what the client suggests, or what is read next by that name."""
    failed = rows[at]
    _, hint, meant = failed.response.partition("Did you mean ")
    if hint and meant.split():
        name = meant.split()[0].strip("?,;`'\"").rstrip(".?")
        return Fix(SPELLING, f"It is `{name.rpartition('/')[2]}`", (), (), (failed.id,))
    wanted = failed.path.rpartition("/")[2]
    for row in rows[at + 1 : at + 1 + NEAR]:
        if wanted and row.type == "file_read" and row.outcome == "ok" and row.path.rpartition("/")[2] == wanted:
            return Fix(SPELLING, f"It is `{within(row.path, row.root)}`", (row.path,), (), (row.id,))
    return None


def _spelling(rows: Sequence[Row], at: int, *, missing: bool = False) -> Fix | None:
    """The same work, called otherwise, soon after."""
    failed = rows[at]
    mine = failed.typed
    for row in rows[at + 1 : at + 1 + NEAR]:
        if row.outcome != "ok" or not row.is_shell or not row.normal:
            continue
        if row.typed == mine:
            return None  # the very same works now: something else has changed
        if _same_work(failed, row) or (missing and _instead(failed, row)):
            return Fix(SPELLING, _otherwise(failed, row), (), (row.shown,), (row.id,))
    return None


def _otherwise(failed: Row, row: Row) -> str:
    """In what the command that works differs."""
    before, now = commands.folders(failed.content), commands.folders(row.content)
    same = bool(failed.normal and row.normal) and failed.key.partition(" && ")[0] in row.key.split(" && ")
    if before != now and not now and same:
        return f"{_WITHOUT} `cd {_folder(before[0], failed.root)}` it works{_THERE}"
    if before != now and now:
        place = _folder(now[-1], row.root)
        where = f"In the folder `{place}`" if place != "." else "In the project's own folder"
        return f"{where} {'it' if same else f'`{row.shown}`'} works"
    return f"`{row.shown}` works"


def _folder(path: str, root: str) -> str:
    """A folder as it is called from the project's; one elsewhere by its name, for its place is one machine's."""
    inside = within(path, root)
    return inside.rpartition("/")[2] if path.startswith(("/", "~")) and tail(path) == inside else inside or "."


def _same_work(failed: Row, row: Row) -> bool:
    if not failed.normal or not row.normal:
        return False
    if row.runs(failed.key):
        return True
    if set(row.normal.parts) & set(failed.normal.parts):
        return False  # a part of it, or more than it
    if len(failed.normal.parts) != len(row.normal.parts):
        return False
    shared = set(failed.families) & set(row.families) & _SAME_WORK
    mine, theirs = set(failed.key.split()), set(row.key.split())
    return bool(shared) and len(mine & theirs) >= max(1, min(len(mine), len(theirs)) - 1)


def _is_missing(key: str, command: str) -> bool:
    """Whether an error says that the program itself is not there, or the module or script that it runs."""
    lost = next((key.partition(mark)[2] for mark in _MISSING if mark in key), "")
    return bool(lost) and lost in command.split()


def _instead(failed: Row, row: Row) -> bool:
    """Whether another program did the work of one that is not there: it tests, where what should have tested failed."""
    if not failed.normal or not row.normal or len(failed.normal.parts) != 1 or len(row.normal.parts) != 1:
        return False
    return bool(set(failed.families) & set(row.families) & _REPLACED)


def between(runs: Runs, start: int, end: int, nature: str = "") -> Fix:
    """What was done from a place of a session on, before the run at `end` passed; it had failed in this nature."""
    rows, passing = runs.rows, runs.rows[end]
    mends = (
        [row for row in rows[start:end] if not row.failed and row.is_shell and _mends(row)] if nature == RULE else []
    )
    done = mends or [rows[place] for place in runs.setups.found[slice(*runs.setups.within(start, end))]]
    ran = tuple(dict.fromkeys([row.key if mends else row.shown for row in done]))[-_COMMANDS:] if done else ()
    changed = runs.changed(start, end)
    if ran and (mends or changed is None):
        shown = mends[-1].key if mends else ran[-1]
        ids = (*(row.id for row in done[-_COMMANDS:]), passing.id)
        return Fix(COMMAND, f"After `{shown}` it passes", (), ran, ids)
    if changed is not None:
        files, line, edits = changed
        text = f"{files[0].rpartition('/')[2]} was changed" + (f": {line}" if line else "")
        return Fix(EDIT, text, files, ran, (*edits, passing.id))
    return Fix(RERUN, "It passes when it is run again", (), (), (passing.id,))


def _mends(row: Row) -> bool:
    """Whether a command puts right what linters and formatters find."""
    said = row.key.replace(":", " ").replace("-", " ").replace("_", " ").split()
    return bool(row.key) and (bool(_MENDING.intersection(said)) or "--fix" in row.content or "--write" in row.content)


_JOIN = " && "
_FILES, _LINE, _TELLING = 5, 100, 3


class Places:
    """Places of a session in their order."""

    def __init__(self, found: list[int]) -> None:
        self.found = found

    def within(self, start: int, end: int) -> tuple[int, int]:
        """Which of them lie from `start` on and before `end`: a slice of `found`."""
        return bisect_left(self.found, start), bisect_left(self.found, end)


class Changed(NamedTuple):
    """What was changed in a stretch of a session."""

    files: tuple[str, ...]
    """The files that were changed most often."""
    line: str
    """The first line that the last change of the first of them added; empty where none is telling."""
    ids: tuple[int, ...]
    """All changes of these files."""


class Runs:
    """The observations of a session, and the places of what did not fail, by command and by edited file."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._whole: dict[str, list[int]] = defaultdict(list)
        self._parts: dict[str, list[int]] = defaultdict(list)
        self._edits: dict[str, list[int]] = defaultdict(list)
        for at, row in enumerate(rows):
            if row.edits:
                self._edits[row.path].append(at)
            if not row.failed and row.normal:
                self._whole[row.normal.key].append(at)
                for part in row.normal.parts:
                    self._parts[part].append(at)
        self._known: dict[str, list[int]] = {}
        self.changes = Places([at for at, row in enumerate(rows) if row.edits])
        """Where any file was changed."""
        self.setups = Places([at for at, row in enumerate(rows) if row.sets_up])
        """Where a command made something ready."""
        self._changed: tuple[tuple[int, int], Changed] = (0, 0), Changed((), "", ())
        self._often: Counter[str] = Counter()
        """How often each file was changed in that stretch."""

    def passed(self, key: str) -> list[int]:
        """Where a command ran, alone or among others, and did not fail; in order."""
        if key not in self._known:
            parts = [self._parts.get(part, []) for part in dict.fromkeys(key.split(_JOIN))]
            among = set(parts[0]).intersection(*parts[1:])
            self._known[key] = sorted(among.union(self._whole.get(key, ())))
        return self._known[key]

    def next_pass(self, key: str, at: int, within: int) -> int | None:
        """The first place after `at`, at most `within` further on, where a command is known to have passed."""
        places = self.passed(key) if key else []
        for place in places[bisect_right(places, at) :]:
            if place >= at + within:
                break
            if self.rows[place].outcome == "ok":
                return place
        return None

    def edited(self, path: str) -> list[int]:
        """Where a file was changed; in order."""
        return self._edits.get(path, [])

    def changed(self, start: int, end: int) -> Changed | None:
        """What was changed from `start` on and before `end`; None where nothing was.

        Whoever goes through a session asks for nearly the same stretch again and again: the last answer is kept.
        """
        between = self.changes.within(start, end)
        if between[0] == between[1]:
            return None
        if self._changed[0] != between:
            self._changed = between, self._count(*between)
        return self._changed[1]

    def _count(self, first: int, after: int) -> Changed:
        rows = [self.rows[place] for place in self.changes.found[first:after]]
        start, end = self._changed[0]
        longer = start == first and end <= after  # as it mostly is than the stretch before
        if not longer:
            self._often.clear()
        self._often.update([row.path for row in (rows[end - first :] if longer else rows)])
        files = tuple([path for path, _ in self._often.most_common(_FILES)])
        last = next(row for row in reversed(rows) if row.path == files[0])
        lines = (line for line in last.content.split("\n") if line.startswith("+") and len(line.strip()) > _TELLING)
        ids = tuple([row.id for row in rows if row.path in files])
        return Changed(files, next(lines, "")[1:].strip()[:_LINE], ids)
