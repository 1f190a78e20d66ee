"""What is asked again in other sessions, and files that are looked into again without anything coming of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from nmem.learn.learning import OPEN, REPEATED_INTENT, UNRESOLVED_READ, WEAK
from nmem.learn.patterns import SHORT, THRESHOLD, Asked, Met, Pattern, Project
from nmem.threads import words
from nmem.threads.likeness import Background, entities

ALIKE = 0.6
"""Rarity of the words two intents share, beside that of all their words, from which they ask for the same."""
FEW = 4
"""Words an intent must have to be compared: `commit this` is no question."""
HEAD = 400
_TITLE = 110
_EXCERPT = 200
_NOT_SOURCES = ("docs/", "doc/", "node_modules/", ".claude/", "vendor/", "adr/", "/", "~")
_NOT_CODE = (
    ".md",
    ".mdx",
    ".txt",
    ".json",
    ".toml",
    ".yaml",
    ".yml",
    ".lock",
    ".rst",
    ".log",
    ".jsonl",
    ".cfg",
    ".ini",
    ".mod",
)


def intents(project: Project) -> list[Pattern]:
    """The same asked in several sessions that do not go on with one another."""
    asked = [one for one in project.asked if not one.resumes and not one.intent.lstrip().startswith(("/", "<"))]
    tokens = [list(dict.fromkeys(words.tokens(one.intent[:HEAD]))) for one in asked]
    usable = [at for at, found in enumerate(tokens) if len(found) >= FEW]
    near = _near({at: tokens[at] for at in usable})
    named = cache(lambda at: _things(asked[at].intent))
    groups = {at: [one for one in near[at] if one == at or _same_things(named(at), named(one))] for at in usable[::-1]}
    taken: set[int] = set()
    out: list[Pattern] = []
    for enough in (THRESHOLD, THRESHOLD - SHORT):
        for at, alike in groups.items():
            group = [asked[one] for one in alike if one not in taken]
            if at not in taken and len(_apart(group)) >= enough:
                taken.update(alike)
                out.append(_intent(group, asked[at], weak=enough < THRESHOLD))
    return out


def _near(intents: Mapping[int, Sequence[str]]) -> dict[int, list[int]]:
    """For each intent those that say the same, itself among them, by the rarity that words have in the project.

    Two of them share at least `ALIKE` of what either weighs: so many words as the heaviest ones of an intent take to
    weigh that. Only with those that share so many is it compared; they are counted for all others at once.
    """
    rarity = Background(list(intents.values())).rarity
    sets = {at: frozenset(found) for at, found in intents.items()}
    weight = {at: sum(map(rarity, found)) for at, found in intents.items()}
    near: dict[int, list[int]] = {at: [at] for at in intents}
    places = list(intents)
    having: dict[str, int] = defaultdict(int)
    """Word -> the intents before this one that have it, a bit each."""
    for place, at in enumerate(places):
        mine = sets[at]
        for other in _places(_sharing([having[word] for word in mine], _fewest(mine, rarity, weight[at]))):
            one = places[other]
            shared = mine & sets[one]
            least = ALIKE / (1 + ALIKE) * (weight[at] + weight[one])
            if sum(map(rarity, shared)) >= least > 0:
                near[at].append(one)
                near[one].append(at)
        for word in mine:
            having[word] |= 1 << place
    return {at: sorted(found) for at, found in near.items()}


def _fewest(words_of: Iterable[str], rarity: Callable[[str], float], weight: float) -> int:
    """How many words an intent shares at least with one that says the same."""
    number, left = 0, ALIKE * weight * 0.999
    for each in sorted(map(rarity, words_of), reverse=True):
        if left <= 0:
            break
        number, left = number + 1, left - each
    return max(FEW - 1, number)


def _sharing(having: Iterable[int], least: int) -> int:
    """The places that stand in at least so many of some sets of places, which are numbers with a bit a place."""
    digits: list[int] = []  # of how many sets a place stands in: in binary, a number of bits for each digit
    for places in having:
        carry = places
        for at, digit in enumerate(digits):
            if not carry:
                break
            digits[at], carry = digit ^ carry, digit & carry
        if carry:
            digits.append(carry)
    if least >> len(digits):
        return 0
    more, same = 0, -1
    for at in range(len(digits) - 1, -1, -1):
        if least >> at & 1:
            same &= digits[at]
        else:
            more |= same & digits[at]
            same &= ~digits[at]
    return more | same


def _places(bits: int) -> Iterator[int]:
    """The places of a number's bits."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _same_things(mine: set[str], theirs: set[str]) -> bool:
    """Whether neither of two intents names what the other does not: two tickets are two tasks, in the same words."""
    return not (mine - theirs and theirs - mine)


def _things(intent: str) -> set[str]:
    """What an intent names: files, symbols, issues, tickets."""
    named = {word.strip(".,;:!?()[]`'\"").lower() for word in intent[:HEAD].split()}
    joined = {word for word in named if any(char in word.strip("-") for char in "-_/.#:@0123456789")}
    return joined | entities(intent[:HEAD])


def _apart(group: Sequence[Asked]) -> set[object]:
    """What counts as a time it was asked: a session, or all sessions of one thread together."""
    return {("t", one.thread_id) if one.thread_id else ("s", one.session_id) for one in group}


def _intent(group: Sequence[Asked], newest: Asked, *, weak: bool) -> Pattern:
    first = min(group, key=lambda one: (one.at, one.unit_id))
    key = " ".join(sorted(set(words.tokens(first.intent[:HEAD])))[:24])
    met = [Met(one.session_id, one.at, None, one.prompt_id, _line(one.intent)[:_EXCERPT]) for one in group]
    met.sort(key=lambda one: (one.at, one.prompt_id or 0))
    made = Pattern(REPEATED_INTENT, key[:300], _line(newest.intent)[:_TITLE], met, len(met))
    made.state = WEAK if weak else OPEN
    edited: dict[str, int] = defaultdict(int)
    for one in group:
        for path in one.edits:
            edited[path] += 1
    made.files = [path for path, number in sorted(edited.items(), key=lambda each: (-each[1], each[0])) if number > 1][
        :8
    ]
    return made


def _line(intent: str) -> str:
    lines = [line.strip(" #*") for line in intent.split("\n") if line.strip(" #*")]
    if not lines:
        return ""
    return lines[1] if len(lines) > 1 and lines[0].endswith(":") else lines[0]


def reads(project: Project) -> list[Pattern]:
    """Source files looked into in several sessions whose episodes only looked, met failures or were broken off, and
    that nobody changed from then on."""
    looked: dict[str, list[Asked]] = defaultdict(list)
    edited: dict[str, int] = {}
    for one in project.asked:
        for path in one.edits:
            edited[path] = max(one.at, edited.get(path, 0))
        if not one.edits and (one.failures >= 2 or one.interrupted):
            for path, number in one.reads.items():
                if number >= 2 and _source(path):
                    looked[path].append(one)
    out = []
    for path, group in looked.items():
        first = min(one.at for one in group)
        if len(_apart(group)) >= THRESHOLD - SHORT and edited.get(path, 0) < first:
            met = [Met(one.session_id, one.at, None, one.prompt_id, _line(one.intent)[:_EXCERPT]) for one in group]
            met.sort(key=lambda one: (one.at, one.prompt_id or 0))
            made = Pattern(
                UNRESOLVED_READ, path, f"{path} is looked into again and again, and nothing comes of it", met, len(met)
            )
            made.files = [path]
            made.state = WEAK if len(_apart(group)) < THRESHOLD else OPEN
            out.append(made)
    return out


def _source(path: str) -> bool:
    low = path.lower()
    return not low.startswith(_NOT_SOURCES) and not low.endswith(_NOT_CODE) and low[1:2] != ":"
