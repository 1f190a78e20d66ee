"""Words that describe a learning, for every display."""

from __future__ import annotations

from collections.abc import Sequence

from nmem.learn.learning import Learning, Remedy

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
