"""A session of 200 prompts with their work, closings and episodes, put into a database of any size.

Episodes are detected as an import would; the newest prompt's turn has ended.
"""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.grown import NEWEST, PER_PROMPT
from capture.storage import store
from nmem.episodes import detect

SESSION = "session-long"
PROMPTS = 200
FILES = 120
_TYPES = ("command", "file_read", "file_read", "file_edit", "search", "test", "file_write", "git_other")
_NOUNS = """parser socket retry cache index token window render layout query cursor signal worker thread buffer stream
header config schema migrate deploy review failing passes timeout lock commit branch rebase widget palette colour frame
budget ledger invoice payment refund locale summary digest archive backup restore export import filter sorter""".split()  # noqa: SIM905


def words(dice: random.Random, count: int) -> str:
    """Some words; every third is an identifier."""
    return " ".join(
        f"{dice.choice(_NOUNS)}_{dice.choice(_NOUNS)}{dice.randrange(40)}"
        if dice.random() < 0.3
        else dice.choice(_NOUNS)
        for _ in range(count)
    )


def add(path: Path) -> None:
    """Put the session into a database, unless it is there."""
    db = store.connect(str(path), timeout=10)
    if db.execute("SELECT 1 FROM sessions WHERE id = ?", (SESSION,)).fetchone():
        db.close()
        return
    dice = random.Random(3)
    at, seq = NEWEST, 0
    files = [f"src/{dice.choice(_NOUNS)}/{dice.choice(_NOUNS)}.py" for _ in range(FILES)]
    with store.transaction(db):
        db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at)"
            " VALUES (?, 'claude', 1, '/w', ?, ?)",
            (SESSION, at, at),
        )
        for number in range(PROMPTS):
            at += 90_000
            prompt = db.execute(
                "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
                " VALUES (?, ?, 'user', 'prompt', ?, ?)",
                (SESSION, at, words(dice, dice.choice((3, 12, 40, 80))), f"p{number}"),
            ).lastrowid
            for _ in range(PER_PROMPT):
                at, seq, kind = at + 9_000, seq + 1, dice.choice(_TYPES)
                file = dice.choice(files) if kind.startswith("file") else None
                db.execute(
                    "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, file_path, content,"
                    " outcome, dedup_key) VALUES (?, ?, ?, ?, ?, 'Bash', ?, ?, 'ok', ?)",
                    (SESSION, prompt, at, seq, kind, file, file or words(dice, 30), f"o{seq}"),
                )
            db.execute(
                "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
                " VALUES (?, ?, 'agent', 'closing', ?, ?)",
                (SESSION, at + 5_000, words(dice, 70), f"c{number}"),
            )
        db.execute("UPDATE sessions SET seq = ?, last_at = ? WHERE id = ?", (seq, at + 5_000, SESSION))
    detect.sessions(db, [SESSION])
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    db.close()
