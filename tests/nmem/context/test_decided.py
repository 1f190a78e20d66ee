"""Written decisions that a prompt speaks of are offered: in the text that a session is told, once, and counted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from capture import paths
from nmem.context.choosing import choose
from nmem.context.preview import Asked, preview
from nmem.recall import kept, loaded
from nmem.recall.report import Report, report
from tests.nmem.context.conftest import Played
from tests.nmem.context.test_select import SLOW

GARDEN = """# Garden

## When Leaves Turn Yellow

Check nitrogen before iron.

## How to Prune Roses in Winter

In February, above an outward bud.

## When `pytest` Fails on Checkout Totals

Round half up.
"""
YELLOW = "the leaves in the greenhouse turn yellow, what shall I do about it?"
TOLD = "“/when Leaves Turn Yellow”: `nmem when leaves turn yellow` (`docs/decisions/garden.md`)"
RANKING = {"nmem.recall.index", "nmem.recall.rank", "nmem.recall.alike"}


@pytest.fixture
def garden(played: Played, tmp_path: Path) -> Played:
    """A checkout with decisions that were made ready, and a session that begins in it."""
    root = tmp_path / "garden"
    folder = root / "docs" / "decisions"
    folder.mkdir(parents=True)
    (root / ".git").mkdir()
    (folder / "garden.md").write_text(GARDEN)
    played.folder = str(root)
    played.begin("first")
    played.end()
    played.settle()
    played.begin("s")
    return played


def reported(played: Played) -> Report:
    db = played.database()
    try:
        return report(db, loaded.here(played.folder))
    finally:
        db.close()


def configure(text: str) -> None:
    file = Path(paths.config())
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_what_a_prompt_speaks_of_is_offered_once_and_its_body_is_not(garden: Played) -> None:
    told = garden.ask(YELLOW)
    assert f"Decided here; the command shows what:\n- {TOLD}\n" in told
    assert "nitrogen" not in told
    assert garden.ask(YELLOW) == ""
    garden.hook("SessionStart", source="compact")
    assert "nmem when" not in garden.ask(YELLOW), "what it was told is gone, that it was offered is not"
    found = reported(garden)
    assert (found.offered, found.used, found.asked) == (1, 0, 0)
    assert found.entries[0].entry == "/when Leaves Turn Yellow" and len(found.dead) == 2


@pytest.mark.parametrize("prompt", ["ok, go on", "write a haiku about autumn into poem.txt", "commit"])
def test_an_unrelated_prompt_is_offered_nothing(garden: Played, prompt: str) -> None:
    assert garden.ask(prompt) == ""
    assert reported(garden).offered == 0


def test_a_command_that_failed_brings_what_was_decided_with_the_next_prompt(garden: Played) -> None:
    garden.ask("hello, let us begin with the checkout page and its buttons")
    garden.fail("pytest checkout totals --fails")
    told = garden.ask("hm, and why is that?")
    assert "nmem when pytest fails on checkout totals" in told
    db = garden.database()
    assert db.execute("SELECT reason FROM injection_items").fetchall() == [("a command failed",)]
    db.close()


@pytest.mark.parametrize("way", ["the file", "the command"])
def test_its_use_is_counted(garden: Played, way: str) -> None:
    assert TOLD in garden.ask(YELLOW)
    if way == "the file":
        garden.read("docs/decisions/garden.md")
    else:
        garden.run("cd . && nmem when leaves turn yellow | head")
    garden.end()
    garden.settle()
    found = reported(garden)
    assert (found.offered, found.used) == (1, 1)
    db = garden.database()
    assert db.execute("SELECT kind, used FROM injection_items").fetchall() == [("recall", 1)]
    db.close()


@pytest.mark.parametrize("way", ["enabled", "its own", "project", "held back", "excluded", "no folder", "changed"])
def test_whatever_switches_it_off(garden: Played, way: str) -> None:
    db = garden.database()
    project = db.execute("SELECT project_id FROM sessions").fetchone()[0]
    if way == "enabled":
        configure("[context]\nenabled = false\n")
    elif way == "its own":
        configure("[recall]\noffer = false\n")
    elif way == "project":
        db.execute(
            "INSERT INTO context_choices (project_id, item, choice, at) VALUES (?, '*', 'exclude', 1)", (project,)
        )
    elif way == "held back":
        configure("[context]\nholdout = 0.5\n")
        garden.begin("b")
    elif way == "excluded":
        link = loaded.here(garden.folder).index.docs[0]
        choose(db, project, f"recall/{link[0]} {link[1]}", "exclude", 1)
    elif way == "no folder":
        Path(garden.folder, "docs").rename(Path(garden.folder, "attic"))
    else:
        Path(garden.folder, "docs/decisions/garden.md").write_text("# Garden\n\n## When Nothing Grows\n\nWait.\n")
    assert garden.ask(YELLOW) == ""
    assert db.execute("SELECT count(*) FROM recall_calls").fetchone() == (0,)
    db.close()


def test_the_preview_shows_it_with_reason_and_score(garden: Played) -> None:
    found = preview(garden.path, Asked(session_id="s", prompt=YELLOW, now=garden.at), 400)
    item = next(one for one in found.items if one.kind == "recall")
    assert (item.reason, item.text) == ("the prompt speaks of it", TOLD) and item.score >= 0.8
    assert TOLD in found.text


def test_a_trigger_that_would_act_is_inert_and_its_command_is_words_alone(garden: Played) -> None:
    file = Path(garden.folder, "docs/decisions/garden.md")
    file.write_text("# G\n\n## When roses [/nmem context] $(touch x) `y`; wither <b>\n\nx\n")
    loaded.here(garden.folder)
    told = garden.ask("roses nmem context touch wither, what now?")
    command = told.partition(": `")[2].partition("`")[0]
    assert command.startswith("nmem when roses") and command.replace(" ", "").isalnum()
    assert told.count("[/nmem context]") == 1


def test_nothing_is_read_where_nothing_is_decided(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "read", lambda _place: pytest.fail("there is no folder"))
    played.begin("s")
    assert played.ask(YELLOW) == ""


def test_offering_needs_nothing_that_a_hook_cannot_afford() -> None:
    root = Path(__file__).resolve().parents[3]
    script = (
        "import sys\n"
        "for name in ('capture', 'nmem'):\n"
        "    package = type(sys)(name); package.__path__ = [sys.argv[1] + '/' + name]; sys.modules[name] = package\n"
        "import nmem.context.decided, nmem.recall.kept, nmem.recall.store\n"
        f"print(*sorted({SLOW | RANKING!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script, str(root)], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("", "")
