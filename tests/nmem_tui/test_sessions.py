"""The screen Sessions: what it shows, what its keys leave in the database, and how a session is resumed from it."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from nmem.sessions import resume

MINUTE, DAY = 60_000, 86_400_000


@pytest.fixture
def full(here: Path, seeds: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """A session in each state, one archived, one tagged, one whose client deleted its transcript; the oldest of all."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(here / "claude"))
    with closing(seeds.database("aurora.db")) as db:
        now = seeds.NOW
        rows: tuple[tuple[str, str, int, str, dict[str, object]], ...] = (
            ("work", "working", 5_000, "Raise the upload limit to eight megabytes", {"client": "codex"}),
            ("wait", "idle", 20 * MINUTE, "Find out why thumbnails come out rotated", {}),
            ("fail", "ended", DAY, "Mend the flaky avatar test before the release", {"branch": "avatars"}),
            ("gone", "ended", 40 * DAY, "Write the changelog of the summer release", {"project": "atlas"}),
            ("away", "ended", 50 * DAY, "Throw the old importer away", {"client": "gemini"}),
        )
        for name, state, ago, said, more in rows:
            path = here / "claude" / "projects" / "-src-aurora" / f"{name}.jsonl"
            where = {"transcript_path": str(path) if name == "gone" else "", "cwd": "/src/aurora"}
            seeds.session(db, f"{name}-0000", state=state, started_at=now - ago - 9 * MINUTE, last_at=now - ago,
                          **where, **more)  # fmt: skip
            number = seeds.say(db, now - ago - 9 * MINUTE, said, session_id=f"{name}-0000")
            if name == "fail":
                seeds.unit(db, [number], seeds.Verdict("new", "first", 1.0), outcomes={"tests": "failed"})
        marks = [("fail-0000", "", '["release"]', 0), ("away-0000", "", "[]", 1)]
        db.executemany("INSERT INTO session_marks VALUES (?, ?, ?, ?, 1)", marks)
        db.execute(
            "INSERT INTO transcript_copies VALUES ('gone-0000', ?, ?, 12, 1, 'x', 'kept', ?)",
            (now - 40 * DAY, str(here / "claude" / "projects" / "-src-aurora" / "gone.jsonl"),
             zlib.compress(b'{"type":"user"}\n')),
        )  # fmt: skip
        db.commit()
    return "aurora.db"


@pytest.fixture
def at_sessions(settled: Any) -> Callable[..., Any]:
    """Opens the screen, with the cursor on a session."""

    async def go(pilot: Any, name: str = "") -> None:
        await pilot.press("9")
        await settled(pilot)
        if name:
            assert pilot.app.screen.index.seek("session", f"{name}-0000")
        await settled(pilot)

    return go


def marks(session: str) -> tuple[str, str, int] | None:
    """What is said of a session."""
    with closing(sqlite3.connect("aurora.db")) as db:
        found: tuple[str, str, int] | None = db.execute(
            "SELECT name, tags, archived FROM session_marks WHERE session_id = ?", (f"{session}-0000",)
        ).fetchone()
    return found


async def test_screen_is_as_accepted(full: str, looks: Any, at_sessions: Any) -> None:
    await looks(full, "sessions-full", lambda pilot: at_sessions(pilot, "fail"))


async def test_nothing_recorded_says_what_will_be_here(here: Path, cockpit: Any, at_sessions: Any, text: Any) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_sessions(pilot)
        assert "No session yet" in text(pilot) or "nothing recorded yet" in text(pilot)


async def test_states_stand_in_the_list_which_is_sorted_filtered_and_shows_archived_ones(
    full: str, cockpit: Any, at_sessions: Any, until: Any, text: Any
) -> None:
    async with cockpit(full, (120, 30)) as pilot:
        await at_sessions(pilot)
        shown = text(pilot)
        assert "! 1 waiting for you   ● 1 working   ✗ 1 failed   1 done" in shown
        words = ("Raise the upload", "Find out why", "Mend the flaky", "Write the changelog")
        places = [shown.index(each) for each in words]
        assert places == sorted(places)
        assert "Throw the old" not in shown
        assert "#release" in shown
        await pilot.press("slash", *"#release")
        await until(pilot, "1 of 4", "Mend the flaky", gone="Raise the upload")
        await pilot.press("escape", "escape", "slash", *"waiting")
        await until(pilot, "Find out why", gone="Mend the flaky")
        await pilot.press("escape", "escape", "S", "S", "S")
        await until(pilot, "4 sessions, by project")
        await pilot.press("v")
        await until(pilot, "1 session, by project, the archived ones", "Throw the old")
        await pilot.press("v")
        await until(pilot, "5 sessions, by project, archived ones as well")


async def test_sessions_are_named_tagged_and_archived_and_undo_brings_them_back(
    full: str, cockpit: Any, at_sessions: Any, until: Any, settled: Any
) -> None:
    async with cockpit(full, (120, 30)) as pilot:
        await at_sessions(pilot, "wait")
        await pilot.press("A")
        await until(pilot, "session wait-000 is archived", gone="Find out why")
        await pilot.press("u")
        await until(pilot, "undone: session wait-000 is listed again", "4 sessions")
        await settled(pilot)
        assert pilot.app.screen.one.id == "wait-0000", "the cursor is on the session that comes back"
        await pilot.press("R", *"thumbnails", "enter")
        await until(pilot, "named “thumbnails”")
        await pilot.press("m", *"infra !nothing", "enter")
        await until(pilot, "tags: #infra")
        await pilot.press("m", *"infra", "enter")
        await until(pilot, "nothing changes")
        assert marks("wait") == ("thumbnails", '["infra"]', 0)
        await pilot.press("A")
        await until(pilot, "archived", gone="Find out why")
        assert marks("wait") == ("thumbnails", '["infra"]', 1)
        await pilot.press("u")
        await until(pilot, "undone", "thumbnails")
        assert marks("wait") == ("thumbnails", '["infra"]', 0)
        await settled(pilot)
        await at_sessions(pilot, "fail")
        await pilot.press("space", "space", "A")
        await until(pilot, "2 rows archived")
        assert marks("fail") == ("", '["release"]', 1)
        assert marks("gone") == ("", "[]", 1)
        await pilot.press("u")
        await until(pilot, "4 sessions")


async def test_without_tmux_the_command_is_copied_and_beside_it_a_pane_is_opened(
    full: str, cockpit: Any, at_sessions: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []

    def pane(plan: resume.Resume, _environ: object) -> str:
        opened.append(plan.words)
        return "in a pane beside this one"

    async with cockpit(full, (120, 30)) as pilot:
        await at_sessions(pilot, "work")
        await pilot.press("o")
        await until(pilot, "copied: cd /src/aurora && codex resume work-0000")
        monkeypatch.setattr(resume, "likely", lambda _environ: True)
        monkeypatch.setattr(resume, "pane", pane)
        await at_sessions(pilot, "wait")
        await pilot.press("o")
        await until(pilot, "resumed in a pane beside this one")
    assert opened == [("claude", "--resume", "wait-0000")]


async def test_a_deleted_transcript_is_given_back_and_then_resumed(
    full: str, here: Path, cockpit: Any, at_sessions: Any, until: Any
) -> None:
    async with cockpit(full, (160, 45)) as pilot:
        await at_sessions(pilot, "gone")
        await until(pilot, "deleted by its client: b gives it back")
        await pilot.press("o")
        await until(pilot, "its client has deleted the transcript: b gives it back")
        await pilot.press("b")
        await until(pilot, "restored: ")
        assert (here / "claude/projects/-src-aurora/gone.jsonl").read_bytes() == b'{"type":"user"}\n'


async def test_a_session_leads_to_its_stream_and_its_episodes(
    full: str, cockpit: Any, at_sessions: Any, until: Any, settled: Any
) -> None:
    async with cockpit(full, (160, 45)) as pilot:
        await at_sessions(pilot, "fail")
        await pilot.press("enter", *["j"] * 11)
        while pilot.app.screen.pane.item.kind != "session":
            await pilot.press("j")
        await pilot.press("enter")
        await settled(pilot)
        assert (pilot.app.current_mode, pilot.app.chosen) == ("now", "fail-0000")
        await pilot.press("minus")
        await until(pilot, "Sessions ─ 4 sessions")
        assert pilot.app.screen.one.id == "fail-0000"


async def test_a_reader_changes_nothing(full: str, cockpit: Any, at_sessions: Any, until: Any) -> None:
    async with cockpit(full, (120, 30), read_only=True) as pilot:
        await at_sessions(pilot, "wait")
        await pilot.press("A")
        await until(pilot, "read")
    assert marks("wait") is None


async def test_two_sessions_on_one_file_are_warned_of_here_and_on_now(
    full: str, cockpit: Any, seeds: Any, at_sessions: Any, until: Any
) -> None:
    with closing(seeds.database(full)) as db:
        seeds.session(db, "both-0000", state="working", last_at=seeds.NOW - 1_000, client="gemini", cwd="/src/aurora")
        seeds.say(db, seeds.NOW - MINUTE, "Shrink pictures on upload", session_id="both-0000")
        for name in ("work-0000", "both-0000"):
            seeds.do(db, seeds.NOW - MINUTE, "file_edit", "+ limit", file_path="src/upload.py", session_id=name)
        db.commit()
    async with cockpit(full, (120, 30)) as pilot:
        await until(pilot, "! codex work-000 edited src/upload.py too")
        await at_sessions(pilot, "work")
        shown = await until(pilot, "● working !", "! 2 sessions on one file", "gemini both-000 edited")
        assert "edited     src/upload.py" in shown
        await pilot.press("1")
        await pilot.resize_terminal(80, 24)
        await until(pilot, "! codex work-000 edited src/upload.py too")
