"""Factory Droid (experimental: written from its bundle): parses its hook payloads into Events."""

from __future__ import annotations

from capture.clients import SYNC, Client, Registration, common, vocabulary
from capture.clients.fields import first, mapping, text, whole, words
from capture.event import PRE_COMPACT, PROMPT, SUBAGENT_END, TURN_END, Event

CLIENT = Client(
    "Factory Droid", ".factory", "settings.json", ".factory/settings.json", local=".factory/settings.local.json",
    comments=True, listens=("SessionStart", "UserPromptSubmit", "PostToolUse"), most=9_600,
    project_dirs=("FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), starts_after_compact=True,
    shell_tool="Execute",
)  # fmt: skip

# Seconds.
EVENTS = {
    "SessionStart": Registration(SYNC, 8), "UserPromptSubmit": Registration(SYNC, 3),
    "PostToolUse": Registration(SYNC, 5, "*"), "SubagentStop": Registration(SYNC, 5), "Stop": Registration(SYNC, 5),
    "PreCompact": Registration(SYNC, 5), "SessionEnd": Registration(SYNC, 5),
}  # fmt: skip

KNOWN = words(
    "session_id transcript_path cwd permission_mode hook_event_name message_id prompt has_images tool_name tool_input"
    " tool_response message notification_type stop_hook_active tool_execution_count elapsed_time task_name task_result"
    " task_error trigger custom_instructions message_count estimated_tokens source previous_session_id"
    " calling_session_id CLAUDE_ENV_FILE reason"
)

NAMES = {
    "Execute": "shell", "Create": "write", "Write": "write", "Edit": "edit", "MultiEdit": "edit", "ApplyPatch": "edit",
    "Read": "read", "LS": "search", "Grep": "search", "Glob": "search", "TodoWrite": "todo",
    "WebSearch": "web_search", "FetchUrl": "web_fetch", "Task": "agent", "Skill": "skill", "AskUser": "ask",
    "ExitSpecMode": "plan",
}  # fmt: skip

drift, response_fields, canonical = vocabulary(KNOWN, NAMES)


def parse(native_event: str, payload: object, now: int) -> Event | None:
    """What happened, in nmem's words; None for events that are not kept and for payloads without a session."""
    event = common.parse("droid", native_event, payload, now, canonical, answer) if native_event in EVENTS else None
    if event is None or not isinstance(payload, dict):
        return None
    if event.kind == PROMPT:
        event.turn_id = text(payload.get("message_id"))
    elif event.kind == SUBAGENT_END:
        event.agent_type = text(payload.get("task_name"))
        event.text = text(payload.get("task_result"))
        event.reason = first(payload, "task_error") or first(mapping(payload.get("task_error")), "message")
        event.ok = False if payload.get("task_error") else None
    elif event.kind == TURN_END:
        event.duration_ms = whole(payload.get("elapsed_time"))
    elif event.kind == PRE_COMPACT:
        event.context_tokens = whole(payload.get("estimated_tokens"))
    event.drift = drift(native_event, payload)
    return event


def answer(event: Event, response: object) -> None:
    """Fill the event's outcome and text; a failed call has no event of its own, so a command's text must say so."""
    from capture.clients import output, said  # on use: start-up stays short

    event.output = response
    given = mapping(response)
    shown = output.flat(response)
    event.exit_code = output.stated_code(shown) if event.tool == "shell" else None
    for key in ("exitCode", "exit_code"):
        if key in given:
            event.exit_code = whole(given[key])
    if output.failed_flag(given) or event.exit_code or shown.startswith("Error"):
        event.ok = False
    elif event.tool != "shell" or event.exit_code == 0:
        event.ok = True
    event.output_text = said.strip_own(shown)
