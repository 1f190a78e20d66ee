"""The dialog of a project's instructions: findings, then the diff, then what `y` writes and undo restores."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

RULE = "- Always run the linter before you push, whatever the change is.\n"
TEXT = f"# Aurora\n\nUse `npm run nope` to check it.\n\n{RULE}\n## Later\n\n{RULE}"


@pytest.fixture
def known(here: Path, seeds: Any, load: Any) -> Path:
    """Learnings in a project whose instructions say a thing twice, and name a script that is not there."""
    db = seeds.database("aurora.db")
    seeds.story(db)
    load("learnings_seed").fill(db, seeds, seeds.history(db))
    db.execute("UPDATE projects SET root = ?", (str(here / "aurora"),))
    db.close()
    (here / "aurora").mkdir()
    (here / "aurora" / "package.json").write_text('{"scripts": {"test": "vitest"}}', encoding="utf-8")
    (here / "aurora" / "CLAUDE.md").write_text(TEXT, encoding="utf-8")
    return here / "aurora" / "CLAUDE.md"


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_findings_then_the_diff_and_only_y_writes(
    size: tuple[int, int], known: Path, cockpit: Any, until: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", size) as pilot:
        await pilot.press("4")
        await until(pilot, "aurora-api")
        await pilot.press("c")
        await until(pilot, "1 stale command, 1 said twice", "CLAUDE.md:9", "CLAUDE.md:5 says the same")
        await pilot.press("y")
        await settled(pilot)
        assert known.read_text(encoding="utf-8") == TEXT, "the diff was not shown"
        await pilot.press("d")
        await until(pilot, "- - Always run the linter", "y writes this")
        await pilot.press("d", "d", "y")
        await until(pilot, "1 file written")
        assert known.read_text(encoding="utf-8") == TEXT[: -len(RULE)]
        await settled(pilot)
        await pilot.press("u")
        await until(pilot, "undone")
        assert known.read_text(encoding="utf-8") == TEXT


async def test_nothing_sure_is_said_instead_of_a_diff(known: Path, cockpit: Any, until: Any, settled: Any) -> None:
    known.write_text("Use `npm run nope` to check it, and say \x1b[31mred.\n", encoding="utf-8")
    async with cockpit("aurora.db", (100, 30)) as pilot:
        await pilot.press("4")
        await until(pilot, "aurora-api")
        await pilot.press("c")
        await until(pilot, "1 stale command", "no script nope")
        await pilot.press("d")
        await until(pilot, "no line is surely stale or repeated")
        await pilot.press("y", "escape")
        await settled(pilot)
        assert "nope" in known.read_text(encoding="utf-8")


async def test_a_file_that_links_out_is_shown_with_its_findings(known: Path, cockpit: Any, until: Any) -> None:
    outside = known.parent.parent / "elsewhere.md"
    known.rename(outside)
    known.symlink_to(outside)
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("4")
        await until(pilot, "aurora-api")
        await pilot.press("c")
        await until(pilot, "1 stale command, 1 said twice", "a link out of the project, so no diff touches it")
        await pilot.press("d")
        await until(pilot, "no line is surely stale or repeated")


async def test_a_folder_that_is_gone_is_said_in_words_and_no_key_is_offered(
    known: Path, here: Path, cockpit: Any, until: Any, text: Any
) -> None:
    shutil.rmtree(known.parent)
    async with cockpit("aurora.db", (100, 30)) as pilot:
        await pilot.press("4")
        await until(pilot, "aurora-api")
        await pilot.press("c")
        await until(pilot, "its folder is not on this machine any more")
        assert "d the diff" not in text(pilot)
        assert "run this" not in text(pilot)
