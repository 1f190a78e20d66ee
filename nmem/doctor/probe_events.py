"""Synthetic events of each client, small and harmless, and the environment of a hook."""

from __future__ import annotations

import importlib
import os
import time
from typing import Any

from capture import clients

TEXT = "nmem doctor asks whether this prompt arrives"
_MARKS = ("CLAUDE", "CURSOR_", "GEMINI_", "CODEX_", "FACTORY_", "DROID_", "COPILOT_", "OPENCODE")
"""Variables by which an adapter may take one client for another; doctor may itself run inside a client."""


def payload(client: str, event: str, session: str, folder: str) -> dict[str, object]:
    """An event as the client would send it, small, harmless and of fields that its adapter knows."""
    made = _payload(client, event, session, folder)
    parsed = adapter(client).parse(event, made, 0)
    strange = parsed.drift if parsed is not None else ()
    return {key: value for key, value in made.items() if key not in strange}


def adapter(client: str) -> Any:  # noqa: ANN401 - a module
    """The module that reads a client's payloads."""
    return importlib.import_module(f"capture.clients.{client}")


def _payload(client: str, event: str, session: str, folder: str) -> dict[str, object]:
    shell: dict[str, object] = {"command": "true"}
    said = "nmem doctor was here"
    camel = client == "copilot"
    base: dict[str, object] = {("sessionId" if camel else "session_id"): session, "cwd": folder}
    if camel:
        return {**base, "timestamp": time.time_ns() // 1_000_000, **_copilot(event, shell, said)}
    base["hook_event_name"] = event
    if client == "cursor":
        base |= {"conversation_id": session, "generation_id": "g1", "workspace_roots": [folder], "cursor_version": "1"}
    if client == "gemini":
        base["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    return {**base, **_own(client, event.lower(), shell, said)}


def _own(client: str, event: str, shell: dict[str, object], said: str) -> dict[str, object]:
    """The fields of one event, by what its name says."""
    name = clients.client(client).shell_tool
    tool: dict[str, object] = {"tool_name": name, "tool_input": shell, "tool_use_id": "doctor-1"}
    if ("fail" in event and "tool" in event) or event.endswith(".error"):
        return {**tool, ("error_message" if client == "cursor" else "error"): "Exit code 1", "is_interrupt": False}
    if event in ("pretooluse", "posttooluse", "aftertool", "tool.execute.after"):
        return {**tool, **_RESPONSES.get(client, {"tool_response": {"stdout": "", "stderr": "", "interrupted": False}})}
    if event in ("userpromptsubmit", "beforeagent", "beforesubmitprompt", "chat.message"):
        return {"prompt": TEXT}
    if event == "afteragent":
        return {"prompt": TEXT, "prompt_response": said, "stop_hook_active": False}
    if event in ("afteragentresponse", "session.idle", "subagent.idle"):
        return {"text": said}
    if "subagent" in event:
        return {"agent_id": "a1", "agent_type": "general-purpose", "last_assistant_message": said}
    if "start" in event or event == "session.created":
        return {"source": "startup"}
    if "end" in event or event == "session.deleted":
        return {"reason": "other"}
    if "compact" in event:
        return {
            "trigger": "manual",
            **({"compact_summary": said} if client == "claude" and event[:4] == "post" else {}),
        }
    return {"last_assistant_message": said, "stop_hook_active": False}


_RESPONSES: dict[str, dict[str, object]] = {
    "codex": {"tool_response": "ok"},
    "gemini": {"tool_response": {"llmContent": "Output: ok", "returnDisplay": "ok"}},
    "cursor": {"tool_output": '{"output": "ok"}', "duration": 1},
    "opencode": {"tool_response": {"title": "true", "output": "ok", "metadata": {"exit": 0}}},
}


def _copilot(event: str, shell: dict[str, object], said: str) -> dict[str, object]:
    known: dict[str, dict[str, object]] = {
        "sessionStart": {"source": "startup"},
        "userPromptSubmitted": {"prompt": TEXT},
        "postToolUse": {"toolName": "bash", "toolArgs": shell,
                        "toolResult": {"resultType": "success", "textResultForLlm": "ok"}},
        "postToolUseFailure": {"toolName": "bash", "toolArgs": shell, "error": "failed"},
        "subagentStop": {"agentId": "a1", "agentType": "general-purpose", "response": said},
        "preCompact": {"trigger": "manual"},
        "sessionEnd": {"reason": "complete"},
    }  # fmt: skip
    return known.get(event, {})


def environment(client: str, session: str, folder: str) -> dict[str, str]:
    """What the client would put into a hook's environment, and nothing of another client's."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(_MARKS)}
    kept = {name: os.environ[name] for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME") if name in os.environ}
    own = {
        "claude": {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session, "CLAUDE_PROJECT_DIR": folder},
        "gemini": {"GEMINI_SESSION_ID": session, "GEMINI_PROJECT_DIR": folder, "CLAUDE_PROJECT_DIR": folder},
        "cursor": {"CURSOR_VERSION": "1", "CURSOR_PROJECT_DIR": folder, "CLAUDE_PROJECT_DIR": folder},
        "droid": {"FACTORY_PROJECT_DIR": folder, "CLAUDE_PROJECT_DIR": folder},
    }
    return env | kept | own.get(client, {})
