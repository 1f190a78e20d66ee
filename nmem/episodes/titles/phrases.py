"""Chooses the most informative noun phrases of prompts that fit into a title; shortens a clause to a headline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
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
                if (low := phrase.lower()) not in out:
                    out[low] = phrase
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
    at, count = 0, len(tokens)
    while at < count:
        if tokens[at][0] != _NAME:
            at += 1
            continue
        end = _run(tokens, at + 1, count)
        run = [word for _, word in tokens[at:end]]
        for start, phrase in enumerate(run):
            yield phrase
            for word in run[start + 1 : start + 4]:
                phrase = f"{phrase} {word}"  # noqa: PLW2901
                yield phrase
        if end < count and tokens[end][0] == _JOIN:
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
    most = min(most, len(tokens))
    while at < most and tokens[at][0] == _NAME:
        at += 1
    return at


def together(told: Sequence[str], room: int) -> str:
    """A title and its tags: "Contact points of the box: shape, object_utils.py"."""
    text = ": ".join([told[0], *[", ".join(told[1:])] * (len(told) > 1)]) if told else ""
    return text if len(text) <= room else ", ".join(told)


Weighed = tuple[float, str, float, tuple[str, ...]]
"""What a phrase tells for its length, negated; the phrase; how many words of a person's title it may have; its content
words."""
_LENGTHS = tuple((length + 4) ** 0.8 for length in range(4 * _LONGEST_NAME))


def weighed(found: dict[str, str], known: dict[str, float]) -> list[Weighed]:
    """Phrases with what they tell, the most telling for their length first; without those that tell next to nothing.

    Most phrases add one word to an earlier one: the content words of each beginning are kept, with what they tell.
    """
    out: list[Weighed] = []
    bags: dict[str, _Bag] = {}
    get = known.get
    for phrase in found.values():
        begins, _, last = phrase.rpartition(" ")
        words, tells = bags.get(last) or _kept(bags, last, known)
        if begins:
            before, told_before = bags.get(begins) or _kept(bags, begins, known)
            if len(words) == 1:  # as most are
                if words[0] in before:
                    words, tells = before, told_before
                else:
                    words, tells = before + words, told_before + tells
            else:
                new = tuple([word for word in words if word not in before])
                words, tells = before + new, told_before + [get(word, 0.0) for word in new]
            bags[phrase] = words, tells
        if words:
            less = fsum(tells) if len(tells) > _PAIR else sum(tells)  # the same in any order: two have but one sum
            if less / len(tells) < _LEAST:
                continue
            if not begins and "_" not in phrase:
                less -= 0.05
            length = len(phrase)
            room = _LENGTHS[length] if length < len(_LENGTHS) else (length + 4) ** 0.8
            out.append((-less / room, phrase, less, words))
    out.sort()
    return out


_Bag = tuple[tuple[str, ...], list[float]]
"""The content words of a phrase, each once, and what each tells."""


def _kept(bags: dict[str, _Bag], part: str, known: dict[str, float]) -> _Bag:
    words = tuple(bag(part))
    bags[part] = found = words, [known.get(word, 0.0) for word in words]
    return found


_PAIR = 2


def choose(found: Sequence[Weighed], without: str, room: int) -> list[str]:
    """The phrases, at most `MOST`, that tell most in so many characters; no word twice, none of `without`."""
    used = set(keys(without))
    fits = (one for one in found if len(one[1]) <= room and used.isdisjoint(one[3]))
    pool = list(islice(fits, _POOL))
    most = _most([one[2] - _COST for one in pool])
    best: tuple[float, list[str]] = (0.0, [])

    def go(start: int, got: list[str], words: set[str], tells: float, left: int) -> None:
        nonlocal best
        if tells > best[0]:
            best = tells, got
        further = MOST - len(got)
        adds = most[further]
        for at in range(start, len(pool) if further else 0):
            if tells + adds[at] < best[0] - _ROUNDING:
                return  # no phrases that follow make more of it
            _, phrase, more, theirs = pool[at]
            needed = len(phrase) + 2 * bool(got)
            if needed <= left and words.isdisjoint(theirs):
                go(at + 1, [*got, phrase], words.union(theirs), tells + more - _COST, left - needed)

    go(0, [], set(), 0.0, room)
    return best[1]


def _most(values: list[float]) -> list[list[float]]:
    """What none, one, two ... up to `MOST` of the values from each place on add at most."""
    out = [[0.0] * (len(values) + 1) for _ in range(MOST + 1)]
    best: list[float] = []
    for at in range(len(values) - 1, -1, -1):
        best = sorted([*best, max(values[at], 0.0)], reverse=True)[:MOST]
        for count in range(1, MOST + 1):
            out[count][at] = sum(best[:count])
    return out


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
