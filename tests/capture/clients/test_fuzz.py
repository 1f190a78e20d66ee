"""Anything at all in any field: nothing raises, and what is promised to be a text is one."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.clients import CLIENTS, claude_tools
from capture.clients.detect import detect
from capture.event import Event

NOW = 1_760_000_000_000
MODULES: dict[str, ModuleType] = {name: importlib.import_module(f"capture.clients.{name}") for name in CLIENTS}
TEXTS = {
    "client", "kind", "session_id", "native", "cwd", "project_dir", "transcript_path", "client_version", "model",
    "permission_mode", "agent_id", "agent_type", "turn_id", "tool_use_id", "tool_name", "tool", "output_text", "text",
    "source", "reason",
}  # fmt: skip
NUMBERS = {"exit_code", "duration_ms", "context_tokens", "context_window"}
FIELDS = sorted(
    {name for module in MODULES.values() for name in module.KNOWN}
    | {"sessionId", "toolName", "toolArgs", "toolResult", "never_seen"}
)
INNER = [
    "stdout", "stderr", "interrupted", "file", "content", "filenames", "results", "structuredPatch", "lines",
    "questions", "answers", "todos", "edits", "files", "command", "file_path", "old_string", "new_string", "task",
    "status", "type", "llmContent", "returnDisplay", "metadata", "output", "exitCode", "base64", "data", "question",
    "options", "plan", "originalFile", "durationSeconds", "durationMs", "code", "exit", "diffStat", "fileDiff",
    "backgroundTaskId",
]  # fmt: skip
SAID = st.sampled_from(["", "Exit code 2\nx", "*** Begin Patch\n*** Update File: a\n+b", '{"exitCode":1}', "<summary>",
                        "<task-notification>", "<hook_context>", "[{", "2026-11-21T21:17:11Z", "Error: x"])  # fmt: skip
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | SAID | st.text(max_size=20)
VALUE = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(INNER), inner, max_size=5),
    max_leaves=12,
)
PAYLOAD = st.dictionaries(st.sampled_from(FIELDS), VALUE, max_size=12)
NAMED = st.sampled_from(
    [
        *sorted({name for module in MODULES.values() for name in getattr(module, "NAMES", claude_tools.NAMES)}),
        *("BashOutput", "TaskOutput", "mcp__a__b", "mcp_a_b", "MCP:x", "nothing known"),
    ]
)


def _check(event: Event | None) -> None:
    if event is None:
        return
    for name in TEXTS:
        assert isinstance(getattr(event, name), str), name
    for name in NUMBERS:
        value = getattr(event, name)
        assert value is None or (isinstance(value, int) and abs(value) < 2**63), name
    assert event.ok in (None, True, False)
    assert isinstance(event.interrupted, bool)
    assert isinstance(event.at, int)
    assert isinstance(event.tool_input, dict)
    assert all(isinstance(name, str) for name in event.drift)
    if event.tool in ("edit", "write"):
        files: Any = event.tool_input["files"]
        for file in files:
            assert all(isinstance(file[key], str) for key in ("path", "old", "new", "patch"))
            assert all(file[key] is None or isinstance(file[key], int) for key in ("added", "removed"))


@pytest.mark.parametrize("client", CLIENTS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_any_payload_is_survived(client: str, data: st.DataObject) -> None:
    module = MODULES[client]
    native = data.draw(st.sampled_from([*module.EVENTS, "PreToolUse", "PostToolUse", "Stop", ""]))
    payload = data.draw(PAYLOAD)
    _check(module.parse(native, payload, NOW))
    for name in ("session_id", "sessionId", "conversation_id"):
        payload[name] = "s"
    payload["tool_name"] = payload["toolName"] = data.draw(NAMED)
    _check(module.parse(native, payload, NOW))
    assert detect(client, payload, {}) in CLIENTS


@pytest.mark.parametrize("client", CLIENTS)
@settings(max_examples=25, deadline=None)
@given(name=NAMED | st.text(max_size=8), given_input=VALUE, response=VALUE)
def test_any_call_and_answer_is_survived(client: str, name: str, given_input: object, response: object) -> None:
    module = MODULES[client]
    event = Event(client, "tool_result", "s", NOW)
    event.tool_name = name
    event.tool, event.tool_input = module.canonical(name, given_input)
    module.answer(event, response)
    _check(event)


@pytest.mark.parametrize("client", CLIENTS)
@settings(max_examples=15, deadline=None)
@given(payload=VALUE)
def test_what_is_no_payload_is_survived(client: str, payload: object) -> None:
    for native in MODULES[client].EVENTS:
        _check(MODULES[client].parse(native, payload, NOW))
