"""`nmem backup`: makes a consistent copy of the memory while sessions go on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict

import click

from capture import paths
from nmem.backup import copying
from nmem.commands import terminal
from nmem.sealing import Keys
from nmem.text import printable, to_json

VARIABLE = "NMEM_BACKUP_PASSPHRASE"
_WORDS = {
    "sessions": "session", "prompts": "prompt", "observations": "observation", "work_units": "episode",
    "threads": "thread", "learnings": "learning", "corrections": "correction", "tasks": "task",
}  # fmt: skip
_LARGE = 5_000
"""Pages from which a person wants to see how far it is."""


@click.command()
@click.argument("file", required=False, default="", metavar="[FILE]")
@click.option(
    "--encrypt",
    "recipients",
    multiple=True,
    metavar="KEY",
    help="Encrypt to an age or SSH public key, or a file of keys.",
)
@click.option("--passphrase", is_flag=True, help=f"Encrypt with a passphrase: asked for, or in {VARIABLE}.")
@click.option("--keep", type=click.IntRange(0, 10_000), metavar="N", help="Keep the newest N of the folder; 0: all.")
@click.option("--list", "listing", is_flag=True, help="List the backups in the folder, and make none.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    file: str, recipients: tuple[str, ...], passphrase: bool, keep: int | None, listing: bool, as_json: bool
) -> None:
    """Copy everything recorded into one file, whole and as it is at one moment; hooks go on meanwhile.

    Without FILE it goes into the folder `backups` beside the database. It holds the database, what waits in the spool,
    your own models, and your settings without a model's key.
    """
    if listing:
        _list(as_json=as_json)
        return
    if recipients and passphrase:
        raise click.UsageError("--encrypt and --passphrase do not go together")
    from nmem.backup.take import backup

    keys = Keys(recipients, asked(confirm=True) if passphrase else "")
    with progress("Copying") as told:
        made = backup(paths.database(), file, keys if keys.any else None, keep, told)
    for note in made.notes:
        click.echo(f"nmem: {printable(note)}", err=True)
    if as_json:
        click.echo(to_json(asdict(made)))
        return
    sealed = ", encrypted" if made.encrypted else ""
    click.echo(f"{printable(made.path)}: {made.bytes / 1e6:,.1f} MB{sealed}, every page whole, {made.seconds:.1f} s")
    click.echo(f"It holds {rows(made.rows)}")
    for path in made.removed:
        click.echo(f"removed: {printable(path)}")


def rows(found: Mapping[str, int]) -> str:
    """Counts as a person reads them."""
    said = [terminal.count(found[name], word) for name, word in _WORDS.items() if found.get(name)]
    others = sum(number for name, number in found.items() if name not in _WORDS)
    return ", ".join(said + ([f"{terminal.count(others, 'other row')}"] if others else [])) or "no rows"


def asked(*, confirm: bool) -> str:
    """The passphrase, from the environment or the person."""
    given = os.environ.get(VARIABLE, "")
    if not given and not sys.stdin.isatty():
        raise click.UsageError(f"no terminal to ask for the passphrase: put it in {VARIABLE}")
    found = given or str(click.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm, err=True))
    if not found:
        raise click.UsageError("the passphrase must not be empty")
    return found


@contextmanager
def progress(what: str) -> Iterator[copying.Progress]:
    """A bar on a terminal, where it is worth one."""
    if not terminal.is_terminal():
        yield copying.nothing
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, visible=False)
        yield lambda done, all_: bar.update(task, completed=done, total=all_, visible=all_ >= _LARGE)


def _list(*, as_json: bool) -> None:
    from nmem.backup import places

    place = places.folder(paths.database())
    found = places.kept(place)
    if as_json:
        click.echo(to_json({"folder": str(place), "backups": [asdict(one) for one in found]}))
        return
    for one in found:
        what = "before a restore" if one.before_restore else "encrypted" if one.encrypted else ""
        click.echo("\t".join((printable(one.path), f"{one.bytes / 1e6:,.1f} MB", what)).rstrip())
    if not found:
        click.echo(f"no backup in {printable(str(place))}")
