"""Reads sessions for the Now screen and its commands: effort, hot files, failures, state of the hooks.

Every function takes a connection of `nmem.database.reader`, ends its read before it returns, and gives frozen
dataclasses. Text in them is as stored: whoever prints it passes it through `nmem.text.printable`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from sqlite3 import Connection, Row
from typing import Any

from capture.storage import spool, store
from nmem.episodes import open_ends
from nmem.episodes.text import checkout_path
from nmem.episodes.titles import NAMED, TITLED, shown
from nmem.read.hook_cost import RUNS
from nmem.read.window import ContextWindow, window
from nmem.tables import NOW
from nmem.text import json_object

INVESTIGATE = ("file_read", "search", "web_fetch", "web_search", "question", "plan")
EXECUTE = (
    "file_write", "file_edit", "command", "test", "build", "lint", "install",
    "git_commit", "git_push", "git_other", "github",
)  # fmt: skip
PROMPT_KINDS = ("prompt", "late", "command")


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session, with where it runs and how it is doing. Times are milliseconds."""

    id: str
    client: str
    project: str
    root: str
    branch: str
    model: str
    state: str
    cwd: str
    transcript_path: str
    started_at: int
    last_at: int
    origin: str
    context_tokens: int | None
    context_window: int | None
    context_at: int | None
    intent: str
    """The newest user prompt."""
    name: str = ""
    """Its title, as its longest episode has it."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How a stretch of work divides: looking, doing, and what went wrong."""

    investigate: int = 0
    execute: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class HotFile:
    """A file that the session works on."""

    path: str
    reads: int
    edits: int
    failures: int

    @property
    def weight(self) -> int:
        """How much it matters: a change weighs more than a look."""
        return 3 * self.edits + self.reads + 2 * self.failures


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that failed, and whether the same thing succeeded later."""

    id: int
    at: int
    obs_type: str
    content: str
    path: str
    detail: str
    mended: bool


@dataclass(frozen=True, slots=True)
class Hooks:
    """Are the hooks alive: the newest run, a typical cost, and what was lost."""

    last_at: int | None = None
    wall_us: int | None = None
    lost: int = 0
    spooled: int = 0
    """Batches that wait for the database."""


@dataclass(frozen=True, slots=True)
class NowView:
    """All that the Now screen says about one session, the stream aside."""

    session: SessionRow
    prompt: str
    prompt_at: int | None
    prompts: int
    turn: Effort
    total: Effort
    hot: tuple[HotFile, ...]
    failures: tuple[Failure, ...]
    hooks: Hooks
    live_elsewhere: int
    """Other sessions that were active within the last ten minutes."""
    window: ContextWindow | None = None
    """How full the model's context is."""


@dataclass(frozen=True, slots=True)
class StreamRow:
    """One line of the stream: an observation, or something said."""

    key: int
    """Twice the row's id, plus one for an observation: unique over both tables."""
    at: int
    word: str
    """obs_type of an observation; source and kind of a prompt, as `user/late`."""
    text: str
    path: str = ""
    outcome: str = ""
    exit_code: int | None = None
    duration_ms: int | None = None
    added: int | None = None
    removed: int | None = None
    repeats: int = 0
    agent: bool = False
    tool: str = ""
    model: str = ""
    meta: dict[str, object] = field(default_factory=dict)
    labels: tuple[float | None, ...] = ()
    """Of an observation that was labelled: phase, scope, locus, novelty, friction; None where that is not clear."""
    labelled_by: str = ""
    """The model that did, and what a person set."""

    @property
    def refusal(self) -> str:
        """Why a call did not run: "refused", or "not run" beside a refused one; "" for a call that ran."""
        return refusal(self.meta)


def refusal(meta: Mapping[str, object]) -> str:
    """As `StreamRow.refusal`, of an observation's metadata."""
    refused = meta.get("refused")
    return ("not run" if refused == "sibling" else "refused") if refused else ""


_SESSION = """
SELECT s.id, s.client, p.name AS project, p.root, s.branch, s.model, s.state, s.cwd, s.transcript_path, s.started_at,
  s.last_at, s.origin, s.context_tokens, s.context_window, s.context_at,
  (SELECT substr(content, 1, 400) FROM prompts
   WHERE session_id = s.id AND source = 'user' ORDER BY at DESC LIMIT 1) AS intent, NAMED AS opening,
  TITLED AS name
FROM sessions s JOIN projects p ON p.id = s.project_id
""".replace("NAMED", NAMED).replace("TITLED", TITLED)


def _session(row: Row) -> SessionRow:
    texts = (
        "id", "client", "project", "root", "branch", "model", "state", "cwd", "transcript_path", "origin",
        "intent",
    )  # fmt: skip
    numbers = ("started_at", "last_at", "context_tokens", "context_window", "context_at")
    values: dict[str, Any] = {name: row[name] or "" for name in texts} | {name: row[name] for name in numbers}
    return SessionRow(**values, name=shown(None, row["name"], row["opening"] or ""))


def sessions(db: Connection, limit: int = 200, project: str = "") -> list[SessionRow]:
    """The newest sessions first; `project` is a name or a key."""
    where = "WHERE (p.name = ? OR p.key = ? OR p.root = ?)" if project else ""
    values = [project] * 3 if project else []
    found: list[Any] = []
    for when in (f"s.last_at <= {NOW}", f"s.last_at > {NOW}"):  # what a clock that was ahead recorded comes last
        sql = f"{_SESSION} {where} {'AND' if where else 'WHERE'} {when} ORDER BY s.last_at DESC LIMIT ?"
        found += db.execute(sql, [*values, limit - len(found)]).fetchall()
    return [_session(row) for row in found]


def session_count(db: Connection, project: str = "") -> int:
    """How many sessions there are of all projects, or of one (a name, a key or a root)."""
    sql = (
        "SELECT count(*) FROM sessions s JOIN projects p ON p.id = s.project_id WHERE ? IN ('', p.name, p.key, p.root)"
    )
    return int(db.execute(sql, (project,)).fetchone()[0])


def session(db: Connection, session_id: str) -> SessionRow | None:
    """One session, or None when it is not there."""
    row = db.execute(f"{_SESSION} WHERE s.id = ?", (session_id,)).fetchone()
    return _session(row) if row else None


def _marks(values: Iterable[object]) -> str:
    return ",".join("?" for _ in values)


def effort(db: Connection, session_id: str, since: int) -> Effort:
    """How the work of a session divides since a time."""
    row = db.execute(
        f"SELECT total(obs_type IN ({_marks(INVESTIGATE)})), total(obs_type IN ({_marks(EXECUTE)})),"  # noqa: S608
        " total(outcome = 'failed') FROM observations WHERE session_id = ? AND at >= ?",
        (*INVESTIGATE, *EXECUTE, session_id, since),
    ).fetchone()
    return Effort(*(int(value) for value in row))


def hot_files(db: Connection, session_id: str, limit: int = 8, since: int = 0) -> tuple[HotFile, ...]:
    """The files of a session since a time by weight, heaviest first; one of a worktree as that of any checkout."""
    found = db.execute(
        "SELECT file_path, sum((obs_type = 'file_read') * (1 + repeats)),"
        " sum(obs_type IN ('file_write', 'file_edit')), sum(outcome = 'failed')"
        " FROM observations WHERE session_id = ? AND at >= ? AND file_path IS NOT NULL GROUP BY file_path"
        " ORDER BY max(at) DESC",
        (session_id, since),
    )
    counts: dict[str, list[int]] = {}
    for path, *more in found:
        known = counts.setdefault(checkout_path(path), [0, 0, 0])
        known[:] = [one + other for one, other in zip(known, more, strict=True)]
    files = sorted((HotFile(path, *each) for path, each in counts.items()), key=lambda file: -file.weight)
    return tuple(files[:limit])


def failures(db: Connection, session_id: str, limit: int = 5) -> tuple[Failure, ...]:
    """The newest failures of a session, each with whether it passed later, by whatever command."""
    found = db.execute(
        "SELECT id, at, obs_type, content, file_path, exit_code, metadata FROM observations"
        " WHERE session_id = ? AND outcome = 'failed' ORDER BY at DESC LIMIT ?",
        (session_id, limit),
    ).fetchall()
    rows = open_ends.of_session(db, session_id, found[-1]["at"]) if found else []

    def mended(row: Row) -> bool:
        failed = (row["at"], row["obs_type"], row["file_path"] or "", row["content"], "failed", row["metadata"] or "")
        return any(open_ends.passes(failed, one) for one in rows if one[0] > row["at"])

    return tuple(
        Failure(row["id"], row["at"], row["obs_type"], row["content"][:400], row["file_path"] or "",
                outcome_words("failed", row["exit_code"], metadata(row["metadata"])), mended(row))
        for row in found
    )  # fmt: skip


def metadata(stored: str | None) -> dict[str, object]:
    """A metadata column; anything but a JSON object is nothing."""
    return json_object(stored)


def outcome_words(outcome: str, exit_code: int | None, meta: dict[str, object]) -> str:
    """How it went, in one or two words: `3 failed`, `14 passed`, `exit 2`, `ok`."""
    tests = meta.get("tests")
    counts: dict[str, object] = tests if isinstance(tests, dict) else meta
    names = ("failed", "errors") if outcome == "failed" else ("passed",)
    for name in names:
        if isinstance(counts.get(name), int) and counts[name]:
            return f"{counts[name]} {name}"
    if outcome == "failed":
        return f"exit {exit_code}" if exit_code else "failed"
    return "" if outcome == "unknown" else outcome


def counters(db: Connection) -> dict[str, int]:
    """All counters by name."""
    out = Counter(dict(tuple(row) for row in db.execute("SELECT name, value FROM counters").fetchall()))
    out.update(spool.tallied(store.file(db)))  # counted beside the database while it was not to be had
    return dict(out)


def hooks(db: Connection) -> Hooks:
    """The state of the hooks, from as many of their newest runs as every other figure of them."""
    runs = db.execute("SELECT at, wall_us FROM hook_runs ORDER BY id DESC LIMIT ?", (RUNS,)).fetchall()
    tally = counters(db)
    walls = sorted(row["wall_us"] for row in runs)
    return Hooks(
        runs[0]["at"] if runs else None, walls[len(walls) // 2] if walls else None,
        tally.get("lost", 0), spool.waiting(store.file(db)),
    )  # fmt: skip


def now(db: Connection, session_id: str, at: int) -> NowView | None:
    """One session at a glance at the time `at`, or None when it is not there."""
    row = session(db, session_id)
    if row is None:
        return None
    kinds = f"session_id = ? AND source = 'user' AND kind IN ({_marks(PROMPT_KINDS)})"
    said = db.execute(
        f"SELECT at, substr(content, 1, 2000) AS content FROM prompts WHERE {kinds} ORDER BY at DESC LIMIT 1",  # noqa: S608
        (session_id, *PROMPT_KINDS),
    ).fetchone()
    count = db.execute(f"SELECT count(*) FROM prompts WHERE {kinds}", (session_id, *PROMPT_KINDS)).fetchone()[0]  # noqa: S608
    elsewhere = db.execute(
        "SELECT count(*) FROM sessions WHERE last_at > ? AND state != 'ended' AND id != ?", (at - 600_000, session_id)
    ).fetchone()[0]
    return NowView(
        row, said["content"] if said else "", said["at"] if said else None, count,
        effort(db, session_id, said["at"] if said else 0), effort(db, session_id, 0),
        hot_files(db, session_id), failures(db, session_id), hooks(db), elsewhere, window(db, session_id),
    )  # fmt: skip
