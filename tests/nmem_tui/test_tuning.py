"""Who tells the stories and where episodes begin, changed from the screen Health; the line about it on Now."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from capture.storage import store
from nmem import tables
from nmem.llm.chosen import CLIENTS, Standing
from nmem.text import width
from nmem.training import personal
from nmem_tui.model import model_path, training
from nmem_tui.model.model_path import Plan
from tests.nmem.test_train import taught
from tests.nmem_tui.asked import rows as ask

USED = Standing("claude -p haiku", True, 12_400, 200_000, (), "", 3_150, measured=True, asked_today=4)
NONE = Standing("", True, 0, 200_000, (), "")


@pytest.fixture
def config(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of this test, and one client that could be asked."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    monkeypatch.setattr("nmem_tui.model.model_path.installed", lambda: list(CLIENTS[:2]))
    return here / "config.toml"


def words(lines: Any) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def test_the_line_says_the_path_that_is_at_work_and_the_day_s_use_of_the_cap() -> None:
    assert words(model_path.line(NONE, 76)) == "model none: stories by built-in rules"
    assert words(model_path.line(USED, 76)) == "model claude -p haiku  12,400 of 200,000 tokens today"
    assert not model_path.line(None, 76)
    failing = Standing("\x1b[31mx" * 40, True, 200_000, 200_000, (), "timeout")
    for cells in (20, 40, 76):
        (drawn,) = model_path.line(failing, cells)
        assert sum(width(text) for text, _ in drawn) <= cells
        assert "\x1b" not in words([drawn])


def test_the_dialog_says_what_it_costs_before_it_is_asked() -> None:
    said = words(model_path.head(Plan(NONE, on=True, offer=CLIENTS[0]), 70))
    assert said.startswith("claude -p haiku is asked from now on.")
    assert "3,400 tokens a session" in said and "58 sessions" in said and "leave this machine, redacted" in said
    said = words(model_path.head(Plan(USED, on=False), 70))
    assert "is no longer asked" in said and "12,400 of 200,000 tokens were used today, 4 questions" in said
    assert "docs/llm.md" in words(model_path.head(Plan(NONE, on=True, reason=model_path._NONE), 70))


async def test_the_key_turns_the_model_on_and_off_and_now_says_so(
    config: Path, make_db: Any, cockpit: Any, until: Any
) -> None:
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        await until(pilot, "none: stories by built-in rules")
        await pilot.press("8", "m")
        await until(pilot, "claude -p haiku is asked from now on", "tokens a session", "y changes that")
        await pilot.press("m", "enter")
        await until(pilot, gone="y changes that")
        assert not config.exists(), "neither the key again nor enter confirms"
        await pilot.press("m")
        await until(pilot, "y changes that")
        await pilot.press("y")
        await until(pilot, gone="y changes that")
        await pilot.press("1")
        await until(pilot, "model claude -p haiku", "0 of 200,000 tokens today")
        known = tomllib.loads(config.read_text("utf-8"))["llm"]
        assert (known["command"], known["model"], known["enabled"]) == (["claude", "-p"], "haiku", True)
        await pilot.press("8", "m")
        await until(pilot, "is no longer asked", "y changes that")
        await pilot.press("y")
        await until(pilot, gone="y changes that")
        await pilot.press("1")
        await until(pilot, "none: stories by built-in rules")
        assert tomllib.loads(config.read_text("utf-8"))["llm"]["enabled"] is False
        await pilot.press("u")
        await until(pilot, "model claude -p haiku")


async def test_without_anybody_to_ask_or_decisions_to_learn_from_it_says_what_is_missing(
    config: Path, make_db: Any, cockpit: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmem_tui.model.model_path.installed", list)
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        await pilot.press("8", "m")
        await until(pilot, "no usable client is installed")
        await pilot.press("y", "escape")
        assert not config.exists()
        await pilot.press("l")
        await until(pilot, "Nothing to learn from yet: 0 decisions in 0 sessions", gone="y keeps")
        await pilot.press("y", "escape")
    report = personal.Report(False, 0, 0, 0, "2 decisions in 1 session; it takes 12 in 4 to learn from")
    assert training.said(report).startswith("nothing is learned yet: 2 decisions")


@pytest.fixture
def decided(here: Path) -> str:
    """A database in which a person has decided about six sessions."""
    db = store.connect(str(here / "aurora.db"))
    tables.ensure(db)
    db.execute("INSERT INTO projects VALUES (1, 'a', 'a', '/a', NULL, 0)")
    taught(db)
    db.close()
    return "aurora.db"


async def test_retraining_shows_before_and_after_and_keeps_only_with_y(
    decided: str, config: Path, cockpit: Any, until: Any
) -> None:
    weights = personal.own(decided)
    async with cockpit(decided, (80, 24)) as pilot:
        await pilot.press("8", "l")
        shown = await until(pilot, "decisions of yours in 6 sessions", "before  F1", "after   F1", "y keeps what is")
        assert "when a prompt arrives" in shown
        assert not weights.exists() and ask("SELECT count(*) FROM tuning_history") == [0]
        await pilot.press("l", "enter")
        await until(pilot, gone="y keeps what is")
        assert not weights.exists()
        await pilot.press("l")
        await until(pilot, "y keeps what is")
        await pilot.press("y")
        await until(pilot, "retrained: ", "adopted")
        assert weights.exists()
        assert ask("SELECT count(*) FROM tuning_history") == [1]
