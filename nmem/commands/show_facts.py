"""Formats facts for `nmem show`: one observation in full, a file's history."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.project import resolve
from capture.text import whole as in_utf8
from nmem.commands.terminal import Section, clock, count, day, local, now
from nmem.errors import NmemError
from nmem.store.project import of_folder

if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.read.file_history import History, Touch

Told = tuple[str, list[Section], dict[str, Any]]
_TEXT = 4_000
_FEW, _ALL = 20, 10_000
_NAMES = 6


def observation(db: Connection, number: int, *, whole: bool) -> Told:
    """One observation: what was done, and what came of it. Raises NmemError."""
    from nmem.read.listing import observation as read  # on use: start-up stays short

    found = read(db, number)
    if found is None:
        raise NmemError(f"there is no obs/{number}: `nmem search` finds some")
    again = f" and {count(found.repeats, 'time')} again" if found.repeats else ""
    lines = f"+{found.added or 0} -{found.removed or 0}" if found.added or found.removed else ""
    rows = [
        ("what", f"{found.type.replace('_', ' ')}{f', a {found.mark}' if found.mark else ''}{again}"),
        ("tool", found.tool), ("when", f"{day(found.at, now())}, {clock(found.at)}"), ("file", found.path),
        ("lines", lines), ("outcome", found.outcome), ("pinned", "yes" if found.pinned else ""),
        ("prompt", f"prompt/{found.prompt_id}" if found.prompt_id else ""),
        ("episode", f"episode/{found.unit_id}" if found.unit_id else ""),
        ("session", f"session/{found.session_id}"),
    ]  # fmt: skip
    sections: list[Section] = [("", [row for row in rows if row[1]]), ("Done", [("", _cut(found.text, whole))])]
    if found.answer:
        sections.append(("Answered", [("", _cut(found.answer, whole))]))
    return f"obs/{number}", sections, {**asdict(found), "id": f"obs/{number}"}


def _cut(text: str, whole: bool) -> str:
    return text if whole or len(text) <= _TEXT else f"{text[:_TEXT]}\n({len(text) - _TEXT} characters more: --all)"


def file(db: Connection, path: str, *, whole: bool) -> Told:
    """Who touched a file, the newest first: in this folder's project where that knows it, else in all."""
    from nmem.read import file_history  # on use: start-up stays short

    cwd = in_utf8(str(Path.cwd()))
    here = resolve(cwd)
    project = of_folder(db, here.key, here.root)
    name = file_history.beside(path, cwd, here.root)
    limit = _ALL if whole else _FEW
    found = file_history.history(db, name, project, limit) if project is not None else file_history.History(())
    if not found.total:
        found = file_history.history(db, name, None, limit)
    if not found.total:
        raise NmemError(f"nothing is recorded of {path}: `nmem search file:{Path(path).name}` finds a part of a name")
    return f"file/{name}", _history(found), {"file": name, **asdict(found)}


def _history(found: History) -> list[Section]:
    changed = sum(one.edits for one in found.touches)
    about = [("touched in", count(found.total, "episode")), ("changed", count(changed, "time"))]
    if len(found.names) > 1:
        more = f" and {len(found.names) - _NAMES} more" if len(found.names) > _NAMES else ""
        about.append(("known as", "\n".join(found.names[:_NAMES]) + more))
    if found.forgotten:
        about.append(("forgotten", f"{count(found.forgotten, 'older call')} known by their trace only"))
    many = len({one.project for one in found.touches}) > 1
    rows = [row for one in found.touches for row in _rows(one, many)]
    if found.more:
        rows.append(("", f"({found.total - len(found.touches)} more: --all shows them)"))
    return [("", about), ("History, the newest first", rows)]


def _rows(one: Touch, many: bool) -> list[tuple[str, str]]:
    what = f"episode/{one.unit_id}" if one.unit_id else f"session/{one.session_id}"
    name = " ".join(one.episode.name.split())[:160] if one.episode else ""
    parts = [_touched(one), one.episode.outcome.words if one.episode else "", one.client, one.project if many else ""]
    rows = [(f"{local(one.last_at):%Y-%m-%d %H:%M}", f"{what}  {name}\n{' · '.join(part for part in parts if part)}")]
    return rows + [("decided", f"{each.text}  (obs/{each.id})") for each in one.decisions]


def _touched(one: Touch) -> str:
    lines = f" (+{one.added} -{one.removed})" if one.added or one.removed else ""
    parts = (
        (one.edits, f"changed{lines}"),
        (one.reads, "read"),
        (one.others, "named by a call"),
        (one.failures, "failed"),
    )
    return ", ".join(f"{number}x {word}" for number, word in parts if number)
