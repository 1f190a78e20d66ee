"""The line of work that a session goes on with, and what the newest episode left open (SQL). On the hook's path."""

from __future__ import annotations

from nmem.context.episodes import goal
from nmem.context.items import NEXT, THREAD, Item
from nmem.context.neutral import quoted, whole
from nmem.context.words import ago, texts
from nmem.episodes import open_ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.context.present import Present

SO_FAR = 320
LEFT = 3
NEXT_IS = " Next: "
"""How the summary of a thread begins what was next when it was written."""
SESSIONS = 8
"""Sessions of the project in which something left open is looked for: the newest."""
OLD = 14 * 86_400_000
"""What was left open longer ago is not picked up where it was left."""
_LINE = 190


def thread(db: Connection, present: Present) -> list[Item]:
    """The thread that the session continues, as it stands: "You were working on ..."; none when it begins one."""
    from nmem.threads.continuity import proposed

    number = present.thread_id
    if number is None:
        number, _ = proposed(db, present.session_id, present.at)
    if number is None:
        return []
    present.thread_id = number
    return of_thread(db, number, present, "the session continues this thread")


def of_thread(db: Connection, number: int, present: Present, reason: str, item: str = "", kind: str = THREAD,
              score: float = 0.9) -> list[Item]:  # fmt: skip
    """A thread as an item; none when there is nothing in it but the present session."""
    row = db.execute(
        "SELECT t.title, t.micro, (SELECT max(s.last_at) FROM session_threads x JOIN sessions s ON s.id = x.session_id"
        " WHERE x.thread_id = t.id AND s.id != ?) FROM threads t WHERE t.id = ?",
        (present.session_id, number),
    ).fetchone()
    if row is None or row[2] is None:
        return []
    title, micro, last_at = row
    text = f"You were working on {quoted(title, _LINE)} (thread {number}, {ago(present.at - last_at)})."
    micro = (micro or "").partition(NEXT_IS)[0]  # what was next then; what is left now is told apart
    micro = whole(micro, SO_FAR)
    if micro and not (present.unsaid and present.unsaid.says(quoted(micro, SO_FAR))):
        text += f" So far: {quoted(micro, SO_FAR + 2)}"
    return [Item(item or f"thread/{number}", kind, text, score=score, reason=reason)]


def left_open(db: Connection, present: Present) -> list[Item]:
    """The next steps of the newest episode that has any, outside this session."""
    rows = db.execute(
        "SELECT u.id, coalesce(u.title, u.summary, u.intent), u.last_at, u.next_steps, u.session_id,"
        " min(u.last_at, coalesce(u.narrated_at, u.last_at)) FROM (SELECT id FROM sessions"
        " WHERE project_id = ? AND id != ? ORDER BY last_at DESC LIMIT ?) s JOIN work_units u ON u.session_id = s.id"
        " WHERE u.last_at >= ? ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
        (present.project_id, present.session_id, SESSIONS, present.at - OLD, 2 * SESSIONS),
    ).fetchall()
    for row in rows:
        if found := _steps(db, row, present, 0.7, "the newest episode that left something open"):
            return found
    return []


def left_by(db: Connection, number: int, present: Present, reason: str) -> list[Item]:
    """The next steps of one episode; none when it has none, or is there no more."""
    row = db.execute(
        "SELECT id, coalesce(title, summary, intent), last_at, next_steps, session_id,"
        " min(last_at, coalesce(narrated_at, last_at)) FROM work_units WHERE id = ?",
        (number,),
    ).fetchone()
    return _steps(db, row, present, 0.0, reason) if row else []


def _steps(
    db: Connection, row: tuple[int, str, int, str | None, str, int], present: Present, score: float, reason: str
) -> list[Item]:
    """Those that nothing closed since."""
    number, intent, last_at, stored, session_id, told_at = row
    left = [step for step in texts(stored) if not (present.unsaid and present.unsaid.says(step))]
    left = open_ends.left(db, session_id, told_at, left)
    steps = [quoted(step.rstrip(". "), _LINE) for step in left if whole(step, _LINE)][:LEFT]
    if not steps:
        return []
    where = f"episode {number}, {ago(present.at - last_at)}: {goal(intent, None)}"
    return [Item(f"next/{number}", NEXT, f"{'; '.join(steps)}. ({where})", score=score, reason=reason)]
