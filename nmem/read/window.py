"""The context window of a session: its fill, the expected compaction, and the cost.

Of what the status line was told and what the transcript says the newest word counts, and a size that nobody told is not
guessed. Takes a connection of `nmem.database.reader`; times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from sqlite3 import Connection

from nmem.read import store

FEWEST = 4
"""Turns that grew, below which nothing is foretold."""
LATEST = 12
"""Turns that the pace is taken from."""
FARTHEST = 200
"""Turns beyond which a forecast would only be a number."""
_PAUSE = 30 * 60_000
_ANSWER, _BUFFER = 20_000, 13_000
"""What Claude Code keeps free of the window: for the answer, and before it is too late to compact."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the window is compacted if the work goes on as it does."""

    turns: int
    minutes: int | None
    """None where the turns do not follow each other closely enough to say."""
    growth: int
    """Tokens that a turn adds, in the median."""
    of: int
    """Turns that this was taken from."""


@dataclass(frozen=True, slots=True)
class ContextWindow:
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
    by_client = {
        "claude": size - _ANSWER - _BUFFER,
        "codex": round(size * 0.9 / 0.95),
        "gemini": size // 2,
    }
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
