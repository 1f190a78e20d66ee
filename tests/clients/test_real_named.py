"""The agent names the tasks with the tool `episode`, once late and once wrongly: a real session is cut as a person
would cut it (longer ones, and without the tool: tests/nmem/episodes/test_announced.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]

SCRIPT = "named-few"
EXPECTED = [("Rounding of totals with a discount", 2), ("Dockerfile for the service", 3)]
"""What the agent called an episode, and its prompts."""


def test_the_agents_names_make_the_episodes(stage: Stage) -> None:
    stage.connect("claude", tools=True)
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
