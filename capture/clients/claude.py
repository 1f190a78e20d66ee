"""Claude Code: parses its hook payloads, of every known version, into Events."""

from __future__ import annotations

from capture.clients import ASYNC, SYNC, Client, Registration, common
from capture.clients.fields import text, unknown, words
from capture.event import Event

CLIENT = Client(
    "Claude Code", ".claude", "settings.json", ".claude/settings.json", local=".claude/settings.local.json",
    experimental=False, folder_variable="CLAUDE_CONFIG_DIR",
    listens=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure"),
    most=9_600,  # over 10,000 characters it shows the model a path and 2 KB
    project_dirs=("CLAUDE_PROJECT_DIR",), starts_after_compact=True,
)  # fmt: skip

# Seconds. Tool calls that succeed are not waited for; where the client waits, nmem prints context or the session is
# about to end. PreToolUse decides nothing: it says what is known of the call, and mostly nothing.
EVENTS = {
    "SessionStart": Registration(SYNC, 8), "UserPromptSubmit": Registration(SYNC, 3),
    "PreToolUse": Registration(SYNC, 3, "Bash|PowerShell|Edit|MultiEdit|Write"),
    "PostToolUse": Registration(ASYNC, 20, "*"), "PostToolUseFailure": Registration(SYNC, 5, "*"),
    "SubagentStop": Registration(ASYNC, 20), "Stop": Registration(SYNC, 5), "StopFailure": Registration(SYNC, 5),
    "Notification": Registration(ASYNC, 20), "PreCompact": Registration(SYNC, 5), "PostCompact": Registration(SYNC, 5),
    "SessionEnd": Registration(SYNC, 5),
}  # fmt: skip

# Every field that an event has had in some version; and what people's own wrappers and loggers add.
KNOWN = words(
    "session_id transcript_path cwd hook_event_name prompt_id permission_mode effort agent_id agent_type scratchpad_dir"
    " source model session_title seconds_since_last_response context_tokens prompt_cache_likely_expired"
    " estimated_cache_write_usd trigger prompt expansion_type command_name command_args command_source tool_name"
    " tool_input tool_use_id tool_response mcp_server permission_suggestions reason duration_ms error is_interrupt"
    " tool_calls message title notification_type turn_id message_id index final delta stop_hook_active"
    " agent_transcript_path last_assistant_message background_tasks session_crons task_id task_subject task_description"
    " teammate_name team_name error_details custom_instructions compact_summary from_model to_model requested_model"
    " prompt_cache_warm cache_ttl pricing file_path memory_type load_reason globs trigger_file_path parent_file_path"
    " old_cwd new_cwd directory event name worktree_path mcp_server_name mode url elicitation_id requested_schema"
    " action content"
)
ADDED = words("timestamp logged_at execution_mode a1xai_timestamp a1xai_hook_version a1xai_framework a1xai_analysis")


def parse(native_event: str, payload: object, now: int) -> Event | None:
    """What happened, in nmem's words; None for events that are not kept and for payloads without a session."""
    event = common.parse("claude", native_event, payload, now, canonical, answer) if native_event in EVENTS else None
    if event is not None and isinstance(payload, dict):
        event.drift = drift(native_event, payload)
    return event


def response_fields(tool_name: str) -> frozenset[str] | None:
    """What a tool's response has held in some version; None for a tool that nobody knows."""
    from capture.clients import claude_tools  # on use: start-up stays short

    known = claude_tools.RESPONSES.get(tool_name)
    return frozenset() if known is None and tool_name in claude_tools.NAMES else known


def canonical(tool_name: str, tool_input: object) -> tuple[str, dict[str, object]]:
    """The canonical tool and its canonical input."""
    from capture.clients import claude_tools, tools  # on use: start-up stays short

    own = tool_name.removeprefix(claude_tools.EDITOR)
    return tools.canonical(own if own in claude_tools.NAMES else tool_name, tool_input, claude_tools.NAMES)


def answer(event: Event, response: object) -> None:
    """Fill the event's outcome and text from a tool's response, or from a failure's text."""
    from capture.clients import claude_tools  # on use: start-up stays short

    claude_tools.answer(event, response)


def drift(_native_event: str, payload: dict[str, object]) -> tuple[str, ...]:
    """Fields that no known version has."""
    found = unknown(payload, KNOWN | ADDED) if not payload.keys() <= KNOWN else ()
    response = payload.get("tool_response")
    if isinstance(response, dict):
        from capture.clients import claude_tools  # on use: start-up stays short

        known = claude_tools.RESPONSES.get(text(payload.get("tool_name")))
        if known is not None:
            found += unknown(response, known, "tool_response.")
    return found
