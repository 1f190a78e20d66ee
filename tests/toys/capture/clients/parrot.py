"""Parrot, a client that does not exist: its hooks' payloads as Events."""

from __future__ import annotations

from capture.clients import SYNC, Client, Registration, common
from capture.clients.fields import mapping, text, unknown, words
from capture.event import Event

CLIENT = Client(
    "Parrot", ".parrot", "settings.json", ".parrot/settings.json", listens=("SessionStart", "UserPromptSubmit"),
    most=8_000, project_dirs=("PARROT_PROJECT_DIR",), shell_tool="run",
)  # fmt: skip
EVENTS = {
    "SessionStart": Registration(SYNC, 8),
    "UserPromptSubmit": Registration(SYNC, 3),
    "PostToolUse": Registration(SYNC, 5, "*"),
    "Stop": Registration(SYNC, 5),
    "SessionEnd": Registration(SYNC, 5),
}
KNOWN = words(
    "session_id cwd hook_event_name source prompt tool_name tool_input tool_use_id tool_response stop_hook_active"
    " last_assistant_message reason"
)
NAMES = {"run": "shell", "patch": "edit", "look": "read"}


def parse(native_event: str, payload: object, now: int) -> Event | None:
    """What happened, in nmem's words; None for events that are not kept and for payloads without a session."""
    event = common.parse("parrot", native_event, payload, now, canonical, answer) if native_event in EVENTS else None
    if event is not None and isinstance(payload, dict):
        event.drift = drift(native_event, payload)
    return event


def drift(_native_event: str, payload: dict[str, object]) -> tuple[str, ...]:
    """Fields that no known version has."""
    return unknown(payload, KNOWN)


def response_fields(tool_name: str) -> frozenset[str] | None:
    """What is known of a tool's response; None for a tool that nobody knows."""
    return frozenset() if tool_name in NAMES else None


def canonical(tool_name: str, tool_input: object) -> tuple[str, dict[str, object]]:
    """The canonical tool and its canonical input."""
    from capture.clients import tools

    return tools.canonical(tool_name, tool_input, NAMES)


def answer(event: Event, response: object) -> None:
    """Fill the event's outcome and text."""
    given = mapping(response)
    event.output, event.output_text = response, text(given.get("stdout"))
    event.ok = not given.get("failed")
