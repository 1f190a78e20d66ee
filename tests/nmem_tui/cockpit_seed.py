"""Databases for the cockpit's tests, written with plain INSERTs: independent of the capture pipeline."""

from __future__ import annotations

import json
import sqlite3
from functools import cache
from pathlib import Path

from capture.storage.schema import migrate
from nmem import tables
from nmem.episodes import units
from nmem.episodes.units import Verdict

NOW = 1_760_000_000_000
SESSION = "0b9c4f5e-live"
HOSTILE = (
    "see [/foo] [red]x[/] \x1b]52;c;aGk=\x07\x1b[2J\x00\u202eevil\u2066 \x9b31m 漢字 e\u0301\u0301\u0301\u0301\n"
    "next\tline 👩\u200d👩\u200d👧 \ud800 \u2028"
)


def database(path: str | Path) -> sqlite3.Connection:
    """A migrated database: empty, or the one that is there."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    new = not Path(path).exists()
    db = sqlite3.connect(path, isolation_level=None)
    if new:
        empty().backup(db)
    db.execute("PRAGMA journal_mode=WAL")
    return db


@cache
def empty() -> sqlite3.Connection:
    """One in memory, made once: the others are copies."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db)
    tables.ensure(db)
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
) -> int:
    """A prompt; its id."""
    made = db.execute(
        "INSERT INTO prompts(session_id, at, source, kind, content, dedup_key) VALUES (?, ?, ?, ?, ?, ?)",
        (session_id, at, source, kind, content, f"{at}.{kind}"),
    ).lastrowid
    return int(made or 0)


def thread(db: sqlite3.Connection, title: str, at: int, *session_ids: str) -> int:
    """A thread with its sessions."""
    made = db.execute(
        "INSERT INTO threads(project_id, title, created_at, last_at) VALUES (1, ?, ?, ?)", (title, at, at)
    ).lastrowid
    db.executemany("INSERT INTO session_threads VALUES (?, ?, 'new')", [(each, made) for each in session_ids])
    return int(made or 0)


def unit(db: sqlite3.Connection, prompt_ids: list[int], verdict: Verdict, resumes: int | None = None,
         **columns: object) -> int:  # fmt: skip
    """An episode of these prompts, with any column overridden; JSON columns as values."""
    made = units.start(db, prompt_ids[0], verdict, resumes)
    for each in prompt_ids[1:]:
        units.append(db, each, made, Verdict("cont", "online", 0.06))
    if columns:
        plain = {
            name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in columns.items()
        }
        units.annotated(db, made, plain)
    return made


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


SCORES = {
    "search": (-0.94, -0.81), "file_read": (-0.91, 0.72), "file_edit": (0.97, 0.95), "file_write": (0.93, None),
    "test": (0.74, 0.88), "lint": (0.86, 0.9), "git_commit": (0.99, 0.97), "command": (None, 0.52),
    "web_search": (-0.98, -0.93), "task_spawn": (-0.7, -0.85),
}  # fmt: skip
"""Phase and scope of a call, by what it is."""
MODEL = "0123456789ab"


def label(db: sqlite3.Connection) -> None:
    """Label what is there, as a model would; what failed met friction."""
    for obs_type, (phase, scope) in SCORES.items():
        db.execute(
            "UPDATE observations SET phase = ?, scope = ?, locus = iif(content LIKE 'curl%', 0.8, -0.97),"
            " novelty = iif(obs_type IN ('search', 'web_search'), 0.71, -0.9),"
            " friction = iif(outcome = 'failed', 0.96, -0.93), label_model = ? WHERE obs_type = ?",
            (phase, scope, MODEL, obs_type),
        )


LONG = (
    ("Why do the thumbnails come out rotated? Find out.", ["search", "file_read", "web_search", "file_read"] * 12),
    ("Build a reader for the orientation tag, with tests.", ["task_spawn", "file_write", "search", "file_edit"] * 9),
    ("Now finish it: everything green, then commit.", ["file_edit", "test", "file_edit", "test", "lint"] * 14),
    ("Are there other formats that carry the tag?", ["web_search", "search", "file_read"] * 10),
)
"""Prompts, and the kinds of calls that followed each."""


def long(db: sqlite3.Connection, at: int = NOW, times: int = 1) -> None:
    """One session of many calls, whose lines cross: four episodes, some failures; and five quiet sessions before it."""
    session(db, started_at=at - 7_200_000 * times, last_at=at - 3_000)
    t = at - 7_200_000 * times
    for said, kinds in LONG * times:
        prompt = say(db, t, said)
        unit(db, [prompt], Verdict("new", "online", 0.9, "another intent"))
        for number, kind in enumerate(kinds):
            t += 38_000
            wrong = kind == "lint" or (kind == "test" and number % 4 == 1)
            do(db, t, kind, f"{kind} {number % 7}", outcome="failed" if wrong else "ok", prompt_id=prompt)
        t += 60_000
    for number in range(5):
        before = at - (number + 2) * 86_400_000
        earlier = session(db, f"earlier-{number}", state="ended", started_at=before, last_at=before + 600_000)
        prompt = say(db, before, f"Earlier work, part {number + 1}", session_id=earlier)
        for step, kind in enumerate(["search", "file_read", "file_edit", "test", "git_commit"] * 5):
            do(db, before + (step + 1) * 9_000, kind, kind, earlier, prompt_id=prompt)
    label(db)


def grown(db: sqlite3.Connection, at: int, tokens: int, cost: float, by: int = 6_000, every: int = 130_000) -> None:
    """A window that grew by as much each turn, as a status line tells it."""
    db.execute("INSERT INTO status_lines VALUES (?, ?, 'claude-opus-4-8', 200000, ?, ?)", (SESSION, at, tokens, cost))
    for back in range(6):
        db.execute("INSERT INTO context_readings VALUES (?, ?, ?)", (SESSION, at - back * every, tokens - back * by))


def story(db: sqlite3.Connection, at: int = NOW) -> None:
    """A short session: two prompts, a failing test that gets mended, a commit."""
    session(db, started_at=at - 840_000, last_at=at - 3_000, context_at=at - 3_000)
    grown(db, at - 3_000, 82_000, 0.84)
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


def history(db: sqlite3.Connection, at: int = NOW) -> dict[str, int]:
    """The story's session cut into episodes, and an earlier session with three, one of them resumed today."""
    day, before = 86_400_000, "7d1f-yesterday"
    session(db, before, state="ended", started_at=at - day - 7_200_000, last_at=at - day, branch="avatars")
    uploads = thread(db, "Avatar uploads", at - day - 7_200_000, before, SESSION)
    t = at - day - 7_200_000
    first = say(
        db, t, "Users report that avatars over 2 MB are refused without a word. Find out where.", session_id=before
    )
    do(db, t + 9_000, "search", "refused upload", before, duration_ms=31)
    do(db, t + 20_000, "file_read", "src/aurora/upload.py", before, file_path="src/aurora/upload.py")
    say(db, t + 60_000, "upload.py swallows the limit error; nothing reaches the client.", "closing", "agent", before)
    flaky = say(db, t + 1_800_000, "The thumbnails test is flaky on CI, have a look.", session_id=before)
    do(
        db,
        t + 1_830_000,
        "test",
        "pytest tests/test_thumbs.py",
        before,
        outcome="failed",
        exit_code=1,
        duration_ms=9_100,
    )
    do(
        db,
        t + 1_900_000,
        "test",
        "pytest tests/test_thumbs.py",
        before,
        outcome="failed",
        exit_code=1,
        duration_ms=9_300,
    )
    slow = say(db, t + 2_400_000, "Could it be the clock? Try a fixed one.", session_id=before)
    do(db, t + 2_460_000, "test", "pytest tests/test_thumbs.py", before, duration_ms=4_200)
    say(db, t + 2_470_000, "With a fixed clock it passes ten times in a row.", "closing", "agent", before)
    notes = say(db, t + 5_000_000, "Write the release notes for 1.4.", session_id=before)
    do(db, t + 5_100_000, "file_write", "NEWS.md", before, file_path="NEWS.md", lines_added=31)
    mine = [row[0] for row in db.execute(
        "SELECT id FROM prompts WHERE session_id = ? AND source = 'user' ORDER BY at", (SESSION,))]  # fmt: skip
    made = {
        "refused": unit(db, [first], Verdict("new", "first"), outcomes={}, active_ms=340_000, friction=0.1,
            hot_files=[{"path": "src/aurora/upload.py", "reads": 1, "edits": 0, "failures": 0, "weight": 1}]),
        "flaky": unit(db, [flaky, slow], Verdict("new", "online", 0.91, "new intent: no file and no word in common"),
            active_ms=660_000, friction=0.55, outcomes={"tests": "passed"}, title="Flaky thumbnails test",
            summary="The thumbnails test failed on CI whenever the clock passed a full minute; a fixed clock mends it.",
            learned=["The test compared minutes of two calls to now()"],
            completed=["Fixed clock in tests/test_thumbs.py"],
            next_steps=["Look for other tests that read the wall clock"], narrator="extractive", narrated_at=at - day),
        "notes": unit(db, [notes], Verdict("new", "revised", 0.72, "other files than before"), active_ms=120_000,
            friction=0.0, pinned=1),
    }  # fmt: skip
    units.judge(db, slow, Verdict("cont", "online", 0.46, "a question, but about the same test", offered=True))
    units.close(db, made["notes"])
    made["why"] = unit(db, mine[:1], Verdict("new", "first"), made["refused"], active_ms=70_000, friction=0.05)
    made["raise"] = unit(
        db, mine[1:], Verdict("new", "online", 0.88, "asks for a change after a question"),
        active_ms=142_000, friction=0.35,
        hot_files=[{"path": "tests/test_limits.py", "reads": 0, "edits": 2, "failures": 0, "weight": 6},
                   {"path": "src/aurora/limits.py", "reads": 0, "edits": 1, "failures": 0, "weight": 3}],
        outcomes={"tests": "passed", "committed": True}, obs_count=8,
        commits=[{"hash": "41c2aa7", "message": "Raise the avatar limit to 8 MB", "branch": "main", "at": at}],
    )  # fmt: skip
    other = thread(db, "Upload error messages", at - 5 * day)
    made["link"] = int(db.execute(
        "INSERT INTO episode_links(at, earlier_thread_id, later_thread_id, algorithmic_score, components, decision,"
        " certainty) VALUES (?, ?, ?, 0.64, '{}', 'dont_link', 'uncertain')", (at - day, other, uploads)
    ).lastrowid or 0)  # fmt: skip
    made["slow"], made["uploads"] = slow, uploads
    return made


def hostile(db: sqlite3.Connection, at: int = NOW) -> None:
    """The same, with every text an attack."""
    text = HOSTILE.replace("\ud800", "")
    session(db, project=text, branch=text, model=text, state="working")
    asked = say(db, at - 50_000, text * 3)
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
            prompt_id=asked,
            lines_added=10**9,
            duration_ms=10**12,
        )
    db.execute(
        "INSERT INTO hook_runs(at, client, event, wall_us, cpu_us, bytes, result) VALUES (?, ?, ?, 1, 1, 1, 'stored')",
        (at, text, text),
    )
    mine = [row[0] for row in db.execute("SELECT id FROM prompts WHERE source = 'user'")]
    about = thread(db, text, at - 90_000_000, SESSION)
    other = thread(db, text * 2, at - 190_000_000)
    units.start(db, mine[0], Verdict("new", text, 0.4, text, offered=True))
    units.annotated(db, 1, {
        "title": text, "summary": text * 9, "learned": json.dumps([text, text]), "narrator": text, "notes": text,
        "completed": "[broken", "hot_files": json.dumps([{"path": text, "reads": 10**9, "edits": 1, "failures": 3}, 7]),
        "commits": json.dumps([{"hash": text, "message": text}]), "client_summary": text * 20, "outcomes": "{]",
        "active_ms": 10**15, "friction": 7.5, "narrated_at": -(10**15),
    })  # fmt: skip
    db.execute(
        "INSERT INTO episode_links(at, earlier_thread_id, later_thread_id, algorithmic_score, components, decision,"
        " certainty, llm_reasoning, summary) VALUES (?, ?, ?, 0.5, '{}', 'link', 'uncertain', ?, ?)",
        (at, other, about, text, text * 3),
    )
    db.execute("INSERT INTO redactions VALUES ('2025-10-09', ?, 3)", (text,))
    db.execute("INSERT INTO payload_drift VALUES (?, ?, ?, ?, ?)", (text, text, text, text, at))
