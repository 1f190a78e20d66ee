"""GitHub Copilot CLI: parses its hook payloads into Events.

A camelCase registration gets camelCase fields and no event name; a PascalCase one gets snake_case fields.
"""

from __future__ import annotations

from capture.clients import CAMEL, FLAT, SYNC, Client, Registration, vocabulary
from capture.clients.fields import begin, first, mapping, text, words
from capture.clients.stamps import stamp
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
    "GitHub Copilot CLI", ".copilot", "hooks/nmem.json", ".github/hooks/nmem.json", shape=FLAT, comments=True,
    experimental=False, answers=CAMEL,
    listens=("sessionStart", "userPromptSubmitted", "postToolUse", "postToolUseFailure"),
    most=8_000,  # it cuts at 10 KB
)  # fmt: skip

# Seconds. preToolUse is never registered: a hook that fails there denies the tool.
EVENTS = {
    "sessionStart": Registration(SYNC, 8), "userPromptSubmitted": Registration(SYNC, 3),
    "postToolUse": Registration(SYNC, 5), "postToolUseFailure": Registration(SYNC, 5),
    "agentStop": Registration(SYNC, 5), "subagentStop": Registration(SYNC, 5), "preCompact": Registration(SYNC, 5),
    "sessionEnd": Registration(SYNC, 5),
}  # fmt: skip

_KINDS = {
    "sessionStart": SESSION_START, "userPromptSubmitted": PROMPT, "postToolUse": TOOL_RESULT,
    "postToolUseFailure": TOOL_ERROR, "agentStop": TURN_END, "subagentStop": SUBAGENT_END, "preCompact": PRE_COMPACT,
    "sessionEnd": SESSION_END,
}  # fmt: skip
_ALIASES = {
    "SessionStart": "sessionStart", "UserPromptSubmit": "userPromptSubmitted", "PostToolUse": "postToolUse",
    "PostToolUseFailure": "postToolUseFailure", "Stop": "agentStop", "SubagentStop": "subagentStop",
    "PreCompact": "preCompact", "SessionEnd": "sessionEnd",
}  # fmt: skip
_SNAKE = {
    "sessionId": "session_id", "transcriptPath": "transcript_path", "toolName": "tool_name", "toolArgs": "tool_input",
    "toolResult": "tool_result", "toolUseId": "tool_use_id", "toolCallId": "tool_use_id", "agentId": "agent_id",
    "agentType": "agent_type", "agentName": "agent_name", "stopReason": "stop_reason",
    "customInstructions": "custom_instructions", "initialPrompt": "initial_prompt",
}  # fmt: skip

_FIELDS = words(
    "session_id timestamp cwd hook_event_name source initial_prompt reason prompt tool_name tool_input"
    " tool_result tool_use_id error transcript_path stop_reason stop_hook_active agent_id agent_type agent_name"
    " response trigger custom_instructions model permission_mode agentDisplayName agentDescription"
    " agent_transcript_path errorContext recoverable message title notification_type last_assistant_message"
)
KNOWN = _FIELDS | _SNAKE.keys()

NAMES = {
    "bash": "shell", "powershell": "shell", "Bash": "shell", "PowerShell": "shell",
    "view": "read", "Read": "read", "create": "write", "Write": "write",
    "edit": "edit", "Edit": "edit", "MultiEdit": "edit", "str_replace_editor": "editor", "apply_patch": "edit",
    "grep": "search", "rg": "search", "glob": "search", "Grep": "search", "Glob": "search",
    "web_fetch": "web_fetch", "WebFetch": "web_fetch", "web_search": "web_search", "WebSearch": "web_search",
    "task": "agent", "Task": "agent", "Agent": "agent", "update_todo": "todo", "TodoWrite": "todo",
    "ask_user": "ask", "AskUserQuestion": "ask", "exit_plan_mode": "plan", "skill": "skill",
}  # fmt: skip

drift, response_fields, canonical = vocabulary(KNOWN, NAMES)


def parse(native_event: str, payload: object, now: int) -> Event | None:
    """What happened, in nmem's words; None for events that are not kept and for payloads without a session."""
    native = _ALIASES.get(native_event, native_event)
    kind = _KINDS.get(native)
    if kind is None or not isinstance(payload, dict):
        return None
    plain = _snake(payload)
    if kind == TOOL_ERROR:
        plain["error"] = first(mapping(plain.get("error")), "message") or plain.get("error")
    event = begin("copilot", kind, plain, now, native)
    if event is None or not _fill(event, plain):
        return None
    event.at = stamp(payload.get("timestamp"), now)
    event.drift = drift(native, payload)
    return event


def answer(event: Event, response: object) -> None:
    """Fill the event's outcome and text from `{resultType, textResultForLlm}` or from an error's text."""
    from capture.clients import output, said  # on use: start-up stays short

    event.output = response
    given = mapping(response)
    verdict = first(given, "resultType", "result_type")
    shown = first(given, "textResultForLlm", "text_result_for_llm") if given else ""
    shown = output.without_blobs(shown) if shown else output.flat(response)
    event.exit_code = output.stated_code(shown) if event.tool == "shell" else None
    event.ok = event.kind != TOOL_ERROR and verdict in ("", "success") and not event.exit_code
    event.interrupted = verdict in ("rejected", "denied")
    event.refused = "user" if event.interrupted else ""
    if event.tool == "shell":
        before, mark, last = shown.rpartition("<shellId: ")
        shown = before.rstrip("\n") if mark and "\n" not in last else shown
    event.output_text = said.strip_own(shown)


def _snake(payload: dict[str, object]) -> dict[str, object]:
    """The payload with snake_case names, whichever style it came in."""
    return {_SNAKE.get(key, key): value for key, value in payload.items()}


def _fill(event: Event, payload: dict[str, object]) -> bool:
    """Fill in what this kind of event carries; False when there is nothing to keep."""
    from capture.clients import common, said  # on use: start-up stays short

    if event.kind in (TOOL_RESULT, TOOL_ERROR):
        result = payload.get("tool_result", payload.get("tool_response"))
        return common.tool(event, {**payload, "tool_response": result}, canonical, answer)
    if event.kind == PROMPT:
        return common.prompt(event, payload.get("prompt"))
    source = text(payload.get("source"))
    event.source = "startup" if source == "new" else source
    event.reason = first(payload, "reason", "stop_reason", "trigger")
    event.text = said.strip_own(first(payload, "response", "last_assistant_message", "custom_instructions"))
    if event.kind == SUBAGENT_END:
        event.agent_type = first(payload, "agent_type", "agent_name")
    return True
