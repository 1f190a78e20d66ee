"""What an episode changed, and why a file's lines are as they are: keys of the cockpit open both to read."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from capture.storage import store
from nmem_tui.screens.reason_dialogs import Why
from nmem_tui.widgets.story import StoryPane


@pytest.fixture
def edited(here: Any, seeds: Any, tmp_path: Path) -> str:
    """The flaky test's episode edits a file that is there, and is not committed; its first line is the agent's."""
    root = tmp_path / "aurora"
    root.mkdir()
    db = seeds.database("aurora.db")
    seeds.story(db)
    made = seeds.history(db)
    prompt, session, at = db.execute(
        "SELECT p.id, p.session_id, p.at FROM unit_prompts x JOIN prompts p ON p.id = x.prompt_id"
        " WHERE x.unit_id = ? ORDER BY p.at DESC LIMIT 1",
        (made["flaky"],),
    ).fetchone()
    db.execute("UPDATE projects SET root = ?", (str(root),))
    db.execute("UPDATE project_folders SET root = ?", (str(root),))
    (root / "flaky.py").write_text("wait_for_the_worker_to_stop()\ntyped_by_hand_of_a_person()\n")
    db.execute(
        "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, file_path, content, outcome,"
        " dedup_key) VALUES (?, ?, ?, 9001, 'file_edit', 'Edit', 'flaky.py', '+ wait_for_the_worker_to_stop()', 'ok',"
        " 'why')",
        (session, prompt, at + 1),
    )
    db.close()
    return "aurora.db"


async def at_story(pilot: Any, settled: Any) -> None:
    await pilot.press("2")
    await settled(pilot)
    await pilot.press("j", "j", "j")
    await settled(pilot)


async def test_v_shows_what_an_episode_changed_and_y_copies_it(
    edited: str, cockpit: Any, text: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit(edited, (160, 60)) as pilot:
        await at_story(pilot, settled)
        await pilot.press("v")
        await settled(pilot)
        assert "what it changed" in text(pilot) and "+ wait_for_the_worker_to_stop()" in text(pilot)
        copied: list[str] = []
        monkeypatch.setattr(pilot.app, "copy_out", copied.append)
        await pilot.press("y")
        assert "+wait_for_the_worker_to_stop()" in copied[0]
        await pilot.press("escape")
        await settled(pilot)
        assert "what it changed" not in text(pilot)


async def test_f_on_an_edit_of_the_story_tells_why_its_files_lines_are_so(
    edited: str, cockpit: Any, text: Any, settled: Any
) -> None:
    async with cockpit(edited, (160, 60)) as pilot:
        await at_story(pilot, settled)
        await pilot.press("F")
        await settled(pilot)
        assert isinstance(pilot.app.screen, Why), "without a file under the cursor it is the episode's first"
        await pilot.press("escape")
        await settled(pilot)
        await pilot.press("enter")
        pane = pilot.app.screen.query_one(StoryPane)
        pane.go(next(place for place in range(pane.count) if pane.text and pane.text.path(place) == "flaky.py"))
        await pilot.press("F")
        await settled(pilot)
        assert isinstance(pilot.app.screen, Why)
        assert "1 of 2 lines explained" in text(pilot)
        assert "in no repository; nothing recorded made it" in text(pilot)


async def test_f_asks_of_a_file_of_the_project_before_a_scratch_file_that_was_edited_more(
    edited: str, cockpit: Any, settled: Any, tmp_path: Path
) -> None:
    hot = [{"path": path, "reads": 0, "edits": edits} for path, edits in (("C:/Temp/try.py", 20), ("flaky.py", 1))]
    with closing(store.connect(str(tmp_path / edited))) as db:
        db.execute("UPDATE work_units SET hot_files = ?", (json.dumps(hot),))
    async with cockpit(edited, (160, 60)) as pilot:
        await at_story(pilot, settled)
        await pilot.press("F")
        await settled(pilot)
        assert isinstance(pilot.app.screen, Why)
        assert pilot.app.screen.path == "flaky.py"


async def test_f_on_a_row_of_the_stream_says_where_a_file_is_not_on_this_machine(
    edited: str, cockpit: Any, text: Any, settled: Any
) -> None:
    async with cockpit(edited, (160, 60)) as pilot:
        await settled(pilot)
        await pilot.press("1")
        await settled(pilot)
        for _ in range(40):
            if pilot.app.screen.stream.row is not None and pilot.app.screen.stream.row.path:
                break
            await pilot.press("k")
            await settled(pilot)
        await pilot.press("F")
        await settled(pilot)
        assert "there is no file" in text(pilot)
