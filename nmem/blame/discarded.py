"""Parses a recorded command for the uncommitted work that it takes back: which paths, or all there is.

In doubt it does: then a line that a person may have typed again is not claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from capture.shell import Step, parse
from capture.shell.families import git, positionals
from nmem.context.places import absolute, forward

_MAYBE = re.compile(r"\b(?:checkout|switch|restore|stash|reset|clean|rm|unlink)\b")
_FORCED = frozenset(("-f", "--force", "--discard-changes"))
_KEEPS = frozenset(("pop", "apply", "list", "show", "create", "store", "branch"))
"""What `git stash` is told to do that leaves the files, or puts them back."""


@dataclass(frozen=True, slots=True)
class Discarded:
    """What one step of a command takes back."""

    folder: str
    """Where it ran; empty: where the session did."""
    paths: tuple[str, ...]
    """Narrowed to these; none: all there is."""

    def holds(self, root: str, name: str) -> bool:
        """Whether a file of a checkout is among it."""
        return not self.paths or any(_matches(path, root, name) for path in self.paths)


def discarded(command: str) -> Iterator[Discarded]:
    """What each step of a command takes back of what is not committed."""
    for step in parse(command).steps if _MAYBE.search(command) else ():
        paths = _taken_back(step.argv)
        if paths is not None:
            yield Discarded(_folder(step), () if "" in paths else tuple(paths))


def _folder(step: Step) -> str:
    options = step.argv[: git(step.argv)[1]]
    named = forward(options[options.index("-C") + 1]) if "-C" in options else ""
    return named if absolute(named) else forward(step.folder or "")


def _taken_back(argv: Sequence[str]) -> list[str] | None:
    """The paths of one step, none: all, an empty one among them: all; None: it takes nothing back."""
    if argv[:1] in (["rm"], ["unlink"]):
        return [_plain(path) for path in positionals(list(argv))]
    if not argv or argv[0].rpartition("/")[2] != "git":
        return None
    verb, at = git(list(argv))
    rest = list(argv[at + 1 :])
    before = rest[: rest.index("--")] if "--" in rest else rest
    named = [_plain(path) for path in (rest[len(before) + 1 :] if "--" in rest else positionals(["", *rest]))]
    if verb in ("checkout", "switch"):
        if _FORCED.intersection(before) and "--" not in rest:
            return []
        return named if verb == "checkout" and (named or "--" in rest) else None
    if verb == "restore":
        keeps = {"--staged", "-S"}.intersection(before) and not {"--worktree", "-W"}.intersection(before)
        return None if keeps else named
    if verb == "stash":
        how = next(iter(positionals(["", *before])), "push")
        return None if how in _KEEPS else [path for path in named if "--" in rest]
    if verb == "reset":
        return [] if {"--hard", "--merge"}.intersection(before) else None
    if verb == "rm":
        return None if "--cached" in before else named
    forced = any(word == "--force" or re.fullmatch(r"-[a-zA-Z]*f[a-zA-Z]*", word) for word in before)
    return named if verb == "clean" and forced else None


def _plain(path: str) -> str:
    """A path without git's marks, relative to no folder; empty: all, or not to be known."""
    path = re.sub(r"\A:(?:\([a-z,]*\)|/)", "", forward(path))
    path = re.sub(r"\A(?:\.\.?/)+", "", path).rstrip("/")
    return "" if path in (".", "..", "*") or path.startswith((":", "$", "`")) else path


def _matches(path: str, root: str, name: str) -> bool:
    if absolute(path):
        whole = f"{root}/{name}"
        return whole.startswith(f"{path}/") or fnmatchcase(whole, path) or whole == path
    return (f"/{name}/".endswith(f"/{path}/") or name.startswith(f"{path}/")
            or any(fnmatchcase(name, each) for each in (path, f"{path}/*", f"*/{path}")))  # fmt: skip
