"""Shortens a clause of a prompt to a headline: the head in full, then the most telling words in order."""

from __future__ import annotations

from nmem.episodes.titles.lists import ARTICLES, DROPPED, listed
from nmem.episodes.titles.phrases import file
from nmem.episodes.titles.weights import worth

_LINKS = listed(
    """
    to in on for with from by into at between via using without over under after before during through across
    against per around about inside instead
    """
)
_LISTED = listed(
    """
    and or plus then but
    """
)
_ASIDES = listed(
    """
    because since when whenever if which that who whose where while as although though so unless until how why what
    whether once like than
    """
)
_STAND_ALONE = listed(
    """
    in for with on to from using via
    """
)
"""Links that may follow something else than what they stood behind."""
_EDGES = '.,;:!?()[]{}"“”*`<>~→'
_GAIN = 0.12
Segment = tuple[str, list[str], bool]
"""What links it, its words, whether it is an aside."""


def headline(verb: str, rest: str, known: dict[str, float], room: int) -> str:
    """The verb with what follows, in at most `room` characters; "" where nothing of it fits."""
    found = _segments(rest)
    if not found or len(_render(verb, found[:1])) > room:
        return ""
    chosen = {0: found[0]}
    while True:
        now = worth(_render(verb, [chosen[at] for at in sorted(chosen)]), known)
        best: tuple[float, int, Segment] | None = None
        for at in range(1, len(found)):
            if at in chosen or found[at][2]:
                continue
            link, words, _ = found[at]
            if at - 1 not in chosen:
                if link in _LINKS and link not in _STAND_ALONE:
                    continue
                link = link if link in _LINKS else ","
            text = _render(verb, [{**chosen, at: (link, words, False)}[one] for one in sorted({*chosen, at})])
            gain = worth(text, known) - now
            value = gain / (len(words) + 1) ** 0.5
            if len(text) <= room and gain >= _GAIN and (best is None or value > best[0]):
                best = value, at, (link, words, False)
        if best is None:
            return _render(verb, [chosen[at] for at in sorted(chosen)])
        chosen[best[1]] = best[2]


def _segments(text: str) -> list[Segment]:
    out: list[Segment] = [("", [], False)]
    for raw in text.split():
        word = file(raw).strip(_EDGES)
        low = word.lower()
        if low in _ASIDES:
            out.append((low, [], True))
        elif low in _LINKS:
            out.append((low, [], False))
        elif low in _LISTED:
            out.append((low if low in ("and", "or") else ",", [], False))
        elif word and (low == "of" or not (low in DROPPED or low in ARTICLES)):
            out[-1][1].append(word)
        if raw[-1] in ",;:":
            out.append((",", [], False))
        elif raw[-1] in ".!?":
            out.append((",", [], True))
    trimmed = [(link, _without_of(words), aside) for link, words, aside in out]
    return [one for one in trimmed if one[1]]


def _without_of(words: list[str]) -> list[str]:
    while words and words[-1] == "of":
        words = words[:-1]
    return words[1:] if words[:1] == ["of"] else words


def _render(verb: str, chosen: list[Segment]) -> str:
    text = verb
    for number, (link, words, _) in enumerate(chosen):
        if link == "," and number:
            text += ", "
        elif link in _LINKS or (link and number and link != ","):
            text += f" {link} "
        elif text:
            text += " "
        text += " ".join(words)
    return text.strip()
