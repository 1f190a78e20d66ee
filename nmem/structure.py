"""Keeps what git moved, renamed, added and deleted in the checkouts of projects, and reads work on their files (SQL).

A background process asks git once it stands at another commit than before, and stores a row for each file that has
another name now, or none. Hooks read these rows (nmem.context.places) and never run git. What is in no commit
is not seen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from capture.redaction import redact
from capture.storage.store import transaction
from capture.text import clean
from nmem.context.places import forward
from nmem.errors import NmemError
from nmem.store.git import PLAIN, run

NEW, MOVED, RENAMED, GONE = "new", "moved", "renamed", "gone"
_CHECKOUTS = 40
"""Checkouts that are looked at, those worked in last."""
_SECONDS = 10.0
_MOST, _KEPT = 2_000, 5_000
"""Changes between two commits that are taken in, and rows of a checkout that are kept, the newest."""
_BYTES = 20_000_000
_ALIKE = "-M80%"
"""A file that went and a new one that has so much of it are told as one that moved: git's own 50 % takes two modules
of one kind for it."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a file."""

    path: str
    """What it was called, relative to its checkout."""
    change: str
    """new moved renamed gone."""
    name: str
    """What it is called now; empty where it is gone."""
    commit: str
    """The commit that did it, abbreviated; empty where none did: the file is not on the branch that is checked out."""
    at: int
    """When the checkout came to hold it, in milliseconds."""
    root: str


def changes(db: Connection, project_id: int, since: int = 0, limit: int = 200) -> list[Change]:
    """What changed in a project's checkouts, the newest first; moved and gone files before new ones."""
    rows = db.execute(
        "SELECT path, change, name, hash, at, root FROM moved_files WHERE project_id = ? AND at >= ?"
        " ORDER BY at DESC, instr('moved renamed gone new', change), path LIMIT ?",
        (project_id, since, limit),
    ).fetchall()
    return [Change(*tuple(row)) for row in rows]


def names(db: Connection, project_id: int) -> dict[str, str]:
    """What moved files are called now, by what they were called; of several checkouts the one that changed last."""
    rows = db.execute(
        "SELECT path, name FROM moved_files WHERE project_id = ? AND change IN ('moved', 'renamed') ORDER BY at",
        (project_id,),
    )
    return {str(path): str(name) for path, name in rows.fetchall()}


def worked(db: Connection, project_id: int) -> tuple[str, str, int | None]:
    """A project's name, the checkout that was worked in last, and when somebody worked on it last."""
    found: tuple[str, str, int | None] = db.execute(
        "SELECT p.name, coalesce((SELECT f.root FROM project_folders f JOIN sessions s ON s.cwd = f.folder"
        " WHERE f.project_id = p.id ORDER BY s.last_at DESC LIMIT 1), p.root, ''),"
        " (SELECT max(last_at) FROM sessions WHERE project_id = p.id) FROM projects p WHERE p.id = ?",
        (project_id,),
    ).fetchone()
    return found


_WORK = """
SELECT o.session_id, s.client, o.at, o.obs_type, o.file_path, o.outcome, coalesce(o.metadata, '') AS metadata,
  CASE WHEN o.obs_type IN ('file_edit', 'file_write', 'git_other') THEN o.content ELSE '' END AS content
FROM sessions s JOIN observations o ON o.session_id = s.id
WHERE s.project_id = ? AND o.at >= ? AND (o.obs_type IN ('file_edit', 'file_write', 'git_commit', 'git_other')
  OR (o.obs_type IN ('test', 'build', 'lint', 'command') AND o.outcome = 'failed'))
ORDER BY o.session_id, o.seq
"""


def work(db: Connection, project_id: int, since: int) -> Iterator[tuple[Any, ...]]:
    """(session, client, ms, type, file, outcome, metadata, content) of a project's edits, commits and failures."""
    return iter(db.execute(_WORK, (project_id, since)))


def keep(
    db: Connection, now: int, stopped: Callable[[], bool] = lambda: False, project_id: int | None = None
) -> int:  # fmt: skip
    """Look at the checkouts in which something was done since; how many changes were found.

    `project_id`: at those of one project, whatever was done. On a writing connection.
    """
    found = 0
    for number, root, known, seen, worked in _checkouts(db, project_id):
        if stopped():
            break
        if project_id is None and known and worked < seen and not _logged(root, seen):
            continue
        if not os.path.exists(f"{root}/.git"):  # noqa: PTH110 - pathlib raises where it may not look
            continue
        head = ""
        # it takes too long, or cannot be read: what was known stays so, nobody waits for it again, others are looked at
        with suppress(NmemError, OSError):
            head, at = _head(root, now)
            if head and head != known:
                found += _look(db, number, root, known, head, at if known else seen)
        if head:
            db.execute("INSERT OR REPLACE INTO checkout_heads VALUES (?, ?, ?, ?)", (number, root, head, now))
    return found


def _checkouts(db: Connection, project_id: int | None) -> list[tuple[int, str, str, int, int]]:
    """Checkouts, those worked in last first: project, folder, the commit at the last look, when that was, and when
    somebody worked there last.

    Of one that was never looked at: no commit, and when its project's first session began.
    """
    rows = db.execute(
        "SELECT f.project_id, f.root, coalesce(h.head, ''), coalesce(h.at, min(s.started_at)), max(s.last_at)"
        " FROM project_folders f JOIN sessions s ON s.cwd = f.folder AND s.project_id = f.project_id"
        " LEFT JOIN checkout_heads h ON h.project_id = f.project_id AND h.root = f.root"
        " WHERE f.root != '' AND (?1 IS NULL OR f.project_id = ?1) GROUP BY f.project_id, f.root"
        " ORDER BY max(s.last_at) DESC LIMIT ?2",
        (project_id, _CHECKOUTS),
    ).fetchall()
    return [(int(row[0]), str(row[1]), str(row[2]), int(row[3]), int(row[4])) for row in rows]


def _logged(root: str, since: int) -> bool:
    """Whether git wrote to a checkout's log of commits since a time: a stat; a worktree has its log elsewhere."""
    try:
        return Path(root, ".git", "logs", "HEAD").stat().st_mtime_ns // 1_000_000 >= since
    except OSError:
        return False


def _head(root: str, now: int) -> tuple[str, int]:
    """The commit that a checkout is at, and since when; empty where there is none yet."""
    head = _said(root, "rev-parse", "--verify", "-q", "HEAD").strip()
    stamp = _said(root, "log", "-g", "-1", "--date=unix", "--format=%gd", "HEAD") if head else ""
    moment = stamp.strip().removeprefix("HEAD@{").removesuffix("}")
    return head, min(now, int(moment) * 1000) if moment.isdecimal() else now


def _look(db: Connection, project_id: int, root: str, known: str, head: str, at: int) -> int:
    """Take in what is other between two commits; of a checkout that is looked at first, since its first session.

    Then only names that are recorded count, at the times of their commits: nobody is told of them as news.
    """
    old = known or _said(root, "rev-list", "-1", "--first-parent", f"--before={at // 1000}", "HEAD").strip()
    if not old:
        return 0  # all there is was made since
    ours = None if known else _recorded(db, project_id, root)
    said = _said(root, "diff", "--name-status", "-z", _ALIKE, "-B", "--diff-filter=ADR", *PLAIN, old, head)
    found = [one for one in _parsed(said) if ours is None or one[0] in ours]
    found = sorted(found, key=lambda one: not one[0])[:_MOST]  # new files last
    if found:
        made = dict(_commits(root, old, head))
        rows = []
        gone = any(not name and path not in made for path, name in found)
        switched = gone and _said(root, "merge-base", old, head).strip() != old
        for path, name in found:
            commit, then = made.get(path, ("" if switched and not name else head[:7], at))
            rows.append((_clean(path), _clean(name), commit, at if known else then))
        with transaction(db):
            _store(db, (project_id, root), rows)
            db.execute(
                "DELETE FROM moved_files WHERE project_id = ?1 AND root = ?2 AND path NOT IN (SELECT path FROM"
                " moved_files WHERE project_id = ?1 AND root = ?2 ORDER BY change = 'new', at DESC LIMIT ?3)",
                (project_id, root, _KEPT),
            )
    return len(found)


def _store(db: Connection, here: tuple[int, str], rows: Sequence[tuple[str, str, str, int]]) -> None:
    """Old name, new name, commit and time of changes, on top of those before: what had moved to an old name goes along,
    and what has a new name is there again."""
    became = {path: (name, commit, at) for path, name, commit, at in rows if path}
    known = db.execute(
        "SELECT path, name FROM moved_files WHERE project_id = ? AND root = ? AND change IN ('moved', 'renamed')", here
    ).fetchall()
    for path, name in known:
        if name in became:
            _put(db, here, path, *became[name])
    for _, name, _, _ in rows:
        db.execute("DELETE FROM moved_files WHERE project_id = ? AND root = ? AND path = ?", (*here, name))
    for path, name, commit, at in rows:
        _put(db, here, path or name, name, commit, at, new=not path)


def _put(
    db: Connection, here: tuple[int, str], path: str, name: str, commit: str, at: int, *, new: bool = False
) -> None:  # fmt: skip
    change = NEW if new else GONE if not name else RENAMED if _folder(path) == _folder(name) else MOVED
    if path == name and not new:  # it is back where it was
        db.execute("DELETE FROM moved_files WHERE project_id = ? AND root = ? AND path = ?", (*here, path))
        return
    db.execute(
        "INSERT OR REPLACE INTO moved_files VALUES (?, ?, ?, ?, ?, ?, ?)", (*here, path, change, name, commit, at)
    )


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _parsed(said: str) -> Iterator[tuple[str, str]]:
    """Old and new name of each change that `git diff --name-status -z` printed; one of them may be empty."""
    parts = iter(said.split("\0"))
    for letter in parts:
        if letter[:1] == "R":
            yield next(parts, ""), next(parts, "")
        elif letter:
            path = next(parts, "")
            yield ("", path) if letter == "A" else (path, "")


def _commits(root: str, old: str, head: str) -> Iterator[tuple[str, tuple[str, int]]]:
    """Name -> the commit that took it away, and when it was made in milliseconds; the newest last."""
    said = _said(root, "log", f"--max-count={_MOST}", "--format=%x01%h %ct", "--name-status", _ALIKE,
                 "--diff-filter=ADR", "--no-show-signature", *PLAIN, f"{old}..{head}")  # fmt: skip
    rows = []
    commit = ("", 0)
    for line in said.split("\n"):
        if line.startswith("\x01"):
            name, _, seconds = line[1:].partition(" ")
            commit = (name, int(seconds) * 1000)
        elif "\t" in line:
            letter, path = line.split("\t")[:2]
            rows.append(("" if letter == "A" else path, commit))
    return iter([row for row in reversed(rows) if row[0]])


def _recorded(db: Connection, project_id: int, root: str) -> set[str]:
    """The names of a project's files that sessions worked on."""
    rows = db.execute(
        "SELECT DISTINCT o.file_path FROM sessions s JOIN observations o ON o.session_id = s.id"
        " WHERE s.project_id = ? AND o.file_path IS NOT NULL",
        (project_id,),
    )
    return {forward(str(row[0])).removeprefix(f"{root.rstrip('/')}/") for row in rows.fetchall()}


def authors(root: str, since: int, known: Iterable[str]) -> dict[str, set[str]]:
    """Name of a file -> who changed it in commits since a time (ms), programs left out; empty without a repository."""
    wanted = set(known)
    if not root or not os.path.exists(f"{root}/.git"):  # noqa: PTH110 - as above
        return {}
    said = _said(root, "log", f"--since={since // 1000}", f"--max-count={_KEPT}", "--no-merges", "--no-renames",
                 "--format=%x01%aN", "--name-only", "--no-show-signature", *PLAIN)  # fmt: skip
    out: dict[str, set[str]] = {}
    who = ""
    for line in said.split("\n"):
        if line.startswith("\x01"):
            who = _clean(line[1:])
        elif line in wanted and who and not who.endswith("[bot]"):
            out.setdefault(line, set()).add(who)
    return out


def _said(root: str, *words: str) -> str:
    """What git printed; nothing where it failed. Raises NmemError where it takes too long."""
    done = run(root, words, missing=True, seconds=_SECONDS, most=_BYTES)
    return "" if done.returncode else done.stdout.decode("utf-8", "replace")


def _clean(text: str) -> str:
    """A name from a repository, as one from a client is stored."""
    return redact(clean(text))
