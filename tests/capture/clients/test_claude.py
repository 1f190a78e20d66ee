"""Every payload recorded from Claude Code becomes the event that a person would say it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capture.clients import claude
from capture.event import Event

NOW = 2_000_000_000_000
Recorded = Callable[[str], dict[str, Any]]

# file: kind, tool, ok, exit code, what its text says
KEPT = {
    "PostCompact.manual": ("post_compact", "", None, None, "1. Primary Request: mocked summary of the session."),
    "PostToolUse.Agent.async_launched": ("tool_result", "agent", None, None, ""),
    "PostToolUse.Agent.completed": ("tool_result", "agent", True, None, "Subagent result: it is in the project dir."),
    "PostToolUse.AskUserQuestion": ("tool_result", "ask", True, None, "Which? A"),
    "PostToolUse.Bash.background": ("tool_result", "shell", None, None, ""),
    "PostToolUse.Bash.git-commit": ("tool_result", "shell", True, 0, "[master 8ecff6d] Empty two"),
    "PostToolUse.Bash.in-subagent": ("tool_result", "shell", True, 0, "/home/dev/src/proj"),
    "PostToolUse.Bash": ("tool_result", "shell", True, 0, "hello\nerr\nCLAUDE.md\na.py\nn.ipynb\nsub"),
    "PostToolUse.Bash.large-output": ("tool_result", "shell", True, 0, None),
    "PostToolUse.Edit": ("tool_result", "edit", True, None, ""),
    "PostToolUse.EnterWorktree": ("tool_result", "other", True, None, None),
    "PostToolUse.ExitWorktree": ("tool_result", "other", True, None, None),
    "PostToolUse.NotebookEdit": ("tool_result", "edit", True, None, ""),
    "PostToolUse.Read.notebook": ("tool_result", "read", True, None, ""),
    "PostToolUse.Read.text": ("tool_result", "read", True, None, "def f():\n    return 3\n"),
    "PostToolUse.SendMessage": ("tool_result", "other", True, None, None),
    "PostToolUse.Skill": ("tool_result", "skill", True, None, None),
    "PostToolUse.TaskCreate": ("tool_result", "todo", True, None, ""),
    "PostToolUse.TaskUpdate": ("tool_result", "todo", True, None, ""),
    "PostToolUse.ToolSearch": ("tool_result", "other", True, None, None),
    "PostToolUse.WebSearch": ("tool_result", "web_search", True, None, "mock: ok"),
    "PostToolUse.Write.create": ("tool_result", "write", True, None, ""),
    "PostToolUse.Write.update": ("tool_result", "write", True, None, ""),
    "PostToolUse.mcp__plugin_memoplug_memo__add_note.blocks": ("tool_result", "mcp", True, None, "noted: hello"),
    "PostToolUse.mcp__plugin_memoplug_memo__add_note.string": ("tool_result", "mcp", True, None, '{"ok":true}'),
    "PostToolUseFailure.Bash": ("tool_error", "shell", False, 3, "out\nbad"),
    "PostToolUseFailure.Read": ("tool_error", "read", False, None, None),
    "PostToolUseFailure.WebFetch": ("tool_error", "web_fetch", False, None, None),
    "PostToolUseFailure.mcp__plugin_memoplug_memo__add_note": ("tool_error", "mcp", False, None, "boom"),
    "PreCompact.manual": ("pre_compact", "", None, None, "focus on a.py"),
    "PreToolUse.Agent": ("tool_call", "agent", None, None, ""),
    "PreToolUse.AskUserQuestion": ("tool_call", "ask", None, None, ""),
    "PreToolUse.Bash.in-subagent": ("tool_call", "shell", None, None, ""),
    "PreToolUse.Bash": ("tool_call", "shell", None, None, ""),
    "PreToolUse.Edit": ("tool_call", "edit", None, None, ""),
    "PreToolUse.EnterWorktree": ("tool_call", "other", None, None, ""),
    "PreToolUse.ExitWorktree": ("tool_call", "other", None, None, ""),
    "PreToolUse.NotebookEdit": ("tool_call", "edit", None, None, ""),
    "PreToolUse.Read": ("tool_call", "read", None, None, ""),
    "PreToolUse.SendMessage": ("tool_call", "other", None, None, ""),
    "PreToolUse.Skill": ("tool_call", "skill", None, None, ""),
    "PreToolUse.TaskCreate": ("tool_call", "todo", None, None, ""),
    "PreToolUse.TaskUpdate": ("tool_call", "todo", None, None, ""),
    "PreToolUse.ToolSearch": ("tool_call", "other", None, None, ""),
    "PreToolUse.WebFetch": ("tool_call", "web_fetch", None, None, ""),
    "PreToolUse.WebSearch": ("tool_call", "web_search", None, None, ""),
    "PreToolUse.Write": ("tool_call", "write", None, None, ""),
    "PreToolUse.mcp__plugin_memoplug_memo__add_note": ("tool_call", "mcp", None, None, ""),
    "SessionEnd.clear": ("session_end", "", None, None, ""),
    "SessionEnd.other": ("session_end", "", None, None, ""),
    "SessionEnd.prompt_input_exit": ("session_end", "", None, None, ""),
    "SessionEnd.resume": ("session_end", "", None, None, ""),
    "SessionStart.clear.no-model": ("session_start", "", None, None, ""),
    "SessionStart.compact": ("session_start", "", None, None, ""),
    "SessionStart.fork.no-model": ("session_start", "", None, None, ""),
    "SessionStart.resume": ("session_start", "", None, None, ""),
    "SessionStart.resume.no-model": ("session_start", "", None, None, ""),
    "SessionStart.startup": ("session_start", "", None, None, ""),
    "SessionStart.startup.no-model": ("session_start", "", None, None, ""),
    "Notification.permission_prompt": ("status", "", None, None, ""),
    "Stop": ("turn_end", "", None, None, "After permission."),
    "Stop.with-background-tasks": ("turn_end", "", None, None, "All finished. The function now returns 3."),
    "StopFailure": ("turn_end", "", False, None, "API Error: 400 mock bad request"),
    "SubagentStop": ("subagent_end", "", None, None, "Subagent result: it is in the project dir."),
    "UserPromptSubmit": ("prompt", "", None, None, "SCENARIO:perm go"),
    "UserPromptSubmit.slash-command": ("prompt", "", None, None, "/memoplug:hi world"),
    "UserPromptSubmit.task-notification": (
        "prompt", "", None, None, 'Background command "Background sleep" completed (exit code 0)',
    ),
    "constructed/PostCompact.auto": ("post_compact", "", None, None, "…"),
    "constructed/PostToolUse.ExitPlanMode": ("tool_result", "plan", True, None, ""),
    "constructed/PostToolUse.Glob": ("tool_result", "search", True, None, "/home/u/proj/a.py"),
    "constructed/PostToolUse.Grep": ("tool_result", "search", True, None, "src/a.py\nsrc/b.py"),
    "constructed/PostToolUse.TodoWrite": ("tool_result", "todo", True, None, ""),
    "constructed/PostToolUse.WebFetch": ("tool_result", "web_fetch", True, None, "A page."),
    "constructed/PreCompact.auto": ("pre_compact", "", None, None, ""),
    "SubagentStop.compaction": ("post_compact", "", None, None, "1. Primary Request: mocked summary of the session."),
    "constructed/legacy.PostToolUse.MultiEdit": ("tool_result", "edit", True, None, ""),
}  # fmt: skip

# Events that nmem does not register.
DROPPED = {
    "ConfigChange", "CwdChanged", "DirectoryAdded", "FileChanged", "InstructionsLoaded", "MessageDisplay",
    "Notification.idle_prompt",
    "PermissionRequest", "PostModelSwitch", "PostToolBatch", "PreModelSwitch", "Setup", "SubagentStart",
    "TaskCompleted", "TaskCreated", "UserPromptExpansion", "Elicitation", "ElicitationResult", "PermissionDenied",
    "TeammateIdle", "WorktreeCreate", "WorktreeRemove",
}  # fmt: skip


def _event(payload: dict[str, Any]) -> Event:
    event = claude.parse(payload["hook_event_name"], payload, NOW)
    assert event is not None
    return event


@pytest.mark.parametrize("name", KEPT)
def test_a_recorded_payload_is_what_it_is(recorded: Recorded, name: str) -> None:
    payload = recorded(f"claude-code/{name}")
    kind, tool, ok, code, said = KEPT[name]
    event = _event(payload)
    assert (event.kind, event.tool, event.ok, event.exit_code) == (kind, tool, ok, code)
    if said is not None:
        assert (event.output_text if tool else event.text) == said
    assert event.drift == ()
    assert event.session_id == payload["session_id"]
    assert event.cwd == payload["cwd"]
    assert event.tool_use_id == payload.get("tool_use_id", "")
    assert event.turn_id == payload.get("prompt_id", "")


def test_every_recorded_payload_is_stated_and_no_field_is_unknown(shared: Path, recorded: Recorded) -> None:
    folder = shared / "data" / "hook-payloads" / "recorded" / "claude-code"
    for path in [*folder.glob("*.json"), *folder.glob("constructed/*.json")]:
        name = str(path.relative_to(folder).with_suffix(""))
        payload = recorded(f"claude-code/{name}")
        if "hook_event_name" not in payload:
            continue  # a status line's input and the environment are no hook payloads
        assert claude.drift(payload["hook_event_name"], payload) == (), name
        if name not in KEPT:
            base = name.removeprefix("constructed/")
            assert base in DROPPED or base.split(".")[0] in DROPPED, name
            assert claude.parse(payload["hook_event_name"], payload, NOW) is None, name


def test_only_the_advised_events_are_registered() -> None:
    modes = {name: (each.mode, each.timeout, each.matcher) for name, each in claude.EVENTS.items()}
    assert modes == {
        "SessionStart": ("sync", 8, None),
        "UserPromptSubmit": ("sync", 3, None),
        "PostToolUse": ("async", 20, "*"),
        "PostToolUseFailure": ("sync", 5, "*"),  # answered at once, where its fix is known
        "PreToolUse": ("sync", 3, "Bash|PowerShell|Edit|MultiEdit|Write"),
        "SubagentStop": ("async", 20, None),
        "Stop": ("sync", 5, None),
        "StopFailure": ("sync", 5, None),
        "Notification": ("async", 20, None),
        "PreCompact": ("sync", 5, None),
        "PostCompact": ("sync", 5, None),
        "SessionEnd": ("sync", 5, None),
    }


def _tool(name: str, given: object, response: object, **more: object) -> Event:
    payload = {"session_id": "s", "cwd": "/p", "tool_name": name, "tool_input": given, "tool_response": response}
    return _event({"hook_event_name": "PostToolUse", **payload, **more})


def _failure(name: str, given: object, error: str, **more: object) -> Event:
    payload = {"session_id": "s", "cwd": "/p", "tool_name": name, "tool_input": given, "error": error}
    return _event({"hook_event_name": "PostToolUseFailure", **payload, **more})


def _file(event: Event) -> dict[str, Any]:
    files: Any = event.tool_input["files"]
    assert len(files) == 1
    return dict(files[0])


def test_an_edit_counts_the_lines_of_its_patch(recorded: Recorded) -> None:
    assert _file(_event(recorded("claude-code/PostToolUse.Edit"))) == {
        "path": "/home/dev/src/proj/a.py", "old": "return 1", "new": "return 2",
        "patch": "@@\n def f():\n-    return 1\n+    return 2", "added": 1, "removed": 1, "created": False,
    }  # fmt: skip


def test_a_rewritten_file_counts_against_what_stood_there() -> None:
    response = {
        "type": "update",
        "filePath": "/p/a",
        "content": "x\nb\n",
        "structuredPatch": [],
        "originalFile": "a\nb\n",
    }
    file = _file(_tool("Write", {"file_path": "/p/a", "content": "x\nb\n"}, response))
    assert (file["added"], file["removed"], file["created"]) == (1, 1, False)


@pytest.mark.parametrize("more", [{}, {"originalFile": None}, {"originalFile": None, "userModified": False}])
def test_a_new_file_is_created_in_every_version(more: dict[str, Any]) -> None:
    response = {"type": "create", "filePath": "/p/a", "content": "a\nb", "structuredPatch": [], **more}
    file = _file(_tool("Write", {"file_path": "/p/a", "content": "a\nb"}, response))
    assert (file["added"], file["removed"], file["created"]) == (2, 0, True)


def test_several_edits_of_one_file_are_one_file() -> None:
    edits = [{"old_string": "a\nb", "new_string": "c"}, {"old_string": "d", "new_string": "e\nf"}]
    file = _file(_tool("MultiEdit", {"file_path": "/p/a", "edits": edits}, {"filePath": "/p/a", "edits": edits}))
    assert (file["old"], file["new"], file["added"], file["removed"]) == ("a\nb\nd", "c\ne\nf", 3, 3)


def test_a_deleted_cell_is_removed_lines() -> None:
    given = {"notebook_path": "/p/n.ipynb", "new_source": "", "cell_id": "1", "edit_mode": "delete"}
    response = {"edit_mode": "delete", "old_source": "a\nb", "new_source": "", "notebook_path": "/p/n.ipynb"}
    file = _file(_tool("NotebookEdit", given, response))
    assert (file["path"], file["old"], file["added"], file["removed"]) == ("/p/n.ipynb", "a\nb", 0, 2)


@pytest.mark.parametrize(
    ("error", "code", "said", "interrupted"),
    [
        ("Exit code 2\nE  assert 1 == 2", 2, "E  assert 1 == 2", False),
        ("Exit code 127", 127, "", False),
        ("Error: Exit code 128\nfatal: not a git repository", 128, "fatal: not a git repository", False),
        ("Command timed out after 2m 0.0s", None, "Command timed out after 2m 0.0s", False),
        ("[Request interrupted by user for tool use]", None, "[Request interrupted by user for tool use]", True),
        ("Exit code many\nx", None, "Exit code many\nx", False),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", None, "File has not been read yet.", False),
    ],
)
def test_a_failure_says_its_exit_code(error: str, code: int | None, said: str, interrupted: bool) -> None:
    event = _failure("Bash", {"command": "make"}, error, duration_ms=12)
    assert (event.ok, event.exit_code, event.output_text, event.interrupted) == (False, code, said, interrupted)
    assert event.duration_ms == 12


@pytest.mark.parametrize(
    ("response", "ok", "code", "said", "interrupted"),
    [
        ({"stdout": "x", "stderr": "warn", "interrupted": False, "isImage": False}, True, 0, "x\nwarn", False),
        ({"stdout": "", "stderr": "", "interrupted": True, "isImage": False}, False, None, "", True),
        ({"stdout": "x", "stderr": "boom", "is_error": True}, False, None, "x\nboom", False),
        ({"stdout": "", "stderr": "Exit code 2\nno such target"}, False, 2, "no such target", False),
        ({"stdout": "", "stderr": "", "returnCodeInterpretation": "No matches found"}, True, None, "", False),
        ({"stdout": "", "stderr": "", "backgroundTaskId": "b1", "timedOutAfterMs": 120000}, None, None, "", False),
        ({"stdout": "data:image/png;base64,iVBORw0KGgo" + "A" * 900, "isImage": True}, True, 0, "[image]", False),
        ("Error: Exit code 1\nboom", False, 1, "boom", False),
        ("plain text", True, None, "plain text", False),
        (None, True, None, "", False),
        (7, True, None, "7", False),
    ],
)
def test_a_command_in_older_versions(
    response: object, ok: bool | None, code: int | None, said: str, interrupted: bool
) -> None:
    event = _tool("Bash", {"command": "make"}, response)
    assert (event.ok, event.exit_code, event.output_text, event.interrupted) == (ok, code, said, interrupted)


def test_a_background_command_tells_its_end_when_it_is_looked_at() -> None:
    polled = {
        "shellId": "1",
        "command": "npm test",
        "status": "failed",
        "exitCode": 1,
        "stdout": "1 failed",
        "stderr": "",
    }
    event = _tool("BashOutput", {"bash_id": "1"}, polled)
    assert (event.tool, event.tool_input["command"], event.ok, event.exit_code) == ("shell", "npm test", False, 1)
    assert event.output_text == "1 failed"
    running = _tool("BashOutput", {"bash_id": "1"}, {**polled, "status": "running", "exitCode": None})
    assert (running.tool, running.ok, running.exit_code) == ("other", None, None)


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ([{"type": "text", "text": "a"}, {"type": "image", "data": "iVBORw0KGgo" + "A" * 500}], "a\n[image]"),
        ({"content": [{"type": "text", "text": "a"}], "isError": False}, "a"),
        ('{"rows":[1]}', '{"rows":[1]}'),
        ([{"type": "resource", "resource": {"uri": "file:///a", "text": "body"}}], "body"),
        ({"rows": [1], "data": "A" * 4000}, '{"rows":[1]}'),
    ],
)
def test_an_mcp_answer_in_each_of_its_shapes(response: object, said: str) -> None:
    event = _tool("mcp__notes__add_note", {"text": "x"}, response)
    assert event.tool_input == {"server": "notes", "tool": "add_note", "arguments": {"text": "x"}}
    assert event.output_text == said
    assert event.ok is True
    assert _tool("mcp__notes__add", {}, {"content": [{"type": "text", "text": "no"}], "isError": True}).ok is False


@pytest.mark.parametrize(
    ("said", "ok", "code", "output"),
    [
        ("Exited with code 0.Final output:\n\n[main 1a2b3c4] x\n", True, 0, "[main 1a2b3c4] x\n"),
        ("Exited with code 1.Final output:\n\nno changes", False, 1, "no changes"),
        ("Timed out. New output:\n\nAre you sure?", False, None, "Timed out. New output:\n\nAre you sure?"),
        ("[main 1a2b3c4] x", True, None, "[main 1a2b3c4] x"),
    ],
)
def test_a_command_in_an_editors_terminal_is_a_command(said: str, ok: bool, code: int | None, output: str) -> None:
    ran = _tool("mcp__acp__Bash", {"command": "git commit -m x"}, [{"type": "text", "text": said}])
    assert (ran.tool, ran.tool_input["command"]) == ("shell", "git commit -m x")
    assert (ran.ok, ran.exit_code, ran.output_text) == (ok, code, output)


def test_an_edit_by_an_editor_is_an_edit() -> None:
    given = {"file_path": "a.py", "old_string": "a", "new_string": "b"}
    ran = _tool("mcp__acp__Edit", given, [{"type": "text", "text": "Index: a.py"}])
    assert (ran.tool, ran.ok) == ("edit", True)


def test_a_file_that_an_editor_reads_may_say_how_a_command_ended() -> None:
    said = "Exited with code 1.Final output:\nsee the log"
    ran = _tool("mcp__acp__Read", {"file_path": "run.log"}, {"content": [{"type": "text", "text": said}]})
    assert (ran.tool, ran.ok, ran.exit_code, ran.output_text) == ("read", True, None, said)


def test_a_tool_of_another_that_has_the_editors_prefix_keeps_its_server() -> None:
    ran = _tool("mcp__acp__deploy", {"path": "/srv/pot"}, [])
    assert (ran.tool, ran.tool_input["server"], ran.tool_input["tool"]) == ("mcp", "acp", "deploy")


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ({"type": "image", "file": {"base64": "iVBORw0KGgo" + "A" * 5000, "type": "image/png"}}, "[image]"),
        ({"type": "pdf", "file": {"base64": "JVBERi0" + "A" * 5000}}, "[pdf]"),
        ({"type": "file_unchanged", "file": {"filePath": "/p/a"}}, "[file_unchanged]"),
        ({"type": "notebook", "file": {"cells": [{"source": "a = 1"}, {"source": ["b", "c"]}]}}, "a = 1\nb\nc"),
    ],
)
def test_pictures_and_documents_are_not_text(response: object, said: str) -> None:
    assert _tool("Read", {"file_path": "/p/a"}, response).output_text == said


@pytest.mark.parametrize(
    ("name", "given", "tool", "expected"),
    [
        ("Task", {"description": "d", "prompt": "p", "subagent_type": "x"}, "agent",
         {"description": "d", "prompt": "p", "subagent_type": "x", "background": False}),
        ("LS", {"path": "/p"}, "search", {"pattern": "", "path": "/p", "glob": ""}),
        ("Grep", {"pattern": "x", "glob": "*.py"}, "search", {"pattern": "x", "path": "", "glob": "*.py"}),
        ("PowerShell", {"command": "dir", "run_in_background": True}, "shell",
         {"command": "dir", "description": "", "background": True, "cwd": ""}),
        ("SlashCommand", {"command": "/deploy to prod"}, "skill", {"skill": "deploy", "args": "to prod"}),
        ("TodoWrite", {"todos": [{"content": "a", "status": "completed"}]}, "todo",
         {"items": [{"content": "a", "status": "completed"}]}),
        ("ReadMcpResourceTool", {"server": "s", "uri": "u"}, "mcp",
         {"server": "s", "tool": "resource", "arguments": {"server": "s", "uri": "u"}}),
        ("KillShell", {"shell_id": "1"}, "other", {"shell_id": "1"}),
        ("Read", {"file_path": "/a", "offset": 3, "limit": "many"}, "read", {"path": "/a", "offset": 3, "limit": None}),
    ],
)  # fmt: skip
def test_tools_under_their_old_and_new_names(name: str, given: object, tool: str, expected: object) -> None:
    assert claude.canonical(name, given) == (tool, expected)


def test_answers_stand_beside_their_questions() -> None:
    questions = [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}], "multiSelect": True}]
    event = _tool("AskUserQuestion", {"questions": questions}, {"questions": questions, "answers": {"Which?": "A, B"}})
    assert event.tool_input == {"questions": [{"question": "Which?", "options": ["A", "B"], "answer": "A, B"}]}


def test_fields_that_nobody_knows_are_told() -> None:
    event = _tool("Bash", {"command": "x"}, {"stdout": "", "colour": 1}, zebra=1, apple=2)
    assert event.drift == ("apple", "zebra", "tool_response.colour")


def test_a_session_of_another_model_and_size() -> None:
    payload = {
        "session_id": "s",
        "hook_event_name": "SessionStart",
        "source": "resume",
        "model": "m",
        "context_tokens": 5,
    }
    event = _event(payload)
    assert (event.source, event.model, event.context_tokens, event.at) == ("resume", "m", 5, NOW)


@pytest.mark.parametrize("payload", [None, [], "x", 3, {}, {"session_id": ""}, {"session_id": 7}])
def test_a_payload_without_a_session_is_nothing(payload: object) -> None:
    assert claude.parse("Stop", payload, NOW) is None


def test_an_error_of_a_turn_is_told_with_its_reason() -> None:
    payload = {"session_id": "s", "error": "rate_limit", "error_details": "try later", "last_assistant_message": "x"}
    event = claude.parse("StopFailure", payload, NOW)
    assert event is not None
    assert (event.ok, event.reason, event.output_text, event.text) == (False, "rate_limit", "try later", "x")
