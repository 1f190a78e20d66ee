"""Cleans outside text for storage and search: no escape sequences, control or hidden characters.

It runs before redaction, so that a colour code or an invisible character inside a secret cannot hide it.
"""

from __future__ import annotations

_ESC = "\x1b"
_CONTROLS = [chr(c) for c in range(32) if chr(c) not in "\n\t\r\x1b"] + [chr(c) for c in range(0x7F, 0xA0)]
_BREAKS = frozenset("\u2028\u2029")
_JOINERS = frozenset("\u200c\u200d")
"""Join or separate letters (Persian, Indic scripts) and the parts of an emoji: they act on what is not ASCII."""
_SELECTORS = (("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))
"""Choose a form of the character before them: one for each character, a row of them would carry hidden bytes."""
_HIDDEN = (
    ("\xad", "\xad"), ("\u061c", "\u061c"), ("\u180e", "\u180e"), ("\u200b", "\u200b"), ("\u200e", "\u200f"),
    ("\u202a", "\u202e"), ("\u2060", "\u206f"), ("\ufeff", "\ufeff"), ("\ufff9", "\ufffb"),
    ("\U0001bca0", "\U0001bca3"), ("\U0001d173", "\U0001d17a"), ("\U000e0000", "\U000e007f"),
)  # fmt: skip
"""Zero-width characters, bidi marks, overrides and isolates, the byte order mark, and the tag block, which spells
ASCII that no one sees. Each is unprintable, so a text that is printable holds none."""
_KEYCAP, _LAST_ASCII = "\u20e3", "\x7f"
_FIRST = "\u200c"
"""The lowest character that joins or selects."""
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
        text = whole(text)
        if not text.replace("\n", "").replace("\t", "").replace("\xa0", "").isprintable():
            text = _visible(text)
    if _ESC in text:
        text = _without_escapes(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    for char in _CONTROLS:
        if char in text:
            text = text.replace(char, "")
    return attached(text)


def whole(text: str) -> str:
    """The same text with replacement characters for lone surrogates: those of a name whose bytes are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _visible(text: str) -> str:
    """Without hidden characters; C1's introducer becomes its two characters."""
    if "\x9b" in text:
        text = text.replace("\x9b", "\x1b[")
    for char in [char for char in set(text) if char > _LAST_ASCII and not char.isprintable()]:
        if char in _BREAKS or _within(char, _HIDDEN):
            text = text.replace(char, "\n" if char in _BREAKS else "")
    return text


def _within(char: str, ranges: tuple[tuple[str, str], ...]) -> bool:
    return any(low <= char <= high for low, high in ranges)


def _attaches(char: str) -> bool:
    return char in _JOINERS or _within(char, _SELECTORS)


def _may_attach(text: str) -> bool:
    """Whether a joiner or a selector may be in it: by its bytes, ten times as fast as by its characters."""
    raw = text.encode("utf-8", "surrogatepass")
    return b"\xef\xb8" in raw or b"\xf3\xa0" in raw or b"\xe2\x80\x8c" in raw or b"\xe2\x80\x8d" in raw


def attached(text: str) -> str:
    """The same text with joiners and selectors only where they act, and at most one of each in one place.

    They act on a character outside of ASCII or in a keycap; between letters of ASCII they hide a word or a secret.
    """
    if text.isascii() or not _may_attach(text):
        return text
    found = [char for char in set(text) if char >= _FIRST and _attaches(char)]
    out, start = [], 0
    places = sorted(at for char in found for at in _places(text, char))
    for place in places:
        if place < start:
            continue
        end = place + 1
        while _attaches(text[end : end + 1]):
            end += 1
        before, after = text[place - 1 : place], text[end : end + 1]
        selects = before > _LAST_ASCII or after == _KEYCAP
        joins = before > _LAST_ASCII or after > _LAST_ASCII
        out.append(text[start:place])
        out.append(next((char for char in text[place:end] if _within(char, _SELECTORS)), "") if selects else "")
        out.append(next((char for char in text[place:end] if char in _JOINERS), "") if joins else "")
        start = end
    return "".join(out) + text[start:]


def _places(text: str, char: str) -> list[int]:
    found, at = [], text.find(char)
    while at >= 0:
        found.append(at)
        at = text.find(char, at + 1)
    return found


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
