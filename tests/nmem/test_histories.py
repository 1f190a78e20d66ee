"""Histories that other agents keep: the sessions of each format, what becomes of them, and nothing taken in twice."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from capture.storage import store
from nmem.commands.terminal import local
from nmem.commands.threads import day_and_time
from nmem.importing import histories
from nmem.importing.discover import every, find
from nmem.importing.importer import Importer
from nmem.share.events import moment

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AT = 1_790_000_000_000
Rows = list[tuple[object, ...]]


@pytest.fixture
def db(db_path: str) -> Iterator[sqlite3.Connection]:
    connection = store.connect(db_path)
    yield connection
    connection.close()


def opencode(folder: Path) -> Path:
    """A session and its subagent's, as rows; the prompt as `opencode run` quotes it."""
    path = folder / "opencode.db"
    db = sqlite3.connect(path)
    db.executescript(
        "CREATE TABLE session (id, parent_id, directory, version, time_updated, time_created);"
        "CREATE TABLE message (id, session_id, time_created, data);"
        "CREATE TABLE part (id, message_id, session_id, data)"
    )
    db.executemany(
        "INSERT INTO session VALUES (?, ?, '/src/shop', '1', ?, ?)",
        [("ses_1", None, AT, AT), ("ses_2", "ses_1", AT, AT)],
    )
    model: dict[str, object] = {
        "role": "assistant",
        "modelID": "m-1",
        "time": {"created": AT + 1},
        "tokens": {"input": 900, "output": 5, "cache": {"read": 100}},
    }
    told: dict[str, tuple[str, dict[str, object], list[dict[str, object]]]] = {
        "msg_1": ("ses_1", {"role": "user", "time": {"created": AT}}, [{"type": "text", "text": '"mend the cart"'}]),
        "msg_2": (
            "ses_1",
            model,
            [
                {
                    "type": "tool",
                    "tool": "bash",
                    "callID": "c1",
                    "state": {
                        "status": "completed",
                        "input": {"command": "pytest"},
                        "output": f"1 failed {SECRET}",
                        "metadata": {"exit": 1},
                        "time": {"start": AT + 2, "end": AT + 9},
                    },
                },
                {"type": "text", "text": "It fails at the total."},
            ],
        ),
        "msg_3": (
            "ses_2",
            model,
            [
                {
                    "type": "tool",
                    "tool": "read",
                    "callID": "c2",
                    "state": {
                        "status": "error",
                        "input": {"filePath": "/src/shop/no.py"},
                        "error": "no such file",
                        "time": {"start": AT + 3, "end": AT + 4},
                    },
                }
            ],
        ),
    }
    for number, (session, info, parts) in told.items():
        db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (number, session, AT, json.dumps(info)))
        for place, part in enumerate(parts):
            db.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (f"{number}p{place}", number, session, json.dumps(part)))
    db.commit()
    db.close()
    return path


def cline(folder: Path) -> Path:
    """A task: a prompt, an edit, a command with its output, a feedback."""
    diff = "<<<<<<< SEARCH\nTTL = 60\n=======\nTTL = 61\n>>>>>>> REPLACE"
    said = [
        ("task", "mend the cart"),
        ("api_req_started", json.dumps({"request": "# Current Working Directory (/src/shop) Files", "tokensIn": 700})),
        ("reasoning", "Look first."),
        ("text", "Looking."),
        ("tool", json.dumps({"tool": "editedExistingFile", "path": "cart.py", "diff": diff})),
        ("command", "pytest"),
        ("command_output", f"1 failed {SECRET}"),
        ("completion_result", "It fails at the total."),
        ("user_feedback", "then fix it"),
    ]
    path = folder / "saoudrizwan.claude-dev" / "tasks" / str(AT) / "ui_messages.json"
    path.parent.mkdir(parents=True)
    path.write_text(
        json.dumps([{"ts": AT + n, "type": "say", "say": kind, "text": text} for n, (kind, text) in enumerate(said)])
    )
    return path


def aider(folder: Path) -> Path:
    """Two sessions in one file; the model's own heading is no prompt, `/ask` is written twice."""
    path = folder / ".aider.chat.history.md"
    path.write_text(
        "\n# aider chat started at 2026-09-01 10:00:00\n\n> Aider v0.86.1  \n"
        "> Main model: m-1 with diff edit format  \n\n"
        f"#### mend the cart {SECRET}  \n\n#### Why\n\nThe total is cut.\n\ncart.py\n```python\n"
        f"<<<<<<< SEARCH\nTTL = 60\n=======\n"
        "TTL = 61\nMAX = 2\n>>>>>>> REPLACE\n```\n\n> Applied edit to cart.py  \n"
        "> Commit 1a2b3c4 fix: raise the total  \n\n"
        "#### /run pytest  \n> 1 failed  \n\n\n# aider chat started at 2026-09-02 10:00:00\n\n> Aider v0.86.1  \n\n"
        "#### /ask is it right?  \n\n####  is it right?  \n\nIt is.\n"
    )
    return path


def specstory(folder: Path) -> Path:
    """A session of Claude Code as SpecStory writes it down."""
    path = folder / ".specstory" / "history" / "2026-09-01_10-00Z-mend.md"
    path.parent.mkdir(parents=True)
    path.write_text(
        "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n"
        "<!-- Claude Code Session 11-22 (2026-09-01 10:00:00Z) -->\n\n"
        f"_**User (2026-09-01 10:00:05Z)**_\n\nmend the cart {SECRET}\n\n---\n\n"
        f"_**Agent (m-1 2026-09-01 10:00:09Z)**_\n\n"
        "<think><details><summary>Thought Process</summary>\nLook first.</details></think>\n\n"
        '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>\n<summary>Tool use: **Bash**</summary>\n\n'
        "`pytest`\n\n```text\nExit code 1\n1 failed\n```\n</details></tool-use>\n\n"
        '<tool-use data-tool-type="write" data-tool-name="Edit"><details>\n<summary>Tool use: **Edit**</summary>\n\n'
        "```text\nThe file /src/shop/cart.py has been updated.\n```\n</details></tool-use>\n\nIt fails at the total.\n"
    )
    return path


def goose(folder: Path) -> Path:
    """A session as JSON lines."""
    call = {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "pytest"}}}
    answer = {"status": "error", "error": f"1 failed {SECRET}"}
    lines = [
        {"working_dir": "/src/shop", "description": "cart"},
        {"role": "user", "created": AT // 1000, "content": [{"type": "text", "text": "mend the cart"}]},
        {
            "role": "assistant",
            "created": AT // 1000 + 1,
            "content": [{"type": "toolRequest", "id": "c1", "toolCall": call}],
        },
        {
            "role": "user",
            "created": AT // 1000 + 2,
            "content": [{"type": "toolResponse", "id": "c1", "toolResult": answer}],
        },
        {
            "role": "assistant",
            "created": AT // 1000 + 3,
            "content": [{"type": "text", "text": "It fails at the total."}],
        },
    ]
    path = folder / "20260901_1.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def cursor(folder: Path) -> Path:
    """An exported chat."""
    path = folder / "cursor_cart.md"
    path.write_text(
        f"# Cart\n_Exported on 9/14/2026 at 10:00:00 PDT from Cursor (3.1.2)_\n\n---\n\n**User**\n\n"
        f"mend the cart {SECRET}"
        "\n\n---\n\n**Cursor**\n\nIt fails at the total.\n"
    )
    return path


def qwen(folder: Path) -> Path:
    """A chat of Qwen Code."""
    call: dict[str, object] = {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "pytest"}}}
    failed: dict[str, object] = {
        "functionResponse": {"id": "c1", "response": {"error": f"Output: 1 failed {SECRET}\nExit Code: 1"}}
    }
    records: list[tuple[str, list[dict[str, object]], dict[str, object]]] = [
        ("user", [{"text": "mend the cart"}], {}),
        ("assistant", [{"text": "Look.", "thought": True}, call], {"model": "m-1"}),
        ("tool_result", [failed], {"toolCallResult": {"callId": "c1", "status": "error"}}),
        ("assistant", [{"text": "It fails at the total."}], {}),
    ]
    return _lines(
        folder / "11.jsonl",
        [
            {
                "uuid": str(n),
                "parentUuid": None,
                "sessionId": "q1",
                "cwd": "/src/shop",
                "type": kind,
                "message": {"parts": parts},
                "timestamp": f"2026-09-01T10:00:0{n}.000Z",
                **more,
            }
            for n, (kind, parts, more) in enumerate(records)
        ],
    )


def copilot(folder: Path) -> Path:
    """The events of a session of Copilot CLI."""
    told = [
        ("session.start", {"sessionId": "p1", "copilotVersion": "1.0.102", "context": {"cwd": "/src/shop"}}),
        ("user.message", {"content": "mend the cart"}),
        ("tool.execution_start", {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "pytest"}}),
        (
            "tool.execution_complete",
            {
                "toolCallId": "c1",
                "success": True,
                "shellExecution": {"exitCode": 1},
                "result": {"content": f"1 failed {SECRET}\n<shellId: 0 completed with exit code 1>"},
            },
        ),
        ("assistant.message", {"content": "It fails at the total.", "toolRequests": []}),
    ]
    return _lines(
        folder / "events.jsonl",
        [
            {"type": kind, "data": data, "timestamp": f"2026-09-01T10:00:0{n}.000Z"}
            for n, (kind, data) in enumerate(told)
        ],
    )


def _lines(path: Path, records: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


EDIT, TEST = ("file_edit", "ok", "cart.py"), ("test", "failed", None)
UNSURE = ("test", "unknown", None)
WROTE: dict[Callable[[Path], Path], Rows] = {
    opencode: [("file_read", "failed", "no.py"), TEST],
    cline: [EDIT, UNSURE],
    specstory: [TEST, ("file_edit", "ok", "/src/shop/cart.py")],
    aider: [EDIT, ("git_commit", "ok", None), TEST],
    goose: [TEST],
    cursor: [],
    qwen: [TEST],
    copilot: [TEST],
}


def _name(write: Callable[[Path], Path]) -> str:
    return str(getattr(write, "__name__", ""))


@pytest.mark.parametrize("write", WROTE, ids=lambda write: write.__name__)
def test_a_history_is_taken_in_once_and_redacted(
    write: Callable[[Path], Path], tmp_path: Path, db: sqlite3.Connection
) -> None:
    path = write(tmp_path)
    first = Importer(db).run(find([path]))
    assert not first.failed
    assert db.execute("SELECT DISTINCT client FROM sessions").fetchall() == [(_name(write),)]
    called = db.execute("SELECT obs_type, outcome, file_path FROM observations ORDER BY at, seq").fetchall()
    assert called == WROTE[write]
    asked = [text for (text,) in db.execute("SELECT content FROM prompts WHERE source = 'user' ORDER BY at")]
    assert asked[0].startswith("mend the cart")
    closings = [text for (text,) in db.execute("SELECT content FROM prompts WHERE kind = 'closing' ORDER BY at")]
    assert closings[0].startswith("It fails at the total." if write is not aider else "#### Why")
    again = Importer(db).run(find([tmp_path]))
    assert (again.prompts, again.observations, again.texts, again.unchanged) == (0, 0, 0, again.files)
    stored = "".join(
        map(
            str, [*db.execute("SELECT content FROM prompts"), *db.execute("SELECT content, metadata FROM observations")]
        )
    )
    assert SECRET not in stored
    assert first.redacted >= 1


def test_what_each_format_knows_beside(tmp_path: Path, db: sqlite3.Connection) -> None:
    for write in (opencode, cline, aider):
        write(tmp_path)
    Importer(db).run(find([tmp_path]))
    inner = db.execute("SELECT session_id, agent_id FROM observations WHERE agent_id IS NOT NULL").fetchall()
    assert inner == [("ses_1", "ses_2")], "a subagent's call is its parent's session's"
    assert dict(db.execute("SELECT id, context_tokens FROM sessions WHERE client IN ('opencode', 'cline')")) == {
        "ses_1": 1000,
        histories.own_id("cline", str(AT)): 700,
    }
    counts = db.execute(
        "SELECT lines_added, lines_removed FROM observations WHERE obs_type = 'file_edit' ORDER BY at"
    ).fetchall()
    assert sorted(counts) == [(1, 1), (2, 1)]
    asked = [
        text
        for (text,) in db.execute(
            "SELECT p.content FROM prompts p JOIN sessions s ON s.id = p.session_id"
            " WHERE s.client = 'aider' AND p.source = 'user' ORDER BY p.at"
        )
    ]
    assert [text.partition(" [")[0] for text in asked] == ["mend the cart", "/run pytest", "is it right?"]
    assert db.execute("SELECT cwd FROM sessions WHERE client = 'cline'").fetchone() == ("/src/shop",)


_CLAUDE: dict[str, object] = {
    "sessionId": "11-22",
    "uuid": "u",
    "type": "user",
    "timestamp": "2026-09-01T10:00:05Z",
    "cwd": "/src/shop",
    "message": {"role": "user", "content": "mend the cart"},
}


def test_a_copy_of_a_session_that_is_known_is_left_out(tmp_path: Path, db: sqlite3.Connection) -> None:
    Importer(db).run(find([_lines(tmp_path / "11-22.jsonl", [_CLAUDE])]))
    report = Importer(db).run(find([specstory(tmp_path)]))
    assert (report.sessions, report.unchanged) == (0, 1)


def test_a_copy_that_comes_with_its_session_is_left_out(tmp_path: Path, db: sqlite3.Connection) -> None:
    specstory(tmp_path)
    _lines(tmp_path / "11-22.jsonl", [_CLAUDE])
    report = Importer(db).run(find([tmp_path]))
    assert (report.sessions, report.prompts, report.unchanged) == (1, 1, 1)
    assert db.execute("SELECT client FROM sessions").fetchall() == [("claude",)]


def test_a_broken_history_is_said_and_the_others_are_read(tmp_path: Path, db: sqlite3.Connection) -> None:
    (tmp_path / "opencode.db").write_text("no database")
    (tmp_path / "ui_messages.json").write_text('[{"ts": 1')
    cursor(tmp_path)
    report = Importer(db).run(find([tmp_path]))
    assert (report.prompts, len(report.failed)) == (1, 2)


def test_an_odd_time_neither_ends_the_import_nor_stays(tmp_path: Path, db: sqlite3.Connection) -> None:
    path, other = cline(tmp_path), cursor(tmp_path)
    told = json.loads(path.read_text())
    told[5]["ts"], told[-1]["ts"] = (AT + 5) * 1000, 9_000_000_000_000
    path.write_text(json.dumps(told))
    report = Importer(db).run(find([path, other]))
    assert (report.failed, report.sessions) == ([], 2)
    latest = time.time() * 1000 + 86_400_000
    assert all(0 < at <= latest for (at,) in db.execute("SELECT at FROM prompts UNION SELECT at FROM observations"))
    assert db.execute("SELECT at FROM observations WHERE obs_type = 'test'").fetchone() == (AT + 5,), "microseconds"
    assert db.execute("SELECT max(started_at, last_at) <= ? FROM sessions", (latest,)).fetchone() == (1,)


def test_odd_rows_of_opencode_are_read_and_a_circle_of_parents_ends(tmp_path: Path, db: sqlite3.Connection) -> None:
    path = opencode(tmp_path)
    with sqlite3.connect(path) as rows:
        rows.execute("UPDATE session SET time_updated = 'today', directory = NULL")
        rows.execute("UPDATE session SET parent_id = 'ses_2' WHERE id = 'ses_1'")
    rows.close()
    report = Importer(db).run(find([path]))
    assert (report.failed, report.observations) == ([], 2)


def test_whatever_a_broken_history_raises_is_one_line_that_names_the_file(
    tmp_path: Path, db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Iterator[Any]:
        raise KeyError("role")
        yield

    (tmp_path / "opencode.db").write_text("no database")
    path = goose(tmp_path)
    cursor(tmp_path)
    monkeypatch.setattr(histories, "of", lambda name, of=histories.of: (
        replace(of(name), events=fails) if name == "goose" else of(name)))  # fmt: skip
    report = Importer(db).run(find([tmp_path]))
    assert report.prompts == 1
    assert sorted(line.partition(": ")[0] for line in report.failed) == [str(path), str(tmp_path / "opencode.db")]


def test_every_format_says_where_it_lies_and_on_what_it_was_tried() -> None:
    page = (Path(__file__).parents[2] / "docs" / "import.md").read_text("utf-8")
    for history in map(histories.of, histories.NAMES):
        assert set(history.clients) <= set(every())
        row = next(line for line in page.splitlines() if line.startswith(f"| {history.title} |"))
        assert (history.tried or "untried") in row and history.place in row


@pytest.mark.parametrize("shown", [day_and_time, local, moment])
def test_a_damaged_time_that_is_stored_is_shown(shown: Callable[[int], object]) -> None:
    for at in (AT * 1000, 2**62, -(2**62)):
        assert shown(at), "`nmem sessions --all` and `nmem stream` list what there is"


def test_a_pipe_among_the_files_does_not_hold_the_walk(tmp_path: Path) -> None:
    for name in ("notes.md", "20260901_2.jsonl", "ui_messages.json", ".aider.chat.history.md"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "sessions").mkdir()
    for name in ("opencode.db", "sessions/sessions.db"):
        os.mkfifo(tmp_path / name)
    cursor(tmp_path)
    code = (
        "import sys; from pathlib import Path; from nmem.importing.discover import find;"
        "print(*(each.path for each in find([Path(sys.argv[1])]) if not each.whole.error))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", code, str(tmp_path)]
    found = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True, env=env)
    assert found.stdout.split() == [str(tmp_path / "cursor_cart.md")]


def test_a_chat_of_cursor_that_is_exported_again_is_stored_once(tmp_path: Path, db: sqlite3.Connection) -> None:
    path = cursor(tmp_path)
    Importer(db).run(find([path]))
    told = path.read_text().replace("at 10:00:00", "at 18:30:00")
    more = "\n---\n\n**User**\n\nthen fix it\n\n---\n\n**Cursor**\n\nDone.\n"
    (tmp_path / "cursor_cart_2.md").write_text(told + more)
    report = Importer(db).run(find([tmp_path]))
    assert (report.sessions, report.prompts, report.texts) == (0, 1, 1)
    said = [text.partition(" [")[0] for (text,) in db.execute("SELECT content FROM prompts ORDER BY at")]
    assert said == ["mend the cart", "It fails at the total.", "then fix it", "Done."]


def test_an_answer_that_aider_still_writes_waits(tmp_path: Path, db: sqlite3.Connection) -> None:
    path = aider(tmp_path)
    whole = path.read_text()
    path.write_text(whole.replace("It is.\n", "It"))
    Importer(db).run(find([path]))
    path.write_text(whole)
    os.utime(path, (time.time() - 3_600, time.time() - 3_600))
    assert Importer(db).run(find([path])).texts == 1
    assert not Importer(db).run(find([path])).texts
    assert [text for (text,) in db.execute("SELECT content FROM prompts WHERE content LIKE 'It%'")] == ["It is."]
