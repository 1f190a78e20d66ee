"""`nmem share`: writes an episode or a session as Markdown and as one HTML file, redacted once more."""

from __future__ import annotations

from sqlite3 import Connection
from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.commands.show import parsed
from nmem.read import listing
from nmem.read.listing import LAST
from nmem.share import document as writing
from nmem.share import files
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.share.document import Document

_BOTH = ("md", "html")
_REFUSED = "cannot be shared: episode/12, session/ID or last"


@click.command()
@click.argument("what", metavar="SESSION|EPISODE")
@click.option("--out", "folder", default=".", metavar="FOLDER", help="Where the files go; default: the current folder.")
@click.option("--format", "form", type=click.Choice(["md", "html", "both"]), default="both", show_default=True,
              help="Which files to write.")  # fmt: skip
@click.option("--project", default="", help="With last: the newest of this project (name, key or root folder).")
@click.option("--force", is_flag=True, help="Overwrite files of the same name.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(what: str, folder: str, form: str, project: str, force: bool, as_json: bool) -> None:
    """Write an episode, or a session with its episodes in order, for somebody else to read.

    A number alone is an episode, `last` the newest one of the current folder's project; anything else is the beginning
    of a session's ID. The files hold the story, the decisions, the conversation, the actions, files, commits and
    tests; secrets are redacted again, paths are relative to the project. Read a file before you send it.
    """
    if project and what != LAST:
        raise click.UsageError("--project goes with last: an episode or a session belongs to one project")
    with terminal.reading() as db:
        found = document(db, what, project)
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


def document(db: Connection, what: str, project: str = "") -> Document:
    """What is shared of an episode or a session. Raises NmemError."""
    if what == LAST:
        return writing.of_episode(db, listing.own_newest_episode(db, project))
    kind, rest = parsed(what, _REFUSED)
    if kind == "episode":
        return writing.of_episode(db, int(rest))
    if kind != "session":
        raise click.UsageError(f"{terminal.named(what)} {_REFUSED}")
    return writing.of_session(db, listing.session_of(db, rest))
