"""Files that the cockpit watches, end to end: a transcript that grows, the config, a decision file."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nmem import database
from nmem.read import views
from nmem_tui.app import Cockpit
from nmem_tui.messages import FileChanged
from nmem_tui.store.watch import Watch

SESSION = "5f0c1e0a-watched"


@pytest.fixture
def watched(here: Path, seeds: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A session with a transcript, a project folder with decisions, and a config file."""
    root, config = here / "aurora", here / "config" / "config.toml"
    transcript = here / "transcripts" / f"{SESSION}.jsonl"
    for folder in (root / "docs" / "adr", config.parent, transcript.parent):
        folder.mkdir(parents=True)
    transcript.write_text("")
    config.write_text("")
    monkeypatch.setenv("NMEM_CONFIG", str(config))
    db = seeds.database("aurora.db")
    seeds.session(db, SESSION, transcript_path=str(transcript), cwd=str(root))
    db.execute("UPDATE projects SET root = ?", (str(root),))
    seeds.say(db, seeds.NOW - 60_000, "Why is the lamp dark?", session_id=SESSION)
    db.close()
    return {"transcript": transcript, "config": config, "decisions": root / "docs" / "adr"}


def thought(text: str, at: int) -> str:
    """A record of a client's transcript."""
    stamp = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    content = [{"type": "thinking", "thinking": text, "signature": ""}]
    message = {"id": "msg_1", "role": "assistant", "model": "claude-opus-4-8", "content": content, "usage": {}}
    record = {"type": "assistant", "uuid": "u-1", "parentUuid": None, "sessionId": SESSION, "cwd": "/src/aurora",
              "version": "2.1.0", "timestamp": stamp, "message": message}  # fmt: skip
    return json.dumps(record) + "\n"


async def test_what_files_tell_comes_on_screen(watched: dict[str, Path], seeds: Any, text: Any) -> None:
    app = Cockpit("aurora.db", theme="dark", watch=True, clock=lambda: int(seeds.NOW), zone=UTC)
    async with app.run_test(size=(160, 45), notifications=True) as pilot:

        async def until(word: str) -> None:
            for _ in range(4000):
                await pilot.pause(0.03)
                if word in text(pilot):
                    return
            pytest.fail(f"{word} did not come:\n{text(pilot)}")

        await until("Why is the lamp dark?")
        for _ in range(4000):  # the watch begins a second after the first frame
            await asyncio.sleep(0.03)
            if app._watch is not None and app._watch.watching == app._watch.folders():
                break
        with watched["transcript"].open("a") as file:
            file.write(thought("The fuse of the lamp is gone, I suppose.", seeds.NOW - 5_000))
        await until("The fuse of the lamp is gone")
        db = sqlite3.connect("aurora.db")
        assert db.execute("SELECT count(*) FROM prompts WHERE kind = 'thinking'").fetchone()[0] == 1
        db.close()

        watched["config"].write_text('[tui]\ntheme = "light"\n')
        for _ in range(4000):
            await pilot.pause(0.03)
            if app.theme == "nmem-light":
                break
        assert app.theme == "nmem-light"

        (watched["decisions"] / "0007-lamps.md").write_text("# Lamps have fuses\n")
        await until("decision file changed: 0007-lamps.md")

        watched["config"].write_text("[tui\n")
        await until("config not read:")


@pytest.mark.parametrize("there", ["", "far"])
async def test_a_config_whose_folder_is_made_later_is_taken_up(
    there: str, here: Path, watched: dict[str, Path], seeds: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / there).mkdir(exist_ok=True)
    config = here / "far" / "away" / "config.toml"
    monkeypatch.setenv("NMEM_CONFIG", str(config))
    app = Cockpit("aurora.db", theme="", watch=True, clock=lambda: int(seeds.NOW), zone=UTC)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:

        async def until(word: str) -> None:
            for _ in range(4000):
                await pilot.pause(0.03)
                if app.theme == word:
                    return
            pytest.fail(f"{word} did not come: {app.theme}, watching {app._watch and app._watch.watching}")

        for _ in range(4000):
            await pilot.pause(0.03)
            if app._watch is not None and str(here / there).rstrip("/") in app._watch.watching:
                break
        config.parent.mkdir(parents=True)
        config.write_text('[tui]\ntheme = "light"\n')
        await until("nmem-light")
        config.write_text('[tui]\ntheme = "dark"\n')
        await until("nmem-dark")


async def test_what_is_not_watched_says_nothing(watched: dict[str, Path], seeds: Any) -> None:

    told: list[FileChanged] = []
    watch = Watch("aurora.db", told.append)
    watch._tell(str(watched["decisions"] / "0008.md"))
    assert told == [], "no session is followed yet"


def test_what_a_transcript_says_before_it_is_watched_is_stored_at_the_next_look(
    watched: dict[str, Path], seeds: Any
) -> None:
    watch = Watch("aurora.db", lambda _told: None)
    with closing(database.reader("aurora.db")) as db:
        watch.follow(views.session(db, SESSION))
    watch._catch_up()
    with watched["transcript"].open("a") as file:
        file.write(thought("The fuse of the lamp is gone, I suppose.", seeds.NOW - 5_000))
    watch._look_again()
    with closing(sqlite3.connect("aurora.db")) as db:
        assert db.execute("SELECT count(*) FROM prompts WHERE kind = 'thinking'").fetchone() == (1,)


def test_a_watch_that_is_stopped_before_it_begins_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch("aurora.db", lambda _told: None)
    clear = watch._moved.clear

    def late() -> None:
        """The cockpit closes just now."""
        watch.stop()
        clear()

    monkeypatch.setattr(watch._moved, "clear", late)
    monkeypatch.setattr(watch, "_catch_up", lambda: pytest.fail("it watches on"))
    watch.run()


def test_a_watch_that_fails_says_so_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[FileChanged] = []
    watch = Watch("aurora.db", told.append)
    tried = 0

    def fails() -> None:
        nonlocal tried
        tried += 1
        watch._moved.set()
        if tried == 3:
            watch.stop()
        raise TypeError("no such record")

    monkeypatch.setattr(watch, "_catch_up", fails)
    monkeypatch.setattr("nmem_tui.store.watch._WAIT_MS", 1)
    watch.run()
    assert tried == 3
    assert [each.kind for each in told] == ["trouble"]
    assert "files are not watched: TypeError: no such record" in told[0].path


async def test_a_demo_goes_on_watching_and_keeps_no_draft(
    watched: dict[str, Path], cockpit: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit("aurora.db") as pilot:
        app = pilot.app
        monkeypatch.setattr(app, "_play", lambda: None)
        monkeypatch.setattr("nmem.demo.temporary", lambda: "demo.db")
        app._watch_files()
        before, app.draft = app._watch, object()
        app.do_demo()
        assert before._stopped.is_set()
        assert app._watch is not before
        assert not app._watch._stopped.is_set()
        assert app.draft is None
        await settled(pilot)  # its screens are made anew
