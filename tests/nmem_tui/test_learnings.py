"""The screen Learnings: what it shows, and what its keys leave in the database and in the project's files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.nmem_tui.asked import row as ask

RULE = "Look into `tests/conftest.py`"


@pytest.fixture(scope="session")
def learned(load: Any) -> Any:
    """The module that writes learnings."""
    return load("learnings_seed")


@pytest.fixture
def known(here: Path, seeds: Any, learned: Any) -> dict[str, int]:
    """Learnings beside the history in aurora.db, in a project that is there: ids by name."""
    db = seeds.database("aurora.db")
    seeds.story(db)
    made: dict[str, int] = learned.fill(db, seeds, seeds.history(db))
    db.execute("UPDATE projects SET root = ?", (str(here / "aurora"),))
    db.close()
    (here / "aurora").mkdir()
    return made


@pytest.fixture
def make(here: Path, seeds: Any, learned: Any) -> Callable[[str], None]:
    """Writes aurora.db: empty (no file), bare (without learnings), learned, hostile."""

    def write(kind: str) -> None:
        if kind == "empty":
            return
        db = seeds.database("aurora.db")
        if kind == "hostile":
            seeds.hostile(db)
            learned.hostile(db, seeds)
        else:
            seeds.story(db)
            made = seeds.history(db)
            if kind == "learned":
                learned.fill(db, seeds, made)
        db.close()

    return write


def state(learning_id: int) -> str:
    return str(ask("SELECT state FROM learnings WHERE id = ?", learning_id))


@pytest.fixture
def at_thumbs(settled: Any) -> Callable[[Any], Any]:
    """Opens the screen; the cursor is on the hottest one, the thumbnails test."""

    async def go(pilot: Any) -> None:
        await pilot.press("4")
        await settled(pilot)
        await settled(pilot)

    return go


@pytest.mark.parametrize("kind", ["empty", "bare", "learned", "hostile"])
async def test_screen_is_as_accepted(kind: str, make: Any, looks: Any, text: Any, at_thumbs: Any) -> None:
    async def arrive(pilot: Any) -> None:
        await at_thumbs(pilot)
        assert "? help" in text(pilot).splitlines()[-1]

    make(kind)
    await looks("aurora.db", f"learnings-{kind}", arrive)


async def test_narrow_views_are_as_accepted(
    make: Any, cockpit: Any, snapshot: Any, settled: Any, at_thumbs: Any
) -> None:
    make("learned")
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await settled(pilot)
        snapshot(pilot, "learnings-warned-dark-80x24")
        await at_thumbs(pilot)
        await pilot.press("enter")
        await settled(pilot)
        snapshot(pilot, "learnings-detail-dark-80x24")
        await pilot.press("escape", "h")
        await settled(pilot)
        snapshot(pilot, "learnings-map-dark-80x24")


async def test_hot_ones_stand_first_states_are_listed_and_words_filter(
    known: Any, cockpit: Any, text: Any, until: Any, at_thumbs: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_thumbs(pilot)
        shown = text(pilot)
        titles = ("`pytest tests/test_thumbs", "bucket not found", "Write the release notes", "src/aurora/proxy.py is")
        places = [shown.index(title) for title in titles]
        assert places == sorted(places)
        for words in ("4 Learnings ▲1 ", "▲ 1 hot", "aurora-api ─ 5 learnings, open",
                      "A change of tests/conftest.py made it pass"):  # fmt: skip
            assert words in shown
        await pilot.resize_terminal(80, 24)
        await until(
            pilot, "1 resolved, 1 accepted", "resolved 1", "accepted 1"
        )  # what holds something is counted first
        await pilot.resize_terminal(160, 45)
        await settled(pilot)
        for name, words in (("accepted", "npm test"), ("dismissed", "nothing is dismissed here"),
                            ("snoozed", "mypy src"), ("resolved", "ruff check"), ("all", "8 learnings")):  # fmt: skip
            await pilot.press("right_curly_bracket")
            await until(pilot, f"▸{name} ", words)
        await pilot.press("left_curly_bracket")
        await until(pilot, "▸resolved 1", "it passed since")
        await pilot.press(*["left_curly_bracket"] * 4)
        await until(pilot, "5 learnings, open")
        await pilot.press("slash", *"conftest")
        await until(pilot, "filter “conftest” · 1 of 5")
        await pilot.press(*" !thumbs")
        await until(pilot, "0 of 5", "nothing matches: esc clears")
        await pilot.press("escape")
        await until(pilot, "5 learnings, open")


async def test_projects_are_widened(
    known: Any, cockpit: Any, seeds: Any, learned: Any, until: Any, at_thumbs: Any
) -> None:
    db = seeds.database("aurora.db")
    seeds.session(db, "beacon", project="lighthouse", state="ended", last_at=seeds.NOW - learned.DAY)
    twin = learned.learning(db, "bucket not found", "bucket not found: lamps", seeds.NOW - learned.DAY,
                            kind="recurring_error", project="lighthouse")  # fmt: skip
    learned.met(db, twin, "beacon", seeds.NOW - learned.DAY, "bucket not found")
    db.close()
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_thumbs(pilot)
        await pilot.press("P")
        await until(pilot, "all projects ─ 6 learnings, open", "lighthouse")
        await pilot.press("P")
        await until(pilot, "across projects ─ 1 learning, open", "aurora-api, lighthouse")
        await pilot.press("i")
        await until(pilot, "P lists each")
        assert state(known["bucket"]) == "open"
        await pilot.press("P")
        await until(pilot, "aurora-api ─ 5 learnings")


async def test_dismiss_resolve_reopen_and_undo(
    known: Any, cockpit: Any, until: Any, at_thumbs: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_thumbs(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.screen.pane.has_focus
        await pilot.press("i")
        await until(pilot, "dismissed: it is not listed", "4 learnings, open", "dismissed 1")
        await settled(pilot)
        assert pilot.app.screen.index.has_focus, "the next key is for a row that is seen to be chosen"
        assert state(known["thumbs"]) == "dismissed"
        await pilot.press("u")
        await until(pilot, "undone", "5 learnings, open")
        assert state(known["thumbs"]) == "open"
        await settled(pilot)
        assert pilot.app.screen.one.id == known["thumbs"], "the next key is about what came back"
        await pilot.press("g", "v")  # the next view elsewhere: nothing is changed by it
        await settled(pilot)
        assert state(known["thumbs"]) == "open"
        await pilot.press("R")
        await until(pilot, "resolved 2")
        assert ask("SELECT state, state_by FROM learnings WHERE id = ?", known["thumbs"]) == ("resolved", "person")
        await pilot.press("left_curly_bracket", "left_curly_bracket")
        await until(pilot, "▸resolved 2", "made it pass")
        await settled(pilot)
        await pilot.press("g", "o")
        await until(pilot, "resolved 1", "open 5")
        assert state(known["thumbs"]) == "open"


async def test_snooze(
    known: Any, cockpit: Any, until: Any, at_thumbs: Any, seeds: Any, learned: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_thumbs(pilot)
        for typed, days in (("d", 1), ("w", 7), ("m", 30)):
            await pilot.press("g", "z")
            await until(pilot, "Snooze ─ open again after", "1 month")
            await pilot.press(typed, "enter")
            await until(pilot, "snoozed for 1", "snoozed 2")
            row = ask("SELECT state, snoozed_until FROM learnings WHERE id = ?", known["thumbs"])
            assert row == ("snoozed", seeds.NOW + days * learned.DAY), typed
            await settled(pilot)
            await pilot.press("u")
            await until(pilot, "undone", "snoozed 1")
            await settled(pilot)


async def test_accept_shows_the_diff_and_only_y_writes(
    known: Any, here: Path, cockpit: Any, until: Any, at_thumbs: Any, settled: Any
) -> None:
    file = here / "aurora" / "CLAUDE.md"
    file.write_bytes(b"# Aurora\r\nno line end")
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_thumbs(pilot)
        await pilot.press("a")
        await until(pilot, "into CLAUDE.md", f"+ - {RULE}", "no line end", "<!-- nmem:learnings -->")
        await pilot.press("enter", "a")
        await settled(pilot)
        assert file.read_bytes() == b"# Aurora\r\nno line end"
        assert state(known["thumbs"]) == "open"
        await pilot.press("y")
        await until(pilot, "accepted: its rule stands in", "accepted 2")
        assert file.read_bytes().startswith(b"# Aurora\r\nno line end\r\n")
        assert RULE.encode() in file.read_bytes()
        assert state(known["thumbs"]) == "accepted"
        await settled(pilot)
        await pilot.press("u")
        await until(pilot, "undone", "accepted 1")
        assert file.read_bytes() == b"# Aurora\r\nno line end"
        assert state(known["thumbs"]) == "open"


async def test_rule_is_edited_and_another_file_chosen(
    known: Any, here: Path, cockpit: Any, until: Any, at_thumbs: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_thumbs(pilot)
        await pilot.press("a")
        await until(pilot, "a new file in", f"+ - {RULE}")
        await pilot.press("e", "ctrl+u", *"Use a fixed clock, y", "enter")
        await until(pilot, "+ - Use a fixed clock, y")
        await pilot.press("f")
        await until(pilot, "The rule goes into", "AGENTS.md")
        await pilot.press(*"NOTES.md", "enter")
        await until(pilot, "into NOTES.md", "+ - Use a fixed clock, y")
        await pilot.press("y")
        await until(pilot, "accepted: its rule stands in NOTES.md")
        assert b"- Use a fixed clock, y\n" in (here / "aurora" / "NOTES.md").read_bytes()
        assert ask("SELECT rule FROM learnings WHERE id = ?", known["thumbs"]) == "Use a fixed clock, y"
        assert not (here / "aurora" / "CLAUDE.md").exists()


async def test_reopening_an_accepted_one_shows_what_comes_out(
    known: Any, here: Path, cockpit: Any, until: Any, at_thumbs: Any, settled: Any
) -> None:
    file = here / "aurora" / "CLAUDE.md"
    file.write_bytes(b"# Aurora\n")
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_thumbs(pilot)
        await pilot.press("a")
        await until(pilot, "into CLAUDE.md")
        await pilot.press("y")
        await until(pilot, "accepted 2")
        await settled(pilot)
        await pilot.press("right_curly_bracket")
        await until(pilot, "▸accepted 2")
        await settled(pilot)
        await pilot.press("g", "o")
        await until(pilot, "its rule comes out", f"- - {RULE}")
        await pilot.press("escape")
        await settled(pilot)
        assert RULE.encode() in file.read_bytes()
        await pilot.press("o")
        await until(pilot, "its rule comes out", f"- - {RULE}")
        await pilot.press("y")
        await until(pilot, "its rule is out of CLAUDE.md")
        assert file.read_bytes() == b"# Aurora\n"
        assert state(known["thumbs"]) == "open"


async def test_what_cannot_be_accepted_is_told_in_place(
    known: Any, here: Path, cockpit: Any, until: Any, at_thumbs: Any, settled: Any
) -> None:
    outside = here / "elsewhere.md"
    outside.write_text("mine\n", "utf-8")
    (here / "aurora" / "CLAUDE.md").symlink_to(outside)
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_thumbs(pilot)
        await pilot.press("a")
        await until(pilot, "✗ CLAUDE.md leads to")
        await pilot.press("y")
        await settled(pilot)
        assert outside.read_text("utf-8") == "mine\n"
        assert state(known["thumbs"]) == "open"


async def test_a_project_whose_folder_is_gone_takes_its_rule_in_a_checkout_elsewhere(
    known: Any, here: Path, cockpit: Any, until: Any, at_thumbs: Any, settled: Any
) -> None:
    (here / "aurora").rename(here / "gone")
    clone = here / "src"
    (clone / ".git").mkdir(parents=True)
    (clone / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await at_thumbs(pilot)
        await pilot.press("a")
        await until(pilot, "✗ the folder of aurora-api", RULE, "─ f another file")
        await pilot.press("y")
        await settled(pilot)
        assert state(known["thumbs"]) == "open"
        await pilot.press("e", "ctrl+u", *"Look twice", "enter")
        await until(pilot, "Look twice", "✗ the folder of aurora-api")
        await pilot.press("f")
        await until(pilot, "The rule goes into", "type the path of a Markdown file")
        await pilot.press(*str(clone / "CLAUDE.md"), "enter")
        await until(pilot, "into CLAUDE.md", "+ - Look twice", "y writes this")
        await pilot.press("y")
        await until(pilot, "accepted: its rule stands in CLAUDE.md")
        assert b"- Look twice\n" in (clone / "CLAUDE.md").read_bytes()
        assert state(known["thumbs"]) == "accepted"


async def test_a_fix_that_is_not_believed_and_one_that_is_are_each_told_one_way(
    known: Any, cockpit: Any, until: Any, at_thumbs: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_thumbs(pilot)
        shown = await until(pilot, "What made it pass", "it helped in", "% sure")
        assert "of the failures" not in shown
    with sqlite3.connect("aurora.db") as db:
        db.execute("UPDATE learnings SET remedy = NULL WHERE id = ?", (known["thumbs"],))
    db.close()
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_thumbs(pilot)
        shown = await until(pilot, "put right 1×, see ✓ below", "none is sure")
        assert "not known yet" not in shown


async def test_a_file_changed_meanwhile_is_not_written(
    known: Any, here: Path, cockpit: Any, until: Any, at_thumbs: Any
) -> None:
    file = here / "aurora" / "CLAUDE.md"
    file.write_bytes(b"# Aurora\n")
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_thumbs(pilot)
        await pilot.press("a")
        await until(pilot, f"+ - {RULE}")
        file.write_bytes(b"# Another\n")
        await pilot.press("y")
        await until(pilot, "changed in the meantime")
        assert file.read_bytes() == b"# Another\n"
        assert state(known["thumbs"]) == "open"


async def test_evidence_leads_to_the_moment_in_its_session_and_to_its_story(
    known: Any, cockpit: Any, until: Any, at_thumbs: Any, text: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_thumbs(pilot)
        await pilot.press("enter")
        for _ in range(12):
            await pilot.press("right_square_bracket")
            line = next((line for line in text(pilot).splitlines() if "│▌│ " in line), "")
            if "✗ failed pytest tests/test_thumbs.py" in line:
                break
        else:
            pytest.fail(f"no such evidence:\n{text(pilot)}")
        await pilot.press("enter")
        shown = await until(pilot, "Stream ─ row", "The thumbnails test is flaky")
        line = next(line for line in shown.splitlines() if "▌" in line)
        assert "pytest tests/test_thumbs.py" in line
        assert "✗" in line
        await pilot.press("4")
        await until(pilot, "│▌│ ")
        await pilot.press("w")
        await until(pilot, "Story ─ episode", "Flaky thumbnails test")


async def test_now_and_the_story_warn_with_their_reason_and_one_key_opens_the_learning(
    known: Any, cockpit: Any, until: Any
) -> None:
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await until(pilot, "! failed before: “`pytest", "+1")
        await pilot.press("exclamation_mark")
        await until(pilot, f"Learning {known['thumbs']} ─ failing command", "What made it pass")
        await pilot.press("escape", "1")
        await pilot.resize_terminal(200, 45)
        await pilot.press("w")
        await until(pilot, "warned", "it works on src/aurora/upload.py", "! error seen before: “bucket not found")
        await pilot.press("exclamation_mark")
        await until(pilot, f"Learning {known['thumbs']} ─")


async def test_what_changes_elsewhere_shows_without_moving_the_cursor_and_a_failing_change_is_told(
    known: Any, cockpit: Any, until: Any, at_thumbs: Any, seeds: Any, learned: Any
) -> None:
    from nmem_tui.operations import commands

    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_thumbs(pilot)
        await pilot.press("j")
        await until(pilot, f"Learning {known['bucket']} ─ recurring error")
        db = seeds.database("aurora.db")
        one = learned.learning(db, "make", "`make all` fails: no rule", seeds.NOW, sessions=6, occurrences=6)
        for number in range(6):
            learned.met(db, one, f"older-{number}", seeds.NOW, "make: *** No rule")
        await until(
            pilot, "6 learnings, open", "`make all` fails", f"Learning {known['bucket']} ─ recurring error", "▲"
        )
        gone = pilot.app.screen.one.id
        db.execute("DELETE FROM learnings WHERE id = ?", (gone,))
        pilot.app.change(commands.mark_learning(gone, "dismissed"))
        await until(pilot, f"there is no learning {gone}")
        db.close()


@pytest.fixture
def skill(known: Any, here: Path, learned: Any) -> int:
    """A skill of the project; its id."""
    steps = {"kind": "steps", "text": "", "files": [], "commands": ["make gen", "vale docs", "git commit"],
             "observation_ids": [], "confidence": 0.6, "times": 3}  # fmt: skip
    with closing(sqlite3.connect(here / "aurora.db")) as db, db:
        newest = db.execute("SELECT max(last_at) FROM sessions").fetchone()[0]
        return int(learned.learning(
            db, "make gen > vale > git commit", "`make gen`, then `vale docs`", newest, kind="skill", sessions=3,
            files=["*.md"], remedy=steps,
        ))  # fmt: skip


async def test_skills_are_listed_apart_and_become_an_entry_of_how_or_a_clients_skill(
    skill: int, cockpit: Any, text: Any, until: Any, at_thumbs: Any, here: Path
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_thumbs(pilot)
        assert "vale docs" not in text(pilot)
        await pilot.press("W")
        await until(pilot, "no skill here")
        await pilot.press("left_curly_bracket")
        await until(pilot, "1 skill", "skills 1", "2. vale docs", "60% of the sessions with such work", "told 0×",
                    "as an entry /how")  # fmt: skip
        await pilot.press("W")
        await until(pilot, "as /how commit changed md files", "+ # Memory Index")
        await pilot.press("e", *"commit the docs", "enter")
        await until(pilot, "as /how commit the docs")
        assert not list((here / "aurora").rglob("decisions.md")), "nothing is written before y"
        await pilot.press("y")
        await until(pilot, "written:")
        (path,) = (here / "aurora").rglob("decisions.md")
        assert "## How to commit the docs" in path.read_text("utf-8")
        assert state(skill) == "open"
        await pilot.press("a")
        await until(pilot, "SKILL.md", "+ 2. `vale docs`")
        await pilot.press("y")
        await until(pilot, "accepted", "since it was promoted followed in 0")
    assert state(skill) == "accepted"
    assert list((here / "aurora").glob(".claude/skills/*/SKILL.md"))
