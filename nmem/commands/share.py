"""`nmem share`: writes an episode or a session as Markdown and as one HTML file, redacted once more."""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.commands.show import parsed
from nmem.errors import NmemError
from nmem.read import listing
from nmem.share import document as writing
from nmem.share import files
from nmem.store.project import here
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.share.document import Document

LAST = "last"
_BOTH = ("md", "html")


@click.command()
@click.argument("what", metavar="SESSION|EPISODE")
@click.option("--out", "folder", default=".", metavar="FOLDER", help="Where the files go; default: the current folder.")
@click.option("--format", "form", type=click.Choice(["md", "html", "both"]), default="both", show_default=True,
              help="Which files to write.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite files of the same name.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(what: str, folder: str, form: str, force: bool, as_json: bool) -> None:
    """Write an episode, or a session with its episodes in order, for somebody else to read.

    \b
        nmem share episode/12
        nmem share last --out ~/reports --format html
        nmem share session/6b6f4218

    A number alone is an episode, `last` the newest one of the current folder's project; anything else is the beginning
    of a session's ID. The files hold the story, the decisions, the conversation, the actions, files, commits and
    tests; secrets are redacted again, paths are relative to the project. Read a file before you send it.
    """
    with terminal.reading() as db:
        found = document(db, what)
    made = files.write(found, folder, _BOTH if form == "both" else (form,), force=force)
    if as_json:
        click.echo(to_json({"files": made, "title": found.title, "episodes": list(found.episodes),
                            "left_out": found.left_out, "replaced_now": found.fresh}))  # fmt: skip
        return
    for path in made:
        click.echo(f"written: {printable(path)}")
    if found.fresh:
        secrets = terminal.count(found.fresh, "place")
        click.echo(f"{secrets} held a secret that is stored as it was: `nmem redact --history` removes it", err=True)


def document(db: Connection, what: str) -> Document:
    """What is shared of an episode or a session. Raises NmemError."""
    kind, rest = ("episode", str(newest(db))) if what == LAST else parsed(what)
    if kind == "episode":
        return writing.of_episode(db, int(rest))
    if kind != "session":
        raise click.UsageError(f"{printable(what)} cannot be shared: episode/12, session/ID or last")
    return writing.of_session(db, listing.session_of(db, rest))


def episode(db: Connection, what: str) -> int:
    """The number of an episode that is named as everywhere, or `last`. Raises NmemError."""
    return newest(db) if what == LAST else terminal.EPISODE(what)


def newest(db: Connection) -> int:
    """The newest episode of the current folder's project, else of all."""
    known = here(db, str(Path.cwd()))
    found = listing.listed(db, project=known.key, limit=1) if known else []
    found = found or listing.listed(db, limit=1)
    if not found:
        raise NmemError("no episodes yet: the next session or `nmem settle` makes the first")
    return found[0].id
