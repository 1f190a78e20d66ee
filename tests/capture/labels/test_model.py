"""The table: packed weights, thresholds, whose file is believed."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture import cache
from capture.labels import DIMENSIONS, model
from capture.labels.calls import Call, Seen
from capture.labels.model import Model, pack

FIVE = st.lists(st.floats(-50, 50), min_size=5, max_size=5)


@given(st.lists(FIVE, max_size=8), FIVE)
def test_packed_weights_add_up_as_five_numbers(rows: list[list[float]], constant: list[float]) -> None:
    packed = Model("x", {str(at): pack(row) for at, row in enumerate(rows)}, pack(constant), [0.0] * 5)
    sums = [sum(column) for column in zip(constant, *rows, strict=True)]
    assert packed.logits(map(str, range(len(rows)))) == pytest.approx(sums, abs=1e-7)


def test_a_score_is_twice_the_probability_less_one_and_close_ones_are_no_answer() -> None:
    table = Model("x", {}, pack([2.0, -2.0, 0.1, -60.0, 60.0]), [0.5, 0.9, 0.0, 0.5, 0.5])
    assert table.scores([]) == pytest.approx([math.tanh(1), -math.tanh(1), math.tanh(0.05), -1, 1], abs=1e-9)
    assert table.label(Seen(Call("command", "Bash", "", "ls", False), (), "")) == (0.7616, None, 0.05, -1.0, 1.0)


def test_the_shipped_table_is_whole_and_small() -> None:
    shipped = model.shipped()
    assert shipped is not None
    assert len(shipped.name) == 12
    assert int(shipped.name, 16) > 0
    assert len(shipped.thresholds) == len(DIMENSIONS)
    assert all(0 <= one < 1 for one in shipped.thresholds)
    assert Path(model.SHIPPED).stat().st_size < 300_000


@pytest.fixture
def own(db_path: str) -> str:
    """A person's table beside their database."""
    Path(db_path).parent.mkdir(mode=0o700, parents=True)
    file = model.personal_file(db_path)
    assert cache.write(file, (model.FORMAT, "0123456789ab", {"role:read": pack([1] * 5)}, 0, [0.1] * 5))
    model.forget()
    return db_path


def test_a_persons_own_table_is_preferred(own: str) -> None:
    found = model.current(own)
    assert found is not None
    assert found.name == "0123456789ab"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no modes here")
def test_a_table_that_others_can_write_is_not_believed(own: str) -> None:
    Path(model.personal_file(own)).chmod(0o666)
    assert model.current(own) == model.current("") or model.current(own).name != "0123456789ab"  # type: ignore[union-attr]


@pytest.mark.parametrize("value", [(2, "x", {}, 0, [0.0] * 5), (1, "x", {}, 0, [0.0]), (1, "x", [], 0, [0.0] * 5), 7])
def test_a_damaged_table_is_none(own: str, value: object) -> None:
    cache.write(model.personal_file(own), value)
    model.forget()
    found = model.current(own)
    assert found is not None
    assert found.name != "0123456789ab"
