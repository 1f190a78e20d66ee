"""Takes corrections back, the newest first: rows are put back as they were, whatever came since stays."""

from __future__ import annotations

from sqlite3 import Connection

from capture.storage.store import transaction
from nmem.episodes import corrections_log as log
from nmem.episodes import images, units
from nmem.episodes.corrections_log import Entry
from nmem.errors import NmemError


def undo(db: Connection, now: int) -> str:
    """Take back the newest correction that is not undone, of an episode or a thread; what it was, in words.

    Several calls go several steps back. Raises NmemError when nothing is left to undo, and sqlite3.Error.
    """
    with transaction(db):
        entry = log.newest(db)
        if entry is None:
            raise NmemError("there is nothing to undo")
        _take_back(db, entry)
        log.undone(db, entry.id, now)
    return describe(entry)


def history(db: Connection, limit: int = 20) -> list[Entry]:
    """Corrections, the newest first, also undone ones."""
    return log.entries(db, limit)


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    what = entry.target.replace("/", " ")
    asked = entry.payload
    if entry.kind in ("link", "unlink"):
        joined = "one line of work" if entry.kind == "link" else "not one line of work"
        return f"threads {asked.get('earlier')} and {asked.get('later')} are {joined}"
    if entry.kind == "rename":
        title = asked.get("title")
        return f"rename of {what} to “{title}”" if title else f"taking the name of {what} away"
    words = {
        "split": "split of {what} at prompt {prompt}: episode {made}",
        "merge": "merge of {what} into episode {into}",
        "resume": "{what} goes on with episode {earlier}",
        "unresume": "{what} does not go on with episode {earlier}",
        "move": "move of {what} from episode {from} into episode {into}",
        "keep": "{what} stays in episode {unit}",
        "pin": "pin of {what}", "unpin": "unpin of {what}", "thread": "{what} into thread {thread}",
    }.get(entry.kind, "{kind} of {what}")  # fmt: skip
    return words.format_map(_Known({**asked, "what": what, "kind": entry.kind}))


class _Known(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return "?"


def _take_back(db: Connection, entry: Entry) -> None:
    if entry.kind in ("link", "unlink"):
        from nmem.threads import outcomes

        outcomes.undo(db, entry.target, entry.before)
    elif entry.kind == "thread":
        from nmem.threads import steering

        steering.undo(db, entry.target, entry.before)
    else:
        _episodes(db, entry)


def _episodes(db: Connection, entry: Entry) -> None:
    """Put the rows back; where something came since, what follows from the prompts is counted again."""
    change, session_id = log.change(entry), str(entry.payload.get("session", ""))
    moved_on = images.restore(db, change)
    made = images.made(change)
    strays = [prompt for unit_id in made for prompt in units.prompts_of(db, unit_id)]
    if not (moved_on or strays):
        for unit_id in made:
            units.forget(db, unit_id, unit_id)
        return
    where = _settle(db, session_id, set(made))
    touched = {int(key) for key in change.get("work_units", {})} | set(where.values())
    units.tidy(db, session_id, touched, where)
    log.recount(db, session_id, touched)


def _settle(db: Connection, session_id: str, gone: set[int]) -> dict[int, int]:
    """Prompts that came into an episode which is undone go to where the prompt before them is; prompt -> episode."""
    where: dict[int, int] = {}
    prompts = units.prompts_of_session(db, session_id)
    current = next((prompt.unit_id for prompt in prompts if prompt.unit_id not in gone), 0)
    for prompt in prompts:
        if prompt.unit_id in gone and current:
            units.put(db, prompt.id, current)
        else:
            current = prompt.unit_id
        where[prompt.id] = current
    return where
