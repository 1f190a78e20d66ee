"""Formats an answer as text: the decision with its links, or what else to ask. For people and agents."""

from __future__ import annotations

from capture.text import attached
from nmem.names import cited
from nmem.recall.answer import ANSWERED, SILENT, Answer
from nmem.text import printable

_PATH = 400
BETWEEN = "\n---\n"
"""Between the answers to several queries."""


def told(answer: Answer) -> str:
    """The answer, printable, ending in a line feed; "" where silence was asked for."""
    if answer.kind == SILENT:
        return ""
    if answer.kind != ANSWERED:
        return _otherwise(answer)
    whole = not answer.broader
    out = [] if whole else [f"# {printable(answer.heading)}", ""]
    out += [safe(answer.body), ""]
    for name, links in (("Broader:", answer.broader), ("Related:", answer.related)):
        if links:
            out += [name, *map(printable, links), ""]
    where = cited(answer.file, _PATH) + ("" if whole else f":{answer.line}")
    sure = f" (confidence {answer.confidence:.2f})" if answer.confidence < 1 else ""
    return "\n".join([*out, f"Source: {where}{sure}"]) + "\n"


def _otherwise(answer: Answer) -> str:
    asked = f"{printable(answer.query)}: " if answer.query else ""
    out = [f"{asked}{printable(answer.said)}"]
    for each in answer.offers:
        score = f"{each.score:.2f}  " if 0 < each.score < 1 else ""
        out.append(
            f"  {score}{printable(each.link)}  ({cited(each.file, _PATH)})"
            if each.file
            else f"  {printable(each.link)}"
        )
    return "\n".join(out) + "\n"


def safe(text: str) -> str:
    """A text as it is, but for controls and what reorders or hides: those become visible."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = attached(text)
    return "".join(char if char in "\n\t" or char.isprintable() or char in _KEPT else printable(char) for char in text)


_KEPT = "\u00a0\u200c\u200d\ufe0e\ufe0f\u3000\u2009\u202f"
"""Blanks, and what joins or colours pictures: harmless, and part of what a person wrote."""
