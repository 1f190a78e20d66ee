"""Undoes corrections of episodes: restores the previous rows, keeps what a hook or detection changed since."""

from __future__ import annotations

from sqlite3 import Connection

from nmem.episodes import corrections, store, units
from nmem.episodes.corrections import WHOLE, Change, Row, digest
from nmem.store.corrections import Entry


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    what = entry.target.replace("/", " ")
    asked = entry.payload
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
        "pin": "pin of {what}", "unpin": "unpin of {what}",
    }.get(entry.kind, "{kind} of {what}")  # fmt: skip
    return words.format_map(_Known({**asked, "what": what, "kind": entry.kind}))


class _Known(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return "?"


def take_back(db: Connection, entry: Entry) -> None:
    """Put the rows back; where something came since, what follows from the prompts is counted again.

    Inside a transaction.
    """
    change: Change = entry.before
    session_id = str(entry.payload.get("session", ""))
    moved_on = restore(db, change)
    added = made(change)
    strays = [prompt for unit_id in added for prompt in units.prompts_of(db, unit_id)]
    if not (moved_on or strays):
        for unit_id in added:
            units.forget(db, unit_id, unit_id)
        return
    where = _settle(db, session_id, set(added))
    touched = {int(key) for key in change.get("work_units", {})} | set(where.values())
    units.tidy(db, session_id, touched, where)
    corrections.recount(db, session_id, touched)


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


def restore(db: Connection, change: Change) -> bool:
    """Put rows back as they were; whether what follows from them must be counted again. Inside a transaction.

    It must when prompts go elsewhere and something has come since. Rows that the correction made are left to the
    caller: see `made`.
    """
    store.later_keys(db)
    moved_on = False
    for table in store.KEPT:
        for key, each in change.get(table, {}).items():
            before, after = each["before"], each["after"]
            if table == "work_units" and after is not None:
                moved_on |= digest(store.row(db, table, key)) != after[WHOLE]
            if after is None and before is not None:
                moved_on |= not _insert(db, table, key, before)
            elif before is not None and after is not None:
                moved_on |= not _update(db, table, key, before, after)
    return moved_on and any("unit_id" in (each["before"] or {}) for each in change.get("unit_prompts", {}).values())


def made(change: Change) -> list[int]:
    """The episodes that the correction made."""
    return [int(key) for key, each in change.get("work_units", {}).items() if each["before"] is None]


_OF = {
    "work_units": (("prompts", "first_prompt_id"), ("prompts", "last_prompt_id")),
    "unit_prompts": (("prompts", "prompt_id"), ("work_units", "unit_id")),
    "narrations": (("work_units", "unit_id"),),
    "narratives_fts": (("work_units", "rowid"),),
}
"""Table -> what its rows belong to."""


def _insert(db: Connection, table: str, key: str, before: Row) -> bool:
    """Put a row back that is gone, unless what it belongs to is gone too; False when it was there or cannot be."""
    if not all(store.is_there(db, other, before[column]) for other, column in _OF.get(table, ())):
        return False
    if store.row(db, table, key) is None:
        store.add_row(db, table, before)
        return True
    if table == "narratives_fts":  # an episode's text is indexed as soon as it is there again
        store.set_row(db, table, key, before)
    return table == "narratives_fts"


def _update(db: Connection, table: str, key: str, before: Row, after: Row) -> bool:
    """Put the columns back that are still as the correction left them; False when one is not."""
    now = store.row(db, table, key)
    if now is None:
        return False
    same = {name: value for name, value in before.items() if name in now and digest(now[name]) == after[name]}
    if table == "unit_prompts" and "unit_id" in same and not store.is_there(db, "work_units", same["unit_id"]):
        del same["unit_id"]
    store.set_row(db, table, key, same)
    return len(same) == len(before)
