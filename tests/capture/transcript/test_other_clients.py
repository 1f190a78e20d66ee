"""Codex's rollouts and Gemini's chats, as they were really written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.event import Event
from capture.transcript import reader
from capture.transcript.reading import Reader, Source, millis
from capture.transcript.records import records


def read(client: str, path: Path) -> tuple[Reader, list[Event]]:
    told = reader(Source(client, str(path)))
    events = [
        event for start, _, record in records(str(path), tail=True) if record for event in told.feed(record, start)
    ]
    return told, events + told.finish(True)


def prompts(events: list[Event]) -> list[str]:
    return [event.text for event in events if event.kind == "prompt" and event.source == "user"]


def test_the_real_rollouts_hold_what_people_typed_once(shared: Path) -> None:
    found = 0
    for path in sorted((shared / "data" / "transcripts" / "other-clients" / "codex").rglob("*.jsonl")):
        told, events = read("codex", path)
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        typed = [line for line in lines if line["payload"].get("type") == "user_message"]
        assert len(prompts(events)) == len(typed), path.name
        assert told.window == 258_400
        ids = [event.tool_use_id for event in events if event.tool_use_id]
        assert len(ids) == len(set(ids))
        found += len(typed)
    assert found == 94


def test_the_recorded_rollout(shared: Path) -> None:
    folder = shared / "data" / "hook-payloads" / "recorded" / "codex"
    told, events = read("codex", folder / "rollouts" / "exec-session.jsonl")
    hooked = json.loads((folder / "PostToolUse.Bash.json").read_text("utf-8"))
    call = next(event for event in events if event.tool_use_id == hooked["tool_use_id"])
    assert (call.session_id, call.turn_id) == (hooked["session_id"], hooked["turn_id"])
    assert call.tool_input["command"] == hooked["tool_input"]["command"]
    assert (call.output_text, call.exit_code, call.ok) == (hooked["tool_response"], 0, True)
    assert prompts(events) == ["please do the thing"]
    assert [event.text for event in events if event.kind == "turn_end"] == ["All done from codex mock."]
    assert told.tokens == 1200


def test_a_turn_that_was_broken_off_keeps_what_was_said_last(tmp_path: Path) -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I will look"}]}
    rows = [("response_item", said), ("event_msg", {"type": "turn_aborted", "reason": "interrupted"})]
    path = tmp_path / "rollout.jsonl"
    lines = [json.dumps({"timestamp": f"2026-03-01T10:00:0{at}.000Z", "type": kind, "payload": payload})
             for at, (kind, payload) in enumerate(rows)]  # fmt: skip
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    _, events = read("codex", path)
    ends = [(event.text, event.interrupted) for event in events if event.kind == "turn_end"]
    assert ends == [("I will look", False), ("", True)]
    path.write_text("".join(f"{line}\n" for line in lines).replace('"interrupted"', '"replaced"'), "utf-8")
    assert not any(event.interrupted for event in read("codex", path)[1])


def test_a_command_that_runs_on_ends_with_its_last_poll(tmp_path: Path) -> None:
    rows = [
        {"type": "function_call", "name": "exec_command", "call_id": "k1", "arguments": '{"cmd": "make test"}'},
        {"type": "function_call_output", "call_id": "k1", "output": "Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n"},  # noqa: E501
        {"type": "function_call", "name": "write_stdin", "call_id": "k2", "arguments": '{"session_id": 7, "chars": ""}'},  # noqa: E501
        {"type": "function_call_output", "call_id": "k2", "output": "Wall time: 9 seconds\nProcess exited with code 1\nOutput:\n1 failed\n"},  # noqa: E501
    ]  # fmt: skip
    path = tmp_path / "rollout-x.jsonl"
    path.write_text("".join(
        json.dumps({"timestamp": "2026-02-01T10:00:00Z", "type": "response_item", "payload": row}) + "\n" for row in rows  # noqa: E501
    ), "utf-8")  # fmt: skip
    _, events = read("codex", path)
    assert [(event.tool_use_id, event.exit_code, event.ok, event.output_text) for event in events] == [
        ("k1", 1, False, "1 failed\n")
    ]


def test_the_real_chats(shared: Path) -> None:
    folder = shared / "data" / "transcripts" / "other-clients" / "gemini-cli"
    calls = 0
    for path in sorted(folder.rglob("*.json")):
        _, events = read("gemini", path)
        chat = json.loads(path.read_text("utf-8"))
        expected = [call for message in chat["messages"] for call in message.get("toolCalls") or []]
        got = [event for event in events if event.tool_name]
        assert len(got) == len(expected)
        assert [event.ok is not False for event in got].count(True) <= [c["status"] for c in expected].count("success")
        typed = [message for message in chat["messages"] if message["type"] == "user"]
        assert len(prompts(events)) == len(typed) - sum(m["content"] == "System: Please continue." for m in typed)
        calls += len(got)
    assert calls == 159


def test_a_chat_of_lines_counts_a_replaced_message_once_and_strips_what_hooks_added(shared: Path) -> None:
    path = shared / "data" / "hook-payloads" / "recorded" / "gemini-cli" / "chats" / "session.jsonl"
    told, events = read("gemini", path)
    assert prompts(events) == ["do the gemini thing"]
    assert [event.tool_name for event in events if event.tool_name] == [
        "write_file",
        "run_shell_command",
        "read_file",
        "replace",
    ]
    assert [event.text for event in events if event.kind == "turn_end"] == ["Gemini mock done."]
    assert (told.source.cwd, told.tokens) == ("/home/dev/src/proj", 1000)


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
@given(record=st.dictionaries(
    st.sampled_from(["type", "message", "payload", "$set", "content", "toolCalls", "timestamp", "sessionId", "attachment", "thoughts"]),  # noqa: E501
    st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5),
                           st.sampled_from(["user", "assistant", "gemini", "response_item", "function_call", "message", "tool_use"])),  # noqa: E501
                 lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                     st.sampled_from(["type", "content", "role", "text", "id", "input", "messages", "name", "arguments"]), inner, max_size=4),  # noqa: E501
                 max_leaves=12),
))  # fmt: skip
def test_no_record_breaks_a_reader(client: str, record: dict[str, object]) -> None:
    told = reader(Source(client, "/t/x.jsonl", "s"))
    for event in [*told.feed(record, 0), *told.finish(True)]:
        assert isinstance(event.text, str)


@given(
    st.datetimes(
        min_value=__import__("datetime").datetime(1971, 1, 1), max_value=__import__("datetime").datetime(2199, 1, 1)
    )
)
def test_times_are_read_to_the_millisecond(moment: object) -> None:
    from datetime import UTC, datetime

    assert isinstance(moment, datetime)
    exact = moment.replace(tzinfo=UTC, microsecond=moment.microsecond // 1000 * 1000)
    text = exact.isoformat(timespec="milliseconds")
    assert millis(text) == millis(text.replace("+00:00", "Z")) == round(exact.timestamp() * 1000)


@pytest.mark.parametrize("stamp", ["", "yesterday", None, 5, "2026-02-30Txx:00:00", "2026-01-01T00:00:00+zz"])
def test_what_is_no_time_is_zero(stamp: object) -> None:
    assert millis(stamp) == 0
