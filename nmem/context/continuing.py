"""Which earlier episode a session goes on with, once it was asked something (SQL). On the hook's path.

Explicit: a person chose a thread; then that thread alone is told. Said: the prompt itself leans on what came before
("continue", "still failing", "and on Thursday?"). Placed: earlier work on the same branch or in the same worktree, or
the session just before, when the prompt speaks of the same.
"""

from __future__ import annotations

from nmem.context import settled
from nmem.context.chat import CHAT
from nmem.context.episodes import tell_continued, units
from nmem.context.items import Item
from nmem.context.words import mentions, terms
from nmem.episodes.lexicon import ANAPHOR
from nmem.episodes.text import words
from nmem.retrieval import engine
from nmem.threads.continuity import CHOSEN, TRUNKS, proposed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.context.present import Present

HOUR = 3_600_000
SAID, PLACED, JUST_NOW = 7 * 24 * HOUR, 48 * HOUR, 2 * HOUR
"""How long ago the work may lie that a prompt leans on, that was on the same branch, that came just before."""
_TERSE = 10
"""A prompt of more words says itself what it is about."""
_ALIKE = 0.04
"""The part of a prompt that the session just before must speak of."""
_SESSIONS = 12
"""The newest sessions of a project that are looked at."""
CUES = frozenset(
    """continue continuing resume again still proceed weiter weitermachen nochmal wieder continua continuar continuer
    encore sigue siga seguir ancora ainda verder opnieuw
    계속 다시 이어서 継続 続けて 続き もう一度 继续 繼續 接着 还是""".split()  # noqa: SIM905 - a list of words
)
"""Words by which a person says that they go on."""
_PHRASES = ("pick up", "carry on", "left off", "go on with", "keep going", "where we were", "where were we",
            "as before", "finish the", "finish it", "mach weiter", "wo wir waren")  # fmt: skip


class Continued:
    """What a session goes on with: the item, and the thread that alone is told of when a person chose it."""

    __slots__ = ("item", "thread_id")

    def __init__(self, item: Item | None = None, thread_id: int | None = None) -> None:
        self.item = item
        self.thread_id = thread_id


def continued(db: Connection, present: Present) -> Continued:
    """The episode that the session goes on with; nothing when nothing says so. Raises sqlite3.Error."""
    if present.unit_id is not None and _own_past(db, present):
        return Continued()
    thread_id = _chosen(db, present)
    if thread_id is not None:
        unit_id = _latest_of_thread(db, present, thread_id)
        return Continued(_told(db, present, unit_id, "the thread was chosen"), thread_id)
    said = leans(present.prompt)
    for session_id, branch, cwd, gap in _earlier(db, present):
        reason = _reason(present, branch or "", cwd, gap, said=said)
        if reason == _BEFORE and not _speaks(db, present, session_id):
            continue
        if reason:
            return Continued(_told(db, present, _latest_of_session(db, session_id), reason))
    return Continued()


_BEFORE = "the session just before spoke of the same"


def leans(prompt: str) -> str:
    """The words by which a prompt leans on earlier work; empty when it stands for itself."""
    said = words(prompt)
    if not said or len(said) > 4 * _TERSE:
        return ""
    cue = next((word for word in said if word in CUES), "")
    low = prompt.lower()
    phrase = next((phrase for phrase in _PHRASES if phrase in low), "")
    if cue or phrase:
        return cue or phrase
    own = [word for word in terms(prompt) if word not in CHAT]
    return said[0] if said[0] in ANAPHOR and len(said) <= _TERSE and len(own) <= 2 and not mentions(prompt) else ""


def _reason(present: Present, branch: str, cwd: str, gap: int, *, said: str) -> str:
    """Why the work of a session is gone on with."""
    same_branch = bool(branch) and branch == present.branch
    if said and gap <= SAID and (same_branch or not present.branch or present.branch in TRUNKS or not branch):
        return f"the prompt leans on earlier work (“{said}”)"
    if same_branch and branch not in TRUNKS and gap <= PLACED:
        return f"the latest work on branch {branch}"
    if present.cwd and cwd == present.cwd and gap <= JUST_NOW:
        return _BEFORE
    return ""


def _own_past(db: Connection, present: Present) -> bool:
    """Whether the session has episodes of its own before this one: it knows what it was at."""
    row = db.execute(
        "SELECT 1 FROM work_units WHERE session_id = ? AND id != ? LIMIT 1", (present.session_id, present.unit_id)
    ).fetchone()
    return row is not None


def _chosen(db: Connection, present: Present) -> int | None:
    if not present.session_id:
        return None
    thread_id, how = proposed(db, present.session_id, present.at)
    return thread_id if how == CHOSEN else None


def _earlier(db: Connection, present: Present) -> list[tuple[str, str | None, str, int]]:
    """The newest other sessions of the project: id, branch, folder, and how long ago each ended."""
    rows = db.execute(
        "SELECT id, branch, cwd, last_at FROM sessions WHERE project_id = ? AND id != ? AND last_at < ? AND last_at > ?"
        " ORDER BY last_at DESC LIMIT ?",
        (present.project_id, present.session_id, present.at, present.at - SAID, _SESSIONS),
    )
    return [(row[0], row[1], row[2], present.at - row[3]) for row in rows.fetchall()]


def _latest_of_session(db: Connection, session_id: str) -> int | None:
    row = db.execute(
        "SELECT id FROM work_units WHERE session_id = ? ORDER BY last_at DESC, id DESC LIMIT 1", (session_id,)
    ).fetchone()
    return row[0] if row else None


def _latest_of_thread(db: Connection, present: Present, thread_id: int) -> int | None:
    row = db.execute(
        "SELECT id FROM work_units WHERE thread_id = ? AND session_id != ? AND started_at < ?"
        " ORDER BY last_at DESC, id DESC LIMIT 1",
        (thread_id, present.session_id, present.at),
    ).fetchone()
    return row[0] if row else None


def _speaks(db: Connection, present: Present, session_id: str) -> bool:
    """Whether an episode of a session speaks of what is asked, however little."""
    rows = db.execute("SELECT id FROM work_units WHERE session_id = ?", (session_id,)).fetchall()
    mine = {row[0] for row in rows}
    found = engine.related(db, present.project_id, present.prompt, 30, before=present.at)
    return any(one.unit_id in mine and one.share >= _ALIKE for one in found)


def _told(db: Connection, present: Present, unit_id: int | None, reason: str) -> Item | None:
    if unit_id is None:
        return None
    rows, known = units(db, [unit_id]), settled.of_units(db, [unit_id])
    return tell_continued(db, rows[0], present.at, reason, present.unsaid, known.get(unit_id)) if rows else None
