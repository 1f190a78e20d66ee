"""The detail of a learning tells whether it holds: before its acceptance and after, told and held out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

from nmem.learn.learning import ACCEPTED, FAILED_COMMAND, Learning
from nmem.learn.lessons import Exposure, Lesson, Seen
from nmem_tui.model import learning_detail
from nmem_tui.model.learnings import Detail

NOW = 1_760_000_000_000
DAY = 86_400_000
KNOWN = Learning(
    7, 1, "shop", FAILED_COMMAND, "npm test", "`npm test` fails", (), NOW - 9 * DAY, NOW, 3, 3, 50, ACCEPTED,
    NOW - 5 * DAY, "person", None, 0, None, "Use `pnpm test`", (),
)  # fmt: skip
HELD = Lesson(
    "learning/7", "failing command", "Use `pnpm test`", 1, "shop", ACCEPTED, NOW - 5 * DAY,
    seen={
        "a": Seen(NOW - 9 * DAY, (NOW - 9 * DAY + 1,)),
        "b": Seen(NOW - 8 * DAY, unclear=True),
        "c": Seen(NOW - 4 * DAY, kept=NOW - 4 * DAY + 5),
        "d": Seen(NOW - 3 * DAY, (NOW - 3 * DAY + 1,)),
    },
    exposed={"c": Exposure(NOW - 4 * DAY + 1, held_out=False)},
)  # fmt: skip


def _lines(lesson: Lesson | None) -> list[str]:
    found = Detail(KNOWN, (), {}, (), "Use `pnpm test`", None, lesson)
    drawn = (item.draw(70) for item in learning_detail.items(found, 70, NOW, UTC))
    told = ["".join(text for text, _ in line).rstrip() for line in drawn]
    start = next((at for at, line in enumerate(told) if "Does it hold" in line), None)
    return told[start : told.index("", start)] if start is not None else []


def test_what_was_recorded_is_told_line_by_line() -> None:
    heading, *lines = _lines(HELD)
    assert "sessions" in heading
    assert lines == [
        "before   applied 2, kept 0, broken 1, 1 cannot be told",
        "after    applied 2, kept 1, broken 1",
        "told     applied 1, kept 1, broken 0",
    ]


def test_what_cannot_be_told_is_said_so() -> None:
    assert _lines(replace(HELD, why="names no command"))[1:] == ["cannot be told: names no command"]
    blind = _lines(replace(HELD, blind=True, since=0, exposed={}))[1:]
    assert blind == ["so far   applied 4, broken 2, 1 cannot be told", "only what breaks it is recorded"]


def test_a_pattern_of_several_projects_has_no_such_lines() -> None:
    assert _lines(None) == []


def test_where_it_never_applied_since_that_is_said() -> None:
    new = replace(HELD, since=NOW, exposed={})
    assert _lines(new)[1:] == [
        "before   applied 4, kept 1, broken 2, 1 cannot be told",
        "after    it applied in no session",
    ]
