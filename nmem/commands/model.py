"""`nmem model`: shows which language model writes stories, and its cost; selects one, or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from sqlite3 import Connection

import click

from nmem.commands import terminal
from nmem.llm import chosen
from nmem.llm.chosen import installed, standing, switch
from nmem.text import printable, to_json


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """Show who writes the stories, a model or none, and the cost."""
    if context.invoked_subcommand is not None:
        return

    with terminal.reading("models") as db:
        found = standing(db)
    offers = installed()
    if as_json:
        told = {**asdict(found), "used": found.used, "sentence": found.sentence(), "offers": offers}
        click.echo(to_json(told))
        return
    click.echo(printable(found.sentence()))
    for problem in found.problems:
        click.echo(printable(problem))
    if found.used:
        click.echo(f"the day's cap covers {found.sessions_a_day} sessions; `nmem model off` stops asking")
    else:
        for one in offers:
            click.echo(f"nmem model use {one.name}: {costs(found.session_tokens)}")


def costs(tokens: int) -> str:
    """What asking a client costs, in one line."""
    return f"about {tokens:,} tokens a session of your own account there, one question when a session is over"


@command.command()
@click.argument("client", metavar="CLIENT", type=click.Choice(["claude", "codex", "gemini"]))
@click.option("--model", default="", help="Use this model; default: the client's small one.")
def use(client: str, model: str) -> None:
    """Ask your own client from now on, with a small model."""
    one = chosen.offer(client)
    change(partial(chosen.use, one=one, model=model))
    name = " ".join((*one.command, model or one.model)).strip()
    click.echo(f"{printable(name)} is asked from now on: {costs(chosen.ESTIMATED)}; `nmem model off` stops it")


def change(made: Callable[[Connection | None, int], None]) -> None:
    """Change which model is asked, so that `nmem undo` takes it back; also where no database can keep that."""
    with terminal.kept() as db:
        made(db, terminal.now())


@command.command()
def off() -> None:
    """Ask no model, whatever is set up or found; its stories stay."""
    change(partial(switch, on=False))
    click.echo("no model is asked any more; `nmem model on` asks again")


@command.command()
def on() -> None:
    """Ask the configured model, or one found on this machine, again."""
    change(partial(switch, on=True))
    click.echo("a model may be asked again: `nmem model` shows which")
