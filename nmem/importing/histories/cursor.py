"""Cursor's exported chats: one Markdown file each, `**User**` and `**Cursor**` in turns.

They name no folder, no model and no call, and only the time of the export: messages are put a second apart before it.
A chat that goes on is exported again as a whole, so nothing that tells it apart depends on the time of the export.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from capture.event import Event
from nmem.importing import histories
from nmem.importing.histories import History, Session, Teller, head_of, stamp, text_of

_EXPORTED = re.compile(
    r"^_Exported on (\d+)/(\d+)/(\d{4}) at (\d\d):(\d\d):(\d\d) .*?from Cursor(?: \(([\d.]+)\))?", re.MULTILINE
)
_TURN = re.compile(r"^\*\*(User|Cursor)\*\*\s*$", re.MULTILINE)


def _head(path: Path) -> re.Match[str] | None:
    return _EXPORTED.search(head_of(path, 2_000).decode("utf-8", "replace"))


def _owns(path: Path) -> bool:
    return path.suffix == ".md" and _head(path) is not None


def _exported(head: re.Match[str]) -> int:
    """When it was exported, in this machine's zone; day and month as far as they tell themselves apart."""
    month, day = int(head[1]), int(head[2])
    if month > 12:
        month, day = day, month
    moment = datetime.fromisoformat(f"{head[3]}-{month:02}-{day:02}T{head[4]}:{head[5]}:{head[6]}")
    return int(moment.timestamp() * 1000)


def _sessions(path: Path) -> Iterator[Session]:
    head, (size, version, _) = _head(path), stamp(path)
    if head is None:
        return
    whole = text_of(str(path))
    first = next((body for who, body in _said(whole) if who == "User"), "")
    own = histories.own_id("cursor", whole.partition("\n")[0], first)
    yield Session(str(path), str(path), "cursor", own, str(path.resolve().parent), size, version, _exported(head))


def _events(session: Session, told: Teller) -> Iterator[Event]:
    whole = text_of(session.file)
    if head := _EXPORTED.search(whole[:2_000]):
        told.source.version = head[7] or ""
    said = list(_said(whole))
    for place, (who, body) in enumerate(said):
        at, told.turn = session.at - 1_000 * (len(said) - 1 - place), f"m{place}"
        yield from told.prompt(at, body, told.turn) if who == "User" else told.says(at, body)


def _said(whole: str) -> Iterator[tuple[str, str]]:
    """Who said what."""
    marks = list(_TURN.finditer(whole))
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        body = whole[mark.end() : after.start() if after else len(whole)]
        yield mark[1], body.strip().removesuffix("---").strip()


HISTORY = History(
    ("cursor",), "Cursor", "files of `Export Chat`, given as PATH", "", list, _owns, _sessions, _events,
)  # fmt: skip
