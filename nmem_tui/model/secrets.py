"""The cards of redactions in the review deck: what stands around one."""

from __future__ import annotations

from nmem.audit.review import BY_REDACTION, Review
from nmem.text import pad, printable
from nmem_tui.model.line import Line, wrap


def card(one: Review, cells: int, rows: int) -> list[Line]:
    """One redaction: its kind, where it stands, and the text around it; the secret itself is gone, or masked."""
    kept = one.found_by != BY_REDACTION
    ask = "Is this a secret that redaction left?" if kept else "Was this a secret?"
    lines: list[Line] = [[(ask, "title")], []]
    seen = f"  seen by {printable(one.found_by)}, kept by redaction" if kept else ""
    lines.append([(pad("kind", 8), "quiet"), (printable(one.kind), "strong"), (seen, "warn")])
    lines.append([(pad("where", 8), "quiet"), (one.target, "text"), (f"  {printable(one.day)}", "quiet")])
    lines.append([])
    lines += _around(one, cells, max(2, rows - 8))
    if kept:
        then = "If it is: add a pattern, then `nmem redact --history` takes it out of what is stored."
        lines += [[], *([(row, "quiet")] for row in wrap(then, cells, 2))]
    return lines[:rows]


def _around(one: Review, cells: int, most: int) -> list[Line]:
    """The text around it, over several lines; the place itself stands out."""
    before, masked, after = (" ".join(printable(text).split()) for text in (one.before, one.masked, one.after))
    out: list[Line] = []
    for text, tone in ((before, "text"), (masked, "accent"), (after, "text")):
        out += [[("  │ ", "line"), (row, tone)] for row in (wrap(text, max(8, cells - 4), 4) if text else [])]
    return out[:most]
