"""`nmem stance`: shows how a session moves between thinking and acting, with advice on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.commands.terminal import EPISODE
from nmem.errors import NmemError
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.stance.model import SessionStance, Stance

_LISTED = "`nmem stance --project NAME` ends with the newest of a project"
UNLABELLED = "none of its {number} carries labels yet: `nmem backfill` gives them"


@click.command()
@click.argument("session", required=False)
@click.option("--episode", type=EPISODE, metavar="EPISODE", help="Only this episode.")
@click.option(
    "--project",
    default="",
    help="Show this project's newest session (name, key or root); default: the current folder's.",
)
@click.option("--limit", type=terminal.LIMIT_OR_NONE, default=5, show_default=True,
              help="How many shifts, episodes and sessions to list, newest first.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(session: str | None, episode: int | None, project: str, limit: int, as_json: bool) -> None:
    """How SESSION moves between thinking and acting, widening and narrowing; what went wrong in it, and what is usual.

    Of the id the beginning is enough. Without one: the newest session of the project.
    """
    if session == "":
        raise click.UsageError("SESSION is empty: leave it out to see the newest")
    if session and project:
        raise click.UsageError("give either SESSION or --project: a session belongs to one project")
    if episode is not None and (session or project):
        raise click.UsageError("--episode goes alone: an episode belongs to one session")
    now = terminal.now()
    with terminal.reading() as db:
        found = _found(db, session, episode, project, now)
        others = _others(db, found, limit)
    from nmem.commands import stance_told

    if as_json:
        click.echo(to_json(stance_told.as_dict(found, others, now)))
        return
    if not found.count:
        click.echo(f"{stance_told.heading(found)}: {unlabelled(found)}")
    stance_told.say(found, others, limit)


def unlabelled(found: Stance) -> str:
    """Why nothing is known of a session's stance."""
    if not found.observations:
        return "nothing was done in it yet"
    return UNLABELLED.format(number=terminal.count(found.observations, "call"))


def _found(db: Connection, session: str | None, episode: int | None, project: str, now: int) -> Stance:
    from nmem.stance import read

    if episode is not None:
        found = read.of_unit(db, episode, now)
        if found is None:
            raise NmemError(f"there is no episode {episode}: `nmem episodes` lists them")
        return found
    found = read.of_session(db, _session(db, session) if session else _newest(db, project), now)
    if found is None:
        raise NmemError(f"there is no session {printable(session or '')}: {_LISTED}")
    return found


def _session(db: Connection, beginning: str) -> str:
    from nmem.read.listing import sessions_like

    found = sessions_like(db, beginning)
    if not found:
        raise NmemError(f"there is no session {printable(beginning)}: {_LISTED}")
    if len(found) > 1:
        raise NmemError(f"{printable(beginning)} matches several sessions: {', '.join(map(printable, found))}")
    return found[0]


def _newest(db: Connection, project: str) -> str:
    from capture.project import resolve
    from nmem.stance import read
    from nmem.store.project import unknown

    key = project or resolve(str(Path.cwd())).key
    found = read.newest(db, key)
    if found is None:
        raise unknown(key)
    return found


def _others(db: Connection, found: Stance, limit: int) -> Sequence[SessionStance]:
    """The newest sessions of the project up to the one that is shown, itself included."""
    from nmem.stance import history

    if not limit or found.unit_id is not None:
        return ()
    return history.up_to(db, found.session_id, limit)
