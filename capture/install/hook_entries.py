"""Finds, adds, updates and removes nmem's hook entries in the text of a client's settings file.

Works on text and returns text; the user's own entries, and everything around them, keep their characters.
`left` is what containers looked like that were empty before nmem came: path -> text.
"""

from __future__ import annotations

import importlib

from capture.clients import FLAT, GROUPS, Registration
from capture.install import registered
from capture.install.jsonc import Node, parse
from capture.install.registered import Command
from capture.install.settings_file import Path, find, insert, remove, replace, value_at
from capture.install.targets import Target

Left = dict[Path, str]
Item = dict[str, object]

_OURS = ("async",)
"""Keys that only nmem puts into its own handlers, so that it may take them out again."""


class Entry:
    """One registered handler of nmem's: where it stands and what it runs."""

    __slots__ = ("command", "event", "path", "value")

    def __init__(self, path: Path, event: str, command: Command, value: Item) -> None:
        self.path = path
        self.event = event
        self.command = command
        self.value = value


def events(client: str) -> dict[str, Registration]:
    """The native events that nmem registers with a client."""
    found: dict[str, Registration] = importlib.import_module(f"capture.clients.{client}").EVENTS
    return found


def _handler(client: str, event: str, how: Registration, db: str) -> Item:
    parts = registered.words(client, event, db)
    line = registered.guarded(parts)
    if client == "copilot":
        return {"type": "command", "bash": line, "powershell": registered.powershell(parts), "timeoutSec": how.timeout}
    if client == "cursor":
        return {"command": line, "timeout": how.timeout}
    named: Item = {"name": "nmem"} if client == "gemini" else {}
    handler: Item = {**named, "type": "command", "command": line, "timeout": how.timeout}
    if how.mode == "async":
        handler["async"] = True
    return handler


def wanted(target: Target, db: str) -> dict[str, Item]:
    """What the settings should hold: event -> handler, in a group of its own where the client has groups."""
    out: dict[str, Item] = {}
    for event, how in events(target.client).items():
        item = _handler(target.client, event, how, db)
        matcher: Item = {} if how.matcher is None else {"matcher": how.matcher}
        out[event] = {**item, **matcher} if target.shape == FLAT else {**matcher, "hooks": [item]}
    return out


def command_of(handler: object) -> Command | None:
    """nmem's command in a handler, whichever key it stands under; None for anybody else's."""
    if not isinstance(handler, dict):
        return None
    for key in ("command", "bash"):
        line = handler.get(key)
        more = handler.get("args")
        if isinstance(line, str) and isinstance(more, list):
            line = registered.line([line, *map(str, more)], windows=False)
        if found := registered.recognise(line):
            return found
    return None


def _handlers(root: Node, shape: str) -> list[tuple[Path, str, Node]]:
    """Every handler, anybody's, in the order of the file."""
    out: list[tuple[Path, str, Node]] = []
    hooks = root.member("hooks") if root.kind == "object" else None
    for event in dict.fromkeys(hooks.keys) if hooks else ():
        listed = hooks.member(event) if hooks else None
        for i, item in enumerate(listed.items if listed and listed.kind == "array" else ()):
            if shape == GROUPS:
                inner = item.member("hooks") if item.kind == "object" else None
                for j, handler in enumerate(inner.items if inner and inner.kind == "array" else ()):
                    out.append((("hooks", event, i, "hooks", j), event, handler))
            else:
                out.append((("hooks", event, i), event, item))
    return out


def entries(text: str, target: Target) -> list[Entry]:
    """nmem's handlers of this client in a settings text, in order.

    Raises BadJson.
    """
    out = []
    for path, event, node in _handlers(parse(text, target.comments), target.shape):
        value = node.plain()
        command = command_of(value)
        if command and command.client == target.client and isinstance(value, dict):
            out.append(Entry(path, event, command, value))
    return out


def put(text: str, target: Target, items: dict[str, Item], left: Left) -> str:
    """The text with exactly these entries of nmem's; notes in `left` what was empty."""
    stale: list[Path] = []
    present: set[str] = set()
    for entry in entries(text, target):
        if entry.event not in items or entry.event in present:
            stale.append(entry.path)
            continue
        present.add(entry.event)
        text = _update(text, target, entry.path, items[entry.event])
    missing = {event: item for event, item in items.items() if event not in present}
    if missing:
        text = _add(text, target, missing, left)
    for path in reversed(stale):
        text = _take(text, target, path, left)
    for key, value in target.always.items():
        if value_at(text, (key,), target.comments) is None:
            text = insert(text, (), key, value, target.comments)
    return text


def _add(text: str, target: Target, items: dict[str, Item], left: Left) -> str:
    comments = target.comments
    _remember(text, (), left, comments)
    if find(parse(text, comments), ("hooks",)) is None:
        return insert(text, (), "hooks", {event: [item] for event, item in items.items()}, comments)
    _remember(text, ("hooks",), left, comments)
    for event, item in items.items():
        path: Path = ("hooks", event)
        if find(parse(text, comments), path) is None:
            text = insert(text, ("hooks",), event, [item], comments)
        else:
            _remember(text, path, left, comments)
            text = insert(text, path, None, item, comments)
    return text


def _remember(text: str, path: Path, left: Left, comments: bool) -> None:
    node = find(parse(text, comments), path)
    if node is not None and node.kind != "scalar" and not node.items:
        left.setdefault(path, text[node.start : node.end])


def _update(text: str, target: Target, path: Path, item: Item) -> str:
    """Bring one handler, and the group that is its alone, to what is wanted."""
    if target.shape == FLAT:
        return _members(text, path, item, target.comments)
    inner = item["hooks"]
    wanted_handler = inner[0] if isinstance(inner, list) else {}
    text = _members(text, path, wanted_handler, target.comments)
    group = value_at(text, path[:3], target.comments)
    listed = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(listed, list) or len(listed) > 1:
        return text  # the user's own hooks share the group: its matcher is theirs
    if "matcher" in item:
        return _members(text, path[:3], {"matcher": item["matcher"]}, target.comments)
    return remove(text, (*path[:3], "matcher"), None, target.comments)


def _members(text: str, path: Path, item: Item, comments: bool) -> str:
    have = value_at(text, path, comments)
    keys = have if isinstance(have, dict) else {}
    for key, value in item.items():
        place = (*path, key)
        text = replace(text, place, value, comments) if key in keys else insert(text, path, key, value, comments)
    for key in _OURS:
        if key in keys and key not in item and "command" in item:
            text = remove(text, (*path, key), None, comments)
    return text


def take_out(text: str, target: Target, left: Left) -> str:
    """The text without any entry of nmem's, and without the containers that were only there for them."""
    for entry in reversed(entries(text, target)):
        text = _take(text, target, entry.path, left)
    return text


def _take(text: str, target: Target, path: Path, left: Left) -> str:
    root = parse(text, target.comments)
    while len(path) > 1 and path[:-1] not in left:
        parent = find(root, path[:-1])
        if parent is None or len(parent.items) > 1:
            break
        path = path[:3] if len(path) == 5 else path[:-1]
    return remove(text, path, left.get(path[:-1]), target.comments)
