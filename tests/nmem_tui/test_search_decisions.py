"""Written decisions in the screen Search: found while typing, shown as answered, copied, opened where they stand."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from typing import Any

import pytest

from nmem.search import decisions
from nmem_tui.screens.search_actions import words
from tests.nmem_tui.test_search import box, keys, steady  # noqa: F401 - steady is a fixture

INDEX = """# Index

## limits.md
/when raising an upload limit | quota, megabytes
/how write a migration \x1b[31m
"""
LIMITS = """# Limits

## When Raising an Upload Limit

Ask the storage team first; the quota of thumbnails is separate.

```sh
# not a heading
```

## How to Write a Migration \x1b[31m

One step a file.
"""


@pytest.fixture
def decided(here: Path, seeds: Any) -> Path:
    """A recorded story whose project has decisions; their file."""
    root = here / "aurora"
    folder = root / "docs" / "decisions"
    folder.mkdir(parents=True)
    (root / ".git").mkdir()
    (folder / "limits.md").write_text(LIMITS)
    (root / "docs" / "memory-index.md").write_text(INDEX)
    db = seeds.database("aurora.db")
    seeds.story(db)
    seeds.label(db)
    db.execute("UPDATE projects SET root = ?", (str(root),))
    db.close()
    return folder / "limits.md"


async def test_decisions_come_with_every_key_and_show_what_is_answered(
    decided: Path, cockpit: Any, settled: Any, text: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("6", *keys("/when upl"))
        await settled(pilot)
        assert [hit.id for hit in pilot.app.screen.hits] == ["recall/when raising an upload limit"]
        shown = text(pilot)
        assert "1 found" in shown and "Decision ─ limits.md:3" in shown
        assert "# When Raising an Upload Limit" in shown and "Ask the storage team first" in shown
        assert "docs/decisions/limits.md" in shown and "when     /when raising" in shown
        assert "Related:" in shown and "Source: limits.md:3" in shown
        await pilot.press("escape", "escape", "6", *keys("limit"), "enter")
        await settled(pilot)
        found = [hit.kind for hit in pilot.app.screen.hits]
        assert found[0] == "recall" and found.count("recall") == 1 and len(found) > 1
        await pilot.press("escape", "6", *keys("type:recall"), "enter")
        await settled(pilot)
        assert len(pilot.app.screen.hits) == 2
        assert "\x1b[31m" not in text(pilot)
        await pilot.press("escape", "6", *keys("/how zzz"), "enter")
        await settled(pilot)
        assert "nothing is decided under these words" in " ".join(text(pilot).split())


async def test_a_decision_is_copied_and_neither_pinned_nor_purged(
    decided: Path, cockpit: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        said: list[str] = []
        monkeypatch.setattr(pilot.app, "copy_out", said.append)
        await pilot.press("6", *keys("/when upl"), "enter")
        await settled(pilot)
        await pilot.press("y")
        assert said[0].startswith("# When Raising an Upload Limit\n\nAsk the storage team first;")
        assert said[0].endswith("Source: limits.md:3\n")
        assert pilot.app.screen.may_pin_hit() == "a decision cannot be pinned"
        assert "purging does not touch" in pilot.app.screen.may_purge()


async def test_it_is_opened_at_its_line_and_without_an_editor_its_place_is_copied(
    decided: Path, here: Path, cockpit: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = here / "vim"
    editor.write_text(f'#!/bin/sh\necho "$@" > "{here}/opened"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    async with cockpit("aurora.db", (160, 45)) as pilot:
        said: list[str] = []
        monkeypatch.setattr(pilot.app, "copy_out", said.append)
        monkeypatch.setattr(pilot.app, "environ", {"PATH": os.environ["PATH"], "EDITOR": shlex.quote(str(editor))})
        await pilot.press("6", *keys("/when upl"), "enter")
        await settled(pilot)
        await pilot.press("o")
        await settled(pilot)
        opened = here / "opened"
        place = opened.read_text() if opened.exists() else said.pop()  # no terminal to hand over here
        assert place.strip() in (f"+3 {decided}", f"{decided}:3")
        monkeypatch.setattr(pilot.app, "environ", {})
        await pilot.press("o")
        await settled(pilot)
        assert said == [f"{decided}:3"]


async def test_a_file_that_changes_is_read_anew_and_the_list_follows(
    decided: Path, cockpit: Any, settled: Any, until: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("6", *keys("/when upl"), "enter")
        await until(pilot, "Ask the storage team first")
        decided.write_text(LIMITS.replace("Ask the storage team first", "Ask nobody any more"))
        decisions.OPEN.of(str(decided.parent))  # as the watch does when it is told of the file
        await until(pilot, "Ask nobody any more", gone="Ask the storage team first")
        assert box(pilot) == "/when upl"


@pytest.mark.parametrize(
    ("editor", "made"),
    [
        (["/usr/bin/nvim"], ["/usr/bin/nvim", "+7", "/a b.md"]),
        (["code", "--wait"], ["code", "--wait", "-g", "/a b.md:7"]),
        (["hx"], ["hx", "/a b.md:7"]),
        (["ed"], ["ed", "/a b.md"]),
    ],
)
def test_each_editor_is_told_the_line_as_it_takes_it(editor: list[str], made: list[str]) -> None:
    assert words(editor, "/a b.md", 7) == made
    assert words(editor, "/a b.md", 0) == [*editor, "/a b.md"]
