"""An episode as a session is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nmem.context import episodes
from tests.nmem.context.conftest import Played

if TYPE_CHECKING:
    from nmem.context.selection_store import Unit

_SUMMARY = (
    "Deploy the kettle to staging, it fails with permission denied. Tests passed before the last edits."
    " Obstacle: bash deploy.sh staging failed once (Permission denied), then passed after edits to deploy.sh."
)
_EDITED = '[{"path": "deploy.sh", "edits": 2}]'
_COMMITS = '[{"message": "Make the script executable"}]'
_RESULT = "The cause was a missing execute bit on deploy.sh."


def row(summary: str | None, result: str | None = _RESULT) -> Unit:
    return (7, "Deploy the kettle to staging", 0, '{"tests": "passed"}', '["Write it down"]', "s", summary, result,
            "kettle", 2, 0, _EDITED, _COMMITS)  # fmt: skip


def test_what_came_of_it_what_stood_in_the_way_and_what_was_changed_are_told() -> None:
    text = episodes.tell(row(_SUMMARY), 60_000, 0.5, "why", files=("deploy.sh",)).text
    assert text == (
        "Episode 7, 1 minute ago: “Deploy the kettle to staging” (tests passed)."
        " The agent reported: “The cause was a missing execute bit on deploy.sh”."
        " In the way: “bash deploy.sh staging failed once (Permission denied), then passed after edits to deploy.sh”."
        " Committed: “Make the script executable”. Changed: `deploy.sh`."
    )


@pytest.mark.parametrize("summary", ["It went well.", None])
def test_what_is_not_known_is_not_spoken_of(summary: str | None) -> None:
    text = episodes.tell((*row(summary, None)[:11], None, None), 60_000, 0.5, "why").text
    assert text == "Episode 7, 1 minute ago: “Deploy the kettle to staging” (tests passed)."


def test_what_a_session_goes_on_with_says_where_and_what_is_open(played: Played) -> None:
    item = episodes.tell_continued(played.database(), row(None), 60_000, "why")
    assert item.text.startswith("You were working on “Deploy the kettle to staging” 1 minute ago (episode 7, branch")
    assert item.text.endswith("Left open: “Write it down”.")


@pytest.mark.parametrize(
    ("intent", "told"),
    [
        ("Implement the following plan:\n\n# Merge the lists\n\n## Context", "Merge the lists"),
        ("fix it. And then the other thing", "fix it"),
        ("only this:", "only this:"),
        ("", ""),
    ],
)
def test_the_headline_is_the_first_line_that_says_what_it_is_about(intent: str, told: str) -> None:
    assert episodes.headline(intent) == told


@pytest.mark.parametrize(
    ("obstacle", "told"),
    [
        ("mise run lint failed once (unused import), then passed after edits to a.go", False),
        ("go build ./... failed 2 times (undefined: x), then passed after edits to a.go", False),
        ("go test ./... failed 5 times (deadlock), then passed after edits to a.go", True),
        ("bash deploy.sh staging failed once (Permission denied), then passed after edits to deploy.sh", True),
        ("The user refused 1 tool call: gh issue view 7", False),
        ("The user objected 2 times: 'the other branch'", True),
    ],
)
def test_an_obstacle_that_any_work_meets_is_not_told(obstacle: str, told: bool) -> None:
    text = episodes.tell(row(f"Deploy the kettle. Obstacle: {obstacle}."), 60_000, 0.5, "why").text
    assert ("In the way" in text) is told


def test_an_episode_of_which_only_its_subject_is_known_scores_nothing() -> None:
    bare = (*row(None, None)[:11], None, None)
    assert episodes.tell(bare, 60_000, 0.5, "why").score == 0.0
    assert episodes.tell(row(None), 60_000, 0.5, "why").score == 0.5


def test_what_is_asked_again_is_no_open_end(played: Played) -> None:
    asked = "Find out why the kettle leaks and write it down"
    left = (*row(None)[:4], f'["Asked last and not answered: {asked}"]', *row(None)[5:])
    again = episodes.tell_continued(played.database(), left, 60_000, "why", asked=asked)
    other = episodes.tell_continued(played.database(), left, 60_000, "why", asked="Paint the door green")
    assert "Left open" not in again.text
    assert "Left open" in other.text
