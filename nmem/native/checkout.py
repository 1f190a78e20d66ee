"""Says what is in a project's checkout and what its git history took out: files, folders, when a line was written.

Git is asked with lists of arguments, without its prompts, for some seconds at most; without git the folders are
walked, and nothing is known of the past.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from capture.files import regular

_EACH, _ALL = 8.0, 15.0
"""Seconds that git has for an answer, and for all of them: what it cannot say then is not known."""
_MOST_FILES = 60_000
_LEFT = {".git", "node_modules", ".venv", "venv", "__pycache__", "dist", "build", "target", ".next"}
_AS_WRITTEN = {".js": (".ts", ".tsx", ".jsx"), ".jsx": (".tsx",)}
"""A module is imported by the name of what becomes of it."""
_SAME_FORMAT = {"yml": "yaml", "yaml": "yml", "markdown": "md"}
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Gone:
    """A path that a commit took out, or gave another name."""

    commit: str
    day: str
    renamed: str = ""


class Checkout:
    """One folder, read when it is asked."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._until = time.monotonic() + _ALL
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

    def respelled(self, path: str) -> str:
        """The path with the other ending of the same format, where only that is there: `.yaml` for `.yml`."""
        stem, _, ending = path.rpartition(".")
        other = f"{stem}.{_SAME_FORMAT.get(ending, '')}"
        return other if ending in _SAME_FORMAT and self.has(other) else ""

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
        found = self._git("check-ignore", "--no-index", "-z", "--stdin", given=asked)
        held = {each.rstrip("/") for each in (found or "").split("\0")}
        return {path for path in paths if path.rstrip("/") in held}

    def gone(self, paths: Sequence[str]) -> dict[str, Gone]:
        """Those of some paths that are not there and that the history took out, with the commit that did."""
        if not self.is_git or not paths:
            return {}
        globs = [f":(glob)**/{path.rstrip('/')}{tail}" for path in paths for tail in ("", "/**")]
        form = ("--no-renames", "--diff-filter=D", "--name-only", "-z", "--format=%x01%h %cs")
        said = self._git("log", *form, "--", *globs)
        out: dict[str, Gone] = {}
        for part in (said or "").split("\1")[1:]:
            head, _, rest = part.partition("\0")
            commit, day = head.strip().split(" ")
            files = [each.strip("\n") for each in rest.split("\0")]
            for path in paths:
                if path not in out and (whole := _taken(path, files)):
                    out[path] = Gone(commit, day, self._renamed(commit, whole, path))
        return out

    def _renamed(self, commit: str, whole: str, path: str) -> str:
        """What a commit called a file that it took out, cut to how the file was named; empty where it is gone."""
        if path.endswith("/") or not whole.endswith(path):
            return ""
        said = self._git("show", "--find-renames", "--diff-filter=R", "--name-status", "-z", "--format=", commit) or ""
        words = said.strip("\n").split("\0")
        new = next((words[at + 2] for at in range(0, len(words) - 2, 3) if words[at + 1] == whole), "")
        if not new or not os.path.isfile(os.path.join(self.root, new)):
            return ""
        before = whole.removesuffix(path)
        return new.removeprefix(before) if new.startswith(before) else ""

    def dropped(self, word: str, *globs: str) -> Gone | None:
        """The newest commit that changed how often a word stands in some files: one that took its last place out."""
        if not self.is_git:
            return None
        said = self._git("log", "-1", "--format=%h %cs", f"-S{word}", "--", *globs) or ""
        commit, _, day = said.strip().partition(" ")
        return Gone(commit, day) if day else None

    def written(self, path: str, number: int) -> int:
        """When a line of a file was written, in milliseconds; 0 where git does not know it."""
        said = self._git("blame", "--porcelain", "-L", f"{number},{number}", "--", path) if self.is_git else None
        found = next((row for row in (said or "").split("\n") if row.startswith("committer-time ")), "")
        return int(found.split(" ")[1]) * 1000 if found else 0

    def _git(self, *words: str, given: str = "") -> str | None:
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        left = min(_EACH, self._until - time.monotonic())
        if left <= 0:
            return None
        try:
            done = subprocess.run(
                ["git", "-C", self.root, "--no-optional-locks", *words], input=given, text=True, errors="replace",
                capture_output=True, timeout=left, check=False, env=env | {"GIT_TERMINAL_PROMPT": "0"},
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError, ValueError):
            return None
        return done.stdout if done.returncode in (0, 1) else None


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
