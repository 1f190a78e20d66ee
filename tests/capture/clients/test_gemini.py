"""Gemini CLI: its recorded payloads, its own context in the prompt, exit codes that are only text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from capture.clients import gemini
from capture.event import Event

NOW = 2_000_000_000_000
Recorded = Callable[[str], dict[str, Any]]

KEPT = {
    "AfterAgent": ("turn_end", "", None, None, "Gemini mock done."),
    "AfterTool.read_file": ("tool_result", "read", True, None, "hello\n"),
    "AfterTool.replace": ("tool_result", "edit", True, None, ""),
    "AfterTool.run_shell_command": ("tool_result", "shell", False, 2, "hi\ner"),
    "AfterTool.write_file": ("tool_result", "write", True, None, ""),
    "BeforeAgent": ("prompt", "", None, None, "do the gemini thing"),
    "SessionEnd": ("session_end", "", None, None, ""),
    "SessionStart": ("session_start", "", None, None, ""),
}


def _event(payload: dict[str, Any]) -> Event:
    event = gemini.parse(payload["hook_event_name"], payload, NOW)
    assert event is not None
    return event


def _shell(content: object, display: object = "", **more: object) -> Event:
    response = {"llmContent": content, "returnDisplay": display, **more}
    payload = {"session_id": "s", "tool_name": "run_shell_command", "tool_input": {"command": "x"}}
    return _event({"hook_event_name": "AfterTool", **payload, "tool_response": response})


@pytest.mark.parametrize("name", KEPT)
def test_a_recorded_payload_is_what_it_is(recorded: Recorded, name: str) -> None:
    payload = recorded(f"gemini-cli/{name}")
    kind, tool, ok, code, said = KEPT[name]
    event = _event(payload)
    assert (event.kind, event.tool, event.ok, event.exit_code) == (kind, tool, ok, code)
    assert (event.output_text if tool else event.text) == said
    assert event.at == int(datetime.fromisoformat(payload["timestamp"]).timestamp() * 1000)


def test_every_recorded_payload_is_stated_and_no_field_is_unknown(shared: Path, recorded: Recorded) -> None:
    folder = shared / "data" / "hook-payloads" / "recorded" / "gemini-cli"
    for path in folder.glob("*.json"):
        payload = recorded(f"gemini-cli/{path.stem}")
        assert gemini.drift(payload["hook_event_name"], payload) == (), path.stem
        if path.stem not in KEPT:
            assert path.stem.startswith(("Before", "AfterModel", "PreCompress"))
            assert gemini.parse(payload["hook_event_name"], payload, NOW) is None


def test_an_edit_knows_the_file_and_its_lines(recorded: Recorded) -> None:
    edit: Any = _event(recorded("gemini-cli/AfterTool.replace")).tool_input["files"]
    assert edit == [{"path": "/home/dev/src/proj/g.txt", "old": "hello", "new": "bye", "added": 1, "removed": 1,
                     "patch": "@@ -1,1 +1,1 @@\n-hello\n+bye\n", "created": False}]  # fmt: skip
    write: Any = _event(recorded("gemini-cli/AfterTool.write_file")).tool_input["files"]
    assert (write[0]["created"], write[0]["added"], write[0]["removed"]) == (True, 1, 0)


OLDER = (
    "Command: x\nDirectory: (root)\nStdout: a\nStderr: (empty)\nError: (none)\nExit Code: 2\nSignal: (none)\n"
    "Background PIDs: (none)\nProcess Group PGID: 9"
)


@pytest.mark.parametrize(
    ("content", "display", "ok", "code", "said"),
    [
        ("Output: a\nProcess Group PGID: 7", "a", True, 0, "a"),
        ("Output: (empty)\nExit Code: 1\nProcess Group PGID: 7", "", False, 1, ""),
        ("Output: Exit Code: 3\nProcess Group PGID: 7", "Exit Code: 3", True, 0, "Exit Code: 3"),
        (OLDER, "a", False, 2, "a"),
        ("Output: (empty)\nExit Code: 1\nProcess Group PGID: 7", "Command exited with code: 1", False, 1, ""),
        (OLDER, "", False, 2, "a"),
        ("Command: x\nDirectory: (root)\nOutput: b\nExit Code: 0\nSignal: 0", "", True, 0, "b"),
        ("Command moved to background (PID: 3).", "", None, None, "Command moved to background (PID: 3)."),
        ("Output: a\nSignal: 9\nProcess Group PGID: 7", "a", False, None, "a"),
        ("Command was cancelled by user before it could complete.", "", False, None,
         "Command was cancelled by user before it could complete."),
        ("Command is running in background. PID: 3", "", None, None, "Command is running in background. PID: 3"),
        (None, None, True, 0, ""),
    ],
)  # fmt: skip
def test_a_command_says_how_it_ended(content: object, display: object, ok: object, code: object, said: str) -> None:
    event = _shell(content, display)
    assert (event.ok, event.exit_code, event.output_text) == (ok, code, said)


def test_an_error_is_a_failure() -> None:
    event = _shell("", "", error={"message": "no such tool", "type": "x"})
    assert (event.ok, event.exit_code, event.output_text) == (False, None, "no such tool")
    stopped = _shell("", "", error="[Operation Cancelled] Reason: Operation cancelled")
    assert (stopped.ok, stopped.interrupted) == (False, True)


def test_an_mcp_call_is_named_by_its_context() -> None:
    context = {"server_name": "my_notes", "tool_name": "add_note"}
    payload = {"session_id": "s", "tool_name": "mcp_my_notes_add_note", "tool_input": {"text": "x"}}
    event = _event({"hook_event_name": "AfterTool", **payload, "tool_response": {"llmContent": [{"text": "ok"}]},
                    "mcp_context": context})  # fmt: skip
    assert (event.tool, event.output_text) == ("mcp", "ok")
    assert event.tool_input == {"server": "my_notes", "tool": "add_note", "arguments": {"text": "x"}}
    assert gemini.canonical("mcp_notes_add", {})[1] == {"server": "notes", "tool": "add", "arguments": {}}


def test_events_copied_from_other_settings_are_understood() -> None:
    event = gemini.parse("UserPromptSubmit", {"session_id": "s", "prompt": "fix it"}, NOW)
    assert event is not None
    assert (event.kind, event.native, event.text) == ("prompt", "BeforeAgent", "fix it")


def test_the_history_of_the_whole_session_is_never_asked_for() -> None:
    assert set(gemini.EVENTS) == {"SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"}
    assert all(each.timeout >= 1000 for each in gemini.EVENTS.values())
