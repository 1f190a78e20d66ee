"""What a hook missed is stored at the end of the turn; what both saw is stored once, whoever came first."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from capture import hook, settle
from capture.clients import claude, codex, gemini
from capture.hook import sealed_event
from capture.storage import rows, store
from capture.transcript import missed
from capture.transcript import records as records_module
from capture.transcript.missed import catch_up
from nmem.importing.discover import find
from nmem.importing.importer import Importer

CWD = "/home/dev/src/shop"
START = 1_772_359_200_000
"""2026-03-01T10:00:00Z"""


@pytest.fixture
def db(db_path: str) -> Iterator[sqlite3.Connection]:
    connection = store.connect(db_path)
    yield connection
    connection.close()


def stamp(seconds: float) -> str:
    return f"2026-03-01T10:{int(seconds) // 60:02d}:{seconds % 60:06.3f}Z"


class Session:
    """A session of two calls, one of them failing, told by hooks and by a transcript."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "s1.jsonl"
        self.records: list[dict[str, Any]] = []

    def write(self, count: int | None = None) -> None:
        lines = [json.dumps(record) for record in self.records[:count]]
        self.path.write_text("".join(line + "\n" for line in lines), "utf-8")

    def record(self, kind: str, second: float, **more: object) -> None:
        self.records.append({"type": kind, "sessionId": "s1", "cwd": CWD, "version": "2.1.330", "isSidechain": False,
                             "uuid": f"u{len(self.records)}", "promptId": "p1", "timestamp": stamp(second), **more})  # fmt: skip  # noqa: E501


def block(kind: str, **more: object) -> dict[str, object]:
    return {
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "usage": {"input_tokens": 500},
        "content": [{"type": kind, **more}],
    }


@pytest.fixture
def session(tmp_path: Path) -> Session:
    out = Session(tmp_path)
    out.record("user", 0, message={"role": "user", "content": "Fix the total"})
    out.record("assistant", 1, message=block("thinking", thinking="Where is the tax added?"))
    out.record("assistant", 2, message=block("tool_use", id="t1", name="Read", input={"file_path": f"{CWD}/cart.py"}))
    out.record("user", 3, message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]},  # noqa: E501
               toolUseResult={"type": "text", "file": {"filePath": f"{CWD}/cart.py", "content": "x", "numLines": 1}})  # fmt: skip  # noqa: E501
    out.record("assistant", 4, message=block("tool_use", id="t2", name="Bash", input={"command": "make test"}))
    out.record("user", 9, message={"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t2", "content": "Exit code 2\nfailed", "is_error": True}]},
        toolUseResult="Error: Exit code 2\nfailed")  # fmt: skip
    out.record("attachment", 6, attachment={"type": "queued_command", "prompt": "and the discount", "commandMode": "prompt",  # noqa: E501
                                            "origin": {"kind": "human"}, "timestamp": stamp(6)})  # fmt: skip
    out.record("assistant", 12, message={**block("text", text="The tax was added twice."), "stop_reason": "end_turn"})
    return out


def hooks(session: Session) -> list[tuple[str, int, dict[str, object]]]:
    """What the same session tells through hooks, a little later than the transcript's own times."""
    base = {"session_id": "s1", "cwd": CWD, "prompt_id": "p1", "transcript_path": str(session.path)}
    return [
        ("SessionStart", 0, {**base, "source": "startup"}),
        ("UserPromptSubmit", 300, {**base, "prompt": "Fix the total"}),
        ("PostToolUse", 3_200, {**base, "tool_name": "Read", "tool_use_id": "t1", "tool_input": {"file_path": f"{CWD}/cart.py"},  # noqa: E501
                                "tool_response": {"type": "text", "file": {"filePath": f"{CWD}/cart.py", "content": "x",
                                                                           "numLines": 1}}}),
        ("UserPromptSubmit", 6_100, {**base, "prompt": "and the discount"}),
        ("PostToolUseFailure", 9_300, {**base, "tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"command": "make test"},  # noqa: E501
                                       "error": "Exit code 2\nfailed"}),
        ("Stop", 12_400, {**base, "last_assistant_message": "The tax was added twice."}),
    ]  # fmt: skip


def play(db: sqlite3.Connection, told: list[tuple[str, int, dict[str, object]]], adapter: Any = claude) -> None:
    for native, after, payload in told:
        event = adapter.parse(native, payload, START + after)
        assert event is not None
        sealed = sealed_event(event)
        assert sealed is not None
        rows.write(db, sealed)


def said(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return db.execute("SELECT kind, content FROM prompts ORDER BY at, id").fetchall()


def done(db: sqlite3.Connection) -> list[tuple[str, str, int]]:
    return db.execute(
        "SELECT obs_type, outcome, repeats FROM observations WHERE obs_type NOT LIKE 'session%' ORDER BY at, id"
    ).fetchall()


WHOLE = [("file_read", "ok", 0), ("test", "failed", 0)]


def texts(db: sqlite3.Connection) -> list[str]:
    return [content for _, content in said(db)]


SAID = ["Fix the total", "Where is the tax added?", "and the discount", "The tax was added twice."]


def test_hooks_first_then_import_is_stored_once(db: sqlite3.Connection, session: Session) -> None:
    session.write()
    play(db, hooks(session))
    Importer(db).run(find([session.path]))
    assert texts(db) == SAID
    assert done(db) == WHOLE


def test_import_first_then_hooks_is_stored_once(db: sqlite3.Connection, session: Session) -> None:
    session.write()
    Importer(db).run(find([session.path]))
    assert texts(db) == SAID
    assert ("late", "and the discount") in said(db)
    play(db, hooks(session))
    assert texts(db) == SAID
    assert done(db) == WHOLE


def test_the_end_of_a_turn_brings_what_no_hook_told(db: sqlite3.Connection, session: Session) -> None:
    session.write()
    play(db, hooks(session))
    catch_up(db, "claude", str(session.path), "s1")
    assert texts(db) == SAID
    assert done(db) == WHOLE
    assert db.execute("SELECT context_tokens, context_window, model FROM sessions").fetchone() == (
        500,
        200_000,
        "claude-sonnet-4-5",
    )
    assert db.execute("SELECT value FROM counters WHERE name = 'recovered'").fetchone() is None


def test_a_call_that_its_hook_lost_is_recovered_and_counted(db: sqlite3.Connection, session: Session) -> None:
    session.write()
    play(db, [told for told in hooks(session) if told[0] not in ("PostToolUseFailure", "Stop")])
    catch_up(db, "claude", str(session.path), "s1")
    assert done(db) == WHOLE
    assert texts(db) == SAID
    assert db.execute("SELECT value FROM counters WHERE name = 'recovered'").fetchone() == (1,)


def test_catching_up_record_by_record_is_the_same_as_at_once(db: sqlite3.Connection, session: Session) -> None:
    for count in range(1, len(session.records) + 1):
        session.write(count)
        catch_up(db, "claude", str(session.path), "s1")
    assert texts(db) == SAID
    assert done(db) == WHOLE


def test_the_history_of_a_resumed_session_is_left_to_the_import(db: sqlite3.Connection, session: Session) -> None:
    """A fork's file begins with copies of its parent's records: they are older than the session that hooks saw."""
    session.write()
    play(db, [("SessionStart", 60_000, {"session_id": "s1", "cwd": CWD, "source": "fork"})])
    catch_up(db, "claude", str(session.path), "s1")
    assert not texts(db)
    assert not done(db)
    Importer(db).run(find([session.path]))
    assert texts(db) == SAID


def test_a_subagent_s_file_is_read_with_its_session_s(db: sqlite3.Connection, session: Session) -> None:
    session.write()
    inner = session.path.with_suffix("") / "subagents" / "agent-a7.jsonl"
    inner.parent.mkdir(parents=True)
    inside = {
        "sessionId": "s1",
        "cwd": CWD,
        "isSidechain": True,
        "agentId": "a7",
        "timestamp": stamp(5),
        "promptId": "p1",
    }
    inner.write_text("".join(json.dumps({**inside, **record}) + "\n" for record in [
        {"type": "user", "message": {"role": "user", "content": "Find callers"}},
        {"type": "assistant", "message": block("thinking", thinking="Grep first")},
        {"type": "assistant", "message": {**block("text", text="Two callers."), "stop_reason": "end_turn"}},
    ]), "utf-8")  # fmt: skip
    play(db, hooks(session))
    catch_up(db, "claude", str(session.path), "s1")
    assert db.execute("SELECT kind, content FROM prompts WHERE agent_id = 'a7' ORDER BY id").fetchall() == [
        ("thinking", "Grep first"), ("subagent", "Two callers."),
    ]  # fmt: skip
    assert db.execute("SELECT context_tokens FROM sessions").fetchone() == (500,)


def test_a_large_backlog_is_read_in_parts(db: sqlite3.Connection, session: Session) -> None:
    session.write()
    for _ in session.records:
        catch_up(db, "claude", str(session.path), "s1", 1)
    assert texts(db) == SAID
    assert done(db) == WHOLE


def test_nothing_new_reads_nothing(db: sqlite3.Connection, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.write()
    catch_up(db, "claude", str(session.path), "s1")
    import capture.transcript.records as module

    monkeypatch.setattr(module, "records", None)
    catch_up(db, "claude", str(session.path), "s1")
    catch_up(db, "claude", str(session.path.parent / "gone.jsonl"), "s1")
    catch_up(db, "cursor", str(session.path), "s1")


def test_secrets_in_thinking_are_taken_out(db: sqlite3.Connection, session: Session) -> None:
    token = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d"
    session.record("assistant", 13, message=block("thinking", thinking=f"use {token} here"))
    session.write()
    catch_up(db, "claude", str(session.path), "s1")
    assert not [content for content in texts(db) if token in content]
    assert [content for content in texts(db) if "[REDACTED:" in content]


@pytest.mark.parametrize("imports_first", [False, True])
def test_a_codex_session_is_stored_once_and_learns_how_its_commands_ended(
    db: sqlite3.Connection, tmp_path: Path, imports_first: bool
) -> None:
    path = tmp_path / "rollout-2026-03-01-c1.jsonl"
    base = {"session_id": "c1", "turn_id": "r1", "cwd": CWD, "model": "gpt-5.5", "transcript_path": str(path)}
    lines = [
        ("session_meta", {"id": "c1", "cwd": CWD, "cli_version": "0.169.0"}),
        ("turn_context", {"turn_id": "r1", "cwd": CWD, "model": "gpt-5.5"}),
        ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Run the tests"}]}),  # noqa: E501
        ("event_msg", {"type": "user_message", "message": "Run the tests"}),
        ("response_item", {"type": "function_call", "name": "exec_command", "call_id": "k1",
                           "arguments": json.dumps({"cmd": "make test", "workdir": CWD})}),
        ("response_item", {"type": "function_call_output", "call_id": "k1",
                           "output": "Chunk ID: a\nWall time: 1.5 seconds\nProcess exited with code 2\nOutput:\nfailed\n"}),  # noqa: E501
        ("event_msg", {"type": "task_complete", "last_agent_message": "They fail."}),
    ]  # fmt: skip
    path.write_text("".join(
        json.dumps({"timestamp": stamp(second), "type": kind, "payload": payload}) + "\n"
        for second, (kind, payload) in enumerate(lines)
    ), "utf-8")  # fmt: skip
    told: list[tuple[str, int, dict[str, object]]] = [
        ("UserPromptSubmit", 2_100, {**base, "prompt": "Run the tests"}),
        ("PostToolUse", 5_100, {**base, "tool_name": "Bash", "tool_use_id": "k1", "tool_input": {"command": "make test"},  # noqa: E501
                                "tool_response": "failed\n"}),
        ("Stop", 6_200, {**base, "last_assistant_message": "They fail."}),
    ]  # fmt: skip
    if imports_first:
        Importer(db).run(find([path]))
        play(db, told, codex)
    else:
        play(db, told, codex)
        catch_up(db, "codex", str(path), "c1")
    assert texts(db) == ["Run the tests", "They fail."]
    assert db.execute("SELECT obs_type, outcome, exit_code FROM observations").fetchall() == [("test", "failed", 2)]


@pytest.mark.parametrize("imports_first", [False, True])
def test_every_turn_keeps_what_was_said_in_it(db: sqlite3.Connection, tmp_path: Path, imports_first: bool) -> None:
    """Three turns in a few seconds: the same request, thought and answer each time."""
    session = Session(tmp_path)
    told: list[tuple[str, int, dict[str, object]]] = []
    for number in range(3):
        at, turn = number * 3, {"promptId": f"p{number}"}
        base = {"session_id": "s1", "cwd": CWD, "prompt_id": f"p{number}", "transcript_path": str(session.path)}
        session.record("user", at, message={"role": "user", "content": "continue"}, **turn)
        session.record("assistant", at + 1, message=block("thinking", thinking="What is left?"), **turn)
        session.record("assistant", at + 2, message={**block("text", text="Done."), "stop_reason": "end_turn"}, **turn)
        told.append(("UserPromptSubmit", at * 1000 + 100, {**base, "prompt": "continue"}))
        told.append(("Stop", at * 1000 + 2_300, {**base, "last_assistant_message": "Done."}))
    session.write()
    steps = [
        lambda: play(db, told),
        lambda: Importer(db).run(find([session.path])),
        lambda: catch_up(db, "claude", str(session.path), "s1"),
    ]
    for step in [*(reversed(steps) if imports_first else steps), *steps]:
        step()
    assert texts(db) == ["continue", "What is left?", "Done."] * 3


@pytest.mark.parametrize("imports_first", [False, True])
def test_gemini_s_recorded_session_is_stored_once(
    db: sqlite3.Connection, shared: Path, tmp_path: Path, imports_first: bool
) -> None:
    folder = shared / "data" / "hook-payloads" / "recorded" / "gemini-cli"
    path = tmp_path / "session-x.jsonl"
    path.write_bytes((folder / "chats" / "session.jsonl").read_bytes())
    names = ["BeforeAgent", "AfterTool.write_file", "AfterTool.run_shell_command", "AfterTool.read_file", "AfterTool.replace",  # noqa: E501
             "AfterAgent"]  # fmt: skip

    def told() -> None:
        for name in names:
            event = gemini.parse(
                name.partition(".")[0], json.loads((folder / f"{name}.json").read_text("utf-8")), 1 << 42
            )
            assert event is not None
            sealed = sealed_event(event)
            assert sealed is not None
            rows.write(db, sealed)

    def imported() -> None:
        Importer(db).run(find([path]))

    steps = [told, imported]
    for step in reversed(steps) if imports_first else steps:
        step()
    assert texts(db) == ["do the gemini thing", "Gemini mock done."]
    assert db.execute("SELECT obs_type, outcome FROM observations ORDER BY at").fetchall() == [
        ("file_write", "ok"), ("command", "failed"), ("file_read", "ok"), ("file_edit", "ok"),
    ]  # fmt: skip


def test_the_hook_s_path_stays_light(session: Session, db_path: str) -> None:
    """Beyond what storing an event needs, reading a transcript loads no heavy module (detectors apart)."""
    session.write()
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from capture import hook\nfrom capture.storage import rows, store\n"
        "from capture.clients import claude\nfrom capture.transcript.missed import catch_up\n"
        "db = store.connect(sys.argv[2])\n"
        "said = {'session_id': 's1', 'cwd': '/', 'prompt': 'Fix the total'}\n"
        "rows.write(db, hook.sealed_event(claude.parse('UserPromptSubmit', said, 1772359200000)))\n"
        "before = set(sys.modules)\n"
        "catch_up(db, 'claude', sys.argv[3], 's1')\n"
        "print(db.execute('SELECT count(*) FROM prompts').fetchone()[0])\n"
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('capture')))"
    )
    root = str(Path(store.__file__).parents[2])
    words = [sys.executable, "-I", "-S", "-c", code, root, db_path, str(session.path)]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    stored, loaded = ran.stdout.splitlines()
    assert stored == "4"
    assert not set(loaded.split()) & {"json", "dataclasses", "typing", "pathlib", "logging", "hashlib", "datetime"}


def rows_of(db: sqlite3.Connection) -> tuple[list[Any], list[Any]]:
    return said(db), done(db)


def test_a_hook_goes_on_where_an_import_stopped(
    db: sqlite3.Connection, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = session.records
    session.records = whole[:6]
    session.write()
    Importer(db, workers=0).run(find([session.path], "claude"))
    session.records = whole
    session.write()
    begun: list[int] = []
    sound = records_module.records

    def records(path: str, offset: int, **how: Any) -> Any:
        begun.append(offset)
        return sound(path, offset, **how)

    monkeypatch.setattr(records_module, "records", records)
    assert not catch_up(db, "claude", str(session.path), "s1")
    lengths = [len(json.dumps(each)) + 1 for each in whole]
    assert begun == [sum(lengths[:6])], "what the import read is not read again"
    assert [text for _, text in said(db)].count("Fix the total") == 1
    assert "The tax was added twice." in [text for _, text in said(db)]


def test_what_a_hook_has_no_time_for_is_stored_once_by_settling(
    db: sqlite3.Connection, session: Session, db_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.write()
    play(db, hooks(session)[:1])
    with closing(store.connect(str(tmp_path / "other.db"))) as other:
        play(other, hooks(session)[:1])
        assert not catch_up(other, "claude", str(session.path), "s1")
        wanted = rows_of(other)
    monkeypatch.setattr(missed, "_SLICE", 1)
    left = [catch_up(db, "claude", str(session.path), "s1", 0.0) for _ in range(3)]
    assert left == [True, True, True], "a slice each time, however late it is"
    assert len(said(db)) < len(wanted[0])
    settle.settle(db_path)
    assert rows_of(db) == wanted
    assert not catch_up(db, "claude", str(session.path), "s1", 0.0)
    settle.settle(db_path)
    assert rows_of(db) == wanted


def test_a_stop_that_leaves_something_starts_settling(
    db_path: str, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr("capture.settle.start", lambda path, pause=1.0: started.append(path))
    monkeypatch.setattr("capture.transcript.missed.catch_up.__defaults__", (0.0,))
    monkeypatch.setattr(missed, "_SLICE", 1)
    session.write()
    with closing(store.connect(db_path)) as db:
        native, after, payload = hooks(session)[-1]
        event = claude.parse(native, payload, START + after)
        assert event is not None
        hook._afterwards(db, db_path, event, None)
    assert started == [db_path]
