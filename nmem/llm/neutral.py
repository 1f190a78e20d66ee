"""Neutralizes text from a model for its next reader: a terminal, a person, or another model.

No tag survives (ours, a client's or a chat template's), no control, no hidden or bidirectional character, one line.
"""

from __future__ import annotations

import re
import unicodedata

from capture.text import clean

_TAG = re.compile(r"<(?=[/!?|A-Za-z])")
_TEMPLATE = re.compile(r"\[(?=/?(?:INST|SYS|material-)|\[)", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_INVISIBLE = {"Cf", "Cc", "Cs", "Co", "Cn"}


def neutral(text: str) -> str:
    """One line without controls, hidden characters, or anything that opens a tag or a chat template's marker."""
    text = visible(text)
    text = _SPACES.sub(" ", text).strip()
    return _TEMPLATE.sub("(", _TAG.sub("‹", text))


def visible(text: str) -> str:
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
