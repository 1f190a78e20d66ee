"""A cockpit that only reads: every key of an action that writes is tried on every screen, and no byte changes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from nmem_tui.model.actions import ACTIONS, EVERYWHERE, NUMBERED, Action, bar, of
from nmem_tui.screens.base import View
from nmem_tui.store.access import READ_ONLY, Writes
from nmem_tui.store.watch import Watch

SCREENS = NUMBERED.split()

READING = """
blame changes cost instructions ledger question settings signs team
again ask attach audit back before bottom browse_themes chips configured copy copy_id demo details_down details_up
down editor export filter follow go half_down half_up help hot last_check last_evidence last_failure last_prompt
last_queue last_state last_view later left less manual map mark mark_all models more next_check next_evidence
next_failure next_prompt next_queue next_screen next_state next_view open order output over palette past previous
previous_screen projects queue_boundaries queue_labels queue_learnings queue_links queue_redactions quit read reload
resume_session right search_here seek sessions show_context show_episodes show_health show_learnings show_now
show_search show_sessions show_stance show_tasks sort_sessions stop story theme top up warning which_sessions
"""


@pytest.fixture
def whole(here: Path, load: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with something on every screen, nothing of it in a log; projects with files that could be changed."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    monkeypatch.setattr("nmem_tui.screens.host.Host.environ", {"PATH": ""})
    load("whole_seed").database(load, str(here / "aurora.db"))
    return here


def stored(folder: Path) -> dict[str, str]:
    """Every file but SQLite's index of its log and caches of programs, by a hash of its bytes; an empty log is none."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.name.endswith("-shm") and "cache" not in file.parts and file.stat().st_size
    }


def writing(context: str) -> list[Action]:
    return [action for action in of(context) if action.writes]


async def test_no_key_changes_anything(
    whole: Path, cockpit: Any, at: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stored(whole)
    said: list[str] = []
    async with cockpit("aurora.db", (160, 45), read_only=True) as pilot:
        monkeypatch.setattr(pilot.app, "say", lambda text, **_: said.append(text))
        for screen in SCREENS:
            await at(pilot, screen)
            for action in writing(screen):
                for key in action.keys:
                    said.clear()
                    await pilot.press(key)
                    await pilot.pause()
                    assert said == [READ_ONLY], (screen, action.id, key)
                    assert isinstance(pilot.app.screen, View), (screen, action.id)
                assert pilot.app.why_not(action.id) == READ_ONLY, screen
            await settled(pilot)
            assert stored(whole) == before, screen
    assert stored(whole) == before


async def test_the_same_keys_do_something_where_it_may_write(whole: Path, cockpit: Any, at: Any) -> None:
    """Otherwise the test above would prove nothing."""
    async with cockpit("aurora.db", (160, 45)) as pilot:
        for screen in SCREENS:
            await at(pilot, screen)
            assert all(pilot.app.why_not(action.id) != READ_ONLY for action in writing(screen)), screen
            own = [action for action in writing(screen) if action.context != EVERYWHERE]
            assert not own or any(pilot.app.why_not(action.id) is None for action in own), screen


async def test_reading_goes_on_and_what_writes_is_refused_and_told(
    whole: Path, cockpit: Any, at: Any, text: Any, until: Any
) -> None:
    async with cockpit("aurora.db", (160, 45), read_only=True) as pilot:
        await at(pilot, "episodes")
        assert "Story ─ episode" in text(pilot)
        assert text(pilot).splitlines()[-1].startswith(" read-only │ ? help")
        able = {action.id: pilot.app.why_not(action.id) for action in bar("episodes")}
        assert able["copy"] is None
        assert able["pin"] == able["purge"] == able["rename"] == READ_ONLY
        await pilot.press("question_mark")
        await pilot.press(*"rename")
        await until(pilot, "─ not now: read-only")
        await pilot.press("escape")
        await at(pilot, "health")
        assert pilot.app.why_not("audit") is None
        await pilot.press("A")
        await until(pilot, "audit done")


def test_what_would_write_in_the_background_does_not(whole: Path, seeds: Any) -> None:
    before = stored(whole)
    told: list[Any] = []
    Writes(told.append, read_only=True).carry_out("aurora.db", lambda _db, _now: pytest.fail("it was done"), 0)
    assert [(each.text, each.failed) for each in told] == [(READ_ONLY, True)]
    watch = Watch("aurora.db", lambda message: pytest.fail(str(message)), read_only=True)
    from contextlib import closing

    from nmem import database
    from nmem.read import views

    with closing(database.reader("aurora.db")) as db:
        row = views.sessions(db, 1)[0]
    (whole / "transcript.jsonl").write_text('{"type":"user","message":{"role":"user","content":"late"}}\n')
    before = stored(whole)
    watch.follow(row._replace(transcript_path=str(whole / "transcript.jsonl"), state="working"))
    watch._catch_up()
    assert stored(whole) == before


def test_whatever_changes_something_is_marked() -> None:
    """By its name: an action that is added says whether it writes."""
    writes = {action.id for action in ACTIONS if action.writes}
    reads = {action.id for action in ACTIONS} - writes
    harmless = ("show_", "next_", "last_", "copy", "half_", "details_", "queue_")
    named = ("accept", "backup", "dismiss", "edit_", "exclude", "include", "keep", "merge", "move", "narrate", "new_",
             "pin", "purge", "rename", "run_", "snooze", "split", "sweep", "undo", "relabel", "remove")  # fmt: skip
    assert not [each for each in reads if each.startswith(named) and not each.startswith(harmless)]


def test_whoever_adds_an_action_says_whether_it_writes() -> None:
    """Complete on purpose: what is in neither list was not thought about."""
    assert {action.id for action in ACTIONS if not action.writes} == set(READING.split())


async def test_a_decision_is_opened_as_a_copy(
    whole: Path, cockpit: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nmem_tui.screens.search_actions import open_file

    opened: list[str] = []
    (whole / "0001.md").write_text("# Decided")
    async with cockpit("aurora.db", (80, 24), read_only=True) as pilot:
        monkeypatch.setattr(pilot.app, "edit_out", opened.append)
        open_file(pilot.app, str(whole / "0001.md"), 1)
        await settled(pilot)
    assert opened == ["# Decided"]


async def test_the_palette_shows_what_may_not_be_done_and_names_come_first(
    make_db: Any, cockpit: Any, until: Any, settled: Any
) -> None:
    async with cockpit(make_db("story"), (120, 36), read_only=True) as pilot:
        await pilot.press("8")
        await settled(pilot)
        mode = pilot.app.screen.mode
        await pilot.press("colon")
        await until(pilot, "review  ·  r")
        await pilot.press(*"backup")
        await until(pilot, "backup  ·  ", "─ read-only: changes are refused")
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, "read-only: changes are refused", gone="backup  ·")
        assert pilot.app.screen.mode == mode, "nothing else was run"
