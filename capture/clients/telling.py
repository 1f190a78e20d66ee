"""How a client takes what it is told: the form, where it listens, and how much it takes without cutting."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.event import Event

_CLAUDE, _SNAKE, _CAMEL = "hookSpecificOutput", "additional_context", "additionalContext"

# client -> its events that listen -> the key under which they do.
_LISTENS = {
    "claude": dict.fromkeys(("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure"), _CLAUDE),
    "codex": dict.fromkeys(("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"), _CLAUDE),
    "gemini": dict.fromkeys(("SessionStart", "BeforeAgent", "AfterTool"), _CLAUDE),
    "droid": dict.fromkeys(("SessionStart", "UserPromptSubmit", "PostToolUse"), _CLAUDE),
    "cursor": dict.fromkeys(("sessionStart", "postToolUse"), _SNAKE),
    "copilot": dict.fromkeys(("sessionStart", "postToolUse", "postToolUseFailure"), _CAMEL),
}
"""OpenCode is not among them: its bridge does not wait for an answer."""

# Bytes of UTF-8, some below what a client takes: over it, Claude Code shows the model a path and 2 KB (10,000
# characters), Codex cuts out the middle (2,500 tokens of about four bytes), Copilot cuts at 10 KB.
_MOST = {"claude": 9_600, "codex": 9_200, "gemini": 8_000, "droid": 9_600, "cursor": 8_000, "copilot": 8_000}


def room(event: Event) -> int:
    """Bytes that the client takes in answer to this event; 0 when it does not listen."""
    return _MOST[event.client] if event.native in _LISTENS.get(event.client, ()) else 0


def most(client: str) -> int:
    """Bytes that a client takes where it listens; 0 for one that never does."""
    return _MOST.get(client, 0)


def form(event: Event, text: str) -> bytes:
    """What a hook prints so that the client gives this text to its model; nothing when it cannot."""
    key = _LISTENS.get(event.client, {}).get(event.native)
    if key is None or not text:
        return b""
    from capture.jsonio import dumps

    told: dict[str, object] = {key: text}
    if key == _CLAUDE:
        # nothing but these: Codex throws the whole answer away for one key that it does not know
        told = {key: {"hookEventName": event.native, "additionalContext": text}}
    return dumps(told).encode("utf-8", "replace")
