"""A hook as its client runs it: one event in, rows out."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capture.settle import OFF
from nmem.settle import running

Payload = Callable[..., dict[str, object]]
Hook = Callable[..., Any]
Rows = Callable[[str], list[Any]]


def log(db_path: str) -> str:
    path = Path(db_path).parent / "nmem.log"
    return path.read_text() if path.exists() else ""


def test_a_session_from_start_to_end(hook: Hook, bash: Payload, rows: Rows, db_path: str) -> None:
    base = {"session_id": "s-1", "cwd": "/srv/none/such", "prompt_id": "p-1"}
    hook({**base, "source": "startup"}, "SessionStart")
    hook({**base, "prompt": "make it faster"}, "UserPromptSubmit")
    hook(bash(1, "make all", prompt_id="p-1"))
    hook({**base, "tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_use_id": "toolu_2",
          "error": "Exit code 2\nno rule"}, "PostToolUseFailure")  # fmt: skip
    hook({**base, "last_assistant_message": "It is faster now."}, "Stop")
    assert rows("SELECT state FROM sessions") == ["idle"]
    hook({**base, "reason": "exit"}, "SessionEnd")
    assert rows("SELECT state, end_reason FROM sessions") == [("ended", "exit")]
    assert rows("SELECT source, content FROM prompts ORDER BY id") == [
        ("user", "make it faster"), ("agent", "It is faster now."),
    ]  # fmt: skip
    assert rows("SELECT content, outcome, exit_code, prompt_id FROM observations WHERE tool_name = 'Bash'") == [
        ("make all", "ok", 0, 1), ("make test", "failed", 2, 1),
    ]  # fmt: skip
    assert rows("SELECT event, result FROM hook_runs ORDER BY id") == [
        (event, "stored")
        for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd")
    ]
    assert log(db_path) == ""


def test_an_event_registered_twice_is_stored_once(hook: Hook, bash: Payload, rows: Rows) -> None:
    hook(bash())
    hook(bash())
    assert rows("SELECT count(*) FROM observations") == [1]
    assert rows("SELECT result FROM hook_runs") == ["stored", "duplicate"]


def test_the_database_may_be_named_by_the_environment(command: Callable[..., list[str]], bash: Payload,
                                                       rows: Rows) -> None:  # fmt: skip
    subprocess.run(command()[:-2], input=json.dumps(bash()).encode(), check=True, timeout=300)
    assert rows("SELECT count(*) FROM observations") == [1]


def test_our_own_clients_are_not_recorded(hook: Hook, bash: Payload, db_path: str,
                                          monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("NMEM_SKIP_HOOKS", "1")
    hook(bash())
    assert not Path(db_path).exists()


def test_the_object_is_taken_before_the_input_ends(command: Callable[..., list[str]], bash: Payload,
                                                    rows: Rows, db_path: str) -> None:  # fmt: skip
    for _ in range(5):  # where this process stands still between the parts, the hook rightly gives up
        before = log(db_path)
        with subprocess.Popen(command(), stdin=subprocess.PIPE) as child:
            assert child.stdin
            text = json.dumps(bash()).encode()
            for part in (text[:50], text[50:]):
                child.stdin.write(part)
                child.stdin.flush()
                time.sleep(0.05)
            assert child.wait(300) == 0
        if log(db_path) == before:
            break
    assert log(db_path) == before
    assert rows("SELECT content FROM observations") == ["make all"]


def test_input_that_never_ends_is_left(command: Callable[..., list[str]], db_path: str) -> None:
    with subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin
        child.stdin.write(b'{"session_id": "s", "cwd"')
        child.stdin.flush()
        assert child.wait(60) == 0
        assert child.stdout
        assert child.stdout.read() == b""
    assert "claude PostToolUse: input did not end in time" in log(db_path)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "input is empty"), (b"\xff\xfe nonsense", "input was cut short"), (b"[1, 2]", "not a JSON object"),
        (b'{"session_id": "s", "tool_in', "input was cut short"), (b"null", "not a JSON object"),
    ],
)  # fmt: skip
def test_what_is_no_event_is_noted(hook: Hook, raw: bytes, message: str, db_path: str) -> None:
    hook(raw)
    assert message in log(db_path)


def test_unknown_events_and_clients_are_noted(hook: Hook, bash: Payload, db_path: str, rows: Rows) -> None:
    hook(bash(), "PostToolFuture")
    assert "claude PostToolFuture: unknown event" in log(db_path)
    assert rows("SELECT event, result FROM hook_runs") == [("PostToolFuture", "dropped")]
    hook(bash(), client="nobody\x1b[31m")
    assert "(an odd name) PostToolUse: unknown client" in log(db_path)
    assert rows("SELECT count(*) FROM observations") == [0]


def test_invalid_text_is_replaced(hook: Hook, bash: Payload, rows: Rows) -> None:
    hook(json.dumps(bash(1, "echo MARK")).encode().replace(b"MARK", b"\xff\xfe"))
    hook(json.dumps(bash(2, "echo MARK")).encode().replace(b"MARK", b"\\ud800"))
    assert rows("SELECT content FROM observations") == ["echo \ufffd\ufffd", "echo \ufffd"]


def test_a_cut_payload_keeps_what_is_there(hook: Hook, bash: Payload, rows: Rows, db_path: str) -> None:
    text = json.dumps(bash(1, "make all"))
    hook(text[: text.index("done") + 2].encode())
    assert rows("SELECT content, session_id FROM observations") == [("make all", "s-1")]
    assert "input was cut short" in log(db_path)


FEED = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
child.stdin.write(b'{"session_id":"s-1","cwd":"/srv/none/such","tool_name":"Bash",')
child.stdin.write(b'"tool_input":{"command":"pytest -q"},"tool_response":{"stdout":"')
for _ in range(2500):
    child.stdin.write(b"one line of very many\\\\n" * 1000)
child.stdin.write(b'2 failed, 7 passed in 1.2s","stderr":"","interrupted":false},"tool_use_id":"toolu_7"}')
child.stdin.close()
_, status, usage = os.wait4(child.pid, 0)
print(status, usage.ru_maxrss)
"""


def test_fifty_megabytes_are_drained_in_bounded_memory(command: Callable[..., list[str]], rows: Rows) -> None:
    # a process of its own feeds the hook: what a child is charged for begins with its parent's size
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", FEED, *command()], capture_output=True, timeout=300, check=True
    )
    status, kilobytes = map(int, done.stdout.split())
    assert status == 0
    assert kilobytes < 25_000
    assert rows("SELECT content, tool_use_id, obs_type FROM observations") == [("pytest -q", "toolu_7", "test")]
    assert rows("SELECT sum(length(content) + length(metadata)) < 20000 FROM observations") == [1]
    assert "2 failed" in rows("SELECT metadata FROM observations")[0]
    assert rows("SELECT bytes > 50000000 FROM hook_runs") == [1]


def test_images_are_not_stored(hook: Hook, bash: Payload, rows: Rows) -> None:
    image = {"type": "image", "file": {"base64": "iVBORw0KGgo" + "QUJD" * 100_000, "type": "image/png"}}
    given = bash(3, tool_name="Read", tool_input={"file_path": "/srv/none/such/a.png"}, tool_response=image)
    hook(given)
    assert rows("SELECT file_path, tool_use_id FROM observations") == [("a.png", "toolu_3")]
    assert rows("SELECT instr(content || coalesce(metadata, ''), 'QUJDQUJD') FROM observations") == [0]


def test_settling_follows_the_end_of_a_session(
    hook: Hook, bash: Payload, rows: Rows, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(OFF)
    hook(bash())
    wal = Path(db_path + "-wal")
    assert wal.stat().st_size > 0
    hook({"session_id": "s-1", "cwd": "/srv/none/such", "reason": "exit"}, "SessionEnd")

    def left() -> int:
        """Bytes of it; it may go while one looks."""
        try:
            return wal.stat().st_size
        except FileNotFoundError:
            return 0

    until = time.monotonic() + 300
    while left() and time.monotonic() < until:
        time.sleep(0.02)
    assert not left()
    while running(db_path):
        time.sleep(0.02)  # it has gone before the folder goes
    assert rows("SELECT count(*) FROM observations WHERE tool_name = 'Bash'") == [1]
    assert log(db_path) == ""


def test_a_tool_call_starts_no_other_process(
    bash: Payload, hook: Hook, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(OFF)
    for number in range(5):
        hook(bash(number))
    assert not (Path(db_path).parent / "settle.lock").exists()


def test_the_end_of_a_turn_brings_what_the_transcript_alone_knows(
    hook: Hook, rows: Rows, tmp_path: Path, db_path: str
) -> None:
    transcript = tmp_path / "s-1.jsonl"
    base = {"session_id": "s-1", "cwd": "/srv/none/such", "transcript_path": str(transcript), "prompt_id": "p-1"}
    hook({**base, "prompt": "why is it slow?"}, "UserPromptSubmit")
    thought = {"type": "thinking", "thinking": "The cache is cold."}
    said = {"role": "assistant", "id": "msg_1", "model": "m", "content": [thought],
            "usage": {"input_tokens": 900, "output_tokens": 5}}  # fmt: skip
    record = {"type": "assistant", "sessionId": "s-1", "cwd": "/srv/none/such", "uuid": "u1", "message": said,
              "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())}  # fmt: skip
    transcript.write_text(json.dumps(record) + "\n")
    hook({**base, "last_assistant_message": "The cache."}, "Stop")
    hook({**base, "last_assistant_message": "The cache."}, "Stop")
    assert sorted(rows("SELECT source, kind, content FROM prompts")) == [
        ("agent", "closing", "The cache."), ("agent", "thinking", "The cache is cold."),
        ("user", "prompt", "why is it slow?"),
    ]  # fmt: skip
    assert rows("SELECT context_tokens > 0 FROM sessions") == [1]
    assert log(db_path) == ""
