"""`nmem backup` and `nmem restore`: copy the memory while sessions go on, and replace it by a copy."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict

import click

from capture import paths
from nmem import database
from nmem.backup import copying, places, take
from nmem.backup.copying import rescue
from nmem.commands import terminal
from nmem.errors import NmemError
from nmem.sealing import BY_PASSPHRASE, Keys, form
from nmem.settle_start import start
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

    keys = Keys(recipients, asked(confirm=True) if passphrase else "")
    with progress("Copying") as told:
        made = take.backup(paths.database(), file, keys if keys.any else None, keep, told)
    for note in made.notes:
        click.echo(f"nmem: {printable(note)}", err=True)
    if as_json:
        click.echo(to_json(made))
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
    with terminal.progress_bar() as bar:
        task = bar.add_task(what, total=None, visible=False)
        yield lambda done, all_: bar.update(task, completed=done, total=all_, visible=all_ >= _LARGE)


def _list(*, as_json: bool) -> None:
    place = places.folder(paths.database())
    found = places.kept(place)
    if as_json:
        click.echo(to_json({"folder": str(place), "backups": found}))
        return
    for one in found:
        what = "before a restore" if one.before_restore else "encrypted" if one.encrypted else ""
        click.echo("\t".join((printable(one.path), f"{one.bytes / 1e6:,.1f} MB", what)).rstrip())
    if not found:
        click.echo(f"no backup in {printable(str(place))}")


@click.command()
@click.argument("file", type=click.Path(dir_okay=False), required=False)
@click.option("--rescue", is_flag=True, help="Without FILE: recover what is readable in the damaged database.")
@click.option("--dry-run", is_flag=True, help="Check the backup and show its contents; change nothing.")
@click.option(
    "--identity", "identities", multiple=True, metavar="FILE", help="Your secret key: an age key, or an SSH key."
)
@click.option("--passphrase", is_flag=True, help="The backup has a passphrase; asked for anyway if needed.")
@click.option("--with-settings", is_flag=True, help="Restore config.toml from the backup, too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def restore_(
    file: str | None, rescue: bool, dry_run: bool, identities: tuple[str, ...], passphrase: bool, with_settings: bool,
    yes: bool, as_json: bool,
) -> None:  # fmt: skip
    """Make the memory what FILE says. What is there now is kept as a backup first.

    Sessions and cockpits may stay open: they see the old rows or the new ones, and what hooks record meanwhile waits
    and is stored afterwards.
    """
    if rescue != (file is None):
        raise click.UsageError("give either a backup or --rescue")
    if rescue:
        _rescued(identities, passphrase, with_settings, dry_run, yes, as_json)
    else:
        assert file is not None
        _restored(file, identities, passphrase, with_settings, dry_run, yes, as_json)


def _rescued(
    identities: tuple[str, ...], passphrase: bool, with_settings: bool, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Put what can be read of a damaged database in its place."""
    path = paths.database()
    if not database.exists(path):
        raise NmemError(f"nothing is recorded yet at {path}: nothing to rescue")
    with take.scratch(path) as folder:
        work = folder / "rescued.db"
        try:
            said = rescue(path, work).told()
        except (sqlite3.Error, OSError) as error:
            raise NmemError(f"{path} could not be rescued, and is unchanged: {error}") from None
        click.echo(said, err=as_json)
        _restored(str(work), identities, passphrase, with_settings, dry_run, yes, as_json)


def _restored(
    file: str, identities: tuple[str, ...], passphrase: bool, with_settings: bool, dry_run: bool, yes: bool,
    as_json: bool,
) -> None:  # fmt: skip
    from nmem.backup.restore import restore  # on use: start-up stays short

    try:
        sealed = form(file) == BY_PASSPHRASE
    except OSError as error:
        raise NmemError(f"{file}: {error.strerror}") from None
    keys = Keys(identities, asked(confirm=False) if sealed or passphrase else "")
    if not (dry_run or yes or as_json):
        seen = restore(paths.database(), file, keys, dry=True)
        click.echo(f"The backup holds {rows(seen.rows)}")
        click.echo(f"Now there are    {rows(seen.before)}")
        if not terminal.is_terminal():
            raise NmemError("nothing was changed: --yes restores it, --dry-run previews")
        click.confirm("Restore it?", abort=True)
    with progress("Restoring") as told:
        done = restore(paths.database(), file, keys, dry=dry_run, with_settings=with_settings, progress=told)
    if as_json:
        click.echo(to_json({**asdict(done), "dry_run": dry_run}))
        return
    if dry_run:
        click.echo(f"{printable(file)} is whole and can be restored")
        click.echo(f"It holds      {rows(done.rows)}")
        click.echo(f"Now there are {rows(done.before)}")
        return
    click.echo(f"restored: {rows(done.rows)}, {done.seconds:.1f} s")
    for note in done.notes:
        click.echo(printable(note))
    if done.kept:
        click.echo(f"the previous database is kept as {printable(done.kept)}: nmem restore brings it back")

    start(paths.database())
