"""Long work: a stop that comes as it ends."""

from __future__ import annotations

import sqlite3

from nmem_tui.model.health import working
from nmem_tui.operations.jobs import Job


def test_a_stop_between_the_end_of_the_work_and_its_word_is_harmless() -> None:
    job = Job("reading everything", lambda _message: None)
    db = sqlite3.connect(":memory:")
    job.holds(db)
    db.close()
    job.stop()
    assert job.stopped()


def test_work_that_cannot_be_stopped_does_not_say_that_it_can() -> None:
    for stops in (True, False):
        shown = "".join(text for text, _ in working("mending", 0, 0, "spool", 80, stops=stops))
        assert ("stops it" in shown) is stops
