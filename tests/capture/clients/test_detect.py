"""Two registrations, one event: the payload says whose it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capture.clients import CLIENTS, claude, cursor
from capture.clients.detect import client_version, detect, project_dir

NOW = 2_000_000_000_000
Recorded = Callable[[str], dict[str, Any]]
OWNERS = {"claude-code": "claude", "codex": "codex", "gemini-cli": "gemini", "cursor": "cursor",
          "copilot-cli": "copilot"}  # fmt: skip


def test_every_recorded_payload_is_known_for_its_client(shared: Path, recorded: Recorded) -> None:
    root = shared / "data" / "hook-payloads" / "recorded"
    for folder, owner in OWNERS.items():
        for path in [*(root / folder).glob("*.json"), *(root / folder).glob("constructed/*.json")]:
            name = str(path.relative_to(root).with_suffix(""))
            payload = recorded(name)
            if "hook_event_name" not in payload and owner != "copilot":
                continue
            assert detect(owner, payload, {}) == owner, name
            # without the environment, two clients' ends of a session look like Claude Code's
            if "hook_event_name" not in payload or not payload["hook_event_name"].startswith("Session"):
                assert detect("claude", payload, {}) == owner, name


def test_droids_payloads_are_known_by_the_environment(shared: Path, recorded: Recorded) -> None:
    folder = shared / "data" / "hook-payloads" / "recorded" / "factory-droid" / "constructed"
    for path in folder.glob("*.json"):
        payload = recorded(f"factory-droid/constructed/{path.stem}")
        assert detect("claude", payload, {"FACTORY_PROJECT_DIR": "/p", "CLAUDE_PROJECT_DIR": "/p"}) == "droid"


@pytest.mark.parametrize(
    ("environ", "owner"),
    [
        ({}, "claude"),
        ({"CLAUDE_PROJECT_DIR": "/p"}, "claude"),
        ({"CURSOR_VERSION": "3.7"}, "cursor"),
        ({"CURSOR_VERSION": "3.7", "CLAUDE_CODE_SESSION_ID": "s"}, "claude"),
        ({"FACTORY_PROJECT_DIR": "/p", "CLAUDE_CODE_SESSION_ID": "s"}, "claude"),
        ({"GEMINI_SESSION_ID": "s"}, "gemini"),
        ({"GEMINI_SESSION_ID": "another"}, "claude"),
    ],
)
def test_a_client_started_inside_another_is_itself(environ: dict[str, str], owner: str) -> None:
    payload = {"session_id": "s", "transcript_path": "/t", "hook_event_name": "Stop", "cwd": "/p"}
    assert detect("claude", payload, environ) == owner


def test_a_registration_of_another_client_is_believed() -> None:
    for client in CLIENTS:
        assert detect(client, {"session_id": "s"}, {}) == client
        assert detect(client, None, {}) == client
        assert detect(client, [], {}) == client


def test_one_event_through_two_registrations_is_one(recorded: Recorded) -> None:
    payload = recorded("cursor/constructed/postToolUse")
    own = cursor.parse("postToolUse", payload, NOW)
    assert detect("claude", payload, {}) == "cursor"
    other = cursor.parse("PostToolUse", {**payload, "session_id": "another", "hook_event_name": "PostToolUse"}, NOW)
    assert own is not None
    assert other is not None
    for name in ("client", "session_id", "tool_use_id", "tool", "tool_input", "output_text", "kind", "native"):
        assert getattr(own, name) == getattr(other, name)


def test_public_payloads_with_a_loggers_own_time_are_claudes() -> None:
    payload = {"session_id": "s", "transcript_path": "/t", "timestamp": "2025-10-30T09:11:30", "prompt": "go"}
    assert detect("claude", payload, {}) == "claude"
    assert claude.parse("UserPromptSubmit", payload, NOW) is not None


def test_the_project_is_what_the_client_calls_it() -> None:
    environ = {"CLAUDE_PROJECT_DIR": "/c", "GEMINI_PROJECT_DIR": "/g", "CURSOR_PROJECT_DIR": "/u",
               "FACTORY_PROJECT_DIR": "/f"}  # fmt: skip
    found = [project_dir(client, environ) for client in CLIENTS]
    assert dict(zip(CLIENTS, found, strict=True)) == {
        "claude": "/c", "codex": "", "gemini": "/g", "cursor": "/u", "copilot": "", "droid": "/f", "opencode": "",
        "qwen": "/g",
    }  # fmt: skip
    assert project_dir("gemini", {"CLAUDE_PROJECT_DIR": "/c"}) == "/c"


def test_the_version_stands_in_the_environment() -> None:
    assert client_version("claude", {"AI_AGENT": "claude-code_2-1-330_harness"}) == "2.1.330"
    assert client_version("claude", {"AI_AGENT": "another_1"}) == ""
    assert client_version("cursor", {"CURSOR_VERSION": "3.7.21"}) == "3.7.21"
    assert client_version("codex", {}) == ""
