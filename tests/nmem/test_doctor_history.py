"""Doctor says when texts were withheld whole, and is silent while the rules are those that history was gone over by."""

from __future__ import annotations

from contextlib import closing

from capture.event import Batch, Prompt
from capture.seal import seal
from capture.storage import store
from capture.storage.rows import write
from nmem.audit import NOTE
from nmem.doctor.checks.records import history


def test_what_was_withheld_is_said(db_path: str) -> None:
    batch = Batch("claude", "s", 1_760_000_000_000, "/srv/work")
    batch.prompts = [Prompt(batch.at, "user", "prompt", "do it", dedup_key="p")]
    batch.redactions = {"withheld": 2}
    with closing(store.connect(db_path)) as db:
        assert history() == []
        write(db, seal(batch))
    (said,) = history()
    assert (said.severity, said.mend) == (NOTE, "nmem config check")
    assert said.evidence.startswith("2 texts were withheld whole")
