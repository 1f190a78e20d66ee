"""Hot files in the cockpit: a key on Episodes opens them; tab shows folders and moved files; enter lists episodes."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def worked(here: Any, seeds: Any) -> str:
    """Episodes that edited files, one of which git moved."""
    db = seeds.database("aurora.db")
    seeds.story(db)
    made = seeds.history(db)
    prompt, session, at, project = db.execute(
        "SELECT p.id, p.session_id, p.at, s.project_id FROM unit_prompts x JOIN prompts p ON p.id = x.prompt_id"
        " JOIN sessions s ON s.id = p.session_id WHERE x.unit_id = ? ORDER BY p.at DESC LIMIT 1",
        (made["flaky"],),
    ).fetchone()
    for number, path in enumerate(("src/flaky.py", "src/flaky.py", "uv.lock", "web/app/page.ts")):
        db.execute(
            "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, file_path, content,"
            " outcome, dedup_key) VALUES (?, ?, ?, ?, 'file_edit', 'Edit', ?, '+ x', 'ok', ?)",
            (session, prompt, at + number, 9000 + number, path, f"hot{number}"),
        )
    db.execute("UPDATE work_units SET hot_files = '[{\"path\": \"src/flaky.py\", \"edits\": 2}]' WHERE id = ?",
               (made["flaky"],))  # fmt: skip
    db.execute("INSERT INTO moved_files VALUES (?, '/x', 'src/flaky.py', 'moved', 'lib/flaky.py', 'a1b2c3d', ?)",
               (project, at))  # fmt: skip
    db.close()
    return "aurora.db"


async def test_the_key_lists_files_folders_and_moves_and_enter_lists_episodes(
    worked: str, cockpit: Any, text: Any, settled: Any, harmless: Any
) -> None:
    async with cockpit(worked, (110, 40)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("h")
        await settled(pilot)
        shown = text(pilot)
        assert "lib/flaky.py (was src/flaky.py)" in shown and "uv.lock (lockfile)" in shown
        assert "heat edits failed back" in shown
        await pilot.press("tab")
        await settled(pilot)
        assert "folders by heat" in text(pilot) and "100%" in text(pilot)
        await pilot.press("tab")
        await settled(pilot)
        assert "a1b2c3d  moved   src/flaky.py → lib/flaky.py" in text(pilot)
        harmless(text(pilot))
        await pilot.press("tab", *"flaky", "ctrl+o")
        await settled(pilot)
        assert "Why ─ lib/flaky.py" in text(pilot)
        await pilot.press("escape", "enter")
        await settled(pilot)
        assert "file:flaky.py" in text(pilot) and "1 of " in text(pilot)


async def test_a_projects_name_is_no_markup(worked: str, seeds: Any, cockpit: Any, text: Any, settled: Any) -> None:
    db = seeds.database(worked)
    db.execute("UPDATE projects SET name = '[red]shop[/red]'")
    db.close()
    async with cockpit(worked, (110, 40)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("h")
        await settled(pilot)
        assert "Hot ─ [red]shop[/red] ─" in text(pilot)
