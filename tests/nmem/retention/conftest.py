"""Sessions long past, settled: with episodes, traces, stories and summaries."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from nmem.settle import settle
from tests.nmem.conftest import START, Recorded

DAY = 86_400_000
LATER = START + 2_000 * DAY
"""Everything recorded is far past its lifetime then."""
_ACTS = ("file_read", "file_edit", "search", "command", "test", "git_commit", "web_fetch", "todo", "mcp_call")
_FILES = ("src/invoice.py", "src/coupon.py", "src/api/server.py", "tests/test_invoice.py")


def anything(record: Recorded, session: str, dice: random.Random) -> None:
    """A session of some turns, in which anything may happen."""
    record.begin(session)
    for turn in range(dice.randint(1, 4)):
        record.user(f"please look at number {dice.randint(1, 9)} of the {dice.choice(_FILES)} totals, turn {turn}")
        for _ in range(dice.randint(0, 6)):
            kind = dice.choice(_ACTS)
            path = dice.choice(_FILES) if kind.startswith("file") else None
            meta = {"commit": {"hash": "abc1234", "message": "Round once"}} if kind == "git_commit" else {}
            outcome = dice.choice(("ok", "ok", "failed"))
            record.act(kind, path or f"{kind} {dice.randint(1, 5)}", path, outcome, **meta)
            if dice.random() < 0.3:
                record.agent("I think the rounding happens twice.", "thinking")
        record.agent("It is done in `src/invoice.py`.")
    record.db.execute("UPDATE sessions SET state = 'ended' WHERE id = ?", (session,))


@pytest.fixture
def settled(record: Recorded, db_path: str) -> Callable[[], Recorded]:
    """Settle what was recorded, long after."""

    def run() -> Recorded:
        settle(db_path, 600, models=False, clock=lambda: record.at + DAY)
        record.db.execute("SELECT 1 FROM sqlite_master").fetchone()  # the schema has changed under this connection
        return record

    return run
