"""Payloads that people's own hooks logged, fed in the order of the client's versions: what a maintainer is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from nmem.audit import OK, drift
from tests.conftest import NOW

Feed = Callable[..., None]
ERAS = (
    ("1", ("pattern-stack__task-patterns", "ranaroussi__quantstats")),
    ("2", ("blueman82__ai-counsel", "NexusInnovation__nexkit", "A1cy__HiveCodeCli", "fast-gateway-protocol__browser",
           "MacroMan5__claude-code-workflow-plugins")),
    ("3", ("applab-nl__dmux",)),
    ("4", ("RyanLisse__big3",)),
    ("5", ("pookNast__loopkit", "Johannes0501__openshrooly", "CursorTouch__Operator-Use")),
    ("6", ("4alvit__fastapi-mqtt-gateway", "4alvit__mcp-venus-os")),
)  # fmt: skip
"""Payloads do not name their version; which fields they share tells the order."""


def payloads(shared: Path, project: str) -> list[dict[str, Any]]:
    files = sorted((shared / "data" / "hook-payloads" / "public" / project).glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8", "replace").splitlines()]


@pytest.fixture
def fed(shared: Path, feed: Feed, db: Connection) -> Connection:
    for version, projects in ERAS:
        for project in projects:
            for payload in payloads(shared, project):
                feed(payload, version, project=project)
    return db


def told(db: Connection, kind: str) -> dict[str, set[tuple[str, str]]]:
    """Of each version the (place, field) of its changes of one kind."""
    out: dict[str, set[tuple[str, str]]] = {}
    for one in drift.changes(db, deep=True):
        if one.kind == kind:
            out.setdefault(one.version, set()).add((one.place, one.field))
    return out


def test_each_version_s_news_is_told_once_and_nothing_else(fed: Connection) -> None:
    ends = {("Stop", "last_assistant_message"), ("SubagentStop", "last_assistant_message")}
    assert told(fed, drift.ADDED) == {
        "2": {(event, "permission_mode") for event in ("PreToolUse", "PostToolUse", "Stop", "SubagentStop",
                                                        "UserPromptSubmit")},
        "3": {("SubagentStop", "agent_id"), ("SubagentStop", "agent_transcript_path"),
              ("PostToolUse(Grep)", "tool_response.appliedLimit"), ("Notification", "notification_type")},
        "4": {("PostToolUse", "tool_use_id"), ("PreToolUse", "tool_use_id")},
        "5": ends | {(event, field) for event in ("PreToolUse", "PostToolUse") for field in ("agent_id", "agent_type")}
                  | {("SubagentStop", "agent_type"), ("PostToolUse(Bash)", "tool_response.noOutputExpected")},
        "6": {(event, field) for event in ("PreToolUse", "PostToolUse", "Stop") for field in ("effort", "prompt_id")}
             | {("PostToolUse", "duration_ms"), ("UserPromptSubmit", "prompt_id"), ("Stop", "background_tasks"),
                ("Stop", "session_crons"), ("PostToolUse(Bash)", "tool_response.staleReadFileStateHint"),
                ("PostToolUse(Write)", "tool_response.userModified")},
    }  # fmt: skip
    assert [told(fed, kind) for kind in (drift.NEW, drift.MISSING, drift.RETYPED, drift.OWN)] == [{}, {}, {}, {}]
    findings = drift.findings(fed, NOW, deep=True)
    assert [one.severity for one in findings] == [OK] * 5  # one line a version, and nothing to mend


def test_to_an_adapter_that_knows_only_the_first_version_they_are_notes(
    shared: Path, feed: Feed, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from capture.clients import claude

    first = {name for project in ERAS[0][1] for one in payloads(shared, project) for name in one}
    monkeypatch.setattr(claude, "KNOWN", frozenset(first))
    monkeypatch.setattr(claude, "ADDED", frozenset())
    for version, projects in ERAS:
        for project in projects:
            for payload in payloads(shared, project):
                feed(payload, version, project=project)
    found: dict[str, set[str]] = {}
    for one in drift.changes(db, deep=True):
        if one.kind == drift.NEW and "." not in one.field:
            found.setdefault(one.version, set()).add(one.field)
    assert found == {
        # the second has events that the first never had; nobody else's SessionEnd tells that one field is a wrapper's
        "2": {"permission_mode", "custom_instructions", "reason", "trigger", "execution_mode"},
        "3": {"agent_id", "agent_transcript_path", "notification_type"},
        "4": {"tool_use_id"},
        "5": {"agent_id", "agent_type", "last_assistant_message"},
        "6": {"background_tasks", "duration_ms", "effort", "prompt_id", "session_crons"},
    }
    own = {one.field for one in drift.changes(db, deep=True) if one.kind == drift.OWN}
    assert own >= {"a1xai_timestamp", "a1xai_hook_version", "a1xai_framework", "a1xai_analysis", "logged_at"}
