"""`nmem handoff`: starts another coding client with a brief of an episode, so that it goes on with the work."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.dispatch.task import CLIENTS
from nmem.read.listing import LAST, own_newest_episode
from nmem.share import brief, hand
from nmem.text import lines, to_json

if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.share.brief import Brief

_PRINT, _RUN, _PANE = "print", "run", "pane"


@click.command()
@click.argument("episode")
@click.option("--to", "client", type=click.Choice(CLIENTS), help="The client that goes on; needed to start one.")
@click.option("--project", default="", help="With last: the newest of this project (name, key or root folder).")
@click.option("--run", "way", flag_value=_RUN, help="Start it in this terminal: with --to, the default at a terminal.")
@click.option("--pane", "way", flag_value=_PANE, help="Start it in a window of tmux.")
@click.option("--print", "way", flag_value=_PRINT, help="Print the brief, start nothing: the default elsewhere.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output; not with --run.")
def command(episode: str, client: str | None, project: str, way: str | None, as_json: bool) -> None:
    """Hand EPISODE (12, episode/12 or last) on to another client.

    It starts in the folder of the work with a brief of at most 1,500 tokens as its first prompt: goal, state,
    decisions, failed attempts, open ends, files. Secrets are redacted; what was recorded is quoted as data.
    """
    way = way or (_RUN if client and not as_json and _at_terminal() else _PRINT)
    if way != _PRINT and client is None:
        raise click.UsageError(f"which client goes on? --to {', --to '.join(CLIENTS)}")
    if way == _RUN and (as_json or not _at_terminal()):
        raise click.UsageError("--run needs a terminal of its own: use --pane or --print")
    if project and episode != LAST:
        raise click.UsageError("--project goes with last: an episode belongs to one project")
    with terminal.reading() as db:
        made = brief.brief(db, _episode(db, episode, project))
    if way != _PRINT and hand.folder(made) != made.cwd:
        click.echo("the folder of the work is not here: it starts in the current one", err=True)
    if way == _PRINT:
        _print(made, client, as_json)
    elif way == _RUN:
        sys.stdout.flush()
        hand.here(str(client), made)
    else:
        started = hand.pane(str(client), made)
        if as_json:
            click.echo(to_json({**_shape(made, client), "pane": started.pane, "attach": list(started.attach)}))
        else:
            click.echo(f"{client} goes on with episode/{made.episode} in pane {started.pane}: {started.command}")


def _episode(db: Connection, given: str, project: str) -> int:
    """The number of an episode that is named as everywhere, or `last`. Raises NmemError."""
    if given == LAST:
        return own_newest_episode(db, project)
    if given.startswith("session/"):
        raise click.UsageError(f"{terminal.named(given)} is a session: name an episode of it, `nmem show` lists them")
    try:
        return terminal.EPISODE(given)
    except click.UsageError as error:
        raise click.UsageError(f"{error.message}, or last") from None


def _print(made: Brief, client: str | None, as_json: bool) -> None:
    if as_json:
        click.echo(to_json(_shape(made, client)))
        return
    click.echo("\n".join(terminal.wrapped(line) for line in lines(made.text)))
    if made.left_out:
        click.echo(f"({terminal.count(made.left_out, 'sentence')} had no room)", err=True)


def _shape(made: Brief, client: str | None) -> dict[str, object]:
    return {"episode": made.episode, "to": client, "tokens": made.tokens, "left_out": made.left_out,
            "folder": made.cwd, "brief": made.text}  # fmt: skip


def _at_terminal() -> bool:
    return sys.stdin.isatty() and terminal.is_terminal()
