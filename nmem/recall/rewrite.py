"""Finds and rewrites references in a project's texts to the heading of a decision that is renamed."""

from __future__ import annotations

import os
import posixpath
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from capture.files import regular
from nmem.recall import grammar, markdown
from nmem.recall.corpus import Corpus

_ANCHOR = re.compile(r"(?:\]\(|^\s{0,3}\[[^\]]+\]:\s*)<?([^()\s<>#]*)#([^()\s<>]+)")
_WIKI = re.compile(r"\[\[([^\[\]|#]*)(?:#([^\[\]|]+))?(?:\|[^\[\]]*)?\]\]")
"""No `[` in any of its parts: else a line of nothing but `[[` would take time by the square of its length."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A line of a decision file (from 1) that names a heading which gets another name."""

    file: str
    line: int
    before: str
    after: str


class Names:
    """The new names of headings: by file and anchor, by file and text, and by text where only one had it."""

    def __init__(self, found: Corpus, renamed: dict[tuple[int, int], str]) -> None:
        """`renamed`: place of the file and of the heading in it -> the new text."""
        self.files = [file.name for file in found.files]
        self.folder = os.path.relpath(found.place.folder, found.place.root).replace(os.sep, "/")
        self.anchors: dict[tuple[int, str], str] = {}
        self.texts: dict[tuple[int, str], str] = {}
        self.alone: dict[str, str] = {}
        everywhere = Counter(heading.text for file in found.files for heading in file.headings)
        for at, file in enumerate(found.files):
            slugs = [slug(heading.text) for heading in file.headings]
            here = Counter(slugs)
            for place, heading in enumerate(file.headings):
                new = renamed.get((at, place))
                if new is None or here[slugs[place]] > 1:
                    continue
                self.anchors[at, slugs[place]] = slug(new)
                self.texts[at, heading.text] = new
                if everywhere[heading.text] == 1 and not new.startswith("."):
                    self.alone[heading.text] = new

    def file(self, own: int, path: str) -> int:
        """The decision file that a link of another one leads to, from its own folder or from the project's root; -1:
        to none of them."""
        if not path:
            return own
        given = posixpath.normpath(unquote(path))
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(self.files[own]), given))
        for name in (wanted, given.removeprefix(f"{self.folder}/") if given.startswith(f"{self.folder}/") else ""):
            if name in self.files:
                return self.files.index(name)
        return -1


def rewrite(names: Names, at: int, lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines of a file (by their place, from 0) that become others, and what they become."""
    fenced = _fenced(lines)
    for number, line in enumerate(lines):
        if number not in fenced and not line.startswith("#"):
            new = _keyed(names, _wiki(names, at, _anchored(names, at, line)))
            if new != line:
                yield number, new


def _anchored(names: Names, at: int, line: str) -> str:
    def led(match: re.Match[str]) -> str:
        file = names.file(at, match[1])
        new = names.anchors.get((file, unquote(match[2]).casefold()))
        return match[0] if new is None else match[0][: match.start(2) - match.start()] + new

    return _ANCHOR.sub(led, line) if "#" in line else line


def _wiki(names: Names, at: int, line: str) -> str:
    def led(match: re.Match[str]) -> str:
        part = 2 if match[2] else 1
        old = match[part].strip()
        file = names.file(at, f"{match[1].strip()}.md" if match[1].strip() else "") if part == 2 else -1
        new = names.texts.get((file, old)) if part == 2 else names.alone.get(old)
        begin, end = match.start(part) - match.start(), match.end(part) - match.start()
        return match[0] if new is None else match[0][:begin] + new + match[0][end:]

    return _WIKI.sub(led, line) if "[[" in line else line


def _keyed(names: Names, line: str) -> str:
    """A line as of an older index; a single word is taken to be one."""
    pair = grammar.passive(line)
    new = names.alone.get(pair[0]) if pair and " " in pair[0] else None
    return line if pair is None or new is None else line.replace(pair[0], new, 1)


def _fenced(lines: list[str]) -> set[int]:
    out: set[int] = set()
    fence = ""
    for number, line in enumerate(lines):
        bare = line.strip()
        if fence:
            out.add(number)
            fence = "" if markdown.closes(bare, fence) else fence
        elif bare[:3] in markdown.FENCES and (fence := markdown.fence_of(bare)):
            out.add(number)
    return out


_ENDINGS = (".md", ".markdown", ".txt", ".rst", ".mdc")
_LEFT = {".git", "node_modules", ".venv", "venv", "__pycache__", "dist", "build", "target"}
_LARGEST = 1_000_000
_MOST_FILES = 4_000
_MOST = 20
"""Places that are told of one heading."""
_SECONDS = 20.0


def find(root: str, headings: list[str], but: str = "", seconds: float = _SECONDS) -> dict[str, list[str]]:
    """For each heading the places (file:line) that name it, in words or by anchor, itself included; but one file.

    What is not looked through in time is left out, and named under "".
    """
    until = time.monotonic() + seconds
    wanted = {heading.casefold(): heading for heading in headings if len(heading) > 4}
    anchors = {f"#{slug(heading)}": heading for heading in headings}
    out: dict[str, list[str]] = {}
    for path in _files(root):
        if but and os.path.samefile(path, but):
            continue
        if time.monotonic() > until:
            out.setdefault("", []).append(os.path.relpath(path, root))
            continue
        try:
            with open(path, encoding="utf-8", errors="replace", opener=regular) as file:
                text = file.read(_LARGEST).casefold()
        except OSError:
            continue
        found = [(old, heading) for old, heading in {**wanted, **anchors}.items() if old in text]
        if not found:
            continue
        name = os.path.relpath(path, root)
        for number, line in enumerate(text.split("\n"), 1):
            for old, heading in found:
                if old in line and len(out.setdefault(heading, [])) < _MOST:
                    out[heading].append(f"{name}:{number}")
    return out


def slug(heading: str) -> str:
    """The anchor that markdown readers make of a heading."""
    kept = "".join(char for char in heading.casefold() if char.isalnum() or char in " -_")
    return kept.strip().replace(" ", "-")


def _files(root: str) -> list[str]:
    out: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if (name not in _LEFT and not name.startswith(".")) or name in (".claude", ".agents")
        )
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.lower().endswith(_ENDINGS) and not os.path.islink(path) and os.path.getsize(path) <= _LARGEST:
                out.append(path)
                if len(out) >= _MOST_FILES:
                    return out
    return out
