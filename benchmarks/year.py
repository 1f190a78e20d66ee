"""A year of history of any size, settled: `python benchmarks/year.py PATH [OBSERVATIONS]`.

As benchmarks/grown.py makes it, with what settling adds: episodes with their traces and stories, summaries, reasoning.
"""

from __future__ import annotations

import json
import random
import sys
import time
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.grown import NEWEST, grow  # noqa: E402
from capture.storage import store  # noqa: E402
from nmem import tables  # noqa: E402

YEAR = 365 * 86_400_000
TURNS = 3
"""Prompts of an episode."""
_SAID = 3
"""Thoughts of a turn."""


def year(path: str, total: int = 1_000_000) -> None:
    """Make the database."""
    grow(path, total, YEAR // total)
    with closing(store.connect(path, autocheckpoint=4000)) as db:
        tables.ensure(db)
        db.execute("PRAGMA synchronous=OFF")
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        with store.transaction(db):
            for name, _ in triggers:
                db.execute(f"DROP TRIGGER {name}")
            _episodes(db)
            _reasoning(db)
            for index in ("prompts_fts",):
                db.execute(f"INSERT INTO {index}({index}) VALUES ('rebuild')")
            for _, sql in triggers:
                db.execute(sql)
        _indexed(db)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _episodes(db: Connection) -> None:
    sessions = [row[0] for row in db.execute("SELECT id FROM sessions ORDER BY started_at")]
    for session in sessions:
        prompts = db.execute("SELECT id, at FROM prompts WHERE session_id = ? ORDER BY at", (session,)).fetchall()
        rows = db.execute(
            "SELECT id, at, obs_type, file_path, outcome, seq, prompt_id FROM observations WHERE session_id = ?"
            " ORDER BY seq", (session,),
        ).fetchall()  # fmt: skip
        if not prompts:
            continue
        mine = {number for number, _ in prompts}
        strays = [row[0] for row in rows if row[6] not in mine]
        db.executemany("UPDATE observations SET prompt_id = ? WHERE id = ?", [(prompts[0][0], one) for one in strays])
        for first in range(0, len(prompts), TURNS):
            part = prompts[first : first + TURNS]
            own = {number for number, _ in part} | ({None} if first == 0 else set())
            done = [row for row in rows if row[6] in own or (first == 0 and row[6] not in mine)]
            _episode(db, session, part, done)
        db.execute(
            "INSERT INTO session_summaries (session_id, intent, learned, completed, next_steps, files_read,"
            " files_edited, narrator, at) VALUES (?, 'a session', '[]', '[]', '[]', '[]', '[]', 'extractive', ?)",
            (session, prompts[-1][1]),
        )
    db.execute("UPDATE sessions SET state = 'ended'")


def _episode(db: Connection, session: str, part: list[tuple[int, int]], done: list[tuple[object, ...]]) -> None:
    trace = [{"id": row[0], "t": row[1], "type": row[2], "path": row[3], "outcome": row[4]} for row in done]
    last = max([part[-1][1], *(int(str(row[1])) for row in done)])
    seq = max([0, *(int(str(row[5])) for row in done)])
    unit = db.execute(
        "INSERT INTO work_units (session_id, first_prompt_id, last_prompt_id, started_at, ended_at, last_at, state,"
        " intent, turn_count, obs_count, obs_trace, annotated_seq, annotated_prompt, traced_seq, summary, narrator,"
        " narrated_at) VALUES (?, ?, ?, ?, ?, ?, 'closed', 'an episode', ?, ?, ?, ?, ?, ?, 'done', 'extractive', ?)",
        (session, part[0][0], part[-1][0], part[0][1], last, last, len(part), len(done), json.dumps(trace), seq,
         part[-1][0], seq, last),
    ).lastrowid  # fmt: skip
    db.executemany(
        "INSERT INTO unit_prompts (prompt_id, unit_id, label, decided_by) VALUES (?, ?, 'cont', 'online')",
        [(number, unit) for number, _ in part],
    )


def _reasoning(db: Connection) -> None:
    dice = random.Random(5)
    words = [row[0] for row in db.execute("SELECT content FROM prompts WHERE source = 'user' LIMIT 400")]
    asked = db.execute("SELECT session_id, at, id FROM prompts WHERE source = 'user'").fetchall()
    db.executemany(
        "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key) VALUES (?, ?, 'agent', ?, ?, ?)",
        [
            (session, at + 1000 + number, ("thinking", "thinking", "closing")[number],
             " ".join(dice.choices(words, k=4)), f"t{prompt}.{number}")
            for session, at, prompt in asked for number in range(_SAID)
        ],
    )  # fmt: skip


def _indexed(db: Connection) -> None:
    """The search has taken everything in: then its triggers have work at each row that goes."""
    for source in ("observations", "prompts"):
        last, texts = db.execute(f"SELECT max(id), count(*) FROM {source}").fetchone()
        db.execute(
            "UPDATE search_state SET done = ?, indexed = ?, texts = ? WHERE source = ?", (last, last, texts, source)
        )


if __name__ == "__main__":
    before = time.perf_counter()
    year(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
    print(f"{Path(sys.argv[1]).stat().st_size / 1e6:.0f} MB in {time.perf_counter() - before:.0f} s; now is {NEWEST}")
