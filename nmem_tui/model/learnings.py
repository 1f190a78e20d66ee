"""The list of learnings (recurring failures and requests): its queries, its lines, the rule each may become.

It is also what the tabs count, and what an episode is warned of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, NamedTuple

from nmem.errors import NmemError
from nmem.learn import kinds, places, read, report, rules
from nmem.learn.learning import (
    ACCEPTED,
    DISMISSED,
    FIX,
    OPEN,
    RESOLVED,
    SKILL,
    SNOOZED,
    STATES,
    Evidence,
    Learning,
    Warned,
)  # fmt: skip
from nmem.learn.store import clients
from nmem.read import lessons, stream, views
from nmem.read.views import SessionRow, StreamRow
from nmem.text import fit, pad, printable, width
from nmem_tui.model import actions, symbols
from nmem_tui.model.figures import age, ago, filled, several
from nmem_tui.model.line import Line, cut, fitting, length, spread
from nmem_tui.model.lists import Words
from nmem_tui.model.now_cards import flat
from nmem_tui.model.symbols import Sign

if TYPE_CHECKING:
    from nmem.learn.accept import Plan
    from nmem.learn.lessons import Lesson
    from nmem.learn.skill_use import Use

ALL = "all"
SKILLS = "skills"
"""What goes well, listed apart."""
CHOICES = (*STATES, ALL, SKILLS)
"""What the list can be narrowed to, in the order in which the key goes through it; skills only where there are any."""
HOT = "hot"
"""The warmth that the tab counts."""
_WARMTH = {HOT: "bad", "warm": "warn", "cool": "quiet"}
_OLD_MS = 60 * 86_400_000
"""What was met last so long ago does not stand out any more."""
_READABLE = 28
"""Cells that a pattern keeps before more is said of it."""
_STATES = {
    OPEN: ("● open", "accent"), ACCEPTED: ("§ accepted", "good"), SNOOZED: ("◔ snoozed", "quiet"),
    DISMISSED: ("– dismissed", "quiet"), RESOLVED: ("✓ resolved", "good"),
}  # fmt: skip


def warmth(heat: int) -> tuple[str, str]:
    """The word for a heat, and its tone."""
    word = report.word(heat)
    return word, _WARMTH.get(word, "text")


def state(one: Learning) -> tuple[str, str]:
    """Where it stands: glyph and word, and its tone."""
    return _STATES.get(one.state) or (printable(one.state)[:11], "quiet")


def kind(one: Learning) -> tuple[str, str, str]:
    """Its kind in a word, in a few words, and its tone."""
    words = kinds.words(one.kind)
    return words.short, words.label, words.tone


def gauge(one: Learning, cells: int, at: int) -> Line:
    """Heat as a bar, a number and a word; quiet where it is old, and `past` where it is over."""
    heat = one.heat
    word, tone = warmth(heat)
    if one.state in (RESOLVED, DISMISSED):
        word, tone = "past", "quiet"
    elif at - one.last_at > _OLD_MS:
        tone = "quiet"
    done = filled(heat, 100, cells)
    return [
        (symbols.now().bar * done, tone),
        (symbols.now().track * (cells - done), "off"),
        (f" {heat:>3} ", "strong"),
        (pad(word, 4), tone),
    ]


class Shape:
    """Which columns there is room for, and how wide they are: a pattern has what it needs before others get more."""

    def __init__(self, found: Sequence[Learning], *, states: bool, where: bool) -> None:
        self.states, self.where = states, where
        self._longest = max((width(_marks(one)) + width(flat(one.title)) + 1 for one in found), default=0)

    def fit(self, cells: int) -> Fitted:
        """The columns for so many cells."""
        bar, kind, met = 5, 6, 9
        end = [("state", 12, self.states and cells >= 72), ("project", 14, self.where and cells >= 72),
               ("sessions", 9, cells >= 76), ("last met", met, True)]  # fmt: skip
        spare = cells - bar - _HEAT - kind - sum(size for _, size, there in end if there) - self._longest
        kind, spare = (_KIND, spare - _KIND + kind) if spare >= _KIND - kind else (kind, spare)
        met, spare = (_AGO, spare - _AGO + met) if spare >= _AGO - met else (met, spare)
        bar = 8 if spare >= 3 else bar
        shown = [(name, met if name == "last met" else size) for name, size, there in end if there]
        return Fitted(bar, kind, max(0, cells - bar - _HEAT - kind - sum(size for _, size in shown)), shown)


class Fitted(NamedTuple):
    """Cells of the parts of a row."""

    bar: int
    kind: int
    title: int
    end: list[tuple[str, int]]


_HEAT, _KIND, _AGO = 11, 17, 15
"""Cells of a heat's number and word, and of a kind and a time that are told in full."""


def columns(shape: Shape, cells: int) -> Line:
    """What stands over the list."""
    bar, kind, title, others = shape.fit(cells)
    end = "".join(pad(name, size, right=name != "state" and name != "project") for name, size in others)
    return cut([(pad("heat", bar + _HEAT) + pad("kind", kind) + pad("pattern", title) + end, "quiet")], cells)


def _marks(one: Learning) -> str:
    """What a pattern's name begins with: that it came back, that something mends it."""
    return (f"↺{one.reopened} " if one.reopened else "") + ("✓ " if one.remedy else "")


def row(one: Learning, shape: Shape, cells: int, at: int) -> Line:
    """A learning in exactly `cells` cells."""
    bar, wide, room, others = shape.fit(cells)
    short, words, tone = kind(one)
    marks = _marks(one)
    title = fit(flat(one.title), max(1, room - width(marks) - 1))
    hot = warmth(one.heat)[0] == HOT and one.state == OPEN and at - one.last_at <= _OLD_MS
    line: Line = [
        *gauge(one, bar, at), ("  ", "text"), (pad(words if wide == _KIND else short, wide), tone),
        (marks[:-2] if one.remedy else marks, "warn"), ("✓ " if one.remedy else "", "good"),
        (pad(title, max(0, room - width(marks))), "strong" if hot else "text"),
    ]  # fmt: skip
    known = {
        "state": (state(one)[0], state(one)[1]), "project": (flat(one.project), "quiet"),
        "sessions": (str(one.sessions), "text"),
    }  # fmt: skip
    for name, size in others:
        told = ago if size == _AGO else age
        text, look = known.get(name) or (told(at - one.last_at), "quiet")
        left = name in ("state", "project")
        line.append((pad(text, size - 1) + " " if left else pad(text, size, right=True), look))
    return cut(line, cells)


def bar(counts: Mapping[str, int], chosen: str, cells: int) -> Line:
    """The states with their counts; the one that is listed is marked."""
    parts: list[tuple[int, Line]] = []
    for rank, name in enumerate(CHOICES):
        number = counts.get(name, 0)
        if name == SKILLS and not number:
            continue
        here = name == chosen
        look = "tab" if here else "quiet" if number else "off"
        parts.append(
            (
                -1 if here else rank if number else rank + len(CHOICES),
                [("▸" if here else " ", "accent"), (f"{name} {number}", look)],
            )
        )
    more: Line = [(f"{actions.key_of('projects')} ", "key"), ("projects ", "quiet")]
    room = cells - 3 - length(more)
    if room < _READABLE:
        return [(f" {actions.key_of('next_state')} ", "key"), *fitting(parts, max(8, cells - 3), "  ")]
    return spread([(f" {actions.key_of('next_state')} ", "key"), *fitting(parts, room, "  ")], more, cells)


def header(counts: Mapping[str, int], hot: int, elsewhere: int, where: str, cells: int) -> Line:
    """The one line on top; what is hot in other projects is said where nothing is hot in this one."""
    warm: Line = [(f"▲ {hot} hot", "bad")] if hot else [("nothing hot", "good")]
    if elsewhere and not hot:
        warm = [
            ("nothing hot here", "good"),
            (f", {elsewhere} elsewhere: ", "quiet"),
            (actions.key_of("projects"), "key"),
        ]
    parts: list[tuple[int, Line]] = [
        (0, [(" nmem ▸ ", "quiet"), (where, "title")]),
        (1, [(several(counts.get(OPEN, 0), "open learning"), "text")]), (2, warm),
        (3, [(f"{counts.get(RESOLVED, 0)} resolved, {counts.get(ACCEPTED, 0)} accepted", "quiet")]),
    ]  # fmt: skip
    return fitting(parts, cells, "   ")


def matching(words: Words, found: Sequence[Learning]) -> list[Learning]:
    """The learnings that pass a filter."""
    return [one for one in found if words.match(_words(one))] if words else list(found)


def _words(one: Learning) -> str:
    mended = f"{one.remedy.text} {' '.join(one.remedy.files)} {' '.join(one.remedy.commands)}" if one.remedy else ""
    about = f"{one.title} {' '.join(kind(one)[:2])} {one.project} {' '.join(one.files)}"
    return f"{about} {one.rule} {mended} {warmth(one.heat)[0]}".lower()


def warning(found: Sequence[Warned], cells: int) -> Line:
    """The hottest learning that an episode runs into again, in one line."""
    first, more = found[0].learning, len(found) - 1
    word, tone = warmth(first.heat)
    said, title = f"{kinds.words(first.kind).before}: ", flat(first.title)
    tail: Line = [(" heat ", "quiet"), (f"{first.heat} {word}", tone), (f" +{more}" if more else "", "quiet")]
    room = cells - width(said) - 4 - length(tail)
    extras: Line = [(f" ({several(first.sessions, 'session')})", "quiet")]
    extras += [(" ✓ fix known", "good")] if first.remedy else []
    for extra in extras:
        if room - width(extra[0]) >= min(_READABLE, width(title)):
            tail.append(extra)
            room -= width(extra[0])
    return cut([("! ", "key"), (said, "warn"), (f"“{fit(title, max(8, room))}”", "text"), *tail], cells)


def since(one: Learning, at: int) -> Line:
    """Where it stands, and since when, in words."""
    word, tone = state(one)
    line: Line = [(word, tone)]
    if one.state == SNOOZED and one.snoozed_until is not None:
        return [*line, (f" for another {age(one.snoozed_until - at)}", "quiet")]
    if one.state_at is not None and one.state != OPEN:
        by = " by you" if one.state_by == "person" else ": it passed since" if one.state == RESOLVED else ""
        line.append((f" {ago(at - one.state_at)}{by}", "quiet"))
    if one.reopened:
        line.append((f"  ↺ came back {several(one.reopened, 'time')} after it was resolved", "warn"))
    return line


PROJECT, EVERYWHERE, ACROSS = "project", "everywhere", "across"
SCOPES = (PROJECT, EVERYWHERE, ACROSS)
LIMIT = 1000
_HELD = (OPEN, ACCEPTED)
"""States in which a skill is listed."""
_EVIDENCE = 80
_IN_BETWEEN = 12


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose learnings: of one project, of all, or the patterns that several projects share."""

    kind: str
    project: str = ""
    """Name, key or root of the one."""
    name: str = ""
    """How it is called on screen."""

    @property
    def words(self) -> str:
        """The scope in a few printable words."""
        shared = "across projects" if self.kind == ACROSS else "all projects"
        return printable(self.name or self.project) if self.kind == PROJECT else shared


@dataclass(frozen=True, slots=True)
class Listing:
    """The learnings of a scope in one state, and how many are in each."""

    scope: Scope
    state: str
    found: tuple[Learning, ...]
    counts: Mapping[str, int]
    hot: int
    elsewhere: int
    """Learnings of all projects, whatever their state."""
    hot_elsewhere: int = 0
    """Hot ones of other projects."""


@dataclass(frozen=True, slots=True)
class Detail:
    """One learning with all that is kept of it."""

    learning: Learning
    evidence: tuple[Evidence, ...]
    sessions: Mapping[str, SessionRow]
    between: tuple[StreamRow, ...]
    """What was done between a failing run and the passing one, then that run."""
    rule: str
    """What accepting it would write."""
    use: Use | None = None
    """Of a skill: whether it is of use."""
    lesson: Lesson | None = None
    """Whether it holds; None of a pattern of several projects."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that a rule may go into."""

    name: str
    exists: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """What accepting a learning would do, or why it cannot be done so."""

    text: str
    """The wording it was asked with."""
    rule: str
    plan: Plan | None
    trouble: str
    files: tuple[Candidate, ...]
    """Where the rule may go."""


def _project(db: Connection, scope: Scope) -> int | None:
    """The id of the project; -1 for one of which nothing is recorded, None where all count."""
    if scope.kind != PROJECT:
        return None
    try:
        return places.named(db, scope.project)[0]
    except NmemError:
        return -1


def listing(db: Connection, scope: Scope, state: str, at: int) -> Listing:
    """The hottest learnings of a scope in one state, or in all."""
    project, across = _project(db, scope), scope.kind == ACROSS
    every = read.learnings(db, at, project, STATES, across, LIMIT)
    skills = () if across else read.learnings(db, at, project, _HELD, limit=LIMIT, kinds=(SKILL,))
    if state == SKILLS:
        found = skills
    elif across and state != ALL:  # summed over those in this state
        found = read.learnings(db, at, project, (state,), across, LIMIT)
    else:
        found = tuple(one for one in every if state in (ALL, one.state))
    counts = Counter(one.state for one in every) + Counter({ALL: len(every), SKILLS: len(skills)})
    everywhere = every if project is None and not across else read.learnings(db, at, None, STATES, limit=LIMIT)
    warm = _hot(every)
    return Listing(scope, state, found, counts, warm, len(everywhere), max(0, _hot(everywhere) - warm))


def scope_of(kind: str, project: str, session: SessionRow | None) -> Scope:
    """The project is the one that the cockpit was opened for, else that of the session on Now; else all are."""
    if kind != PROJECT:
        return Scope(kind)
    if project:
        return Scope(kind, project)
    return Scope(kind, session.root or session.project, session.project) if session else Scope(EVERYWHERE)


def hot(db: Connection, scope: Scope, at: int) -> int:
    """How many open learnings of a scope are hot: what the screen's header says as well."""
    return _hot(read.learnings(db, at, _project(db, scope), STATES, scope.kind == ACROSS, LIMIT))


def _hot(found: Sequence[Learning]) -> int:
    return sum(one.state == OPEN and warmth(one.heat)[0] == HOT for one in found)


def detail(db: Connection, one: Learning) -> Detail:
    """A listed learning with its evidence, its sessions and what put it right.

    The newest session comes first; within one, what happened first, so that a failure stands above what mended it.
    """
    ids = one.members or (one.id,)
    newest = sorted(
        (each for member in ids for each in read.evidence(db, member, _EVIDENCE)), key=lambda each: -each.at
    )[:_EVIDENCE]
    proofs = [each for _, ours in grouped(newest) for each in reversed(ours)]
    sessions = {each: views.session(db, each) for each in dict.fromkeys(proof.session_id for proof in proofs)}
    keys = [2 * each + 1 for each in one.remedy.observation_ids[-_IN_BETWEEN:]] if one.remedy else []
    rows = stream.rows(db, keys)
    use = None
    if one.kind == SKILL:
        from nmem.learn import skill_use  # on use: start-up stays short

        use = skill_use.of(db, one)
    return Detail(
        one, tuple(proofs), {key: row for key, row in sessions.items() if row},
        tuple(rows[key] for key in keys if key in rows), _rule(one), use, None if one.members else lessons.of(db, one),
    )  # fmt: skip


def _rule(one: Learning) -> str:
    return one.rule or rules.rule(one)


def offer(db: Connection, learning_id: int, now: int, file: str, text: str, here: str) -> Offer:
    """What would be written where; where that cannot be, why, and which files could be named instead."""
    from nmem.learn import accept, files, promote  # on use: start-up stays short

    one = read.learning(db, learning_id, now)
    skill = one is not None and one.kind == SKILL and not text and (not file or files.is_skill(file))
    rule = text or (_rule(one) if one else "")
    try:
        if skill:
            planned = promote.plan(db, learning_id, now, here)
        else:
            planned = accept.plan(db, learning_id, now, file, text, here)
    except NmemError as error:
        return Offer(text, rule, None, str(error), _elsewhere(db, one, here))
    return Offer(text, planned.rule, planned, "", tuple(candidates(planned.file.root, planned.file.name)))


def _elsewhere(db: Connection, one: Learning | None, here: str) -> tuple[Candidate, ...]:
    """The files of instructions of each checkout of the project, by their whole paths."""
    from nmem.learn import files  # on use: start-up stays short

    roots = places.checkouts(db, one.project_id, here) if one else ()
    return tuple(
        Candidate(str(Path(root, each.name)), each.exists)
        for root in roots
        for each in candidates(root, files.chosen(root, clients(db, one.project_id if one else 0)))
    )


def candidates(root: str, chosen: str) -> list[Candidate]:
    """The files of a project that clients read: the chosen one first, then those that are there."""
    from nmem.learn import files  # on use: start-up stays short

    names = dict.fromkeys([chosen, *(name for names in files.NAMES.values() for name in names), *files.OTHERS])
    found = [Candidate(name, Path(root, name).exists()) for name in names]
    return sorted(found, key=lambda each: (each.name != chosen, not each.exists))


def moment(proof: Evidence) -> tuple[int, int] | None:
    """Time and key of the stream's row that a piece of evidence is; None when it is forgotten."""
    if proof.observation_id is not None:
        return proof.at, 2 * proof.observation_id + 1
    return (proof.at, 2 * proof.prompt_id) if proof.prompt_id is not None else None


def grouped(proofs: Sequence[Evidence]) -> list[tuple[str, list[Evidence]]]:
    """Evidence by session, the newest session first."""
    out: dict[str, list[Evidence]] = {}
    for proof in proofs:
        out.setdefault(proof.session_id, []).append(proof)
    return list(out.items())


def fixes(proofs: Sequence[Evidence]) -> int:
    """How many pieces of evidence tell of a fix."""
    return sum(proof.role == FIX for proof in proofs)


SIGNS = (
    Sign("{bar}{track} 60 hot", "heat: how often and how lately, 0 to 100; hot, warm, cool, past", "bad"),
    Sign("▲ 2 hot", "so many are hot here", "bad"),
    Sign("↺1", "it came back so often after it was resolved", "warn"),
    Sign("✓", "before a pattern: something that mends it is known", "good"),
    *(Sign(sign, {OPEN: "nobody has decided", ACCEPTED: "its rule stands in the project's instructions",
                  SNOOZED: "open again later", DISMISSED: "ignored for good",
                  RESOLVED: "fixed; it opens again if it comes back"}[name], tone)
      for name, (sign, tone) in _STATES.items()),
)  # fmt: skip
