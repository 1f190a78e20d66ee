"""Composes a learning's rule for CLAUDE.md or AGENTS.md: one line of Markdown, escaped so that it is harmless.

What comes from sessions stands in code spans: it is quoted, it does not instruct. How often it was met is no part of
it: that is old tomorrow, and tells an agent nothing. A person words it better with --text.

A client reads the file as instructions, so nothing in it may import a file (`@path`), hide in a comment, begin a block
of its own, or carry a secret or an invisible character. What looks like one of these is put in a code span.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from capture.redaction import redact
from capture.text import clean
from nmem.learn import kinds
from nmem.learn.learning import (
    AGAIN,
    CORRECTION,
    FAILED_COMMAND,
    RECURRING_ERROR,
    REPEATED_INTENT,
    SKILL,
    STUCK_LOOP,
    UNRESOLVED_READ,
    Learning,
)
from nmem.text import printable

BELIEVED, TIMES = 0.5, 2
"""How sure a remedy must be, and in how many sessions it must have helped, to be a rule."""
_FILES = 2
_ENDS = ("git commit", "git push", "gh pr create", "gh pr", "glab mr")
"""What a skill ends with where its other steps come before."""
_RULE = 2
"""Words of a linter's rule at most: a title of more is a sentence."""
_FAILS = re.compile(r"`([^`]+)` fails(?:: (.*))?", re.DOTALL)
_WORKS = re.compile(r"`[^`]*` works")
_PLACED = re.compile(r"In (the .*?) (it|`[^`]*`) works")
_IS = re.compile(r"It is (`[^`]*`)")
_READERS = re.compile(r"\s*(?:2>&1|2>\s*/dev/null|\|\s*(?:tail|head)\b[^|;&`]*)$")
"""What was put behind a command to see less of it, and is no part of what helped."""


def rule(learning: Learning) -> str:
    """One line of at most LIMIT characters: Use `pnpm test`: `npm test` fails here."""
    for size in (LIMIT, 100, 60):
        for said in _said(learning, size):
            line = neat(said)
            if line and len(line) <= LIMIT:
                return line
    return neat(f"Watch out for {code(_cut(learning.title, 60))}: this keeps coming back here")


def helps(learning: Learning) -> bool:
    """Whether its rule says what to do, or what to leave: one that only says what failed is for a person to word."""
    return learning.kind in (CORRECTION, SKILL) or bool(
        kinds.rule(learning)
        or _helped(learning, edits=learning.kind in (FAILED_COMMAND, STUCK_LOOP))
        or _known(learning, LIMIT)
    )


def _said(learning: Learning, size: int) -> Iterator[str]:
    """Wordings, the fullest first."""
    if own := kinds.rule(learning):
        yield _cut(own, size)
        return
    if learning.kind == CORRECTION:
        yield _sentence(_cut(learning.title, size)) or "(empty)"
        return
    if learning.kind == SKILL:
        yield _steps(learning, size)
        return
    title = code(_cut(learning.title, size)) or "(empty)"
    failed = _FAILS.fullmatch(" ".join(learning.title.split())) if learning.kind == FAILED_COMMAND else None
    if learning.kind == REPEATED_INTENT:
        yield f"Expect to be asked again: {title}"
    elif learning.kind == UNRESOLVED_READ:
        again = learning.title.removeprefix(AGAIN)
        fresh = f"Check that this is settled before it is called done: {code(_cut(again, size))}"
        yield fresh if again != learning.title else f"Find out what is open about {title}, and write it down"
    elif failed or learning.kind == FAILED_COMMAND:
        command, why = (failed[1], failed[2] or "") if failed else (learning.title, "")
        fails = f"{code(_cut(command, size))} fails here"
        reason = f" ({code(_cut(why, size))})" if why else ""
        helped = _helped(learning, edits=True)
        yield from (f"{one}: {fails}{reason}" for one in helped)
        yield from (f"{one}: {fails}" for one in helped)
        yield f"Do not rely on {code(_cut(command, size))}: it fails here{reason}"
    else:
        known = _known(learning, size)
        helped = [] if learning.key in _PLAIN else _helped(learning, edits=learning.kind == STUCK_LOOP)
        if known:
            gone = code(_cut(learning.key.removeprefix(_GONE).strip(), size)) if learning.key.startswith(_GONE) else ""
            yield from (f"{one}, not {gone}" for one in helped if gone and one.startswith("Use "))
            yield known
        yield from (f"{one}, against {title}" if _done(one) else f"{one}: {title}" for one in helped)
        yield f"Watch out for {title}: this keeps coming back here"


def _sentence(text: str) -> str:
    """A person's own words as a sentence without its end."""
    return text[:1].upper() + text[1:].rstrip(".")


def _steps(learning: Learning, size: int) -> str:
    """A skill: when its commands are due, and in which order."""
    steps = [code(_cut(each, size // 2)) for each in (learning.remedy.commands if learning.remedy else ())]
    of = " or ".join(code(each) for each in learning.files)
    if len(steps) > 1 and steps[-1].strip("`").endswith(_ENDS):
        when = f"Before {steps.pop()}{f' of a changed {of}' if of else ''}"
    else:
        when = f"After a change of {of}" if of else "After a change of the code"
    return f"{when}, run {', then '.join(steps)}"


def _known(learning: Learning, size: int) -> str:
    """A fact that is an instruction by itself: what is not there need not be looked for, what is checked is kept."""
    if learning.kind != RECURRING_ERROR:
        return ""
    for begins, says in _FACTS:
        if learning.key.startswith(begins):
            return says.format(code(_cut(learning.key[len(begins) :].strip(), size))) if learning.key != begins else ""
    linter, _, broken = learning.title.partition(": ")
    if learning.key.partition(": ")[0] in _LINTERS and 0 < len(broken.split()) <= _RULE and broken != "format":
        return f"Write code that passes {code(_cut(broken, size))} of {code(linter)}"
    return _PLAIN.get(learning.key, "")


_GONE = "client: does not exist "
_FACTS = (
    (_GONE, "Do not look for {}: it is not here"),
    ("client: unknown skill ", "Do not call the skill {}: there is none"),
    ("client: no tool ", "Do not call the tool {}: there is none"),
    ("client: unknown agent type ", "Do not ask for the agent type {}: there is none"),
    ("client: no skill ", "Do not call {} as a skill: it is none"),
)  # fmt: skip
_PLAIN = {
    "shell: cd relative": "Use `cd` with a whole path: the shell keeps its folder from call to call",
    "git: added path is ignored": "Add (`git add`) only what `git status` lists: some paths are in `.gitignore`",
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
        return [f"Use {command}"]
    if remedy.kind == "spelling" and (found := _PLACED.fullmatch(remedy.text)):
        return [f"Run {found[2] if found[2] != 'it' else 'it'} in {found[1][:1].lower()}{found[1][1:]}"]
    if remedy.kind == "spelling" and (found := _IS.fullmatch(remedy.text)):
        return [f"Use {found[1]}"]
    if remedy.kind == "command" and remedy.text.startswith("After `") and command:
        return [f"Run {command} first"]
    if remedy.kind == "edit" and remedy.files:
        many = range(min(_FILES, len(remedy.files)), 0, -1) if edits else ()
        return [f"Look into {_files(remedy.files[:number])}, a change of which helped" for number in many]
    return [remedy.text.rstrip(". ")] if remedy.text.strip(". ") else []


def _done(said: str) -> bool:
    """Whether a remedy is an instruction by itself."""
    return said.startswith(("Run ", "Use ", "Read ", "Look into "))


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
