"""Reads a repository: a file's lines with their commits, its history, one commit as text. Nothing in it is run."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess

from nmem.errors import NmemError
from nmem.store.git import PLAIN, filters, run
from nmem.text import printable

_MOST = 20_000_000
"""Bytes of a file that is read."""
_HISTORY = 5_000
UNCOMMITTED = ""
"""Stands for the commit of a line that is in none."""
_NOT_THERE = ("no such path", "no such ref", "bad revision", "not a git repository", "unable to resolve 'HEAD'")
"""What git says of a file that is in no commit."""
_BLAME = ("--porcelain", "--no-textconv", "--encoding=UTF-8", "--ignore-revs-file=")
"""No commit is passed over: a line is from the one that wrote it."""
_NO_LIST = b"could not open object name list"
"""What git says, whatever it is told, where blame.ignoreRevsFile names a file that is not there."""
_SHOWN = 2_000_000
"""Bytes of a commit that are read."""
_LOGGED = re.compile(
    r"(?P<hash>[0-9a-f]{40,64})\0(?P<at>\d+)\0(?P<author>[^\0]*)\0(?P<subject>[^\0]*)(?:\0\n(?P<name>[^\0]+))?(?:\0|\Z)"
)
"""A commit as `git log -z --name-only` prints it: a merge has no name."""
CUT = "\\ the rest was not read"
"""The last line of a commit that is longer."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that lines of a file are from."""

    hash: str
    author: str = ""
    at: int = 0
    """When it was written first, in milliseconds: an amend or a rebase keeps it."""
    subject: str = ""
    name: str = ""
    """What the file was called in it."""


@dataclass(frozen=True, slots=True)
class Blamed:
    """A text file's lines, and the commit of each."""

    root: str
    """The checkout; empty where there is none."""
    name: str
    """The file, relative to the checkout."""
    lines: tuple[str, ...]
    hashes: tuple[str, ...]
    commits: Mapping[str, Commit]
    history: tuple[Commit, ...] = field(default=())
    """The commits that touched the file, the newest first."""


def blamed(path: str) -> Blamed:
    """The lines of a file with their commits; all uncommitted where git does not know it. Raises NmemError."""
    text = _content(path)
    folder, name = os.path.split(path)
    root = checkout(folder)
    inside = os.path.relpath(path, root) if root else name
    alone = Blamed(root, inside.replace(os.sep, "/"), text, (UNCOMMITTED,) * len(text), {})
    if not root or not text:
        return alone
    done = run(folder, ["blame", *_BLAME, "--", name], settings=filters(folder))
    if done.returncode and _NO_LIST in done.stderr:
        done = _without_list(path, root, inside)
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        if any(sign in why for sign in _NOT_THERE):
            return alone
        raise NmemError(f"git blame: {printable(why.removeprefix('fatal: '))[:300]}")
    lines, hashes, commits = _porcelain(done.stdout)
    return Blamed(root, alone.name, tuple(lines), tuple(hashes), commits, tuple(_history(folder, name)))


def _without_list(path: str, root: str, inside: str) -> CompletedProcess[bytes]:
    """`git blame` of a copy of the file, in a folder in which the lists that the settings name are, and are empty."""
    at = run(root, ["rev-parse", "--absolute-git-dir"]).stdout.decode("utf-8", "surrogateescape").removesuffix("\n")
    lists = run(root, ["config", "--null", "--get-all", "blame.ignoreRevsFile"]).stdout
    try:
        with tempfile.TemporaryDirectory(prefix="nmem-") as place:
            for each in (inside, *filter(None, lists.decode("utf-8", "surrogateescape").split("\0"))):
                there = Path(os.path.normpath(Path(place, each)))
                if there.is_relative_to(place) and not os.path.lexists(there):
                    there.parent.mkdir(parents=True, exist_ok=True)
                    there.touch() if each != inside else shutil.copyfile(path, there, follow_symlinks=False)
            words = [f"--git-dir={at}", f"--work-tree={place}", "blame", *_BLAME, "--", inside]
            return run(place, words, settings=filters(root))
    except OSError as error:
        raise NmemError(f"git blame: {printable(str(error))[:300]}") from None


def checkout(folder: str) -> str:
    """The root of the checkout that a folder lies in; empty without one, or without git."""
    done = run(folder, ["rev-parse", "--show-toplevel"], missing=True)
    return "" if done.returncode else done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def shown(folder: str, commit: str, *, patch: bool) -> list[str] | None:
    """A commit in lines: who, when, its files; with `patch` what it changed. None where the repository has no such.

    A long one ends with CUT.
    """
    if not Path(folder).is_dir():
        return None
    known = run(folder, ["rev-parse", "--verify", "-q", "--end-of-options", f"{commit}^{{commit}}"], missing=True)
    if known.returncode:
        return None
    form = ["--stat=100", "--format=%h %an %ad %s", "--date=short", "--encoding=UTF-8", *(["--patch"] if patch else [])]
    whole = known.stdout.decode().strip()
    done = run(folder, ["show", "--no-show-signature", *PLAIN, *form, "--end-of-options", whole], most=_SHOWN)
    if done.returncode:
        return None
    lines = done.stdout.decode("utf-8", "replace").rstrip("\n").split("\n")
    return [*lines[:-1], CUT] if len(done.stdout) >= _SHOWN else lines


def _content(path: str) -> tuple[str, ...]:
    """The lines of a text file."""
    try:
        if not Path(path).is_file():
            raise NmemError(f"there is no file {printable(path)}")
        with Path(path).open("rb") as file:
            data = file.read(_MOST + 1)
    except OSError as error:
        raise NmemError(f"{printable(path)} cannot be read: {error.strerror}") from None
    if len(data) > _MOST:
        raise NmemError(f"{printable(path)} is too large: over {_MOST // 1_000_000} MB")
    if b"\0" in data:
        raise NmemError(f"{printable(path)} is no text file")
    return tuple(data.decode("utf-8", "replace").removesuffix("\n").split("\n")) if data else ()


def at(folder: str, commit: str, name: str) -> list[str] | None:
    """The lines of a file in a commit; None where it has no such file, or it cannot be read."""
    done = run(folder, ["cat-file", "blob", f"{commit}:{name}"], most=_MOST)
    return done.stdout.decode("utf-8", "replace").split("\n") if done.returncode == 0 else None


def reached(folder: str, commit: str) -> bool:
    """Whether a commit is in the history of what is checked out."""
    return run(folder, ["merge-base", "--is-ancestor", commit, "HEAD"], missing=True).returncode == 0


def _porcelain(data: bytes) -> tuple[list[str], list[str], dict[str, Commit]]:
    """Lines, their commits' hashes, and the commits, of what `git blame --porcelain` printed."""
    lines: list[str] = []
    hashes: list[str] = []
    told: dict[str, dict[str, str]] = {}
    here = ""
    for row in data.decode("utf-8", "replace").split("\n"):
        if row.startswith("\t"):
            lines.append(row[1:])
            hashes.append(here)
        elif len(row.split(" ", 1)[0]) in (40, 64) and row[:4].isalnum():
            here = row.split(" ", 1)[0]
            here = here if here.strip("0") else UNCOMMITTED
            told.setdefault(here, {})
        elif row:
            word, _, rest = row.partition(" ")
            told[here].setdefault(word, rest)
    return lines, hashes, {each: _commit(each, said) for each, said in told.items() if each != UNCOMMITTED}


def _commit(name: str, said: Mapping[str, str]) -> Commit:
    at = said.get("author-time", "0")
    when = int(at) * 1000 if at.isdecimal() else 0
    return Commit(name, said.get("author", ""), when, said.get("summary", ""), said.get("filename", ""))


def _history(folder: str, name: str) -> Iterator[Commit]:
    form = ["--follow", f"--max-count={_HISTORY}", "--format=%H%x00%at%x00%an%x00%s", "--name-only", "-z",
            "--encoding=UTF-8"]  # fmt: skip
    done = run(folder, ["log", "--no-show-signature", *PLAIN, *form, "--", name], settings={"diff.relative": "false"})
    for one in _LOGGED.finditer(done.stdout.decode("utf-8", "replace")):
        yield Commit(one["hash"], one["author"], int(one["at"]) * 1000, one["subject"], one["name"] or "")
