"""A hit in full: the story of a call, a prompt as it was, an episode's story, a session, a learning, a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from nmem.read.stories import Story
from nmem.read.views import SessionRow, StreamRow
from nmem.search.decisions import Decision
from nmem.text import fit, fit_path, lines, pad, printable, width
from nmem_tui.model import episodes, keyed, learnings_detail, rows, search_decision, search_task, tasks_reading
from nmem_tui.model.figures import ago, day, duration, several
from nmem_tui.model.items import Item, plain
from nmem_tui.model.learnings_reading import Detail
from nmem_tui.model.line import Line, cut, section, wrap
from nmem_tui.model.search_reading import Moment, Past, Shown
from nmem_tui.model.story import StoryText
from nmem_tui.model.unit import flat

_LABEL = 9
_COMMAND, _ANSWER, _SAID = 40, 60, 400
"""Lines of a call, of what it answered, of something said."""


def title(found: Shown | None) -> str:
    """The title of the frame."""
    if found is None:
        return "Preview"
    if isinstance(found.thing, Decision):
        return search_decision.title(found.thing)
    kind, _, rest = found.hit.id.partition("/")
    return printable(f"{'Call' if kind == 'obs' else kind.capitalize()} ─ {kind}/{rest[:20]}")


def items(found: Shown, cells: int, at: int, zone: tzinfo | None) -> Sequence[Item]:
    """The whole pane for so many cells."""
    thing = found.thing
    if isinstance(thing, Decision):
        return list(plain(list(search_decision.lines(thing, cells))))
    if isinstance(thing, Moment):
        return [*plain([cut(line, cells) for line in _moment(thing, cells, at, zone)]), *_around(thing, cells, zone)]
    if isinstance(thing, Story):
        text = StoryText(thing, cells, zone, at, keys=False)
        return [Item(lambda room, place=place: text.line(place, room)) for place in range(len(text))]  # type: ignore[misc]
    if isinstance(thing, Detail):
        return learnings_detail.items(thing, cells, at, zone)
    if isinstance(thing, Past):
        return list(plain([cut(line, cells) for line in _past(thing, cells, at, zone)]))
    if isinstance(thing, tasks_reading.Detail):
        return list(plain([cut(line, cells) for line in search_task.told(thing, cells, at, zone)]))
    return list(plain([[], [(" it is gone", "quiet")]]))


def text(found: Shown) -> str:
    """The hit's own text, as it is copied; empty where what is shown is what there is."""
    if isinstance(found.thing, Decision):
        return found.thing.text
    if isinstance(found.thing, tasks_reading.Detail):
        return search_task.asked(found.thing)
    if not isinstance(found.thing, Moment):
        return ""
    done = found.thing.done
    answer = f"\n\n{done.answer}" if done and done.answer else ""
    return "\n".join(lines(f"{found.thing.row.text}{answer}", 4000))


def _field(name: str, value: Line) -> Line:
    return [(pad(name, _LABEL), "quiet"), *value]


def _long(name: str, value: str, cells: int, limit: int, tone: str = "text") -> Iterator[Line]:
    for place, row in enumerate(wrap(value, max(8, cells - _LABEL), limit)):
        yield _field("" if place else name, [(row, tone)])


def _paragraphs(value: str, cells: int, limit: int) -> Iterator[Line]:
    """A text with its own line breaks, each line wrapped."""
    made = 0
    for row in lines(value.strip("\n"), limit + 1):
        for piece in _kept(row, cells):
            if made == limit:
                yield [(f"…  the rest stands where it was said: {keyed.of('go')} goes there", "quiet")]
                return
            made += 1
            yield [(piece, "text")]


def _kept(row: str, cells: int) -> list[str]:
    """One line; its blanks stay where it fits."""
    return [row] if width(row) <= cells else wrap(row, cells, 60)


def _moment(found: Moment, cells: int, at: int, zone: tzinfo | None) -> Iterator[Line]:
    row, done = found.row, found.done
    yield from _when(found, at, zone)
    if done is not None:
        yield from _outcome(found)
        if row.path:
            yield _field("file", [(fit_path(printable(row.path), cells - _LABEL), "strong")])
    if found.asked is not None:
        yield from _long("asked", flat(found.asked.text), cells, 3, "user")
    if found.episode is not None:
        name = fit(flat(found.episode.name), max(8, cells - _LABEL - 14))
        yield _field("episode", [(f"{found.episode.id}", "accent"), (f"  {name}", "text")])
    yield []
    if done is None:
        yield from _paragraphs(row.text, cells, _SAID)
        return
    yield section("Call", cells, rows.word(row.word)[0])
    yield from _paragraphs(row.text, cells, _COMMAND)
    if done.answer:
        yield []
        yield section("Answered", cells)
        yield from _paragraphs(done.answer, cells, _ANSWER)


def _when(found: Moment, at: int, zone: tzinfo | None) -> Iterator[Line]:
    row = found.row
    name, tone = rows.word(row.word)
    stored = printable(row.word.replace("/", ", "))
    yield [(name, tone), (f"  {stored}" if stored != name else "", "quiet"),
           (f" · {day(row.at, zone)}", "text"), (f" · {ago(at - row.at)}", "quiet")]  # fmt: skip
    if found.session:
        yield _where(found.session)


def _where(one: SessionRow) -> Line:
    parts = [one.project, one.branch, one.client, one.id[:8]]
    return [(" · ".join(printable(part) for part in parts if part), "quiet")]


def _outcome(found: Moment) -> Iterator[Line]:
    row = found.row
    how, tone = rows.outcome(row)
    more = " · ".join(part for part in (duration(row.duration_ms), rows.change(row)) if part)
    if how or more:
        yield _field("outcome", [(how, tone), (f"{' · ' if how else ''}{more}" if more else "", "quiet")])
    if row.repeats:
        yield _field("again", [(f"{several(row.repeats, 'more time')} within five minutes", "text")])


def _around(found: Moment, cells: int, zone: tzinfo | None) -> Iterator[Item]:
    if len(found.around) < 2:
        return
    yield from plain([[], section("Around it", cells, f"{keyed.of('go')} goes there")])
    for each in found.around:
        here = each.key == found.row.key
        yield Item(lambda room, each=each, here=here: _neighbour(each, here, room, zone))  # type: ignore[misc]


def _neighbour(row: StreamRow, here: bool, cells: int, zone: tzinfo | None) -> Line:
    return [("▸" if here else " ", "accent"), *rows.draw(row, max(8, cells - 1), zone)]


def _past(found: Past, cells: int, at: int, zone: tzinfo | None) -> Iterator[Line]:
    one, told = found.session, found.summary
    intent = flat(told.intent if told else one.intent)
    yield from ([(row, "strong")] for row in wrap(intent or "nothing was asked in it", cells, 3))
    yield [(day(one.started_at, zone)[:16], "text"), (f" · {ago(at - one.started_at)}", "quiet")]
    yield _where(one)
    if told is not None:
        yield []
        yield section("Summary", cells, printable(told.narrator))
        groups = (("learned", told.learned, "◆"), ("completed", told.completed, "✓"), ("next", told.next_steps, "→"),
                  ("notes", tuple(told.notes.split("\n")) if told.notes else (), "·"))  # fmt: skip
        for name, group, glyph in groups:
            for number, each in enumerate(group[:12]):
                for place, row in enumerate(wrap(flat(each), max(8, cells - _LABEL - 4), 4)):
                    label = "" if number or place else name
                    yield [(pad(label, _LABEL + 2), "quiet"), (f"{' ' if place else glyph} ", "accent"), (row, "text")]
    if found.episodes:
        yield []
        yield section("Episodes", cells, several(len(found.episodes), "episode"))
        for unit in found.episodes[:60]:
            how, tone = episodes.ended(unit.outcome)
            room = max(8, cells - width(how) - 10)
            yield [(pad(str(unit.id), 7), "accent"), (pad(flat(unit.name), room), "text"), (f"  {how}", tone)]
