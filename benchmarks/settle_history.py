"""How fast a history becomes episodes and stories: imports a folder of transcripts into a database of its own.

    python benchmarks/settle_history.py FOLDER [CLIENT]

Prints each step's time, prompts a second, and the process's peak memory. No language model is asked.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from capture.storage import store
from nmem import tables
from nmem.episodes import detect, narrations, storytelling, summary
from nmem.episodes.storytelling import Teller
from nmem.importing.discover import find
from nmem.importing.importer import Importer
from nmem.threads import continuity


def main(folder: str, client: str = "claude") -> None:
    """Measure one folder."""
    with tempfile.TemporaryDirectory() as home:
        path = str(Path(home) / "nmem.db")
        os.environ["NMEM_DB"] = path
        with closing(store.connect(path, timeout=5, autocheckpoint=1000)) as db:
            report = Importer(db, workers=0).run(find([Path(folder)], client))
            tables.ensure(db)
            print(f"{report.sessions} sessions, {report.prompts} prompts, {report.observations} observations")
            sessions = [row[0] for row in db.execute("SELECT id FROM sessions ORDER BY started_at")]
            teller = Teller(db)
            steps: list[tuple[str, Callable[[], object]]] = [
                ("threads", lambda: continuity.assign_all(db)),
                ("detection and annotation", lambda: detect.sessions(db, sessions, path)),
                ("closing", lambda: detect.close_overdue(db, int(time.time() * 1000), path)),
                ("narration", lambda: storytelling.tell_all(teller, narrations.untold(db, 1 << 30))),
                ("summaries", lambda: [summary.summarise(db, each) for each in narrations.unsummarised(db)]),
            ]
            total = sum(_timed(name, step, report.prompts) for name, step in steps)
        print(f"{'all':26} {total:7.2f} s {report.prompts / total:8.0f} prompts/s, {teller.extractive} episodes told")


def _timed(name: str, step: Callable[[], object], prompts: int) -> float:
    begun = time.perf_counter()
    step()
    took = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{name:26} {took:7.2f} s {prompts / took:8.0f} prompts/s, peak {peak} MB")
    return took


if __name__ == "__main__":
    main(*sys.argv[1:3])
