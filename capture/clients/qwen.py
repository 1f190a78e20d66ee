"""Qwen Code: parses its hook payloads into Events: Claude Code's events with Gemini CLI's tools and answers."""

from __future__ import annotations

from capture.clients import SYNC, Client, Registration, common, gemini, vocabulary
from capture.clients.fields import text, whole, words
from capture.clients.stamps import stamp
from capture.event import TURN_END, Event

CLIENT = Client(
    "Qwen Code", ".qwen", "settings.json", ".qwen/settings.json", comments=True, experimental=False,
    listens=("SessionStart", "UserPromptSubmit", "PostToolUseFailure"), most=8_000,
    project_dirs=("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), shell_tool="run_shell_command",
)  # fmt: skip

# Seconds. All are waited for: of hooks that it does not wait for, it ends those that run when it leaves.
EVENTS = {
    "SessionStart": Registration(SYNC, 8), "UserPromptSubmit": Registration(SYNC, 3),
    "PostToolUse": Registration(SYNC, 5, "*"), "PostToolUseFailure": Registration(SYNC, 5, "*"),
    "SubagentStop": Registration(SYNC, 5), "Stop": Registration(SYNC, 5), "StopFailure": Registration(SYNC, 5),
    "Notification": Registration(SYNC, 5), "PreCompact": Registration(SYNC, 5), "PostCompact": Registration(SYNC, 5),
    "SessionEnd": Registration(SYNC, 5),
}  # fmt: skip

KNOWN = words(
    "session_id transcript_path cwd hook_event_name timestamp permission_mode agent_id agent_type prompt_id source"
    " model source_type source_id prompt submitted_prompt tool_name tool_input tool_use_id tool_call_id tool_response"
    " duration_ms error error_details is_interrupt stop_hook_active last_assistant_message background_tasks crons"
    " context_usage context_limit input_tokens agent_transcript_path trigger custom_instructions compact_summary"
    " message notification_type title reason"
)

NAMES = {**gemini.NAMES, "agent": "agent", "task": "agent", "todo_write": "todo", "skill": "skill", "lsp": "search",
         "web_search": "web_search", "ask_user_question": "ask"}  # fmt: skip

drift, response_fields, canonical = vocabulary(KNOWN, NAMES, gemini.RESPONSE)


def parse(native_event: str, payload: object, now: int) -> Event | None:
    """What happened, in nmem's words; None for events that are not kept and for payloads without a session.

    A prompt without words is sent before each answer to a tool: it is none.
    """
    event = common.parse("qwen", native_event, payload, now, canonical, answer) if native_event in EVENTS else None
    if event is None or not isinstance(payload, dict):
        return None
    event.at = stamp(payload.get("timestamp"), now)
    event.turn_id = ""  # its chat files name no turn
    event.tool_use_id = text(payload.get("tool_call_id")) or event.tool_use_id  # the chat's own id
    if event.kind == TURN_END:
        event.context_tokens = whole(payload.get("input_tokens"))
    event.drift = drift(native_event, payload)
    return event


def answer(event: Event, response: object) -> None:
    """Fill the event's outcome and text, as Gemini CLI gives them; a failure is a text alone."""
    silent = isinstance(response, str) and event.tool in ("edit", "write")
    gemini.answer(event, {"error": {"message": response}} if silent else response)
