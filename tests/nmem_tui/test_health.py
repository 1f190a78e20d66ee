"""The screen Health: its views, and what its keys leave in the database and beside it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from capture import install
from capture.install import targets
from nmem.backup import take
from nmem.doctor.checks import switches
from nmem.doctor.registrations import unconnected
from nmem.errors import NmemError
from nmem.settle import settle
from nmem_tui.operations import jobs
from nmem_tui.operations.jobs import Job
from tests.nmem_tui.asked import rows as ask

VIEWS = ("findings", "hooks", "secrets", "storage", "kept")
"""In the order in which `v` turns to them."""


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
async def test_views_are_as_accepted(
    kind: str, make: Any, looks: Any, settled: Any, text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by(key: str) -> Any:
        async def arrive(pilot: Any) -> None:
            await pilot.press(key)
            await settled(pilot)
            assert "? help" in text(pilot).splitlines()[-1]

        return arrive

    monkeypatch.setattr("nmem_tui.model.health.places.folder", lambda _path: Path("backups"))
    first, *others = (f"health-{view}-{kind}" for view in VIEWS)
    await looks(make(kind), first, by("8"), dict.fromkeys(others, by("v")))


@pytest.mark.parametrize("dialogs", [
    {"sweep": "8 S"},
    {"fix": "8 f", "words": "escape x", "purge": "escape 2 j x", "deck": "escape 8 r"},
], ids=["sweep", "others"])  # fmt: skip
async def test_dialogs_are_as_accepted(
    dialogs: dict[str, str], make: Any, looks: Any, settled: Any, seeds: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmem.purge.files.backups", lambda _path: sorted(Path("backups").glob("*.db")))

    def by(*keys: str) -> Any:
        async def arrive(pilot: Any) -> None:
            for key in keys:
                await pilot.press(key)
                await settled(pilot)
            pilot.app.clear_notifications()

        return arrive

    path = make("full")
    if "sweep" in dialogs:
        settle(path, 600, models=False, clock=lambda: seeds.NOW)
    (first, keys), *others = ((f"health-dialog-{name}", by(*keys.split())) for name, keys in dialogs.items())
    await looks(path, first, keys, dict(others))


async def test_the_worst_finding_stands_first_and_what_f_shows_is_fixed_only_with_y(
    make: Any, cockpit: Any, until: Any, settled: Any
) -> None:
    path = make("full")
    db = sqlite3.connect(path)
    db.execute("DELETE FROM narratives_fts WHERE rowid = 1")
    db.commit()
    db.close()
    left = "SELECT count(*) FROM hook_runs WHERE session_id = 'nobody'"
    copied: list[str] = []
    async with cockpit(path, (160, 45)) as pilot:
        pilot.app.copy_out = copied.append
        await pilot.press("8")
        shown = await until(pilot, "wrong search", "note  orphans", "1 hook run of sessions that are gone")
        await settled(pilot)
        assert shown.index("wrong search") < shown.index("note  orphans") < shown.index("✓ fine")
        await pilot.press("y")
        assert copied == ["nmem doctor --fix"]
        await pilot.press("f")
        await until(pilot, "Fix findings that need no decision", "fixes this")
        await pilot.press("f", "enter")
        await until(pilot, "1 hook run of sessions", gone="Fix findings")
        assert ask(left) == [1]
        await pilot.press("f")
        await until(pilot, "fixes this")
        await pilot.press("y")
        await until(pilot, "fixed: ", gone="1 hook run of sessions that are gone  ")
        assert ask(left) == [0]


async def test_purge_shows_what_goes_takes_it_and_gives_it_back(
    make: Any, cockpit: Any, until: Any, settled: Any
) -> None:
    path = make("full")
    before = facts()
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("2", "j")
        await settled(pilot)
        await pilot.press("x")
        shown = await until(pilot, "These go:", "brings them back until 10-10 08:53", "purges this")
        assert "prompt" in shown
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
    path = make("bare")
    before = facts()
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("k", "k")
        await settled(pilot)
        await until(pilot, "row 15 of 17", "ruff check")
        await pilot.press("x")
        shown = await until(pilot, "These go: 1 call", "brings them back until 10-10 08:53", "purges this")
        assert "prompt" not in shown.partition("These go:")[2].partition("purges this")[0]
        await pilot.press("y")
        await until(pilot, "row 15 of 16", gone="ruff check")
        assert len(facts()) == len(before) - 1
        assert ask("SELECT state FROM purges") == ["kept"]
        await pilot.press("u")
        await until(pilot, "of 17", "ruff check")
        assert facts() == before
        assert ask("SELECT state FROM purges") == ["undone"]


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
    make: Any, cockpit: Any, until: Any, settled: Any, seeds: Any, healths: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make("full")
    settle(path, 600, models=False, clock=lambda: seeds.NOW)
    with pytest.raises(NmemError, match="ahead of the last recorded time"):
        jobs.sweep(Job("sweep", lambda _message: None), path, seeds.NOW + 365 * 86_400_000)
    monkeypatch.setattr("nmem_tui.operations.jobs._BUSY_S", 0.1)
    old = "SELECT count(*) FROM observations WHERE session_id = ?"
    there = ask(old, healths.OLD)
    assert there[0] > 5
    before = facts()
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("8")
        await until(pilot, "Findings")
        await settled(pilot)
        with closing(sqlite3.connect(path)) as db:
            db.execute("BEGIN EXCLUSIVE")
            db.execute("UPDATE counters SET value = value")
            for key in "Sy":
                await pilot.press(key)
                await settled(pilot)
            await until(pilot, "✗ sweep: the database is busy", "esc seen")
            db.execute("ROLLBACK")
        await pilot.press("escape")
        await until(pilot, gone="✗ sweep")
        assert facts() == before, "a locked database is told in place, and nothing is changed"
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


async def test_a_backup_is_whole_or_leaves_nothing(
    make: Any, cockpit: Any, until: Any, settled: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = take.backup

    def full(*_args: object, **_named: object) -> object:
        raise OSError(28, "No space left on device")

    def stopped(path: str, progress: Any) -> Any:
        def told(done: int, whole: int) -> None:
            pilot.app.job.stop()
            progress(done, whole)

        return real(path, progress=told)

    async with cockpit(make("bare"), (160, 45)) as pilot:
        await pilot.press("8", "v", "v", "v", "v")
        await until(pilot, "no backup yet")
        monkeypatch.setattr("nmem.backup.take.backup", full)
        await pilot.press("b")
        await until(pilot, "✗ backup: [Errno 28] No space left on device; try again", "esc seen")
        pilot.app.clear_notifications()
        await settled(pilot)
        assert list(here.glob("backups/*")) == []
        await pilot.press("escape")
        await until(pilot, gone="No space left")
        before = {path.name for path in here.rglob("*") if path.is_file()}
        monkeypatch.setattr("nmem.backup.take.backup", stopped)
        await pilot.press("b")
        await until(pilot, "backup: stopped")
        await settled(pilot)
        left = {path.name for path in here.rglob("*") if path.is_file()} - before
        assert not [name for name in left if not name.startswith("aurora.db")]
        monkeypatch.setattr("nmem.backup.take.backup", real)
        await pilot.press("b")
        await until(pilot, "backed up: ", gone="no backup yet")
    (made,) = (here / "backups").glob("nmem-*.db")
    count = "SELECT count(*) FROM observations"
    with closing(sqlite3.connect(made)) as copy:
        assert copy.execute(count).fetchone()[0] == ask(count)[0]


async def test_the_deep_audit_reads_everything_on_a_key_only(make: Any, cockpit: Any, until: Any, settled: Any) -> None:
    file = Path(os.environ["HOME"]) / ".codex" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\xff\xfe")
    async with cockpit(make("full"), (160, 45)) as pilot:
        await pilot.press("8")
        shown = await until(pilot, "seen quickly", "1 wrong", "cannot be read")
        assert "text indexes" not in shown
        await settled(pilot)
        await pilot.press("A")
        everything = ("everything was read at 10-09 08:53", "text indexes", "second opinion")
        await until(pilot, *everything, "1 wrong", "cannot be read")  # the file is not read by it, and still named
        await settled(pilot)
        await pilot.press("ctrl+r")
        await until(pilot, "seen quickly", gone="text indexes")


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


async def test_without_a_client_it_says_first_that_nothing_is_recorded(
    make: Any, cockpit: Any, until: Any, settled: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("nmem.doctor.registrations.unconnected", unconnected)
    async with cockpit(make("full"), (160, 45)) as pilot:
        await pilot.press("8")
        shown = await until(pilot, "nothing is recorded", "nmem init", "✗ no client is connected")
        assert "nothing lost" not in shown
        assert "Findings ─ 0 wrong" not in shown
        assert pilot.app.screen.finding.mend == "nmem init"
        await settled(pilot)
        settings = Path.home() / ".claude" / "settings.json"
        settings.parent.mkdir(parents=True)
        settings.write_text("{")
        await pilot.press("ctrl+r")
        await until(pilot, "nothing lost", gone="nothing is recorded")


async def test_why_no_hook_has_run_is_said_as_the_doctor_says_it(
    make: Any, cockpit: Any, until: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make("bare")
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM hook_runs")
        db.commit()
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("8")
        await settled(pilot)
        await pilot.press("v")
        await until(pilot, "hooks are registered, none has run yet", gone="no hook has run yet")
        monkeypatch.setattr("nmem.doctor.registrations.unconnected", unconnected)
        install.install(install.plan_install(targets.target("codex", "user", str(Path.cwd())), path), path)
        (doctor,) = switches.codex(str(Path.cwd()))
        assert (doctor.check, doctor.severity) == ("trust", "wrong")
        await pilot.press("V", "ctrl+r")
        shown = await until(pilot, "Codex skips hooks that are not trusted yet")
        assert "Findings ─ 1 wrong" in shown
        await settled(pilot)
        await pilot.press("g")  # the cursor stays on what it was on
        assert pilot.app.screen.finding == doctor
        await pilot.press("v")
        shown = await until(pilot, "start codex, type /hooks and trust nmem's hooks")
        assert "the next prompt runs one" not in shown
