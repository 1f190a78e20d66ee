"""What the screen Health has to show beside a story: redactions, rows past their lifetime, sweeps, backups, purges."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

DAY = 86_400_000
OLD = "old-session"


def fill(db: sqlite3.Connection, seeds: Any, text: str = "") -> None:
    """Redactions over weeks with some to judge, an old session, a sweep, rows left behind."""
    now = seeds.NOW
    kinds = ("password", "github-token", text or "aws-key")
    for back in range(40):
        for number, kind in enumerate(kinds):
            if (back * 7 + number * 3) % (5 + number) == 0:
                db.execute(
                    "INSERT OR REPLACE INTO redactions VALUES (date(?, 'unixepoch'), ?, ?)",
                    ((now - back * DAY) // 1000, kind, 1 + (back + number) % 4),
                )
    said = f"{text} export TOKEN=[REDACTED:password] and then curl -H 'x: [REDACTED:github-token]' api.example.org"
    for number in range(4):
        seeds.do(db, now - 600_000 - number * 1000, "command", said, prompt_id=None)
    old(db, seeds, text)
    db.execute("INSERT INTO hook_runs(at, client, event, session_id, wall_us, cpu_us, bytes, result)"
               " VALUES (?, 'claude', 'Stop', 'nobody', 1, 1, 1, 'stored')", (now,))  # fmt: skip
    swept(db, now)


def old(db: sqlite3.Connection, seeds: Any, text: str = "") -> None:
    """A session of more than a year ago, over and summed up, with calls past their lifetime."""
    at = seeds.NOW - 500 * DAY
    seeds.session(db, OLD, state="ended", started_at=at, last_at=at + 900_000)
    # Lifetimes begin when a session was stored: this one came before all others.
    db.execute("UPDATE sessions SET rowid = (SELECT min(rowid) - 1 FROM sessions) WHERE id = ?", (OLD,))
    asked = seeds.say(db, at, f"Move the thumbnails to their own worker. {text}", session_id=OLD)
    for number in range(6):
        seeds.do(db, at + 60_000 + number * 1000, "file_read", f"src/thumbs/{number}.py", OLD, prompt_id=asked)
    seeds.do(db, at + 90_000, "command", "make thumbs", OLD, prompt_id=asked)


def swept(db: sqlite3.Connection, now: int) -> None:
    """One sweep of a week ago."""
    db.execute(
        "INSERT INTO sweep_journal (id, started_at, last_at, ended_at, why, done, sessions, skipped, policy)"
        " VALUES (1, ?, ?, ?, 'settled', 'finished', 3, '{\"still going on\": 1}', '{}')",
        (now - 7 * DAY, now - 7 * DAY + 2_000, now - 7 * DAY + 2_000),
    )
    for kind, count in (("file_read", 412), ("search", 96)):
        db.execute(
            "INSERT INTO sweep_counts VALUES (1, 1, ?, 90, ?, ?, ?)", (kind, count, now - 300 * DAY, now - 91 * DAY)
        )


def kept(folder: Path) -> None:
    """Three backups: one encrypted, one that a restore kept."""
    folder.mkdir(mode=0o700, exist_ok=True)
    for name, octets in (("nmem-20251008-210000.db", 9_000), ("nmem-20251001-210000.db.age", 7_000),
                         ("before-restore-20250930-080000.db", 5_000)):  # fmt: skip
        (folder / name).write_bytes(b"\0" * octets)
