"""Summarizes an edit in a few lines: removed and added text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LINES = 40
_ROOM = 2_400  # characters
_LONG = 400  # a longer line is told by its length: cutting it could halve a secret


def compact(file: dict[str, object]) -> str:
    """The changed lines of one file, `- ` and `+ ` before each; from its patch, else from its text before and after."""
    patch = file.get("patch")
    if isinstance(patch, str) and patch:
        return _shown(line for line in _head(patch) if line[:1] in ("+", "-") and line[:4] not in ("+++ ", "--- "))
    old, new = file.get("old"), file.get("new")
    before = _head(old) if isinstance(old, str) and old else []
    after = _head(new) if isinstance(new, str) and new else []
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    half = _LINES // 2 if after else _LINES
    removed = ["-" + line for line in before[:half]]
    if len(before) > half:
        removed.append(f"-({len(before) - half} more lines)")
    return _shown([*removed, *("+" + line for line in after[: _LINES + 1])])


def _head(text: str) -> list[str]:
    """The first lines; the window's last, half line is left out."""
    if len(text) <= 16_384:
        return text.split("\n")
    return text[:16_384].split("\n")[:-1]


def _shown(lines: Iterable[str]) -> str:
    kept: list[str] = []
    room = _ROOM
    for line in lines:
        text = line[1:].rstrip()
        shown = f"{line[0]} {text}" if len(text) <= _LONG else f"{line[0]} ({len(text)} characters)"
        room -= len(shown) + 1
        if room < 0 or len(kept) >= _LINES:
            kept.append("…")
            break
        if text:
            kept.append(shown)
    return "\n".join(kept)
