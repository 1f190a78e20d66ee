"""Formats learnings: as a Markdown report, and as the words and bars that every display shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nmem.hours import utc
from nmem.learn import kinds, rules
from nmem.learn.learning import OCCURRENCE, Evidence, Learning, Remedy
from nmem.learn.rules import code, neat
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
    yield f"- {word(one.heat)}, heat {one.heat} of 100; {standing(one)}"
    often = f"{one.occurrences} times in {one.sessions} session{'' if one.sessions == 1 else 's'}"
    yield f"- {often}, {_day(one.first_at)} to {_day(one.last_at)}, in {neat(one.project)}"
    if one.files:
        yield f"- files: {', '.join(_code(path) for path in one.files[:6])}"
    if one.remedy is not None:
        yield f"- what helped: {neat(remedy(one.remedy))}"
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
    return f"{utc(at).astimezone():%Y-%m-%d}"


_HOT, _WARM = 67, 34
_CELLS = 5
_STEPS = " ▁▂▃▄▅▆▇"
WEEK = 7 * 86_400_000


def word(heat: int) -> str:
    """hot, warm or cool: what the number says."""
    return "hot" if heat >= _HOT else "warm" if heat >= _WARM else "cool"


def bar(heat: int, cells: int = _CELLS) -> str:
    """A bar of as many cells; anything above nothing shows."""
    full = min(cells, max(1 if heat else 0, round(heat * cells / 100)))
    return "▇" * full + "·" * (cells - full)


def weeks(counts: Sequence[tuple[int, int]], until: int, many: int = 12) -> str:
    """Occurrences of the last weeks as a row of bars, the week of `until` at the right."""
    known = dict(counts)
    last = max((week for week in known if week <= until), default=until)
    last += (until - last) // WEEK * WEEK
    row = [known.get(last - WEEK * back, 0) for back in reversed(range(many))]
    most = max([*row, 1])
    return "".join("·" if not count else _STEPS[max(1, round(count * 7 / most))] for count in row)


def remedy(found: Remedy | None) -> str:
    """What helped, in a few words; empty when nothing is known."""
    if found is None:
        return ""
    often = f" ({found.times} sessions)" if found.times > 1 else ""
    return f"{found.text}{often}"


def standing(one: Learning) -> str:
    """Its state, who said so, and how often it came back."""
    by = {"person": "by you", "evidence": "it stopped occurring"}.get(one.state_by, "")
    said = f"{one.state} ({by})" if by and one.state in ("resolved", "accepted", "dismissed") else one.state
    back = "" if not one.reopened else ", came back once" if one.reopened == 1 else f", came back {one.reopened} times"
    return said + back
