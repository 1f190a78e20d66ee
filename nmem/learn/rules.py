"""The short rule that a learning becomes in a project's instructions: a fact, and what helps where that is believed.

What comes from sessions stands in code spans: it is quoted, it does not instruct. How often it was met is no part of
it: that is old tomorrow, and tells an agent nothing. A person words it better with --text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from nmem.learn.learning import (
    FAILED_COMMAND,
    RECURRING_ERROR,
    REPEATED_INTENT,
    STUCK_LOOP,
    UNRESOLVED_READ,
    Learning,
)
from nmem.learn.wording import LIMIT, code, neat

BELIEVED, TIMES = 0.5, 2
"""How sure a remedy must be, and in how many sessions it must have helped, to be a rule."""
_FILES = 2
_RULE = 2
"""Words of a linter's rule at most: a title of more is a sentence."""
_FAILS = re.compile(r"`([^`]+)` fails(?:: (.*))?", re.DOTALL)
_WORKS = re.compile(r"`[^`]*` works")
_READERS = re.compile(r"\s*(?:2>&1|2>\s*/dev/null|\|\s*(?:tail|head)\b[^|;&`]*)$")
"""What was put behind a command to see less of it, and is no part of what helped."""


def rule(learning: Learning) -> str:
    """One line of at most LIMIT characters: `npm test` fails here; use `pnpm test`."""
    for size in (LIMIT, 100, 60):
        for said in _said(learning, size):
            line = neat(said)
            if len(line) <= LIMIT:
                return line
    return neat(f"{code(_cut(learning.title, 60))} keeps coming back here")


def helps(learning: Learning) -> bool:
    """Whether its rule says what to do, or what to leave: one that only says what failed is for a person to word."""
    return bool(_helped(learning, edits=learning.kind in (FAILED_COMMAND, STUCK_LOOP)) or _known(learning, LIMIT))


def _said(learning: Learning, size: int) -> Iterator[str]:
    """Wordings, the fullest first."""
    title = code(_cut(learning.title, size)) or "(empty)"
    failed = _FAILS.fullmatch(" ".join(learning.title.split())) if learning.kind == FAILED_COMMAND else None
    if learning.kind == REPEATED_INTENT:
        yield f"Asked for again and again: {title}"
    elif learning.kind == UNRESOLVED_READ:
        yield f"{title} is read again and again and never changed"
    elif failed or learning.kind == FAILED_COMMAND:
        command, why = (failed[1], failed[2] or "") if failed else (learning.title, "")
        fails = f"{code(_cut(command, size))} fails here"
        reason = f" ({code(_cut(why, size))})" if why else ""
        helped = _helped(learning, edits=True)
        yield from (f"{fails}{reason}{one}" for one in helped)
        yield from (f"{fails}{one}" for one in helped)
        yield f"{fails}{reason}"
    else:
        known = _known(learning, size)
        helped = [] if learning.key in _PLAIN else _helped(learning, edits=learning.kind == STUCK_LOOP)
        yield from (f"{known or title}{one}" for one in helped)
        yield known or f"{title} keeps coming back here"


def _known(learning: Learning, size: int) -> str:
    """A fact that is an instruction by itself: what is not there need not be looked for, what is checked is kept."""
    if learning.kind != RECURRING_ERROR:
        return ""
    for begins, says in _FACTS:
        if learning.key.startswith(begins):
            return says.format(code(_cut(learning.key[len(begins) :].strip(), size))) if learning.key != begins else ""
    linter, _, broken = learning.title.partition(": ")
    if learning.key.partition(": ")[0] in _LINTERS and 0 < len(broken.split()) <= _RULE and broken != "format":
        return f"{code(linter)} checks {code(_cut(broken, size))} here: write code that passes it"
    return _PLAIN.get(learning.key, "")


_FACTS = (
    ("client: does not exist ", "There is no {} here"), ("client: unknown skill ", "There is no skill {}"),
    ("client: no tool ", "There is no tool {}"), ("client: unknown agent type ", "There is no agent type {}"),
    ("client: no skill ", "{} is no skill to be called"),
)  # fmt: skip
_PLAIN = {
    "shell: cd relative": "The shell keeps its folder from call to call: `cd` with a path from the project's folder",
    "git: added path is ignored": "Some paths are ignored by `.gitignore`: `git add` only what `git status` lists",
    "client: file too large to read whole": "Read large files in parts",
    "client: text to replace not unique": "Give an edit enough lines around it to be the only match",
}
_LINTERS = frozenset(("golangci-lint", "eslint", "biome", "ruff", "clippy", "pylint", "flake8", "rubocop", "stylelint",
                      "shellcheck", "golangci", "mypy", "detekt", "ktlint", "swiftlint"))  # fmt: skip


def _helped(learning: Learning, edits: bool) -> list[str]:
    """What helped and how it is joined on, the fullest wording first; nothing where it is not believed.

    `edits`: a change of files counts. That one error of a checker went with an edit says nothing of the next.
    """
    remedy = learning.remedy
    if remedy is None or remedy.confidence < BELIEVED or remedy.times < TIMES:
        return []
    command = code(_bare(remedy.commands[-1])) if remedy.commands else ""
    if remedy.kind == "spelling" and _WORKS.fullmatch(remedy.text) and command:
        return [f"; use {command}"]
    if remedy.kind == "command" and remedy.text.startswith("After `") and command:
        return [f"; it passes after {command}"]
    if remedy.kind == "edit" and remedy.files:
        many = range(min(_FILES, len(remedy.files)), 0, -1) if edits else ()
        return [f"; what helped was a change of {_files(remedy.files[:number])}" for number in many]
    return [f": {remedy.text}"] if remedy.text.strip() else []


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
