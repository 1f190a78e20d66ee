"""The only way from the memory to a model: redacts and cuts text, and encloses it in unbreakable fences."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nmem.llm.backend import Redacted, tokens
from nmem.llm.neutral import visible

Redact = Callable[[str], str]
_FENCE = re.compile(r"\[(/?)material-", re.IGNORECASE)
_GAP = " […] "


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Makes redacted text; in the product `redact` is `capture.redact.redact`."""

    redact: Redact

    def clip(self, text: str, limit: int) -> Redacted:
        """At most `limit` characters of the redacted text: its beginning and its end."""
        text = _FENCE.sub(r"(\1material ", self.redact(visible(text))).strip()
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


def latest(lines: Iterable[Redacted], budget: int) -> list[Redacted]:
    """As many of the last lines as fit into `budget` tokens, in order; a note stands for those left out."""
    rows = list(lines)
    kept: list[Redacted] = []
    for row in reversed(rows):
        budget -= tokens(row) + 1
        if budget < 0 and kept:
            break
        kept.append(row)
    left = len(rows) - len(kept)
    note = [Redacted(f"({left} earlier left out)")] if left else []
    return note + kept[::-1]


def ends(lines: Iterable[Redacted], budget: int) -> list[Redacted]:
    """The first line and as many of the last as fit: an intent is in the opening and in the newest words."""
    rows = list(lines)
    if not rows:
        return []
    return [rows[0], *latest(rows[1:], budget - tokens(rows[0]) - 1)] if len(rows) > 1 else rows
