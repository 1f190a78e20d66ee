"""The only way from the memory to a model: redacts and cuts text, and encloses it in unbreakable fences."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from capture.text import clean
from nmem.llm import Redacted

Redact = Callable[[str], str]
_FENCE = re.compile(r"\[(/?)material-", re.IGNORECASE)
_GAP = " […] "


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Makes redacted text; in the product `redact` is `capture.redaction.outward`."""

    redact: Redact

    def clip(self, text: str, limit: int) -> Redacted:
        """At most `limit` characters of the redacted text: its beginning and its end."""
        text = _FENCE.sub(r"(\1material ", self.redact(without_hidden(text))).strip()
        if len(text) <= limit:
            return Redacted(text)
        head = max(0, (limit - len(_GAP)) * 2 // 3)
        tail = max(0, limit - len(_GAP) - head)
        return Redacted(text[:head].rstrip() + _GAP + (text[-tail:].lstrip() if tail else ""))

    def line(self, text: str, limit: int) -> Redacted:
        """The same on one line."""
        return Redacted(" ".join(self.clip(text, limit).split()))


def fence(sections: Iterable[tuple[str, Iterable[Redacted]]]) -> Redacted:
    """Sections of material between marks that hold a digest of all of it, so that nothing inside can forge them."""
    filled = [(title, list(rows)) for title, rows in sections]
    body = "\n\n".join("\n".join([f"{title}:", *rows]) for title, rows in filled if rows)
    mark = f"material-{hashlib.blake2b(body.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
    return Redacted(f"[{mark}]\n{body}\n[/{mark}]")


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


_TAG = re.compile(r"<(?=[/!?|A-Za-z])")
_TEMPLATE = re.compile(r"\[(?=/?(?:INST|SYS|material-)|\[)", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_INVISIBLE = {"Cf", "Cc", "Cs", "Co", "Cn"}


def untagged(text: str) -> str:
    """One line without controls, hidden characters, or anything that opens a tag or a chat template's marker."""
    text = without_hidden(text)
    text = _SPACES.sub(" ", text).strip()
    return _TEMPLATE.sub("(", _TAG.sub("‹", text))


def without_hidden(text: str) -> str:
    """The text cleaned, in composed form, without characters that take no room; line breaks stay."""
    text = clean(text)
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    return "".join(char for char in text if char in "\n\t" or _shown(char))


def _shown(char: str) -> bool:
    if "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef":
        return False
    return unicodedata.category(char) not in _INVISIBLE
