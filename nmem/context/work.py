"""Tells a session which thread it continues, and which steps earlier episodes left open. On the hook's path."""

from __future__ import annotations

from nmem.context import alike, selection_store
from nmem.context.episodes import goal
from nmem.context.items import NEXT, THREAD, Item
from nmem.episodes import open_ends
from nmem.retrieval import engine
from nmem.retrieval.terms import CHAT, ago, texts
from nmem.retrieval.words import words
from nmem.sanitize import ELLIPSIS, quoted, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.present import Present
    from nmem.context.selection_store import Left

SO_FAR = 320
LEFT = 3
NEXT_IS = " Next: "
"""How the summary of a thread begins what was next when it was written."""
SESSIONS = 8
"""Sessions of the project in which something left open is looked for: the newest."""
OLD = 14 * 86_400_000
"""What was left open longer ago is not picked up where it was left."""
_LINE = 190
_ASKED, _TRIED = 2, 6
"""Next steps that a prompt speaks of: those told, and those looked at whether they are still open."""
_SHARED, _SAYS, _PART = 2, 1.2, 0.4
"""Words that a prompt and a next step must share; what they must say together, in units of the rarest word there can
be; and the part of what the step says."""
_HEAD = 3
"""Letters at the beginning of a word that its stem keeps."""
_MARKS = "\"'`.,;:!?()[]"
_ASKED_LAST, _ECHO = "Asked last", 0.7
"""How a step begins that only repeats what was asked, and the part of its words in a prompt that asks it again."""
_FRAME = frozenset(words("Asked last and not answered, changed for it, no answer recorded: still fails, 1 more"))
"""The words in which next steps are told."""


def thread(db: Connection, present: Present) -> list[Item]:
    """The thread that the session continues, as it stands: "You were working on ..."; none when it begins one."""
    from nmem.threads.continuity import proposed  # on use: start-up stays short

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
    row = selection_store.thread(db, number, present.session_id)
    title, micro, last_at = row or ("", "", None)
    if last_at is None:
        return []
    line = whole(title, _LINE) or title.rstrip(f"{ELLIPSIS} &,;:-")
    text = f"You were working on {quoted(line, _LINE)} (thread {number}, {ago(present.at - last_at)})."
    micro = (micro or "").partition(NEXT_IS)[0]  # what was next then; what is left now is told apart
    micro = whole(micro, SO_FAR)
    if micro and not (present.unsaid and present.unsaid.says(quoted(micro, SO_FAR))):
        text += f" So far: {quoted(micro, SO_FAR + 2)}"
    return [Item(item or f"thread/{number}", kind, text, score=score, reason=reason)]


def left_open(db: Connection, present: Present, thread_id: int | None = None) -> list[Item]:
    """The next steps of the newest episode that has any, outside this session; `thread_id`: only of this thread."""
    rows = selection_store.newest_left(db, present.project_id, present.session_id, present.at - OLD, SESSIONS)
    for row in rows:
        if thread_id in (None, row[6]):
            found = _steps(db, row, present, 0.7, "the newest episode that left something open")
            if found:
                return found
    return []


def left_asked(db: Connection, present: Present, told: Sequence[Item], thread_id: int | None = None) -> list[Item]:
    """The next steps that the prompt speaks of, whatever episode left them; `told`: episodes whose steps are told.

    Looked for in the episodes that speak of what is asked and in the newest ones. `thread_id`: only of this thread.
    Raises sqlite3.Error.
    """
    asked = set(words(present.prompt))
    if len(asked) < _SHARED:
        return []
    over = {item.id.partition("/")[2] for item in told if item.kind == THREAD}
    near = [one.unit_id for one in alike.speaking(db, present)]
    left = selection_store.left_among(db, present.project_id, present.session_id, present.at, near, SESSIONS)
    rows = [row for row in left if str(row[0]) not in over and thread_id in (None, row[6])]
    heads = {word[:_HEAD] for word in asked}
    steps = [
        (row, step, set(words(step)) - _FRAME) for row in rows for step in texts(row[3]) if _may_share(step, heads)
    ]
    worth = engine.worth(
        db, present.project_id, {word for _, _, own in steps for word in own}, alike.indexed(db, present)
    )
    found: list[tuple[float, Left, str, str]] = []
    for row, step, own in steps:
        both = [word for word in own & asked if word not in CHAT]
        said, most = sum(worth[word] for word in both), sum(worth[word] for word in own)
        if len(both) < _SHARED or said < _SAYS or said < _PART * most or (present.unsaid and present.unsaid.says(step)):
            continue
        if step.startswith(_ASKED_LAST) and len(own & asked) >= _ECHO * len(own):
            continue  # the very prompt, typed again
        known = sorted(both, key=lambda word: (-worth[word], word))
        reason = f"the prompt speaks of what was left to do: {', '.join(known[:3])}"
        found.append((min(1.0, 0.5 + said / most / 2), row, step, reason))
    return _still_left(db, present, sorted(found, key=lambda one: (-one[0], -one[1][0]))[:_TRIED])


def _may_share(step: str, heads: set[str]) -> bool:
    """Whether enough words of a step can be among those that begin so; costs a fifth of its words themselves."""
    if not step.isascii():
        return True
    shared = 0
    for word in step.lower().split():
        bare = word.strip(_MARKS)
        shared += bare[:_HEAD] in heads if bare.isalpha() else _SHARED  # a name has words inside
    return shared >= _SHARED


def _still_left(db: Connection, present: Present, found: Sequence[tuple[float, Left, str, str]]) -> list[Item]:
    """Items of those next steps that nothing closed since, one an episode; the session that asks closes none."""
    out: dict[int, Item] = {}
    for score, row, step, reason in found:
        is_open = whole(step, _LINE) and open_ends.left(db, row[4], row[5], [step], present.session_id)
        if is_open and row[0] not in out and len(out) < _ASKED:
            text = f"{quoted(step.rstrip('. '), _LINE)}. ({_where(row, present)})"
            out[row[0]] = Item(f"next/{row[0]}", NEXT, text, score=score, reason=reason)
    return list(out.values())


def left_by(db: Connection, number: int, present: Present, reason: str) -> list[Item]:
    """The next steps of one episode; none when it has none, or is there no more."""
    row = selection_store.left_by(db, number)
    return _steps(db, row, present, 0.0, reason) if row else []


def _steps(db: Connection, row: Left, present: Present, score: float, reason: str) -> list[Item]:
    """Those that nothing closed since."""
    _, _, _, stored, session_id, told_at, _ = row
    left = [step for step in texts(stored) if not (present.unsaid and present.unsaid.says(step))]
    left = open_ends.left(db, session_id, told_at, left)
    steps = [quoted(step.rstrip(". "), _LINE) for step in left if whole(step, _LINE)][:LEFT]
    if not steps:
        return []
    text = f"{'; '.join(steps)}. ({_where(row, present)})"
    return [Item(f"next/{row[0]}", NEXT, text, score=score, reason=reason)]


def _where(row: Left, present: Present) -> str:
    return f"episode {row[0]}, {ago(present.at - row[2])}: {goal(row[1], None)}"
