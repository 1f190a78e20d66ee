"""Goose's sessions: rows of `sessions.db`, or of older versions one file of JSON lines each.

A message's content is a list of text, thinking, toolRequest and toolResponse; a tool is called `extension__tool`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from capture.clients import output, tools
from capture.clients.fields import items, mapping, text, whole
from capture.event import TOOL_ERROR, Event
from capture.transcript.reading import millis
from nmem.importing import histories, store
from nmem.importing.histories import History, Session, Teller, data_home, head_of, opened, possible, stamp, text_of

_NAMES = {"shell": "shell", "text_editor": "editor", "write": "write", "edit": "edit", "read": "read", "tree": "search",
          "web_scrape": "web_fetch", "analyze": "read", "delegate": "agent", "todo_write": "todo"}  # fmt: skip


def _owns(path: Path) -> bool:
    if path.name == "sessions.db" and path.parent.name == "sessions":
        return True
    return path.suffix == ".jsonl" and b'"working_dir"' in head_of(path, 1 << 16).partition(b"\n")[0]


def _sessions(path: Path) -> Iterator[Session]:
    if path.suffix == ".jsonl":
        head = mapping(json.loads(text_of(str(path)).partition("\n")[0]))
        size, version, changed = stamp(path)
        own = histories.own_id("goose", path.stem)
        yield Session(str(path), str(path), "goose", own, text(head.get("working_dir")), size, version, changed)
        return
    with opened(str(path)) as db:
        rows = store.goose_sessions(db)
    for number, folder, count, last in rows:
        yield Session(f"{path}#{number}", str(path), "goose", histories.own_id("goose", str(number)), text(folder), 1,
                      count, _at(last))  # fmt: skip


def _at(value: object) -> int:
    """Milliseconds of a time in seconds, in milliseconds or in words."""
    number = whole(value)
    if number is None:
        return millis(text(value).replace(" ", "T"))
    return number * 1000 if number < 100_000_000_000 else number


def _messages(session: Session) -> Iterator[tuple[str, int, list[object]]]:
    """(role, time, content) of each message."""
    if session.file.endswith(".jsonl"):
        for line in text_of(session.file).split("\n")[1:]:
            told = mapping(json.loads(line)) if line.strip() else {}
            yield text(told.get("role")), _at(told.get("created")), items(told.get("content"))
        return
    with opened(session.file) as db:
        for role, at, content in store.goose_messages(db, session.path.rpartition("#")[2]):
            yield text(role), _at(at), items(json.loads(content))


def _events(session: Session, told: Teller) -> Iterator[Event]:
    last: list[Event] = []
    calls: dict[str, Event] = {}
    for role, at, content in _messages(session):
        for part in map(mapping, content):
            kind, words = part.get("type"), text(part.get("text"))
            if kind == "text" and role == "user":
                yield from last
                last = []
                yield from told.prompt(at, words)
            elif kind == "text":
                last = list(told.says(at, words)) or last
            elif kind == "thinking":
                yield from told.says(at, text(part.get("thinking")), thinking=True)
            elif kind == "toolRequest":
                last = []
                event = _call(told, part, at)
                calls[event.tool_use_id] = event
            elif kind == "toolResponse" and (made := calls.pop(text(part.get("id")), None)):
                _answer(made, mapping(part.get("toolResult")), possible(at))
                yield made
    yield from calls.values()
    yield from last


def _call(told: Teller, part: dict[str, object], at: int) -> Event:
    asked = mapping(mapping(part.get("toolCall")).get("value"))
    name = text(asked.get("name"))
    server, _, tool = name.rpartition("__")
    if tool in _NAMES:
        kind, given = tools.canonical(tool, asked.get("arguments"), _NAMES)
    else:
        kind, given = "mcp", {"server": server, "tool": tool, "arguments": mapping(asked.get("arguments"))}
    event = told.call(at, kind, given, name)
    event.tool_use_id = text(part.get("id"))
    return event


def _answer(event: Event, result: dict[str, object], at: int) -> None:
    value = result.get("value")
    failed = result.get("status") == "error" or mapping(value).get("isError") is True
    event.output = value if not failed else result.get("error") or value
    event.output_text = output.flat(mapping(value).get("content", value)) if not failed else output.flat(event.output)
    event.duration_ms, event.at = max(0, at - event.at), at
    event.ok = not failed
    if event.tool == "shell":
        event.exit_code = output.stated_code(event.output_text)
        event.ok = False if failed or event.exit_code else event.ok
    if failed:
        event.kind = TOOL_ERROR


HISTORY = History(
    ("goose",), "Goose", "`$XDG_DATA_HOME/goose` or `~/.local/share/goose`, in `sessions/`", "",
    lambda: [data_home("goose") / "sessions"], _owns, _sessions, _events,
)  # fmt: skip
