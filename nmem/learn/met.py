"""Looks up the known fix for a failed output, or for a command about to run that fails here. For hooks.

For hooks: learnings are read as they stand, errors are compared by the lines that were kept of them, so that no table
of rules is loaded. Better nothing than something beside the point: what is found is the same line, or the same command.
"""

from __future__ import annotations

from nmem.learn import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

TIMES, BELIEVED = 2, 0.5
"""A remedy is told when it helped in so many sessions, or in this part of the failures that ended."""
UNHEALTHY = 0.6
"""Share of a command's sessions in which it fails first, from which somebody is warned of it."""
_LINES, _WINDOW, _CUT = 400, 16_384, 239
_LEAST = 12
"""Characters of a line that may be compared by itself: `Error 1` says nothing."""
_ABOUT = "failed_command"
_MOST = 4000
"""Places where learnings of a project were met that are compared."""
_AROUND = "\"'`.,:;()[]"
_OTHERWISE, _BEFORE = "spelling", "command"
"""Kinds of remedies that somebody can be told before it goes wrong again."""


class Known:
    """A learning with its remedy."""

    __slots__ = ("command", "commands", "id", "kind", "remedy", "sessions", "sure", "title")

    def __init__(self, row: tuple[int, str, str, str, int, str]) -> None:
        from capture.jsonio import loads  # on use: start-up stays short

        self.id, what, key, self.title, self.sessions, stored = row
        self.command = key.partition(" | ")[0] if what == _ABOUT else ""
        """The command that fails, where it is always the same."""
        remedy = loads(stored)
        found = remedy if isinstance(remedy, dict) else {}
        self.kind, self.remedy = str(found.get("kind", "")), str(found.get("text", ""))
        ran = found.get("commands")
        self.commands = [str(each) for each in ran] if isinstance(ran, list) else []
        times, share = found.get("times"), found.get("confidence")
        self.sure = (isinstance(times, int) and times >= TIMES) or (isinstance(share, float) and share >= BELIEVED)
        """Whether it is believed."""


def failed(db: Connection, project_id: int, output: str, normal: Callable[[], str]) -> Known | None:
    """What is known of an output that failed; `normal` gives the command normalised, empty where it does nothing.

    The same error, and the same command where the error is one command's alone. Raises sqlite3.Error.
    """
    rows = store.met(db, project_id, _MOST)
    rows = [row for row in rows if not _apart(row[3], output)]
    if not rows:
        return None  # as nearly always: nothing more is loaded
    rows.sort(key=lambda row: (-row[4], row[0]))
    command, said = normal(), _said(output)
    for number, kind, key, excerpt, _ in rows:
        own = key.partition(" | ")[0] if kind == _ABOUT else ""
        if own in ("", command) and _among(excerpt, said, 1 if own else _LEAST):
            one = Known(store.remedy(db, number))
            if one.sure:
                return one
    return None


def _apart(excerpt: str, output: str) -> bool:
    """Whether an output cannot have a line, for it lacks a word of it that nothing is taken out of."""
    for word in excerpt.split():
        plain = word.strip(_AROUND)
        if plain.isalpha() and plain not in output:
            return True
    return False


def _among(excerpt: str, said: frozenset[str], least: int) -> bool:
    from nmem.learn.numbers import line as compared  # on use: start-up stays short

    line = compared(excerpt)
    return len(line) >= least and (
        line in said or (len(excerpt) >= _CUT and any(each.startswith(line) for each in said))
    )


def says(db: Connection, learning_id: int, output: str) -> bool:
    """Whether an output has a line that was kept of a learning. Raises sqlite3.Error."""
    said = _said(output)
    return any(_among(line, said, _LEAST) for line in store.lines(db, learning_id))


def _said(output: str) -> frozenset[str]:
    """The lines of an output as they are compared, and each that announces the next one together with that."""
    from nmem.learn.numbers import line as compared  # on use: start-up stays short

    if len(output) > _WINDOW:
        output = f"{output[: _WINDOW // 2]}\n{output[-_WINDOW // 2 :]}"
    lines = [line for each in output.split("\n")[:_LINES] if (line := compared(each))]
    pairs = [f"{line} {lines[at]}" for at, line in enumerate(lines[:-1], 1) if line.endswith(":")]
    return frozenset((*lines, *pairs))


def goes_wrong(db: Connection, project_id: int, session_id: str, command: str, typed: str) -> Known | None:
    """What is known of a command that is about to run: that it surely fails here, and what works instead.

    It failed in two sessions and more, another command replaced it and it has not passed since; or something had to be
    run before it, mostly, and has not been run in this session. Raises sqlite3.Error.
    """
    for one in map(Known, store.failing(db, project_id, command, TIMES)):
        if not one.sure or not one.commands or typed in one.commands:
            continue
        if one.kind == _OTHERWISE and _replaced(db, project_id, session_id, one, typed):
            return one
        if one.kind == _BEFORE and _needed(db, project_id, session_id, one):
            return one
    return None


def _replaced(db: Connection, project_id: int, session_id: str, one: Known, typed: str) -> bool:
    """Whether a command was given up for another: it has not passed since it failed last."""
    from nmem.learn.commands import normalise  # on use: start-up stays short

    other = normalise(one.commands[-1])
    if other is None or other.key == one.command:  # they differ in what a key leaves out: an option, a folder
        return _typed_before(db, one, typed)
    passed, last = store.passed(db, project_id, one.command, one.id)
    return passed <= last and not store.has_run(db, session_id, one.command)


def _typed_before(db: Connection, one: Known, typed: str) -> bool:
    """Whether exactly this failed, in two sessions."""
    return sum(" ".join(content.split()) == typed for _, content in store.failed_as(db, one.id)) >= TIMES


def _needed(db: Connection, project_id: int, session_id: str, one: Known) -> bool:
    """Whether a command mostly fails until another was run, which this session has not done, nor got by without."""
    hit, ran = store.health(db, project_id, one.command)
    if hit < TIMES or hit < UNHEALTHY * ran:
        return False
    return not any(store.has_run(db, session_id, each) for each in (*one.commands, one.command))
