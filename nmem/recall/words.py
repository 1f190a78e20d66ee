"""Words of queries, triggers and decisions: normal forms, stems, edit distances. Standard library only."""

from __future__ import annotations

from nmem.episodes.text import is_cjk, runs, split_identifier

OPERATORS = ("when", "how")
_LONGEST = 64
"""Characters of a word: what is longer is no word."""
_VOWELS = frozenset("aeiouy")


def normal(text: str) -> str:
    """The normal form by which two names are the same: case, width, hyphens and punctuation do not matter."""
    if not text.isascii():
        import unicodedata  # on use: start-up stays short

        text = unicodedata.normalize("NFKC", text)
    return " ".join(runs(text.casefold().replace("_", " ")))


def bare(text: str) -> tuple[str, str]:
    """The operator that a query begins with, if any, and the rest: `/how to encode` -> how, `encode`."""
    text = text.strip()
    slash = text.startswith("/")
    first, _, rest = text.removeprefix("/").partition(" ")
    operator = first.casefold()
    if operator not in OPERATORS:
        return "", text[1:] if slash else text
    rest = rest.strip()
    if operator == "how" and rest[:3].casefold() == "to ":
        rest = rest[3:].strip()
    return operator, rest


def name(text: str) -> str:
    """The normal form of a trigger or a heading without its operator; the one thing that is compared exactly."""
    operator, rest = bare(text)
    return normal(rest) or normal(text) if operator else normal(text)


def words(text: str) -> list[str]:
    """Words in order, in lower case; those of identifiers one by one."""
    out: list[str] = []
    for run in runs(text):
        if run.isascii() and run.islower() and "_" not in run:
            out.append(run[:_LONGEST])
        elif is_cjk(run[0]):
            out += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
        else:
            out += [part.casefold()[:_LONGEST] for part in split_identifier(run)]
    return out


def stem(word: str) -> str:
    """The stem of an English word, light: endings of number, time and kind. Others, and short words, stay."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    word = _plural(word)
    if len(word) < 4:
        return word
    for ending, least in (("ingly", 4), ("edly", 4), ("ing", 3), ("ed", 3)):
        part = word.removesuffix(ending)
        if part != word and len(part) >= least - 1 and not _VOWELS.isdisjoint(part):
            word = _mended(part)
            break
    for ending, instead in _KINDS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == "y" and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    return word


_KINDS = (
    ("izations", "iz"), ("ization", "iz"), ("isation", "iz"), ("fulness", "ful"), ("iveness", "iv"), ("ations", "at"),
    ("ation", "at"), ("ators", "at"), ("ator", "at"), ("ments", "ment"), ("ness", ""), ("ional", "ion"),
    ("ively", "iv"), ("ically", "ic"), ("ical", "ic"), ("ally", "al"), ("ably", "abl"), ("ing", ""), ("ive", "iv"),
    ("ance", "anc"),
    ("ence", "enc"), ("ment", "ment"), ("ly", ""), ("tion", "t"), ("sion", "s"), ("ful", "ful"), ("ers", ""),
    ("er", ""), ("ors", ""), ("or", ""), ("ate", "at"), ("ise", "iz"), ("ize", "iz"),
)  # fmt: skip


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("xes", "ches", "shes")):
        return word[:-2]
    if word[-1] == "s" and word[-2] not in "sua" and not word.endswith("is"):
        return word[:-1]
    return word


def _mended(part: str) -> str:
    """What is left of `hopping`, `encoding`: a doubled letter is one."""
    if len(part) > 3 and part[-1] == part[-2] and part[-1] not in "lsz":
        return part[:-1]
    return part


def distance(one: str, other: str, most: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two words; `most` + 1 when there are more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, char in enumerate(one, 1):
        earlier, before, row = before, row, [at]
        for to, against in enumerate(other, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (char != against))
            if at > 1 and to > 1 and char == other[to - 2] and one[at - 2] == against:
                cost = min(cost, earlier[to - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def within(short: str, word: str) -> bool:
    """Whether the letters of `short` stand in a word in this order, the first at its beginning: `fmt`, `format`."""
    if not short or not word or short[0] != word[0]:
        return False
    at = 0
    for char in short:
        at = word.find(char, at) + 1
        if not at:
            return False
    return True


STOP = frozenset(
    """
a an and are as at be been but by can could did do does for from had has have how i if in into is it its just me my no
not of off on onto or our out over should so some than that the their them then there these they this those to too up
us use using vs was we were what when where which while who why will with without would you your
""".split()
)
"""Words that say nothing of what is asked; a query made of nothing else is taken as it is."""
IMPERATIVE = frozenset(
    """
add allow apply ask avoid build bump call catch check choose clean commit configure convert copy create debug define
delete deploy detect document encode ensure evaluate export extract filter find fix format generate group handle
import improve indent install integrate keep lint load log make manage map measure merge migrate mock move name order
organize output parse place plan prefer prepare prevent print promote publish read recover reduce refactor release
remove rename replace report resolve restore review rewrite run save scan select separate serialize set share sort
split start stop store structure sync test trace track transform update upgrade use validate verify wrap write
""".split()
)
"""Verbs that a heading of a procedure begins with."""
