"""An agent asks the memory: the real client, its model played by a script, and the server that init registered."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nmem.mcp.registration import plugin
from tests.clients.conftest import CACHE
from tests.clients.test_real_action import LINE
from tests.clients.test_real_context import connect, requests

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]


def results(sent: list[str]) -> list[str]:
    """What tools answered, as the model was sent it, in order."""
    out: dict[str, str] = {}
    for line in sent:
        for message in json.loads(line)["body"].get("messages", []):
            for block in message["content"] if isinstance(message["content"], list) else []:
                if block.get("type") == "tool_result":
                    out.setdefault(block["tool_use_id"], text_of(block["content"]))
    return list(out.values())


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def test_claude_code_is_told_that_it_can_ask_and_searches_what_an_earlier_session_did(
    stage: Stage, tmp_path: Path
) -> None:
    connect(stage, "claude", "", tools=True)
    assert not any(LINE in request for request in requests(stage, "claude", "asks-memory-one"))
    stage.nmem("settle")
    sent = requests(stage, "claude", "asks-memory-two")
    told_that_it_can_ask_once(stage, sent)
    told = "\n".join(sent)
    assert "- nmem: What earlier coding sessions in this project did" in told, "the skill is not offered"
    assert "Memory of past sessions" in told, "the server's instructions did not arrive"
    answers = [json.loads(text) for text in results(sent) if text.startswith("{")]
    found, record, marked = answers
    first = next(hit for hit in found["hits"] if hit["what"] == "prompt")
    assert first["id"] == "prompt/1" and "warehouse report times out" in first["text"]
    assert record["found"][0]["done"][1]["failed"] == "exit 2"
    assert (stage.project / "notes.md").read_text().endswith(f"({first['id']}).\n")
    with stage.database() as db:
        row = db.execute(
            "SELECT o.content, json_extract(o.metadata, '$.kind'), s.id, (SELECT content FROM prompts p"
            " WHERE p.session_id = s.id AND p.source = 'user') FROM observations o"
            " JOIN sessions s ON s.id = o.session_id WHERE o.id = ?",
            (marked["id"].removeprefix("obs/"),),
        ).fetchone()
        assert row[:2] == ("Uploads wait ninety seconds: the warehouse report needs them.", "decision")
        assert marked["session"] == f"session/{row[2]}" and row[3].startswith("Something about slow uploads")
        calls = db.execute(
            "SELECT content, metadata FROM observations WHERE obs_type = 'mcp_call' ORDER BY id"
        ).fetchall()
        assert {content.split(" ")[0] for content, _ in calls} == {"nmem/search", "nmem/get", "nmem/mark"}
        assert all("ninety" not in metadata and "response" not in metadata for _, metadata in calls)


def told_that_it_can_ask_once(stage: Stage, sent: list[str]) -> None:
    """In the request, in what was resumed, and in none of the records."""
    assert sent and {request.count(LINE) for request in sent} == {1}
    assert "mcp__nmem__search" in sent[0].partition(LINE)[2][:200]
    with stage.database() as db:
        assert db.execute("SELECT count(*) FROM injections WHERE instr(text, ?)", (LINE,)).fetchone() == (1,)
        for table in ("prompts", "observations"):
            assert db.execute(f"SELECT count(*) FROM {table} WHERE instr(content, ?)", (LINE,)).fetchone() == (0,)
    stage.unharmed()


def test_the_plugin_is_valid(tmp_path: Path) -> None:
    program = CACHE / "claude" / "node_modules" / ".bin" / "claude"
    if not program.exists():
        pytest.skip("claude is not installed here")
    words = [str(program), "plugin", "validate", "--strict", str(plugin())]
    env = {**os.environ, "HOME": str(tmp_path), "DISABLE_TELEMETRY": "1"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=400, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation passed" in done.stdout
