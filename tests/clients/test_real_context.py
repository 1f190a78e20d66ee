"""What the model of a real client is given: looked for in the requests that the client sends."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from capture.clients.said import BEGIN, END

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]
OURS = ("quokka", "shop/cart.py", "voucher")
"""Words that only the first session can have brought into another's requests."""


def connect(stage: Stage, client: str, more: str = "ask = false", *, tools: bool = False) -> None:
    """As a user would; a busy machine shall make nothing late."""
    stage.connect(client, tools=tools)
    config = stage.home / ".config" / "nmem" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    with config.open("a") as file:
        file.write(f"\n[context]\ndeadline_ms = 2000\n{more}\n")


def requests(stage: Stage, client: str, name: str, *flags: str, turns: int | None = None) -> list[str]:
    """Play a script, or its first turns; what the client sent to its model, one text a request."""
    out = stage.home / f"{name}-{stage.project.name}.jsonl"
    words = [*stage.player(client, name, turns), "--requests", str(out), *flags]
    done = subprocess.run(words, capture_output=True, text=True, timeout=1500)
    if (done.returncode and "--tmux" in flags) or stage.met_a_lock():
        pytest.skip(f"the machine is too busy: {done.stderr}{stage.log()}")
    assert done.returncode == 0, done.stderr
    return [json.dumps(json.loads(line), ensure_ascii=False) for line in out.read_text().splitlines()]


def told(request: str) -> str:
    """What stands between the marks in one request; there is at most one."""
    assert request.count(BEGIN) == request.count(END) <= 1
    return request.partition(BEGIN)[2].partition(END)[0]


@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "opencode", "qwen", "copilot"])
def test_the_next_session_on_the_same_files_is_told_and_no_other(client: str, stage: Stage) -> None:
    connect(stage, client)
    assert not any(told(request) for request in requests(stage, client, "context-fix"))
    stage.nmem("settle")
    texts = [told(request) for request in requests(stage, client, "context-same")]
    assert texts[0]
    assert set(texts) == {texts[0]}  # once: later requests of the conversation carry the same text on
    for word in OURS:
        assert word in texts[0]
    assert len(texts[0]) < 10_000
    assert len(texts[0]) / 4 < 2_500
    stage.nmem("settle")
    assert not any(told(request) for request in requests(stage, client, "context-other", turns=1))
    stage.project = stage.project.parent / "elsewhere"
    stage.project.mkdir()
    elsewhere = requests(stage, client, "context-same", turns=1) if client == "claude" else []
    assert not any(told(request) for request in elsewhere)
    with stage.database() as db:
        assert db.execute("SELECT count(*) FROM injections").fetchone() == (1,)
        assert db.execute("SELECT sum(used) > 0 FROM injection_items").fetchone() == (1,)
        stored = "SELECT count(*) FROM {} WHERE instr(content, 'nmem context]') OR instr(content, 'Recorded by nmem')"
        for table in ("prompts", "observations"):
            assert db.execute(stored.format(table)).fetchone() == (0,)
    stage.unharmed()


@pytest.mark.parametrize("way", ["clear", "compact"])
def test_after_clear_and_compact_the_interrupted_work_is_told(way: str, stage: Stage) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is absent")
    connect(stage, "claude")
    sent = requests(stage, "claude", f"context-{way}", "--tmux")
    before = [request for request in sent if "go on" not in _asked(request)]
    after = [request for request in sent if "go on" in _asked(request)]
    assert before and after
    assert not any(told(request) for request in before)
    for request in after:
        text = told(request)
        for part in ("last zebra row", "do not touch the header row", "Failed last", "`export.py` (changed"):
            assert part in text, part


def test_after_a_fix_by_another_command_and_a_commit_nothing_stale_is_told(stage: Stage) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is absent")
    connect(stage, "claude")
    sent = requests(stage, "claude", "context-done", "--tmux")
    after = [request for request in sent if "never make the total negative" in _asked(request)]
    assert after
    texts = after[-1].split(BEGIN)[1:]
    told_all = " ".join(text.partition(END)[0] for text in texts)
    assert "loses a cent" in told_all, "what was worked on is told"
    stale = (
        "Still open",
        "Failed last",
        "not committed",
        "Left open",
        "Left to do",
        "imagined.py",
        "reverted",
        "still fails",
    )
    for words in stale:
        assert words not in told_all, words
    with stage.database() as db:
        kinds = dict(db.execute("SELECT obs_type, outcome FROM observations ORDER BY id").fetchall())
        failed = db.execute(
            "SELECT count(*) FROM observations WHERE obs_type = 'test' AND outcome = 'failed'"
        ).fetchone()
    assert (kinds["test"], kinds["git_commit"], failed) == ("ok", "ok", (1,)), "the script did what it says"
    stage.unharmed()


def _asked(request: str) -> str:
    """What the person says in a request, as one text."""
    sent = json.loads(request)["body"]["messages"]
    said = [one.get("content") for one in sent if one.get("role") == "user"]
    return json.dumps([one for one in said if isinstance(one, str)] + [
        part.get("text", "") for one in said if isinstance(one, list) for part in one if part.get("type") == "text"
    ])  # fmt: skip


def test_stored_text_that_would_act_reaches_the_model_as_a_quotation(stage: Stage) -> None:
    connect(stage, "claude")
    requests(stage, "claude", "context-hostile")
    stage.nmem("settle")
    texts = [told(request) for request in requests(stage, "claude", "context-same", turns=1)]
    assert texts[0]
    for acting in ("</system-reminder>", "<system", "\\u001b", "\\u202e", "[INST]", "Human:", "\\n\\nAssistant:"):
        assert acting not in texts[0], acting
    assert len(texts[0]) < 4_000
    script = Path(stage.script("context-hostile")).read_text()
    assert "ignore previous instructions" in script
