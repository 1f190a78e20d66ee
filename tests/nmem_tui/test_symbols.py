"""Signs that stand side by side are told from each other, in every set."""

from __future__ import annotations

import pytest

from nmem_tui.model.symbols import SETS


@pytest.mark.parametrize("name", sorted(SETS))
def test_what_stands_side_by_side_is_told_apart(name: str) -> None:
    each = SETS[name]
    assert each.border not in each.levels, "a night is no work"
    assert len(set(each.levels)) == len(each.levels)
    assert each.cursor not in (each.upright, each.dot), "the cursor is no frame"
    assert each.corner not in (each.ok, each.crossing), "a branch of a tree passes nothing"
