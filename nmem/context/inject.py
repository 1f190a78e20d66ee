"""Decides, records and returns what a hook tells a session. On the hook's path.

When a session starts: what is known without a prompt (nmem.context.episodes), and that the memory can be asked
(nmem.context.ask). At its first prompt, and at one that
opens another episode: what the prompt selects and the session has not been told yet; at any other prompt, the learnings
that it runs into alone. After a compaction or a clear: what was going on. Whatever is late, off, kept back or told
already is silence.
"""

from __future__ import annotations

from time import perf_counter_ns

from capture import clients, config_table
from nmem.context import store
from nmem.context.items import RECALL
from nmem.context.store import Injection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from capture.event import Event
    from nmem.context.config import Config
    from nmem.context.decide import Decision
    from nmem.context.present import Present

LATE = "context_late"
"""The counter of selections that took too long."""
UNSOUND = "context_unsound"
"""The counter of texts that were thrown away because their end could not have been told again."""
_IDLE = 8
"""So many prompts that say nothing, or were answered too late, may come before the first that is told something."""
_TICKS = 2000
"""Steps of SQLite's machine between two looks at the clock."""
PROMPT = "prompt"


class Late(Exception):
    """Selecting took longer than the client should wait."""


class _Clock:
    """The moment after which nothing is said; it also stops a query that is still running."""

    __slots__ = ("db", "until")

    def __init__(self, db: Connection, milliseconds: float) -> None:
        self.db = db
        self.until = perf_counter_ns() + int(milliseconds * 1_000_000)

    def over(self) -> bool:
        return perf_counter_ns() > self.until

    def __enter__(self) -> int:
        self.db.set_progress_handler(self.over, _TICKS)
        return self.until

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


def _told(db: Connection, event: Event, decide: Callable[[Connection, Event, Config, Injection, int], None]) -> str:
    most = clients.room(event)
    if not most:
        return ""
    from nmem.context.config import load  # on use: start-up stays short

    config = load()
    if not config.enabled:
        return ""
    one = Injection(event.session_id, event.at, event.source or "startup", event.client)
    try:
        with _Clock(db, config.deadline_ms) as one.until:
            decide(db, event, config, one, most)
    except Late:
        _count(db, LATE)
        one.items, one.text = (), ""  # also what was selected just too late
        if decide is _at_start:
            _line_alone(db, event, config, one, most)
        if not one.items:
            return _late(db, one)
    return kept(db, one, config)


def _late(db: Connection, one: Injection) -> str:
    """Keep that a prompt was not answered in time, so that the next one still is the first; and that of a fold."""
    if one.event == store.COMPACT or one.prompt_id is not None:
        one.items, one.text, one.reason = (), "", store.LATE
        store.remember(db, one)
    return ""


def _count(db: Connection, name: str) -> None:
    from capture.storage.store import count  # on use: start-up stays short

    count(db, name)


def kept(db: Connection, one: Injection, config: Config) -> str:
    """Store what is about to be told; the text, unless it is kept back or has been told by now."""
    from nmem.context.config import withheld  # on use: start-up stays short

    _outward(db, one)
    if not one.text and one.event != store.COMPACT:
        return ""
    one.withheld = bool(one.text) and withheld(one.session_id, config.holdout)
    if not store.remember(db, one) or one.withheld:
        return ""
    if any(item.kind == RECALL for item in one.items):
        from nmem.context.decided import note  # on use: start-up stays short

        note(db, one.session_id, one.items, one.at)
    return one.text


def _outward(db: Connection, one: Injection) -> None:
    """The text, once it is finished, by the person's own rules: what it tells may be older than they."""
    if not one.text or config_table.stamp() is None:
        return  # without a config file nobody has rules, and a call's hook need not load what redacts
    from capture.storage.store import called
    from nmem.context.compose import outward  # on use: start-up stays short

    one.text = outward(one.text, called(db, one.session_id), clients.most(one.client))
    one.items = one.items if one.text else ()


def _at_start(db: Connection, event: Event, config: Config, one: Injection, most: int) -> None:
    from nmem.context import ask  # on use: start-up stays short
    from nmem.context.present import read

    present = read(db, event.session_id, event.at)
    if present is None:
        return
    store.read_once(db)
    made = _begun(db, event, config, present, most)
    ask.beside(db, present, config, made, most)
    ask.add(db, present, config, made, most, event.source)
    _taken(db, one, made)


def _begun(db: Connection, event: Event, config: Config, present: Present, most: int) -> Decision:
    """What a start tells by itself: what was going on before a fold or a clear, else what is known without a prompt."""
    from nmem.context import decide  # on use: start-up stays short

    if event.source in ("compact", "clear"):
        cleared = event.source == "clear"
        session = _before_clear(db, event) if cleared else event.session_id
        made = decide.Decision()
        if session is not None:
            made = decide.recovered(db, present, config, config.recovery_tokens, most, session, cleared)
        if made.items or not cleared:
            return made
        if made.unsound:
            _count(db, UNSOUND)
    from nmem.context.episodes import goes_on  # on use: start-up stays short

    goes = "" if event.source in decide.RESUMED else goes_on(db, present)
    return decide.start(db, present, config, config.start_tokens, most, goes, event.source or "")


def _line_alone(db: Connection, event: Event, config: Config, one: Injection, most: int) -> None:
    """Where the rest took too long, at least that the memory can be asked: that is found at once."""
    from nmem.context import ask, decide  # on use: start-up stays short
    from nmem.context.present import read

    present = read(db, event.session_id, event.at)
    if present is not None:
        made = decide.Decision()
        ask.add(db, present, config, made, most, event.source)
        _taken(db, one, made)


def _before_clear(db: Connection, event: Event) -> str | None:
    from nmem.context.recovery import before_clear  # on use: start-up stays short

    return before_clear(db, event.session_id, event.at)


def _at_prompt(db: Connection, event: Event, config: Config, one: Injection, most: int) -> None:
    newest = store.newest_prompt(db, event.session_id)
    if newest is None:
        return
    number, at, text = newest
    one.event, one.prompt_id = PROMPT, number
    occasion = _occasion(db, event.session_id, number, at)
    from nmem.context.present import read  # on use: start-up stays short

    present = read(db, event.session_id, event.at, text)
    if present is None:
        return
    if occasion:
        from nmem.preload import TELLING, more  # on use: start-up stays short

        more(TELLING)
        store.read_once(db)
    from nmem.context import decide  # on use: start-up stays short

    one.unit_id, present.until = present.unit_id, one.until
    made = decide.prompt(db, present, config, config.prompt_tokens, most, occasion)
    if occasion:
        from nmem.context import ask  # on use: start-up stays short

        ask.beside(db, present, config, made, most)
    _taken(db, one, made)
    if present.arrived and present.thread_id is not None:
        from nmem.threads import arrival  # on use: start-up stays short

        arrival.keep(db, present.thread_id, event.at, present.arrived)


def _taken(db: Connection, one: Injection, made: Decision) -> None:
    """Fill in what was decided."""
    one.items, one.text, one.reason = made.items, made.text, made.reason
    if made.unsound:
        _count(db, UNSOUND)
    if made.silent:
        _refold(db, made.silent)


def _refold(db: Connection, silent: str) -> None:
    """Nothing may be told until a project is folded anew: whoever left it so, settling is started now."""
    from nmem.context.decide import WAITS  # on use: start-up stays short

    if silent == WAITS:
        from capture.storage.store import file  # on use: start-up stays short
        from nmem.settle_start import start

        start(file(db))


def _occasion(db: Connection, session_id: str, prompt_id: int, at: int) -> str:
    """Why this prompt may be told anything: it is the first one, or opens an episode; empty for any other.

    The first is the first that says something, and stays the first as long as answering it was too late.
    """
    before = store.prompts_before(db, session_id, at, prompt_id, _IDLE)
    if len(before) < _IDLE and all(late or _idle(text) for text, late in before):
        return "the first prompt"
    return "another episode begins" if store.opens_episode(db, prompt_id) else ""


def _idle(text: str) -> bool:
    """Whether a prompt says nothing that anything could be selected by."""
    from nmem.retrieval.terms import CHAT, mentions, terms  # on use: start-up stays short

    return CHAT.issuperset(terms(text)) and not mentions(text)
