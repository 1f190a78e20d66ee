"""The screen Tasks: what it shows, and what its keys leave in the database."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.nmem_tui.asked import row as ask

TO_AFTER, TO_NEEDS = ("tab",) * 3, ("tab",) * 3
"""In the form: from the folder to the time, and from there to the tasks that it needs."""


@pytest.fixture(scope="session")
def tasked(load: Any) -> Any:
    """The module that writes tasks."""
    return load("tasks_seed")


@pytest.fixture
def make(here: Path, seeds: Any, tasked: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, int]]:
    """Writes aurora.db: empty (no file), bare (without tasks), full, hostile; ids by name."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    for name in ("TMUX", "TMUX_PANE", "NMEM_TASK", "NMEM_DB"):
        monkeypatch.delenv(name, raising=False)

    def write(kind: str) -> dict[str, int]:
        if kind == "empty":
            return {}
        made: dict[str, int] = {}
        db = seeds.database("aurora.db")
        if kind == "hostile":
            seeds.hostile(db)
            tasked.hostile(db, seeds)
        else:
            seeds.story(db)
            made = seeds.history(db)
            if kind == "full":
                made |= tasked.fill(db, seeds)
        db.close()
        return made

    return write


@pytest.fixture
def full(make: Any) -> dict[str, int]:
    """The busy day."""
    return dict(make("full"))


@pytest.fixture
def at_tasks(settled: Any) -> Callable[..., Any]:
    """Opens the screen, with the cursor on a task."""

    async def go(pilot: Any, task_id: int = 0) -> None:
        await pilot.press("7")
        await settled(pilot)
        if task_id:
            pilot.app.screen.go_to(task_id)
        await settled(pilot)

    return go


@pytest.mark.parametrize("kind", ["empty", "full", "hostile"])
async def test_screen_is_as_accepted(kind: str, make: Any, looks: Any, text: Any, at_tasks: Any) -> None:
    async def arrive(pilot: Any) -> None:
        await at_tasks(pilot)
        assert "? help" in text(pilot).splitlines()[-1]

    make(kind)
    await looks("aurora.db", f"tasks-{kind}", arrive)


async def test_views_are_as_accepted(
    full: Any, looks_at_each: Any, settled: Any, at_tasks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmem_tui.screens.task_form._here", lambda: "/tmp")

    def arrive(name: str, key: str) -> Callable[[Any], Any]:
        async def go(pilot: Any) -> None:
            await pilot.press("escape")  # what was looked at before
            await settled(pilot)
            await at_tasks(pilot, full["next" if name == "run" else "runs"])
            await pilot.press(key)
            await settled(pilot)

        return go

    keys = {"detail": "enter", "output": "o", "run": "S", "form": "n"}
    await looks_at_each("aurora.db", {f"tasks-{name}": arrive(name, key) for name, key in keys.items()})


def rows(shown: str) -> list[str]:
    """The list's rows."""
    return [line for line in shown.splitlines() if any(f" {mark} " in line[:6] or line[1:3] == f"{mark} "
            for mark in "●!○✓✗–") and "nmem ▸" not in line]  # fmt: skip


async def test_what_is_at_work_stands_first_then_the_queue_and_words_filter_them(
    full: Any, cockpit: Any, text: Any, until: Any, at_tasks: Any, seeds: Any
) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await until(pilot, "7 Tas ·2")  # on another screen
        await at_tasks(pilot)
        shown = text(pilot)
        words = ("Move the", "Raise the", "Find out", "Check every", "Document", "Mend the", "Write the",
                 "Rebuild", "Upgrade", "Update the", "Profile")  # fmt: skip
        places = [shown.index(each) for each in words]
        assert places == sorted(places)
        for reason in ("ready", f"folder: {full['runs']}", f"after {full['next']}", "20:53", "? approve"):
            assert reason in shown
        assert "7 Tasks ·2" in shown
        assert "! 1 needs you" in shown
        await pilot.press("slash", *"failed")
        await until(pilot, "filter “failed” · 2 of 11")
        await pilot.press(*" zebra")
        await until(pilot, "nothing matches: esc clears")
        await pilot.press("escape")
        await until(pilot, "Tasks ─ 11 tasks")
        await at_tasks(pilot, full["done"])
        await pilot.press("a")
        await until(pilot, f"nmem task attach {full['done']}")
        await at_tasks(pilot, full["runs"])
        await pilot.press("a")
        await until(pilot, "the task runs without a terminal")
        pilot.app.clear_notifications()
        await pilot.press("1")
        db = seeds.database("aurora.db")
        db.execute("UPDATE tasks SET state = 'succeeded'")
        db.close()
        await until(pilot, "7 Tas", gone="·2")


async def test_detail_says_why_what_and_when_and_one_key_lets_what_an_agent_queued_run(
    full: Any, cockpit: Any, text: Any, until: Any, at_tasks: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_tasks(pilot, full["failed"])
        shown = text(pilot)
        for words in ("✗ failed  exit code 1  took 26 m", "needed by task/3", "retried", "3 of 3", "no matching dist"):
            assert words in " ".join(shown.split()) or words in shown
        await at_tasks(pilot, full["then"])
        assert f"waits for task/{full['next']}" in text(pilot)
        assert f"task/{full['next']} ○ queued" in text(pilot)
        await at_tasks(pilot, full["quiet"])
        await until(pilot, "? approve", "A approves", "waits for your approval", "A lets it run")
        await pilot.press("A")
        await until(pilot, f"task/{full['quiet']} is approved", "until 23:59", gone="? approve")
        assert ask("SELECT text FROM task_events WHERE what = 'approved'") == "by a person"
        await pilot.press("A")
        await until(pilot, "the task needs no approval: it is queued")


async def test_a_task_is_written_and_queued(
    full: Any, here: Path, cockpit: Any, until: Any, settled: Any, at_tasks: Any, seeds: Any
) -> None:
    (here / "aurora").mkdir()
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_tasks(pilot)
        await pilot.press("n")
        await until(pilot, "New task", "project test_a")  # the session's own folder is gone
        assert pilot.app.screen.query_one("#folder").value == str(here)
        await until(pilot, "! the session's folder, /src/aurora, is gone: the one that nmem was")
        await pilot.press(*"Count q", "enter", *"and x", "tab", "right", "tab", "ctrl+u", *"aurora")
        await until(pilot, "project aurora")
        await pilot.press(*TO_AFTER, *"2h", *TO_NEEDS, *f"{full['next']}, task/{full['busy']}", "tab", *"5", "enter")
        await until(pilot, "is queued: S starts it now", gone="New task")
        made = ask("SELECT prompt, client, cwd, priority, not_before, worktree, state, source FROM tasks"
                   " ORDER BY id DESC LIMIT 1")  # fmt: skip
        later = seeds.NOW + 7_200_000
        assert made == ("Count q\nand x", "codex", str(here / "aurora"), 5, later, 0, "queued", "person")
        assert (
            ask("SELECT group_concat(needs_id) FROM task_needs WHERE task_id = 12") == f"{full['busy']},{full['next']}"
        )
        await settled(pilot)
        assert pilot.app.screen.one.id == 12


async def test_another_folder_of_the_project_stands_for_the_one_that_is_gone(
    full: Any, here: Path, cockpit: Any, until: Any, at_tasks: Any
) -> None:
    (here / "moved").mkdir()
    with closing(sqlite3.connect("aurora.db", isolation_level=None)) as db:
        db.execute(
            "INSERT INTO project_folders (folder, root, project_id)"
            " SELECT ?1, ?1, id FROM projects WHERE name = 'aurora-api'",
            (str(here / "moved"),),
        )
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_tasks(pilot)
        await pilot.press("n")
        await until(pilot, "/src/aurora, is gone: another one of its")
        assert pilot.app.screen.query_one("#folder").value == str(here / "moved")
        await pilot.press(*"Do it", "tab", "tab", "ctrl+u", *str(here))
        await until(pilot, "nothing starts by itself", gone="is gone")
        await pilot.press("enter")
        await until(pilot, "is queued", gone="New task")
        assert ask("SELECT cwd FROM tasks ORDER BY id DESC LIMIT 1") == str(here)


async def test_what_is_wrong_is_told_in_place_and_nothing_is_lost(
    full: Any, here: Path, cockpit: Any, until: Any, settled: Any, at_tasks: Any
) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_tasks(pilot)
        await pilot.press("n", "ctrl+s")
        await until(pilot, "✗ describe what to do")
        await pilot.press("tab", "tab", "ctrl+u", *"/src/aurora")
        await until(pilot, "✗ describe what to do")
        await pilot.press("shift+tab", "shift+tab", *"Do it")
        await until(pilot, "✗ folder: /src/aurora is not a folder: a task needs one")
        await pilot.press("ctrl+s")
        assert pilot.app.screen.focused.id == "folder"
        await pilot.press("ctrl+u")
        await until(pilot, "✗ folder: name a folder or a project to run in")
        await pilot.press(*str(here), *TO_AFTER, *"yesterweek")
        await until(pilot, "✗ invalid time 'yesterweek'")
        await pilot.press("enter")
        await until(pilot, "New task", "✗ after: invalid time 'yesterweek'")
        await pilot.press("ctrl+u", *TO_NEEDS, *"99")
        await until(pilot, "✗ there is no task 99")
        await pilot.press("ctrl+s")
        await until(pilot, "✗ there is no task 99", "New task")
        assert ask("SELECT count(*) FROM tasks") == 11
        await pilot.press("escape")
        await until(pilot, "Tasks ─ 11 tasks", "your text is kept: n continues it", gone="New task")
        await pilot.press("n")
        await until(pilot, "Do it", "99")
        await pilot.press("tab", "tab", *TO_AFTER, *TO_NEEDS, "ctrl+u", "enter")
        await until(pilot, "is queued", gone="New task")
        assert ask("SELECT prompt, not_before FROM tasks WHERE id = 12") == ("Do it", 0)
        await settled(pilot)
        await pilot.press("n")
        await until(pilot, "What is to be done?")


async def test_what_is_pasted_commands_no_terminal_and_a_secret_is_said_and_not_stored(
    full: Any, cockpit: Any, until: Any, settled: Any, at_tasks: Any
) -> None:
    from textual.events import Paste

    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_tasks(pilot)
        await pilot.press("n")
        await until(pilot, "New task")
        prompt = pilot.app.screen.prompt
        prompt.post_message(Paste("a\x1b]52;c;aGk=\x07b\r\nc\x1b[2J"))
        await settled(pilot)
        assert prompt.text == "ab\nc"
        await pilot.press("tab", "tab", "ctrl+u", *".", "shift+tab", "shift+tab")
        await pilot.press(*" push with ghp_16C7e42F292c6912E7710c838347Ae178B4a now")
        await until(pilot, "1 secret in it")
        await pilot.press("ctrl+s")
        await until(pilot, "is queued", gone="New task")
        assert "ghp_16" not in ask("SELECT prompt FROM tasks WHERE id = 12")


async def test_a_queued_task_is_edited(full: Any, here: Path, cockpit: Any, until: Any, at_tasks: Any) -> None:
    db = sqlite3.connect("aurora.db")
    db.execute("UPDATE tasks SET cwd = ?, worktree = 0", (str(here),))
    db.commit()
    db.close()
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_tasks(pilot, full["then"])
        await pilot.press("e")
        await until(pilot, f"Task {full['then']} ─ queued", "changes it")
        await pilot.press(*" at last", "tab", "tab", *TO_AFTER, *TO_NEEDS, "tab", "ctrl+u", *"7", "enter")
        await until(pilot, f"task/{full['then']} is changed", gone="changes it")
        row = ask("SELECT prompt, priority, retries, cwd, state FROM tasks WHERE id = ?", full["then"])
        assert row == ("Mend the orientation of thumbnails at last", 7, 2, str(here), "queued")
        assert ask("SELECT text FROM task_events WHERE what = 'edited'") == "prompt, project, priority"
        assert ask("SELECT needs_id FROM task_needs WHERE task_id = ?", full["then"]) == full["next"]
        await at_tasks(pilot, full["runs"])
        await pilot.press("e")
        await until(pilot, "the task is running: c cancels it first")


async def test_cancel_asks_and_takes_what_needs_it_along_and_retry_queues_again(
    full: Any, cockpit: Any, until: Any, at_tasks: Any
) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_tasks(pilot, full["failed"])
        await pilot.press("R")
        await until(pilot, f"task/{full['failed']}, task/{full['after-failed']} are queued again", "7 queued")
        assert ask("SELECT count(*) FROM tasks WHERE state = 'queued'") == 7
        await at_tasks(pilot, full["runs"])
        await pilot.press("R")
        await until(pilot, "the task is running: only finished")
        await at_tasks(pilot, full["next"])
        await pilot.press("c")
        await until(pilot, f"Cancel task {full['next']}?", f"cancelled with it: task/{full['then']}")
        await pilot.press("escape")
        await until(pilot, gone="Cancel task")
        assert ask("SELECT state FROM tasks WHERE id = ?", full["next"]) == "queued"
        await pilot.press("c", "enter", "c", "y")
        await until(pilot, f"task/{full['next']} is cancelled: by a person")
        found = [ask("SELECT state, reason FROM tasks WHERE id = ?", full[name]) for name in ("next", "then")]
        assert found == [
            ("cancelled", "by a person"),
            ("cancelled", f"task/{full['next']}, which it needs, was cancelled"),
        ]
        await at_tasks(pilot, full["done"])
        await pilot.press("c")
        await until(pilot, "already over: the task succeeded")


async def test_limit_quiet_hours_and_staying_are_kept(
    full: Any, cockpit: Any, until: Any, settled: Any, at_tasks: Any
) -> None:
    told = "SELECT time_limit, quiet_hours, interactive FROM tasks ORDER BY id DESC LIMIT 1"
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await pilot.press("7")
        await settled(pilot)
        await pilot.press("n")
        await until(pilot, "New task")
        form = pilot.app.screen
        form.prompt.load_text("look at it")
        form.query_one("#folder").value = "."
        form.query_one("#limit").value = "soon"
        form.query_one("#quiet").value = "23:00-7:00"
        form.query_one("#stays").focus()
        await pilot.press("right", "ctrl+s")
        await until(pilot, "invalid duration")
        form.query_one("#limit").value = "90m"
        await pilot.press("ctrl+s")
        await until(pilot, "is queued: S starts it now", gone="New task")
        assert tuple(ask(told)) == (5400, "23:00-07:00", 1)
        number = ask("SELECT max(id) FROM tasks")
        await at_tasks(pilot, number)
        await pilot.press("e")
        await until(pilot, f"Task {number} ─ queued", "90m", "23:00-07:00")
        pilot.app.screen.query_one("#limit").value = "2h"
        await pilot.press("escape")
        await until(pilot, f"task {number} is unchanged: your text was dropped")
        assert tuple(ask(told)) == (5400, "23:00-07:00", 1)
        await pilot.press("e")
        await until(pilot, f"Task {number} ─ queued", "90m", "23:00-07:00")
        pilot.app.screen.query_one("#limit").value = ""
        pilot.app.screen.query_one("#quiet").value = "none"
        await pilot.press("ctrl+s")
        await until(pilot, "is changed")
        assert tuple(ask(told)) == (0, "", 1)


async def test_remove_asks(full: Any, cockpit: Any, until: Any, at_tasks: Any) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_tasks(pilot, full["done"])
        await pilot.press("x")
        await until(pilot, f"Purge task/{full['done']}", "its worktree stays: /data/nmem/worktrees/aurora-1")
        await pilot.press("escape")
        await until(pilot, gone="Purge task")
        assert ask("SELECT count(*) FROM tasks") == 11
        await pilot.press("x")
        await until(pilot, "purges this")
        await pilot.press("y")
        await until(pilot, "purged: ", "10 tasks")
        assert ask("SELECT count(*) FROM tasks WHERE id = ?", full["done"]) == 0
        assert ask("SELECT count(*) FROM task_events WHERE task_id = ?", full["done"]) == 0
        await pilot.press("u")
        await until(pilot, "undone: purge/1", "11 tasks")
        assert ask("SELECT count(*) FROM task_events WHERE task_id = ?", full["done"]) > 0


CLIENT = """#!/bin/sh
"exec" "{python}" "$0" "$@"
import os, sys, time
said = sys.stdin.read()
print("doing:", said, flush=True)
while "wait" in said and not os.path.exists("go"): time.sleep(0.05)
print("NMEM_DB", os.environ.get("NMEM_DB"), "skips", os.environ.get("NMEM_SKIP_HOOKS"))
sys.exit(3 if "fail" in said else 0)
"""


@pytest.fixture
def client(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`claude` on PATH that does what it is told; tasks run without a terminal."""
    (here / "bin").mkdir()
    (here / "bin" / "claude").write_text(CLIENT.replace("{python}", sys.executable))
    (here / "bin" / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{here / 'bin'}:{os.environ['PATH']}")
    (here / "config.toml").write_text('[dispatch]\nhow = "headless"\n')


def queued(here: Path, tasked: Any, seeds: Any, prompt: str) -> int:
    db = seeds.database("aurora.db")
    made: int = tasked.task(db, prompt, "queued", seeds.NOW, cwd=str(here))
    db.close()
    return made


async def test_run_asks_then_starts_it_and_its_end_is_seen(
    make: Any, client: Any, here: Path, tasked: Any, seeds: Any, cockpit: Any, until: Any, at_tasks: Any, settled: Any
) -> None:
    make("bare")
    number = queued(here, tasked, seeds, "please fail")
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_tasks(pilot)
        await pilot.press("S")
        await until(pilot, f"Run task {number} now?", "claude")
        await pilot.press("enter", "S", "escape")
        await settled(pilot)
        assert ask("SELECT state, attempt FROM tasks") == ("queued", 0)
        await pilot.press("S", "y")
        await until(pilot, "✗ failed", "exit code 3", "doing: please fail")
        assert ask("SELECT output FROM tasks") == f"doing: please fail\nNMEM_DB {here / 'aurora.db'} skips None"
        assert ask("SELECT state, exit_code, attempt FROM tasks") == ("failed", 3, 1)


async def test_a_running_one_is_followed_and_cancelled(
    make: Any, client: Any, here: Path, tasked: Any, seeds: Any, cockpit: Any, until: Any, at_tasks: Any
) -> None:
    make("bare")
    number = queued(here, tasked, seeds, "wait for me")
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_tasks(pilot)
        await pilot.press("S", "y")
        await until(pilot, "● running", "doing: wait for me", "7 Tasks ·1")
        await pilot.press("c")
        await until(pilot, f"Cancel task {number}?", "asked to end")
        await pilot.press("y")
        await until(pilot, "– cancelled", gone="7 Tasks ·1")
        assert ask("SELECT state, reason FROM tasks") == ("cancelled", "by a person")


async def test_the_demo_runs_nothing(make: Any, here: Path, tasked: Any, seeds: Any, cockpit: Any, until: Any) -> None:
    make("bare")
    queued(here, tasked, seeds, "no")
    async with cockpit("aurora.db", (80, 24)) as pilot:
        pilot.app.demo = True
        await pilot.press("7")
        await until(pilot, "○ queued")
        await pilot.press("S")
        await until(pilot, "the demo runs nothing")


async def test_output_is_followed_until_one_looks_further_up(
    full: Any, cockpit: Any, until: Any, settled: Any, at_tasks: Any, seeds: Any
) -> None:
    db = seeds.database("aurora.db")

    def say(lines: int) -> None:
        said = "\n".join(f"line {number}" for number in range(lines))
        db.execute("UPDATE tasks SET output = ? WHERE id = ?", (said, full["runs"]))

    say(100)
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_tasks(pilot, full["runs"])
        await pilot.press("o")
        await until(pilot, "▌line 99", "following")
        say(200)
        await until(pilot, "▌line 199")
        await pilot.press("g")
        await until(pilot, "▌line 0", gone="following")
        say(300)
        await settled(pilot)
        await pilot.pause(0.5)
        await until(pilot, "▌line 0", "line 15", gone="following")
        await pilot.press("G")
        await until(pilot, "▌line 299", "following")
        await pilot.press("escape")
        await until(pilot, "Tasks ─ 11 tasks")
    db.close()


async def test_links_lead_to_session_task_and_learning(
    full: Any, cockpit: Any, until: Any, settled: Any, at_tasks: Any, text: Any, seeds: Any
) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_tasks(pilot, full["then"])
        await pilot.press("enter")
        await until(pilot, f"Task {full['then']} ─")
        while "needs" not in next((line for line in text(pilot).splitlines() if "▌" in line), ""):
            await pilot.press("j")
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.screen.one.id == full["next"]
        await at_tasks(pilot, full["done"])
        await pilot.press("enter")
        await until(pilot, "0b9c4f5e-live  enter shows it", "nmem/task-1")
        await pilot.press("j", "enter")
        await until(pilot, "Stream ─", "Raise it to 8 MB")
        assert pilot.app.chosen == seeds.SESSION


async def test_what_ended_unseen_is_brought_in(full: Any, cockpit: Any, until: Any, at_tasks: Any) -> None:
    db = sqlite3.connect("aurora.db")
    db.execute("UPDATE tasks SET process = '999999@1' WHERE id = ?", (full["runs"],))
    db.commit()
    db.close()
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_tasks(pilot)
        await until(pilot, "○ queued", gone="● running")
        assert ask("SELECT state FROM tasks WHERE id = ?", full["runs"]) == "queued"


async def test_an_episode_becomes_a_task_once_its_folder_is_there(
    full: Any, here: Path, cockpit: Any, until: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("d")
        await until(pilot, "✗ the folder of aurora-api, /src/aurora, no longer exists")
        await pilot.press("escape")
        with closing(sqlite3.connect("aurora.db")) as db, db:
            db.execute("UPDATE projects SET root = ?", (str(here),))
        pilot.app.show_episode(full["flaky"])
        await until(pilot, "Flaky thumbnails test")
        await settled(pilot)
        await pilot.press("d")
        await until(pilot, f"goes on with episode {full['flaky']}", "left to do: Look for other tests")
        await pilot.press("ctrl+s")
        await until(pilot, "is queued")
        prompt, cwd = ask("SELECT prompt, cwd FROM tasks WHERE id = 12")
        assert "Look for other tests that read the wall clock" in prompt
        assert cwd == str(here)
        await settled(pilot)
        await pilot.press("7")
        await settled(pilot)
        assert pilot.app.screen.one.id == 12


async def test_a_learning_becomes_a_task(
    full: Any, here: Path, cockpit: Any, until: Any, settled: Any, seeds: Any, load: Any
) -> None:
    learned = load("learnings_seed")
    db = seeds.database("aurora.db")
    made = learned.fill(db, seeds, full)
    db.execute("UPDATE projects SET root = ?", (str(here),))
    db.close()
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("4")
        await settled(pilot)
        await settled(pilot)
        await pilot.press("d")
        await until(pilot, f"about learning {made['thumbs']}", "7 sessions, 14 times", "project test_a")
        folder = pilot.app.screen.query_one("#folder")
        assert folder.cursor_position == len(folder.value)  # ctrl+u clears it
        await pilot.press("escape")
        await until(pilot, gone="New task")
        assert ask("SELECT count(*) FROM tasks") == 11
        await pilot.press("d")
        await until(pilot, "7 sessions, 14 times", "project test_a")
        await pilot.press("ctrl+s")
        await until(pilot, "is queued", gone="New task")
        row = ask("SELECT learning_id, source, cwd, state FROM tasks WHERE id = 12")
        assert row == (made["thumbs"], "learning", str(here), "queued")


async def test_without_a_database_the_first_task_makes_one(
    make: Any, here: Path, cockpit: Any, until: Any, at_tasks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The screen shows the task at once, before anything looks whether there is a database by now."""
    monkeypatch.setattr("nmem_tui.store.feed._ABSENT_S", 600)
    make("empty")
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await pilot.press("7")
        await until(pilot, "No task yet")
        await pilot.press("n", *"First", "ctrl+s")
        await until(pilot, "○ queued", "First")
        assert ask("SELECT prompt, cwd FROM tasks") == ("First", str(here))


async def test_hostile_text_commands_no_terminal_in_forms_and_questions(
    make: Any, cockpit: Any, settled: Any, at_tasks: Any, text: Any, harmless: Any
) -> None:
    make("hostile")
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_tasks(pilot, 3)
        listed = text(pilot)
        for key in ("e", "S", "x", "c", "o", "enter"):
            await pilot.press(key)
            await settled(pilot)
            assert text(pilot) != listed, f"{key} opens nothing"
            harmless(text(pilot))
            await pilot.press("escape")
            await settled(pilot)


@pytest.mark.parametrize("current", ["now", "episodes", "tasks"])
def test_tabs_fit_and_name_where_one_is(current: str) -> None:
    from nmem_tui.model.screens import TABS
    from nmem_tui.widgets.bars import Tabs

    tabs = Tabs(current)
    tabs.hot, tabs.live = 12, (3, 1)
    for cells in (50, 60, 80, 100, 160):
        shown = "".join(words for words, _ in tabs.line(cells))
        assert len(shown.rstrip()) <= cells
        assert next(name for _, name, mode, _ in TABS if mode == current) in shown
        assert all(f"{key} " in shown for key, *_ in TABS)
        assert "▲12" in shown
        assert "·4" in shown
        assert [action for _, _, action in tabs.spots] == [f"show_{mode}" for _, _, mode, _ in TABS]


async def test_a_long_queue_answers_at_once(make: Any, cockpit: Any, settled: Any, at_tasks: Any, text: Any) -> None:
    make("full")
    db = sqlite3.connect("aurora.db")
    with db:
        db.executemany(
            "INSERT INTO tasks(created_at, changed_at, prompt, cwd, state, ended_at, output)"
            " VALUES (1, 1, ?, '/', ?, ?, ?)",
            (("long " * 2000, "queued" if n % 20 else "succeeded", n, "x" * 16_000) for n in range(1100)),
        )
    db.close()
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_tasks(pilot)
        assert "1,111 tasks, the first 1,000 of them" in text(pilot)
        began = time.process_time()
        await pilot.press(*"jjjjjjjjjj")
        assert time.process_time() - began < 20
        await pilot.press("G")
        await settled(pilot)
        assert "▌○ queued" in text(pilot)
