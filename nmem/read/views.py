"""Reads sessions for the Now screen and its commands: effort, hot files, failures, state of the hooks, the window.

Every function takes a connection of `nmem.database.reader`, ends its read before it returns, and gives frozen
dataclasses. Text in them is as stored: whoever prints it passes it through `nmem.text.printable`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from sqlite3 import Connection, Row
from typing import Any, NamedTuple

from capture.storage import spool
from capture.storage.store import file
from nmem.episodes import open_ends
from nmem.episodes.store import observed
from nmem.episodes.unit import shown
from nmem.read import figures, store
from nmem.read.store import Effort, HotFile, effort, hot_files
from nmem.text import json_object


class SessionRow(NamedTuple):
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


class Failure(NamedTuple):
    """Something that failed, and whether the same thing succeeded later."""

    id: int
    at: int
    obs_type: str
    content: str
    path: str
    detail: str
    mended: bool


class Hooks(NamedTuple):
    """Are the hooks alive: the newest run, a typical cost, and what was lost."""

    last_at: int | None = None
    wall_us: int | None = None
    lost: int = 0
    spooled: int = 0
    """Batches that wait for the database."""


class NowView(NamedTuple):
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


def _session(row: Row) -> SessionRow:
    values: list[Any] = [*tuple(row)[:-2], shown(None, row["name"], row["opening"] or "")]
    return SessionRow(*values)


def sessions(db: Connection, limit: int = 200, project: str = "") -> list[SessionRow]:
    """The newest sessions first; `project` is a name or a key."""
    return [_session(row) for row in store.newest(db, limit, project)]


def session(db: Connection, session_id: str) -> SessionRow | None:
    """One session, or None when it is not there."""
    row = store.session(db, session_id)
    return _session(row) if row else None


def failures(db: Connection, session_id: str, limit: int = 5) -> tuple[Failure, ...]:
    """The newest failures of a session, each with whether it passed later, by whatever command."""
    found = store.failed(db, session_id, limit)
    rows = observed(db, session_id, found[-1]["at"]) if found else []

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
    out = Counter(figures.counters(db))
    out.update(spool.tallied(file(db)))  # counted beside the database while it was not to be had
    return dict(out)


def hooks(db: Connection) -> Hooks:
    """The state of the hooks, from as many of their newest runs as every other figure of them."""
    runs, tally = figures.runs(db), counters(db)
    walls = sorted(run.wall for run in runs)
    return Hooks(
        runs[0].at if runs else None, walls[len(walls) // 2] if walls else None,
        tally.get("lost", 0), spool.waiting(file(db)),
    )  # fmt: skip


def now(db: Connection, session_id: str, at: int) -> NowView | None:
    """One session at a glance at the time `at`, or None when it is not there."""
    row = session(db, session_id)
    if row is None:
        return None
    said, said_at, count = store.asked(db, session_id)
    return NowView(
        row, said, said_at, count, effort(db, session_id, said_at or 0), effort(db, session_id, 0),
        hot_files(db, session_id), failures(db, session_id), hooks(db),
        store.active_beside(db, session_id, at - 600_000), window(db, session_id),
    )  # fmt: skip


# The context window: of the status line and the transcript the newest word counts; a size nobody told is not guessed


FEWEST = 4
"""Turns that grew, below which nothing is foretold."""
LATEST = 12
"""Turns that the pace is taken from."""
FARTHEST = 200
"""Turns beyond which a forecast would only be a number."""
_PAUSE = 30 * 60_000
_ANSWER, _BUFFER = 20_000, 13_000
"""What Claude Code keeps free of the window: for the answer, and before it is too late to compact."""


class Forecast(NamedTuple):
    """When the window is compacted if the work goes on as it does."""

    turns: int
    minutes: int | None
    """None where the turns do not follow each other closely enough to say."""
    growth: int
    """Tokens that a turn adds, in the median."""
    of: int
    """Turns that this was taken from."""


class ContextWindow(NamedTuple):
    """The context window of one session."""

    session_id: str
    client: str
    model: str
    tokens: int | None
    """None: nothing is known yet, or it was just compacted."""
    size: int | None
    """None: nobody told how much the model takes."""
    at: int | None
    """When the tokens were counted."""
    source: str
    """status line, transcript, or nothing."""
    compacts_at: int | None
    """Tokens from which the client compacts by itself, by its own defaults."""
    compacted: bool
    """Nothing was counted since it was compacted or cleared."""
    cost_usd: float | None
    forecast: Forecast | None

    @property
    def share(self) -> float | None:
        """How full it is, from 0 to 1 and over."""
        return self.tokens / self.size if self.tokens is not None and self.size else None


def threshold(client: str, size: int | None) -> int | None:
    """Tokens from which a client compacts by itself, by its defaults; None where that is not known.

    Claude Code: the window less the answer and a buffer. Codex: nine tenths of the whole window, of which it reports
    95 %. Gemini CLI: half.
    """
    if not size:
        return None
    by_client = {"claude": size - _ANSWER - _BUFFER,
                 "codex": round(size * 0.9 / 0.95), "gemini": size // 2}  # fmt: skip
    found = by_client.get(client)
    return found if found and found > 0 else None


def forecast(readings: Sequence[tuple[int, int]], tokens: int | None, compacts_at: int | None) -> Forecast | None:
    """The turns and minutes left, from (time, tokens) at the end of each turn, oldest first.

    Only what grew since the window last shrank counts, and the median of it: one big file says little about the next.
    """
    if tokens is None or not compacts_at or tokens >= compacts_at:
        return None
    shrank = max((number for number, (one, two) in enumerate(pairwise(readings), 1) if two[1] < one[1]), default=0)
    steps = list(pairwise(readings[shrank:]))[-LATEST:]
    growths = [two[1] - one[1] for one, two in steps]
    if len(growths) < FEWEST:
        return None
    from statistics import median  # on use: it takes longer to import than the screen that asks

    if (growth := median(growths)) <= 0:
        return None
    turns = ceil((compacts_at - tokens) / growth)
    if turns > FARTHEST:
        return None
    gaps = [two[0] - one[0] for one, two in steps if two[0] - one[0] <= _PAUSE]
    minutes = round(turns * median(gaps) / 60_000) if len(gaps) >= FEWEST else None
    return Forecast(turns, minutes, round(growth), len(growths))


def window(db: Connection, session_id: str) -> ContextWindow | None:
    """The window of a session; None when there is no such session."""
    row = store.window(db, session_id)
    if row is None:
        return None
    told = row["told_tokens"] is not None and row["told_at"] >= (row["context_at"] or 0)
    tokens, at = (row["told_tokens"], row["told_at"]) if told else (row["context_tokens"], row["context_at"])
    model = (row["told_model"] if row["told_at"] and row["told_at"] >= (row["context_at"] or 0) else "") or row["model"]
    size = row["window_size"] if not model or model == row["told_model"] else None  # else of another session, or known
    size = size or store.told_size(db, model or "") or row["context_window"] or None
    compacted = store.compacted_since(db, session_id, at)
    if compacted:
        tokens = None
    compacts_at = threshold(row["client"], size)
    readings = store.readings(db, session_id, LATEST + 1) if tokens is not None else []
    source = "" if tokens is None and not size else "status line" if told else "transcript"
    return ContextWindow(
        session_id, row["client"], model or "", tokens, size, at, source, compacts_at, compacted, row["cost_usd"],
        forecast(readings, tokens, compacts_at),
    )  # fmt: skip
