"""What a list shows of a command that it has no room for."""

from __future__ import annotations

import pytest

from nmem.read.listing import fitted


@pytest.mark.parametrize(
    ("command", "cells", "shown"),
    [
        ("cd src && make", 14, "cd src && make"),
        ("cd /home/me/work/api && git status", 20, "… git status"),
        ('cd "/home/my work" && cd api; pytest -q', 20, "… pytest -q"),
        ("cd /home/me/work/api", 10, "cd /home/…"),
        ("cd $(git rev-parse --show-toplevel) && make", 12, "cd $(git re…"),
        ("cdrecord /home/me && make", 12, "cdrecord /h…"),
        ("git status", 6, "git s…"),
    ],
)
def test_the_way_there_goes_before_what_is_done(command: str, cells: int, shown: str) -> None:
    assert fitted(command, cells) == shown
