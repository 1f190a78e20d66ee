"""Gathers the names, numbers and vocabulary of a stretch of work, to check a model's words against."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

WORD = re.compile(r"[^\s\"'`“”‘’«»(),;!?<>\[\]{}|=*。、，：；！？「」『』（）…]+")
UNITS = "%|x|s|ms|us|ns|m|min|h|d|k|g|b|kb|mb|gb|kib|mib|gib|px|th|st|nd|rd|fps|hz"
NUMBER = re.compile(rf"(?<![\w.])[-+]?\d+(?:[.,]\d+)*(?=(?:{UNITS})?(?!\w))")
_BREAKS = str.maketrans("=/#(:", "     ")
_LETTERS = re.compile(r"[^\W\d_]{4,}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_WORDS = """about above after again also back been before being between both cannot change changed changes code could
    current does done during each even every file files first from have into issue just last made make more most need
    needed next only other over part result same session should some step steps still such task test tests than that
    their them then there these they thing things this those through time user using want wants were what when where
    which while will with without work works would your"""
_COMMON = frozenset(_WORDS.split())
_STEM = 5
_NUMBERS = """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty"""
_ROUND = {"thirty": "30", "forty": "40", "fifty": "50", "dozen": "12", "hundred": "100", "thousand": "1000"}
_SPELLED = {word: str(value) for value, word in enumerate(_NUMBERS.split(), start=2)} | _ROUND
_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""Runs of one kind of script: without spaces a name ends where the script changes (`price.pyを`)."""
LINES = re.compile(r"(?::\d+(?:-\d+)?)+$")
"""The line, or the range of lines, after the name of a file."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names, numbers and vocabulary that may be spoken of; build it with `gather`."""

    names: frozenset[str]
    """Paths with all their ends and folders, hashes, identifiers: casefolded."""
    numbers: frozenset[str]
    stems: frozenset[str]

    def grounds(self, sentence: str) -> bool:
        """Whether the sentence shares a telling word with the work; one with no such word at all does not."""
        return bool(stems(sentence) & self.stems)


def gather(
    texts: Iterable[str], paths: Iterable[str] = (), hashes: Iterable[str] = (), counts: Iterable[int] = ()
) -> Facts:
    """Facts from the observations.

    `texts` are words that can be trusted to be of the work: prompts, commands, the agent's own texts, outcomes.
    What a tool brought in from outside (a web page, a file's content) does not belong in them: whoever wrote it would
    decide what may be said. `counts` are numbers that hold without being written: of files, commits, failures.
    """
    names: set[str] = set()
    numbers = {str(count) for count in counts}
    known: set[str] = set()
    for text in [*texts, *paths]:
        folded = fold(text)
        numbers |= numbers_in(folded) | spelled(folded)
        known |= stems(text)
        for word in words(folded):
            names |= name_forms(word)
    for value in hashes:
        names |= {fold(value)[:length] for length in range(7, len(value) + 1)}
    return Facts(frozenset(names), frozenset(numbers), frozenset(known))


def fold(text: str) -> str:
    """Compatibility form, lower case, every digit an ASCII one: what looks the same compares the same."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if not char.isascii() and char.isdecimal() else char for char in text)


def words(folded: str) -> list[str]:
    """Words with their inner punctuation, so that paths, versions and options stay whole."""
    runs = (run for raw in WORD.findall(folded) for run in ([raw] if raw.isascii() else _SCRIPT.findall(raw)))
    return [word for run in runs if (word := run.strip(":").rstrip("-.:").removeprefix("./"))]


def name_forms(word: str) -> set[str]:
    """Every way in which a name may rightly be given: whole, its ends, its folders, without its line number."""
    word = LINES.sub("", word).rstrip("/").replace("\\", "/").lstrip("@")
    parts = [part for part in word.split("/") if part]
    forms = {word, *parts}
    if 1 < len(parts) <= 20:
        forms |= {"/".join(parts[index:]) for index in range(len(parts))}
        forms |= {"/".join(parts[start:end]) for end in range(1, len(parts)) for start in range(end)}
    return forms | ({word.split("@")[0], word.split("#")[0], word.split("::")[-1]} - {""})


def numbers_in(folded: str) -> set[str]:
    """The numbers of a text in one spelling each; a long version also gives its beginnings."""
    found: set[str] = set()
    if not folded.isascii():
        folded = " ".join(_SCRIPT.findall(folded))
    for raw in NUMBER.findall(folded.translate(_BREAKS)):
        for number in spellings(raw):
            found.add(number)
            parts = number.split(".")
            found |= {".".join(parts[:length]) for length in range(2, len(parts))} if len(parts) > 2 else set()
    return found


def spelled(folded: str) -> set[str]:
    """The numbers that a text gives in English words."""
    return {_SPELLED[word] for word in re.findall(r"[a-z]+", folded) if word in _SPELLED}


def spellings(raw: str) -> list[str]:
    """One number in its plain spelling: without sign and thousands' commas; a run of commas is a list."""
    raw = raw.lstrip("+-")
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", raw):
        raw = raw.replace(",", "")
    elif raw.count(",") == 1 and "." not in raw:
        return [_plain(raw.replace(",", ".")), *(_plain(part) for part in raw.split(","))]
    return [_plain(part) for part in raw.split(",") if part]


def stems(text: str) -> set[str]:
    """Beginnings of the telling words; of scripts without spaces, pairs of characters."""
    folded = text if text.isascii() else unicodedata.normalize("NFKC", text)
    folded = folded.casefold()
    pairs = {run[i : i + 2] for run in _WIDE.findall(folded) for i in range(len(run) - 1)}
    return pairs | {word[:_STEM] for word in _LETTERS.findall(folded) if word not in _COMMON}


def _plain(number: str) -> str:
    if number.count(".") == 1:
        number = number.rstrip("0").rstrip(".")
    whole, dot, rest = number.partition(".")
    return (whole.lstrip("0") or "0") + dot + rest
