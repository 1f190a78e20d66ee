"""One task in full: where it stands and why, what was asked, how it is to be run, what happened to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from nmem.dispatch.task import HEADLESS, Task, TaskEvent
from nmem.text import fit_path, lines, pad, printable, width
from nmem_tui.model import keyed, tasks
from nmem_tui.model.figures import ago, clock, date, several
from nmem_tui.model.items import Item, plain
from nmem_tui.model.line import Line, cut, section, wrap
from nmem_tui.model.tasks_reading import Detail
from nmem_tui.model.unit import flat

SESSION, LEARNING, TASK = "session", "learning", "task"
"""What an item can stand for: enter goes there."""
_LABEL = 10
_PROMPT = 200
"""Lines of the prompt that are shown."""
_REASON = 4


def items(found: Detail, cells: int, at: int, zone: tzinfo | None) -> list[Item]:
    """The whole pane for so many cells."""
    return [
        *_head(found, cells, at, zone),
        *plain([[], section("Prompt", cells, free=0)]),
        *plain(list(_prompt(found.task, cells))),
        *plain([[], section("Options", cells, free=0)]),
        *_options(found, cells, zone),
        *plain([[], section("What happened", cells, free=0)]),
        *plain(list(_events(found, cells, at, zone))),
    ]


def _field(name: str, text: str, cells: int, tone: str = "text", limit: int = 3) -> Iterator[Item]:
    for number, row in enumerate(wrap(text, max(8, cells - _LABEL), limit)):
        yield from plain([[(pad(name if not number else "", _LABEL), "quiet"), (row, tone)]])


def _leads() -> Line:
    """Which key leads there."""
    return [(f"  {keyed.of('open')}", "key"), (" shows it", "quiet")]


def _link(name: str, line: Line, kind: str, key: str) -> Item:
    return Item(lambda cells: cut([(pad(name, _LABEL), "quiet"), *line], cells), kind, key)


def _path(name: str, path: str, cells: int) -> Iterator[Item]:
    yield from plain([[(pad(name, _LABEL), "quiet"), (fit_path(printable(path), max(8, cells - _LABEL)), "text")]])


def _head(found: Detail, cells: int, at: int, zone: tzinfo | None) -> Iterator[Item]:
    one = found.task
    word, tone = tasks.state(one)
    line: Line = [(pad("state", _LABEL), "quiet"), (word, tone)]
    if one.over and one.exit_code is not None:
        line += [("  exit code ", "quiet"), (str(one.exit_code), "bad" if one.exit_code else "good")]
    if span := tasks.took(one, at):
        line += [("  for ", "quiet") if one.live else ("  took ", "quiet"), (span, "text")]
    if one.over:
        line.append((f"  {ago(at - (one.ended_at or one.changed_at))}", "quiet"))
    yield from plain([line])
    why = tasks.waits(found.place, at, zone) if found.place else ""
    reason = flat(one.reason)
    if found.place and found.place.waits == "ready" and reason:
        why = f"{reason}; {why}"
    yield from _field("why", why or reason, cells, "warn" if one.live else "text", _REASON)
    if one.session_id:
        yield _link("session", [(printable(one.session_id)[:40], "text"), *_leads()], SESSION, one.session_id)
    if one.worktree_path:
        yield from _path("worktree", one.worktree_path, cells)
        yield from _field("branch", printable(one.branch), cells)


def _prompt(one: Task, cells: int) -> Iterator[Line]:
    shown = 0
    for text in lines(one.prompt, _PROMPT):
        for row in folded(text, cells):
            if shown == _PROMPT:
                yield [("… y copies all of it", "quiet")]
                return
            shown += 1
            yield [(row, "text")]


def folded(text: str, cells: int) -> Iterator[str]:
    """A printable line over as many as it needs: broken at blanks where there are some, its indent kept."""
    cells = max(8, cells)
    while width(text) > cells:
        head = _head_of(text, cells)
        at = head.rfind(" ")
        if at > cells // 2:
            head = head[: at + 1]
        yield head.rstrip()
        text = text[len(head) :]
    yield text


def _head_of(text: str, cells: int) -> str:
    if text.isascii():
        return text[:cells]
    taken = 0
    for place, char in enumerate(text):
        taken += width(char)
        if taken > cells and place:
            return text[:place]
    return text


def _options(found: Detail, cells: int, zone: tzinfo | None) -> Iterator[Item]:
    one = found.task
    yield from _field("client", f"{flat(one.client)}{', stays open' if one.interactive else ''}", cells)
    yield from _field("project", flat(one.project), cells)
    yield from _path("folder", one.cwd, cells)
    for number, need in enumerate(one.needs):
        yield _other("needs" if not number else "", need, found)
    if found.waiting:
        yield from _field("needed by", tasks.names(found.waiting), cells)
    for name, text in (
        ("priority", str(one.priority or "")),
        ("tries", _tries(one)),
        ("after", date(one.not_before, one.changed_at, zone) if one.not_before else ""),
        ("quiet", "" if one.quiet_hours is None else printable(one.quiet_hours) or "no quiet hours"),
        ("limit", _span(one.time_limit)),
        ("worktree", "of its own" if one.worktree and not one.worktree_path else ""),
        ("pane", printable(one.target) or (printable(f"{one.pane} of tmux") if one.live and one.pane else "")),
        ("runs", "without a terminal" if one.live and one.how == HEADLESS else ""),
        ("queued by", flat(one.source) if one.source != "person" else ""),
    ):
        yield from _field(name, text, cells)
    if one.parent_id:
        yield _other("parent", one.parent_id, found)
    if one.learning_id:
        yield _link("about", [(f"learning {one.learning_id}", "text"), *_leads()], LEARNING, str(one.learning_id))


def _other(name: str, number: int, found: Detail) -> Item:
    other = found.others.get(number)
    if other is None:
        return _link(name, [(f"task/{number}", "quiet"), (", which is gone", "quiet")], "", "")
    word, tone = tasks.state(other)
    line: Line = [(f"task/{number} ", "text"), (word, tone), (f"  {flat(other.title)}", "quiet")]
    return _link(name, line, TASK, str(number))


def _tries(one: Task) -> str:
    if one.retries:
        return f"{one.tries} of {one.retries + 1}" if one.tries else f"at most {one.retries + 1}"
    return str(one.tries) if one.tries > 1 else ""


def _span(seconds: int) -> str:
    if not seconds:
        return ""
    for size, word in ((3600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            return several(seconds // size, word)
    return several(seconds, "second")


def _events(found: Detail, cells: int, at: int, zone: tzinfo | None) -> Iterator[Line]:
    today = date(at, at, zone)[:5]
    days = [date(each.at, at, zone) for each in found.events]
    whole = any(day[:5] != today for day in days)
    for each, day in zip(found.events, days, strict=True):
        yield from _event(each, day if whole else clock(each.at, zone)[:5], cells)


def _event(each: TaskEvent, when: str, cells: int) -> Iterator[Line]:
    text = "" if each.what == "claimed" else flat(each.text)
    number = f" (try {each.attempt})" if each.attempt > 1 and each.what in ("claimed", "started", "ended") else ""
    indent = width(when) + 2
    rows = wrap(text, max(8, cells - indent - 11), 3) or [""]
    for place, row in enumerate(rows):
        if place:
            yield [(" " * (indent + 11), "text"), (row, "text")]
        else:
            tone = _TONES.get(each.what, "text")
            yield [(pad(when, indent), "quiet"), (pad(flat(each.what), 10) + " ", tone), (row, "text"),
                   (number, "quiet")]  # fmt: skip


_TONES = {"asked": "warn", "answered": "text", "started": "accent", "cancelled": "quiet", "retried": "warn"}


def output(text: str, cells: int) -> list[Item]:
    """What it said, its own lines folded to the width."""
    if not text.strip():
        return []
    return list(plain([[(row, "text")] for each in lines(text, 4000) for row in folded(each, cells)]))


def plain_text(text: str) -> str:
    """A text as it may leave for the clipboard: its own lines, printable."""
    return "\n".join(lines(text, 20_000))


def output_title(one: Task, *, following: bool) -> str:
    """The title of the output's frame."""
    if one.live:
        return f"Output ─ live{', following' if following else ''}"
    return "Output ─ its last lines"
