"""Cline's and Roo Code's tasks: `tasks/<task>/ui_messages.json`, a list of what was said, asked, called and answered.

`api_conversation_history.json` beside it repeats the same for the model, without times: it is not needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from capture.clients import tools
from capture.clients.fields import first, from_json, items, mapping, text, whole
from capture.event import Event
from capture.transcript.reading import window
from nmem.importing import histories
from nmem.importing.histories import EDITORS, History, Session, Teller, json_of, stamp

_EXTENSIONS = {"saoudrizwan.claude-dev": "cline", "rooveterinaryinc.roo-cline": "roo"}
_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]+)\)")
_KINDS = {
    "readFile": "read", "newFileCreated": "write", "editedExistingFile": "edit", "appliedDiff": "edit",
    "insertContent": "edit", "searchAndReplace": "edit", "fileDeleted": "delete", "listFiles": "search",
    "listFilesTopLevel": "search", "listFilesRecursive": "search", "listCodeDefinitionNames": "search",
    "searchFiles": "search", "codebaseSearch": "search", "webFetch": "web_fetch", "webSearch": "web_search",
    "newTask": "agent", "updateTodoList": "todo",
}  # fmt: skip
_MARKS = re.compile(
    r"^(?:<<<<<<< SEARCH|-{3,} SEARCH|>>>>>>> REPLACE|\+{3,} REPLACE|={7}|:start_line:.*|-{7})$", re.MULTILINE
)


def _folders() -> list[Path]:
    home = Path.home()
    roots = [home / ".config", home / "Library" / "Application Support", home / "AppData" / "Roaming"]
    users = [root / editor / "User" for root in roots for editor in EDITORS]
    users += [home / name / "data" / "User" for name in (".vscode-server", ".vscode-remote", ".cursor-server")]
    found = [user / "globalStorage" / extension / "tasks" for user in users for extension in _EXTENSIONS]
    return [home / ".cline" / "data" / "tasks", *found]


def _owns(path: Path) -> bool:
    return path.name == "ui_messages.json"


def _sessions(path: Path) -> Iterator[Session]:
    told = [mapping(one) for one in items(json_of(str(path)))]
    if not told or "ts" not in told[0]:
        return
    client = next((name for part, name in _EXTENSIONS.items() if part in path.parts), "cline")
    begun, last = (whole(told[place].get("ts")) or 0 for place in (0, -1))
    size, version, _ = stamp(path)
    number = path.parent.name if path.parent.name.isdigit() or len(path.parent.name) > 30 else str(begun)
    cwd = next((found[1] for one in told if (found := _FOLDER.search(text(one.get("text"))))), str(path.parent))
    yield Session(str(path), str(path), client, histories.own_id(client, number), cwd, size, version, last)


def _events(session: Session, told: Teller) -> Iterator[Event]:  # noqa: C901 - one branch a kind of message
    last: list[Event] = []
    command: Event | None = None
    for number, one in enumerate(map(mapping, items(json_of(session.file)))):
        kind, words = first(one, "say", "ask"), text(one.get("text"))
        at = whole(one.get("ts")) or session.at
        told.model = text(mapping(one.get("modelInfo")).get("modelId")) or told.model
        if one.get("partial") is True:
            continue
        if command is not None and kind != "command_output":
            yield command
            command = None
        if kind in ("task", "user_feedback") or (kind == "text" and not number):  # Roo Code's first text is the task
            yield from last
            last = []
            yield from told.prompt(at, words)
        elif kind == "reasoning":
            yield from told.says(at, words, thinking=True)
        elif kind in ("text", "completion_result", "plan_mode_respond") and words:
            last = list(told.says(at, first(mapping(from_json(words)), "response") or words))
        elif kind == "command":
            last, command = [], told.call(at, "shell", {"command": words}, "execute_command")
        elif kind == "command_output" and command is not None:
            command.output_text = f"{command.output_text}\n{words}".strip()
            command.output = command.output_text
        elif kind in ("tool", "use_mcp_server", "followup"):
            event = _call(told, kind, mapping(from_json(words)), at)
            if event is not None:
                last = []
                yield event
        elif kind == "api_req_started":
            _used(told, mapping(from_json(words)), at)
        else:
            told.skip(kind or "untyped")
    yield from [command] if command else []
    yield from last


def _call(told: Teller, kind: str, given: dict[str, object], at: int) -> Event | None:
    if kind == "use_mcp_server":
        place: dict[str, object] = {"server": text(given.get("serverName")), "tool": text(given.get("toolName")),
                 "arguments": mapping(from_json(text(given.get("arguments"))))}  # fmt: skip
        return told.call(at, "mcp", place, "use_mcp_tool") if place["tool"] else None
    if kind == "followup":
        return told.call(at, "ask", tools.canonical("ask", given, {"ask": "ask"})[1], "ask_followup_question")
    name = text(given.get("tool"))
    plain: dict[str, object] = {"path": given.get("path"), "regex": given.get("regex") or given.get("query"),
                                "glob": given.get("filePattern"), "url": given.get("path"), "todos": given.get("todos"),
                                "content": given.get("content"), "description": given.get("content")}  # fmt: skip
    if _KINDS.get(name) == "edit":
        plain["old_string"], plain["new_string"] = _sides(first(given, "diff", "content"))
    tool, made = tools.canonical(name, plain, _KINDS)
    return told.call(at, tool, made, name, ok=True) if name else None


def _sides(diff: str) -> tuple[str, str]:
    """The old and the new lines of search-and-replace blocks, or of a patch."""
    old: list[str] = []
    new: list[str] = []
    side: list[str] | None = None
    blocks = "SEARCH" in diff
    for line in diff.split("\n"):
        if _MARKS.match(line):
            side = old if "SEARCH" in line else new if line.startswith("=====") else side if line[0] in ":-" else None
        elif blocks and side is not None:
            side.append(line)
        elif not blocks and line[:1] in ("+", "-") and line[:3] not in ("+++", "---"):
            (new if line[0] == "+" else old).append(line[1:].strip("\r"))
    return "\n".join(old), "\n".join(new) if old or new or blocks else diff


def _used(told: Teller, given: dict[str, object], at: int) -> None:
    names = ("tokensIn", "cacheReads", "cacheWrites")
    tokens = sum(whole(given.get(name)) or 0 for name in names)
    told.seen(tokens, window(told.model, tokens), at)


HISTORY = History(
    ("cline", "roo"), "Cline, Roo Code", "`tasks/` of the extension, in the folders of VS Code and its kin; `~/.cline`",
    "2 published tasks of Cline; Roo Code on none", _folders, _owns, _sessions, _events,
)  # fmt: skip
