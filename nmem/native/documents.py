"""Reads the files of instructions that clients load in a project: their lines, sections, imports and tokens.

Given the project's folder, gives one Document a file, each file once: a link to another one of them is that one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from capture.files import regular
from nmem.context.items import tokens
from nmem.learn.instructions import CLOSE, OPEN

PROJECT = {
    "CLAUDE.md": ("claude",), ".claude/CLAUDE.md": ("claude",), "CLAUDE.local.md": ("claude",),
    "AGENTS.md": ("codex", "cursor", "opencode"), "GEMINI.md": ("gemini",),
}  # fmt: skip
"""Files of a project, and the clients that load them when a session begins."""
IMPORTING = frozenset(("claude", "gemini"))
"""Clients that follow `@path` in what they load."""
MEMORY, ALWAYS, ASKED = "memory", "each session", "on demand"
_INDEX = "MEMORY.md"
_INDEX_LINES = 200
"""Lines of a memory's index that Claude Code loads."""
_HOPS = 5
"""Claude Code follows imports of imports so far."""
_LARGEST = 1_000_000
_IMPORT = re.compile(r"(?:(?<=\s)|^)@((?:~/|\.{0,2}/)?[\w.-][\w./+-]*)")
_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_FENCE = re.compile(r"\s*(?:[-*+>]\s+|\d+[.)]\s+)*(`{3,}|~{3,})\s*([\w+-]*)")
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `fence`: the language of the code block it is in, `code` where none is named, "" outside of one."""

    number: int
    """From 1."""
    text: str
    fence: str
    heading: str
    """The nearest heading above it; of itself where it is one."""
    above: tuple[str, ...]
    """The headings over it, the outermost first."""
    own: bool
    """Whether it stands between nmem's markers."""
    is_heading: bool = False
    opens: int = 0
    """The line that its code block begins in; 0 outside."""
    comment: bool = False
    """All or some of it is an HTML comment: no session is told it."""


@dataclass(slots=True)
class Document:
    """One file. Its `shown` name is relative to the project, or begins with ~."""

    path: str
    shown: str
    clients: tuple[str, ...]
    loaded: str
    """each session, or on demand"""
    data: bytes
    root: str
    """The folder that a change of it may not leave."""
    imported_by: str = ""
    """file:line, where another one imports it."""
    everywhere: bool = False
    """It holds for every project of the person: what it names need not be here."""
    leads_out: bool = False
    """It is a link to a file outside of `root`: no diff touches it."""
    lines: list[Line] = field(default_factory=list)
    missing: list[tuple[int, str]] = field(default_factory=list)
    """Imports that lead nowhere, by line."""

    @property
    def tokens(self) -> int:
        """About how many tokens a session pays for it."""
        return sum(tokens(line.text) for line in self.told) if self.data else 0

    @property
    def told(self) -> list[Line]:
        """The lines that are loaded: of a memory's index only the first ones."""
        return self.lines[:_INDEX_LINES] if Path(self.path).name == _INDEX else self.lines

    @property
    def sections(self) -> list[tuple[int, str, int]]:
        """Line, heading and tokens of each section up to the next heading, the heaviest first."""
        found: dict[tuple[int, str], int] = {}
        at = (1, "(before the first heading)")
        for line in self.told:
            if line.is_heading:
                at = (line.number, line.heading)
            found[at] = found.get(at, 0) + tokens(line.text)
        return sorted(((number, name, many) for (number, name), many in found.items()), key=lambda one: -one[2])


def find(root: str, home: str) -> list[Document]:
    """Every file that is loaded in a project, the project's own first; files that cannot be read are left out."""
    found: dict[str, Document] = {}
    for name, clients in PROJECT.items():
        _add(found, os.path.join(root, name), root, home, clients)
    claude = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    for path, client in ((f"{claude}/CLAUDE.md", "claude"), (f"{home}/.codex/AGENTS.md", "codex"),
                         (f"{home}/.gemini/GEMINI.md", "gemini")):  # fmt: skip
        if one := _add(found, path, os.path.dirname(path), home, (client,), project=root):
            one.everywhere = True
    memory = os.path.join(claude, "projects", re.sub(r"[^A-Za-z0-9]", "-", root), MEMORY)
    for file in sorted(Path(memory).glob("*.md")) if os.path.isdir(memory) else ():
        loaded = ALWAYS if file.name == _INDEX else ASKED
        _add(found, str(file), memory, home, ("claude",), loaded=loaded, project=root)
    return list(found.values())


def _add(
    found: dict[str, Document], path: str, root: str, home: str, clients: tuple[str, ...], *, by: str = "",
    loaded: str = ALWAYS, hops: int = 0, project: str = "",
) -> Document | None:  # fmt: skip
    """Read a file and what it imports; one that is known already is only known to more clients."""
    real = os.path.realpath(path)
    if (known := found.get(real)) is not None:
        known.clients = tuple(dict.fromkeys((*known.clients, *clients)))
        known.imported_by = known.imported_by or by
        return known
    data = _read(path)
    if data is None:
        return None
    one = Document(
        path, _shown(path, project or root, home), clients, loaded, data, root, by, leads_out=not _within(path, root)
    )
    one.lines = list(parse(data.decode("utf-8", "replace")))
    found[real] = one
    importing = tuple(client for client in clients if client in IMPORTING)
    for line, name in _imports(one.lines) if importing else ():
        target = os.path.normpath(os.path.join(os.path.dirname(path), os.path.expanduser(name)))
        if not os.path.exists(target):
            if name.endswith(".md"):
                one.missing.append((line, name))
        elif hops < _HOPS and _within(target, root):
            _add(found, target, root, home, importing, by=f"{one.shown}:{line}", hops=hops + 1, project=project)
    return one


def _within(path: str, root: str) -> bool:
    real, base = os.path.realpath(path), os.path.realpath(root)
    return os.path.isfile(real) and os.path.commonpath((real, base)) == base


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb", opener=regular) as file:
            return file.read(_LARGEST)
    except OSError:
        return None


def _shown(path: str, root: str, home: str) -> str:
    for base, before in ((root, ""), (home, "~/")):
        if base and path.startswith(base.rstrip("/") + "/"):
            return before + os.path.relpath(path, base).replace(os.sep, "/")
    return path


def parse(text: str) -> Iterator[Line]:
    """The lines of a Markdown text, with the code block and the headings that each is under."""
    mark = fence = ""
    opened, own, comment = 0, False, False
    above: dict[int, str] = {}
    for number, row in enumerate(text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n"), 1):
        bare = row.strip().encode()
        own = (own or bare == OPEN) and not (own and bare.startswith(CLOSE))
        found = _FENCE.match(row)
        inside = bool(mark)
        if mark and found and found[1].startswith(mark) and not found[2]:
            mark = ""
        elif not mark and not comment and found and "`" not in row[found.end() :]:
            mark, fence, opened = found[1], found[2].lower() or "code", number
        hidden = not mark and (comment or "<!--" in _SPAN.sub(" ", row))
        comment = hidden and "-->" not in row.rpartition("<!--")[2]
        title = None if inside or mark or comment else _HEADING.match(row)
        if title:
            level = len(title[1])
            above = {at: name for at, name in above.items() if at < level} | {level: title[2]}
        shut = inside or bool(mark)
        yield Line(number, row, fence if shut else "", next(reversed(above.values()), ""), tuple(above.values()), own,
                   title is not None, opened if shut else 0, hidden)  # fmt: skip


def _imports(lines: list[Line]) -> Iterator[tuple[int, str]]:
    """`@path` outside of code, as Claude Code finds it."""
    for line in lines:
        if "@" in line.text and not line.fence:
            for found in _IMPORT.finditer(_SPAN.sub(" ", line.text)):
                yield line.number, found[1].rstrip(".,;:")
