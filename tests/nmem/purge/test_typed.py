"""What shall go, as it is typed."""

from __future__ import annotations

from datetime import UTC

import pytest

from nmem.errors import NmemError
from nmem.purge import selection

NOW = 1_760_000_000_000
DAY = 86_400_000


def test_words_places_and_times_narrow_each_other() -> None:
    found = selection.read('"sk live" more project:shop file:"src/a b.py" session:4f2c since:2d until:12h', NOW, UTC)
    assert found.texts == ("sk live more",)
    assert (found.projects, found.files, found.sessions) == (("shop",), ("src/a b.py",), ("4f2c",))
    assert (found.since, found.before) == (NOW - 2 * DAY, NOW - DAY // 2)


def test_ids_and_expressions_are_told_from_words() -> None:
    found = selection.read("obs/12 episode/3 re:sk-[a-z]+", NOW, UTC)
    assert found.ids == (("obs", "12"), ("episode", "3"))
    assert (found.regexes, found.texts) == (("sk-[a-z]+",), ())


@pytest.mark.parametrize(("said", "hour"), [("14:20", 14), ("2025-10-09T14:20", 14), ("2025-10-09", 0)])
def test_times_of_the_clock_and_the_calendar(said: str, hour: int) -> None:
    since = selection.read(f"since:{said}", NOW, UTC).since
    assert since is not None
    assert since // 3_600_000 % 24 == hour


def test_what_says_nothing_or_cannot_be_understood_is_said() -> None:
    for nothing in ("", "   "):
        with pytest.raises(NmemError, match="type what to purge"):
            selection.read(nothing, NOW, UTC)
    for wrong in ("since:soon", "before:99:99", "since:2025-13-01", "since:xd"):
        with pytest.raises(NmemError, match="invalid time"):
            selection.read(wrong, NOW, UTC)
    for empty in ('file:""', "since:-7d"):
        with pytest.raises(NmemError):
            selection.read(empty, NOW, UTC)
