"""Neutralizes a rule to one harmless line of Markdown: tool output and commands are not trusted.

A client reads the file as instructions, so nothing in it may import a file (`@path`), hide in a comment, begin a block
of its own, or carry a secret or an invisible character. What looks like one of these is put in a code span.
"""

from __future__ import annotations

import re

from capture.redaction import redact
from capture.text import clean
from nmem.text import printable

LIMIT = 160
"""Characters of a rule."""

_LEADING = re.compile(r"(?:[#>+*-]+(?=\s|$)|>|~{3,}|\d{1,9}[.)](?=\s|$)|[-*_=]{3,}$)\s*")
"""What would make a block of its own out of the beginning of a list item."""
_RISKY = re.compile(r"@|<[A-Za-z/!?]|!\[|&(?:#|commat)")
_SLASHED = re.compile(r"(`[^`]*`)|\\+`")
"""A whole span, or a backslash that would make text of the backtick that begins one."""


def neat(text: str) -> str:
    """One line of Markdown that stays where it is put; empty when nothing is left. Doing it again changes nothing."""
    for _ in range(8):
        before, text = text, _once(text)
        if text == before:
            break
    return text


def code(text: str) -> str:
    """A command or a message as a code span."""
    inner = " ".join(clean(text).replace("`", "'").split())
    return f"`{inner}`" if inner else ""


def _once(text: str) -> str:
    line = " ".join(printable(redact(" ".join(clean(text).split()))).split())
    while "<!--" in line or "-->" in line:
        line = line.replace("<!--", "<!-").replace("-->", "->")
    while found := _LEADING.match(line):
        line = line[found.end() :]
    return _spans(line).strip()


def _spans(line: str) -> str:
    """The line with every code span closed, and what is risky outside of them inside of one."""
    line = _SLASHED.sub(lambda found: found[1] or "`", re.sub("`{2,}", "`", line))
    if line.count("`") % 2:
        head, _, tail = line.rpartition("`")
        line = f"{head}'{tail}"
    parts = line.split("`")
    return "".join(
        f"`{part}`" if number % 2 else _guarded(part, number > 0, number + 1 < len(parts))
        for number, part in enumerate(parts)
    )


def _guarded(text: str, after: bool, before: bool) -> str:
    """Text between code spans; `after` and `before` say whether there is one on its left and right."""
    if not _RISKY.search(text):
        return text
    out = re.sub(r"\S+", lambda word: f"`{word[0]}`" if _RISKY.search(word[0]) else word[0], text)
    return (" " if after and out.startswith("`") else "") + out + (" " if before and out.endswith("`") else "")
