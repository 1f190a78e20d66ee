"""Builds replies for agents: neutralized and cut text, times in words, one JSON object of bounded size."""

from __future__ import annotations

from collections.abc import Mapping

from capture.clients.said import BEGIN, END
from capture.redaction import PLACES, outward, settings
from nmem.hours import utc
from nmem.llm.outgoing import untagged, without_hidden
from nmem.names import cited, reads_as_sentence
from nmem.sanitize import neutral
from nmem.text import to_json

MOST = 48_000
"""Characters of a reply: clients cut what is longer, or refuse it."""
_AHEAD = 4
"""So many times what is kept is looked at: blanks and controls go before the cut."""


def line(text: object, most: int = 200) -> str:
    """One line in which nothing acts: no tag, role, template or mark of ours, nothing that cannot be seen."""
    return neutral(_outward(str(text), place=True), most)


def name(text: object, most: int = 200) -> str:
    """A file, folder, branch or project as a value of its own; one that reads as a sentence is marked as a name."""
    return cited(str(text), most) if reads_as_sentence(str(text)) else line(text, most)


def code(text: object, most: int = 200) -> str:
    """What was called, on one line: as `lines`, so that it can be called again."""
    return lines(" ".join(str(text)[: _AHEAD * most].split()), most)


def lines(text: object, most: int) -> str:
    """A text as it stands, line breaks and blanks too, without tags, templates, marks of ours and hidden characters.

    Code keeps its words; what could open a turn is kept from it by standing in a JSON string, on one line.
    """
    rows = without_hidden(_outward(str(text)[: _AHEAD * most + 1], place=True).replace("\r\n", "\n")).split("\n")
    whole = "\n".join(row[: len(row) - len(row.lstrip())] + untagged(row) for row in rows)
    for mark in (BEGIN, END):
        whole = whole.replace(mark, f"({mark[1:]}")
    return _cut(whole.strip("\n"), most)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(0, most - 1)].rstrip() + "…"


def _outward(text: str, *, place: bool = False) -> str:
    """By the person's own rules, before it is cut: what is stored may be older than they."""
    return outward(text, place=place) if settings.own() else text


def _every(found: object, key: str = "") -> object:
    """The same of each text in it, but for its keys: these are ours."""
    if isinstance(found, str):
        return _outward(found, place=key in PLACES or key in _IDS)
    if isinstance(found, Mapping):
        return {name: _every(value, name) for name, value in found.items()}
    return [_every(each, key) for each in found] if isinstance(found, list | tuple) else found


_IDS = frozenset((
    "asked", "branch", "goes_on_with", "id", "left", "next", "project", "session", "source", "taken_up_in", "thread",
))  # fmt: skip
"""Keys of what is asked for by itself: of these, too, sensitivity "strict" takes secrets alone."""


def when(at: int | None) -> str:
    """Milliseconds as the person's own time, to the minute."""
    return "" if at is None else f"{utc(at).astimezone():%Y-%m-%d %H:%M}"


def some(found: Mapping[str, object]) -> dict[str, object]:
    """Without what is empty: it would only cost."""
    return {key: value for key, value in found.items() if value not in (None, "", (), [], {}, False)}


def size(found: object) -> int:
    """Characters that it takes as JSON."""
    return len(dumped(found))


def dumped(found: object) -> str:
    """As JSON on one line."""
    return to_json(found, compact=True)


def text(answer: Mapping[str, object]) -> str:
    """The reply itself; of a list that is too long the end goes, and is said to be left out."""
    out = {key: _every(value, key) for key, value in answer.items()} if settings.own() else dict(answer)
    whole = dumped(out)
    if len(whole) <= MOST:
        return whole
    lists = [key for key, value in out.items() if isinstance(value, list)]
    longest = max(lists, key=lambda key: size(out[key]), default="")
    if not longest:
        return dumped({"cut": f"the reply of {len(whole)} characters is too long: ask for less"})
    items = out[longest]
    assert isinstance(items, list)
    kept = list(items)
    while kept and size({**out, longest: kept}) > MOST - 100:
        kept = kept[: len(kept) * 3 // 4]
    return dumped({**out, longest: kept, "cut": f"{len(items) - len(kept)} more of {longest}: ask for less at once"})
