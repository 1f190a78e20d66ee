"""Builds what is shared of an episode or a session: a title and blocks, each text of which is fit to leave.

The blocks say what is shown; `markdown` and `page` draw them. What is not shown is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from capture import clients
from capture.storage.store import called
from nmem.episodes.narrations import told_by
from nmem.episodes.open_ends import plain
from nmem.errors import NmemError
from nmem.hours import utc
from nmem.read import listing, views
from nmem.read.file_history import checkouts
from nmem.read.stories import Story, story
from nmem.read.views import SessionRow, StreamRow, outcome_words
from nmem.share import Outward
from nmem.text import counted, whole_minutes

_PROMPT, _ANSWER, _CALL, _LINE, _REASON = 6_000, 8_000, 400, 600, 200
"""Characters of a prompt, an answer, a call, a sentence, and what a failed call answered."""
_FIRST, _LAST = 40, 20
"""Calls of a turn that are shown from its beginning and from its end."""
_FILES, _TESTS, _COMMITS = 40, 20, 60
_QUIET = frozenset(("", "ok"))
"""Answers of a call that say nothing."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; 2 is the highest below the title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text of one paragraph; `quiet`: said about the rest."""

    text: str
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Fields:
    """Labels of ours, each with a text."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One line: when, what, a command or name, how it ended."""

    text: str = ""
    code: str = ""
    note: str = ""
    bad: bool = False
    at: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list; `summary`, where there is one, stands for it when it is folded."""

    rows: tuple[Item, ...]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody said, line by line as it was written."""

    who: str
    at: str
    text: str


Block = Heading | Paragraph | Fields | Items | Said


@dataclass(slots=True)
class Document:
    """What is shared: the title, the blocks, the episodes in it, and how much was left out, by what it is."""

    title: str
    blocks: list[Block]
    episodes: tuple[int, ...]
    left_out: dict[str, int] = field(default_factory=dict)
    fresh: int = 0
    """Secrets that were stored as they were, and are replaced here."""


def of_episode(db: Connection, unit_id: int) -> Document:
    """One episode. Raises NmemError."""
    found = story(db, unit_id, whole=True)
    if found is None:
        raise NmemError(f"there is no episode {unit_id}: `nmem episodes` lists them")
    writer = _Writer(outward(db, views.session(db, found.row.session_id), [found]))
    writer.episode(found, 2)
    return writer.document(writer.out.line(found.row.name, 200), [found])


def of_session(db: Connection, session_id: str) -> Document:
    """All episodes of a session, in order. Raises NmemError."""
    row = views.session(db, session_id)
    known = [story(db, each.id, whole=True) for each in listing.of_session(db, session_id)]
    found = [one for one in known if one is not None]
    if row is None or not found:
        raise NmemError("the session has no episode yet: its first prompt or `nmem settle` makes one")
    writer = _Writer(outward(db, row, found))
    many = len(found) > 1
    if many:
        listed = (Item(writer.out.line(one.row.name, 200), note=one.row.outcome.words, at=when(one.row.started_at))
                  for one in found)  # fmt: skip
        writer.blocks += [Heading(2, "Episodes"), Items(tuple(listed))]
    for number, one in enumerate(found, 1):
        if many:
            writer.blocks.append(Heading(2, f"Episode {number}: {writer.out.line(one.row.name, 200)}"))
        writer.episode(one, 3 if many else 2)
    return writer.document(writer.out.line(row.name or found[0].row.name, 200), found)


def outward(db: Connection, row: SessionRow | None, found: Sequence[Story] = ()) -> Outward:
    """What makes the texts of some stories fit to leave, by the rules of their project and with the secrets that are
    anywhere in them; its checkouts may be recorded on other machines, too.
    """
    out = Outward([row.root, row.cwd, *checkouts(db, row.id)], called(db, row.id)) if row else Outward([])
    for one in found:
        for said in one.said_and_done:
            out.learn(said.text)
            out.learn(_response(said))
    return out


def client(name: str) -> str:
    """What a client calls itself; empty for one that is not known."""
    return clients.client(name).title if clients.known(name) else ""


def when(at: int) -> str:
    """A moment, the same for every reader."""
    return f"{utc(at):%Y-%m-%d %H:%M} UTC"


def result(row: StreamRow) -> str:
    """What a call's end says of it: ok, failed, exit 1, 2 failed."""
    return row.refusal or outcome_words(row.outcome, row.exit_code, row.meta)


def ended(row: StreamRow) -> str:
    """How a call ended, in a word or two."""
    said = result(row)
    return f"failed ({said})" if row.outcome == "failed" and said not in ("failed", row.refusal) else said


def failure(row: StreamRow) -> str:
    """The first line that a failed call answered."""
    lines = _response(row).split("\n") if row.outcome == "failed" else []
    return next((line.strip() for line in lines if line.strip()), "")


def touched(reads: int, edits: int, failures: int) -> str:
    """How often a file was changed and read, and a call on it failed."""
    parts = ((edits, "changed"), (reads, "read"), (failures, "failed"))
    return ", ".join(f"{word} {number}x" for number, word in parts if number)


def _response(row: StreamRow) -> str:
    said = row.meta.get("response")
    return said if isinstance(said, str) else ""


class _Writer:
    """Turns stories into blocks, and counts what it leaves out."""

    def __init__(self, out: Outward) -> None:
        self.out = out
        self.blocks: list[Block] = []
        self.left: dict[str, int] = {}

    def document(self, title: str, found: Sequence[Story]) -> Document:
        """The whole, with the count of what was left out at its end."""
        self._leave("texts shortened", self.out.shortened)
        self._leave("secrets replaced by a placeholder", self.out.placeholders)
        self.blocks.append(Heading(2, "What was left out"))
        self.blocks.append(Items(tuple(Item(f"{number:,} {what}") for what, number in self.left.items())
                                 or (Item("nothing"),)))  # fmt: skip
        self.blocks.append(Paragraph("Recorded and written by nmem. Paths are relative to the project.", quiet=True))
        return Document(title, self.blocks, tuple(one.row.id for one in found), self.left, self.out.fresh)

    def episode(self, found: Story, level: int) -> None:
        """One episode, its headings from a level on."""
        self.blocks.append(Fields(tuple(self._facts(found))))
        goal = found.narrative.requests[0] if found.narrative else found.intent
        self._paragraphs(level, "Goal", [goal])
        self._paragraphs(level, "Outcome", [found.ended or found.row.outcome.words or "Nothing is known of its end."])
        self._story(found, level)
        self._list(level, "Decisions", (self._decision(one.text, one.question, bool(one.superseded))
                                        for one in found.decisions))  # fmt: skip
        self.blocks.append(Heading(level, "Conversation and actions"))
        self._turns(found, level + 1)
        self._list(level, "Files", self._bounded(_FILES, "files", [
            Item(code=self.out.path(each.path), note=touched(each.reads, each.edits, each.failures))
            for each in found.hot
        ]))  # fmt: skip
        self._list(level, "Commits", self._bounded(_COMMITS, "commits", [
            Item(self.out.line(each.message, _LINE), self.out.line(each.hash[:10])) for each in found.commits
        ]))  # fmt: skip
        self._list(level, "Tests", self._bounded(_TESTS, "test commands", list(self._tests(found))))

    def _facts(self, found: Story) -> Iterator[tuple[str, str]]:
        row = found.row
        yield "Project", self.out.line(row.project, 200)
        if found.branch:
            yield "Branch", self.out.line(found.branch, 200)
        yield "Client", client(found.client) or self.out.line(found.client, 60)
        yield "When", f"{when(row.started_at)}, {whole_minutes(row.active_ms)} min of work"
        yield "Extent", f"{counted(row.turns, 'prompt')}, {counted(found.observations, 'action')}"

    def _story(self, found: Story, level: int) -> None:
        told = found.narrative
        if told is None:
            return
        later = [f"Later: {text}" for text in told.requests[1:]]
        obstacle = f"What stood in the way: {told.obstacle}" if told.obstacle else ""
        parts = [text for text in (*later, obstacle) if text]
        lists = (("Done", told.completed), ("Learned", told.learned), ("Left open", told.next_steps),
                 ("Notes", told.notes))  # fmt: skip
        if not parts and not any(texts for _, texts in lists):
            return
        self._paragraphs(level, f"Story, {told_by(told.narrator)}", parts)
        for name, texts in lists:
            self._list(level + 1, name, (Item(self.out.line(text, _LINE)) for text in texts))

    def _decision(self, text: str, question: str, superseded: bool) -> Item:
        asked = f"asked: {self.out.line(question, _LINE)}" if question else ""
        notes = (asked, "a later decision replaced it" if superseded else "")
        return Item(self.out.line(text, 2 * _LINE), note="; ".join(note for note in notes if note))

    def _turns(self, found: Story, level: int) -> None:
        """The conversation in order; the calls of a turn stand between its prompt and its answer."""
        self._leave("rows in the middle of a long episode", found.left_out)
        calls: list[StreamRow] = []
        number = 0
        for row in found.said_and_done:
            if "/" not in row.word:
                calls.append(row)
                continue
            if row.word.startswith("user/") or (row.word == "agent/closing" and not row.agent):
                self._calls(calls)
                calls = []
            if row.word in ("user/prompt", "user/command"):
                number += 1
                self.blocks.append(Heading(level, f"Turn {number}"))
            self._spoken(row)
        self._calls(calls)

    def _spoken(self, row: StreamRow) -> None:
        at = when(row.at)
        if row.word.startswith("user/"):
            self.blocks.append(Said("Prompt", at, self.out.text(row.text, _PROMPT)))
        elif row.word == "agent/closing" and not row.agent:
            self.blocks.append(Said("Answer", at, self.out.text(row.text, _ANSWER)))
        else:
            names = {"agent/thinking": "passages of thinking", "agent/subagent": "answers of helpers"}
            self._leave(names.get(row.word, "notices and summaries of the client"), 1)

    def _calls(self, rows: Sequence[StreamRow]) -> None:
        if not rows:
            return
        self._leave("outputs of calls", sum(_response(row) not in _QUIET for row in rows))
        gap = max(0, len(rows) - _FIRST - _LAST)
        self._leave("calls in the middle of a long turn", gap)
        shown = [*rows[:_FIRST], *rows[-_LAST:]] if gap else rows
        items = [self._call(row) for row in shown]
        if gap:
            items.insert(_FIRST, Item(f"({counted(gap, 'more call')})"))
        failed = sum(row.outcome == "failed" for row in rows)
        said = f"{counted(len(rows), 'action')}{f', {failed:,} failed' if failed else ''}"
        self.blocks.append(Items(tuple(items), said))

    def _call(self, row: StreamRow) -> Item:
        code = self.out.path(row.path) if row.path and row.word.startswith("file") else self._command(row)
        notes = [ended(row), self.out.line(failure(row), _REASON)]
        notes += [f"+{row.added or 0} -{row.removed or 0} lines"] if row.added or row.removed else []
        notes += [f"{row.repeats + 1} times"] if row.repeats else []
        notes += ["by a helper"] if row.agent else []
        who = row.word.replace("_", " ")
        bad = row.outcome == "failed" or bool(row.refusal)
        return Item(who, code, "; ".join(note for note in notes if note), bad, when(row.at)[11:16])

    def _command(self, row: StreamRow) -> str:
        """A command on one line, its own line breaks marked."""
        return " ↵ ".join(" ".join(line.split()) for line in self.out.text(row.text, _CALL).split("\n") if line.strip())

    def _tests(self, found: Story) -> Iterator[Item]:
        """Each command that ran tests: how often, and how its last run ended."""
        runs: dict[str, list[StreamRow]] = {}
        for row in found.said_and_done:
            if row.word == "test":
                runs.setdefault(plain(row.text), []).append(row)
        for rows in runs.values():
            last = rows[-1]
            failed = sum(row.outcome == "failed" for row in rows)
            often = f"{counted(len(rows), 'run')}{f', {failed} failed' if failed else ''}; " if len(rows) > 1 else ""
            note = f"{often}{'the last: ' if often else ''}{ended(last) or 'result not seen'}"
            yield Item(code=self._command(last), note=note, bad=last.outcome == "failed")

    def _bounded(self, most: int, what: str, rows: Sequence[Item]) -> Sequence[Item]:
        self._leave(f"{what} past a bound", max(0, len(rows) - most))
        return rows[:most]

    def _paragraphs(self, level: int, heading: str, texts: Iterable[str]) -> None:
        self.blocks.append(Heading(level, heading))
        self.blocks += [Paragraph(self.out.line(text, 4 * _LINE)) for text in texts if text.strip()]

    def _list(self, level: int, heading: str, rows: Iterable[Item]) -> None:
        if kept := tuple(rows):
            self.blocks += [Heading(level, heading), Items(kept)]

    def _leave(self, what: str, number: int) -> None:
        if number:
            self.left[what] = self.left.get(what, 0) + number
