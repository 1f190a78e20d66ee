"""Decides what a session is told, for hook, preview and replay alike.

On the hook's path. Without a configuration (a moment that is over) only what the database says switches telling off.
"""

from __future__ import annotations

import os

from capture import paths
from nmem.context import store
from nmem.context.items import MARKER, MOVED
from nmem.recall import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.context.config import Config
    from nmem.context.items import Item
    from nmem.context.present import Present

RESUMED = ("resume", "fork")
"""Sources of a start in which the session still has its conversation."""
WAITS = "something was taken away since it was prepared: `nmem settle` prepares it anew"


class Decision:
    """What is told, why, and why nothing is."""

    __slots__ = ("found", "items", "reason", "silent", "text", "unsound")

    def __init__(self, reason: str = "", silent: str = "") -> None:
        self.items: list[Item] = []
        self.text = ""
        """Exactly what is given; empty: nothing."""
        self.reason = reason
        self.silent = silent
        """Why nothing may be told, whatever there is."""
        self.found: list[Item] | None = None
        """All that was weighed, where everything was."""
        self.unsound = False
        """Whether a text was thrown away because capture could not have told again where it ends."""


def silent(db: Connection, present: Present, config: Config | None) -> str:
    """Why a project is told nothing at all, in words; empty where it may be."""
    if config is not None:
        if not config.enabled:
            return "context is switched off: [context] enabled in config.toml"
        if config.off and not {*store.names_of(db, present.project_id)}.isdisjoint(config.off):
            return "this project is told nothing: [context] off in config.toml names it"
    if store.switched_off(db, present.project_id):
        return "this project is told nothing: `nmem context --on` tells it something again"
    return ""


def waits(db: Connection, project_id: int) -> str:
    """Why a project's candidates may not be told: something they may hold is gone; empty where they may."""
    return WAITS if store.waits(db, project_id) else ""


def start(
    db: Connection, present: Present, config: Config | None, budget: int, most: int, goes: str, source: str = ""
) -> Decision:
    """When a session starts; `goes`: what says that it goes on with earlier work, without which only pins are told."""
    why = silent(db, present, config) or waits(db, present.project_id)
    if why:
        return Decision(silent=why)
    from nmem.context import pinned, places  # on use: start-up stays short

    resumed = source in RESUMED
    news = places.restructured(db, present, resumed=resumed)
    if resumed:
        from nmem.context.episodes import meanwhile  # on use: start-up stays short

        out = Decision("the session is resumed")
        pinned.heed(db, present)
        items = pinned.once(db, present, [*news, *meanwhile(db, present)])
    elif goes:
        from nmem.context import candidates  # on use: start-up stays short

        out = Decision(goes)
        items = out.found = [*pinned.once(db, present, news), *candidates.gathered(db, present)]
    else:
        items = [*(pinned.once(db, present, news) if news else ()), *pinned.chosen(db, present)]
        kinds = {item.kind for item in items}
        out = Decision("moved" if MOVED in kinds else "decided" if kinds == {MARKER} else "pinned")
    if config is not None and store.others_spoke(db, present.project_id):
        from nmem.context.teammates import decided  # on use: few share a project with a team

        items = _beside(out, items, pinned.once(db, present, decided(db, present)), "others of the team decided")
    return _packed(out, present, items, budget, most)


def prompt(db: Connection, present: Present, config: Config | None, budget: int, most: int, occasion: str) -> Decision:
    """When a session is asked something; without an `occasion` only the learnings that it runs into are told."""
    why = silent(db, present, config) or waits(db, present.project_id)
    if why:
        return Decision(silent=why)
    from nmem.context import pinned  # on use: start-up stays short

    if occasion:
        from nmem.context import candidates, places  # on use: start-up stays short

        out = Decision(occasion)
        items = out.found = candidates.gathered(db, present)
        if news := places.restructured(db, present):  # mostly settling has only seen it since the start
            items = out.found = [*pinned.once(db, present, news), *items]
    else:
        out = Decision("it runs into what is known to go wrong")
        items = pinned.warned(db, present)
    if config is not None and occasion and store.others_spoke(db, present.project_id):
        from nmem.context.teammates import related  # on use: few share a project with a team

        items = _beside(out, items, pinned.once(db, present, related(db, present, items)), occasion)
    if config is not None and _decisions_kept():  # of a moment that is over nobody knows what was decided then
        from nmem.context.decided import offers  # on use: start-up stays short

        if decided := pinned.once(db, present, offers(db, present, occasion)):
            items = [*items, *decided]
            out.found = [*out.found, *decided] if out.found is not None else None
            out.reason = occasion or (out.reason if len(items) > len(decided) else "a command failed")
    if present.folded:
        from nmem.context.giveback import spoken_of  # on use: a session that was compacted only

        if back := pinned.once(db, present, spoken_of(db, present)):
            ids = {one.id for one in back}
            out.reason = occasion or (out.reason if items else "it speaks of what the compaction dropped")
            items = [*back, *(one for one in items if one.id not in ids)]
            out.found = [*back, *(one for one in out.found if one.id not in ids)] if out.found is not None else None
    return _packed(out, present, items, budget, most)


def _beside(out: Decision, items: list[Item], more: list[Item], reason: str) -> list[Item]:
    """All of it, where more was weighed as well; `reason`: of what is told for that alone."""
    if more:
        out.reason = out.reason if items else reason
        out.found = [*out.found, *more] if out.found is not None else None
    return [*items, *more]


def _decisions_kept() -> bool:
    """Whether names of any project's decisions are kept for hooks (nmem.recall.kept): mostly none, and nothing is
    loaded for them."""
    try:
        return any(name.endswith(NAMES) for name in os.listdir(paths.cache(paths.database())))
    except OSError:
        return False


def recovered(
    db: Connection, present: Present, config: Config | None, budget: int, most: int, session_id: str, cleared: bool
) -> Decision:  # fmt: skip
    """After a conversation was folded or cleared: what `session_id` was at, from its records as they stand."""
    why = silent(db, present, config)
    if why:
        return Decision(silent=why)
    from nmem.context import pinned, recovery  # on use: start-up stays short

    pinned.heed(db, present)
    out = Decision(f"the conversation was {'cleared' if cleared else 'compacted'}: session {session_id}")
    present.given = frozenset()  # what was told before is gone from the conversation
    decided = pinned.once(db, present, pinned.decisions(db, present, store.decided_in(db, session_id)))
    missing: list[Item] = []
    if not cleared:
        from nmem.context.giveback import lost  # on use: a compaction only

        missing = pinned.once(db, present, lost(db, session_id, present.at))
    items = recovery.recover(db, session_id, within(budget, most), present.unsaid, decided, missing)
    while items and most and _size(recovery.compose(items, cleared)) > most:
        items.pop()
    return _sound(out, items, recovery.compose(items, cleared))


def within(budget: int, most: int) -> int:
    """A budget as far as a client takes it; `most` bytes, 0 for one that is not known."""
    return min(budget, most // 4) if most else budget


def _packed(out: Decision, present: Present, items: list[Item], budget: int, most: int) -> Decision:
    """As many as fit the budget and the client."""
    if not items:
        return out
    from nmem.context.compose import compose, packed  # on use: start-up stays short

    items = packed(items, within(budget, most))
    while items and most and _size(compose(items, present)) > most:
        items.pop()
    return _sound(out, items, compose(items, present))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _sound(out: Decision, items: list[Item], text: str) -> Decision:
    """The same, unless capture could not tell again where the text begins and ends."""
    from nmem.context.compose import whole  # on use: start-up stays short

    if items and whole(text):
        out.items, out.text = items, text
    out.unsound = bool(items) and not out.text
    return out
