"""Claims of a sentence that can be checked: file names, hashes, identifiers, addresses, numbers.

A sentence stands when each of its claims is among the facts and it speaks of the work at all; else it is dropped whole,
because the rest of a sentence with an invented part is not to be trusted either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nmem.llm.facts import LINES, UNITS, Facts, fold, name_forms, numbers_in, words

_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!etc\.)\s+|(?<=[。！？])|\s*\n\s*")
_QUOTED = re.compile(r"`+([^`\n]+)`+")
_MEASURE = re.compile(rf"[-+~]?\d+(?:[.,]\d+)*(?:{UNITS})?")
_DOTTED = re.compile(r"(?:[\w@~-]|\.(?=\w))[\w.+@~-]*\.[a-z_]\w{0,15}|\.[a-z_][\w.-]+")
_HASH = re.compile(r"(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}|[a-f]{7,40}")
_PLACE = re.compile(r"(?<=[a-z_]):\d+(?:-\d+)?(?:[,;]?(?=\s|$|\W))")
"""A line or lines of a file: a place, not a number that is claimed."""
_SHORT_HASH = re.compile(r"[0-9a-f]{6,64}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAST_WORDS, _LEAST_WIDE = 3, 6
_PAIRS = """and/or read/write input/output i/o client/server ci/cd tcp/ip yes/no true/false on/off n/a before/after
    start/stop pass/fail w/o open/close load/save enable/disable left/right"""
_PLAIN_PAIRS = frozenset(_PAIRS.split())
_PLAIN_DOTS = frozenset(("e.g", "i.e", "a.m", "p.m", "u.s", "etc", "vs"))
_FILES = "makefile dockerfile justfile procfile jenkinsfile gemfile rakefile vagrantfile"
_BARE_FILES = frozenset(_FILES.split())
_WORDS = """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty"""
_ROUND = {"thirty": "30", "forty": "40", "fifty": "50", "dozen": "12", "hundred": "100", "thousand": "1000"}
_SPELLED = {word: str(value) for value, word in enumerate(_WORDS.split(), start=2)} | _ROUND
_TO_THE_READER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|previous|prior|above|earlier|rule|prompt)"
    r"|\bsystem (?:prompt|message|override|reminder)\b"
    r"|\byou (?:must|should|are|will|have to|need to) (?:now|always|never|immediately)\b"
    r"|\bas an ai\b|\b(?:assistant|system|developer|user|human)\s*:"
    r"|\b(?:curl|wget|iwr)\b.*\|\s*(?:ba|z|da)?sh\b|\brm -rf\b|\bbase64 -d\b|\beval\s*\(",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order."""
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]


def safe(sentence: str, *, brief: bool = False) -> bool:
    """Whether a sentence addresses nobody, does not go round in circles, and says something; `brief`: or is a word."""
    return not (_TO_THE_READER.search(sentence) or _loops(sentence)) and (brief or _says(sentence))


def stands(sentence: str, facts: Facts, *, brief: bool = False) -> bool:
    """Whether the sentence may be kept; `brief` lets a bare word or name pass as one."""
    if not safe(sentence, brief=brief):
        return False
    return not unsupported(sentence, facts) and (facts.grounds(sentence) or any(named(fold(sentence))))


def unsupported(sentence: str, facts: Facts) -> list[str]:
    """The names and numbers of a sentence that the facts do not have."""
    folded = fold(sentence)
    return [
        *(claim for claim in named(folded) if not _known(claim, facts)),
        *sorted(number for number in numbers(folded) if number not in facts.numbers),
    ]


def named(folded: str) -> Iterator[str]:
    """The names a folded sentence gives: what is quoted as code, and what looks like a path, hash or identifier."""
    for quoted in _QUOTED.findall(folded):
        yield from words(quoted)
    for word in words(folded):
        if _is_name(word):
            yield word


def numbers(folded: str) -> set[str]:
    """The numbers a folded sentence gives, in digits or in English words."""
    found = numbers_in(_PLACE.sub(" ", folded))
    for word in re.findall(r"[a-z]+", folded):
        if word in _SPELLED:
            found.add(_SPELLED[word])
    return found


def _is_name(word: str) -> bool:
    if word in _PLAIN_DOTS or word in _PLAIN_PAIRS or _MEASURE.fullmatch(word):
        return False
    bare = LINES.sub("", word)
    return bool(
        "/" in bare or "\\" in bare or "_" in bare.strip("_") or "://" in word or bare.startswith("--")
        or _DOTTED.fullmatch(bare) or _HASH.fullmatch(bare) or bare in _BARE_FILES
        or (any(char.isdigit() for char in bare) and any(char.isalpha() for char in bare))
    )  # fmt: skip


def _known(name: str, facts: Facts) -> bool:
    """Whether a name is among the facts as it is given; a number quoted as code is left to the numbers."""
    if _MEASURE.fullmatch(name) and not _HASH.fullmatch(name):
        return True
    bare = LINES.sub("", name).rstrip("/").replace("\\", "/")
    if bare in facts.names:
        return True
    if _SHORT_HASH.fullmatch(bare):
        return any(each.startswith(bare) and _HASH.fullmatch(each) for each in facts.names)
    return not _is_name(bare) and bool(name_forms(bare) & facts.names)


def _says(sentence: str) -> bool:
    """Whether it is long enough: three words, two with a name, or six characters of a script without spaces."""
    count = len(sentence.split())
    if count >= _LEAST_WORDS or len(_WIDE.findall(sentence)) >= _LEAST_WIDE:
        return True
    return count == _LEAST_WORDS - 1 and any(named(fold(sentence)))


def _loops(sentence: str) -> bool:
    """Whether it says one thing over and over, as a small model at a loss does."""
    row = sentence.casefold().split()
    if len(row) < 12:
        return False
    triples = [tuple(row[i : i + 3]) for i in range(len(row) - 2)]
    return len(set(triples)) < len(triples) * 0.6


@dataclass
class Checker:
    """Keeps what stands, once, and counts both; one checker for one answer, its fields in order of importance."""

    facts: Facts
    kept: int = 0
    dropped: int = 0
    seen: set[str] = field(default_factory=set)
    strange: list[str] = field(default_factory=list)
    """Names and numbers for which sentences were dropped."""

    def text(self, text: str, *, brief: bool = False) -> str:
        """The sentences of the text that stand and were not said before, joined."""
        rows = sentences(text)
        standing = [row for row in rows if self._new(row) and self._stands(row, brief)]
        self.dropped += len(rows) - len(standing)
        self.kept += len(standing)
        return " ".join(standing).rstrip(" ;；")

    def texts(self, rows: Iterable[str], *, brief: bool = False) -> tuple[str, ...]:
        """The rows of which something stands."""
        return tuple(checked for row in rows if (checked := self.text(row, brief=brief)))

    def _stands(self, sentence: str, brief: bool) -> bool:
        if stands(sentence, self.facts, brief=brief):
            return True
        self.strange += [word for word in unsupported(sentence, self.facts) if word not in self.strange]
        return False

    @property
    def mostly_invented(self) -> bool:
        """Whether more was dropped than kept: then the rest is luck."""
        return self.dropped > self.kept

    def _new(self, sentence: str) -> bool:
        """Whether it was not said before: a model at a loss says one thing in every field."""
        key = sentence.casefold().strip(" .;!")
        if key in self.seen:
            return False
        self.seen.add(key)
        return True
