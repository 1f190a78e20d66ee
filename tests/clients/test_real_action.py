"""What a real client's model is given at the start and at the point of action, in the requests that it is sent.

Of Claude Code the start is looked at in test_real_mcp.py, which begins the same two sessions.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from capture.clients.said import BEGIN
from tests.clients.test_real_context import connect, requests

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]
LINE = "Recorded by nmem:"
FIX = "touch quokka.py` it passes"


@pytest.mark.parametrize("client", ["codex", "gemini"])
def test_a_session_that_starts_is_told_once_that_it_can_ask(client: str, stage: Stage) -> None:
    connect(stage, client, "", tools=True)
    assert not any(LINE in request for request in requests(stage, client, "context-other", turns=1))
    stage.nmem("settle")
    sent = requests(stage, client, "context-other")
    assert sent
    assert {request.count(LINE) for request in sent} == {1}  # also in what was resumed
    prefix = "mcp_nmem_search" if client == "gemini" else "mcp__nmem__search"
    assert prefix in sent[0].partition(LINE)[2][:200]
    with stage.database() as db:
        assert db.execute("SELECT count(*) FROM injections WHERE instr(text, ?)", (LINE,)).fetchone() == (
            2 if client == "gemini" else 1,  # resumed, its conversation has lost what its start was told
        )
        for table in ("prompts", "observations"):
            assert db.execute(f"SELECT count(*) FROM {table} WHERE instr(content, ?)", (LINE,)).fetchone() == (0,)
    stage.unharmed()


def test_a_command_whose_fix_is_known_is_answered_once_after_it_failed_or_before_it_is_run(stage: Stage) -> None:
    if sys.platform == "win32":
        pytest.skip("the script is a shell's")
    connect(stage, "claude", "ask = false\nwarn = false")
    for _ in range(2):
        assert not any(FIX in request for request in requests(stage, "claude", "action-mended"))
        stage.nmem("settle")
    answered(stage, "failure")
    stage.nmem("settle")
    stage.nmem("config", "set", "context.warn", "true")
    answered(stage, "failure", "call", turns=1)
    stage.unharmed()


def answered(stage: Stage, *events: str, turns: int | None = None) -> None:
    """Play the session that runs the command, or its first turns: it is told the fix at once, and never again."""
    sent = requests(stage, "claude", "action-again", turns=turns)
    told = [request.count(FIX) for request in sent]
    assert told[0] == 0  # nobody has tried it yet
    assert set(told[1:]) == {1}
    assert sent[1].count(BEGIN) == sent[0].count(BEGIN) + 1
    with stage.database() as db:
        found = db.execute("SELECT event FROM injections WHERE event IN ('failure', 'call') ORDER BY id").fetchall()
        assert found == [(event,) for event in events]
        assert db.execute("SELECT count(*) FROM observations WHERE instr(content, 'nmem context')").fetchone() == (0,)
