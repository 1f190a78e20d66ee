"""Links a new thread with earlier ones, by ranked episodes and recency. On the hook's path.

The retrieval engine has ranked the project's episodes for the prompt already: what it found says how much a thread
speaks of the same, its last activity says how near the thread is. Settling compares the threads with everything that
is known of them (nmem.threads.link), and keeps or mends the decision.
"""

from __future__ import annotations

from math import exp

from nmem.threads import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Connection

    from nmem.retrieval.engine import Found

CANDIDATES = 12
"""Earlier threads that are looked at: those active last, as in settling."""
WINDOW = 14 * 86_400_000
THRESHOLD = 0.5
"""Above it two threads are linked: higher than in settling, which finds what is missed here."""
MARGIN = 0.2
"""This near the threshold the decision is uncertain."""
_BIAS, _RATIO, _RECENCY = -4.08, 4.49, 4.36
"""Fitted on the pairs of one project; the other projects were held out (docs/threads.md)."""
_ENOUGH = 2.0
"""Evidence from which on it counts in full how an episode compares with the best one."""
_HOUR, _DAY = 3_600_000, 86_400_000


class Evidence:
    """What the engine's ranking for a prompt says of a group of episodes: those of a session or of a thread."""

    __slots__ = ("evidence", "ratio", "share", "unit_id")

    def __init__(self, found: Sequence[Found], units: Iterable[int]) -> None:
        mine = set(units)
        best = next((one for one in found if one.unit_id in mine), None)
        top = found[0].score if found and found[0].score > 0 else 1.0
        self.unit_id = best.unit_id if best else None
        """The episode that speaks of it most; None when none does."""
        self.evidence = best.evidence if best else 0.0
        self.share = best.share if best else 0.0
        self.ratio = best.score / top if best else 0.0
        """Its score in parts of the best one's, 0 to 1."""

    def score(self, gap: int) -> float:
        """How likely the prompt continues these episodes, 0 to 1; `gap`: milliseconds since they were active."""
        z = _BIAS + _RATIO * self.ratio * min(1.0, self.evidence / _ENOUGH) + _RECENCY * recency(gap)
        return 1.0 / (1.0 + exp(-z)) if z >= 0 else exp(z) / (1.0 + exp(z))


class Arrived:
    """An earlier thread as it looks when the prompt arrives."""

    __slots__ = ("evidence", "gap", "score", "thread_id")

    def __init__(self, thread_id: int, gap: int, evidence: Evidence) -> None:
        self.thread_id = thread_id
        self.gap = gap
        """Milliseconds since something happened in it."""
        self.evidence = evidence
        self.score = evidence.score(gap)

    @property
    def linked(self) -> bool:
        """Whether the new thread continues it."""
        return self.score > THRESHOLD


def recency(gap: int) -> float:
    """Half by the hour, half by the day, as in nmem.threads.formula; milliseconds to 0..1."""
    gap = max(0, gap)
    return 0.5 / (1.0 + gap / _HOUR) + 0.5 * float(2.0 ** (-gap / _DAY))


def opens(db: Connection, session_id: str, thread_id: int | None) -> bool:
    """Whether a session begins a thread of its own: one that goes on in a thread has nothing to be linked with."""
    if thread_id is None:
        return True
    return store.reason(db, session_id) == "new"


def compare(
    db: Connection, project_id: int, thread_id: int | None, at: int, found: Sequence[Found]
) -> list[Arrived]:  # fmt: skip
    """The earlier threads of a project beside a new one, the likeliest first; writes nothing. Raises sqlite3.Error."""
    threads = store.active_threads(db, project_id, thread_id or 0, at, at - WINDOW, CANDIDATES)
    if not threads or not found:
        return []
    units: dict[int, list[int]] = {}
    for unit_id, of in store.threads_of_units(db, [one.unit_id for one in found]):
        units.setdefault(of, []).append(unit_id)
    out = [Arrived(number, max(0, at - last_at), Evidence(found, units.get(number, ()))) for number, last_at in threads]
    out.sort(key=lambda one: (-one.score, -one.thread_id))
    return out


def keep(db: Connection, thread_id: int, at: int, arrived: Iterable[Arrived]) -> int:
    """Keep which threads are linked until settling looks again; how many. Joins no transaction of a caller's."""
    linked = [one for one in arrived if one.linked]
    if not linked:
        return 0
    from capture.jsonio import dumps  # on use: start-up stays short
    from capture.storage.store import transaction

    rows = [
        (at, one.thread_id, thread_id, round(one.score, 4), dumps(_parts(one)),
         store.LIKELY if one.score >= THRESHOLD + MARGIN else store.UNCERTAIN)
        for one in linked
    ]  # fmt: skip
    with transaction(db):
        store.link_at_prompt(db, rows)
    return len(rows)


def _parts(one: Arrived) -> dict[str, float]:
    return {
        "evidence": round(min(1.0, one.evidence.evidence / _ENOUGH), 4),
        "ratio": round(one.evidence.ratio, 4),
        "recency": round(recency(one.gap), 4),
    }
