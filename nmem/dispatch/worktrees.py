"""Makes a git worktree on a branch nmem/task-N for a task; keeps it afterwards only if it contains work.

The person's own checkout is never touched: no file of it, not its index, not its branch.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from capture import paths
from capture.redaction import redact
from nmem.errors import NmemError
from nmem.text import printable

_TIMEOUT = 300
_CACHES = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".DS_Store"}
"""What holds no work under any circumstances, also where git does not ignore it."""
_BY_TOOLS = _CACHES | {
    ".coverage", ".tox", ".venv", "venv", ".eggs", "node_modules", ".next", ".parcel-cache", ".turbo", ".cache",
    ".gradle", "target", "dist", "build",
}  # fmt: skip
"""What tools leave in a checkout, whatever was done in it; git ignores it."""
_LOCAL = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")


@dataclass(frozen=True, slots=True)
class Worktree:
    """A checkout that was made for a task."""

    path: str
    branch: str
    base: str
    """The commit it began at."""
    cwd: str
    """The folder in it that stands for the task's own."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What was done in a worktree."""

    files: int = 0
    """Changed or new, and not committed."""
    commits: int = 0
    ignored: int = 0
    """Files and folders that git ignores and that no tool makes by itself."""
    known: bool = True
    left: int = 0
    """Files of caches that git does not ignore here; they are no work."""

    @property
    def some(self) -> bool:
        """Whether there is, or may be, something to keep."""
        return bool(self.files or self.commits or self.ignored) or not self.known


def why_not(cwd: str) -> str:
    """Why a task cannot have a worktree in a folder, in words; empty where it can."""
    try:
        root(cwd)
    except NmemError as error:
        return str(error).rpartition(": ")[0]
    return ""


def root(cwd: str) -> str:
    """The checkout that a folder lies in. Raises NmemError where there is none, or no commit yet."""
    done = _git(cwd, "rev-parse", "--show-toplevel")
    if done.returncode or not done.stdout.strip():
        raise NmemError(f"{printable(cwd)} is not in a git repository: a worktree needs one")
    if _git(cwd, "rev-parse", "--verify", "-q", "HEAD^{commit}").returncode:
        raise NmemError(f"{printable(cwd)} has no commit yet: a worktree starts from a commit")
    return done.stdout.rstrip("\n")


def uncommitted(cwd: str) -> int:
    """Files of a checkout that a worktree would not have: changed or new since the last commit."""
    return len(_git(cwd, "status", "--porcelain", "--untracked-files=all").stdout.splitlines())


def make(cwd: str, task_id: int, attempt: int, folder: str, start: str = "") -> Worktree:
    """A new worktree for an attempt, at HEAD or at the branch `start`. Raises NmemError.

    The branch is nmem/task-N, nmem/task-N-A where an earlier attempt's was kept.
    """
    top = root(cwd)
    base = _said(_git(cwd, "rev-parse", "--verify", "-q", f"{start or 'HEAD'}^{{commit}}"), "HEAD")
    name = f"task-{task_id}"
    if not _git(cwd, "rev-parse", "--verify", "-q", f"refs/heads/nmem/{name}").returncode:
        name = f"task-{task_id}-{attempt}"
    path = Path(folder) / f"{Path(top).name}-{name}"
    paths.make(folder)
    _git(cwd, "worktree", "prune")
    _said(_git(cwd, "worktree", "add", "-q", "-b", f"nmem/{name}", str(path), base), "git worktree add")
    within = path / Path(cwd).resolve().relative_to(Path(top).resolve())
    return Worktree(str(path), f"nmem/{name}", base, str(within if within.is_dir() else path))


def changes(path: str, base: str) -> Changes:
    """What was done in a worktree that began at the commit `base`."""
    changed = _git(path, "status", "--porcelain", "--untracked-files=all")
    ahead = _git(path, "rev-list", "--count", f"{base}..HEAD") if base else None
    commits = int(ahead.stdout) if ahead and ahead.stdout.strip().isdecimal() else -1
    known = not changed.returncode and commits >= 0
    others = _git(path, "ls-files", "--others", "--exclude-standard", "-z").stdout.split("\0")
    left = sum(not _CACHES.isdisjoint(Path(name).parts) or name.endswith(".pyc") for name in others)
    return Changes(len(changed.stdout.splitlines()) - left, max(commits, 0), _ignored(path), known, left)


def settle(cwd: str, path: str, branch: str, done: Changes | None) -> str:
    """Remove a worktree that nothing was done in; in words what became of it. `done`: None where it is gone."""
    if done is None:
        return "its worktree is gone"
    if done.some:
        files, made = done.files, done.ignored
        said = [f"{done.commits} commit{'s' * (done.commits != 1)}"] if done.commits else []
        said += [f"{files} changed file{'s' * (files != 1)}"] if files else []
        said += [f"{made} file{'s' * (made != 1)} or folder{'s' * (made != 1)} that git ignores"] if made else []
        return f"kept on {branch}: {', '.join(said) or 'its state is unknown'}"
    if _git(cwd, "worktree", "remove", *["--force"] * bool(done.left), path).returncode:
        return f"kept on {branch}: git does not remove it"
    _git(cwd, "branch", "-D", branch)
    return "its worktree had no changes and is removed"


def _ignored(path: str) -> int:
    """Files and folders that git ignores and that no tool makes by itself: they may be what the task was for."""
    done = _git(path, "status", "--porcelain", "--ignored", "-z")
    names = [row[3:].rstrip("/") for row in done.stdout.split("\0") if row.startswith("!! ")]
    return sum(Path(name).name not in _BY_TOOLS and not name.endswith(".pyc") for name in names)


def discard(cwd: str, path: str, branch: str) -> None:
    """Remove a worktree whatever is in it; a person said so. Raises NmemError."""
    if Path(path).is_dir():
        _said(_git(cwd, "worktree", "remove", "--force", path), "git worktree remove")
    _git(cwd, "worktree", "prune")
    _git(cwd, "branch", "-D", branch)


def base_of(path: str, branch: str) -> str:
    """The commit at which a branch of ours began: the oldest entry of its reflog."""
    done = _git(path, "rev-list", "-g", branch)
    return done.stdout.split()[-1] if not done.returncode and done.stdout.split() else ""


def same_repository(cwd: str, other: str) -> bool:
    """Whether two folders are checkouts of one repository."""
    found = [_git(one, "rev-parse", "--path-format=absolute", "--git-common-dir").stdout for one in (cwd, other)]
    return bool(found[0]) and found[0] == found[1]


def _git(cwd: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        return subprocess.run(
            ["git", "-C", cwd, *words], capture_output=True, text=True, errors="surrogateescape", env=env,
            stdin=subprocess.DEVNULL, timeout=_TIMEOUT, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise NmemError("git is not installed: a worktree needs it") from None
    except (subprocess.TimeoutExpired, OSError, ValueError) as error:
        raise NmemError(f"git {words[0]} did not answer: {printable(str(error))[:200]}") from None


def _said(done: subprocess.CompletedProcess[str], what: str) -> str:
    if done.returncode:
        why = printable(redact(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it failed"))
        raise NmemError(f"{what}: {why[:300]}")
    return done.stdout.strip()
