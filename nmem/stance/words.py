"""Formats the figures and names of stance and advice: scores, percentages, counts, durations, file names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nmem.names import cited, reads_as_sentence
from nmem.stance.model import ENOUGH, SessionStance, Share, Stance
from nmem.text import fit_path, whole_minutes

_ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def stands(found: Stance) -> str:
    """The quadrant that a session stands in; of few calls, what each did by itself: `so far 3 think, 6 act, 1 failed`.

    The surest first. Empty until both lines began.
    """
    if not found.few:
        return found.quadrant
    think, act, widen = found.did
    told = ((think, "think"), (act, "act"), (found.failed, "failed"), (widen, "widen the search"))
    parts = [f"{number} {word}" for number, word in told if number]
    if not think + act + widen:
        parts.insert(0, plural(found.observations, "call"))
    return f"so far {', '.join(parts)}"


def needs(found: Stance) -> str:
    """Why a session of few calls stands in no quadrant."""
    placed = "" if found.placed == found.observations else " placed"
    return f"a quadrant needs about {ENOUGH} calls, here are {found.placed}{placed}"


def few_means(found: SessionStance) -> str:
    """What is told of a session of few calls among several: `20 % think, 1 failed`."""
    think = [f"{percent(found.think)} think"] if found.think is not None else []
    failed = [f"{found.failed} failed"] if found.failed else []
    return ", ".join([*think, *failed]) or "too few calls to tell"


def signed(value: float) -> str:
    """A score with its sign: +.42, -.80."""
    text = f"{value:+.2f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def percent(share: float) -> str:
    """A part of all: 12 %; what is not nothing is not said to be nothing."""
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def percents(split: Mapping[str, Share]) -> dict[str, str]:
    """The parts of one whole as they are told, which add up to 100: what is rounded down most is rounded up."""
    exact = {name: 100 * share.share for name, share in split.items()}
    left = round(sum(exact.values())) - sum(map(int, exact.values()))
    up = sorted(exact, key=lambda name: (int(exact[name]) - exact[name], -exact[name]))[: max(0, left)]
    whole = {name: int(value) + (name in up) for name, value in exact.items()}
    return {name: "<1 %" if exact[name] > 0 and not number else f"{number} %" for name, number in whole.items()}


def early(found: Stance) -> int:
    """The calls from before both lines had begun: the quadrants do not count them."""
    return max(0, found.count - found.placed) if found.placed else 0


def unsure(found: Stance) -> int:
    """The calls of which the model is not sure: they have labels, and are in no quadrant."""
    return max(0, found.observations - found.bare - found.count)


def plural(number: int, one: str, many: str = "") -> str:
    """1 call, 2 calls."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def times(number: int) -> str:
    """once, twice, 3 times."""
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def ordinal(number: int) -> str:
    """third, 12th."""
    if number < len(_ORDINALS):
        return _ORDINALS[number]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def span(ms: int) -> str:
    """How long: 40 s, 12 min, 1 h 50 min, 3 days."""
    if ms < 60_000:
        return f"{ms // 1000} s"
    minutes = whole_minutes(ms)
    if minutes < 100:
        return f"{minutes} min"
    if minutes >= 2880:
        return f"{minutes // 1440} days"
    return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")


def short(text: str, most: int = 80) -> str:
    """One line of a text."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def sentence(text: str) -> str:
    """With a full stop, unless it ends in a mark of its own."""
    return text if text.endswith((".", "…", "!", "?")) else text + "."


def names(files: Iterable[str], most: int = 3) -> str:
    """A few files by name; one that reads as a sentence is marked as a name: an agent may be told of it."""
    known = list(files)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    shown = (cited(each) if reads_as_sentence(each) else fit_path(each, 60) for each in known[:most])
    return ", ".join(shown) + more
