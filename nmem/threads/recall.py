"""What a session continues, in a few lines: "You were ...".

Explicit channel (resumed, or a thread that was chosen): that thread only. Implicit: also the threads it is linked with,
the most recent first. Facts, no orders; bounded; redacted once more.
"""

from __future__ import annotations

from sqlite3 import Connection

from capture.redaction import redact
from capture.text import clean
from nmem.threads import decisions, material, read, storage
from nmem.threads.compaction import sentence, texts
from nmem.threads.continuity import EXPLICIT, proposed
from nmem.threads.link import CANDIDATES, Linker
from nmem.threads.read import Thread

LIMIT = 1600
QUESTIONS = 4
LINKS = 2
_SPANS = ((24 * 60 * 60_000, "day"), (60 * 60_000, "hour"), (60_000, "minute"))


def you_were(db: Connection, session_id: str, now: int | None = None) -> str:
    """What the session's work continues, as text for a prompt; empty when it continues nothing.

    `now` is the time of the current prompt; by default the session's first prompt, or its newest event.
    """
    session = storage.session(db, session_id)
    if session is None:
        return ""
    spoken = storage.first_prompt(db, session_id)
    at = now if now is not None else spoken[0] if spoken else _last(db, session_id)
    thread_id, how = proposed(db, session_id, at)
    if thread_id is None:
        return ""
    begun = spoken[0] if spoken else at
    own = _thread_lines(db, thread_id, session_id, begun)
    parts = [own] if own else []
    if how not in EXPLICIT:
        parts += [_thread_lines(db, each, session_id, begun) for each in related(db, thread_id)]
    parts = [part for part in parts if part]
    if not parts:
        return ""
    if spoken and how not in EXPLICIT:
        parts.append(f"Current question: {sentence(spoken[1])}")
    return redact(clean("\n".join(parts)))[:LIMIT].rstrip()


def related(db: Connection, thread_id: int) -> list[int]:
    """Earlier threads that a thread is linked with, the most recent first; scored now when nothing is stored yet."""
    stored = decisions.of_thread(db, thread_id)
    if any(each.later_thread_id == thread_id for each in stored):
        found = [each.earlier_thread_id for each in stored if each.linked and each.later_thread_id == thread_id]
    else:
        later = material.head(db, thread_id)
        if later is None:
            return []
        scored = Linker(db).scores(later, material.candidates(db, later, CANDIDATES))
        found = [each.earlier.id for each in scored if each.verdict.linked]
    threads = [each for each in (read.thread(db, number) for number in found) if each is not None]
    threads.sort(key=lambda each: (-each.last_at, -each.id))
    return [each.id for each in threads[:LINKS]]


def _last(db: Connection, session_id: str) -> int:
    return storage.last_event(db, session_id)


def _thread_lines(db: Connection, thread_id: int, session_id: str, begun: int) -> str:
    """A thread as it was when the session began, without the session's own turns; empty when there was nothing."""
    thread = read.thread(db, thread_id)
    asked = _asked(db, thread_id, session_id, begun)
    if thread is None or not asked:
        return ""
    lines = [f"You were working on: {sentence(thread.title)} (thread {thread.id}{_ago(begun - asked[-1][0])})"]
    if thread.micro:
        lines.append(f"So far: {thread.micro}")
    lines.append("Previous questions:")
    lines += [f"- {sentence(text)}{outcome}" for _, text, outcome in asked[-QUESTIONS:]]
    files = material.files(db, thread_id, 0, begun, edited=True)[:6]
    if files:
        lines.append(f"Files changed: {', '.join(files)}")
    lines += _open_ends(db, thread)
    return "\n".join(lines)


def _asked(db: Connection, thread_id: int, session_id: str, begun: int) -> list[tuple[int, str, str]]:
    rows = material.asked_before(db, thread_id, session_id, begun, QUESTIONS)
    return [(at, text, _done(completed)) for at, text, completed in reversed(rows)]


def _done(completed: str | None) -> str:
    found = texts(completed)
    return f" ({sentence(found[0])})" if found else ""


def _open_ends(db: Connection, thread: Thread) -> list[str]:
    """What the newest episode of the thread left to do."""
    row = material.open_ends(db, thread.id)
    found = texts(row[0]) if row else ()
    return [f"Left to do: {sentence('; '.join(found[:3]))}"] if found else []


def _ago(gap: int) -> str:
    for size, unit in _SPANS:
        if gap >= size:
            number = gap // size
            return f", {number} {unit}{'s' if number > 1 else ''} before"
    return ", just before"
