"""Says what is in a project's checkout and what its git history took out: files, folders, when a line was written.

Git is asked for some seconds at most; without git the folders are walked, and nothing is known of the past.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from capture.files import regular
from nmem.errors import NmemError
from nmem.store import git

_EACH, _ALL = 8.0, 15.0
"""Seconds that git has for an answer, and for all of them: what it cannot say then is not known."""
_MOST_FILES = 60_000
_LEFT = {".git", "node_modules", ".venv", "venv", "__pycache__", "dist", "build", "target", ".next"}
_AS_WRITTEN = {".js": (".ts", ".tsx", ".jsx"), ".jsx": (".tsx",)}
"""A module is imported by the name of what becomes of it."""
_SAME_FORMAT = {"yml": "yaml", "yaml": "yml", "markdown": "md"}
_LARGEST = 1_000_000
_TRIED = 10
"""Commits that may have taken a word out, at most."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A path that a commit took out, or gave another name."""

    commit: str
    day: str
    renamed: str = ""
    whole: str = ""
    """The file, or one in the folder, as the commit called it."""


class Checkout:
    """One folder, read when it is asked."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._until = time.monotonic() + _ALL
        self._filters: dict[str, str] | None = None
        listed = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        self.is_git = listed is not None
        self.files = [path for path in listed.split("\0") if path] if listed is not None else list(_walk(root))
        self._named: dict[str, list[str]] = {}
        folders = {folder for path in self.files for folder in _above(path)}
        for path in (*self.files, *folders):
            self._named.setdefault(path.rpartition("/")[2], []).append(path)
            stem = path.rpartition("/")[2].rpartition(".")[0]
            if stem:
                self._named.setdefault(stem, []).append(path.rpartition(".")[0])

    def has(self, path: str, bases: Iterable[str] = ()) -> bool:
        """Whether a path is there: from the root, from a folder of `bases`, or as the end of any path."""
        name = path.strip("/")
        if any(os.path.lexists(os.path.join(self.root, base, name)) for base in ("", *bases)):
            return True
        stem, dot, ending = name.rpartition(".")
        return any(self._ends(each) for each in (name, *(stem + other for other in _AS_WRITTEN.get(dot + ending, ()))))

    def _ends(self, name: str) -> bool:
        return any(f"/{path}".endswith(f"/{name}") for path in self._named.get(name.rpartition("/")[2], ()))

    def respelled(self, path: str, whole: str) -> str:
        """The path with the other ending of its format, where that stands where `whole` did: `.yaml` for `.yml`."""
        ending = path.rpartition(".")[2]
        other = _SAME_FORMAT.get(ending, "")
        there = bool(other) and os.path.isfile(os.path.join(self.root, whole.removesuffix(ending) + other))
        return path.removesuffix(ending) + other if there else ""

    def text(self, path: str) -> str:
        """A file's text; empty where it cannot be read."""
        try:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace", opener=regular) as file:
                return file.read(_LARGEST)
        except OSError:
            return ""

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Those of some paths that git ignores: they come and go, and nobody misses them."""
        if not self.is_git or not paths:
            return set()
        given = [each.rstrip("/") for each in paths]
        asked = "\0".join([*given, *(f"{each}/" for each in given)])
        found = self._git(
            "check-ignore", "--no-index", "-z", "--stdin", given=asked, globs=True
        )  # it knows no literal paths
        held = {each.rstrip("/") for each in (found or "").split("\0")}
        return {path for path in paths if path.rstrip("/") in held}

    def gone(self, paths: Sequence[str]) -> dict[str, Gone]:
        """Those of some paths that are not there and that the history took out, with the commit that did."""
        if not self.is_git or not paths:
            return {}
        globs = [f":(glob)**/{path.rstrip('/')}{tail}" for path in paths for tail in ("", "/**")]
        form = ("--no-renames", "--diff-filter=D", "--name-only", "-z", "--format=%x01%h %cs")
        said = self._git("log", *git.PLAIN, *form, "--", *globs, globs=True)
        out: dict[str, Gone] = {}
        for part in (said or "").split("\1")[1:]:
            head, _, rest = part.partition("\0")
            commit, day = head.strip().split(" ")
            files = [each.strip("\n") for each in rest.split("\0")]
            for path in paths:
                if path not in out and (whole := _taken(path, files)):
                    out[path] = Gone(commit, day, self._renamed(commit, whole, path), whole)
        return out

    def _renamed(self, commit: str, whole: str, path: str) -> str:
        """What a commit called a file that it took out, cut to how the file was named; empty where it is gone."""
        if path.endswith("/") or not whole.endswith(path):
            return ""
        form = ("--find-renames", "--diff-filter=R", "--name-status", "-z", "--format=")
        said = self._git("show", *git.PLAIN, *form, commit) or ""
        words = said.strip("\n").split("\0")
        new = next((words[at + 2] for at in range(0, len(words) - 2, 3) if words[at + 1] == whole), "")
        if not new or not os.path.isfile(os.path.join(self.root, new)):
            return ""
        before = whole.removesuffix(path)
        return new.removeprefix(before) if new.startswith(before) else ""

    def changed(self, word: str, files: Sequence[str]) -> Iterator[tuple[Gone, str, str]]:
        """The newest commits that changed how often a word stands in some files, and what one was before and after."""
        form = ("--no-renames", "--relative", "--name-only", "-z", "--format=%x01%h %cs", f"-{_TRIED}", f"-S{word}")
        said = self._git("log", *git.PLAIN, *form, "--", *files) if self.is_git else ""
        for part in (said or "").split("\1")[1:]:
            head, _, rest = part.partition("\0")
            commit, day = head.strip().split(" ")
            for file in filter(None, (each.strip("\n") for each in rest.split("\0"))):
                before, after = (self._git("cat-file", "blob", f"{at}:./{file}") for at in (f"{commit}^", commit))
                yield Gone(commit, day, whole=file), before or "", after or ""

    def written(self, path: str, number: int) -> int:
        """When a line of a file was written, in milliseconds; 0 where git does not know it."""
        asked = ("blame", "--porcelain", "--no-textconv", "-L", f"{number},{number}", "--", path)
        said = self._git(*asked) if self.is_git else None
        found = next((row for row in (said or "").split("\n") if row.startswith("committer-time ")), "")
        return int(found.split(" ")[1]) * 1000 if found else 0

    def _git(self, *words: str, given: str = "", globs: bool = False) -> str | None:
        left = min(_EACH, self._until - time.monotonic())
        if left <= 0:
            return None
        try:
            if self._filters is None:
                self._filters = git.filters(self.root)
            done = git.run(self.root, words, settings=self._filters, globs=globs, given=given.encode(), seconds=left)
        except (NmemError, UnicodeEncodeError):
            return None
        return done.stdout.decode("utf-8", "replace") if done.returncode in (0, 1) else None


def _taken(path: str, files: Sequence[str]) -> str:
    """The whole name under which a commit took out a path; empty where it did not."""
    name = path.strip("/")
    for file in files:
        if f"/{file}".endswith(f"/{name}") or f"/{name}/" in f"/{file}":
            return file
    return ""


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: at + 1]) for at in range(len(parts))]


def _walk(root: str) -> Iterable[str]:
    many = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _LEFT)
        for name in names:
            many += 1
            if many > _MOST_FILES:
                return
            yield Path(folder, name).relative_to(root).as_posix()
