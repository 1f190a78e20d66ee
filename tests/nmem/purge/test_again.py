"""What was purged is not taken in again, by whatever way it is told once more; until the purge is undone."""

from __future__ import annotations

import json
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from capture.storage import sqlite, store
from nmem.commands.main import nmem
from nmem.purge import run
from nmem.purge.selection import Selection
from nmem.undo import undo
from tests.nmem.purge.conftest import hook

NOW = time.time_ns() // 1_000_000
WORD = "walruspassphrase"


def line(number: int, kind: str, content: object, **fields: object) -> str:
    stamp = datetime.fromtimestamp(time.time() - 8 + number, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return json.dumps({
        "type": kind, "uuid": f"u{number}", "sessionId": "w1", "cwd": "/src/shop", "timestamp": stamp,
        "message": {"role": kind, "content": content}, **fields,
    }) + "\n"  # fmt: skip


def transcript(folder: Path, more: str = "") -> Path:
    """A session as its client writes it down: the word in a prompt, a command, its answer, and what the agent said."""
    file = folder / "w1.jsonl"
    used = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": f"deploy {WORD}"}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": f"ok {WORD}"}
    file.write_text(
        line(1, "user", f"deploy with {WORD}", promptId="p1") + line(2, "assistant", [used])
        + line(3, "user", [answer], toolUseResult={"stdout": f"ok {WORD}", "stderr": ""})
        + line(4, "assistant", [{"type": "text", "text": f"Deployed with {WORD}."}])
        + line(5, "user", "now write the readme", promptId="p2")
        + line(6, "assistant", [{"type": "text", "text": "The readme is written."}]) + more
    )  # fmt: skip
    return file


def imported(path: Path) -> str:
    done = CliRunner().invoke(nmem, ["import", str(path), "--client", "claude"])
    assert done.exit_code == 0, done.output
    return done.output


def said(db_path: str) -> list[str]:
    with closing(sqlite.connect(db_path)) as db:
        rows = db.execute("SELECT content FROM prompts UNION ALL SELECT content FROM observations").fetchall()
    return [row[0] for row in rows]


@pytest.mark.parametrize("by", ["hooks", "import"])
def test_an_import_does_not_bring_it_back(by: str, db_path: str, tmp_path: Path) -> None:
    file = transcript(tmp_path)
    if by == "import":
        imported(file)
    else:
        own = {"session_id": "w1", "cwd": "/src/shop"}
        hook(db_path, "UserPromptSubmit", prompt=f"deploy with {WORD}", prompt_id="p1", **own)
        answer = {"stdout": f"ok {WORD}", "stderr": ""}
        hook(db_path, "PostToolUse", tool_name="Bash", tool_use_id="toolu_1",
             tool_input={"command": f"deploy {WORD}"}, tool_response=answer, **own)  # fmt: skip
        hook(db_path, "Stop", last_assistant_message=f"Deployed with {WORD}.", **own)
    assert any(WORD in text for text in said(db_path))
    run.purge(db_path, Selection(texts=(WORD,)), NOW, window=0)
    (tmp_path / "copy").mkdir()
    copied = transcript(tmp_path / "copy", line(7, "user", "and now the changelog", promptId="p3"))
    for path in (file, copied):
        imported(path)
        assert not any(WORD in text for text in said(db_path))
    assert "and now the changelog" in said(db_path)


def test_a_whole_session_stays_gone_and_leaves_no_empty_one(db_path: str, tmp_path: Path) -> None:
    file = transcript(tmp_path)
    imported(file)
    run.purge(db_path, Selection(sessions=("w1",)), NOW, window=0)
    (tmp_path / "copy").mkdir()
    imported(transcript(tmp_path / "copy"))
    with closing(sqlite.connect(db_path)) as db:
        assert db.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    assert said(db_path) == []


def test_an_undo_brings_it_back_and_it_is_heard_again(db_path: str, tmp_path: Path) -> None:
    imported(transcript(tmp_path))
    before = sorted(said(db_path))
    run.purge(db_path, Selection(texts=(WORD,)), NOW)
    with closing(store.connect(db_path, timeout=5)) as db:
        undo(db, NOW)
        assert db.execute("SELECT count(*) FROM purged_keys").fetchone() == (0,)
    assert sorted(said(db_path)) == before


def test_what_stays_of_it_elsewhere_is_said_and_is_not_clean(db_path: str, tmp_path: Path) -> None:
    file = transcript(tmp_path)
    imported(file)
    assert CliRunner().invoke(nmem, ["backup"]).exit_code == 0
    done = CliRunner().invoke(nmem, ["purge", "--text", WORD, "--yes"])
    assert done.exit_code == 0, done.output
    assert "a backup still contains it: " in done.output and "--backups deletes these" in done.output
    assert f"the client's own file stays: {file}" in done.output
    assert CliRunner().invoke(nmem, ["undo"]).exit_code == 0
    told = json.loads(CliRunner().invoke(nmem, ["purge", "--text", WORD, "--yes", "--json"]).stdout)
    assert told["clean"] is False and len(told["stays"]) == 1
    assert CliRunner().invoke(nmem, ["undo"]).exit_code == 0
    told = json.loads(CliRunner().invoke(nmem, ["purge", "--text", WORD, "--yes", "--json", "--backups"]).stdout)
    assert told["clean"] is True and told["stays"] == []
