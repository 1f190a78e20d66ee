"""Offers a session the written decisions that its prompt or failed command refers to: links, not texts.

On the hook's path. Where a project has no decisions, some lookups of folders are all that it costs.
"""

from __future__ import annotations

from nmem.context import store
from nmem.context.items import RECALL, Item
from nmem.names import told
from nmem.recall import config, kept
from nmem.recall.words import normal
from nmem.sanitize import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.present import Present
    from nmem.recall.folder import Place

_COMMANDS = ("command", "test", "build", "lint", "install")


class Decided(Item):
    """An entry that is offered; `link` is how it is asked for, `file` is its own in `folder`."""

    __slots__ = ("file", "folder", "link")

    def __init__(self, place: Place, link: str, file: str, score: float, reason: str) -> None:
        path = f"{place.folder}/{file}".removeprefix(f"{place.root}/")
        where = f" ({named})" if (named := told(path)) else ""
        text = f"{quoted(link, 120)}: `nmem {asked(link)}`{where}"
        super().__init__(f"{RECALL}/{link[1:]}", RECALL, text, files=(path,), score=score, reason=reason)
        self.folder, self.file, self.link = place.folder, file, link


def asked(link: str) -> str:
    """The words after `nmem` that ask for an entry: letters and digits alone, whatever its trigger holds."""
    operator, _, trigger = link.removeprefix("/").partition(" ")
    return f"{operator} {normal(trigger)}"


def offers(db: Connection, present: Present, occasion: str) -> list[Item]:
    """Entries that a session has neither been offered nor asked for; mostly none. Raises sqlite3.Error.

    By the prompt where it is the first or opens an episode (`occasion`), and by what failed since the one before.
    """
    failed = _failed(db, present) if present.failures else ""
    if not (occasion or failed):
        return []
    place = kept.place(present.cwd or store.names_of(db, present.project_id)[1])
    if place is None or not config.offers() or (names := kept.read(place)) is None:
        return []
    from nmem.recall.store import before  # on use: start-up stays short

    known = before(db, present.session_id)
    out: dict[str, Item] = {}
    for text, reason in ((present.prompt if occasion else "", "the prompt speaks of it"), (failed, "a command failed")):
        for one in kept.best(names, text) if text else ():
            if one.link not in known and one.link not in out:
                out[one.link] = Decided(place, one.link, one.file, one.confidence, reason)
    for item in list(out.values())[:1] if names[-1] else ():
        item.text += f"; not all is found here: {quoted(names[-1], 160)}"
    return list(out.values())


def note(db: Connection, session_id: str, items: Sequence[Item], now: int) -> None:
    """Note what is about to be offered, so that its use can be measured. Raises sqlite3.Error."""
    from capture.storage.store import transaction  # on use: start-up stays short
    from nmem.recall.store import offered

    some = [item for item in items if isinstance(item, Decided)]
    with transaction(db):
        for item in some:
            offered(db, session_id, item.folder, [(item.link, item.file, item.score)], now)


def _failed(db: Connection, present: Present) -> str:
    """The newest command that failed since the prompt before this one, with what it said; it has not passed since."""
    row = store.failed_last(db, present.session_id, present.at)
    return row[0] if row and row[1] in _COMMANDS and row[0].startswith(present.failures) else ""
