"""A purge leaves what a person pinned elsewhere, and that it can be taken back."""

from __future__ import annotations

from contextlib import closing

import pytest

from capture.storage import store
from nmem.context import pins
from nmem.errors import NmemError
from nmem.purge.run import purge
from nmem.purge.selection import Selection
from nmem.undo import undo
from tests.nmem.purge.conftest import TOKEN

_NOW = 1_900_000_000_000


def test_a_pin_of_what_stays_is_still_undone_after_a_purge_for_good(planted: str) -> None:
    with closing(store.connect(planted, timeout=5)) as db:
        stays = db.execute("SELECT id FROM observations WHERE content LIKE 'pytest%' AND session_id = 's1'").fetchone()
        other = db.execute("SELECT id, thread_id FROM work_units WHERE session_id = 's1' ORDER BY id DESC").fetchone()
        goes = db.execute("SELECT id FROM observations WHERE content LIKE 'check%' AND session_id = 's1'").fetchone()
        pins.pin(db, "episode", other[0], True, _NOW)
        pins.pin(db, "thread", other[1], True, _NOW)
        pins.pin(db, "obs", goes[0], True, _NOW)
        pins.pin(db, "obs", stays[0], True, _NOW)
    purge(planted, Selection(texts=(TOKEN,)), _NOW + 1, window=0)
    with closing(store.connect(planted, timeout=5)) as db:
        with pytest.raises(NmemError, match=f"for good; the next undo reverts: obs/{stays[0]} pinned"):
            undo(db, _NOW + 2)
        assert undo(db, _NOW + 2) == f"obs/{stays[0]} pinned"
        assert undo(db, _NOW + 2) == f"thread/{other[1]} pinned"
        assert "pin" in undo(db, _NOW + 2)
        assert db.execute("SELECT pinned FROM work_units WHERE id = ?", (other[0],)).fetchone() == (0,)
        assert db.execute("SELECT pinned FROM observations WHERE id = ?", (stays[0],)).fetchone() == (0,)
        assert not db.execute("SELECT 1 FROM corrections WHERE target = ?", (f"obs/{goes[0]}",)).fetchone()
