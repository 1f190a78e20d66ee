"""Writes learnings as a Markdown report: what recurs, what helped, the evidence, possible actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from nmem.learn import kinds, rules, shown
from nmem.learn.learning import OCCURRENCE, Evidence, Learning
from nmem.learn.wording import code, neat
from nmem.text import ELLIPSIS

TITLE = "# Learnings"
"""How a report begins."""
_TEXT = 160
_SESSION = 8


def markdown(found: Sequence[Learning], evidence: Mapping[int, Sequence[Evidence]], about: str, now: int) -> str:
    """The report; `evidence` by learning. What comes from sessions stands in code spans, one line each."""
    return "\n".join(_lines(found, evidence, about, now)) + "\n"


def _lines(
    found: Sequence[Learning], evidence: Mapping[int, Sequence[Evidence]], about: str, now: int
) -> Iterator[str]:
    yield f"{TITLE} of {neat(about)}"
    yield ""
    yield f"{_day(now)}: {len(found)} of them, by kind, the hottest first."
    for kind in kinds.names():
        group = [one for one in found if one.kind == kind]
        if group:
            yield from ("", f"## {kinds.words(kind).label.capitalize()} ({len(group)})")
        for one in group:
            yield from _one(one, evidence.get(one.id, ()))


def _one(one: Learning, evidence: Sequence[Evidence]) -> Iterator[str]:
    yield from ("", f"### {one.id}: {neat(_cut(one.title)) or '(empty)'}", "")
    yield f"- {shown.word(one.heat)}, heat {one.heat} of 100; {shown.standing(one)}"
    often = f"{one.occurrences} times in {one.sessions} session{'' if one.sessions == 1 else 's'}"
    yield f"- {often}, {_day(one.first_at)} to {_day(one.last_at)}, in {neat(one.project)}"
    if one.files:
        yield f"- files: {', '.join(_code(path) for path in one.files[:6])}"
    if one.remedy is not None:
        yield f"- what helped: {neat(shown.remedy(one.remedy))}"
    if one.rule:
        yield f"- rule: {one.rule}"
    elif one.state in ("open", "snoozed", "resolved"):
        yield f"- as a rule (`nmem learn accept {one.id}`): {rules.rule(one)}"
    for each in evidence:
        met = "met" if each.role == OCCURRENCE else "put right"
        yield f"- {_day(each.at)}, session {_code(each.session_id[:_SESSION])}, {met}: {_code(_what(each))}"


def _what(each: Evidence) -> str:
    """What was called and what came of it."""
    command, excerpt = (" ".join(text.split()) for text in (each.command, each.excerpt))
    if not command or command in excerpt:
        return excerpt or command
    return f"{command}: {excerpt}" if excerpt else command


def _code(text: str) -> str:
    return neat(code(_cut(text))) or "(empty)"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TEXT else line[: _TEXT - 1] + ELLIPSIS


def _day(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1000, UTC).astimezone():%Y-%m-%d}"
