"""The commands that README and docs show in fenced and indented blocks, without what explains them there.

`A | B` shows another way to end the same line, `[...]` what may be left out, words in capitals what is filled in.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from tests.house import ROOT

PAGES = ("README.md", *sorted(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md")))
WORDS = ("nmem", "python", "python3", "pip", "npx", "claude", "uvx", "pipx", "git", "export", "eval", "make", "printf")
"""What a line that shows a command begins with."""
_EXPLAINED = re.compile(r"(?: {2,}| +# ).*$")
_OPTIONAL = re.compile(r" ?\[[^\]]*\]")
_PROMPT = re.compile(r"^\$ ")


def blocks(text: str) -> Iterator[list[str]]:
    """The lines of each fenced and each indented block."""
    block: list[str] = []
    fence = ""
    before = ""
    for line in [*text.splitlines(), ""]:
        if line.lstrip().startswith("```"):
            if fence and block:
                yield block
            fence, block = ("" if fence else "```"), []
        elif fence:
            block.append(line)
        elif line.startswith("    ") and (block or not before):
            block.append(line[4:])
        else:
            if block and line.strip():
                yield block
                block = []
        before = line.strip()
    if block:
        yield block


def commands(text: str) -> Iterator[str]:
    """Every command of a page, whole."""
    for block in blocks(text):
        for line in block:
            given = _PROMPT.sub("", line)
            if given.partition(" ")[0] in WORDS and not given.startswith("eval "):
                yield from _told_apart(given)


def _told_apart(line: str) -> Iterator[str]:
    """One line's commands: two may stand in columns, and one may have several ends."""
    for column in re.split(r" {2,}(?=nmem )", line):
        shown = _EXPLAINED.sub("", column) if not column.startswith("printf") else column
        first, *others = re.split(r" \| (?!nmem )", _OPTIONAL.sub("", shown).strip())
        yield first
        for other in others:
            yield " ".join([*first.split()[: -len(other.split())], other])


def piped(command: str) -> list[str]:
    """The words of the part that nmem runs."""
    return shlex.split(command.rpartition(" | ")[2] if " | nmem " in command else command)
