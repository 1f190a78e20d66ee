"""Detects which client really sent a payload: clients also run the hooks in each other's settings files."""

from __future__ import annotations

from capture import clients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_GEMINI_EVENTS = ("Before", "After", "PreCompress")


def detect(client: str, payload: object, environ: Mapping[str, str]) -> str:
    """The client that sent this payload; `client` is the one whose settings the hook was registered in.

    What the payload shows counts before the environment, which a client started inside another inherits.
    """
    if not isinstance(payload, dict):
        return client
    if "cursor_version" in payload or "conversation_id" in payload:
        return "cursor"
    if "sessionId" in payload or "toolName" in payload or "tool_result" in payload:
        return "copilot"
    if client != "claude":
        return client
    return _not_claude(payload, environ) or client


def _not_claude(payload: dict[str, object], environ: Mapping[str, str]) -> str:
    """The client that ran a hook of Claude Code's settings, when it was another."""
    session_id = payload.get("session_id")
    if session_id and environ.get("CLAUDE_CODE_SESSION_ID") == session_id:
        return ""
    native = payload.get("hook_event_name")
    named = isinstance(native, str) and native.startswith(_GEMINI_EVENTS)
    if named or environ.get("GEMINI_SESSION_ID", "-") == session_id:
        return "gemini"
    if "turn_id" in payload and "prompt_id" not in payload and "delta" not in payload:
        return "codex"
    # every event of Claude Code names its transcript; Copilot's has a time instead
    if "timestamp" in payload and "transcript_path" not in payload:
        return "copilot"
    if "message_id" in payload or "calling_session_id" in payload:
        return "droid" if "index" not in payload else ""
    if environ.get("FACTORY_PROJECT_DIR") or environ.get("DROID_PROJECT_DIR"):
        return "droid"
    return "cursor" if environ.get("CURSOR_VERSION") else ""


def project_dir(client: str, environ: Mapping[str, str]) -> str:
    """The folder that the client calls its project; empty when it does not say."""
    for name in clients.client(client).project_dirs:
        value = environ.get(name)
        if value:
            return value
    return ""


def client_version(client: str, environ: Mapping[str, str]) -> str:
    """The client's version as its environment tells it: `AI_AGENT=claude-code_2-1-330_harness`, `CURSOR_VERSION`."""
    if client == "cursor":
        return environ.get("CURSOR_VERSION", "")
    name, _, rest = environ.get("AI_AGENT", "").partition("_")
    if client == "claude" and name == "claude-code":
        return rest.partition("_")[0].replace("-", ".")
    return ""
