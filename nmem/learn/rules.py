"""The short rule that a learning becomes in a project's instructions: a fact, and what helps where that is believed.

What comes from sessions stands in code spans: it is quoted, it does not instruct. A person words it better with --text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from nmem.learn.learning import FAILED_COMMAND, REPEATED_INTENT, STUCK_LOOP, UNRESOLVED_READ, Learning, Remedy
from nmem.learn.wording import LIMIT, code, neat

BELIEVED, TIMES = 0.5, 2
"""How sure a remedy must be, and in how many sessions it must have helped, to be a rule."""
_FILES = 2
_FAILS = re.compile(r"`([^`]+)` fails(?:: (.*))?", re.DOTALL)
_READERS = re.compile(r"\s*(?:2>&1|2>\s*/dev/null|\|\s*(?:tail|head)\b[^|;&`]*)$")
"""What was put behind a command to see less of it, and is no part of what helped."""


def rule(learning: Learning) -> str:
    """One line of at most LIMIT characters: `npm test` fails here; use `pnpm test`."""
    for size in (LIMIT, 100, 60):
        for said in _said(learning, size):
            line = neat(said)
            if len(line) <= LIMIT:
                return line
    return neat(f"{code(_cut(learning.title, 60))}: met in {learning.sessions} sessions here")


def _said(learning: Learning, size: int) -> Iterator[str]:
    """Wordings, the fullest first."""
    often = f"met in {learning.sessions} sessions here"
    title = code(_cut(learning.title, size)) or "(empty)"
    failed = _FAILS.fullmatch(" ".join(learning.title.split())) if learning.kind == FAILED_COMMAND else None
    if learning.kind == REPEATED_INTENT:
        yield f"Asked for again and again, {often}: {title}"
    elif learning.kind == UNRESOLVED_READ:
        yield f"{title} is read again and again and never changed, {often}"
    elif failed or learning.kind == FAILED_COMMAND:
        command, why = (failed[1], failed[2] or "") if failed else (learning.title, "")
        fails = f"{code(_cut(command, size))} fails here"
        reason = f" ({code(_cut(why, size))})" if why else ""
        helped = _helped(learning.remedy, edits=True)
        yield from (f"{fails}{reason}; {one}" for one in helped)
        yield from (f"{fails}; {one}" for one in helped)
        yield f"{fails}{reason}: {often.removesuffix(' here')}"
    else:
        yield from (f"{title}: {often}; {one}" for one in _helped(learning.remedy, learning.kind == STUCK_LOOP))
        yield f"{title}: {often}"


def _helped(remedy: Remedy | None, edits: bool) -> list[str]:
    """What helped, the fullest wording first; nothing where it is not believed.

    `edits`: a change of files counts. That one error of a checker went with an edit says nothing of the next.
    """
    if remedy is None or remedy.confidence < BELIEVED or remedy.times < TIMES:
        return []
    out = []
    command = code(_bare(remedy.commands[-1])) if remedy.commands else ""
    if remedy.kind == "spelling" and remedy.text.endswith("` works") and command:
        out.append(f"use {command}")
    elif remedy.kind == "command" and remedy.text.startswith("After `") and command:
        out.append(f"it passes after {command}")
    elif remedy.kind == "edit":
        many = range(min(_FILES, len(remedy.files)), 0, -1) if edits else ()
        out += [f"what helped was a change of {_files(remedy.files[:number])}" for number in many]
    elif remedy.text:
        out.append(remedy.text[0].lower() + remedy.text[1:])
    return out


def _bare(command: str) -> str:
    while found := _READERS.search(command):
        command = command[: found.start()]
    return command


def _files(paths: Sequence[str]) -> str:
    return " or ".join(code(_short(path)) for path in paths)


def _short(path: str) -> str:
    """A file by its name and folder: where it lies on one machine means nothing on another."""
    pure = PurePosixPath(path.replace("\\", "/"))
    return "/".join(pure.parts[-2:]) if pure.is_absolute() or ":" in str(pure) else str(pure)


def _cut(text: str, size: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= size else text[: size - 1].rstrip() + "…"
