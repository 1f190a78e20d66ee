"""Handles each stored event within its hook: updates episodes, returns context to inject, starts settling.

A listener's failure is the hook's boundary's to log and to count: the event itself is safe by then, nothing is said.
"""

from __future__ import annotations

from os import environ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Event

_UNHEARD = ("status", "thinking")
"""After these a screen waits: nothing else of nmem is loaded."""
_CALLS = ("tool_call", "tool_result", "tool_error")
_WORK = ("shell", "edit", "write")
_PASSAGES = ("pre_compact", "post_compact", "session_end")


def heard(db: Connection, event: Event, path: str) -> tuple[bool, str]:
    """Whether a process that settles was started for an event, and what the session shall be told.

    `path` is the database's. Raises sqlite3.Error, OSError or schema.NewerDatabase.
    """
    if event.kind in _UNHEARD:
        if event.kind == "status" and not event.agent_id:
            _call(event.session_id, path)
        return False, ""
    if event.kind not in _CALLS:
        return after(db, event, path)
    if event.tool == "mcp":
        return _named(db, event, path)
    if event.ok or event.tool not in _WORK:
        return False, ""  # the tool waits: nothing else of nmem is loaded
    from nmem.context.action import answer  # on use: a failed call only

    return False, answer(db, event)


def after(db: Connection, event: Event, path: str) -> tuple[bool, str]:
    """Decide, revise, count, checkpoint or close, as the event asks; each in a short transaction of its own.

    `path` is the database's. True when a process that settles was started; and what the session shall be told. Raises
    sqlite3.Error, OSError or schema.NewerDatabase.
    """
    if event.agent_id:
        return False, ""
    kind, told = event.kind, ""
    try:
        if kind == "prompt":
            if event.source != "machine":
                told = _prompt(db, event, path)
        elif kind == "session_start":
            told = _start(db, event)
        elif kind == "turn_end":
            _turn_end(db, event.session_id, path)
            _call(event.session_id, path)
        elif kind in _PASSAGES:
            _passage(db, event)
        if "NMEM_TASK" in environ:
            _task(db, event)
    finally:
        settles = kind in ("session_start", "session_end", "turn_end") and _settle(path, kind)
    return settles, told


def _named(db: Connection, event: Event, path: str) -> tuple[bool, str]:
    """Put the newest prompts into the episode that the agent just named; no other server's call is read."""
    from capture.event import names_episode  # on use: a call of an MCP tool only

    if names_episode(event) and not event.agent_id:
        from nmem.episodes.announced import arrived  # on use: a call that names an episode only

        _ensure(db)
        arrived(db, event.session_id, path)
    return False, ""


def _task(db: Connection, event: Event) -> None:
    from nmem.dispatch import link  # on use: the session of a task only

    _ensure(db)
    link(db, event)


def _call(session_id: str, path: str) -> None:
    """Have the person called where they have set that: by default this is a look at a file that is not there."""
    from capture import config_table  # on use: nothing but a look at two files

    now = config_table.stamp()
    if now is None:
        return
    form = config_table.kept("attention", config_table.CALLING, now, path)
    if form is not None and not form[0]:  # type: ignore[index]
        return
    from nmem.attention.ring import start  # on use: somebody is called, or config.toml was changed

    start(path, session_id)


def _settle(path: str, kind: str) -> bool:
    from nmem.settle_start import rested, start  # on use: the end of a turn or session only

    return (kind != "turn_end" or rested(path)) and start(path)


def _ensure(db: Connection) -> None:
    from nmem.tables import ensure  # on use: start-up stays short

    ensure(db)


def _start(db: Connection, event: Event) -> str:
    from nmem.context.inject import at_start  # on use: a session's start only

    _ensure(db)
    if event.source == "compact":
        _passage(db, event)
    return at_start(db, event)


def _prompt(db: Connection, event: Event, path: str) -> str:
    from nmem.episodes.online import arrived  # on use: a prompt only
    from nmem.tables import holds

    _ensure(db)
    if not holds(db, "session_threads", event.session_id):
        from nmem.preload import TELLING, more  # on use: a session's first prompt only

        more(TELLING)
        from nmem.threads.continuity import assign  # on use: a session's first prompt only

        assign(db, event.session_id, event.at)
    arrived(db, event.session_id, path)
    from nmem.context.inject import at_prompt  # on use: the pack that holds it is loaded by now

    return at_prompt(db, event)


def _turn_end(db: Connection, session_id: str, path: str) -> None:
    from nmem.episodes.annotate import update_newest  # on use: the end of a turn only
    from nmem.episodes.online import ended

    _ensure(db)
    ended(db, session_id, path)
    update_newest(db, session_id)


def _passage(db: Connection, event: Event) -> None:
    from nmem.episodes import annotate  # on use: a compaction or a session's end only

    _ensure(db)
    if event.kind == "session_end":
        annotate.session_over(db, event.session_id)
    elif event.kind == "pre_compact":
        annotate.checkpoint(db, event.session_id, event.at)
    else:
        annotate.compacted(db, event.session_id)
