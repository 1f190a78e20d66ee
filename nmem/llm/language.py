"""Detects the language a person writes in, if clear: a model is told to answer in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_SCRIPTS = (
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af]")),
    ("Chinese", re.compile(r"[\u3400-\u9fff]")),
    ("Russian", re.compile(r"[\u0400-\u04ff]")),
)
_WORDS = {
    "English": "the and is to of it that this for with you not are can in on we please have be should",
    "German": "der die das und ist nicht ich ein eine zu mit den auf für bitte wir es auch noch",
    "Portuguese": "o os não um uma que para com por está isso mas quando você ele faz do da em no na",
    "Spanish": "el los una que para con por está esto pero cuando no se del las y lo hay en la",
    "French": "le les une est pas que pour avec dans sur ce des je nous il et du au la ne",
}
_KNOWN = {name: frozenset(words.split()) for name, words in _WORDS.items()}
_LETTERS = re.compile(r"[^\W\d_]+")
_ENOUGH = 0.12
"""Of a text's letters that are of one script: code and names are Latin in any language."""


def language(texts: Iterable[str]) -> str:
    """The language that most of the texts are in; empty where that is not plain."""
    text = "\n".join(one[:400] for one in texts)[:8_000]
    letters = sum(map(str.isalpha, text))
    for name, script in _SCRIPTS:
        if letters and len(script.findall(text)) >= _ENOUGH * letters:
            return name
    words = _LETTERS.findall(text.lower())
    counts = Counter({name: sum(word in known for word in words) for name, known in _KNOWN.items()})
    (first, most), (_, second) = counts.most_common(2)
    return first if most >= 3 and most > second else ""
