"""Databases for the cockpit's tests, written with plain INSERTs: independent of the capture pipeline."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from capture.storage.schema import migrate

NOW = 1_760_000_000_000
SESSION = "0b9c4f5e-live"
HOSTILE = (
    "see [/foo] [red]x[/] \x1b]52;c;aGk=\x07\x1b[2J\x00\u202eevil\u2066 \x9b31m 漢字 e\u0301\u0301\u0301\u0301\n"
    "next\tline 👩\u200d👩\u200d👧 \ud800 \u2028"
)


def database(path: str | Path) -> sqlite3.Connection:
    """A migrated, empty database."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    migrate(db)
    return db


def session(db: sqlite3.Connection, id_: str = SESSION, **values: object) -> str:
    """A session in the project aurora-api, with any column overridden."""
    name = str(values.pop("project", "aurora-api"))
    db.execute(
        "INSERT OR IGNORE INTO projects(key, name, root, created_at) VALUES (?, ?, ?, ?)",
        (name, name, "/src/aurora", NOW),
    )
    project = db.execute("SELECT id FROM projects WHERE key = ?", (name,)).fetchone()[0]
    row: dict[str, object] = {
        "id": id_,
        "client": "claude",
        "project_id": project,
        "cwd": "/src/aurora",
        "branch": "main",
        "model": "claude-opus-4-8",
        "source": "startup",
        "state": "working",
        "started_at": NOW - 840_000,
        "last_at": NOW - 3_000,
        "context_tokens": 82_000,
        "context_window": 200_000,
        "context_at": NOW - 3_000,
        **values,
    }
    db.execute(f"INSERT INTO sessions({','.join(row)}) VALUES ({','.join('?' * len(row))})", list(row.values()))
    return id_


def say(
    db: sqlite3.Connection, at: int, content: str, kind: str = "prompt", source: str = "user", session_id: str = SESSION
) -> None:
    """A prompt."""
    db.execute(
        "INSERT INTO prompts(session_id, at, source, kind, content, dedup_key) VALUES (?, ?, ?, ?, ?, ?)",
        (session_id, at, source, kind, content, f"{at}.{kind}"),
    )


def do(
    db: sqlite3.Connection, at: int, obs_type: str, content: str, session_id: str = SESSION, **values: object
) -> None:
    """An observation."""
    seq = db.execute("UPDATE sessions SET seq = seq + 1 WHERE id = ? RETURNING seq", (session_id,)).fetchone()[0]
    meta = values.pop("metadata", None)
    row: dict[str, object] = {
        "session_id": session_id,
        "at": at,
        "seq": seq,
        "obs_type": obs_type,
        "content": content,
        "outcome": "ok",
        "dedup_key": f"k{seq}",
        "metadata": json.dumps(meta) if meta else None,
        **values,
    }
    db.execute(f"INSERT INTO observations({','.join(row)}) VALUES ({','.join('?' * len(row))})", list(row.values()))


def story(db: sqlite3.Connection, at: int = NOW) -> None:
    """A short session: two prompts, a failing test that gets mended, a commit."""
    session(db, started_at=at - 840_000, last_at=at - 3_000, context_at=at - 3_000)
    t = at - 820_000
    do(db, t, "session_start", "startup", outcome="unknown")
    say(db, t + 10_000, "Why is the avatar limit 2 MB? Users complain about it.")
    say(db, t + 14_000, "The limit is probably a constant; let me look for where it is enforced.", "thinking", "agent")
    do(db, t + 20_000, "search", "MAX_AVATAR in src", duration_ms=40)
    do(db, t + 25_000, "file_read", "src/aurora/limits.py", file_path="src/aurora/limits.py", duration_ms=12)
    do(db, t + 30_000, "file_read", "src/aurora/upload.py", file_path="src/aurora/upload.py", duration_ms=14, repeats=2)
    say(db, t + 60_000, "The limit is in limits.py, set when uploads went through the proxy.", "closing", "agent")
    say(db, t + 300_000, "Raise it to 8 MB and add a test for the new limit, please; keep the old error message.")
    do(
        db,
        t + 310_000,
        "file_edit",
        "src/aurora/limits.py",
        file_path="src/aurora/limits.py",
        lines_added=1,
        lines_removed=1,
        duration_ms=30,
    )
    do(
        db,
        t + 330_000,
        "file_write",
        "tests/test_limits.py",
        file_path="tests/test_limits.py",
        lines_added=24,
        duration_ms=22,
    )
    do(
        db,
        t + 350_000,
        "test",
        "pytest tests/test_limits.py -q",
        outcome="failed",
        exit_code=1,
        duration_ms=2_140,
        metadata={"tests": {"failed": 1, "passed": 4}},
    )
    say(db, t + 352_000, "The fixture still builds a 2 MB file.", "thinking", "agent")
    do(
        db,
        t + 360_000,
        "file_edit",
        "tests/test_limits.py",
        file_path="tests/test_limits.py",
        lines_added=3,
        lines_removed=2,
        duration_ms=18,
    )
    do(db, t + 380_000, "test", "pytest tests/test_limits.py -q", duration_ms=2_300, metadata={"tests": {"passed": 5}})
    do(db, t + 400_000, "lint", "ruff check src tests", duration_ms=210, outcome="failed", exit_code=1)
    do(db, t + 420_000, "git_commit", "Raise the avatar limit to 8 MB", duration_ms=90, metadata={"hash": "41c2aa7"})
    do(db, t + 440_000, "command", "curl -s localhost:8000/health | jq .status", duration_ms=140)
    for number in range(40):
        db.execute(
            "INSERT INTO hook_runs(at, client, event, session_id, wall_us, cpu_us, bytes, result)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                at - 400_000 + number * 9_000,
                "claude",
                "PostToolUse",
                SESSION,
                21_000 + number * 317 % 9_000,
                18_000 + number * 211 % 5_000,
                900,
                "stored" if number % 9 else "duplicate",
            ),
        )
    db.executemany("INSERT INTO counters VALUES (?, ?)", [("spooled", 3), ("drained", 3), ("lost", 0)])
    db.executemany(
        "INSERT INTO redactions VALUES (?, ?, ?)", [("2025-10-09", "github-token", 2), ("2025-10-09", "password", 5)]
    )
    db.execute("INSERT INTO payload_drift VALUES ('claude', 'PostToolUse', 'tool_response.fresh', '2.9.0', ?)", (at,))


def hostile(db: sqlite3.Connection, at: int = NOW) -> None:
    """The same, with every text an attack."""
    text = HOSTILE.replace("\ud800", "")
    session(db, project=text, branch=text, model=text, state="working")
    say(db, at - 50_000, text * 3)
    say(db, at - 49_000, text, "thinking", "agent")
    for number, kind in enumerate(("file_read", "file_edit", "test", "command", "nonsense[/x]", "session_start")):
        do(
            db,
            at - 40_000 + number,
            kind,
            text * (number + 1),
            file_path=text,
            outcome="failed" if number % 2 else "ok",
            metadata={text: text, "tests": {"failed": 10**12}},
            tool_name=text,
            lines_added=10**9,
            duration_ms=10**12,
        )
    db.execute(
        "INSERT INTO hook_runs(at, client, event, wall_us, cpu_us, bytes, result) VALUES (?, ?, ?, 1, 1, 1, 'stored')",
        (at, text, text),
    )
    db.execute("INSERT INTO redactions VALUES ('2025-10-09', ?, 3)", (text,))
    db.execute("INSERT INTO payload_drift VALUES (?, ?, ?, ?, ?)", (text, text, text, text, at))
