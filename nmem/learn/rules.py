"""The short rule that a learning becomes in a project's instructions: a fact, and what helps where that is known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from nmem.learn.learning import FAILED_COMMAND, RECURRING_ERROR, REPEATED_INTENT, UNRESOLVED_READ, Learning, Remedy
from nmem.learn.wording import LIMIT, code, neat

_FILES = 3
_SUBJECT = 60
"""Characters of a pattern that are kept when the rule would be too long with all of it."""


def rule(learning: Learning) -> str:
    """One line of at most LIMIT characters: `npm test` fails here; use `pnpm test`."""
    for size in (LIMIT, 100, _SUBJECT):
        subject = _cut(" ".join(learning.title.split()), size)
        for said in _said(learning, subject):
            line = neat(said)
            if len(line) <= LIMIT:
                return line
    return neat(_plain(learning, _cut(learning.title, _SUBJECT)))


def _said(learning: Learning, subject: str) -> Iterator[str]:
    """Wordings, the fullest first."""
    if learning.remedy is not None and learning.kind not in (REPEATED_INTENT, UNRESOLVED_READ):
        yield from _helped(learning, learning.remedy, subject)
    yield _plain(learning, subject)


def _helped(learning: Learning, remedy: Remedy, subject: str) -> Iterator[str]:
    command = code(remedy.commands[-1]) if remedy.commands else ""
    failing = learning.kind == FAILED_COMMAND
    fails = f"{code(subject)} fails here" if failing else f"{_problem(learning, subject)} here"
    if remedy.kind == "spelling" and command:
        yield f"{fails}; use {command}"
    elif remedy.kind == "command" and command and command in remedy.text:
        yield f"{fails} until {command} was run" if failing else f"{fails}; {command} helped"
    for many in range(min(_FILES, len(remedy.files)), 0, -1):
        yield f"{fails}; what helped was a change of {_list(remedy.files[:many])}"
    if remedy.files:
        yield f"{fails}; what helped was a change of {code(PurePosixPath(remedy.files[0]).name)}"
    elif remedy.text:
        yield f"{fails}: {remedy.text[0].lower()}{remedy.text[1:]}"


def _plain(learning: Learning, subject: str) -> str:
    often = f"({learning.sessions} sessions)"
    if learning.kind == FAILED_COMMAND:
        return f"{code(subject)} fails here again and again {often}"
    if learning.kind == REPEATED_INTENT:
        return f"Asked for here again and again {often}: {subject}"
    if learning.kind == UNRESOLVED_READ:
        return f"{code(subject)} is read here again and again {often} and never changed"
    return f"{_problem(learning, subject)} here again and again {often}"


def _problem(learning: Learning, subject: str) -> str:
    return f"{code(subject)} occurs" if learning.kind == RECURRING_ERROR else f"Work gets stuck on {code(subject)}"


def _list(names: tuple[str, ...]) -> str:
    spans = [code(name) for name in names]
    return spans[0] if len(spans) == 1 else f"{', '.join(spans[:-1])} or {spans[-1]}"


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1].rstrip() + "…"
