"""Tasks for the cockpit's tests, written with plain INSERTs: one in every state, and one for every reason to wait."""

from __future__ import annotations

import sqlite3
from typing import Any

from nmem.dispatch import processes

MINUTE, HOUR = 60_000, 3_600_000
OUTPUT = """$ claude -p
I look at the limits first.
  src/aurora/limits.py: MAX_AVATAR = 2 * MB
Raising it to 8 MB; the error text stays as it is, since three clients of the interface match on its first words.
pytest tests/test_limits.py -q
.....                                                                    [100%]
5 passed in 0.41s
Now the changelog."""


def task(db: sqlite3.Connection, prompt: str, state: str, at: int, **values: object) -> int:
    """A task of the project aurora-api; its id."""
    needs = values.pop("needs", ())
    row: dict[str, object] = {
        "created_at": at - HOUR, "changed_at": at, "prompt": prompt, "project": "aurora-api", "cwd": "/src/aurora",
        "state": state, **values,
    }  # fmt: skip
    if state in ("running", "needs-input"):
        row |= {
            "process": processes.me(),
            "how": "headless",
            "claimed_at": at,
            "started_at": at,
            "attempt": 1,
            "tries": 1,
        }
        row |= values
    made = int(db.execute(
        f"INSERT INTO tasks({','.join(row)}) VALUES ({','.join('?' * len(row))})", list(row.values())
    ).lastrowid or 0)  # fmt: skip
    db.executemany("INSERT INTO task_needs VALUES (?, ?)", [(made, need) for need in needs])  # type: ignore[attr-defined]
    happened(db, made, at - HOUR, "queued", "queued", "by person")
    return made


def happened(
    db: sqlite3.Connection, task_id: int, at: int, state: str, what: str, text: str = "", attempt: int = 1
) -> None:
    """An event."""
    db.execute(
        "INSERT INTO task_events(task_id, at, attempt, state, what, text) VALUES (?, ?, ?, ?, ?, ?)",
        (task_id, at, attempt, state, what, text),
    )


def fill(db: sqlite3.Connection, seeds: Any) -> dict[str, int]:
    """The queue of a busy day; ids by name."""
    now = int(seeds.NOW)
    over = {"attempt": 1, "tries": 1}
    made = {
        "done": task(db, "Update the changelog from the commits since v1.3", "succeeded", now - 5 * HOUR, **over,
                     exit_code=0, started_at=now - 5 * HOUR - 4 * MINUTE, ended_at=now - 5 * HOUR, output=OUTPUT,
                     session_id=seeds.SESSION, worktree=1, branch="nmem/task-1",
                     worktree_path="/data/nmem/worktrees/aurora-1"),
        "failed": task(db, "Upgrade the image library to 11 and mend what breaks", "failed", now - 3 * HOUR,
                       client="codex", exit_code=1, attempt=3, tries=3, retries=2, reason="exit code 1",
                       started_at=now - 3 * HOUR - 26 * MINUTE, ended_at=now - 3 * HOUR,
                       output="error: no matching distribution found for pillow==11.0.1"),
    }  # fmt: skip
    made["after-failed"] = task(db, "Rebuild all thumbnails with the new library", "cancelled", now - 3 * HOUR,
                                needs=(made["failed"],), cancelled_for=made["failed"], ended_at=now - 3 * HOUR,
                                reason=f"task/{made['failed']}, which it needs, failed")  # fmt: skip
    made["slow"] = task(db, "Profile the import of 10,000 avatars", "timed-out", now - 26 * HOUR, client="gemini",
                        started_at=now - 28 * HOUR, ended_at=now - 26 * HOUR, **over,
                        reason="it took longer than 2 h")  # fmt: skip
    made["runs"] = task(db, "Raise the avatar limit to 8 MB and test it\n\nKeep the old error message.",
                        "running", now - 14 * MINUTE, output=OUTPUT, retries=1)  # fmt: skip
    made["asks"] = task(db, "Move the uploads to the new bucket", "needs-input", now - 6 * MINUTE, worktree=1,
                        branch="nmem/task-6", worktree_path="/data/nmem/worktrees/aurora-6",
                        reason="asks for permission: Bash aws s3 sync s3://avatars s3://avatars-eu",
                        output="I would copy the bucket now. May I?")  # fmt: skip
    made["busy"] = task(db, "Document the limits in docs/limits.md", "queued", now)
    made["next"] = task(db, "Find out why the thumbnails come out rotated", "queued", now, worktree=1, priority=2)
    made["then"] = task(db, "Mend the orientation of thumbnails", "queued", now, worktree=1, needs=(made["next"],),
                        retries=2)  # fmt: skip
    made["later"] = task(db, "Write the release notes for 1.4", "queued", now, worktree=1,
                         not_before=now + 12 * HOUR)  # fmt: skip
    made["quiet"] = task(db, "Check every link in the docs", "queued", now, worktree=1, quiet_hours="00:00-23:59",
                         cwd="/src/harbor", project="harbor-lights", source="agent")  # fmt: skip
    for name, at, state, what, text, attempt in (
        ("done", now - 5 * HOUR - 4 * MINUTE, "running", "claimed", "77@1", 1),
        ("done", now - 5 * HOUR - 4 * MINUTE, "running", "started", "", 1),
        ("done", now - 5 * HOUR, "succeeded", "ended", f"exit 0; session/{seeds.SESSION}", 1),
        ("failed", now - 4 * HOUR, "queued", "retried", "try 1 of 3 did not succeed", 1),
        ("failed", now - 3 * HOUR, "failed", "ended", "exit 1", 3),
        ("asks", now - 6 * MINUTE, "running", "claimed", "77@1", 1),
        ("asks", now - 6 * MINUTE, "running", "note", "nmem/task-6 at HEAD (41c2aa7e10)", 1),
        ("asks", now - 6 * MINUTE, "running", "started", "", 1),
        ("asks", now - 2 * MINUTE, "needs-input", "asked", "asks for permission: Bash aws s3 sync", 1),
        ("runs", now - 14 * MINUTE, "running", "claimed", "77@1", 1),
        ("runs", now - 14 * MINUTE, "running", "started", "", 1),
    ):
        happened(db, made[name], at, state, what, text, attempt)
    return made


def hostile(db: sqlite3.Connection, seeds: Any) -> None:
    """Tasks whose every text is an attack, and whose figures are absurd."""
    text, now = seeds.HOSTILE.replace("\ud800", ""), int(seeds.NOW)
    own = {
        "project": text, "cwd": text, "client": text, "reason": text * 3, "output": text * 40, "target": text,
        "worktree_path": text, "branch": text, "source": text,
    }  # fmt: skip
    for state in ("running", "needs-input", "queued", "succeeded", "failed", "timed-out", text):
        made = task(db, text * 20, state, now - MINUTE, **{
            **own, "priority": 10**15, "retries": 10**12, "tries": 10**9, "exit_code": -(10**12),
            "time_limit": 10**15, "started_at": -(10**15), "ended_at": 10**17, "not_before": 10**17,
        })  # fmt: skip
        for at in (now, -(10**15), 10**17):
            happened(db, made, at, text, text, text * 4, 10**9)
    task(db, "", "queued", 0, **own | {"quiet_hours": ""})
