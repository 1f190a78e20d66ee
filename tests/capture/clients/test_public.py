"""Payloads that people's own hooks logged over many versions: none raises, none has a field that nobody knows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from capture.clients import claude

NOW = 2_000_000_000_000


def _payloads(shared: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((shared / "data" / "hook-payloads" / "public").rglob("*.jsonl")):
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                yield path.name, json.loads(line)


def test_every_payload_becomes_an_event_or_is_nobodys(shared: Path) -> None:
    kinds: Counter[str] = Counter()
    for name, payload in _payloads(shared):
        native = payload["hook_event_name"]
        assert claude.drift(native, payload) == (), name
        event = claude.parse(native, payload, NOW)
        if event is None:
            empty = native == "SubagentStop" and payload.get("agent_type") == ""
            assert native == "Notification" or empty, (name, native)
            continue
        kinds[event.kind] += 1
        assert event.session_id == payload["session_id"]
        assert "base64" not in event.output_text[:200]
        if event.kind == "tool_result":
            assert event.tool, name
            assert event.tool != "other" or event.tool_name in ("BashOutput", "TaskStop", "ToolSearch"), event.tool_name
    assert kinds["tool_result"] > 900
    assert kinds["prompt"] > 70
    assert kinds["turn_end"] > 120


def test_every_changed_file_has_a_path_and_its_lines(shared: Path) -> None:
    seen = 0
    for name, payload in _payloads(shared):
        if payload["hook_event_name"] != "PostToolUse" or payload["tool_name"] not in ("Edit", "Write", "MultiEdit"):
            continue
        event = claude.parse("PostToolUse", payload, NOW)
        assert event is not None
        files: Any = event.tool_input["files"]
        assert files[0]["path"] == payload["tool_input"]["file_path"], name
        assert isinstance(files[0]["added"], int), name
        hunks = payload["tool_response"].get("structuredPatch") or []
        lines = [line for hunk in hunks for line in hunk["lines"]]
        if lines:
            assert files[0]["added"] == sum(line[0] == "+" for line in lines)
            assert files[0]["removed"] == sum(line[0] == "-" for line in lines)
        seen += 1
    assert seen > 380
