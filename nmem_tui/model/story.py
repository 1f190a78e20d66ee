"""An episode's story as lines: its goal, its outcome, its narrative, and everything said and done in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from nmem.learn.learning import Warned
from nmem.read.episode_store import Link, cut_title
from nmem.read.stories import SMOOTH, Judged, Narrative, Story
from nmem.read.views import StreamRow
from nmem.text import fit, fit_path, lines, pad, printable, width
from nmem_tui.model import actions, learnings, now_cards, stream, symbols
from nmem_tui.model.episodes import friction, state
from nmem_tui.model.figures import age, ago, clock, day, filled, several
from nmem_tui.model.line import Line, cut, fit_words, fitting, joined, length, section, wrap
from nmem_tui.model.now_cards import flat
from nmem_tui.model.symbols import Sign

_LABEL = 10
_ROOMY = 60
"""Cells from which on a file's heat is drawn as well."""
_WIDE = 1_000_000
"""Cells in which nothing is cut: for a text that leaves the screen."""
_RULE = 100
"""Cells of the line beside a heading there."""
_BEGINNING = 40
"""Characters by which a name is known to be the intent's beginning."""
_TITLE = 28
"""Cells of the name of a linked thread before its score is told."""
_SAID = {"user": 14, "closing": 10, "summary": 10}
"""Lines that a saying may take, by who or what; others take two."""


class StoryText:
    """The lines of one story for one width; rows of actions are drawn when they come on screen."""

    def __init__(
        self, story: Story, cells: int, zone: tzinfo | None, at: int, warned: Sequence[Warned] = (), *,
        keys: bool = True,
    ) -> None:  # fmt: skip
        self.story, self.cells, self.zone = story, cells, zone
        self._keys = keys
        """Whether the keys of the screen Episodes apply where it is shown."""
        self._items: list[Line | StreamRow] = []
        self._owners: list[int | None] = []
        self._rows: dict[int, StreamRow] = {}
        """Place -> the recorded row that it tells of."""
        for line in _head(story, cells, zone, at, warned, keys):
            self._put(cut(line, cells))
        self._decisions: dict[int, int] = {}
        for decision, line in _decided(story, cells, zone, keys=keys):
            if decision:
                self._decisions[len(self._items)] = decision
            self._put(cut(line, cells))
        self._paths: dict[int, str] = {}
        for path, line in _account(story, cells, at, keys):
            if path:
                self._paths[len(self._items)] = path
            self._put(cut(line, cells))
        self._told(cells)

    def __len__(self) -> int:
        return len(self._items)

    def _put(self, item: Line | StreamRow, owner: int | None = None) -> None:
        self._items.append(item)
        self._owners.append(owner)

    def line(self, place: int, cells: int) -> Line:
        """The line at a place."""
        item = self._items[place]
        if cells >= _WIDE and isinstance(item, StreamRow):
            cells = max(_RULE, width(flat(item.text)) + _RULE)
        return stream.draw(item, cells, self.zone) if isinstance(item, StreamRow) else item

    def prompt(self, place: int) -> int | None:
        """The prompt of the person's that the line at a place is a part of."""
        return self._owners[place] if 0 <= place < len(self._owners) else None

    def row(self, place: int) -> StreamRow | None:
        """The recorded row that the line at a place tells of."""
        return self._rows.get(place)

    def decision(self, place: int) -> int | None:
        """The decision that the line at a place tells; where the story has a single one, that one anywhere."""
        only = self.story.decisions[0].id if len(self.story.decisions) == 1 else None
        return self._decisions.get(place, only)

    def path(self, place: int) -> str:
        """The file that the line at a place is about; empty: none."""
        row = self._rows.get(place)
        return self._paths.get(place, row.path if row else "")

    def next_prompt(self, place: int, step: int) -> int | None:
        """The first line of the next prompt in a direction."""
        here = self.prompt(place)
        at = place + step
        while 0 <= at < len(self._owners):
            owner = self._owners[at]
            if owner is not None and owner != here and (not at or self._owners[at - 1] != owner):
                return at
            at += step
        return None

    def place_of(self, prompt_id: int) -> int | None:
        """The first line of a prompt."""
        return self._owners.index(prompt_id) if prompt_id in self._owners else None

    def _told(self, cells: int) -> None:
        story = self.story
        self._put([])
        self._put(
            _section("Dialogue and actions", f"{several(len(story.said_and_done) + story.left_out, 'row')}", cells)
        )
        if not story.said_and_done:
            self._put([("nothing was recorded here", "quiet")])
        for number, row in enumerate(story.said_and_done):
            if story.left_out and number == 400:
                self._put(
                    [(f"   … {several(story.left_out, 'row')} in between: `1` shows them all in the stream", "warn")]
                )
            first = len(self._items)
            self._tell(row, cells)
            self._rows |= dict.fromkeys(range(first, len(self._items)), row)

    def _tell(self, row: StreamRow, cells: int) -> None:
        if row.outcome:
            self._put(row)
            return
        source, _, kind = row.word.partition("/")
        owner = row.key // 2 if source == "user" else None
        if source == "user":
            self._put([], None)
        name, tone = stream.word(row.word)
        limit = _SAID.get(source, _SAID.get(kind, 2))
        text_tone = "strong" if source == "user" else "text" if limit > 2 else "quiet"
        badge = _badge(self.story.prompts.get(owner)) if owner is not None else []
        for number, text in enumerate(_paragraphs(row.text, cells - 18, limit)):
            left: Line = (
                [(f" {clock(row.at, self.zone)} ", "quiet"), (pad(name, 7) + " ", tone)]
                if not number
                else [(" " * 18, "text")]
            )
            self._put([*left, (text, text_tone)], owner)
        if badge:
            self._put([(" " * 18, "text"), *badge], owner)


def uncut(story: Story, zone: tzinfo | None, at: int, warned: Sequence[Warned] = ()) -> list[Line]:
    """The story for a clipboard or a file: nothing is cut, and a line is as long as it is."""
    told = StoryText(story, _WIDE, zone, at, warned, keys=False)
    return [told.line(place, _WIDE) for place in range(len(told))]


def _paragraphs(text: str, cells: int, limit: int) -> list[str]:
    """The text's own lines, each wrapped."""
    out: list[str] = []
    if cells > _WIDE // 2:
        return lines(text.strip(), text.count("\n") + 1)
    for row in lines(text.strip(), limit * 2):
        out += wrap(row, cells, limit + 1)
        if len(out) > limit:
            out = out[:limit]
            out[-1] = fit(out[-1], cells - 1).removesuffix("…") + "…"
            break
    return out or [""]


def _badge(judged: Judged | None) -> Line:
    """What was decided about a prompt, where that is worth a line."""
    if judged is None:
        return []
    if judged.offered:
        score = "" if judged.score is None else f", {judged.score:.0%} likely a new task"
        return [(f"? nearly cut here{score}", "warn"), (f"  {actions.key_of('split')} splits", "quiet")]
    if judged.by == "person" and judged.label != "new":
        return [("✓ you said it belongs here", "good")]
    return []


def _section(name: str, more: str, cells: int) -> Line:
    return section(name, cells if cells < _WIDE else _RULE, more)


def _field(name: str, text: str, cells: int, limit: int = 4, tone: str = "text") -> Iterator[Line]:
    for number, row in enumerate(wrap(text, cells - _LABEL, limit)):
        yield [(pad(name if not number else "", _LABEL), "quiet"), (row, tone)]


def _head(
    story: Story, cells: int, zone: tzinfo | None, at: int, warned: Sequence[Warned], keys: bool
) -> Iterator[Line]:
    told = flat(story.intent) != flat(story.row.name)
    # what the intent begins with is told once
    twice = told and cells < _WIDE and flat(story.intent).startswith(flat(story.row.name)[:_BEGINNING])
    for text in wrap(flat(story.row.name), cells, 1 if twice else 3):
        yield [(text, "strong")]
    yield from _state(story, cells, zone, at)
    yield []
    if told:
        yield from _field("intent", flat(story.intent), cells, 8)
    none = "open: written when it ends" if story.row.state == "open" else "no test result, no commit"
    known = now_cards.outcome(story.row.outcome)
    if known or not story.ended:  # else the narrative says how it ended
        yield [(pad("outcome", _LABEL), "quiet"), *(known or [(none, "quiet")])]
    yield from _obstacle(story, cells)
    yield from _warned(warned, cells)
    yield from _belongs(story, cells, keys)
    *sure, (reason, tone) = now_cards.why(story.cut_reason, story.cut_by, story.cut_confidence)
    first, *rest = wrap(reason, cells - _LABEL - length(sure) - 2, 3) or [""]
    yield [(pad("starts at", _LABEL), "quiet"), *sure, ("  " if sure else "", "text"), (first, tone)]
    for row in rest:
        yield [(" " * _LABEL, "text"), (row, tone)]


def _account(story: Story, cells: int, at: int, keys: bool) -> Iterator[tuple[str, Line]]:
    """What was told of it, its files with their paths, and its commits."""
    yield from (("", line) for line in _narrated(story, cells, at, keys))
    yield from _files(story, cells)
    yield from (("", line) for line in _committed(story, cells))


def _committed(story: Story, cells: int) -> Iterator[Line]:
    if story.commits:
        yield []
        yield _section("Commits", several(len(story.commits), "commit"), cells)
        for commit in story.commits:
            branch = f"  {printable(commit.branch)}" if commit.branch else ""
            yield [
                (pad(printable(commit.hash)[:9], _LABEL), "accent"),
                (flat(commit.message), "text"),
                (branch, "quiet"),
            ]


def _state(story: Story, cells: int, zone: tzinfo | None, at: int) -> Iterator[Line]:
    row = story.row
    glyph, tone = state(row)
    end = at if row.state == "open" else max([row.last_at, *(each.at for each in story.said_and_done[-1:])])
    active = f", active {age(row.active_ms)}" if row.active_ms >= 5000 else ""
    rough, rough_tone = friction(row.friction)
    known: list[Line] = [
        [(glyph, tone)],
        [("★ pinned", "warn")] if row.pinned else [],
        [(f"{age(end - row.started_at)}{active}", "text")],
        [(several(row.turns, "turn"), "text")],
        [(f"{rough}: friction {row.friction:.2f}", rough_tone)] if rough and row.friction is not None else [],
    ]
    if length(joined(known, " · ")) > cells:
        known[-1] = [(rough, rough_tone)]
    yield joined(known, " · ")
    where: list[tuple[int, Line]] = [
        (0, [(day(row.started_at, zone)[:16], "quiet")]), (1, [(printable(row.project), "quiet")]),
        (2, [(printable(story.branch), "accent")] if story.branch else []), (3, [(printable(story.client), "quiet")]),
    ]  # fmt: skip
    yield fitting([part for part in where if part[1]], cells, " · ")


def _obstacle(story: Story, cells: int) -> Iterator[Line]:
    """What stood in its way: as the narrative says it, where that is of the episode as it is; else by the records."""
    narrative = story.narrative
    if narrative and narrative.obstacle and not narrative.stale:
        yield from _field("obstacle", flat(narrative.obstacle), cells, 6)
        return
    if not story.hindered:
        if story.smooth:
            yield [(pad("obstacle", _LABEL), "quiet"), (f"✓ {SMOOTH}", "good")]
        return
    committed = "– committed since" if story.obstacle_closed else "✗ still open"
    end = "✓ then it passed" if story.obstacle_mended else committed
    times = f"failed {several(story.obstacle_times, 'time')}  "
    told: Line = [
        (times, "quiet"),
        (end, "good" if story.obstacle_mended else "quiet" if story.obstacle_closed else "bad"),
    ]
    what, room = flat(story.obstacle), cells - _LABEL - length(told) - 2
    if room < min(width(what), _TITLE):
        yield from _field("obstacle", what, cells, 2)
        yield [(" " * _LABEL, "text"), *told]
    else:
        yield [(pad("obstacle", _LABEL), "quiet"), (fit(what, room) + "  ", "text"), *told]


def _warned(found: Sequence[Warned], cells: int) -> Iterator[Line]:
    """What it runs into again, and what tells."""
    for number, each in enumerate(found):
        yield [
            (pad("warned" if not number else "", _LABEL), "quiet"),
            *learnings.warning([each], max(8, cells - _LABEL)),
        ]
        opens = "; ! opens it" if not number else ""
        yield [(" " * _LABEL, "text"), (f"  it {flat(each.reason)}{opens}", "quiet")]


def _belongs(story: Story, cells: int, keys: bool) -> Iterator[Line]:
    """The thread, what it goes on with, what goes on with it, and the links."""
    if story.thread:
        over = f" ({several(story.thread.sessions, 'session')})"
        chosen: Line = [("  → the next session continues it", "good")] if story.thread.chosen else []
        title = fit_words(
            flat(cut_title(story.thread.title)) or "without a title", cells - _LABEL - width(over) - length(chosen)
        )
        yield [(pad("thread", _LABEL), "quiet"), (title, "accent"), (over, "quiet"), *chosen]
    if story.resumes:
        yield from _field("goes on", f"↩ {flat(story.resumes.name)}", cells, 2)
    for other in story.resumed_by:
        yield from _field("taken up", f"↪ {flat(other.name)}", cells, 1)
    for link in _worth_telling(story, cells):
        other_title = link.earlier if story.thread and link.later_id == story.thread.id else link.later
        said = {"correct": "✓ you said so", "incorrect": "✗ you said no"}.get(link.outcome, "")
        asks = link.certainty == "uncertain"
        sure = link.sure if link.linked or asks else ""
        key = " (l)" if asks and keys else ""
        verb = "same work as " if link.linked else "not the same as "
        reasons = f": {link.because}" if sure and link.because else ""
        full, short, bare = (said or f"{sure}{part}{key}" for part in (reasons, reasons.partition(",")[0], ""))
        scored = ", ".join(part for part in (f"score {link.score:.2f}", full) if part)
        ends = (f"  {scored}", f"  {full}", f"  {short}", f"  {bare}")
        title, room = flat(cut_title(other_title)), cells - _LABEL - width(verb)
        # the name says more than its score and its reasons
        least = min(width(title), _TITLE)
        end = next((end for end in ends if room - width(end) >= least), ends[-1]).rstrip()
        yield [
            (pad("link", _LABEL), "quiet"), (verb, "text"),
            (fit_words(title, max(8, room - width(end))), "accent"),
            (end, "good" if said else "warn" if asks else "quiet"),
        ]  # fmt: skip


def _worth_telling(story: Story, cells: int) -> list[Link]:
    """The links that get a line: that a thread is not another one is no news, unless that is an open question."""
    return [each for each in story.links if each.linked or each.asked or cells >= _WIDE]


def _decided(story: Story, cells: int, zone: tzinfo | None, *, keys: bool) -> Iterator[tuple[int, Line]]:
    """What the person settled, with its number: the question, their words, what replaced it."""
    if not story.decisions:
        return
    yield 0, []
    yield 0, _section("Decisions", several(len(story.decisions), "decision"), cells)
    for one in story.decisions:
        later = one.superseded
        for name, text, tone, limit in (
            ("asked", one.question, "quiet", 3), ("decided", one.text, "strong", 6),
            ("agent", one.restated, "quiet", 4),
        ):  # fmt: skip
            yield from ((one.id, line) for line in (_field(name, flat(text), cells, limit, tone) if text else ()))
        if later is not None:
            when = f"superseded on {day(later.at, zone)} by decision/{later.id}"
            yield one.id, [(" " * _LABEL, "text"), (when, "warn")]
    if keys:
        pairs = (("undecide", "no decision"), ("reword", "rewords"), ("promote", "to a /when entry"))
        hints: Line = [(" " * _LABEL, "text")]
        for action, text in pairs:
            hints += [(actions.key_of(action), "key"), (f" {text}  ", "quiet")]
        yield 0, hints


def _narrated(story: Story, cells: int, at: int, keys: bool) -> Iterator[Line]:
    yield []
    told = story.narrative
    if told is None:
        yield _section("Narrative", "none yet", cells)
        now: Line = [(actions.key_of("narrate"), "key"), (" writes one now; otherwise ", "quiet")] if keys else []
        yield [("no narrative yet: ", "quiet"), *now, ("it is written at the session's end", "quiet")]
    else:
        yield _section("Narrative", _narrator(told, at), cells)
        yield from _narrative(told, story.ended, cells, keys)
    if story.last_words:
        yield []
        yield _section("The agent's last words", "", cells)
        for text in _paragraphs(story.last_words, cells, 8):
            yield [(text, "text")]
        if story.answered:
            yield from ([(text, "text")] for text in _paragraphs(f"You answered: “{story.answered}”", cells, 2))
    if story.client_summary:
        yield []
        yield _section("The client's summary at compaction", "", cells)
        for text in _paragraphs(story.client_summary, cells, 8):
            yield [(text, "quiet")]


def _narrator(told: Narrative, at: int) -> str:
    when = f", {ago(at - told.at)}" if told.at else ""
    if told.by_model:
        return f"written by {printable(told.narrator)}{when}"
    return f"summary without a model{when}"


def _narrative(told: Narrative, ended: str, cells: int, keys: bool) -> Iterator[Line]:
    if told.stale:
        anew: Line = (
            [(": ", "warn"), (actions.key_of("narrate"), "key"), (" writes a new one", "quiet")] if keys else []
        )
        yield [("! the episode has changed since", "warn"), *anew]
    if told.fallback:
        yield from _field("no model", flat(told.fallback), cells, 2, "warn")
    first, *later = told.requests
    yield from _field("wanted", flat(first), cells, 6)
    for number, text in enumerate(later):
        yield from _field("" if number else "later", flat(text), cells, 2)
    if ended:
        yield from _field("ended", flat(ended), cells, 3)
    groups = (
        ("learned", told.learned, "◆"), ("completed", told.completed, "✓"), ("next", told.next_steps, "→"),
        ("notes", told.notes, "·"),
    )  # fmt: skip
    for name, items, glyph in groups:
        for number, item in enumerate(items if cells >= _WIDE else items[:12]):
            for place, row in enumerate(wrap(flat(item), cells - _LABEL - 2, 4)):
                label = name if not number and not place else ""
                yield [(pad(label, _LABEL), "quiet"), (f"{glyph if not place else ' '} ", "accent"), (row, "text")]


def _files(story: Story, cells: int) -> Iterator[tuple[str, Line]]:
    if not story.hot:
        return
    yield "", []
    yield "", _section("Files", several(len(story.hot), "file"), cells)
    bars = 8 if cells >= _ROOMY else 0
    room, top = max(8, min(60, cells - 42 - bars)), max(file.weight for file in story.hot)
    if cells >= _WIDE:
        room = max(width(printable(file.path)) for file in story.hot)
    for file in story.hot if cells >= _WIDE else story.hot[:20]:
        failed: Line = [(f"  ✗ in {several(file.failures, 'failure')}", "bad")] if file.failures else []
        done = filled(file.weight, top, bars)
        bar: Line = [(symbols.now().bar * done, "bar"), (" " * (bars - done) + "  ", "text")] if bars else []
        counts = f"read {file.reads}, changed {file.edits}"
        path = pad(fit_path(printable(file.path), room), room) + "  "
        yield file.path, cut([(path, "text"), *bar, (pad(counts, 18), "quiet"), *failed], cells)


SIGNS = (
    Sign("↪", "the later episode that goes on with this one", "accent"),
    Sign("◆ ✓ → ·", "of the narrative: learned, completed, next, notes", "accent"),
    Sign("(l)", f"a link that is not sure: {actions.key_of('link')} answers", "warn"),
    Sign("✓ ✗ you said", "a link that you answered", "good"),
)
