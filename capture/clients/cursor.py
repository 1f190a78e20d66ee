"""Cursor (experimental: written from its documentation): parses its hook payloads into Events."""

from __future__ import annotations

from capture.clients import FLAT, SNAKE, SYNC, Client, Registration, vocabulary
from capture.clients.fields import begin, first, items, mapping, text, whole, words
from capture.event import (
    PRE_COMPACT,
    PROMPT,
    SESSION_END,
    SESSION_START,
    SUBAGENT_END,
    TOOL_ERROR,
    TOOL_RESULT,
    TURN_END,
    Event,
)

CLIENT = Client(
    "Cursor", ".cursor", "hooks.json", ".cursor/hooks.json", shape=FLAT, comments=True,
    programs=("cursor", "cursor-agent"), listens=("sessionStart", "postToolUse"), answers=SNAKE, most=8_000,
    project_dirs=("CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), shell_tool="Shell",
)  # fmt: skip

# Seconds. The after* family would report the same calls once more; thoughts and Tab edits are not registered.
EVENTS = {
    "sessionStart": Registration(SYNC, 8), "beforeSubmitPrompt": Registration(SYNC, 3),
    "postToolUse": Registration(SYNC, 5), "postToolUseFailure": Registration(SYNC, 5),
    "afterAgentResponse": Registration(SYNC, 5), "subagentStop": Registration(SYNC, 5),
    "preCompact": Registration(SYNC, 5), "stop": Registration(SYNC, 5), "sessionEnd": Registration(SYNC, 5),
}  # fmt: skip

_KINDS = {
    "sessionStart": SESSION_START, "beforeSubmitPrompt": PROMPT, "postToolUse": TOOL_RESULT,
    "postToolUseFailure": TOOL_ERROR, "afterAgentResponse": TURN_END, "subagentStop": SUBAGENT_END,
    "preCompact": PRE_COMPACT, "stop": TURN_END, "sessionEnd": SESSION_END,
}  # fmt: skip
# Cursor runs the hooks of Claude Code's settings too, under these names.
_ALIASES = {
    "SessionStart": "sessionStart", "UserPromptSubmit": "beforeSubmitPrompt", "PostToolUse": "postToolUse",
    "PostToolUseFailure": "postToolUseFailure", "SubagentStop": "subagentStop", "PreCompact": "preCompact",
    "Stop": "stop", "SessionEnd": "sessionEnd",
}  # fmt: skip

KNOWN = words(
    "conversation_id generation_id model model_id model_params hook_event_name cursor_version workspace_roots"
    " user_email transcript_path session_id is_background_agent composer_mode reason duration_ms final_status"
    " error_message prompt attachments tool_name tool_input tool_use_id cwd agent_message tool_output"
    " tool_response duration failure_type is_interrupt command sandbox output result_json url file_path content"
    " edits text trigger context_usage_percent context_tokens context_window_size message_count"
    " messages_to_compact is_first_compaction subagent_id subagent_type task parent_conversation_id"
    " tool_call_id subagent_model status summary modified_files agent_transcript_path description"
    " tool_call_count loop_count permission_mode source stop_hook_active is_parallel_worker git_branch"
)

NAMES = {
    "Shell": "shell", "Bash": "shell", "Terminal": "shell",
    "Write": "write", "Edit": "edit", "StrReplace": "edit", "MultiEdit": "edit", "EditNotebook": "edit",
    "Delete": "delete", "Read": "read", "Grep": "search", "Glob": "search", "LS": "search", "SemanticSearch": "search",
    "WebFetch": "web_fetch", "WebSearch": "web_search", "Task": "agent", "TodoWrite": "todo", "AskQuestion": "ask",
}  # fmt: skip

drift, response_fields, canonical = vocabulary(KNOWN, NAMES)


def parse(native_event: str, payload: object, now: int) -> Event | None:
    """What happened, in nmem's words; None for events that are not kept and for payloads without a conversation."""
    native = _ALIASES.get(native_event, native_event)
    kind = _KINDS.get(native)
    if kind is None or not isinstance(payload, dict):
        return None
    session_id = first(payload, "conversation_id", "session_id")
    event = begin("cursor", kind, {**payload, "session_id": session_id}, now, native)
    if event is None:
        return None
    roots = items(payload.get("workspace_roots"))
    event.project_dir = text(roots[0]) if roots else ""
    event.cwd = event.cwd or event.project_dir
    event.turn_id = text(payload.get("generation_id"))
    event.client_version = text(payload.get("cursor_version"))
    if event.duration_ms is None:
        event.duration_ms = whole(payload.get("duration"))
    if not _fill(event, payload):
        return None
    event.drift = drift(native, payload)
    return event


def answer(event: Event, response: object) -> None:
    """Fill the event's outcome and text from a tool's output: JSON text, or the text alone."""
    from capture.clients import output, said  # on use: start-up stays short

    event.output = response
    given = output.structured(response)
    event.ok = event.kind != TOOL_ERROR
    if isinstance(given, dict):
        for key in ("exitCode", "exit_code"):
            if key in given:
                event.exit_code = whole(given[key])
        event.ok = event.ok and not output.failed_flag(given) and not event.exit_code
    shown = "" if event.tool in ("edit", "write") and event.ok else output.flat(given)
    event.output_text = said.strip_own(shown)


def _fill(event: Event, payload: dict[str, object]) -> bool:
    """Fill in what this kind of event carries; False when there is nothing to keep."""
    from capture.clients import common, said  # on use: start-up stays short

    if event.kind in (TOOL_RESULT, TOOL_ERROR):
        response = payload.get("tool_output", payload.get("tool_response"))
        failure = payload.get("error_message", payload.get("error"))
        event.reason = text(payload.get("failure_type"))
        return common.tool(event, {**payload, "tool_response": response, "error": failure}, canonical, answer)
    if event.kind == PROMPT:
        return common.prompt(event, payload.get("prompt"))
    event.source = text(payload.get("source")) or ("startup" if event.kind == SESSION_START else "")
    event.reason = first(payload, "reason", "status", "trigger")
    event.text = said.strip_own(first(payload, "text", "summary"))
    event.context_tokens = whole(payload.get("context_tokens"))
    if event.kind == PRE_COMPACT:
        event.context_window = whole(payload.get("context_window_size"))
    if event.kind == SUBAGENT_END:
        event.agent_id = first(payload, "subagent_id", "tool_call_id")
        event.agent_type = text(payload.get("subagent_type"))
    if event.native == "stop":
        event.interrupted = event.reason == "aborted"
    if event.reason == "error":
        event.ok = False
        event.output_text = text(mapping(payload).get("error_message"))
    return True
