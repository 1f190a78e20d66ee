"""OpenCode's sessions: rows of `opencode.db`, or of older versions JSON files under `storage/`.

A session's messages have parts: text, reasoning, tool. A subagent's session counts to its parent's, as in the hooks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from capture.clients import opencode
from capture.clients.fields import mapping, text, whole
from capture.event import TOOL_ERROR, Event
from capture.transcript.reading import window
from nmem.importing import store
from nmem.importing.histories import History, Session, Teller, data_home, json_of, opened

Message = tuple[dict[str, object], list[dict[str, object]]]


def _folders() -> list[Path]:
    return [data_home("opencode")]


def _owns(path: Path) -> bool:
    if path.name.startswith("opencode") and path.suffix == ".db":
        return True
    return path.name.startswith("ses_") and path.suffix == ".json" and path.parent.parent.name == "session"


def _sessions(path: Path) -> Iterator[Session]:
    if path.suffix == ".json":
        yield _older(path)
        return
    with opened(str(path)) as db:
        rows = store.opencode_sessions(db)
    parents = {text(row[0]): text(row[1]) for row in rows}
    for name, parent, folder, updated in rows:
        own = root = text(name)
        seen = {own}
        while (above := parents.get(root)) and above not in seen:
            seen.add(above)
            root = above
        changed = whole(updated) or 0
        yield Session(f"{path}#{own}", str(path), "opencode", root, text(folder), 1, changed or 1, changed,
                      inner=own if text(parent) else "")  # fmt: skip


def _older(path: Path) -> Session:
    told = mapping(json_of(str(path)))
    parent, updated = text(told.get("parentID")), whole(mapping(told.get("time")).get("updated")) or 1
    return Session(str(path), str(path), "opencode", parent or path.stem, text(told.get("directory")),
                   path.stat().st_size, updated, updated, inner=path.stem if parent else "")  # fmt: skip


def _messages(session: Session) -> Iterator[Message]:
    if session.file.endswith(".json"):
        yield from _older_messages(Path(session.file))
        return
    own = session.inner or session.session_id
    with opened(session.file) as db:
        parts: dict[str, list[dict[str, object]]] = {}
        for number, data in store.opencode_parts(db, own):
            parts.setdefault(number, []).append(mapping(json.loads(data)))
        for number, data in store.opencode_messages(db, own):
            yield {**mapping(json.loads(data)), "id": number}, parts.get(number, [])


def _older_messages(path: Path) -> Iterator[Message]:
    storage = path.parent.parent.parent
    for file in sorted((storage / "message" / path.stem).glob("*.json")):
        inner = sorted((storage / "part" / file.stem).glob("*.json"))
        yield {**mapping(json_of(str(file))), "id": file.stem}, [mapping(json_of(str(one))) for one in inner]


def _events(session: Session, told: Teller) -> Iterator[Event]:
    told.source.agent_id = session.inner
    last: list[Event] = []
    for info, parts in _messages(session):
        at = whole(mapping(info.get("time")).get("created")) or session.at
        if info.get("role") == "user":
            yield from last
            last = []
            words = [
                text(part.get("text")) for part in parts if part.get("type") == "text" and not part.get("synthetic")
            ]
            yield from told.prompt(at, opencode.typed("\n".join(words)), text(info.get("id")))
            continue
        told.turn = ""
        told.model = text(info.get("modelID")) or told.model
        used = mapping(info.get("tokens"))
        cached = mapping(used.get("cache"))
        tokens = sum(whole(each) or 0 for each in (used.get("input"), cached.get("read"), cached.get("write")))
        told.seen(tokens, window(told.model, tokens), at)
        for part in parts:
            times = mapping(part.get("time"))
            end = whole(times.get("end")) or at
            if part.get("type") == "tool":
                last = []
                yield from _call(told, part, at)
            elif part.get("type") == "reasoning":
                yield from told.says(end, text(part.get("text")), thinking=True)
            elif part.get("type") == "text" and not part.get("synthetic"):
                last = list(told.says(end, text(part.get("text")))) or last
    yield from last


def _call(told: Teller, part: dict[str, object], at: int) -> Iterator[Event]:
    state, name = mapping(part.get("state")), text(part.get("tool"))
    times = mapping(state.get("time"))
    begun, ended = whole(times.get("start")) or at, whole(times.get("end"))
    tool, given = opencode.canonical(name, state.get("input"))
    event = told.call(ended or begun, tool, given, name)
    event.tool_use_id = text(part.get("callID"))
    event.duration_ms = ended - begun if ended else None
    if state.get("status") == "error":
        event.kind = TOOL_ERROR
        opencode.answer(event, text(state.get("error")))
        event.ok = False
    elif state.get("status") == "completed":
        opencode.answer(event, {key: state.get(key) for key in ("title", "output", "metadata")})
    yield event


HISTORY = History(
    ("opencode",), "OpenCode", "`$XDG_DATA_HOME/opencode` or `~/.local/share/opencode`: `opencode.db`, `storage/`",
    "sessions of 1.18.33 as it stores them; the older `storage/` on none",
    _folders, _owns, _sessions, _events,
)  # fmt: skip
