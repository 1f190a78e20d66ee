"""Payload fields that the adapters read, with their types: losing one of these loses rows.

Types are the letters of capture.clients.fields: s text, n number, b yes or no, o object, l list.
"""

from __future__ import annotations

_COMMON = {"session_id": "s", "cwd": "s", "transcript_path": "s", "prompt": "s", "tool_name": "s"}
_CALLS = {"tool_input": "o", "tool_response": "osl", "tool_use_id": "s", "duration_ms": "n", "error": "s"}
_ENDS = {"last_assistant_message": "s", "agent_id": "s", "agent_type": "s", "prompt_id": "s", "turn_id": "s",
         "model": "s", "permission_mode": "s", "source": "s", "reason": "s", "trigger": "s"}  # fmt: skip
_RESPONSES = {"tool_response.stdout": "s", "tool_response.stderr": "s", "tool_response.filePath": "s",
              "tool_response.structuredPatch": "l", "tool_response.interrupted": "b",
              "tool_input.command": "s", "tool_input.file_path": "s", "tool_input.pattern": "s",
              "tool_input.url": "s", "tool_input.query": "s"}  # fmt: skip
_CODEX = {**_COMMON, **_CALLS, **_ENDS, "tool_input": "osl"}

READ: dict[str, dict[str, str]] = {
    "claude": {**_COMMON, **_CALLS, **_ENDS, **_RESPONSES},
    "codex": _CODEX,
    "gemini": {**_COMMON, "tool_input": "o", "tool_response": "osl", "prompt_response": "s",
               "tool_response.llmContent": "slo", "timestamp": "s"},
    "droid": {**_COMMON, **_CALLS, "message_id": "s", "tool_input": "os"},
    "cursor": {"conversation_id": "s", "generation_id": "s", "prompt": "s", "tool_name": "s", "command": "s",
               "output": "s", "file_path": "s", "edits": "l", "tool_use_id": "s", "tool_input": "os"},
    "copilot": {"session_id": "s", "sessionId": "s", "cwd": "s", "prompt": "s", "tool_name": "s", "toolName": "s"},
    "opencode": {"session_id": "s", "prompt": "s", "tool_name": "s", "client_version": "s"},
}  # fmt: skip

NEEDED: dict[str, dict[str, tuple[str, ...]]] = {
    "claude": {
        "UserPromptSubmit": ("session_id", "prompt"),
        "PostToolUse": ("session_id", "tool_name", "tool_input", "tool_response"),
        "PostToolUseFailure": ("session_id", "tool_name", "tool_input", "error"),
        "Stop": ("session_id", "transcript_path"),
        "SessionStart": ("session_id", "cwd", "source"),
        "SessionEnd": ("session_id",),
    },
    "codex": {
        "UserPromptSubmit": ("session_id", "prompt"),
        "PostToolUse": ("session_id", "tool_name", "tool_input", "tool_response"),
        "SessionStart": ("session_id", "cwd"),
    },
    "gemini": {
        "BeforeAgent": ("session_id", "prompt"),
        "AfterTool": ("session_id", "tool_name", "tool_input", "tool_response"),
        "SessionStart": ("session_id", "cwd"),
    },
}
"""Without these nothing can be made of an event, of whatever version. Other clients' fields have several names."""

STRICTLY = ("session_id", "prompt", "tool_name")
"""Of these even few absences are told: such a payload is dropped."""

TYPES = {"s": "text", "n": "number", "b": "true or false", "o": "object", "l": "list", "-": "null", "?": "something"}
