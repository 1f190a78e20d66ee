"""The screen Context: the exact text, each thing with its reason, and what its keys leave in the database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nmem.context.candidates import PROMPT_TOKENS
from nmem.context.items import Item
from nmem.context.preview import Asked, Preview, preview
from nmem.context.recovery import CHANGED
from nmem_tui.model import context, context_text
from nmem_tui.widgets.bars import KeyBar
from tests.nmem_tui.asked import rows as ask

ASKED = "the upload limit error"
EPISODE = 10
"""It renamed the upload errors: it speaks most of what is asked."""
ABOUT = "“Rename the upload"
"""What the list says of it, first of all."""
WAYS = {
    "empty": {"empty": "5"},
    "bare": {"bare": "5"},
    "hostile": {
        "hostile": "5", "start-hostile": "enter", "past-hostile": "escape h enter",
        "reset-hostile": "escape h v v enter", "prompt-hostile": "escape V V a",
    },
    "full": {
        "start-full": "5 enter", "past-full": "escape h enter",
        "reset-full": "escape h v v enter", "prompt-full": "escape V V a", "full": "ASKED enter j j",
    },
}  # fmt: skip
"""The views that are accepted, by the kind of database: the keys that lead to each from the one before."""


@pytest.fixture(scope="session")
def contexts(load: Any) -> Any:
    """The module that writes a past to choose from."""
    return load("context_seed")


@pytest.fixture
def make(here: Path, seeds: Any, contexts: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Writes aurora.db: empty (no file), bare (nothing folded), full, hostile. The configuration is this test's own."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))

    def write(kind: str) -> str:
        if kind != "empty":
            db = seeds.database("aurora.db")
            if kind == "hostile":
                seeds.hostile(db)
                contexts.hostile(db, seeds)
            else:
                seeds.story(db)
                made = seeds.history(db)
                if kind == "full":
                    contexts.fill(db, seeds, made)
                    contexts.told(db, seeds)
            db.close()
        return "aurora.db"

    return write


def would_be_told(seeds: Any, prompt: str = ASKED) -> Any:
    """What a new session like the one on screen would be told, without the screen."""
    return preview("aurora.db", Asked(prompt=prompt, now=seeds.NOW, like=seeds.SESSION), PROMPT_TOKENS)


@pytest.fixture
def asking(until: Any, settled: Any, text: Any) -> Callable[[Any], Any]:
    """Opens the screen and asks; the cursor is on the episode that speaks most of it."""

    async def go(pilot: Any) -> None:
        await pilot.press("5")
        await until(pilot, "Told at the start")
        await pilot.press("a", *ASKED, "enter")
        await until(pilot, "Told at a prompt", ABOUT)
        await settled(pilot)
        for _ in range(12):
            if ABOUT in row(text(pilot)):
                return
            await pilot.press("j")
            await settled(pilot)
        pytest.fail(f"the episode is not listed:\n{text(pilot)}")

    return go


def row(shown: str) -> str:
    """The list's row under the cursor."""
    return next(line for line in shown.splitlines() if "▌" in line)


@pytest.mark.parametrize("kind", WAYS)
async def test_each_view_is_as_accepted(kind: str, make: Any, looks: Any, settled: Any, text: Any) -> None:
    def by(way: str) -> Any:
        async def arrive(pilot: Any) -> None:
            for keys in way.split():
                await pilot.press(*(ASKED if keys == "ASKED" else [keys]))
                await settled(pilot)
            assert way != "5" or "? help" in text(pilot).splitlines()[-1]

        return arrive

    (first, arrive), *others = ((f"context-{view}", by(way)) for view, way in WAYS[kind].items())
    await looks(make(kind), first, arrive, dict(others))


async def test_the_text_is_the_one_that_would_be_told_and_things_lead_to_their_stories(
    make: Any, cockpit: Any, asking: Any, settled: Any, until: Any, seeds: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    async with cockpit(make("full"), (80, 24)) as pilot:
        await asking(pilot)
        monkeypatch.setattr(pilot.app, "copy_out", copied.append)
        await pilot.press("y")
        await settled(pilot)
        assert copied == [would_be_told(seeds).text]
        assert "src/aurora/limits.py" in copied[0]
        await pilot.resize_terminal(160, 45)
        await until(pilot, "Flaky thumbnails")
        db = seeds.database("aurora.db")
        db.execute("UPDATE work_units SET pinned = 0 WHERE title = 'Flaky thumbnails test'")
        db.close()
        shown = await until(pilot, "Told at a prompt", gone="Flaky thumbnails")
        assert "changed:" not in shown, "what is recorded meanwhile shows without a mark"
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, "Exact text", "speaks of the same")
        await pilot.press("enter")
        await until(pilot, "Rename the upload errors after")
        assert pilot.app.current_mode == "episodes"


async def test_excluding_changes_the_text_at_once_and_undo_or_the_same_key_brings_it_back(
    make: Any, cockpit: Any, asking: Any, until: Any, text: Any, seeds: Any, settled: Any
) -> None:
    async with cockpit(make("full"), (160, 45)) as pilot:
        await asking(pilot)
        told = would_be_told(seeds)
        item = f"episode/{EPISODE}"
        await pilot.press("e")
        shown = await until(pilot, "Never told: you excluded it", "changed: +", f"{item} is never told")
        assert "✗" in row(shown) and ABOUT in row(shown)
        assert any(line.count(f"− - Episode {EPISODE}") for line in shown.splitlines())
        assert ask("SELECT project_id, item, choice FROM context_choices") == [(1, item, "exclude")]
        assert item not in [one.id for one in would_be_told(seeds).items]
        await pilot.press("escape")
        await until(pilot, "Told at a prompt", gone="changed:")
        await pilot.press("p")
        await until(pilot, "excluded: e brings it back first")
        await pilot.press("u")
        await until(pilot, "undone: ", gone="Never told")
        assert ask("SELECT count(*) FROM context_choices") == [0]
        assert would_be_told(seeds).text == told.text
        assert ask("SELECT kind, undone_at IS NOT NULL FROM corrections ORDER BY id DESC LIMIT 1") == [("choice", 1)]
        await settled(pilot)
        assert ABOUT in row(text(pilot))
        await pilot.press("e")
        await until(pilot, "Never told")
        await pilot.press("e")
        await until(pilot, "is selected by", gone="Never told")
        assert ask("SELECT count(*) FROM context_choices") == [0]
        assert would_be_told(seeds).text == told.text


async def test_a_file_is_always_told(make: Any, cockpit: Any, until: Any, text: Any, seeds: Any, settled: Any) -> None:
    async with cockpit(make("full"), (160, 45)) as pilot:
        await pilot.press("5")
        await until(pilot, "Told at the start")
        await pilot.press("G")
        await settled(pilot)
        assert "src/aurora/upload.py" in row(text(pilot))
        assert "src/aurora/upload.py" not in would_be_told(seeds, "").text
        await pilot.press("i")
        shown = await until(pilot, "file/src/aurora/upload.py is always told")
        assert "✚" in row(shown) and "1.00" in row(shown)
        assert ask("SELECT item, choice FROM context_choices") == [("file/src/aurora/upload.py", "include")]
        assert "src/aurora/upload.py" in would_be_told(seeds, "").text
        assert "src/aurora/upload.py" not in would_be_told(seeds, "something else altogether, in other words").text
        await pilot.press("u")
        await until(pilot, "undone")
        assert ask("SELECT count(*) FROM context_choices") == [0]


async def test_pinning_an_episode_and_a_file(
    make: Any, cockpit: Any, asking: Any, until: Any, text: Any, seeds: Any, settled: Any
) -> None:
    async with cockpit(make("full"), (160, 45)) as pilot:
        await asking(pilot)
        number = EPISODE
        await pilot.press("p")
        await until(pilot, f"episode/{number} is pinned")
        assert ask("SELECT pinned FROM work_units WHERE id = ?", number) == [1]
        assert f"pin/episode/{number}" in [one.id for one in would_be_told(seeds).before]
        await settled(pilot)
        assert "★" in row(text(pilot)) and ABOUT in row(text(pilot)), "the cursor stays on what was pinned"
        await pilot.press("e")
        await until(pilot, "Never told: you excluded it")
        await settled(pilot)
        assert "✗" in row(text(pilot)) and ABOUT in row(text(pilot)), "and while it is excluded"
        await pilot.press("e")
        await until(pilot, "is selected by", gone="Never told")
        await settled(pilot)
        assert ABOUT in row(text(pilot)), "and once it is taken back"
        assert ask("SELECT count(*) FROM context_choices WHERE choice = 'exclude'") == [0]
        await pilot.press("p")
        await until(pilot, f"episode/{number} is no longer pinned")
        await settled(pilot)
        await pilot.press("p")
        await until(pilot, f"episode/{number} is pinned")
        await settled(pilot)
        await pilot.press("u")
        await until(pilot, "undone")
        assert ask("SELECT pinned FROM work_units WHERE id = ?", number) == [0]
        await pilot.press("j", "j")
        await settled(pilot)
        assert "src/aurora/upload.py" in row(text(pilot))
        await pilot.press("p")
        await until(pilot, "upload.py is pinned")
        assert ask("SELECT item, choice FROM context_choices") == [("file/src/aurora/upload.py", "pin")]
        await pilot.press("i")
        await until(pilot, "already always told: the item is pinned")
        await pilot.press("p")
        await until(pilot, "upload.py is no longer pinned")
        assert ask("SELECT count(*) FROM context_choices") == [0]


async def test_the_budget_is_tried_and_kept_on_demand(
    make: Any, cockpit: Any, asking: Any, until: Any, here: Path, settled: Any
) -> None:
    (here / "config.toml").write_text("# mine\n[context]\nholdout = 0.1\n", "utf-8")
    async with cockpit(make("full"), (160, 45)) as pilot:
        await asking(pilot)
        await pilot.press("W")
        await until(pilot, "try another budget first")
        await pilot.press(*["less_than_sign"] * 6, "left_square_bracket")
        await until(pilot, "of 100 tokens", "configured 800 · W keeps 100", "Considered, but not told: too little room")
        assert "prompt_tokens" not in (here / "config.toml").read_text("utf-8")
        await pilot.press("0")
        await until(pilot, "of 800 tokens", "as configured: prompt_tokens")
        await pilot.press("greater_than_sign", "W")
        await until(pilot, "of 900 tokens", "as configured: prompt_tokens")
        kept = (here / "config.toml").read_text("utf-8")
        assert kept.startswith("# mine\n[context]\nholdout = 0.1\n") and "prompt_tokens = 900" in kept
        pilot.app.demo = True
        await pilot.press("greater_than_sign", "W")
        await until(pilot, "not in the demo")
    assert (here / "config.toml").read_text("utf-8") == kept, "the demo writes none"


async def test_a_prompt_is_answered_while_it_is_typed_and_after_a_reset_nothing_is_chosen(
    make: Any, cockpit: Any, until: Any, settled: Any
) -> None:
    async with cockpit(make("full"), (160, 45)) as pilot:
        await until(pilot, "after a reset: 5 items, 138 tokens")  # on the screen Now
        await pilot.press("5", "a")
        await until(pilot, "type what you would ask")
        await pilot.press(*"NEWS.md")
        await until(pilot, "NEWS.md", "the prompt names it")
        await pilot.press("escape")
        await pilot.press("v")
        await until(pilot, "Told after a reset ─ 5 items", "Raise it to 8 MB", "G goal", "F files")
        await settled(pilot)
        named = {text.strip() for text, _ in pilot.app.screen.query_one(KeyBar).line(400)}
        assert "view" in named
        assert not named & {"exclude", "include", "purge"}
        assert "nothing to choose" in pilot.app.screen.things.border_subtitle
        await pilot.press("e")
        await until(pilot, "nothing to choose")


async def test_what_was_told_with_what_became_of_it(
    make: Any, cockpit: Any, until: Any, settled: Any, text: Any
) -> None:
    async with cockpit(make("full"), (160, 45)) as pilot:
        await pilot.press("5", "h")
        shown = await until(pilot, "4 texts in 4 sessions", "2 of 4 items", "not known yet", "Told before")
        rows = [line for line in shown.splitlines() if " of 2 " in line]
        for line, words in zip(rows, ("Raise it", "earlier work", "kept back", "Avatars"), strict=True):
            assert words in line
        assert "2 sessions told, 1 kept without: too few to say whether it helps" in shown
        await pilot.press("j")
        await until(pilot, "edited src/aurora/upload.py", "not of use", "told because edited lately", "session work-4")
        await pilot.press("e")
        await until(pilot, "past injections cannot change")
        await pilot.press("w")
        await until(pilot, "Stream ─", "Rename the upload errors")


async def test_silence_says_why_and_excluded_things_stay_in_sight(
    make: Any, cockpit: Any, until: Any, seeds: Any
) -> None:
    make("full")
    db = seeds.database("aurora.db")
    db.execute("UPDATE work_units SET pinned = 0")
    db.execute("INSERT INTO context_choices VALUES (1, 'file/src/aurora/sweep.py', 'exclude', 1)")
    db.close()
    async with cockpit("aurora.db", (80, 24)) as pilot:
        await pilot.press("5")
        await until(pilot, "Told at the start ─ 1 item", "Considered, but not told: the work")
        await pilot.press("G")
        await until(pilot, "Never told: you excluded it", "src/aurora/sweep.py")
        await pilot.press("e")
        await until(pilot, "Told at the start", gone="Never told")
        assert ask("SELECT count(*) FROM context_choices") == [0]
        db = seeds.database("aurora.db")
        db.execute("INSERT INTO context_choices VALUES (1, '*', 'exclude', 1)")
        db.close()
        await until(pilot, "this project is told nothing")


def test_changed_lines_and_names_are_told() -> None:
    head = "Files that matter, the likeliest first: "
    before = f"a\n- one\n{head}`x.py` (edited before); `y.py` (read lately)"
    after = f"a\n- two\n{head}`y.py` (edited lately); `z.py` (one; of few)"
    assert context_text.changes(before, after)[0] == (context_text.SAME, "a")
    assert context_text.summary(before, after) == "changed: +2 −2"
    assert context_text.summary(None, after) == context_text.summary(after, after) == ""
    rows = ["".join(text for text, _ in item.draw(200)) for item in context_text.items(after, before, tuple, 200)]
    names = "`y.py` (edited lately); +`z.py` (one; of few); −`x.py`"
    assert rows == ["  a", "− - one", "+ - two", f"  {head}{names}"]
    told = context_text.items(after, before, lambda: ("`y.py`",), 200)
    tones = dict(span for item in told for span in item.draw(200))
    assert (tones["`y.py`"], tones["+`z.py`"], tones["−`x.py`"]) == ("accent", "good", "bad")
    assert [context_text.place(told, (name,)) for name in ("`y.py`", "`w.py`")] == [3, None]
    again = ["".join(text for text, _ in item.draw(200))[2:] for item in context_text.items(after, None, tuple, 200)]
    assert again == after.split("\n")
    assert context_text.summary(f"{head}`y.py` (read lately)", f"{head}`y.py`") == "changed: order or reasons of files"


def test_a_file_that_is_told_over_two_rows_is_found_by_its_name() -> None:
    told = "Files that matter, the likeliest first: `src/a.py` (edited before); `src/b.py` (its name has words of it)"
    rows = context_text.items(told, None, tuple, 60)
    assert len(rows) == 2
    assert [context_text.place(rows, (f"`src/{name}.py`",)) for name in "ab"] == [0, 1]


def test_a_file_keeps_what_tells_it_from_others() -> None:
    paths = ("timer.py", "tests/test_timer.py", "tests/old/test_timer.py")
    things = tuple(Item(f"file/{path}", "file", path + CHANGED, files=(path,)) for path in paths)
    found = Preview("p", 1, "s", "", 0, 400, "text", 30, things, (), "")
    for cells in (56, 80, 120):
        rows = ["".join(text for text, _ in item.draw(cells)) for item in context.items(found, "reset")]
        assert len(set(rows)) == 3 and all("timer.py" in row and "…mer" not in row for row in rows), rows
    assert "timer.py (changed" in rows[0] and "(changed, not committed)" in rows[0]


def test_a_wrapped_change_has_one_sign() -> None:
    before = "- " + "one two three " * 9
    rows = ["".join(text for text, _ in item.draw(40)) for item in context_text.items("", before, tuple, 40)]
    assert len(rows) > 3 and sum(row.startswith("−") for row in rows) == 1
    assert context_text.summary(before, "x") == "changed: +1 −1"


def test_budgets_move_in_even_steps_within_bounds() -> None:
    assert [context.next_budget(now, by) for now, by in ((400, 1), (400, -1), (450, 1), (450, -1))] == [
        500, 300, 500, 400,
    ]  # fmt: skip
    assert context.next_budget(100, -1) == 100 and context.next_budget(2400, 1) == 2400


def test_every_figure_is_had_at_the_command_line(make: Any, here: Path, monkeypatch: Any, capsys: Any) -> None:
    from nmem.commands.context import command

    make("full")
    monkeypatch.setenv("NMEM_DB", str(here / "aurora.db"))
    for words in (["--recovery"], ["--past"], ["--prompt", ASKED]):
        command.main(["--project", "aurora-api", "--json", *words], standalone_mode=False)
        assert json.loads(capsys.readouterr().out)
