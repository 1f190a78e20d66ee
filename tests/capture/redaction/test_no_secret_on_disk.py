"""Every kind of secret goes through every field of every event of the clients' hooks; none of them reaches the disk."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from capture import hook, paths
from tests.capture.redaction.conftest import FRAMES, SHAPES

ENTRY = paths.entry()
KEPT = frozenset(("hook_event_name", "type", "tool_name", "toolName", "permission_mode"))
"""Fields that choose what is done with the rest; they are planted in a round of their own."""

EVENTS: list[tuple[str, str, dict[str, object]]] = [
    ("claude", "SessionStart", {"source": "startup", "model": "m"}),
    ("claude", "UserPromptSubmit", {"prompt": "fix the build", "prompt_id": "p"}),
    ("claude", "PostToolUse", {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"},
                               "tool_response": {"stdout": "out", "stderr": "err", "interrupted": False}}),
    ("claude", "PostToolUse", {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "git commit -m 'm'"},
                               "tool_response": {"stdout": "[main 1a2b3c4] message\n 1 file changed, 2 insertions(+)",
                                                 "stderr": "", "interrupted": False}}),
    ("claude", "PostToolUse", {"tool_name": "Read", "tool_use_id": "t", "tool_input": {"file_path": "/srv/p/a.py"},
                               "tool_response": {"type": "text", "file": {"filePath": "/srv/p/a.py", "content": "x = 1",
                                                                           "numLines": 1, "startLine": 1}}}),
    ("claude", "PostToolUse", {"tool_name": "Edit", "tool_use_id": "t",
                               "tool_input": {"file_path": "/srv/p/a.py", "old_string": "a", "new_string": "b"},
                               "tool_response": {"filePath": "/srv/p/a.py", "oldString": "a", "newString": "b",
                                                 "structuredPatch": [{"lines": ["-a", "+b"]}]}}),
    ("claude", "PostToolUse", {"tool_name": "Write", "tool_use_id": "t",
                               "tool_input": {"file_path": "/srv/p/b.py", "content": "x = 2"},
                               "tool_response": {"type": "create", "filePath": "/srv/p/b.py", "content": "x = 2"}}),
    ("claude", "PostToolUse", {"tool_name": "Grep", "tool_use_id": "t", "tool_input": {"pattern": "x", "path": "src"},
                               "tool_response": {"mode": "content", "content": "a.py:1:x", "filenames": ["a.py"]}}),
    ("claude", "PostToolUse", {"tool_name": "WebFetch", "tool_use_id": "t",
                               "tool_input": {"url": "https://example.org/a", "prompt": "what is it"},
                               "tool_response": {"result": "a page", "url": "https://example.org/a"}}),
    ("claude", "PostToolUse", {"tool_name": "WebSearch", "tool_use_id": "t", "tool_input": {"query": "x"},
                               "tool_response": {"query": "x", "results": ["a"]}}),
    ("claude", "PostToolUse", {"tool_name": "Agent", "tool_use_id": "t",
                               "tool_input": {"description": "d", "prompt": "look", "subagent_type": "explore"},
                               "tool_response": {"content": [{"type": "text", "text": "found"}]}}),
    ("claude", "PostToolUse", {"tool_name": "TodoWrite", "tool_use_id": "t",
                               "tool_input": {"todos": [{"content": "c", "status": "pending"}]}, "tool_response": {}}),
    ("claude", "PostToolUse", {"tool_name": "AskUserQuestion", "tool_use_id": "t",
                               "tool_input": {"questions": [{"question": "which", "options": [{"label": "one"}]}]},
                               "tool_response": {"answers": {"which": "one"}}}),
    ("claude", "PostToolUse", {"tool_name": "ExitPlanMode", "tool_use_id": "t", "tool_input": {"plan": "first"},
                               "tool_response": {"plan": "first"}}),
    ("claude", "PostToolUse", {"tool_name": "mcp__server__tool", "tool_use_id": "t", "tool_input": {"a": {"b": ["c"]}},
                               "tool_response": [{"type": "text", "text": "d"}]}),
    ("claude", "PostToolUseFailure", {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"},
                                      "error": "Exit code 2\nbad", "is_interrupt": False}),
    ("claude", "Stop", {"last_assistant_message": "done", "stop_hook_active": False}),
    ("claude", "SubagentStop", {"agent_id": "a", "agent_type": "explore", "last_assistant_message": "done"}),
    ("claude", "PreCompact", {"trigger": "manual", "custom_instructions": "keep"}),
    ("claude", "PostCompact", {"trigger": "auto", "compact_summary": "what was done"}),
    ("claude", "SessionEnd", {"reason": "other"}),
    ("codex", "UserPromptSubmit", {"prompt": "fix", "turn_id": "u"}),
    ("codex", "PostToolUse", {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"},
                              "tool_response": "Exit code: 0\nout"}),
    ("gemini", "BeforeAgent", {"prompt": "fix"}),
    ("gemini", "AfterTool", {"tool_name": "run_shell_command", "tool_input": {"command": "make"},
                             "tool_response": {"llmContent": "out", "returnDisplay": "out"}}),
]  # fmt: skip


def plant(value: object, tokens: Iterator[str], name: str = "", *, whole: bool = False) -> object:
    """The same payload with a token in each string of it, keys of unknown objects left as they are."""
    if isinstance(value, dict):
        return {key: plant(item, tokens, key, whole=whole) for key, item in value.items()}
    if isinstance(value, list):
        return [plant(item, tokens, name, whole=whole) for item in value]
    if not isinstance(value, str) or (name in KEPT and not whole):
        return value
    token = next(tokens)
    return token if whole else f"{value}/{token}" if value.startswith("/") else f"{value} {token}"


def payloads(planted: dict[str, str], folder: Path, *, ids: bool = False) -> list[tuple[str, str, dict[str, object]]]:
    """Every event in two forms: a token beside each string, and a token instead of it."""
    tokens = itertools.cycle(planted.values())
    made: list[tuple[str, str, dict[str, object]]] = []
    for whole in (False, True):
        for client, native, own in EVENTS:
            base = {"session_id": "s", "cwd": str(folder), "transcript_path": "/srv/t.jsonl", "version": "1.2.3",
                    "permission_mode": "default", "unknown_field": "u", **own}  # fmt: skip
            planted_one = plant(base, tokens, whole=whole)
            assert isinstance(planted_one, dict)
            if not ids:
                planted_one["session_id"] = "s"
            made.append((client, native, {**planted_one, "hook_event_name": native, next(tokens): "key"}))
    return made


def feed(events: list[tuple[str, str, dict[str, object]]], db: str) -> None:
    """Run one hook an event, a few at a time."""

    def one(event: tuple[str, str, dict[str, object]]) -> int:
        client, native, payload = event
        words = [sys.executable, "-I", "-S", ENTRY, client, native, "--db", db]
        done = subprocess.run(
            words, input=json.dumps(payload).encode(), capture_output=True, env=os.environ, timeout=300
        )
        assert done.stdout == b""
        return done.returncode

    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(one, events)) == {0}


def left(folder: Path, planted: dict[str, str]) -> list[tuple[str, str]]:
    """(file, kind) of every token in any file of the database's folder."""
    return [
        (file.name, kind)
        for file in folder.rglob("*")
        if file.is_file()
        for kind, token in planted.items()
        if token.encode() in file.read_bytes()
    ]


@pytest.mark.slow
def test_nothing_that_was_planted_or_that_a_frame_gives_away_is_on_the_disk(
    planted: dict[str, str], framed: dict[str, tuple[str, str]], db_path: str, tmp_path: Path
) -> None:
    events = payloads({**planted, **{f"framed {kind}": text for kind, (text, _) in framed.items()}}, tmp_path)
    given = json.dumps(events)
    secrets = {**planted, **{f"framed {kind}": secret for kind, (_, secret) in framed.items()}}
    assert all(json.dumps(text)[1:-1] in given for text in planted.values()), "each has its place"
    assert all(json.dumps(text)[1:-1] in given for text, _ in framed.values()), "each has its place"
    feed(events, db_path)
    db = sqlite3.connect(db_path)
    try:
        assert db.execute("SELECT count(*) FROM observations").fetchone()[0] > 20
        assert db.execute("SELECT count(*) FROM prompts").fetchone()[0] > 4
        assert db.execute("SELECT sum(count) FROM redactions").fetchone()[0] > 100
        assert left(Path(db_path).parent, secrets) == []
    finally:
        db.close()
    assert left(Path(db_path).parent, secrets) == []


@pytest.mark.parametrize("kind", [*SHAPES, *FRAMES])
def test_every_kind_is_found_in_every_field(framed: dict[str, tuple[str, str]], kind: str, tmp_path: Path) -> None:
    """The way of a payload through a hook up to the store, in this process: a kind beside and instead of each text."""
    text, secret = framed[kind]
    halves = {json.dumps(half)[1:-1] for half in (secret[: len(secret) // 2], secret[len(secret) // 2 :])}
    kept: list[tuple[str, str]] = []
    for client, native, payload in payloads({kind: text}, tmp_path, ids=True):
        event = hook._parsed(client, native, payload, 1_700_000_000_000)
        sealed = hook.sealed_event(event)
        stored = json.dumps([sealed.to_dict() if sealed else {}, hook._shape(client, payload, event, sealed)])
        kept += [(f"{client} {native}", half) for half in halves if half in stored]
    assert kept == []


@pytest.mark.slow
def test_nothing_that_was_planted_is_in_the_spool(planted: dict[str, str], db_path: str, tmp_path: Path) -> None:
    feed(payloads(planted, tmp_path)[:1], db_path)
    db = sqlite3.connect(db_path, isolation_level=None)
    try:
        db.execute("BEGIN EXCLUSIVE")
        feed(payloads(planted, tmp_path)[1:12], db_path)
        assert any((Path(db_path).parent / "spool").iterdir())
        assert left(Path(db_path).parent, planted) == []
    finally:
        db.execute("ROLLBACK")
        db.close()


@pytest.mark.slow
def test_what_a_transcript_holds_is_redacted_as_well(planted: dict[str, str], db_path: str, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    lines = []
    for number, token in enumerate(planted.values()):
        base = {
            "sessionId": "s",
            "cwd": str(tmp_path),
            "version": "2.0.0",
            "timestamp": f"2026-01-01T00:00:{number:02}.000Z",
        }
        thought = {"type": "thinking", "thinking": f"I see {token}"}
        said = {"role": "assistant", "id": f"m{number}", "content": [thought]}
        lines.append({**base, "type": "assistant", "uuid": f"a{number}", "message": said})
        lines.append({**base, "type": "user", "uuid": f"u{number}", "promptId": f"p{number}",
                      "message": {"role": "user", "content": f"use {token}"}})  # fmt: skip
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    base = {"session_id": "s", "cwd": str(tmp_path), "transcript_path": str(transcript)}
    feed([("claude", "UserPromptSubmit", {**base, "hook_event_name": "UserPromptSubmit", "prompt": "go on"}),
          ("claude", "Stop", {**base, "hook_event_name": "Stop", "last_assistant_message": "done"}),
          ("claude", "SessionEnd", {**base, "hook_event_name": "SessionEnd", "reason": "other"})], db_path)  # fmt: skip
    assert left(Path(db_path).parent, planted) == []


@pytest.mark.slow
def test_not_even_a_session_id_carries_a_secret(planted: dict[str, str], db_path: str, tmp_path: Path) -> None:
    feed(payloads(planted, tmp_path, ids=True)[:4], db_path)
    assert left(Path(db_path).parent, planted) == []
