"""What a session is told, and when: decided, kept and handed to the hook that prints it. On the hook's path.

When a session starts: what is known without a prompt (nmem.context.beginning). At its first prompt, and at one that
opens another episode: what the prompt selects and the session has not been told yet; at any other prompt, the learnings
that it runs into alone. After a compaction or a clear: what was going on. Whatever is late, off, kept back or told
already is silence.
"""

from __future__ import annotations

from nmem.context import given
from nmem.context.record import Injection, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Event
    from nmem.context.config import Config
    from nmem.context.items import Item
    from nmem.context.present import Present

LATE = "context_late"
"""The counter of selections that took too long."""
_TICKS = 2000
"""Steps of SQLite's machine between two looks at the clock."""
PROMPT = "prompt"


class Late(Exception):
    """Selecting took longer than the client should wait."""


class _Clock:
    """The moment after which nothing is said; it also stops a query that is still running."""

    __slots__ = ("db", "until")

    def __init__(self, db: Connection, milliseconds: float) -> None:
        from time import perf_counter_ns

        self.db = db
        self.until = perf_counter_ns() + int(milliseconds * 1_000_000)

    def over(self) -> bool:
        from time import perf_counter_ns

        return perf_counter_ns() > self.until

    def __enter__(self) -> None:
        self.db.set_progress_handler(self.over, _TICKS)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.db.set_progress_handler(None, 0)
        if self.over() and (error is None or "interrupted" in str(error)):
            raise Late from None


def at_start(db: Connection, event: Event) -> str:
    """What a session that starts is told; empty: nothing. Raises sqlite3.Error."""
    return _told(db, event, _at_start)


def at_prompt(db: Connection, event: Event) -> str:
    """What a session that is asked something is told; empty: nothing. Raises sqlite3.Error."""
    return _told(db, event, _at_prompt)


def _told(db: Connection, event: Event, decide: object) -> str:
    from capture.clients.telling import room

    most = room(event)
    if not most:
        return ""
    from nmem.context.config import load

    config = load()
    if not config.enabled:
        return ""
    one = Injection(event.session_id, event.at, event.source or "startup", event.client)
    try:
        with _Clock(db, config.deadline_ms):
            decide(db, event, config, one, most)  # type: ignore[operator]
    except Late:
        from capture.storage.store import count

        count(db, LATE)
        return ""
    return _kept(db, one, config)


def _kept(db: Connection, one: Injection, config: Config) -> str:
    """Store what is about to be told; the text, unless it is kept back or has been told by now."""
    from nmem.context.holdout import withheld

    if not one.text and one.event != given.COMPACT:
        return ""
    one.withheld = bool(one.text) and withheld(one.session_id, config.holdout)
    return one.text if store(db, one) and not one.withheld else ""


def _at_start(db: Connection, event: Event, config: Config, one: Injection, most: int) -> None:
    from nmem.context.present import read

    present = read(db, event.session_id, event.at)
    if present is None or _left_alone(db, present, config):
        return
    if event.source in ("compact", "clear"):
        _recovered(db, event, config, one, most)
        if one.items or event.source == given.COMPACT:
            return
    from nmem.context import beginning

    budget = min(config.start_tokens, most // 4)
    if event.source in ("resume", "fork"):
        one.reason = "the session is resumed"
        _packed(present, beginning.meanwhile(db, present), budget, one, most)
        return
    one.reason = beginning.goes_on(db, present)
    _selected(db, present, budget, one, most, only="" if one.reason else "pin")
    one.reason = one.reason or "pinned"


def _recovered(db: Connection, event: Event, config: Config, one: Injection, most: int) -> None:
    """What was going on before the conversation was folded or cleared."""
    from nmem.context import recovery

    cleared = event.source == "clear"
    session = recovery.before_clear(db, event.session_id, event.at) if cleared else event.session_id
    if session is None:
        return
    items = recovery.recover(db, session, min(config.recovery_tokens, most // 4))
    while items and len(recovery.compose(items, cleared).encode("utf-8", "replace")) > most:
        items.pop()
    one.items, one.text = _sound(items, recovery.compose(items, cleared))
    one.reason = f"the conversation was {'cleared' if cleared else 'compacted'}: session {session}"


def _at_prompt(db: Connection, event: Event, config: Config, one: Injection, most: int) -> None:
    newest = db.execute(
        "SELECT id, at, content FROM prompts WHERE session_id = ? AND source = 'user' AND agent_id IS NULL"
        " ORDER BY at DESC, id DESC LIMIT 1",
        (event.session_id,),
    ).fetchone()
    if newest is None:
        return
    number, at, text = newest
    one.event, one.prompt_id = PROMPT, number
    one.reason = _occasion(db, event.session_id, number, at)
    from nmem.context.present import read

    present = read(db, event.session_id, event.at, text)
    if present is None or _left_alone(db, present, config):
        return
    one.unit_id = present.unit_id
    _selected(db, present, min(config.prompt_tokens, most // 4), one, most, only="" if one.reason else "learning")
    one.reason = one.reason or "it runs into what is known to go wrong"


def _occasion(db: Connection, session_id: str, prompt_id: int, at: int) -> str:
    """Why this prompt may be told anything: it is the first one, or opens an episode; empty for any other."""
    before = db.execute(
        "SELECT 1 FROM prompts WHERE session_id = ? AND source = 'user' AND (at, id) < (?, ?) AND at >= coalesce("
        "(SELECT max(at) FROM injections WHERE session_id = ? AND event = ?), 0) LIMIT 1",
        (session_id, at, prompt_id, session_id, given.COMPACT),
    ).fetchone()
    if before is None:
        return "the first prompt"
    opens = db.execute(
        "SELECT 1 FROM unit_prompts u JOIN work_units w ON w.id = u.unit_id AND w.first_prompt_id = u.prompt_id"
        " WHERE u.prompt_id = ?",
        (prompt_id,),
    ).fetchone()
    return "another episode begins" if opens else ""


def _left_alone(db: Connection, present: Present, config: Config) -> bool:
    """Whether the person wants nothing told in this project."""
    if config.off:
        row = db.execute("SELECT name, root, key FROM projects WHERE id = ?", (present.project_id,)).fetchone()
        if row and not set(row).isdisjoint(config.off):
            return True
    return given.switched_off(db, present.project_id)


def _selected(db: Connection, present: Present, budget: int, one: Injection, most: int, *, only: str = "") -> None:
    """Fill in what the present selects; `only`: a kind that is told alone, without ranking anything."""
    if only:
        _packed(present, _of_kind(db, present, only), budget, one, most)
        return
    from nmem.context.select import select

    _fitted(present, select(db, present, budget), one, most)


def _packed(present: Present, items: list[Item], budget: int, one: Injection, most: int) -> None:
    from nmem.context.budget import packed

    if items:
        _fitted(present, packed(items, budget), one, most)


def _fitted(present: Present, items: list[Item], one: Injection, most: int) -> None:
    """Fill in items that the session has not been told, as many as the client takes."""
    from nmem.context.compose import compose

    items = [item for item in items if item.id not in present.given]
    while items and len(compose(items, present).encode("utf-8", "replace")) > most:
        items.pop()
    one.items, one.text = _sound(items, compose(items, present))


def _of_kind(db: Connection, present: Present, kind: str) -> list[Item]:
    """What a person pinned, or the learnings that a prompt runs into."""
    from nmem.context import pinned

    chosen = pinned.choices(db, present.project_id)
    if kind == "pin":
        return pinned.pins(db, present, chosen)
    from nmem.context.known import learnings

    return [item for item in learnings(db, present, []) if chosen.get(item.id) != pinned.EXCLUDE]


def _sound(items: list[Item], text: str) -> tuple[list[Item], str]:
    """The same, unless capture could not tell again where the text begins and ends."""
    from nmem.context.marks import whole

    return (items, text) if items and whole(text) else ([], "")
