"""`nmem narrate`: writes or rewrites the stories of episodes, and prints them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import click

from capture import paths
from capture.storage import store
from capture.storage.schema import NewerDatabase
from nmem import tables
from nmem.commands.terminal import EPISODE
from nmem.database import exists, worded
from nmem.episodes import narrations, units
from nmem.episodes.storytelling import Teller
from nmem.errors import NmemError
from nmem.llm.connect import Connected, connect
from nmem.text import printable, texts, to_json

_WAIT = 10.0
_LISTS = ("learned", "completed", "next_steps", "notes", "files_edited")


@click.command()
@click.argument("episodes", metavar="[EPISODE]...", nargs=-1, type=EPISODE)
@click.option("--session", default="", metavar="ID", help="Narrate all finished episodes of a session.")
@click.option("--extractive", is_flag=True, help="Write from the records only, even over a model's story.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(episodes: tuple[int, ...], session: str, extractive: bool, as_json: bool) -> None:
    """Tell episodes anew: by a language model where there is one, else from the records.

    Without EPISODE and --session, the newest episode. A model's story is kept when none answers now; --extractive
    replaces it.
    """
    path = paths.database()
    if not exists(path):
        raise NmemError(f"nothing is recorded yet at {path}: run `nmem init`, or `nmem import` for past sessions")
    try:
        with closing(store.connect(path, timeout=_WAIT)) as db:
            tables.ensure(db)
            chosen = _chosen(db, episodes, session)
            found = Connected(None) if extractive else connect(path, look=True)
            told = [_tell(db, unit_id, found, extractive=extractive) for unit_id in chosen]
    except (sqlite3.Error, OSError, NewerDatabase) as error:
        raise NmemError(f"{path}: {worded(error)}") from None
    click.echo(to_json({"episodes": told}) if as_json else "\n\n".join(map(_text, told)))


def _chosen(db: sqlite3.Connection, episodes: tuple[int, ...], session: str) -> list[int]:
    chosen = [*episodes, *(narrations.ids_of_session(db, [session]) if session else [])]
    if not episodes and not session:
        chosen = narrations.newest(db)
    if session and not chosen:
        raise NmemError(f"session {session} has no finished episode: `nmem status` lists sessions")
    if not chosen:
        raise NmemError("there are no episodes yet: `nmem settle` divides recorded sessions into episodes")
    for unit_id in chosen:
        if units.get(db, unit_id) is None:
            raise NmemError(f"there is no episode {unit_id}: `nmem episodes` lists them")
    return chosen


def _tell(db: sqlite3.Connection, unit_id: int, found: Connected, *, extractive: bool) -> dict[str, Any]:
    teller = Teller(db, found.desk, no_model=found.problem)
    teller.extract(unit_id, force=extractive or narrations.renewable(db, unit_id))
    if not extractive:
        teller.ask(unit_id)
    unit, known = units.get(db, unit_id), narrations.known(db, unit_id)
    if unit is None or known is None:
        raise NmemError(f"episode {unit_id} no longer exists")
    stored = (unit.learned, unit.completed, unit.next_steps, unit.notes, unit.files_edited)
    lists = {name: list(texts(text)) for name, text in zip(_LISTS, stored, strict=True)}
    return {
        "id": unit_id, "session": unit.session_id, "summary": unit.summary, **lists, "outcome": known.outcome,
        "obstacle": known.obstacle, "marks": list(known.marks), "narrator": unit.narrator,
        "fallback": known.fallback or found.problem,
    }  # fmt: skip


def _text(told: dict[str, Any]) -> str:
    lines = [f"episode {told['id']}, {narrations.told_by(told['narrator'])}", told["summary"]]
    for name in _LISTS:
        if told[name]:
            lines += [f"{name.replace('_', ' ')}:", *(f"  - {text}" for text in told[name])]
    if told["fallback"]:
        lines.append(f"no model told it: {told['fallback']}")
    return "\n".join(printable(line) for line in lines)
