"""Learnings for the cockpit's tests, written with plain INSERTs beside the history of `cockpit_seed`."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

DAY = 86_400_000


def learning(db: sqlite3.Connection, key: str, title: str, at: int, **values: object) -> int:
    """A learning of the project aurora-api; its id."""
    name = str(values.pop("project", "aurora-api"))
    row: dict[str, object] = {
        "project_id": db.execute("SELECT id FROM projects WHERE name = ?", (name,)).fetchone()[0],
        "kind": "failed_command", "key": key, "title": title, "first_at": at - 20 * DAY, "last_at": at, "sessions": 1,
        "occurrences": 1, **values,
    }  # fmt: skip
    plain = {name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in row.items()}
    made = db.execute(
        f"INSERT INTO learnings({','.join(plain)}) VALUES ({','.join('?' * len(plain))})", list(plain.values())
    ).lastrowid
    return int(made or 0)


def met(db: sqlite3.Connection, learning_id: int, session_id: str, at: int, excerpt: str, **values: object) -> None:
    """A piece of evidence."""
    row: dict[str, object] = {
        "learning_id": learning_id, "role": "occurrence", "session_id": session_id, "at": at, "excerpt": excerpt,
        **values,
    }  # fmt: skip
    db.execute(
        f"INSERT INTO learning_evidence({','.join(row)}) VALUES ({','.join('?' * len(row))})", list(row.values())
    )


def observation(db: sqlite3.Connection, session_id: str, content: str, outcome: str) -> tuple[int, int]:
    """Id and time of an observation by its text."""
    row = db.execute(
        "SELECT id, at FROM observations WHERE session_id = ? AND content = ? AND outcome = ?",
        (session_id, content, outcome),
    ).fetchone()
    return int(row[0]), int(row[1])


def fill(db: sqlite3.Connection, seeds: Any, units: dict[str, int]) -> dict[str, int]:
    """Learnings of every kind and state; the flaky test warns the episode that raises the limit. Ids by name."""
    now, live, before = seeds.NOW, seeds.SESSION, "7d1f-yesterday"
    for number in range(6):
        seeds.session(
            db, f"older-{number}", state="ended", started_at=now - (number + 1) * DAY // 2,
            last_at=now - (number + 1) * DAY // 2 + 3_600_000, branch="thumbs",
            client="codex" if number % 2 else "claude",
        )  # fmt: skip
        seeds.say(
            db, now - (number + 1) * DAY // 2, f"Make the build green, attempt {number}.", session_id=f"older-{number}"
        )
    failed, at = observation(db, before, "pytest tests/test_thumbs.py", "failed")
    prompt = db.execute("SELECT first_prompt_id FROM work_units WHERE id = ?", (units["flaky"],)).fetchone()[0]
    passed, later = observation(db, before, "pytest tests/test_thumbs.py", "ok")
    made = {
        "thumbs": learning(
            db, "pytest tests/test_thumbs.py", "`pytest tests/test_thumbs.py` fails: assert 59 == 0", now - DAY,
            sessions=7, occurrences=14, files=["tests/test_thumbs.py"],
            remedy={"kind": "edit", "text": "A change of tests/conftest.py made it pass",
                    "files": ["tests/conftest.py"], "commands": ["pytest tests/test_thumbs.py"],
                    "observation_ids": [passed], "confidence": 0.8,
                    "times": 2}),
        "bucket": learning(db, "bucket not found", "bucket not found: avatars-test", now - 2 * DAY,
                           kind="recurring_error", sessions=3, occurrences=4, reopened=1,
                           files=["src/aurora/upload.py"]),
        "loop": learning(db, "src/aurora/limits.py", "edits and reverts of src/aurora/limits.py", now - 9 * DAY,
                         kind="stuck_loop", sessions=2, occurrences=2),
        "notes": learning(db, "release notes", "Write the release notes for the next version", now - 3 * DAY,
                          kind="repeated_intent", sessions=3, occurrences=3),
        "proxy": learning(db, "src/aurora/proxy.py", "src/aurora/proxy.py is read and nothing comes of it",
                          now - 30 * DAY, kind="unresolved_read", sessions=1, occurrences=2),
        "accepted": learning(db, "npm test", "`npm test` fails: use pnpm", now - 12 * DAY, state="accepted",
                             state_by="person", state_at=now - DAY, rule="`npm test` fails here; use `pnpm test`"),
        "resolved": learning(db, "ruff", "`ruff check` fails: unknown rule", now - 25 * DAY, state="resolved",
                             state_by="evidence", state_at=now - 4 * DAY),
        "snoozed": learning(db, "mypy", "`mypy src` fails: stubs not installed", now - 6 * DAY, state="snoozed",
                            state_by="person", state_at=now - DAY, snoozed_until=now + 3 * DAY),
    }  # fmt: skip
    met(db, made["thumbs"], before, later, "passed", role="fix", observation_id=passed, prompt_id=prompt)
    met(db, made["thumbs"], before, at, "FAILED tests/test_thumbs.py::test_minute - assert 59 == 0",
        observation_id=failed, prompt_id=prompt)  # fmt: skip
    for number in range(6):
        met(
            db,
            made["thumbs"],
            f"older-{number}",
            now - (number + 1) * DAY // 2,
            "FAILED tests/test_thumbs.py::test_minute",
        )
    for weeks in (2, 2, 2, 2, 3, 5, 5):
        met(db, made["thumbs"], "older-5", now - weeks * 7 * DAY, "FAILED tests/test_thumbs.py::test_minute")
    several = ("bucket", "bucket", "notes", "notes", "loop", "proxy", "accepted", "resolved", "snoozed")
    for number, name in enumerate(several):
        met(db, made[name], f"older-{number % 6}", now - (number * 8 + 1) * DAY, f"{name} went wrong")
    met(db, made["bucket"], live, now - 500_000, "botocore.errorfactory.NoSuchBucket: bucket not found")
    db.execute(
        "INSERT INTO unit_warnings VALUES (?, ?, ?, ?)",
        (units["raise"], made["bucket"], now, "works on src/aurora/upload.py"),
    )
    db.execute(
        "INSERT INTO unit_warnings VALUES (?, ?, ?, ?)", (units["raise"], made["thumbs"], now, "is about thumbs, tests")
    )
    return made


def hostile(db: sqlite3.Connection, seeds: Any) -> None:
    """Learnings whose every text is an attack, and whose figures are absurd."""
    text, now = seeds.HOSTILE.replace("\ud800", ""), seeds.NOW
    for number, kind in enumerate(("failed_command", "stuck_loop", "repeated_intent", text)):
        one = learning(
            db, f"{text}{number}", text * 4, now - number, kind=kind, project=text, sessions=10**12, occurrences=10**15,
            reopened=10**9, files=[text, 7, text] if number else "[broken", first_at=-(10**15), rule=text,
            remedy={"kind": text, "text": text * 5, "files": [text], "commands": [text], "observation_ids": [1, 10**12],
                    "confidence": 1e9, "times": 10**12} if number % 2 else "{]",
        )  # fmt: skip
        for at in (now, now - 7 * DAY, -(10**15), 0):
            met(db, one, seeds.SESSION, at, text * 3, observation_id=1, prompt_id=1)
        met(db, one, seeds.SESSION, now, text, role=text)
        db.execute("INSERT INTO unit_warnings VALUES (1, ?, ?, ?)", (one, now, text))
