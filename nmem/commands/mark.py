"""`nmem mark`: adds a note, a decision or a rollback point to the current session."""

from __future__ import annotations

from dataclasses import asdict

import click

from capture import paths
from nmem import marks
from nmem.commands import terminal
from nmem.context import pins, review_store
from nmem.marks import KINDS, NOTE
from nmem.mcp import tool
from nmem.store import corrections as log
from nmem.text import printable, to_json


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--kind", type=click.Choice(KINDS), default=NOTE, show_default=True, help="The kind of marker.")
@click.option(
    "--session", "session_id", default="", metavar="ID", help="Mark this session; default: this folder's newest."
)
@click.option("--everywhere", is_flag=True, help="Pin it, and tell it to sessions of every project.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(text: tuple[str, ...], kind: str, session_id: str, everywhere: bool, as_json: bool) -> None:
    """Keep TEXT beside what is done just now: later sessions find it, and are told it where it fits.

    It belongs to the newest session of this folder's project. Secrets in it are redacted, like everything.
    """
    with terminal.writing() as db:
        session = tool.parse(db, f"session/{session_id.removeprefix('session/')}").key if session_id else ""
    made = marks.mark(paths.database(), " ".join(text), kind, session_id=session)
    with terminal.writing() as db, log.together():
        pins.marked(db, made, terminal.now())
        if everywhere and not (
            pins.is_pinned(db, "obs", made.id) and review_store.told_everywhere(db, f"obs/{made.id}")
        ):
            pins.everywhere(db, "obs", made.id, True, terminal.now())
    if as_json:
        click.echo(to_json({**asdict(made), "id": f"obs/{made.id}"}))
    else:
        told = ", told in every project" if everywhere else ""
        of = printable(made.session_id)
        click.echo(f"obs/{made.id}, a {made.kind} of session/{of}{told} (`nmem undo` takes it back)")
