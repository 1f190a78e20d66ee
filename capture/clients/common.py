"""Parses the events that Claude Code, Codex and Factory Droid report with the same fields."""

from __future__ import annotations

from capture.clients.fields import begin, first, text, whole
from capture.event import (
    POST_COMPACT,
    PRE_COMPACT,
    PROMPT,
    SESSION_END,
    SESSION_START,
    STATUS,
    SUBAGENT_END,
    TOOL_CALL,
    TOOL_ERROR,
    TOOL_RESULT,
    TURN_END,
    Event,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Canonical = Callable[[str, object], tuple[str, dict[str, object]]]
    Answer = Callable[[Event, object], None]

KINDS = {
    "SessionStart": SESSION_START, "UserPromptSubmit": PROMPT, "PreToolUse": TOOL_CALL, "PostToolUse": TOOL_RESULT,
    "PostToolUseFailure": TOOL_ERROR, "SubagentStop": SUBAGENT_END, "Stop": TURN_END, "StopFailure": TURN_END,
    "Interrupt": TURN_END, "PreCompact": PRE_COMPACT, "PostCompact": POST_COMPACT, "SessionEnd": SESSION_END,
    "Notification": STATUS,
}  # fmt: skip
_ASKS = ("permission_prompt", "elicitation_dialog")
"""Notifications that a session waits for the person in the midst of a turn."""


def parse(client: str, native: str, payload: object, now: int, canonical: Canonical, answer: Answer) -> Event | None:
    """What happened, in nmem's words; None for events that are not kept and for payloads without a session."""
    kind = KINDS.get(native)
    if kind is None or not isinstance(payload, dict):
        return None
    event = begin(client, kind, payload, now, native)
    if event is None:
        return None
    if kind in (TOOL_RESULT, TOOL_ERROR):
        return event if tool(event, payload, canonical, answer) else None
    if kind == TOOL_CALL:
        event.tool, event.tool_input = canonical(event.tool_name, payload.get("tool_input"))
        return event if event.tool_name else None
    if kind == STATUS:
        return event if payload.get("notification_type") in _ASKS else None
    if kind == PROMPT:
        return event if prompt(event, payload.get("prompt"), payload.get("source")) else None
    if kind in (TURN_END, SUBAGENT_END):
        return event if _ended(event, payload) else None
    event.source = text(payload.get("source"))
    event.reason = first(payload, "reason", "trigger")
    event.context_tokens = whole(payload.get("context_tokens"))
    if kind in (PRE_COMPACT, POST_COMPACT):
        from capture.clients import said  # on use: start-up stays short

        event.text = said.summary(payload.get("compact_summary")) or text(payload.get("custom_instructions"))
    return event


def prompt(event: Event, value: object, sender: object = "") -> bool:
    """Fill in what was said and by whom; False when nothing is left of it."""
    from capture.clients import said  # on use: start-up stays short

    event.text, event.source = said.prompt(value, sender)
    event.interrupted = event.text.startswith("[Request interrupted")
    return bool(event.text)


def tool(event: Event, payload: dict[str, object], canonical: Canonical, answer: Answer) -> bool:
    """Fill in a tool's call with its answer; False when the call has no name."""
    if not event.tool_name:
        return False
    event.tool, event.tool_input = canonical(event.tool_name, payload.get("tool_input"))
    event.interrupted = payload.get("is_interrupt") is True
    failed = event.kind == TOOL_ERROR
    answer(event, payload.get("error") if failed else payload.get("tool_response"))
    if failed or event.interrupted:
        event.ok = False
    return True


def _summed_up(event: Event, last: str) -> bool:
    """Take the summary of a compaction: it is told before the session starts anew, and again after that."""
    if "<summary>" not in last:
        return False  # an aside of the client's own
    from capture.clients import said  # on use: start-up stays short

    event.kind, event.agent_id, event.agent_type = POST_COMPACT, "", ""
    event.text = said.summary(last)
    return bool(event.text)


def _ended(event: Event, payload: dict[str, object]) -> bool:
    """A turn or a subagent at its end; compaction ends as a subagent without a type, whose last words sum up."""
    if event.kind == SUBAGENT_END and payload.get("agent_type", "-") == "":
        return _summed_up(event, text(payload.get("last_assistant_message")))
    from capture.clients import said  # on use: start-up stays short

    event.text = said.strip_own(text(payload.get("last_assistant_message")))
    if event.native == "StopFailure":
        event.ok = False
        event.reason = text(payload.get("error"))
        event.output_text = text(payload.get("error_details"))
    elif event.native == "Interrupt":
        event.interrupted = True
        event.reason = "interrupt"
    return True
