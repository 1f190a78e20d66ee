"""Writes and recognizes nmem's plugin file for OpenCode."""

from __future__ import annotations

import json

from capture.install import registered
from capture.install.registered import Command

_MARK = b"// nmem: "
_COMMAND = b"const COMMAND = "


def is_ours(data: bytes) -> bool:
    """Whether a plugin file was written by nmem."""
    return data.startswith(_MARK)


def source(db: str = "") -> bytes:
    """The plugin's text, with this machine's command in it."""
    from capture.clients.opencode import plugin

    words = registered.words("opencode", "", db)
    return plugin([*words[:4], *words[6:]]).encode()


def commands(data: bytes) -> list[Command]:
    """The commands that a plugin file runs, one an event; none when it is not nmem's."""
    from capture.clients.opencode import EVENTS

    start = data.find(_COMMAND) if is_ours(data) else -1
    if start < 0:
        return []
    try:
        words = json.loads(data[start + len(_COMMAND) :].split(b"\n", 1)[0])
    except ValueError:
        return []
    if not isinstance(words, list) or len(words) < 4:
        return []
    lines = [[*words[:4], "opencode", event, *words[4:]] for event in EVENTS]
    return [Command(registered.line(line), line, 3) for line in lines]
