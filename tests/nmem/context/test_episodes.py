"""An episode as a session is told of it."""

from __future__ import annotations

from nmem.context import episodes

_SUMMARY = (
    "Deploy the kettle to staging, it fails with permission denied. Tests passed before the last edits."
    " Obstacle: bash deploy.sh staging failed once (Permission denied), then passed after edits to deploy.sh."
)


def told(summary: str | None) -> str:
    row = (7, "Deploy the kettle to staging", 0, '{"tests": "passed"}', "[]", "[]", '["Write it down"]', "s", summary)
    return episodes.told(row, 60_000, ("deploy.sh",), 0.5, "why").text


def test_what_stood_in_the_way_is_told_between_what_it_was_and_what_is_left() -> None:
    text = told(_SUMMARY)
    assert (
        text.index("(tests passed)") < text.index("Obstacle: “bash deploy.sh staging failed once") < text.index("Left")
    )
    assert "then passed after edits to deploy.sh”." in text


def test_without_an_obstacle_nothing_is_said_of_one() -> None:
    assert "Obstacle" not in told("It went well.")
    assert "Obstacle" not in told(None)
