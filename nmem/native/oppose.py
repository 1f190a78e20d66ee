"""Says whether a line of instructions says otherwise than a person did: pure, from the two texts.

Only plain oppositions count: the line tells to use what the person turned down by name, or it says nearly the same with
another number or without the negation.
"""

from __future__ import annotations

import re

from nmem.decisions.find import Rarity, numbers
from nmem.episodes.text import tokens

_TERM = r"[`\"'“]?(?P<{}>[\w@./+-]+(?: [\w@./+-]+)?)[`\"'”]?"
_INSTEAD = tuple(
    re.compile(pattern.replace("CHOSEN", _TERM.format("chosen")).replace("OLD", _TERM.format("old")), re.IGNORECASE)
    for pattern in (
        r"\buse (?:the )?CHOSEN (?:instead of|rather than|over|and not|, not) (?:the )?OLD",
        r"\b(?:instead of|rather than) (?:using )?(?:the )?OLD,? (?:let'?s |we |you )?(?:should )?use (?:the )?CHOSEN",
        r"\breplace (?:the )?OLD (?:with|by) (?:the )?CHOSEN",
        r"\b(?:switch|migrate|move|change) from (?:the )?OLD to (?:the )?CHOSEN",
        r"\brename (?:the )?OLD to (?:the )?CHOSEN",
        r"\b(?:we|you)? ?(?:no longer|don'?t|do not|never|stop) us(?:e|ing) (?:the )?OLD(?P<chosen>\b)",
    )
)
_FILLING = frozenset("a an the it that this them proper anymore any more here there for in on to as at and or".split())  # noqa: SIM905
_NEGATED = re.compile(
    r"\b(?:not|never|no longer|instead|rather than|avoid|except|unless|deprecated|legacy|formerly|without|"
    r"don't|doesn't|stop)\b|n't\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|never|no|avoid|without|don't|doesn't|stop)\b|n't\b", re.IGNORECASE)
_TELLS = re.compile(r"\b(?:use|uses|using|run|runs|running|with|via|call|prefer|start|through|in)\b", re.IGNORECASE)
_NEAR = 0.75
_SHORT = 4


def turned_down(text: str) -> list[tuple[str, str]]:
    """What a person turned down, by name, and what is to be used instead (empty where nothing is)."""
    out = []
    for pattern in _INSTEAD:
        for found in pattern.finditer(text):
            old, chosen = _core(found["old"]), _core(found["chosen"] or "")
            if len(old) >= _SHORT and old != chosen:
                out.append((old, chosen))
    return out


def _core(term: str) -> str:
    """A term without the words around it that name nothing."""
    words = term.strip(".,/").lower().split(" ")
    while words and words[-1] in _FILLING:
        words.pop()
    while words and words[0] in _FILLING:
        words.pop(0)
    return " ".join(words).strip(".,")


def uses(line: str, old: str, chosen: str, about: str) -> bool:
    """Whether a line tells to use what was turned down, on the matter that it was turned down in."""
    low = line.lower()
    named = re.search(rf"(?<![\w./-]){re.escape(old)}(?![\w/-]|\.\w)", low)
    if not named or _NEGATED.search(line) or (chosen and chosen in low) or not _TELLS.search(line):
        return False
    known = {*tokens(old), *tokens(chosen)}
    return bool((set(tokens(line)) & set(tokens(about))) - known - _FILLING)


def varies(line: str, said: str, rarity: Rarity) -> str:
    """How a line differs from what was said in nearly the same words; empty: it does not, or says another thing."""
    if len(set(tokens(said))) < _SHORT or rarity.alike(line, said) < _NEAR:
        return ""
    if bool(_NOT.search(line)) != bool(_NOT.search(said)):
        return "the opposite"
    ours, theirs = numbers(line), numbers(said)
    return "another number" if ours and theirs and {n for n, _ in ours} != {n for n, _ in theirs} else ""


def same(line: str, said: str, rarity: Rarity) -> bool:
    """Whether a line says what a person said, in nearly the same words."""
    return len(set(tokens(said))) >= _SHORT and rarity.alike(line, said) >= _NEAR
