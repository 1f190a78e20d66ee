"""Undoes corrections of episodes: restores the previous rows, keeps later changes."""

from __future__ import annotations

from sqlite3 import Connection

from nmem.episodes import corrections, images, units
from nmem.episodes.images import Change
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
