"""Time stamps agree with `datetime`, and what cannot be right is now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.clients.stamps import milliseconds, stamp

NOW = 2_000_000_000_000
MOMENTS = st.datetimes(
    min_value=datetime(1970, 1, 2),  # noqa: DTZ001 - the zone is drawn beside it
    max_value=datetime(2199, 12, 31),  # noqa: DTZ001
)
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(MOMENTS, ZONES)
def test_a_moment_in_any_zone(moment: datetime, zone: timezone) -> None:
    here = moment.replace(tzinfo=zone)
    expected = (here - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert milliseconds(here.isoformat()) == expected


def test_the_style_of_the_clients() -> None:
    assert milliseconds("2026-11-21T21:17:11.169Z") == 1_795_295_831_169
    assert milliseconds("2026-11-21T21:17:11Z") == 1_795_295_831_000


@pytest.mark.parametrize(
    "value", ["", "yesterday", "2026-11-21", "2026-11-21T21:17", "a-b-cTd:e:f", "٢-٢-٢T1:2:x", None, [], -5]
)
def test_what_is_no_time_is_now(value: object) -> None:
    assert stamp(value, NOW) == NOW


def test_the_future_is_now() -> None:
    assert stamp(NOW + 10_000, NOW) == NOW + 10_000
    assert stamp(NOW * 1000, NOW) == NOW
    assert stamp("2199-01-01T00:00:00Z", NOW) == NOW


@given(st.text())
def test_any_text_is_a_time_or_none(text: str) -> None:
    assert isinstance(stamp(text, NOW), int)
