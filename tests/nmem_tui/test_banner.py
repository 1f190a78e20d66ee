"""The banner of the demo: how to leave is said at every width."""

from __future__ import annotations

import pytest

from nmem.text import width
from nmem_tui.model.line import plain
from nmem_tui.screens.base import DEMO_BANNER, banner


@pytest.mark.parametrize("cells", [80, 100, 160])
def test_the_banner_ends_with_how_to_leave(cells: int) -> None:
    said = plain([banner(cells)])
    assert width(said) <= cells and said.rstrip().endswith("q leaves")
    assert (DEMO_BANNER in said) == (cells >= 160 or len(DEMO_BANNER) + 7 <= cells)
