"""A memory of any size with all that the cockpit shows: `python benchmarks/lived.py PATH [OBSERVATIONS]`.

As benchmarks/grown.py makes it, over the year before today: 2,000 sessions and 20,000 episodes for a million
observations, labelled, told and in threads; learnings with evidence, tasks, what sessions were told, runs of hooks. The
context is folded, episodes are indexed, and the search takes everything in as settling does it (`--quick` leaves these
three out).
"""

from __future__ import annotations

import json
import math
import random
import sys
import time
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.grown import Shape, shaped, words  # noqa: E402
from capture.storage import store  # noqa: E402
from nmem import tables  # noqa: E402
from nmem.context import keep  # noqa: E402
from nmem.retrieval import index  # noqa: E402
from nmem.search import refresh  # noqa: E402

YEAR, DAY = 365 * 86_400_000, 86_400_000
PER_SESSION, PER_PROMPT, PROMPTS = 500, 10, 5
"""Observations of a session and of a prompt; prompts of an episode."""
PER_THREAD = 5
"""Sessions of a thread."""
LEARNINGS, TASKS, HOOKS = 600, 500, 4000
_KINDS = ("failed_command", "recurring_error", "repeated_intent", "unresolved_read", "stuck_loop")
_STATES = ("open", "open", "open", "accepted", "dismissed", "snoozed", "resolved")


def live(path: str, total: int = 1_000_000, *, quick: bool = False) -> None:
    """Make the database."""
    now = int(time.time() * 1000)
    shaped(path, Shape(total, YEAR // total, now, PER_SESSION, PER_PROMPT))
    with closing(store.connect(path, autocheckpoint=4000)) as db:
        tables.ensure(db)
        db.execute("PRAGMA synchronous=OFF")
        db.execute("PRAGMA foreign_keys=OFF")
        dice = random.Random(3)
        for part in (_labels, _files, _threads, _episodes, _learnings, _told, _tasks, _health):
            with store.transaction(db):
                part(db, dice, now)
        if not quick:
            keep.keep_all(db, now)
            index.keep(db)
            refresh.refresh(db)
        db.execute("ANALYZE")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _labels(db: Connection, _dice: random.Random, _now: int) -> None:
    db.create_function("wave", 2, lambda at, long: math.sin(at / long), deterministic=True)
    db.execute("INSERT INTO label_models VALUES ('0123456789ab', 0, 'shipped', '{}')")
    db.execute(
        "UPDATE observations SET phase = wave(id, 61.0), scope = wave(id, 97.0), locus = -0.9,"
        " novelty = wave(id, 13.0), friction = iif(id % 23 = 0, 0.9, -0.9), label_model = '0123456789ab',"
        " outcome = iif(id % 23 = 0 AND obs_type IN ('test', 'command'), 'failed', outcome),"
        " metadata = iif(id % 23 = 0 AND obs_type IN ('test', 'command'),"
        " '{\"response\": \"E   assert 59 == 0, in test_minutes of tests/test_' || (id % 97) || '.py\"}', NULL)"
    )
    db.execute(
        "UPDATE sessions SET state = 'ended', ended_at = last_at, branch = 'work-' || (rowid % 40), model = 'large-4'"
    )
    db.execute("DELETE FROM sessions WHERE NOT EXISTS (SELECT 1 FROM observations WHERE session_id = sessions.id)")
    db.execute("DELETE FROM prompts WHERE session_id NOT IN (SELECT id FROM sessions)")
    db.execute(
        "UPDATE sessions SET state = 'working', ended_at = NULL, context_tokens = 120000, context_window = 200000,"
        " context_at = last_at WHERE last_at = (SELECT max(last_at) FROM sessions)"
    )


def _files(db: Connection, _dice: random.Random, _now: int) -> None:
    """What the agent said last in each turn."""
    db.execute(
        "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
        " SELECT session_id, at + 60000, 'agent', 'closing', substr(content, 40), 'c' || id FROM prompts"
    )


def _threads(db: Connection, dice: random.Random, now: int) -> None:
    sessions = db.execute("SELECT id, started_at, last_at FROM sessions ORDER BY started_at").fetchall()
    for first in range(0, len(sessions), PER_THREAD):
        part = sessions[first : first + PER_THREAD]
        made = db.execute(
            "INSERT INTO threads (project_id, title, created_at, last_at, turn_count) VALUES (1, ?, ?, ?, 250)",
            (words(dice, 4), part[0][1], part[-1][2]),
        ).lastrowid
        db.executemany("INSERT INTO session_threads VALUES (?, ?, 'new')", [(each[0], made) for each in part])
        if first and first % (3 * PER_THREAD) == 0:
            db.execute(
                "INSERT INTO episode_links (at, earlier_thread_id, later_thread_id, algorithmic_score, components,"
                " decision, certainty) VALUES (?, ?, ?, 0.6, '{}', 'dont_link', 'uncertain')",
                (now, (made or 1) - 1, made),
            )  # fmt: skip


def _episodes(db: Connection, dice: random.Random, _now: int) -> None:
    asked = db.execute(
        "SELECT p.session_id, t.thread_id, p.id, p.at, p.content FROM prompts p JOIN session_threads t"
        " ON t.session_id = p.session_id WHERE source = 'user' ORDER BY p.id"
    ).fetchall()
    for first in range(0, len(asked), PROMPTS):
        part = asked[first : first + PROMPTS]
        _episode(db, dice, part, open_=first + PROMPTS >= len(asked))


def _episode(db: Connection, dice: random.Random, part: list[tuple[str, int, int, int, str]], *, open_: bool) -> None:
    session, thread, prompt, start, text = part[0]
    rows = db.execute(
        "SELECT id, at, obs_type, file_path, outcome, seq FROM observations"
        " WHERE prompt_id BETWEEN ? AND ? ORDER BY seq",
        (prompt, part[-1][2]),
    ).fetchall()
    last = rows[-1][1] if rows else part[-1][3]
    files = sorted({row[3] for row in rows if row[3]})[:6]
    hot = [{"path": path, "reads": 2, "edits": 1, "failures": 0, "weight": 5 - at / 2} for at, path in enumerate(files)]
    failed = sum(row[4] == "failed" for row in rows)
    trace = [{"id": row[0], "t": row[1], "type": row[2], "path": row[3], "outcome": row[4]} for row in rows]
    cells: dict[str, object] = {
        "session_id": session, "thread_id": thread, "first_prompt_id": prompt, "last_prompt_id": part[-1][2],
        "started_at": start, "ended_at": None if open_ else last, "last_at": last, "active_ms": last - start,
        "active_at": last, "state": "open" if open_ else "closed", "intent": text, "turn_count": len(part),
        "obs_count": len(rows), "hot_files": json.dumps(hot), "friction": failed / max(1, len(rows)),
        "phase_signature": json.dumps({"investigate": 25, "execute": 25, "failures": failed}),
        "fingerprint": json.dumps({"file_read": 20, "test": 5, "file_edit": 10}),
        "outcomes": json.dumps({"tests": dice.choice(("passed", "failed")), "committed": dice.random() < 0.5}),
        "obs_trace": json.dumps(trace), "annotated_seq": rows[-1][5] if rows else 0, "annotated_prompt": 0,
        "traced_seq": rows[-1][5] if rows else 0, "summary": words(dice, 30), "learned": json.dumps([words(dice, 9)]),
        "completed": json.dumps([words(dice, 9), words(dice, 6)]), "next_steps": json.dumps([words(dice, 9)]),
        "narrator": "extractive", "narrated_at": last, "pinned": int(dice.random() < 0.01),
    }  # fmt: skip
    made = db.execute(
        f"INSERT INTO work_units ({', '.join(cells)}) VALUES ({', '.join('?' * len(cells))})", list(cells.values())
    ).lastrowid
    db.executemany(
        "INSERT INTO unit_prompts (prompt_id, unit_id, label, score, decided_by, offered)"
        " VALUES (?, ?, ?, ?, 'online', ?)",
        [(each[2], made, "cont" if at else "new", 0.4 if at else 0.9, int(dice.random() < 0.002))
         for at, each in enumerate(part)],
    )  # fmt: skip
    db.execute(
        "INSERT INTO narrations (unit_id, told_of, by_model, outcome) VALUES (?, 'x', 0, ?)", (made, words(dice, 8))
    )


def _learnings(db: Connection, dice: random.Random, now: int) -> None:
    sessions = db.execute("SELECT id, last_at FROM sessions").fetchall()
    for number in range(LEARNINGS):
        met = sorted(dice.sample(sessions, min(12, len(sessions))), key=lambda each: each[1])
        state = dice.choice(_STATES)
        remedy = {
            "kind": "edit", "text": f"A change of src/{number}.py made it pass", "files": [f"src/{number}.py"],
            "commands": ["pytest -q"], "observation_ids": [number + 1], "confidence": 0.8, "times": 2,
        }  # fmt: skip
        made = db.execute(
            "INSERT INTO learnings (project_id, kind, key, title, files, first_at, last_at, sessions, occurrences,"
            " state, state_at, state_by, snoozed_until, remedy) VALUES (1, ?, ?, ?, '[]', ?, ?, ?, 30, ?, ?, ?, ?, ?)",
            (dice.choice(_KINDS), f"key {number}", words(dice, 8), met[0][1], met[-1][1], len(met), state,
             None if state == "open" else now - DAY, None if state == "open" else "person",
             now + DAY if state == "snoozed" else None, json.dumps(remedy)),
        ).lastrowid  # fmt: skip
        db.executemany(
            "INSERT INTO learning_evidence (learning_id, role, session_id, at, excerpt) VALUES (?, ?, ?, ?, ?)",
            [(made, "fix" if at % 4 == 3 else "occurrence", session, moment, words(dice, 10))
             for at, (session, moment) in enumerate(met)],
        )  # fmt: skip


def _told(db: Connection, dice: random.Random, _now: int) -> None:
    for session, started in db.execute("SELECT id, started_at FROM sessions ORDER BY started_at").fetchall():
        for event in ("session_start", "prompt"):
            text = f"[nmem context]\n{words(dice, 120)}\n[/nmem context]"
            made = db.execute(
                "INSERT INTO injections (at, session_id, event, client, text, tokens, reason)"
                " VALUES (?, ?, ?, 'claude', ?, 300, 'the first prompt')", (started + 1000, session, event, text),
            ).lastrowid  # fmt: skip
            db.executemany(
                "INSERT INTO injection_items (injection_id, position, item, kind, score, reason, text, tokens, used)"
                " VALUES (?, ?, ?, 'episode', 0.5, 'same files', ?, 40, ?)",
                [(made, at, f"episode/{dice.randrange(1, 900)}", words(dice, 12), at % 2) for at in range(8)],
            )


def _tasks(db: Connection, dice: random.Random, now: int) -> None:
    states = ("succeeded", "succeeded", "failed", "cancelled", "timed-out", "queued")
    for number in range(TASKS):
        state = dice.choice(states) if number < TASKS - 20 else "queued"
        at = now - (TASKS - number) * 3_600_000
        ended = None if state == "queued" else at + 600_000
        made = db.execute(
            "INSERT INTO tasks (created_at, changed_at, prompt, project, cwd, state, attempt, started_at, ended_at,"
            " output) VALUES (?, ?, ?, 'work', '/home/u/work', ?, ?, ?, ?, ?)",
            (at, at, words(dice, 25), state, int(state != "queued"), ended and at, ended, words(dice, 200)),
        ).lastrowid
        db.executemany(
            "INSERT INTO task_events (task_id, at, attempt, state, what) VALUES (?, ?, 0, ?, ?)",
            [(made, at, "queued", "queued"), (made, at + 1000, state, "ended")],
        )


def _health(db: Connection, dice: random.Random, now: int) -> None:
    db.executemany(
        "INSERT INTO hook_runs (at, client, event, session_id, wall_us, cpu_us, bytes, result)"
        " VALUES (?, 'claude', 'PostToolUse', 'session-1', ?, ?, 900, 'stored')",
        [(now - (HOOKS - number) * 9000, dice.randrange(20_000, 60_000), dice.randrange(18_000, 30_000))
         for number in range(HOOKS)],
    )  # fmt: skip
    db.executemany("INSERT OR REPLACE INTO counters VALUES (?, ?)", [("spooled", 3), ("drained", 3), ("lost", 0)])
    days = [time.strftime("%Y-%m-%d", time.gmtime(now / 1000 - 86_400 * back)) for back in range(300)]
    db.executemany("INSERT INTO redactions VALUES (?, 'password', ?)", [(day, dice.randrange(1, 9)) for day in days])


if __name__ == "__main__":
    before = time.perf_counter()
    given = [each for each in sys.argv[1:] if each != "--quick"]
    live(given[0], int(given[1]) if len(given) > 1 else 1_000_000, quick="--quick" in sys.argv)
    print(f"{Path(given[0]).stat().st_size / 1e6:.0f} MB in {time.perf_counter() - before:.0f} s")
