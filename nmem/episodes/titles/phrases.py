"""Noun phrases of prompts, and a clause shortened to a headline: the words that best describe an episode."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import nsmallest
from math import fsum

from nmem.episodes.titles.goal import base
from nmem.episodes.titles.lists import ARTICLES, BREAKING, DROPPED, EVERYDAY, JOINING, NOISE, STOP, listed
from nmem.episodes.titles.weights import bag, keys, worth

_PIECES = re.compile(r"[.!?](?=\s|$)|[,;:()\[\]{}\"“”`<>|=\n*]|\s[-–—+]+\s|->|→")
_EDGES = ".,;:!?()[]{}\"“”*`<>~→'"
_STRANGE = frozenset("\\@%$&^~/…'’#")
_LONGEST_NAME = 32
_READ = 4_000
_BEFORE_VERB = listed(
    """
    to i we you can should please let's lets and must will
    """
)
_NO_NAMES = DROPPED | STOP | EVERYDAY | BREAKING | NOISE
_NAME, _JOIN, _ARTICLE, _END = "name", "join", "article", "end"
_LEAST = 0.05
_COST = 0.1
"""What a further phrase costs, in words of the title: few long ones read better than many short ones."""
_POOL = 40
_ROUNDING = 1e-9
MOST = 3


def phrases(texts: Iterable[str]) -> dict[str, str]:
    """Lower case -> as first written: names of up to four words, and two that a preposition joins."""
    out: dict[str, str] = {}
    for text in texts:
        for piece in _PIECES.split(text[:_READ]):
            for phrase in _in(list(_tokens(piece))):
                out.setdefault(phrase.lower(), phrase)
    return out


def _tokens(piece: str) -> Iterator[tuple[str, str]]:
    before = ""
    for raw in piece.split():
        kind, word, low, is_verb = _token(raw)
        yield (_END if is_verb and before in _BEFORE_VERB else kind), word
        before = low


@lru_cache(maxsize=20_000)
def _token(raw: str) -> tuple[str, str, str, bool]:
    """Kind, the word itself, in lower case, and whether it is a name that may be a verb."""
    word = file(raw).strip(_EDGES)
    low = word.lower()
    kind = _kind(word, low)
    return kind, word, low, kind == _NAME and bool(base(word))


def _kind(word: str, low: str) -> str:
    if low in ARTICLES:
        return _ARTICLE
    if low in JOINING:
        return _JOIN
    if low in _NO_NAMES:
        return _END
    if not (word.isalnum() or any(map(str.isalnum, word))) or word.isdigit() or len(word) > _LONGEST_NAME:
        return _END
    if not _STRANGE.isdisjoint(word) or word.startswith("--"):
        return _END
    return _NAME


def file(word: str) -> str:
    """A path by its last part."""
    if "/" not in word and "\\" not in word:
        return word.lstrip("@")
    bare = word.strip(_EDGES).lstrip("@").replace("\\", "/").rstrip("/")
    if "/" not in bare or not (bare.startswith(("/", ".", "~")) or bare.count("/") > 1 or "." in bare):
        return word.lstrip("@")
    return bare.rsplit("/", 1)[-1]


def _in(tokens: list[tuple[str, str]]) -> Iterator[str]:
    """The phrases of one piece."""
    at = 0
    while at < len(tokens):
        end = _run(tokens, at, len(tokens))
        if end == at:
            at += 1
            continue
        run = [word for _, word in tokens[at:end]]
        for start, phrase in enumerate(run):
            yield phrase
            for word in run[start + 1 : start + 4]:
                phrase = f"{phrase} {word}"  # noqa: PLW2901
                yield phrase
        if end < len(tokens) and tokens[end][0] == _JOIN:
            yield from _joined(run, tokens, end)
        at = end


def _joined(run: list[str], tokens: list[tuple[str, str]], end: int) -> Iterator[str]:
    at = end + 1
    while at < len(tokens) and tokens[at][0] == _ARTICLE:
        at += 1
    stop = _run(tokens, at, at + 3)
    after = [word for _, word in tokens[at:stop]]
    if after:
        for start in range(max(0, len(run) - 3), len(run)):
            yield " ".join([*run[start:], tokens[end][1].lower(), *after])


def _run(tokens: list[tuple[str, str]], at: int, most: int) -> int:
    while at < min(most, len(tokens)) and tokens[at][0] == _NAME:
        at += 1
    return at


def together(told: Sequence[str], room: int) -> str:
    """A title and its tags: "Contact points of the box: shape, object_utils.py"."""
    text = ": ".join([told[0], *[", ".join(told[1:])] * (len(told) > 1)]) if told else ""
    return text if len(text) <= room else ", ".join(told)


Weighed = tuple[str, set[str], float]
"""A phrase, its content words, and how many words of a person's title it may have."""


def weighed(found: dict[str, str], known: dict[str, float]) -> list[Weighed]:
    """Phrases with what they tell; those without a content word are left out."""
    out: list[Weighed] = []
    bags: dict[str, set[str]] = {"": set()}
    """The words of each beginning of a phrase; most phrases add one word to an earlier one."""
    for phrase in found.values():
        begins, _, last = phrase.rpartition(" ")
        for part in (begins, last):
            if part not in bags:
                bags[part] = bag(part)
        words = bags[phrase] = bags[begins] | bags[last]
        if words:
            out.append((phrase, words, fsum([known.get(word, 0.0) for word in words])))
    return out


def choose(found: Sequence[Weighed], without: str, room: int) -> list[str]:
    """The phrases, at most `MOST`, that tell most in so many characters; no word twice, none of `without`."""
    used = set(keys(without))
    fits: list[tuple[float, str, float, set[str]]] = []
    for phrase, words, tells in found:
        if len(phrase) <= room and tells / len(words) >= _LEAST and words.isdisjoint(used):
            less = tells - 0.05 * (" " not in phrase and "_" not in phrase)
            fits.append((-less / (len(phrase) + 4) ** 0.8, phrase, less, words))
    pool = nsmallest(_POOL, fits)
    most = [0.0] * (len(pool) + 1)
    """What a phrase from here on adds at most."""
    for at in range(len(pool) - 1, -1, -1):
        most[at] = max(most[at + 1], pool[at][2] - _COST)
    best: tuple[float, list[str]] = (0.0, [])

    def go(start: int, got: list[str], words: set[str], tells: float, left: int) -> None:
        nonlocal best
        if tells > best[0]:
            best = tells, got
        further = MOST - len(got)
        for at in range(start, len(pool) if further else 0):
            if tells + further * most[at] < best[0] - _ROUNDING:
                return  # no phrase that follows makes more of it
            _, phrase, more, theirs = pool[at]
            needed = len(phrase) + 2 * bool(got)
            if needed <= left and words.isdisjoint(theirs):
                go(at + 1, [*got, phrase], words | theirs, tells + more - _COST, left - needed)

    go(0, [], set(), 0.0, room)
    return best[1]


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
_CLAUSE_EDGES = '.,;:!?()[]{}"“”*`<>~→'
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
        word = file(raw).strip(_CLAUSE_EDGES)
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
