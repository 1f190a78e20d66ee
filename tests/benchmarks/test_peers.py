"""Other memories: a peer that fails is a row that says why."""

from __future__ import annotations

from http.client import BadStatusLine
from pathlib import Path

import pytest

from benchmarks import peers
from benchmarks.material import Material

NONE = Material("", (), 0)


@pytest.mark.parametrize("error", [StopIteration(), IndexError("no line"), BadStatusLine("x"), peers.Absent("no npm")])
def test_whatever_goes_wrong_with_a_peer_is_said_in_its_row(error: Exception) -> None:
    def run(_sessions: Material, _folder: Path) -> peers.Peer:
        raise error

    one = peers._tried("basic-memory", run, NONE, Path())
    assert one.name == f"basic-memory {peers.VERSIONS['basic-memory']}"
    assert one.notes == [f"not measured: {str(error) or 'StopIteration'}"]


def test_the_last_line_of_nothing_is_nothing() -> None:
    assert [peers.last(text) for text in ("", "\n", "one\ntwo\n", "x" * 300)] == ["", "", "two", "x" * 200]
