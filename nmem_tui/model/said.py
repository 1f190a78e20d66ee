"""What is said in a toast: one line where there is room, else two; how to take it back is never cut away."""

from __future__ import annotations

from nmem.text import fit, printable, width
from nmem_tui.model.line import wrap

_LINES = 2
_FRAME = 3
"""Cells of its edge and blanks."""
_BACK = " · "
"""What stands behind it says what can be done now."""


def lines(text: str, cells: int) -> str:
    """So much of a text as stands in at most two lines of a screen of so many cells, without what a terminal obeys."""
    room = max(8, cells - _FRAME)
    whole = printable(text)
    if len(wrap(whole, room, _LINES + 1)) <= _LINES:
        return "\n".join(wrap(whole, room, _LINES))
    head, sign, tail = whole.rpartition(_BACK)
    if not sign or width(sign + tail) >= room:
        return "\n".join(wrap(whole, room, _LINES))
    first, *rest = wrap(head, room, _LINES)
    last = fit(f"{rest[0]}…" if rest else "…", room - width(sign + tail))
    return f"{first}\n{last}{sign}{tail}"
