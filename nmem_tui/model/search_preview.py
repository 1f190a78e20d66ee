"""A search hit in full: a call, a prompt, an episode, a session, a learning, a task, a decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import PurePath

from nmem.read.stories import Story
from nmem.read.views import SessionRow, StreamRow
from nmem.search.decisions import Decision
from nmem.text import fit, fit_path, lines, pad, printable, width
from nmem_tui.model import actions, episodes, learning_detail, stream, tasks, tasks_queries
from nmem_tui.model.figures import ago, day, duration, several
from nmem_tui.model.learnings import Detail
from nmem_tui.model.line import Line, cut, section, wrap
from nmem_tui.model.lists import Item, plain_items
from nmem_tui.model.now_cards import flat
from nmem_tui.model.search_queries import Moment, Past, Shown
from nmem_tui.model.story import StoryText
from nmem_tui.model.tasks_queries import Detail as TaskDetail

_LINES = 4_000
_LINKS = ("Broader:", "Related:")


def decision_title(found: Decision) -> str:
    """Where it is written."""
    return printable(f"Decision ─ {PurePath(found.path).name}:{found.line}")


def decision_lines(found: Decision, cells: int) -> Iterator[Line]:
    """Its lines, those too long for the pane over several."""
    fence = False
    for place, text in enumerate(found.text.splitlines()[:_LINES]):
        fence ^= text.lstrip().startswith(("```", "~~~"))
        yield from _line(text.replace("\t", "    "), cells, _tone(text, place, fence))


def _tone(text: str, place: int, fence: bool) -> str:
    if place == 0 or (not fence and text.startswith("#")):
        return "title"
    if text in _LINKS or text.startswith("Source: "):
        return "quiet"
    return "key" if text.startswith(("/when ", "/how ")) else "text"


def _line(text: str, cells: int, tone: str) -> Iterator[Line]:
    if width(text) < cells:
        yield [(f" {text}", tone)]
        return
    indent = " " * min(len(text) - len(text.lstrip()), 8)
    for row in wrap(printable(text), max(8, cells - 2 - len(indent)), _LINES):
        yield [(f" {indent}{row}", tone)]


_TASK_LABEL = 9
_PROMPT, _OUTPUT = 200, 60
"""Lines of what was asked, and of what it said last."""


def task_lines(found: TaskDetail, cells: int, at: int, zone: tzinfo | None) -> Iterator[Line]:
    """Its lines for so many cells."""
    one = found.task
    word, tone = tasks.state(one)
    took = f" · took {tasks.took(one, at)}" if one.over and one.started_at else ""
    yield [(word, tone), (f"{took} · written {ago(at - one.created_at)}", "quiet")]
    where = [one.project, one.client, f"session/{one.session_id[:8]}" if one.session_id else ""]
    yield [(" · ".join(printable(part) for part in where if part), "quiet")]
    why = tasks.waits(found.place, at, zone) if found.place else flat(one.reason)
    for place, row in enumerate(wrap(why, max(8, cells - _TASK_LABEL), 3) if why else ()):
        yield [(pad("" if place else "why", _TASK_LABEL), "quiet"), (row, "text")]
    yield []
    yield section("Asked", cells, free=0)
    yield from _task_text(one.prompt, cells, _PROMPT)
    if found.output.strip():
        yield []
        yield section("Said last", cells, free=0)
        yield from _task_text(found.output, cells, _OUTPUT)


def task_prompt(found: TaskDetail) -> str:
    """What was asked, as it is copied."""
    return tasks.plain_text(found.task.prompt)


def _task_text(text: str, cells: int, limit: int) -> Iterator[Line]:
    """A text with its own line breaks, folded to the width."""
    rows = [row for each in lines(text.strip("\n"), limit + 1) for row in tasks.folded(each, cells)]
    yield from ([(row, "text")] for row in rows[:limit])
    if len(rows) > limit:
        yield [(f"…  {actions.key_of('go')} goes to the task, which shows the rest", "quiet")]


_LABEL = 9
_COMMAND, _ANSWER, _SAID = 40, 60, 400
"""Lines of a call, of what it answered, of something said."""


def title(found: Shown | None) -> str:
    """The title of the frame."""
    if found is None:
        return "Preview"
    if isinstance(found.thing, Decision):
        return decision_title(found.thing)
    kind, _, rest = found.hit.id.partition("/")
    return printable(f"{'Call' if kind == 'obs' else kind.capitalize()} ─ {kind}/{rest[:20]}")


def items(found: Shown, cells: int, at: int, zone: tzinfo | None) -> Sequence[Item]:
    """The whole pane for so many cells."""
    thing = found.thing
    if isinstance(thing, Decision):
        return list(plain_items(list(decision_lines(thing, cells))))
    if isinstance(thing, Moment):
        return [
            *plain_items([cut(line, cells) for line in _moment(thing, cells, at, zone)]),
            *_around(thing, cells, zone),
        ]
    if isinstance(thing, Story):
        text = StoryText(thing, cells, zone, at, keys=False)
        return [Item(lambda room, place=place: text.line(place, room)) for place in range(len(text))]  # type: ignore[misc]
    if isinstance(thing, Detail):
        return learning_detail.items(thing, cells, at, zone)
    if isinstance(thing, Past):
        return list(plain_items([cut(line, cells) for line in _past(thing, cells, at, zone)]))
    if isinstance(thing, tasks_queries.Detail):
        return list(plain_items([cut(line, cells) for line in task_lines(thing, cells, at, zone)]))
    return list(plain_items([[], [(" it is gone", "quiet")]]))


def text(found: Shown) -> str:
    """The hit's own text, as it is copied; empty where what is shown is what there is."""
    if isinstance(found.thing, Decision):
        return found.thing.text
    if isinstance(found.thing, tasks_queries.Detail):
        return task_prompt(found.thing)
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
                yield [(f"…  the rest is at its place in the stream: {actions.key_of('go')} goes there", "quiet")]
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
    yield section("Call", cells, stream.word(row.word)[0])
    yield from _paragraphs(row.text, cells, _COMMAND)
    if done.answer:
        yield []
        yield section("Answered", cells)
        yield from _paragraphs(done.answer, cells, _ANSWER)


def _when(found: Moment, at: int, zone: tzinfo | None) -> Iterator[Line]:
    row = found.row
    name, tone = stream.word(row.word)
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
    how, tone = stream.outcome(row)
    more = " · ".join(part for part in (duration(row.duration_ms), stream.change(row)) if part)
    if how or more:
        yield _field("outcome", [(how, tone), (f"{' · ' if how else ''}{more}" if more else "", "quiet")])
    if row.repeats:
        yield _field("again", [(f"{several(row.repeats, 'more time')} within five minutes", "text")])


def _around(found: Moment, cells: int, zone: tzinfo | None) -> Iterator[Item]:
    if len(found.around) < 2:
        return
    yield from plain_items([[], section("Around it", cells, f"{actions.key_of('go')} goes there")])
    for each in found.around:
        here = each.key == found.row.key
        yield Item(lambda room, each=each, here=here: _neighbour(each, here, room, zone))  # type: ignore[misc]


def _neighbour(row: StreamRow, here: bool, cells: int, zone: tzinfo | None) -> Line:
    return [("▸" if here else " ", "accent"), *stream.draw(row, max(8, cells - 1), zone)]


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
