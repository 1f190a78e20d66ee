"""An episode in, what it changed out: its recorded edits as hunks of a diff, its commits as git shows them.

An edit is stored without blank and unchanged lines, and cut: a hunk says what is known, not where in the file it was.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection, Row

from capture.extract.git_output import hexadecimal
from capture.redaction import redact
from capture.text import clean
from nmem.blame import git, store
from nmem.context.places import absolute, forward
from nmem.context.selection_store import root
from nmem.hours import utc
from nmem.read import file_history
from nmem.read.views import refusal
from nmem.text import json_list, json_object

EDITS, LINES, ALL = 200, 400, 5_000
"""Edits that are shown; lines of them and of each commit, and that many when all is asked for."""
_COMMITS, _SECONDS = 50, 15.0
"""Commits that are read, and seconds after which no further one is."""
_SECRETS = 2_000
"""Lines of a commit that are looked through for secrets at once."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One edit of a file, as far as it was stored."""

    id: int
    """Of its observation."""
    at: int
    outcome: str
    added: int | None
    removed: int | None
    lines: tuple[str, ...]
    """As in a diff: `+` or `-` before each; none: only how many they were is known."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A file, and the edits of it, the oldest first."""

    path: str
    created: bool
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit that was made."""

    hash: str
    message: str
    lines: tuple[str, ...]
    """As git shows it; none: the repository does not have it any more, or lies elsewhere."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What an episode changed."""

    unit_id: int
    files: tuple[Changed, ...]
    commits: tuple[Committed, ...]
    left_out: int = 0
    """Edits beyond those shown."""


def changes(db: Connection, unit_id: int, *, whole: bool = False) -> Changes | None:
    """What an episode changed; None when it is gone. `whole`: commits with their patches, more lines of each."""
    unit = store.unit(db, unit_id)
    if unit is None:
        return None
    rows = store.edits_of(db, unit_id)
    most = ALL if whole else EDITS
    checkouts = file_history.checkouts(db, unit["session_id"])
    files: dict[str, list[Row]] = {}
    for row in rows[:most]:
        files.setdefault(_placed(row["file_path"], checkouts), []).append(row)
    folder = root(db, unit["project_id"], unit["session_id"])
    return Changes(
        unit_id, tuple(_file(path, found) for path, found in files.items()),
        tuple(_commits(folder, json_list(unit["commits"]), whole=whole)), max(0, len(rows) - most),
    )  # fmt: skip


def _placed(path: str, checkouts: Sequence[str]) -> str:
    """A path relative to the checkout that it lies in, else as it is, with forward slashes."""
    path = forward(path)
    best = max((one for one in checkouts if path.startswith(one.rstrip("/") + "/")), key=len, default="")
    return forward(path[len(best.rstrip("/")) + 1 :]) if best else path


def _file(path: str, rows: Sequence[Row]) -> Changed:
    created = bool(json_object(rows[0]["metadata"]).get("created"))
    return Changed(path, created, tuple(_hunk(row) for row in rows))


def _hunk(row: Row) -> Hunk:
    kept = row["content"].split("\n")
    told = all(each.startswith(("+ ", "- ")) or each == "…" for each in kept)
    lines = tuple(each[0] + each[2:] if each != "…" else "\\ cut here" for each in kept) if told else ()
    ended = refusal(json_object(row["metadata"])) or row["outcome"]
    added, removed = row["lines_added"], row["lines_removed"]
    counted = bool(lines or added or removed)  # 0 and 0 of a text that was not kept is not known
    return Hunk(row["id"], row["at"], ended, added if counted else None, removed if counted else None, lines)


def _commits(folder: str, stored: Sequence[object], *, whole: bool) -> Iterator[Committed]:
    until = time.monotonic() + _SECONDS
    for number, each in enumerate(one for one in stored if isinstance(one, dict)):
        name, message = str(each.get("hash") or ""), str(each.get("message") or "")
        if number >= _COMMITS or time.monotonic() > until:
            yield Committed(name, message, (f"{name[:8]} {message}".strip(), "\\ not read: it is one of too many"))
        else:
            shown = git.shown(folder, name, patch=whole) if hexadecimal(name) else None
            yield Committed(name, message, tuple(_plain(shown or [], ALL if whole else LINES)))


def _plain(lines: Sequence[str], most: int) -> list[str]:
    """Lines of a repository without secrets and without what a terminal obeys."""
    out: list[str] = []
    for begin in range(0, min(len(lines), most), _SECRETS):
        out += redact(clean("\n".join(lines[begin : min(begin + _SECRETS, most)]))).split("\n")
    over = "over " if lines and lines[-1] == git.CUT else ""
    return [*out, f"\\ {over}{len(lines) - most} more lines"] if len(lines) > most else out


def unified(found: Changes, *, whole: bool = False) -> list[str]:
    """All of it as the lines of a diff; `whole` as it was read."""
    out: list[str] = []
    most = ALL if whole else LINES
    hunks = [hunk for file in found.files for hunk in file.hunks]
    untold = not any(hunk.lines or hunk.added or hunk.removed for hunk in hunks)
    if hunks and untold:
        many = len(hunks) + found.left_out
        told = f"the texts of {many} edits were" if many > 1 else "the text of 1 edit was"
        out.append(f"\\ {told} not kept")
    for file in () if untold else found.files:
        before, after = (file.path, file.path) if absolute(file.path) else (f"a/{file.path}", f"b/{file.path}")
        out += ["--- /dev/null" if file.created else f"--- {before}", f"+++ {after}"]
        for hunk in file.hunks:
            out += [_head(hunk), *hunk.lines]
    if found.left_out and not untold:
        out.append(f"\\ {found.left_out} more edits")
    if len(out) > most:
        out = [*out[:most], f"\\ {len(out) - most} more lines"]
    for one in found.commits:
        head, *lines = one.lines or (f"{one.hash[:8]} {one.message}".strip(), "\\ not in a repository here")
        out += [f"@@ commit {head} @@", *(line for line in lines if line or whole)]
    return out


def _head(one: Hunk) -> str:
    counts = f" +{one.added or 0} -{one.removed or 0}" if one.added is not None or one.removed is not None else ""
    when = f"{utc(one.at).astimezone():%Y-%m-%d %H:%M}"
    ended = f", {one.outcome}" if one.outcome not in ("ok", "unknown") else ""
    kept = "" if one.lines else ", its text was not kept"
    return f"@@ obs/{one.id} {when}{counts}{ended}{kept} @@"
