"""OpenAI Codex CLI: parses its hook payloads into Events."""

from __future__ import annotations

from capture.clients import SYNC, Client, Registration, common, vocabulary
from capture.clients.fields import whole, words
from capture.event import Event

CLIENT = Client(
    "Codex", ".codex", "hooks.json", ".codex/hooks.json", experimental=False, folder_variable="CODEX_HOME",
    listens=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"),
    most=9_200,  # over 2,500 tokens of about four bytes it cuts out the middle
    starts_after_compact=True,
)  # fmt: skip

# Seconds; SessionEnd and Interrupt are given three at most. There is no event for a failed call.
EVENTS = {
    "SessionStart": Registration(SYNC, 8), "UserPromptSubmit": Registration(SYNC, 3),
    "PreToolUse": Registration(SYNC, 3, "Bash|apply_patch"), "PostToolUse": Registration(SYNC, 5, "*"),
    "SubagentStop": Registration(SYNC, 5), "Stop": Registration(SYNC, 5), "Interrupt": Registration(SYNC, 3),
    "PreCompact": Registration(SYNC, 5), "PostCompact": Registration(SYNC, 5), "SessionEnd": Registration(SYNC, 3),
}  # fmt: skip

KNOWN = words(
    "session_id turn_id transcript_path cwd hook_event_name model permission_mode agent_id agent_type source prompt"
    " tool_name tool_input tool_response tool_use_id trigger agent_transcript_path last_assistant_message"
    " stop_hook_active reason"
)

NAMES = {
    "Bash": "shell", "exec_command": "shell", "shell": "shell", "shell_command": "shell", "local_shell": "shell",
    "local_shell_call": "shell", "container.exec": "shell", "unified_exec": "shell",
    "apply_patch": "edit", "Edit": "edit", "Write": "write",
    "read_file": "read", "view_image": "read", "list_dir": "search", "grep_files": "search",
    "web_search": "web_search", "web_search_call": "web_search", "spawn_agent": "agent",
    "update_plan": "todo", "request_user_input": "ask",
}  # fmt: skip

_FAILED = ("apply_patch verification failed", "unsupported call:", "execution error:", "failed to parse function arg",
           "aborted by user", "exec command rejected", "patch rejected")  # fmt: skip
_REJECTED = ("exec command rejected", "patch rejected")
_DONE = ("Success. Updated the following files", "Plan updated")
_HEAD_LINES = 8

drift, response_fields, canonical = vocabulary(KNOWN, NAMES)


def parse(native_event: str, payload: object, now: int) -> Event | None:
    """What happened, in nmem's words; None for events that are not kept and for payloads without a session."""
    event = common.parse("codex", native_event, payload, now, canonical, answer) if native_event in EVENTS else None
    if event is not None and isinstance(payload, dict):
        event.drift = drift(native_event, payload)
    return event


def answer(event: Event, response: object) -> None:
    """Fill the event's outcome and text; a response without a header says nothing of how a command ended."""
    from capture.clients import output, said  # on use: start-up stays short

    event.output = response
    given = output.structured(response) if event.tool != "mcp" else response
    if isinstance(given, dict) and isinstance(given.get("output"), str):
        _from_record(event, given)
        given = given["output"]
    shown = output.flat(given)
    shown = _headed(event, shown)
    if event.exit_code is not None:
        event.ok = event.exit_code == 0
    elif shown.startswith(_FAILED):
        event.ok = False
        event.interrupted = shown.startswith("aborted by user")
        event.refused = "user" if shown.startswith(_REJECTED) else ""
    elif shown.startswith(_DONE):
        event.ok = True
    elif isinstance(given, dict):
        event.ok = not output.failed_flag(given)
    event.output_text = said.strip_own(shown)


def _from_record(event: Event, given: dict[str, object]) -> None:
    """An older rollout's `{output, metadata: {exit_code, duration_seconds}}`."""
    metadata = given.get("metadata")
    if isinstance(metadata, dict):
        event.exit_code = whole(metadata.get("exit_code"))
        _lasted(event, metadata.get("duration_seconds"))


def _lasted(event: Event, seconds: object) -> None:
    # nothing takes no time: Codex writes 0 where it did not measure, or rounded
    if event.duration_ms is None and isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0:
        event.duration_ms = whole(seconds * 1000)


def _headed(event: Event, shown: str) -> str:
    """The text behind the header that Codex puts before a command's output; the header's code and time are taken."""
    from capture.clients.output import number_in  # on use: start-up stays short

    if not shown.startswith(("Exit code: ", "Chunk ID: ", "Wall time: ")):
        return shown
    head, found, rest = shown.partition("\nOutput:")
    lines = head.split("\n")
    if not found or len(lines) > _HEAD_LINES:
        return shown
    for line in lines:
        for prefix in ("Exit code: ", "Process exited with code "):
            if line.startswith(prefix):
                event.exit_code = number_in(line[len(prefix) :])
        if line.startswith("Process running with session ID ") and event.tool == "shell":
            event.tool_input["background"] = True
        if line.startswith("Wall time: "):
            _lasted(event, _seconds(line[len("Wall time: ") :]))
    return rest.removeprefix("\n")


def _seconds(value: str) -> float | None:
    digits = value.partition(" ")[0]
    return float(digits) if digits.replace(".", "", 1).isdecimal() and len(digits) < 12 else None
