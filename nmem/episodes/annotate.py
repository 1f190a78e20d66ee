"""Counts the work in an episode: incrementally after each turn, anew if its prompts changed."""

from __future__ import annotations

from capture.storage.store import transaction
from nmem.episodes import store, units
from nmem.episodes.tally import LABELS, Seen, Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.episodes.units import Unit

_NEVER = -store.FAR
_SUMMARY = 8_000
_HOT = 10


def update_newest(db: Connection, session_id: str) -> None:
    """Bring the annotation of a session's newest episodes up to date, in one transaction.

    That is the newest one, and the one before it when its prompts have just changed.
    """
    with transaction(db):
        unit = units.latest(db, session_id)
        if unit is None:
            return
        before = units.previous(db, unit)
        update(db, unit)
        if before is not None and not before.annotated_seq:
            update(db, before)


def update(db: Connection, unit: Unit, trace: bool = False) -> None:
    """Count what is new since the last time; all of it when `annotated_seq` was set back. Inside a transaction.

    `trace`: also write the trace of every observation, which is for episodes that are over.
    """
    try:
        tally = Tally.of(unit)
    except (ValueError, KeyError, TypeError):  # by another program's hand: the records tell it again
        unit.annotated_seq = unit.annotated_prompt = 0
        tally = Tally()
    whole = not unit.annotated_seq and not unit.annotated_prompt
    rows = [Seen(row) for row in store.seen(db, unit, unit.annotated_seq)]
    end = store.next_begins(db, unit)
    found = store.said(db, unit, end)
    said = [(number, at) for number, at, _ in found]
    ends = sorted((at, number, stopped) for number, at, stopped in found if stopped is not None)
    if not unit.annotated_prompt and store.is_swept(db, unit.session_id):
        rows, said = _with_gone(db, unit, rows, said, end)
    for seen in rows:
        while ends and ends[0][0] < seen.at:
            tally.turn_over(stopped=ends.pop(0)[2] == 1)
        tally.add(seen)
    for _, _, stopped in ends:
        tally.turn_over(stopped=stopped == 1)
    tally.live(sorted([(seen.at, seen.duration_ms or 0) for seen in rows] + [(at, 0) for _, at in said]))
    values = tally.columns()
    values["annotated_prompt"] = max([unit.annotated_prompt, *(number for number, _ in said)])
    values["last_at"] = max(unit.last_at, tally.active_at)
    if unit.state == units.CLOSED:
        values["ended_at"] = values["last_at"]
    if trace:
        known = rows if whole else None
        values["obs_trace"], values["traced_seq"] = _trace(db, unit, known), tally.seq
    units.annotated(db, unit.id, values)


def retrace(db: Connection, unit: Unit) -> None:
    """Write the trace of an episode again. Inside a transaction."""
    units.annotated(db, unit.id, {"obs_trace": _trace(db, unit), "traced_seq": unit.annotated_seq})


def recount(db: Connection, unit: Unit, trace: bool = False) -> None:
    """Count everything again. Inside a transaction."""
    unit.annotated_seq = unit.annotated_prompt = 0
    unit.last_at = units.prompt(db, unit.last_prompt_id)[1]
    update(db, unit, trace)


def _with_gone(
    db: Connection, unit: Unit, rows: list[Seen], said: list[tuple[int, int]], end: int
) -> tuple[list[Seen], list[tuple[int, int]]]:
    """What there is of an episode, and what only the trace of its session still tells."""
    from nmem.store import trace  # on use: start-up stays short

    whole = [*rows, *(Seen(one.seen()) for one in trace.of_unit(db, unit.session_id, unit.id))]
    gone = [one for one in trace.said(db, unit.session_id) if unit.started_at <= one[1] < end]
    return sorted(whole, key=lambda seen: seen.seq), [*said, *gone]


def _trace(db: Connection, unit: Unit, known: list[Seen] | None = None) -> str:
    """Every observation of an episode in a few words, so that it can still be told when the rows are swept.

    `known`: all of them, where they have just been read.
    """
    from capture.jsonio import dumps  # on use: start-up stays short

    if known is None:
        known = [Seen(row) for row in store.seen(db, unit, _NEVER)]
        if store.is_swept(db, unit.session_id):
            known = _with_gone(db, unit, known, [], store.FAR)[0]
    return dumps([_told(seen) for seen in known])


def _told(seen: Seen) -> dict[str, object]:
    one = {"id": seen.id, "t": seen.at, "type": seen.obs_type, "path": seen.file_path, "outcome": seen.outcome}
    scores = {name: score for (name, _, _), score in zip(LABELS, seen.labels, strict=True) if score is not None}
    return {**one, "scores": scores} if scores else one


def sign_session(db: Connection, session_id: str) -> None:
    """The signature and fingerprint of a session: the sums over its episodes. Inside a transaction."""
    from capture.jsonio import dumps  # on use: start-up stays short

    phase: dict[str, int] = {}
    prints: dict[str, int] = {}
    active, last = 0, 0
    found = units.of_session(db, session_id)
    for unit in found:
        _sum(phase, unit.phase_signature)
        _sum(prints, unit.fingerprint)
        active += unit.active_ms
        last = max(last, unit.last_at)
    if found:
        store.sign(db, session_id, dumps(phase), dumps(prints), len(found), active, last)


def _sum(counts: dict[str, int], more: str) -> None:
    """Add stored counts; damaged ones are none."""
    from nmem.text import json_object  # on use: start-up stays short

    for name, number in json_object(more).items():
        if isinstance(number, int):
            counts[name] = counts.get(name, 0) + number


def session_over(db: Connection, session_id: str) -> None:
    """Close what is open in a session. The rest of its annotation is settled later: nobody waits for it."""
    with transaction(db):
        unit = units.latest(db, session_id)
        if unit is not None and unit.state == units.OPEN:
            update(db, unit)
            units.close(db, unit.id)


def checkpoint(db: Connection, session_id: str, at: int) -> None:
    """Keep what is known of the open episode before the client folds the conversation."""
    from capture.jsonio import dumps, loads  # on use: start-up stays short

    update_newest(db, session_id)
    with transaction(db):
        unit = units.latest(db, session_id)
        if unit is None:
            return
        hot = loads(unit.hot_files)
        said = store.newest_said(db, session_id, "closing", unit.started_at)
        kept = {
            "at": at, "intent": unit.intent,
            "last_prompt": units.prompt(db, unit.last_prompt_id)[2], "last_said": said and said[:2000],
            "turns": unit.turn_count, "observations": unit.obs_count, "active_ms": unit.active_ms,
            "hot_files": hot[:_HOT] if isinstance(hot, list) else [], "phase_signature": loads(unit.phase_signature),
            "outcomes": loads(unit.outcomes), "commits": loads(unit.commits),
        }  # fmt: skip
        units.annotated(db, unit.id, {"checkpoint": dumps(kept)})


def compacted(db: Connection, session_id: str) -> None:
    """Keep the client's own summary of the conversation beside the episode that was open."""
    with transaction(db):
        unit, told = units.latest(db, session_id), store.newest_said(db, session_id, "summary")
        if unit is not None and told is not None:
            units.annotated(db, unit.id, {"client_summary": told[:_SUMMARY]})
