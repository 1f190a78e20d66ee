"""The screen Health: its views, and what its keys leave in the database and beside it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capture import install
from capture.install import targets
from nmem.doctor.checks import switches
from nmem.doctor.registrations import unconnected
from nmem.errors import NmemError
from nmem.settle import settle
from nmem_tui.operations import jobs
from nmem_tui.operations.jobs import Job
from tests.nmem_tui.asked import rows as ask

VIEWS = {"findings": "", "hooks": "v", "secrets": "vv", "storage": "vvv", "kept": "vvvv"}


@pytest.fixture(scope="session")
def healths(load: Any) -> Any:
    """The module that writes what this screen shows."""
    return load("health_seed")


@pytest.fixture
def make(here: Path, seeds: Any, healths: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Writes aurora.db: empty (no file), bare (only a session), full, hostile. The configuration is this test's own."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    monkeypatch.setattr("nmem.retention.sweep.size", lambda _db: 1_331_200)
    monkeypatch.setattr("nmem.retention.idle.saves", lambda _db: (40_960, 0.03))

    def write(kind: str) -> str:
        if kind != "empty":
            db = seeds.database("aurora.db")
            if kind == "hostile":
                seeds.hostile(db)
                healths.fill(db, seeds, seeds.HOSTILE.replace("\ud800", ""))
            else:
                seeds.story(db)
                if kind == "full":
                    seeds.history(db)
                    healths.fill(db, seeds)
                    healths.kept(here / "backups")
            seeds.label(db)
            db.close()
        return "aurora.db"

    return write


def facts() -> Any:
    """Every prompt and call."""
    return [
        *ask("SELECT 'prompt', id, session_id, content FROM prompts ORDER BY id"),
        *ask("SELECT 'obs', id, session_id, content, prompt_id FROM observations ORDER BY id"),
        *ask("SELECT 'unit', id, session_id, title FROM work_units ORDER BY id"),
    ]


@pytest.mark.parametrize("kind", ["empty", "bare", "full", "hostile"])
@pytest.mark.parametrize("view", VIEWS)
async def test_views_are_as_accepted(
    view: str, kind: str, make: Any, looks: Any, settled: Any, text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def arrive(pilot: Any) -> None:
        await pilot.press("8", *VIEWS[view])
        await settled(pilot)
        assert "? help" in text(pilot).splitlines()[-1]

    monkeypatch.setattr("nmem_tui.model.health.places.folder", lambda _path: Path("backups"))
    await looks(make(kind), f"health-{view}-{kind}", arrive)


@pytest.mark.parametrize("dialog", ["purge", "sweep", "fix", "words", "deck"])
async def test_dialogs_are_as_accepted(
    dialog: str, make: Any, looks: Any, settled: Any, seeds: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmem.purge.files.backups", lambda _path: sorted(Path("backups").glob("*.db")))
    keys = {"purge": ["2", "j", "x"], "sweep": ["8", "S"], "fix": ["8", "f"], "words": ["8", "x"], "deck": ["8", "r"]}

    async def arrive(pilot: Any) -> None:
        for key in keys[dialog]:
            await pilot.press(key)
            await settled(pilot)
        pilot.app.clear_notifications()

    path = make("full")
    if dialog == "sweep":
        settle(path, 600, models=False, clock=lambda: seeds.NOW)
    await looks(path, f"health-dialog-{dialog}", arrive)


async def test_the_worst_finding_stands_first_and_its_command_is_copied(
    make: Any, cockpit: Any, until: Any, settled: Any
) -> None:
    path = make("full")
    db = sqlite3.connect(path)
    db.execute("DELETE FROM narratives_fts WHERE rowid = 1")
    db.commit()
    db.close()
    copied: list[str] = []
    async with cockpit(path, (160, 45)) as pilot:
        pilot.app.copy_out = copied.append
        await pilot.press("8")
        shown = await until(pilot, "wrong search", "note  orphans")
        await settled(pilot)
        assert shown.index("wrong search") < shown.index("note  orphans") < shown.index("✓ fine")
        await pilot.press("y")
        assert copied == ["nmem doctor --fix"]


async def test_fix_shows_what_it_fixes_and_fixes_it_only_with_y(make: Any, cockpit: Any, until: Any) -> None:
    path = make("full")
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("8")
        await until(pilot, "1 hook run of sessions that are gone")
        await pilot.press("f")
        await until(pilot, "Fix findings that need no decision", "fixes this")
        await pilot.press("f", "enter")
        await until(pilot, "1 hook run of sessions", gone="Fix findings")
        assert ask("SELECT count(*) FROM hook_runs WHERE session_id = 'nobody'") == [1]
        await pilot.press("f")
        await until(pilot, "fixes this")
        await pilot.press("y")
        await until(pilot, "fixed: ", gone="1 hook run of sessions that are gone  ")
        assert ask("SELECT count(*) FROM hook_runs WHERE session_id = 'nobody'") == [0]


@pytest.mark.parametrize("screen", ["episode", "row"])
async def test_purge_shows_what_goes_takes_it_and_gives_it_back(
    screen: str, make: Any, cockpit: Any, until: Any, settled: Any
) -> None:
    path = make("full")
    before = facts()
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press(*(("2", "j") if screen == "episode" else ("k", "k")))
        await settled(pilot)
        await pilot.press("x")
        shown = await until(pilot, "These go:", "brings them back until 10-10 08:53", "purges this")
        assert ("prompt" in shown) == (screen == "episode")
        await pilot.press("x", "space")
        await pilot.pause(0.2)
        assert facts() == before
        await pilot.press("escape")
        await until(pilot, gone="These go:")
        assert facts() == before
        await pilot.press("x")
        await until(pilot, "y", "purges this")
        await pilot.press("y")
        await until(pilot, "purged: ", "u brings them back until 10-10 08:53")
        assert len(facts()) < len(before)
        assert ask("SELECT state FROM purges") == ["kept"]
        await settled(pilot)
        await pilot.press("u")
        await until(pilot, "undone: purge/1")
        assert facts() == before
        assert ask("SELECT state FROM purges") == ["undone"]


async def test_a_purged_row_leaves_the_stream_and_comes_back(make: Any, cockpit: Any, until: Any, settled: Any) -> None:
    async with cockpit(make("bare"), (160, 45)) as pilot:
        await pilot.press("k", "k")
        await settled(pilot)
        await until(pilot, "row 15 of 17", "ruff check")
        await pilot.press("x")
        await until(pilot, "These go: 1 call")
        await pilot.press("y")
        await until(pilot, "row 15 of 16", gone="ruff check")
        await pilot.press("u")
        await until(pilot, "of 17", "ruff check")


async def test_purge_by_words_from_health(make: Any, cockpit: Any, until: Any) -> None:
    path = make("full")
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("8")
        await until(pilot, "Findings")
        await pilot.press("x", *"ab", "enter")
        await until(pilot, "needs 3 characters")
        await pilot.press("backspace", "backspace", *"thumbs", "enter")
        await until(pilot, "These go:", "thumbs")
        await pilot.press("y")
        await until(pilot, "purged: ")
        assert ask("SELECT count(*) FROM observations WHERE content LIKE '%thumbs%'") == [0]
        await pilot.press("v", "v", "v", "v")
        await until(pilot, "calls  by words", "undoes until 10-10 08:53")


async def test_sweep_counts_first_and_forgets_only_with_y(
    make: Any, cockpit: Any, until: Any, seeds: Any, healths: Any
) -> None:
    path = make("full")
    settle(path, 600, models=False, clock=lambda: seeds.NOW)
    old = "SELECT count(*) FROM observations WHERE session_id = ?"
    there = ask(old, healths.OLD)
    assert there[0] > 5
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("8")
        await until(pilot, "Findings")
        await pilot.press("S")
        shown = await until(pilot, "would be forgotten", "file read of aurora-api", "cannot be undone")
        assert "forgets this, for good" in shown
        await pilot.press("S", "enter")
        await until(pilot, gone="forgets this")
        assert ask(old, healths.OLD) == there
        await pilot.press("S")
        await until(pilot, "forgets this")
        await pilot.press("y")
        await until(pilot, "their traces stay", gone="forgets this")
        assert ask(old, healths.OLD) == [0]
        assert ask("SELECT count(*) FROM sweep_journal WHERE why = 'person'") == [1]
        await pilot.press("v", "v", "v")
        await until(pilot, "by you, finished")


async def test_redactions_are_drawn_and_judged_one_key_each(make: Any, cockpit: Any, until: Any, settled: Any) -> None:
    path = make("full")
    async with cockpit(path, (80, 24)) as pilot:
        await pilot.press("8", "v", "v")
        await until(pilot, "draws a sample to judge")
        await settled(pilot)
        await pilot.press("r")
        await until(pilot, "Was this a secret?", "1 of 8 questions")
        await pilot.press("enter", "y")
        await until(pilot, "of 7 questions")
        await settled(pilot)
        await pilot.press("n")
        await until(pilot, "of 6 questions")
        await settled(pilot)
        assert sorted(ask("SELECT verdict FROM redaction_reviews WHERE verdict IS NOT NULL")) == ["false", "real"]
        await pilot.press("u")
        await until(pilot, "of 7 questions")
        assert ask("SELECT verdict FROM redaction_reviews WHERE verdict IS NOT NULL") == ["real"]
        await pilot.press("escape")
        await until(pilot, "7 redactions to judge")


async def test_backup_now_is_listed_and_whole(make: Any, cockpit: Any, until: Any, here: Path) -> None:
    path = make("bare")
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("8", "v", "v", "v", "v")
        await until(pilot, "no backup yet")
        await pilot.press("b")
        await until(pilot, "backed up: ", gone="no backup yet")
        made = list((here / "backups").glob("nmem-*.db"))
        assert len(made) == 1
        copy = sqlite3.connect(made[0])
        assert copy.execute("SELECT count(*) FROM observations").fetchone()[0] == ask(
            "SELECT count(*) FROM observations"
        )[0]  # fmt: skip
        copy.close()


async def test_the_deep_audit_reads_everything_on_a_key_only(make: Any, cockpit: Any, until: Any, settled: Any) -> None:
    async with cockpit(make("full"), (160, 45)) as pilot:
        await pilot.press("8")
        shown = await until(pilot, "seen quickly")
        assert "text indexes" not in shown
        await settled(pilot)
        await pilot.press("A")
        await until(pilot, "everything was read at 10-09 08:53", "text indexes", "second opinion")
        await settled(pilot)
        await pilot.press("ctrl+r")
        await until(pilot, "seen quickly", gone="text indexes")


async def test_the_deep_audit_keeps_a_settings_file_that_cannot_be_read(
    make: Any, cockpit: Any, until: Any, settled: Any
) -> None:
    file = Path(os.environ["HOME"]) / ".codex" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\xff\xfe")
    async with cockpit(make("full"), (160, 45)) as pilot:
        await pilot.press("8")
        await until(pilot, "1 wrong", "cannot be read")
        await settled(pilot)
        await pilot.press("A")
        await until(pilot, "everything was read", "1 wrong", "cannot be read")


async def test_work_is_stopped_and_only_one_goes_on(make: Any, cockpit: Any, until: Any, settled: Any) -> None:
    from threading import Event

    async with cockpit(make("bare"), (160, 45)) as pilot:
        await pilot.press("8")
        await settled(pilot)

        def wait(job: Any, _path: str, _now: int) -> tuple[str, object]:
            for number in range(200_000):
                job.tell(number, 200_000, "steps")
                job.check()
                Event().wait(0.01)
            return "done", None

        pilot.app.work("waiting", wait)
        await until(pilot, "waiting", "c stops it")
        await pilot.press("b")
        await until(pilot, "waiting is going on")
        await pilot.press("c")
        await until(pilot, "waiting: stopped")
        assert pilot.app.job is None


async def test_a_full_disk_is_told_in_place(
    make: Any, cockpit: Any, until: Any, settled: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object, **_named: object) -> object:
        raise OSError(28, "No space left on device")

    async with cockpit(make("bare"), (100, 30)) as pilot:
        await pilot.press("8")
        await settled(pilot)
        monkeypatch.setattr("nmem.backup.take.backup", full)
        await pilot.press("b")
        await until(pilot, "✗ backup: [Errno 28] No space left on device; try again", "esc seen")
        pilot.app.clear_notifications()
        await settled(pilot)
        assert list(here.glob("backups/*")) == []
        await pilot.press("escape")
        await until(pilot, gone="No space left")
        monkeypatch.undo()


async def test_a_locked_database_is_told_in_place_and_nothing_is_changed(
    make: Any, cockpit: Any, until: Any, settled: Any, seeds: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make("full")
    settle(path, 600, models=False, clock=lambda: seeds.NOW)
    db = sqlite3.connect(path)
    monkeypatch.setattr("nmem_tui.operations.jobs._BUSY_S", 0.1)
    before = facts()
    async with cockpit(path, (100, 30)) as pilot:
        await pilot.press("8")
        await until(pilot, "Findings")
        await settled(pilot)
        db.execute("BEGIN EXCLUSIVE")
        db.execute("UPDATE counters SET value = value")
        for key in "Sy":
            await pilot.press(key)
            await settled(pilot)
        await until(pilot, "✗ sweep: the database is busy", "esc seen")
        db.execute("ROLLBACK")
        await pilot.press("escape")
        await until(pilot, gone="is locked")
    db.close()
    assert facts() == before


async def test_the_second_detector_fills_the_deck(
    make: Any, cockpit: Any, until: Any, settled: Any, seeds: Any
) -> None:
    path = make("bare")
    db = sqlite3.connect(path)
    seeds.say(db, seeds.NOW - 2_000, "use aws_secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' for it")
    db.commit()
    db.close()
    async with cockpit(path, (100, 30)) as pilot:
        await pilot.press("8")
        await settled(pilot)
        await pilot.press("R")
        await until(pilot, "second detector")
        await settled(pilot)
        waits = ask("SELECT count(*) FROM redaction_reviews WHERE found_by != 'redaction'")[0]
        assert waits >= 1
        await pilot.press("r")
        await until(pilot, f"redactions {waits}", "Is this a secret that redaction left?")
        await settled(pilot)
        assert "wJalrXUtnFEMI" not in str(pilot.app.export_screenshot())


async def test_a_backup_is_stopped_and_leaves_nothing(
    make: Any, cockpit: Any, until: Any, settled: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nmem.backup import take

    real = take.backup

    def slow(path: str, progress: Any) -> Any:
        def told(done: int, whole: int) -> None:
            pilot.app.job.stop()
            progress(done, whole)

        return real(path, progress=told)

    before = {path for path in here.rglob("*") if path.is_file()}
    async with cockpit(make("bare"), (100, 30)) as pilot:
        await pilot.press("8")
        await settled(pilot)
        monkeypatch.setattr("nmem.backup.take.backup", slow)
        await pilot.press("b")
        await until(pilot, "backup: stopped")
        await settled(pilot)
    left = {path.name for path in here.rglob("*") if path.is_file()} - {path.name for path in before}
    assert not [name for name in left if not name.startswith("aurora.db")]


async def test_without_a_client_it_says_first_that_nothing_is_recorded(
    make: Any, cockpit: Any, until: Any, settled: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("nmem.doctor.registrations.unconnected", unconnected)
    async with cockpit(make("full"), (160, 45)) as pilot:
        await pilot.press("8")
        shown = await until(pilot, "nothing is being recorded", "nmem init", "✗ no client is connected")
        assert "nothing lost" not in shown
        assert "Findings ─ 0 wrong" not in shown
        assert pilot.app.screen.finding.mend == "nmem init"
        await settled(pilot)
        settings = Path.home() / ".claude" / "settings.json"
        settings.parent.mkdir(parents=True)
        settings.write_text("{")
        await pilot.press("ctrl+r")
        await until(pilot, "nothing lost", gone="nothing is being recorded")


async def test_what_keeps_codex_from_running_hooks_is_said_as_the_doctor_says_it(
    make: Any, cockpit: Any, until: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmem.doctor.registrations.unconnected", unconnected)
    path = make("bare")
    install.install(install.plan_install(targets.target("codex", "user", str(Path.cwd())), path), path)
    (doctor,) = switches.codex(str(Path.cwd()))
    assert (doctor.check, doctor.severity) == ("trust", "wrong")
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM hook_runs")
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("8")
        shown = await until(pilot, "Codex skips hooks that are not trusted yet")
        assert "Findings ─ 1 wrong" in shown
        assert pilot.app.screen.finding == doctor
        await settled(pilot)
        await pilot.press("v")
        shown = await until(pilot, "start codex, type /hooks and trust nmem's hooks")
        assert "the next prompt runs one" not in shown


async def test_hooks_that_are_registered_and_have_not_run_yet_are_said_to_be(
    make: Any, cockpit: Any, until: Any, settled: Any
) -> None:
    path = make("bare")
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM hook_runs")
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("8")
        await settled(pilot)
        await pilot.press("v")
        await until(pilot, "hooks are registered, none has run yet", gone="no hook has run yet")


def test_a_sweep_by_key_is_guarded_by_the_clock_too(make: Any, seeds: Any) -> None:
    path = make("full")
    settle(path, 600, models=False, clock=lambda: seeds.NOW)
    with pytest.raises(NmemError, match="ahead of the last recorded time"):
        jobs.sweep(Job("sweep", lambda _message: None), path, seeds.NOW + 365 * 86_400_000)
