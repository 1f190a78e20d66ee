"""A purge for good stands among the corrections: an undo says that it stays, before anything older is taken back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from time import time_ns

import pytest

from capture.storage import store
from nmem import undo
from nmem.context import pins
from nmem.errors import NmemError
from nmem.purge import run
from nmem.purge.selection import Selection
from tests.nmem.purge.conftest import TOKEN

NOW = time_ns() // 1_000_000


def tried(path: str) -> str:
    with closing(store.connect(path)) as db:
        try:
            return undo.undo(db, NOW + 9)
        except NmemError as error:
            return f"refused: {error}"


@pytest.mark.parametrize("cleaned_later", [False, True])
def test_it_is_passed_over_by_name_and_once(planted: str, cleaned_later: bool) -> None:
    with closing(store.connect(planted)) as db:
        db.execute("DELETE FROM corrections")
        number = int(db.execute("SELECT id FROM threads LIMIT 1").fetchone()[0])
        pins.pin(db, "thread", number, True, NOW - 5)
    run.purge(planted, Selection(texts=(TOKEN,)), NOW, window=0, later=cleaned_later)
    run.finish(planted, NOW + 1)
    with closing(store.connect(planted)) as db:
        (newest, *_) = undo.history(db)
        assert undo.describe(newest).endswith(", for good")
        assert TOKEN not in str(newest.payload)
    assert tried(planted).startswith("refused: nothing was undone: purge/1: ")
    said = tried(planted)
    assert "pin" in said and not said.startswith("refused"), said
    assert tried(planted) == "refused: nothing to undo"
    assert not list(Path(planted).parent.glob("trash/*.key"))
