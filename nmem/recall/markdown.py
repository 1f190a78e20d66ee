"""Parses headings of a Markdown text and the sections below them, ignoring code fences.

Lines are those between line feeds, so a section can be cut out byte for byte; a carriage return at an end is no text.
"""

from __future__ import annotations

DEEPEST = 6
FENCES = ("```", "~~~")


class Heading:
    """A heading: `line` counts from 0, its section is lines[line + 1:end], `parent` the place of the one above."""

    __slots__ = ("end", "level", "line", "parent", "text")

    def __init__(self, line: int, level: int, text: str, parent: int) -> None:
        self.line, self.level, self.text, self.parent, self.end = line, level, text, parent, 0

    @property
    def title(self) -> str:
        """The text without the dot that marks a heading as one of structure only."""
        return self.text.removeprefix(".").strip()

    @property
    def dotted(self) -> bool:
        """Whether it only orders others, and is no decision itself."""
        return self.text.startswith(".")


def lines_of(text: str) -> list[str]:
    """The lines, without line feeds."""
    return text.split("\n")


def headings(lines: list[str]) -> list[Heading]:
    """All headings of the ATX kind, in order, each with its parent (-1: none) and its end."""
    found: list[Heading] = []
    open_at: list[int] = []
    fence = ""
    for number, line in enumerate(lines):
        if fence or line[:1] in "#`~ ":
            bare = line.strip()
            if fence:
                if closes(bare, fence):
                    fence = ""
            elif bare[:3] in FENCES:
                fence = fence_of(bare)
            elif line[:1] == "#" and (level := _level(line)):
                while open_at and found[open_at[-1]].level >= level:
                    found[open_at.pop()].end = number
                found.append(Heading(number, level, _text(line, level), open_at[-1] if open_at else -1))
                open_at.append(len(found) - 1)
    for place in open_at:
        found[place].end = len(lines)
    return found


def fence_of(bare: str) -> str:
    """The run of marks that opens a fence, at whatever depth of a list; none where it is code on one line."""
    run = bare[: len(bare) - len(bare.lstrip(bare[0]))]
    return "" if run[0] == "`" and "`" in bare[len(run) :] else run


def closes(bare: str, fence: str) -> bool:
    """Whether a stripped line closes a fence."""
    return bare[:1] == fence[0] and len(bare) >= len(fence) and not bare.strip(fence[0])


def _level(line: str) -> int:
    level = len(line) - len(line.lstrip("#"))
    return level if level <= DEEPEST and line[level : level + 1] in (" ", "\t") and line[level:].strip() else 0


def _text(line: str, level: int) -> str:
    text = line[level:].strip()
    closed = text.rstrip("#")
    return closed.rstrip() if closed != text and closed[-1:] in (" ", "\t") else text


def body(lines: list[str], heading: Heading) -> str:
    """The text below a heading, with all that is subordinate to it, without empty lines around it."""
    return "\n".join(line.removesuffix("\r") for line in lines[heading.line + 1 : heading.end]).strip()


def ancestors(found: list[Heading], place: int) -> list[int]:
    """Places of the headings above one, the highest first; the document's title (level 1) is none of them."""
    out: list[int] = []
    above = found[place].parent
    while above >= 0:
        if found[above].level > 1:
            out.append(above)
        above = found[above].parent
    return out[::-1]
