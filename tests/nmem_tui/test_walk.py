"""Random keys from every starting place end in no fault.

NMEM_WALK=5000 walks so many keys each, in either size both writing and read-only; without it, each size has one of the
two, in turns.
"""

from __future__ import annotations

import os
import shutil
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from nmem_tui.messages import Changed
from nmem_tui.model.locations import SCREENS, Link
from tests.nmem_tui.walking import Walk

KEYS = int(os.environ.get("NMEM_WALK", "60"))
WALKS = [
    pytest.param(place, size, read_only, id=f"{place}-{size[0]}x{size[1]}-{'read-only' if read_only else 'writing'}")
    for number, place in enumerate(SCREENS)
    for turn, size in enumerate([(80, 24), (160, 45)])
    for read_only in (False, True)
    if "NMEM_WALK" in os.environ or (number + turn) % 2 == read_only
]


@pytest.fixture
def pristine(whole: Any, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with something on every screen, from which each stretch begins; no other program is started."""
    for name in ("processes.narrate", "processes.start", "processes.cancel"):
        monkeypatch.setattr(f"nmem_tui.operations.{name}", lambda *_: Changed("done", failed=False))
    monkeypatch.setattr("nmem_tui.app.Cockpit._play", lambda _app: None)
    shutil.move(here / "aurora.db", here / "pristine.db")
    return here / "pristine.db"


@pytest.mark.parametrize(("place", "size", "read_only"), WALKS)
async def test_random_keys_end_in_no_fault(
    place: str, size: tuple[int, int], read_only: bool, pristine: Path, seeds: Any
) -> None:
    await Walk(pristine, place, size, read_only=read_only, clock=lambda: int(seeds.NOW), zone=UTC).run(KEYS)


async def test_a_hit_leads_to_a_screen_that_was_never_composed(whole: Any, cockpit: Any, settled: Any) -> None:
    async with cockpit("aurora.db", (160, 45), link=Link("search")) as pilot:
        await pilot.press(*"avatar", "enter")
        await settled(pilot)
        await pilot.press("j", "enter")
        await settled(pilot)
        assert pilot.app.current_mode == "now"


async def test_the_way_back_leads_to_a_screen_that_was_left_before_it_was_composed(
    whole: Any, cockpit: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", (160, 45)) as pilot:
        for mode in ("episodes", "tasks", "now"):
            pilot.app.visit(mode)
        await settled(pilot)
        for mode in ("tasks", "episodes", "now"):
            pilot.app.do_previous()
            await settled(pilot)
            assert pilot.app.current_mode == mode
