"""Runs as a client's hook during a task: records that the client asks a person; prints and decides nothing."""

from __future__ import annotations

import json
import sys

from capture.redaction import redact
from capture.text import clean
from nmem.dispatch.folder import Folder

_MOST = 262_144
_SHOWN = 200


def main() -> None:
    """`<folder of the attempt>` as the only word, the hook's payload on standard input."""
    folder = Folder.at(sys.argv[1])
    try:
        said = json.loads(sys.stdin.buffer.read(_MOST).decode("utf-8", "replace"))
    except ValueError:
        said = {}
    try:
        folder.ask(what(said if isinstance(said, dict) else {}))
    except OSError:
        return  # the attempt is over


def what(said: dict[str, object]) -> str:
    """In words: what a person is asked for."""
    if said.get("hook_event_name") == "PermissionRequest":
        given = said.get("tool_input")
        detail = ""
        if isinstance(given, dict):
            named = (given.get(name) for name in ("command", "file_path", "url", "description"))
            detail = next((text for text in named if isinstance(text, str) and text), "")
        text = f"asks for permission: {said.get('tool_name') or 'a tool'} {detail}"
    else:
        text = str(said.get("message") or "waits for an answer")
    return redact(clean(" ".join(text.split())[:4000])).strip()[:_SHOWN]


if __name__ == "__main__":
    main()
