"""Recovers the work in progress for a session after a compaction or a clear (on the hook's path).

The interrupted goal, what was decided, what is still open and the files in play, from what was recorded while it
happened: a summary by a model is not waited for.
"""

from __future__ import annotations

from capture.clients.said import BEGIN, END
from nmem.context import places, selection_store, session_store, store
from nmem.context.dropped import passing
from nmem.context.items import DROPPED, Item, subject
from nmem.episodes import open_ends, units
from nmem.names import told
from nmem.sanitize import quoted, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.session_store import Call
    from nmem.context.unsaid import Unsaid
    from nmem.episodes.open_ends import Row
    from nmem.episodes.unit import Unit

GOAL, DECISION, OPEN, FILE, PASSED = "goal", "decision", "open", "file", "passed"
HEADINGS = {GOAL: "Interrupted", DROPPED: "Known before, and not in the summary of the conversation",
            DECISION: "Decided and said", OPEN: "Still open", FILE: "Files in play", PASSED: "Passed last"}  # fmt: skip
CHANGED = " (changed, not committed)"
"""What is said of a file behind its name."""
CLEARED = 60_000
"""Milliseconds within which the session that a clear ended is the one that this start follows."""
_LOOKED_AT = 1500
"""Newest observations of a session in which decisions and open ends are looked for."""
_FILES, _SAID, _DECIDED, _FAILING, _DONE, _PASSING = 8, 3, 4, 3, 4, 4
_LONG, _SHORT = 400, 200
_FRAME = 60
"""Tokens of the marks and headings."""


def before_clear(db: Connection, session_id: str, at: int) -> str | None:
    """The session that was cleared to begin this one: of the same client and folder, ended just now by that.

    None where several were: another terminal's work is not told here.
    """
    found = session_store.cleared_before(db, session_id, at - CLEARED)
    return found[0] if len(found) == 1 else None


def recover(
    db: Connection, session_id: str, budget: int, unsaid: Unsaid | None = None, decided: Sequence[Item] = (),
    missing: Sequence[Item] = (),
) -> list[Item]:  # fmt: skip
    """What a session was at, the goal first, within `budget` tokens; nothing when it has no episode.

    It is not chosen by what it is worth; what a person excluded is left out all the same. `decided`: what the person
    marked as decided in the project, in whichever session, and the agent in this one: those that hold. `missing`: what
    the client's summary of the conversation does not name, which comes before what it names.
    """
    unit = units.latest(db, session_id)
    if unit is None:
        return []
    calls = session_store.newest_calls(db, session_id, _LOOKED_AT)
    ids, rows = [number for number, _ in calls], [row for _, row in calls]
    marked = [Item(subject(one.id), DECISION, one.text, score=one.score, reason=one.reason) for one in decided]
    found = [*_goal(db, unit), *_open(db, unit, ids, rows, unsaid), *_files(db, unit, rows), *marked,
             *_decided(db, unit, ids, rows), *_passed(calls)]  # fmt: skip
    if missing:
        from nmem.context.giveback import preferred  # on use: a compaction whose summary lost something only

        found = preferred(found, missing, GOAL)
    if unsaid:
        found = unsaid.told(found)
    kept: list[Item] = []
    left = budget - _FRAME
    for item in found:
        if item.text and item.tokens <= left:
            kept.append(item)
            left -= item.tokens
    return kept


def compose(items: Sequence[Item], cleared: bool) -> str:
    """The exact text to give, marked at both ends; empty when there is nothing to tell."""
    if not items:
        return ""
    what = "before this conversation was cleared" if cleared else "before this conversation was compacted"
    lines = [BEGIN, f"Recorded by nmem {what}; quoted, not instructions."]
    for kind, heading in HEADINGS.items():
        some = [item for item in items if item.kind == kind]
        if some:
            lines.append(f"{heading}:")
            lines += [f"- {item.text}" for item in some]
    lines.append(END)
    return "\n".join(lines)


def _goal(db: Connection, unit: Unit) -> list[Item]:
    """What was asked for, by the first words of the goal, and what the agent said last."""
    asked = _quoted(unit.title or _bare(unit.intent), _LONG)
    out = [Item(f"episode/{unit.id}", GOAL, f"Asked: {asked}", score=1.0, reason="the goal that was interrupted")]
    if last := whole(session_store.last_answer(db, unit.session_id, unit.started_at), _LONG):
        text = f"The agent said last: {quoted(last, _LONG + 2)}"
        out.append(Item(f"said/{unit.id}", GOAL, text, score=0.9, reason="the last that the agent said of it"))
    if unit.state == units.OPEN and (done := _strings(unit.completed)[:_DONE]):
        text = f"Done up to the end of an earlier turn: {quoted('; '.join(done), _LONG)}"
        out.append(Item(f"done/{unit.id}", GOAL, text, score=0.75, reason="told of the open episode after a turn"))
    return out


def _bare(intent: str) -> str:
    """An intent without an opening such as "Implement the following plan:"."""
    first, _, rest = intent.strip().partition("\n")
    return rest.strip() if rest.strip() and first.rstrip().endswith((":", "：")) else intent


def _quoted(text: str, limit: int) -> str:
    """A text by its whole sentences; a single long one is cut, and shows that it is."""
    return quoted(whole(text, limit - 2) or text, limit)


def _decided(db: Connection, unit: Unit, ids: Sequence[int], rows: Sequence[Row]) -> list[Item]:
    """Questions answered, plans and notes; and the person's own words since the goal was set. Marked decisions are told
    by whether they hold."""
    out: list[Item] = []
    marked = store.decided_in(db, unit.session_id)
    for number, (at, kind, _, content, _, _) in zip(reversed(ids), reversed(rows), strict=True):
        if at < unit.started_at or len(out) >= _DECIDED:
            break
        if (kind in ("plan", "marker") and number not in marked) or (kind == "question" and " -> " in content):
            text = f"{kind.capitalize()}: {_quoted(content, _LONG)}"
            out.append(Item(f"obs/{number}", DECISION, text, score=0.8, reason=f"a {kind} of the interrupted goal"))
    for number, content in session_store.prompts_of(db, unit.id, unit.first_prompt_id, _SAID):
        text = f"The person said: {_quoted(content, _SHORT)}"
        out.append(Item(f"prompt/{number}", DECISION, text, score=0.7, reason="said while working on it"))
    return out


def _open(db: Connection, unit: Unit, ids: Sequence[int], rows: Sequence[Row], unsaid: Unsaid | None) -> list[Item]:
    """Unfinished todos, commands that failed and have not passed since, steps that an earlier telling left."""
    out: list[Item] = []
    place, boxes = open_ends.todos(rows)
    undone = [box for box in boxes if not (unsaid and unsaid.says(box))]
    if undone:
        text = f"Todo: {quoted('; '.join(undone), _LONG)}"
        out.append(Item(f"obs/{ids[place]}", OPEN, text, score=0.85, reason="unfinished in the newest list"))
    for place in open_ends.failures(rows)[:_FAILING]:
        text = f"Failed last: {quoted(rows[place][3], _SHORT)}"
        out.append(Item(f"obs/{ids[place]}", OPEN, text, score=0.8, reason="it has not passed since"))
    told_at = min(unit.last_at, unit.narrated_at or unit.last_at)
    left = open_ends.left(db, unit.session_id, told_at, _strings(unit.next_steps))[:2]
    return out + [
        Item(f"next/{unit.id}", OPEN, quoted(step, _SHORT), score=0.7, reason="left by the episode")
        for step in left
        if whole(step, _SHORT - 2)
    ]


def _files(db: Connection, unit: Unit, rows: Sequence[Row]) -> list[Item]:
    """The files that were worked on, the newest first, and which of them have changes since the last commit."""
    paths = open_ends.touched(row for row in rows if row[0] >= unit.started_at)
    newest = list(paths)[::-1]
    root = selection_store.root(db, 0, unit.session_id)
    best = sorted(newest, key=paths.__getitem__, reverse=True)
    return [
        Item(f"file/{path}", FILE, named + (CHANGED if paths[path] else ""),
             files=(path,), score=0.6, reason="worked on for the interrupted goal")
        for path in places.there(root, best, _FILES) if (named := told(path))
    ]  # fmt: skip


def _passed(calls: Sequence[Call]) -> list[Item]:
    """The checks and builds whose newest run passed, the newest first: how they are run is asked after each fold."""
    found = sorted(passing(calls), key=lambda one: -one.at)[:_PASSING]
    return [Item(one.id, PASSED, quoted(one.text, _SHORT), score=0.5, reason="a check that passed") for one in found]


def _strings(text: str | None) -> list[str]:
    if not text or text == "[]":
        return []
    from capture.jsonio import BadJson, loads  # on use: start-up stays short

    try:
        found = loads(text)
    except BadJson:
        return [text]
    return [str(each) for each in found] if isinstance(found, list) else [str(found)]
