"""What the screen Context shows is byte for byte what the hook prints, also after each choice that a person makes."""

from __future__ import annotations

import sqlite3
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from nmem_tui.app import Cockpit
from tests.nmem.context.conftest import HOUR, Played
from tests.nmem_tui.gallery import screen_text

PROMPT = "the voucher total in shop/cart.py must never be negative, fix the cart"


def printed(path: str, at: int) -> tuple[str, str]:
    """What the hooks print at a new session's start and at its prompt at a time, tried on a copy."""
    copy = Path("copy.db")
    copy.unlink(missing_ok=True)
    source, target = sqlite3.connect(path), sqlite3.connect(copy)
    source.backup(target)
    source.close()
    target.close()
    played = Played(str(copy))
    played.at = at - 2000
    return played.begin("new", gap=0), played.ask(PROMPT)


@pytest.fixture
def remembered(here: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """A memory with two sessions that are settled; the time an hour later: the second goes on."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    (here / "config.toml").write_text("[context]\nholdout = 0\n", "utf-8")
    played = Played("told.db")
    played.fix("a")
    played.fix("b")
    played.settle()
    return "told.db", played.at + HOUR


async def test_each_choice_changes_what_the_hook_prints(remembered: Any, settled: Any, until: Any) -> None:
    path, at = remembered
    app = Cockpit(path, theme="dark", watch=False, clock=lambda: at, zone=UTC)
    copied: list[str] = []
    seen = []
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        await settled(pilot)
        app.copy_out = copied.append  # type: ignore[method-assign, assignment]
        await pilot.press("5")
        await settled(pilot)
        await pilot.press("a", *PROMPT, "enter")
        await until(pilot, "Told at a prompt")
        for keys in ("", "e", "u", "i", "V", "vu", "p", "V", "vu", ">W", "u", "je", "ji", "V", "v"):
            for key in keys:
                await pilot.press({">": "greater_than_sign"}.get(key, key))
                await settled(pilot)
            await pilot.press("y")
            await settled(pilot)
            start, told = printed(path, at)
            assert copied[-1].encode() == (start if "V" in keys else told).encode(), keys
            chosen = keys in ("i", "V", "p", "ji", "v")
            assert ("in earlier sessions of" in start) == chosen, keys
            assert "earlier sessions here can be searched" in start, keys
            apart = any("Told when the session starts" in row for row in screen_text(pilot))
            assert apart == ("V" not in keys), keys
            seen.append(told)
    first, excluded, again, included, _, taken_back, pinned, _, unpinned, _, kept, *_ = seen
    assert first and first == again == taken_back == unpinned == kept
    assert "Episode 1," in first and "pisode 2" in first
    assert len({first, excluded, included}) == 2 and "Episode 1," not in included, "its start has told it"
    assert ("Episode 1," in pinned) != ("pisode 2" in pinned), "its start has told the one that is pinned"
