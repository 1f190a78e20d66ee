"""A sweep that is killed anywhere goes on where it was, and hooks get their turn."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from capture.storage import store
from tests.nmem.conftest import Recorded
from tests.nmem.retention.conftest import LATER, anything

KILLS = 12
_SWEEP = """
import sys
from capture.storage import store
from nmem.retention import sweep
from nmem.retention.sweep import Pace
from nmem.retention.policy import Policy
db = store.connect(sys.argv[1], timeout=120)
pace = Pace(db)
pace.rows = 8
print("begun", flush=True)
sweep.sweep(db, Policy(mediation=False), int(sys.argv[2]), pace=pace)
"""


def test_killed_at_random_points_nothing_is_lost_or_counted_twice(
    record: Recorded, settled: Callable[[], Recorded], db_path: str
) -> None:
    dice = random.Random(2)
    for number in range(25):
        anything(record, f"s{number}", dice)
    db = settled().db
    total = db.execute("SELECT count(*) FROM observations").fetchone()[0]
    pinned = [row[0] for row in db.execute("SELECT id FROM observations ORDER BY id LIMIT 5")]
    db.execute(f"UPDATE observations SET pinned = 1 WHERE id IN ({','.join(map(str, pinned))})")
    stopped = 0
    for number in range(KILLS):
        words = [sys.executable, "-c", _SWEEP, db_path, str(LATER)]
        child = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3], env=dict(os.environ))
        assert child.stdout
        child.stdout.readline()
        time.sleep(dice.uniform(0.0, 0.05) if number else 0.0)  # a slow one may have ended by then
        child.send_signal(signal.SIGKILL)
        stopped += child.wait() < 0
        child.stdout.close()
        with closing(store.connect(db_path)) as look:
            there = look.execute("SELECT count(*) FROM observations").fetchone()[0]
            swept, traced, counts = look.execute(
                "SELECT (SELECT total(observations) FROM swept_sessions),"
                " (SELECT total(json_array_length(trace, '$.rows')) FROM swept_traces),"
                " (SELECT total(count) FROM sweep_counts WHERE type NOT IN ('prompt', 'reasoning', 'notification'))"
            ).fetchone()
            assert there + swept == total
            assert swept == traced == counts
    assert stopped, "none was killed in the middle: the sessions are too few"
    from nmem.retention import sweep
    from nmem.retention.policy import Policy

    done = sweep.sweep(db, Policy(mediation=False), LATER)
    assert done.done == "finished"
    assert [row[0] for row in db.execute("SELECT id FROM observations ORDER BY id")] == pinned
    assert not sweep.sweep(db, Policy(mediation=False), LATER).count
    assert not db.execute("PRAGMA foreign_key_check").fetchall()
    assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
