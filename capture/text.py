"""Text from outside, made safe to store and to search: no escape sequences, no control or hidden characters.

It runs before redaction, so that a colour code or an invisible character inside a secret cannot hide it.
"""

from __future__ import annotations

_ESC = "\x1b"
_CONTROLS = [chr(c) for c in range(32) if chr(c) not in "\n\t\r\x1b"] + [chr(c) for c in range(0x7F, 0xA0)]
# Zero-width characters, bidi marks, overrides and isolates, and the byte order mark.
_HIDDEN = "\u00ad\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
_STRINGS = "]P_^X"
_LONGEST_STRING = 4096


def clean(text: str) -> str:
    """The same text without ANSI and OSC sequences, control characters, NUL, hidden characters and lone surrogates.

    Newlines and tabs stay; a carriage return becomes a newline, once.
    """
    if text.isascii():
        if text.replace("\n", "").replace("\t", "").isprintable():
            return text
    else:
        text = _visible(text)
    if _ESC in text:
        text = _without_escapes(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    for char in _CONTROLS:
        if char in text:
            text = text.replace(char, "")
    return text


def whole(text: str) -> str:
    """The same text with replacement characters for lone surrogates: those of a name whose bytes are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _visible(text: str) -> str:
    text = whole(text)
    if "\x9b" in text:
        text = text.replace("\x9b", "\x1b[")
    for char in _HIDDEN:
        if char in text:
            text = text.replace(char, "\n" if char in "\u2028\u2029" else "")
    return text


def _without_escapes(text: str) -> str:
    parts, start = [], 0
    at = text.find(_ESC)
    while at >= 0:
        parts.append(text[start:at])
        start = _escape_end(text, at)
        at = text.find(_ESC, start)
    parts.append(text[start:])
    return "".join(parts)


def _escape_end(text: str, at: int) -> int:
    """Where the sequence that begins at `at` is over; a torn one loses its introducer only."""
    kind = text[at + 1 : at + 2]
    if kind == "[":
        return _csi_end(text, at + 2)
    if kind and kind in _STRINGS:
        return _string_end(text, at + 2)
    end = at + 1
    while end < len(text) and " " <= text[end] <= "/":
        end += 1
    return end + 1 if end < len(text) and "0" <= text[end] <= "~" else end


def _csi_end(text: str, at: int) -> int:
    end = at
    while end < len(text) and " " <= text[end] <= "?" and end - at < 64:
        end += 1
    return end + 1 if end < len(text) and "@" <= text[end] <= "~" else end


def _string_end(text: str, at: int) -> int:
    """After the bell or the string terminator of an OSC, DCS, APC, PM or SOS string."""
    limit = min(len(text), at + _LONGEST_STRING)
    bell = text.find("\x07", at, limit)
    escape = text.find(_ESC, at, limit)
    if bell >= 0 and (escape < 0 or bell < escape):
        return bell + 1
    if escape >= 0 and text[escape + 1 : escape + 2] == "\\":
        return escape + 2
    return at
