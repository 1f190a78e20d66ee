"""Derives what the compactions of a session dropped (on the hook's path): known before, not in the summary.

Given a session, gives a Fold for each compaction: what was known before it (decisions, open ends, files that were
changed or read, commands that pass), and what the client's summary names of that. What an earlier summary dropped, and
nobody touched since, is not known any more.
"""

from __future__ import annotations

from time import perf_counter_ns

from nmem.context import session_store
from nmem.episodes import open_ends
from nmem.episodes.text import checkout_path, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from sqlite3 import Connection

    from nmem.context.session_store import Call, Said, Summary
    from nmem.episodes.open_ends import Row

DECISION, OPEN, FILE, COMMAND, READ = "decision", "open end", "file", "command", "file read"
KINDS = (DECISION, OPEN, FILE, COMMAND, READ)
FAILS, TODO = "fails: ", "to do: "
"""What the text of an open end begins with."""
NEAR = 900_000
"""Milliseconds between a compaction and the summary that is its own."""
EVERY = 1 << 62
_LEAST = 3
"""Words that a text must have to be said again by another one."""
_SAID, _NEARLY_ALL, _SAME = 0.6, 0.85, 0.7
"""The part of a text's words that a line says it by, that a whole text does, and that ask the same again."""
_COMMAND = 200


class Thing:
    """Something that was known when a session was compacted; `named`: whether the summary names it."""

    __slots__ = ("at", "id", "kind", "named", "said", "text")

    def __init__(self, kind: str, text: str, id: str, at: int, said: str = "") -> None:  # noqa: A002 - an id is called so
        self.kind = kind
        self.text = text
        self.id = id
        """The newest row that says it: obs/12, decision/3."""
        self.at = at
        self.said = said
        """What the call answered where it failed, as it is stored."""
        self.named = False


class Fold:
    """One compaction: what was known before it, the calls before and after it, up to the next one."""

    __slots__ = ("at", "before", "id", "known", "later", "names", "summary", "until")

    def __init__(self, number: int, at: int, until: int, summary: Summary | None, calls: Sequence[Call]) -> None:
        self.id = number
        self.at = at
        self.until = until
        """When the next one was."""
        self.summary = summary
        self.names = Names(summary[1] if summary else "")
        self.known: list[Thing] = []
        self.before: list[Call] = []
        self.later = [call for call in calls if at < call[1][0] <= until]

    @property
    def dropped(self) -> list[Thing]:
        """What the summary does not name; nothing where there is none to tell."""
        return [one for one in self.known if not one.named] if self.summary else []


def folds(db: Connection, session_id: str, most: int = EVERY, until: int = EVERY) -> list[Fold]:
    """The compactions of a session in their order, by its calls since `most` before the last one; none of them where
    that is not done `until` a moment of the machine's clock in ns. Raises sqlite3.Error."""
    ends = session_store.compactions(db, session_id)
    if not ends:
        return []
    calls = session_store.calls(db, session_id, ends[-1][2] - most)
    own = _own(session_store.summaries(db, session_id), ends)
    made = settled(db, session_id)
    out: list[Fold] = []
    carried: list[Thing] = []
    begin = 0
    for place, (number, at, _) in enumerate(ends):
        if perf_counter_ns() > until:
            return []
        fold = Fold(number, at, ends[place + 1][1] if place + 1 < len(ends) else EVERY, own.get(number), calls)
        fold.before = [call for call in calls if begin <= call[1][0] <= at]
        fresh = [one for one in made if begin <= one.at <= at]
        fresh += [*_open(fold.before), *_files(fold.before), *passing(fold.before)]
        fold.known = _together(fresh, [one for one in carried if not over(one, fold.before)])
        for one in fold.known:
            one.named = fold.names.have(one)
        out.append(fold)
        carried = [
            Thing(one.kind, one.text, one.id, one.at, one.said) for one in fold.known if one.named or not fold.summary
        ]
        begin = at + 1
    return out


def _together(fresh: Sequence[Thing], carried: Sequence[Thing]) -> list[Thing]:
    """What is known of a stretch, with what is known from before it; a file that was changed is not merely read."""
    changed = {one.text for one in (*fresh, *carried) if one.kind == FILE}
    seen: dict[tuple[str, str], Thing] = {}
    for one in (*fresh, *carried):
        if not (one.kind == READ and one.text in changed):
            seen.setdefault((one.kind, one.text), one)
    return list(seen.values())


# What is recorded


def _own(summaries: Sequence[Summary], ends: Iterable[tuple[int, int, int]]) -> dict[int, Summary]:
    """The summaries by the row of the compaction that each is of, the nearest pairs first and each used once: two
    compactions may be near each other, and the summary of one of them missing."""
    near = sorted((abs(one[3] - at), number, one) for number, at, _ in ends for one in summaries)
    out: dict[int, Summary] = {}
    used: set[int] = set()
    for gap, number, one in near:
        if gap <= NEAR and number not in out and one[0] not in used:
            out[number] = one
            used.add(one[0])
    return out


def summary_at(db: Connection, session_id: str, folded: int) -> str:
    """The summary with which a conversation began anew at a time; empty where it is not known. Raises sqlite3.Error."""
    ends = session_store.compactions(db, session_id) or [(0, folded, 0)]
    number = min(ends, key=lambda one: abs(one[1] - folded))[0]
    found = _own(session_store.summaries(db, session_id), ends).get(number)
    return found[1] if found and abs(found[3] - folded) <= NEAR else ""


def settled(db: Connection, session_id: str) -> list[Thing]:
    """Decisions said in the session, questions that were answered, and what was marked, by time within each."""
    return [Thing(DECISION, line(text), number, at) for number, at, text in session_store.settled(db, session_id)]


def line(text: str) -> str:
    """A text on one line, cut."""
    return " ".join(text.split())[:400]


# What was known


def _open(before: Sequence[Call]) -> Iterator[Thing]:
    """Failures that nothing passed, and to-dos that are not done."""
    rows = [row for _, row in before]
    for place in open_ends.failures(rows):
        yield _thing(OPEN, FAILS + open_ends.plain(rows[place][3])[:_COMMAND], before[place])
    place, boxes = open_ends.todos(rows)
    for box in boxes:
        yield _thing(OPEN, TODO + line(box), before[place])


def _files(before: Sequence[Call]) -> list[Thing]:
    """The files that were changed, then those that were read alone, each by its newest call."""
    changed: dict[str, Thing] = {}
    looked: dict[str, Thing] = {}
    for call in before:
        _, kind, path, _, outcome, _ = call[1]
        if path and outcome != "failed" and (kind == "file_read" or kind in open_ends.EDITS):
            name = checkout_path(path)
            if kind == "file_read":
                looked[name] = _thing(READ, name, call)
            else:
                changed[name] = _thing(FILE, name, call)
    return [*changed.values(), *looked.values()]


def passing(before: Sequence[Call]) -> list[Thing]:
    """The checks and builds whose newest run passed."""
    found: dict[str, Thing | None] = {}
    for call in before:
        _, kind, _, content, outcome, _ = call[1]
        if kind in open_ends.CHECKS and (command := open_ends.plain(content)[:_COMMAND]):
            found[command] = _thing(COMMAND, command, call) if outcome == "ok" else None
    return [one for one in found.values() if one]


def _thing(kind: str, text: str, call: Call) -> Thing:
    return Thing(kind, text, f"obs/{call[0]}", call[1][0], call[1][5])


def over(one: Thing, later: Sequence[Call]) -> bool:
    """Whether what was known is no longer so: the open end was closed, the command fails."""
    if one.kind == OPEN:
        end = one.text.partition(": ")[2]
        return any(
            row[1] == "todo"
            or open_ends.closes(end, row)
            or (row[4] == "ok" and (row[1] == "git_commit" or (row[1] in open_ends.RUNS and _runs(row) == end)))
            for _, row in later
        )
    return one.kind == COMMAND and any(
        row[4] == "failed" and row[1] in open_ends.RUNS and _runs(row) == one.text for _, row in later
    )


def _runs(row: Row) -> str:
    """The command of a call as it is the text of a thing."""
    return open_ends.plain(row[3])[:_COMMAND]


def met(one: Thing, later: Iterable[Call]) -> Call | None:
    """The first call that touches it: the file is read or changed, the command runs, the list is written anew."""
    wanted = one.text.removeprefix(FAILS)
    for call in later:
        _, kind, path, _, outcome, _ = call[1]
        if one.kind in (FILE, READ):
            if path and outcome != "failed" and checkout_path(path) == wanted:
                return call
        elif one.text.startswith(TODO):
            if open_ends.closes(one.text.removeprefix(TODO), call[1]):
                return call
        elif one.kind != DECISION and kind in open_ends.RUNS and _runs(call[1]) == wanted:
            return call
    return None


def asked(one: Thing, said: Iterable[Said]) -> Said | None:
    """The first words that ask about a decision, or say it once more."""
    words = set(tokens(one.text)) if one.kind == DECISION else set()
    if len(words) < _LEAST:
        return None
    return next((each for each in said if each[1] > one.at and len(words & set(tokens(each[2]))) >= _SAME * len(words)),
                None)  # fmt: skip


class Names:
    """What a summary names."""

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        self.told = text
        self.lines: list[set[str]] | None = None  # the words of each line, once a decision or a to-do is looked for
        self.all: set[str] = set()

    def have(self, one: Thing) -> bool:
        """Whether it names one: a file by its name, a command by its words, a decision by most of what it says."""
        if one.kind in (FILE, READ):
            return self._holds(one.text.rpartition("/")[2])
        if one.kind == COMMAND or one.text.startswith(FAILS):
            command = one.text.removeprefix(FAILS)
            return self._holds(command) or self._holds(" ".join(core(command)))
        return self._says(one.text.removeprefix(TODO) if one.kind == OPEN else one.text)

    def _holds(self, text: str) -> bool:
        """Whether a text stands in it as it is, not as a part of a longer name."""
        at = self.text.find(text) if text else -1
        while at >= 0:
            end = at + len(text)
            after = self.text[end : end + 2]
            if not _joins(self.text[at - 1 : at] if at else "", "_.-") and not (
                _joins(after[:1], "_-") or (after[:1] == "." and _joins(after[1:], "_"))
            ):
                return True
            at = self.text.find(text, at + 1)
        return False

    def _says(self, text: str) -> bool:
        """Whether a line of it has most of the words of a text; of a long text it is enough that the whole has them."""
        words = set(tokens(text))
        if not words:
            return False
        if self.lines is None:
            self.lines = [set(tokens(each)) for each in self.told.split("\n") if each.strip()]
            self.all = set().union(*self.lines)
        return any(len(words & each) >= _SAID * len(words) for each in self.lines) or (
            len(words) > 2 * _LEAST and len(words & self.all) >= _NEARLY_ALL * len(words)
        )


def _joins(sign: str, more: str) -> bool:
    """Whether a sign makes a name go on."""
    return bool(sign) and (sign.isalnum() or sign in more)


def core(command: str) -> list[str]:
    """The program and what it is told to do, without options, files and what follows."""
    words = command.rpartition(" && ")[2].partition(" | ")[0].split()
    kept = [word for word in words if not word.startswith("-") and "=" not in word]
    return kept[:3] if len(kept) > 1 and kept[1] in ("run", "exec") else kept[:2]
