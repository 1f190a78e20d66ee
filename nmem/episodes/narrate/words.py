"""Words of a text for comparing and grounding, in any script; similarity of two texts."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Za-z_][\w.\-/]*\w|[A-Za-zÀ-ÿ]{2,}|\d+(?:\.\d+)+|[가-힣]{2,}|[ァ-ヶー]{2,}|[一-龯]{2,}")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]{2,}|[À-ÿ]+|[가-힣]+|[ァ-ヶー]+|[一-龯]+|\d+(?:\.\d+)+")
_ENDLESS = re.compile(r"\S{200,}")
"""What no name is as long as; _CODE would take its length squared, or worse, to find that out."""
_CODE = re.compile(r"[\w./~-]*[A-Za-z]\w*(?:[._/\\-]\w+)+|\w*[a-z][A-Z]\w*|--?[a-z][\w-]+|\w+\(\)|`[^`\n]{2,60}`")
COMMON = frozenset(
    [
        "the", "a", "an", "and", "or", "of", "to", "in", "on", "for", "with", "that", "this", "these", "those",
        "is", "are", "was", "were", "be", "been", "it", "its", "as", "at", "by", "from", "not", "now", "all",
        "will", "can", "could", "should", "would", "has", "have", "had", "do", "does", "did", "done", "use",
        "used", "using", "also", "just", "then", "than", "there", "here", "when", "what", "which", "who", "how",
        "why", "you", "your", "i", "we", "our", "they", "their", "them", "he", "she", "into", "out", "up", "about",
        "more", "most", "some", "any", "each", "only", "both", "make", "made", "get", "got", "let", "need",
        "needs", "want", "wants", "please", "file", "files", "code", "change", "changes", "changed", "add",
        "added", "update", "updated", "test", "tests", "new", "one", "two", "first", "user", "run", "running",
        "works", "work", "working", "like", "so", "if", "but", "no", "yes",
    ]
)  # fmt: skip


@lru_cache(maxsize=64)
def words(text: str) -> set[str]:
    """The telling words of a text, lower case: parts of identifiers, no common words; not to be changed."""
    return {part for one in set(_PART.findall(text)) if len(part := one.lower()) > 1 and part not in COMMON}


@lru_cache(maxsize=32)
def codes(text: str) -> set[str]:
    """Names in a text that look like code: paths, identifiers, options, what stands in backticks; not to be changed."""
    return {one.strip("`").rstrip(".,:;").removesuffix("()").lower() for one in _CODE.findall(_ENDLESS.sub(" ", text))}


def alike(one: set[str], other: set[str]) -> float:
    """The share of the smaller text's words that the other has too; 0 for texts without words."""
    small = min(len(one), len(other))
    return len(one & other) / small if small else 0.0


def size(text: str) -> int:
    """How many words a text has; scripts without spaces count two characters as a word."""
    dense = 0 if text.isascii() else sum(1 for char in text[:2000] if "぀" <= char <= "鿿")
    return len(text[:4000].split()) + dense // 2
