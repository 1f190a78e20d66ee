"""Lines of stories are remembered as they were made safe, by the settings of then only."""

from __future__ import annotations

import pytest

from capture.redaction import settings
from capture.redaction.settings import Settings
from nmem.episodes import storytelling
from nmem.episodes.narrate.records import Narrative

LINE = "write down that Zq7Planted 12 Tok42 opens the door"
RULE = [("planted", "Zq7Planted.{0,12}Tok42")]


def told(monkeypatch: pytest.MonkeyPatch, patterns: list[tuple[str, str]]) -> Narrative:
    kept = Settings(patterns, [], [])
    monkeypatch.setattr(settings, "load", lambda: kept)
    return storytelling._story(Narrative(intent=LINE, learned=[LINE, LINE])).narrative


def test_a_pattern_that_is_new_holds_for_lines_that_were_told_before(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, []).learned == [LINE, LINE]
    safe = "write down that [REDACTED:planted] opens the door"
    assert told(monkeypatch, RULE).learned == [safe, safe]
    assert told(monkeypatch, RULE).intent == safe
    assert told(monkeypatch, []).intent == LINE
