"""The agent names the tasks with the tool `episode`, three times late and once wrongly: a real session is cut as a
person would cut it; without the tool the built-in detector cuts or offers most of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]

SCRIPT = "named-episodes"
EXPECTED = [
    ("Rounding of totals with a discount", 3),
    ("Dockerfile for the service", 2),
    ("Parser of the bank's CSV export", 3),
    ("How the admin login cookie works", 2),
    ("README in German", 2),
]
"""What the agent called an episode, and its prompts."""


def without_the_tool(script: Path, into: Path) -> Path:
    """The same session of an agent that names nothing."""
    turns = json.loads(script.read_text())
    for turn in turns:
        turn["replies"] = [
            reply for reply in turn["replies"] if not any("name" in tool for tool in reply.get("tools", []))
        ]
    into.write_text(json.dumps(turns))
    return into


def test_the_agents_names_make_the_episodes(stage: Stage) -> None:
    stage.connect("claude")
    stage.play("claude", SCRIPT)
    for _ in range(2):  # as the hooks left it, and as whole detection sees it
        with stage.database() as db:
            found = db.execute(
                "SELECT agent_title, (SELECT count(*) FROM unit_prompts x WHERE x.unit_id = u.id) FROM work_units u"
                " ORDER BY started_at, id"
            ).fetchall()
        assert found == EXPECTED
        stage.nmem("settle")
    stage.unharmed()


def test_without_the_tool_most_changes_are_cut_or_offered(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.connect("claude")
    silent = without_the_tool(stage.script(SCRIPT), stage.home / "silent.json")
    monkeypatch.setattr(stage, "script", lambda _: silent)
    stage.play("claude", "silent")
    with stage.database() as db:
        rows = db.execute(
            "SELECT x.label = 'new' OR x.offered FROM unit_prompts x JOIN prompts p ON p.id = x.prompt_id"
            " WHERE p.source = 'user' ORDER BY p.at, p.id"
        ).fetchall()
    seen = [number for number, (said,) in enumerate(rows) if said and number]
    assert len({3, 5, 8, 10} & set(seen)) >= 3, seen
