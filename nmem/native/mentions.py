"""Finds the paths and commands that lines of instructions name: real ones, no patterns, examples or placeholders."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from capture import shell
from nmem.native.documents import Line

_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_BARE = re.compile(r"(?<![\w`/.:@-])((?:[\w.-]+/)+[\w.-]+\.[A-Za-z]\w{0,5})(?![\w/`(])")
"""In prose a path counts only with a folder and an ending."""
_PATH = re.compile(r"(?:\./)?[\w.@+-]+(?:/[\w.@+()\[\]-]+)*/?")
_PLACEHOLDER = re.compile(
    r"(?:^|[/_.-])(?:foo|bar|baz|example|examples?|sample|your|my|path|to|some|xxx+|yyyy?|nnn+|name|placeholder)"
    r"(?:[/_.-]|$)|^\.git/|[<>{}*$|…?]|\.\.\.|://|^[~/@#-]|\\",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:e\.g\.|for example|for instance|such as|examples?|imagine|would be|creates?|created|creating|generates?|"
    r"generated|writes?|written to|outputs?|produces?|new files?|deleted?|removed?|deprecated|formerly|previously|"
    r"legacy|no longer|used to|renamed|moved|instead of|replaced|was|were|if (?:it |they )?exists?|optional|"
    r"not? exist|does(?:n't| not) exist|don't create|do not create|never create|hypothetical|gitignored?)\b",
    re.IGNORECASE,
)
"""Words of a line that says itself that what it names is an example, is made by a run, or is gone."""
_TREE = re.compile(r"^((?:[│|]\s{1,3}|\s{4}|\s{2}(?=[│├└]))*)(├──|└──|\|--|`--)\s+([^\s#]+)")
_ROOT = re.compile(r"^\s*([\w.@-]+(?:/[\w.@-]+)*)/\s*(?:#.*)?$")
SHELLS = frozenset(("bash", "sh", "shell", "zsh", "console", "fish", "code"))
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class Named:
    """A path that a line names. `subject`: the line is an item of a list, or of a tree, about just this path."""

    line: Line
    path: str
    subject: bool
    bases: tuple[str, ...] = ()
    """Folders that the headings above it name: the path may begin there."""


@dataclass(frozen=True, slots=True)
class Told:
    """A command that a line tells to run, and the folder of the project that it is run in."""

    line: Line
    text: str
    folder: str
    alone: bool
    """The line is the command, with at most a comment, or an item of a list about it."""


def paths(lines: Iterable[Line]) -> Iterator[Named]:
    """The paths of the project that lines name, each once a line."""
    lines = list(lines)
    yield from _trees(lines)
    for line in lines:
        if line.fence or _TELLS.search(line.text) or any(_TELLS.search(each) for each in line.above):
            continue
        spans = list(_SPAN.finditer(line.text))
        given = [found[1] for found in spans] + [found[1].partition("#")[0] for found in _LINK.finditer(line.text)]
        prose = _LINK.sub("]", _SPAN.sub(" ", line.text))
        given += [found[1] for found in _BARE.finditer(prose)]
        first = _ITEM.match(line.text)
        bases = tuple(found[1].strip("/") for each in line.above for found in _SPAN.finditer(each) if "/" in found[1])
        for path in dict.fromkeys(filter(is_path, given)):
            opens = bool(first) and bool(spans) and spans[0][1] == path and _begins(line.text, spans[0].start(), first)
            yield Named(line, path.removeprefix("./"), opens and len(set(filter(is_path, given))) == 1, bases)


def _begins(text: str, at: int, item: re.Match[str] | None) -> bool:
    """Whether a span is the first thing that an item says."""
    return item is not None and not text[item.end() : at].strip("*_ ")


def is_path(text: str) -> bool:
    """Whether a text is a path of a project's file or folder, and none that stands for others."""
    if not _PATH.fullmatch(text) or _PLACEHOLDER.search(text) or len(text) > 200:
        return False
    name = posixpath.basename(text.rstrip("/"))
    ending = name.rpartition(".")[2]
    has_ending = "." in name.lstrip(".") and 1 <= len(ending) <= 6 and ending.isalnum() and not ending.isdigit()
    return ("/" in text.strip("/") or text.endswith("/") or has_ending) and not name.isupper() and ".." not in text


def _trees(lines: list[Line]) -> Iterator[Named]:
    """The paths of a drawn tree of folders."""
    stack: list[str] = []
    block, root = 0, ""
    for at, line in enumerate(lines):
        if not line.fence:
            continue
        if line.opens != block:
            block, stack, root = line.opens, [], ""
        if found := _ROOT.match(line.text):
            root, stack = found[1], []
            continue
        branch = _TREE.match(line.text)
        if branch is None or _TELLS.search(line.text):
            continue
        depth = len(branch[1].expandtabs(4)) // 4 if len(branch[1]) % 4 == 0 else len(branch[1].split())
        stack = [*stack[:depth], branch[3].rstrip("/")]
        path = "/".join(stack) + ("/" if branch[3].endswith("/") else "")
        below = lines[at + 1].text if at + 1 < len(lines) else ""
        leaf = branch[2] in ("├──", "|--") and not _deeper(below, branch)
        if is_path(path) or is_path(f"x/{path}"):
            yield Named(line, path, leaf, (root,) if root else ())


def _deeper(below: str, branch: re.Match[str]) -> bool:
    """Whether the next line of a tree lies in this one."""
    found = _TREE.match(below)
    return found is not None and len(found[1]) > len(branch[1])


def commands(lines: Iterable[Line]) -> Iterator[Told]:
    """The commands that lines tell to run: in shells' code blocks, where a `cd` moves on, and in code spans."""
    block, folder = 0, ""
    for line in lines:
        if line.fence in SHELLS and line.number != line.opens:
            if line.opens != block:
                block, folder = line.opens, ""
            if not (text := line.text.strip().removeprefix("$ ").strip()) or text.startswith("#"):
                continue
            for step, there in _steps(text, folder):
                yield Told(line, step, there, " && " not in text)
            folder = _moved(text, folder)
        elif not line.fence and "`" in line.text:
            for found in _SPAN.finditer(line.text):
                alone = _begins(line.text, found.start(), _ITEM.match(line.text)) and line.text.count("`") == 2
                for step, there in _steps(found[1], ""):
                    yield Told(line, step, there, alone)


def _steps(text: str, folder: str) -> Iterator[tuple[str, str]]:
    """The simple commands of a line, each with the folder it runs in; none where it holds a placeholder."""
    if " " not in text or re.search(r"<[\w .-]+>|\.\.\.|…|\[[\w-]+\]|\{", text):
        return
    for step in shell.parse(text).steps:
        if step.simple.nested or not step.argv:
            continue
        inner = folder if step.folder in (None, "") else posixpath.normpath(posixpath.join(folder, str(step.folder)))
        yield " ".join(step.argv), inner


def _moved(text: str, folder: str) -> str:
    """Where a line of a code block leaves the shell."""
    for part in re.split(r"&&|;", text.partition("#")[0]):
        found = re.match(r"\s*cd\s+(\S+)\s*$", part)
        if found:
            folder = posixpath.normpath(posixpath.join(folder, found[1]))
    return folder
