"""A task in the pane beside the hits: where it stands, what was asked, what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from nmem.text import lines, pad, printable
from nmem_tui.model import keyed, tasks, tasks_detail
from nmem_tui.model.figures import ago
from nmem_tui.model.line import Line, section, wrap
from nmem_tui.model.tasks_reading import Detail
from nmem_tui.model.unit import flat

_LABEL = 9
_PROMPT, _OUTPUT = 200, 60
"""Lines of what was asked, and of what it said last."""


def told(found: Detail, cells: int, at: int, zone: tzinfo | None) -> Iterator[Line]:
    """Its lines for so many cells."""
    one = found.task
    word, tone = tasks.state(one)
    took = f" · took {tasks.took(one, at)}" if one.over and one.started_at else ""
    yield [(word, tone), (f"{took} · written {ago(at - one.created_at)}", "quiet")]
    where = [one.project, one.client, f"session/{one.session_id[:8]}" if one.session_id else ""]
    yield [(" · ".join(printable(part) for part in where if part), "quiet")]
    why = tasks.waits(found.place, at, zone) if found.place else flat(one.reason)
    for place, row in enumerate(wrap(why, max(8, cells - _LABEL), 3) if why else ()):
        yield [(pad("" if place else "why", _LABEL), "quiet"), (row, "text")]
    yield []
    yield section("Asked", cells, free=0)
    yield from _text(one.prompt, cells, _PROMPT)
    if found.output.strip():
        yield []
        yield section("Said last", cells, free=0)
        yield from _text(found.output, cells, _OUTPUT)


def asked(found: Detail) -> str:
    """What was asked, as it is copied."""
    return tasks_detail.plain_text(found.task.prompt)


def _text(text: str, cells: int, limit: int) -> Iterator[Line]:
    """A text with its own line breaks, folded to the width."""
    rows = [row for each in lines(text.strip("\n"), limit + 1) for row in tasks_detail.folded(each, cells)]
    yield from ([(row, "text")] for row in rows[:limit])
    if len(rows) > limit:
        yield [(f"…  {keyed.of('go')} goes to the task, which shows the rest", "quiet")]
