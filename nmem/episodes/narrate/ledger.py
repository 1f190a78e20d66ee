"""Tracks the file changes, commits and pushes of an episode: which stand at its end, which were undone, and how."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from nmem.episodes.tally import AGAIN
from nmem.episodes.text import outside

SOFT = "git reset, files kept"
REPLACED = "replaced by a later commit"
SCRATCH = "made for a trial"
ELSEWHERE = 1 << 30
"""The number of a commit that the episode did not make."""


@dataclass(slots=True)
class Change:
    """What happened to one file. `commit`: the number of the commit that holds it, -1 while none does."""

    path: str
    created: bool = False
    deleted: bool = False
    moved: str = ""
    """Its name before."""
    edits: int = 0
    live: bool = True
    undone: str = ""
    commit: int = -1
    kept: int = -1
    """An earlier commit holds an earlier state of it: taking the later edits back leaves that one."""
    balance: Counter[str] = field(default_factory=Counter)
    whole: bool = True
    """Every edit was seen in full, so the balance of lines is exact."""
    last_at: int = 0
    turn: int = 0
    """The number of the request that it was first made for."""


@dataclass(slots=True)
class Commit:
    """One commit of the episode."""

    hash: str
    subject: str
    branch: str = ""
    at: int = 0
    files: int = 0
    pushed: bool = False
    undone: str = ""


class Ledger:
    """The working tree as far as the episode touched it."""

    __slots__ = (
        "by_user", "changes", "commits", "named", "plans", "published", "push_failed", "pushes", "root", "said_commits",
        "said_pushed", "scratch", "staged", "stashed", "tried", "turn", "worded",
    )  # fmt: skip

    def __init__(self, root: str = "") -> None:
        self.changes: dict[str, Change] = {}
        self.commits: list[Commit] = []
        self.root = root.rstrip("/")
        self.named: dict[str, list[str]] = {}
        """A file's name with its folder's -> the paths that end so."""
        self.by_user = False
        """The user commits too: what no commit is seen to hold may be in one of theirs."""
        self.plans: dict[str, None] = {}
        """Plans that were written into the client's own folder: nothing of the project's."""
        self.pushes: list[str] = []
        self.push_failed = False
        """The newest push failed, after one that did not."""
        self.published: list[tuple[str, str]] = []
        """What was made on a forge: (what, address)."""
        self.stashed: list[list[Change]] = []
        self.tried = False
        """A commit was started whose result is not known."""
        self.scratch: dict[str, None] = {}
        """Files in a folder for temporary files."""
        self.said_commits = 0
        """How many commits the agent's last words tell of."""
        self.said_pushed = False
        """The agent's last words tell of a push."""
        self.worded = ""
        """A commit that only the agent's words tell of, by its hash."""
        self.staged: set[str] | None = set()
        """Paths that were added; None: everything."""
        self.turn = 0
        """The number of the request that is worked on."""

    def edit(self, path: str, content: str, at: int, *, created: bool = False, deleted: bool = False) -> None:
        """Note an edit, a new file or a deletion."""
        known = path in self.changes
        if not known:  # one tool names it from the project's folder, another from the root
            named = self.named.setdefault(self._ending(path), [])
            path = next((one for one in named if one in self.changes and _one_file(one, path, self.root)), path)
            known = path in self.changes
            named.extend([path] * (not known))
        change = self.changes.setdefault(path, Change(path, created=created, turn=self.turn))
        if deleted:
            self.remove(change, "deleted")
            return
        if known and not change.live:
            change.balance.clear()
            change.created, change.kept = created, -1
        change.live, change.deleted, change.undone, change.commit = True, False, "", -1
        change.edits += 1
        change.last_at = at
        _weigh(change, content)

    def remove(self, change: Change, how: str) -> None:
        """A file is gone: one that the episode made leaves nothing, another one counts as deleted."""
        if change.created and change.commit < 0 and change.kept < 0:
            trial = change.turn == self.turn or _TRIAL.search(change.path.rsplit("/", 1)[-1])
            change.live, change.undone = False, SCRATCH if trial else how
        else:
            change.live, change.deleted, change.undone, change.commit = True, True, "", -1

    def move(self, old: str, new: str) -> None:
        """A file has another name now."""
        if (
            not self.matching(old)
            and not old.startswith(("/", "~", ".."))
            and not any(mark in old + new for mark in "*$")
        ):
            path = _moved(old, old, new)
            self._keep(Change(path, moved=old))
            return
        for change in self.matching(old):
            del self.changes[change.path]
            change.moved = change.moved or ("" if change.created else change.path)
            change.path = _moved(change.path, old, new)
            if change.path == change.moved:
                change.moved = ""
                change.live = change.edits > 0
            self._keep(change)

    def _keep(self, change: Change) -> None:
        self.changes[change.path] = change
        self.named.setdefault(self._ending(change.path), []).append(change.path)

    def _ending(self, path: str) -> str:
        return "/".join((path if "/" in path else f"{self.root}/{path}").rsplit("/", 2)[-2:])

    def matching(self, pattern: str) -> list[Change]:
        """The changes that a path, a folder or a glob of a command means."""
        return [change for change in self.changes.values() if means(pattern, change.path, self.root)]

    def take_back(self, found: list[Change], how: str, *, new_too: bool = True) -> list[Change]:
        """What is not committed of these changes is lost; gives those that were lost."""
        lost = []
        for change in found:
            if not change.live or change.commit >= 0 or (change.created and not new_too and change.kept < 0):
                continue
            lost.append(change)
            if change.kept >= 0:
                change.commit, change.deleted = change.kept, False
            else:
                change.live, change.deleted, change.undone = False, False, how
        return lost

    def commit(self, made: Commit) -> None:
        """What was staged is safe from here on."""
        number = len(self.commits)
        held = [one for one in self.changes.values() if one.live and one.commit < 0 and self._is_staged(one.path)]
        newest = self.kept_commits()[-1:]
        for older in self.commits:
            again = not held and [older] == newest and not (older.subject or older.hash or made.hash)
            if older.undone == SOFT or (
                not older.undone and made.at - older.at < AGAIN and (again or _same(older, made))
            ):
                older.undone = REPLACED
        self.commits.append(made)
        for change in held:
            change.commit = change.kept = number
        self.staged = set()

    def _is_staged(self, path: str) -> bool:
        return not self.staged or any(means(one, path) for one in self.staged)

    def clean(self, dirty: list[str] | None) -> None:
        """git says what is not committed; None: nothing. What it does not name, somebody else has committed."""
        for change in self.changes.values():
            inside = not change.path.startswith(("/", "~", "..")) and change.path[1:2] != ":"
            listed = any(means(one, change.path) for one in dirty or [])
            if inside and change.live and change.commit < 0 and not listed:
                change.commit = change.kept = ELSEWHERE
            elif listed and change.commit == ELSEWHERE:
                change.commit = change.kept = -1

    def uncommit(self, count: int, how: str, *, keep_files: bool) -> None:
        """The newest commits are gone, with their files or without."""
        for number in range(len(self.commits) - 1, -1, -1):
            if count <= 0:
                return
            if self.commits[number].undone:
                continue
            count -= 1
            self._revert(number, how, keep_files=keep_files)

    def revert(self, name: str, how: str) -> bool:
        """Undo one commit by its hash; HEAD is the newest."""
        for number in range(len(self.commits) - 1, -1, -1):
            made = self.commits[number]
            if made.undone:
                continue
            same = made.hash and (name.startswith(made.hash) or made.hash.startswith(name))
            if name == "HEAD" or same:
                self._revert(number, how, keep_files=False)
                return True
        return False

    def _revert(self, number: int, how: str, *, keep_files: bool) -> None:
        self.commits[number].undone = how
        for change in self.changes.values():
            if change.kept == number or change.commit == number:
                change.commit = change.kept = -1
                if not keep_files:
                    change.live, change.undone = False, how

    def settle(self) -> None:
        """At the end: edits that cancel each other out are no change."""
        for change in self.changes.values():
            nothing = change.whole and change.edits > 1 and not change.created and not any(change.balance.values())
            if nothing and change.live and not change.deleted and change.commit < 0:
                change.live, change.undone = False, "edited back"

    def standing(self) -> list[Change]:
        """The changes that are there at the end."""
        return [change for change in self.changes.values() if change.live]

    def inside(self) -> list[Change]:
        """The standing changes that are not in a commit and lie in the project, so that they could be."""
        return [one for one in self.standing() if one.commit < 0 and not outside(one.path)]

    def touched_at(self) -> int:
        """When a standing change was last made that a check could judge, in ms: of code, not of prose or data."""
        return max((one.last_at for one in self.standing() if not _prose(one)), default=0)

    def touched_after(self, at: int) -> list[str]:
        """The paths of such changes that were made after a moment."""
        return [one.path for one in self.standing() if one.last_at > at and not _prose(one)]

    def undone(self) -> list[Change]:
        """The changes that are gone; a file made for a trial, or made and removed for one request, was no work."""
        return [change for change in self.changes.values() if not change.live and change.undone != SCRATCH]

    def trials(self) -> frozenset[str]:
        """The names of files that the episode made and took away again."""
        gone = (one.path for one in self.changes.values() if one.created and one.undone in _TAKEN_AWAY)
        return frozenset(path.rsplit("/", 1)[-1] for path in gone)

    def kept_commits(self) -> list[Commit]:
        """The commits that were not undone."""
        return [one for one in self.commits if not one.undone]


def _one_file(one: str, other: str, root: str) -> bool:
    """Whether a path from the disk's root and one from a folder are one file's: of a short one only in the project."""
    whole, part = (one, other) if one.startswith("/") else (other, one)
    if part.startswith("/") or not whole.startswith("/"):
        return False
    if "/" not in part:
        return bool(root) and whole == f"{root}/{part}"
    return whole.endswith(f"/{part}") and (part.count("/") > 1 or whole.startswith(f"{root}/"))


def _same(older: Commit, made: Commit) -> bool:
    """Whether a commit was tried before: a check refused the first try, or a copied record tells of both."""
    known = bool(older.hash and made.hash and older.hash != made.hash)
    longer, text = sorted((older.subject, made.subject), key=len, reverse=True)
    cut = text.endswith("…") and len(text) > 1 and longer.startswith(text[:-1])
    return bool(text) and (longer == text or cut) and not known


_TAKEN_AWAY = ("removed", "deleted", "git clean", SCRATCH)
_TRIAL = re.compile(r"(?:^|[_.-])(?:te?mp|scratch|verify|zz|probe|repro|try|debug)(?:[_.-]|\d*\.)", re.IGNORECASE)
"""How a file is called that is made to be removed."""


def _prose(change: Change) -> bool:
    """Prose, a picture, or data that the episode made: no test tells of them."""
    name = change.path.rsplit("/", 1)[-1].lower()
    return name.endswith(_PROSE) or (change.created and name.endswith(_DATA))


_PROSE = (".md", ".mdx", ".txt", ".rst", ".adoc", ".log", ".patch", ".diff", ".svg", ".png")
_DATA = (".json", ".jsonl", ".csv", ".html")


def means(pattern: str, path: str, root: str = "") -> bool:
    """Whether a path as it was typed (a file, a folder, a glob, absolute or not) covers a path of the project."""
    given = pattern.removeprefix("./").rstrip("/")
    if given in ("", ".", ":/", "*"):
        return True
    if given == path or path.startswith(given + "/") or path.endswith("/" + given) or given.endswith("/" + path):
        return True
    if f"/{given}/" in f"/{path}" and "/" in given:
        return True
    inside = given.removeprefix(f"{root}/") if root else given
    globs = (given, inside) if inside != given else (given, f"*/{given}")
    return any(mark in given for mark in "*?[") and any(fnmatchcase(path, one) for one in globs)


def _moved(path: str, old: str, new: str) -> str:
    """The new path of a file after `mv old new`."""
    name = path.rsplit("/", 1)[-1]
    if new.endswith("/") or new == "." or ("." not in new.rsplit("/", 1)[-1] and "." in name):
        return new.rstrip("/") + "/" + name
    head = path[: -len(old)] if path.endswith(old) else ""
    return head + new.removeprefix("./")


def _weigh(change: Change, content: str) -> None:
    """Count the lines that came and went, to see later whether they cancel each other out."""
    for line in content.split("\n"):
        if line.startswith("+ "):
            change.balance[line[2:]] += 1
        elif line.startswith("- "):
            change.balance[line[2:]] -= 1
        elif line:
            change.whole = False
    if "characters)" in content or "more lines)" in content or not content:
        change.whole = False
