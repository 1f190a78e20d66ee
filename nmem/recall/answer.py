"""The answer to a question, as data: a decision with its text, entries that may be meant, or why there is none."""

from __future__ import annotations

ANSWERED, SEVERAL, UNSURE, NOTHING, WRONG, SILENT = "answered", "several", "unsure", "nothing", "wrong", "silent"
"""One decision; several of one name; none sure enough; none at all; a place that is not there; `null` was asked."""


class Offer:
    """An entry that may be meant: how to ask for it, the file it is in, how far it fits (1: as well as can be)."""

    __slots__ = ("extras", "file", "link", "score")

    def __init__(self, link: str, file: str, score: float = 0.0, extras: str = "") -> None:
        self.link, self.file, self.score, self.extras = link, file, score, extras


class Answer:
    """The answer to one query. Empty where something does not apply."""

    __slots__ = ("body", "broader", "confidence", "entry", "file", "heading", "kind", "line", "offers", "query",
                 "related", "said")  # fmt: skip

    def __init__(self, query: str, kind: str, said: str = "", *, confidence: float = 0.0) -> None:
        self.query, self.kind, self.said, self.confidence = query, kind, said, confidence
        self.heading = self.body = self.file = self.entry = ""
        self.line = 0
        self.broader: list[str] = []
        self.related: list[str] = []
        self.offers: list[Offer] = []

    @property
    def good(self) -> bool:
        """Whether it holds what was asked for."""
        return self.kind in (ANSWERED, SILENT)

    def form(self) -> dict[str, object]:
        """As plain values, for JSON."""
        return {
            "query": self.query, "outcome": self.kind, "confidence": round(self.confidence, 3), "entry": self.entry,
            "heading": self.heading, "file": self.file, "line": self.line, "body": self.body, "broader": self.broader,
            "related": self.related, "said": self.said,
            "offers": [{"link": each.link, "file": each.file, "score": round(each.score, 3)} for each in self.offers],
        }  # fmt: skip
