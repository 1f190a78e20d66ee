"""Makes stored text safe to print on a terminal: no control characters; measures, cuts and pads by cell width.

`printable` gives one line; `lines` keeps line breaks; `to_json` is data in which nothing acts. Widths are terminal
cells, as the renderer counts them.
"""

from __future__ import annotations

import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ELLIPSIS = "…"
_MAX_MARKS = 2
"""Combining marks kept on one character: more are a smear over the neighbouring lines."""


_UNSEEN = {0x115F, 0x1160, 0x200C, 0x200D, 0x302E, 0x302F, 0x3164, 0xFEFF, 0xFFA0, 0x16FF0, 0x16FF1}
"""Joiners, fillers and tone marks: invisible or not, terminals do not agree on their width."""
_UNSEEN |= {*range(0xFE00, 0xFE10), *range(0xE0000, 0xE1000), *range(0x1F3FB, 0x1F400)}
"""Selectors, tags and skin tones as well."""
_WAVERING = {
    *range(0x2630, 0x2638), *range(0x268A, 0x2690), *range(0x3248, 0x3250), *range(0x4DC0, 0x4E00),
    *range(0x1D300, 0x1D380),
}  # fmt: skip
"""Signs that newer versions of Unicode made twice as wide: on some terminals they are, on some not."""


class _Pictures(dict[int, str | int | None]):
    """Translation table that decides on a character when it first meets it."""

    def __missing__(self, code: int) -> str | int | None:
        self[code] = picture = _picture(code)
        return picture


def _picture(code: int) -> str | int | None:
    """What stands for one character: itself, a visible glyph, or nothing."""
    if code < 0x20:
        return {0x0A: "↵", 0x0D: None, 0x09: "→"}.get(code, chr(0x2400 + code))
    if code == 0x7F:
        return "␡"
    if code in _UNSEEN:
        return None
    category = unicodedata.category(chr(code))
    if category == "Cf":
        return "‐" if code == 0xAD else "⍰"
    if category in ("Zl", "Zp"):
        return "↵"
    if category in ("Cc", "Cs", "Cn") or code in _WAVERING:
        return "⍰"
    return " " if category == "Zs" else code


_PICTURES = _Pictures()


class _Escapes(dict[int, str | int]):
    """Translation table of JSON: what a terminal or a reader would not show as itself becomes `\\uXXXX`."""

    def __missing__(self, code: int) -> str | int:
        char = chr(code)
        acts = code not in (0x0A, 0x200C, 0x200D) and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
        self[code] = made = "".join(f"\\u{half:04x}" for half in _halves(code)) if acts else code
        return made


def _halves(code: int) -> tuple[int, ...]:
    """A character as JSON escapes it: beyond the basic plane as a pair of surrogates."""
    return (code,) if code < 0x10000 else (0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code & 0x3FF))


_ESCAPES = _Escapes()


def as_data(value: Any) -> object:  # noqa: ANN401 -- whatever a record holds
    """A value in the types of JSON: a record becomes an object of its public fields, another iterable a list."""
    if isinstance(value, _SCALARS):
        return value
    if hasattr(value, "__dataclass_fields__"):
        from dataclasses import asdict  # on use: `nmem when` starts without

        value = asdict(value, dict_factory=lambda named: {name: each for name, each in named if name[0] != "_"})
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if hasattr(value, "items"):
        return {
            key if isinstance(key, _SCALARS) else str(key): each if isinstance(each, _SCALARS) else as_data(each)
            for key, each in value.items()
        }
    return [as_data(each) for each in value] if hasattr(value, "__iter__") else str(value)


_SCALARS = (str, int, float, type(None))


def to_json(value: object, *, indent: int | None = None, sort_keys: bool = False, compact: bool = False) -> str:
    """A value as JSON, records included; control, bidi and hidden characters are escaped, and so kept."""
    from json import dumps  # on use: `nmem when` starts without

    text = dumps(as_data(value), ensure_ascii=False, indent=indent, sort_keys=sort_keys,
                      separators=(",", ":") if compact else None)  # fmt: skip
    return text if text.isprintable() else text.translate(_ESCAPES)


def from_json(stored: object) -> object:
    """A stored JSON value; None of one that is damaged."""
    from json import loads  # on use: `nmem when` starts without

    try:
        return loads(stored) if isinstance(stored, str) else None
    except (ValueError, RecursionError):
        return None


def json_object(stored: object) -> dict[str, Any]:
    """A stored JSON object; an empty one where it is damaged, or something else."""
    value = from_json(stored)
    return value if isinstance(value, dict) else {}


def json_list(stored: object) -> list[Any]:
    """A stored JSON list; an empty one where it is damaged, or something else."""
    value = from_json(stored)
    return value if isinstance(value, list) else []


def texts(stored: object) -> tuple[str, ...]:
    """The texts of a stored JSON list."""
    return tuple(one for one in json_list(stored) if isinstance(one, str))


def whole(value: object) -> int:
    """A number out of stored JSON; 0 for anything else."""
    return int(value) if isinstance(value, int | float) else 0


def printable(text: str) -> str:
    """One line that is safe to print: controls, escapes, bidi overrides and line breaks become visible glyphs."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").translate(_PICTURES)
    return text if text.isascii() else _without_smears(text)


def _without_smears(text: str) -> str:
    """At most two combining marks on a character, none at the start."""
    marks, out = _MAX_MARKS, []
    for char in text:
        if char > "\u02ff" and unicodedata.category(char) in ("Mn", "Me", "Mc"):
            marks += 1
            if marks > _MAX_MARKS:
                continue
        else:
            marks = 0
        out.append(char)
    return "".join(out)


def lines(text: str, limit: int = 2000) -> list[str]:
    """The text's own lines, each printable, tabs as blanks; at most `limit` of them."""
    rows = text.replace("\r\n", "\n").replace("\t", "    ").split("\n", limit)
    return [printable(row) for row in rows[:limit]]


def width(text: str) -> int:
    """Cells that a printable text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # on use: start-up stays short

    return cell_len(text)


def fit(text: str, cells: int) -> str:
    """At most `cells` cells of a printable text; an ellipsis says that something was cut."""
    if cells <= 0:
        return ""
    if width(text) <= cells:
        return text
    return _head(text, cells - 1).rstrip() + ELLIPSIS


def at_word(text: str, limit: int) -> str:
    """A text that was cut, or is too long, up to its last whole word."""
    text = " ".join(text.split())
    if len(text) <= limit and not text.endswith(ELLIPSIS):
        return text
    head = text[: limit - 1].rstrip(ELLIPSIS)
    space = head.rfind(" ")
    return (head[:space] if space > len(head) // 2 else head).rstrip(" ,;:([{“—-") + ELLIPSIS


def fit_path(path: str, cells: int) -> str:
    """At most `cells` cells of a path; its end says more than its beginning."""
    if cells <= 0:
        return ""
    if width(path) <= cells:
        return path
    tail = _head(path[::-1], cells - 1)[::-1]
    cut = tail.find("/")
    if 0 < cut < len(tail) - 1:
        tail = tail[cut:]
    return ELLIPSIS + tail


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """Exactly `cells` cells: cut or filled with blanks, at the left when `right`-aligned."""
    text = fit(text, cells)
    blanks = " " * max(0, cells - width(text))
    return blanks + text if right else text + blanks


def _head(text: str, cells: int) -> str:
    """The longest beginning that fits."""
    if text.isascii():
        return text[:cells]
    low, high = 0, min(len(text), cells * (_MAX_MARKS + 1))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if width(text[:middle]) <= cells else (low, middle - 1)
    return text[:low]


def whole_minutes(ms: int) -> int:
    """The minutes of a duration that are over, everywhere: 7 for 7 min 59 s, as between two times of a clock."""
    return ms // 60_000


def counted(number: int, what: str) -> str:
    """1 prompt, 2 prompts."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
