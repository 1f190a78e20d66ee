"""An episode handed on from the cockpit: files that say where they are, and a client that gets the brief."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nmem.share.hand import Started

CLIENT = '#!/bin/sh\nprintf "%s" "$2" > "{folder}/got"\nexit {code}\n'


@pytest.fixture
def unit(here: Path, seeds: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    """The history in aurora.db, `codex` on PATH; the number of an episode with a story."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    (here / "bin").mkdir()
    put(here, 0)
    monkeypatch.setenv("PATH", f"{here}/bin")
    db = seeds.database("aurora.db")
    seeds.story(db)
    made: dict[str, int] = seeds.history(db)
    db.close()
    return made["flaky"]


def put(here: Path, code: int) -> None:
    program = here / "bin" / "codex"
    program.write_text(CLIENT.format(folder=here, code=code))
    program.chmod(0o755)


async def at_episode(pilot: Any, unit: int, settled: Any, until: Any) -> None:
    await pilot.press("2")
    await settled(pilot)
    pilot.app.show_episode(unit)
    await until(pilot, "Flaky thumbnails test")
    await settled(pilot)


async def test_sharing_says_where_the_files_are_and_overwrites_none(
    unit: int, here: Path, cockpit: Any, settled: Any, until: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_episode(pilot, unit, settled, until)
        for name in ("flaky-thumbnails-test", "flaky-thumbnails-test-2"):
            await pilot.press("E")
            await until(pilot, "share")
            await pilot.press(*"share", "enter")
            await until(pilot, f"written: {name}.md and {name}.html")
            assert (here / f"{name}.html").read_text().startswith("<!doctype html>")
            assert "# Flaky thumbnails test" in (here / f"{name}.md").read_text()


async def test_only_an_episode_is_offered_to_be_shared(unit: int, cockpit: Any, settled: Any, until: Any) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("E")
        await until(pilot, "Export")
        assert unit
        assert [choice.value for choice in pilot.app.screen.choices if choice.value == "share"] == []


async def test_the_brief_is_copied(
    unit: int, cockpit: Any, settled: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    async with cockpit("aurora.db", (160, 45)) as pilot:
        monkeypatch.setattr(pilot.app, "copy_out", copied.append)
        await at_episode(pilot, unit, settled, until)
        await pilot.press("H")
        await until(pilot, f"Hand on ─ episode {unit}", "codex")
        await pilot.press(*"copy", "enter")
        await settled(pilot)
    assert copied[0].startswith("You take over a piece of work")


@pytest.mark.parametrize(("code", "said"), [(0, "codex ended"), (3, "codex ended with 3")])
async def test_another_client_goes_on_in_this_terminal(
    code: int, said: str, unit: int, here: Path, cockpit: Any, settled: Any, until: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    lent: list[str] = []

    @contextmanager
    def suspend(_app: Any) -> Iterator[None]:
        lent.append("lent")
        yield

    put(here, code)
    monkeypatch.setattr("nmem_tui.app.Cockpit.suspend", suspend)
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_episode(pilot, unit, settled, until)
        await pilot.press("H")
        await until(pilot, "goes on in this terminal")
        await pilot.press(*"codex here", "enter")
        await until(pilot, said)
    assert lent == ["lent"]
    assert (here / "got").read_text().endswith("where a decision is missing.")


async def test_where_a_client_runs_in_tmux_is_said(
    unit: int, cockpit: Any, settled: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("tmux", "select-window", "-t", "%7", ";", "attach-session", "-t", "%7")
    monkeypatch.setattr("nmem.dispatch.tmux.installed", lambda: True)
    monkeypatch.setattr("nmem.share.hand.pane", lambda _client, _brief: Started("%7", words))
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await at_episode(pilot, unit, settled, until)
        await pilot.press("H")
        await until(pilot, "goes on in a window of tmux")
        await pilot.press("enter")
        await until(pilot, f"codex goes on with episode {unit} in tmux · tmux attach -t %7")
