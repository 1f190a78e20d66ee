"""Long work: a stop that comes as it ends."""

from __future__ import annotations

import sqlite3

from nmem_tui.working import Job


def test_a_stop_between_the_end_of_the_work_and_its_word_is_harmless() -> None:
    job = Job("reading everything", lambda _message: None)
    db = sqlite3.connect(":memory:")
    job.holds(db)
    db.close()
    job.stop()
    assert job.stopped()
