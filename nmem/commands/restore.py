"""`nmem restore`: replaces the memory by a backup, and keeps the replaced one."""

from __future__ import annotations

from dataclasses import asdict

import click

from capture import paths
from nmem.commands import terminal
from nmem.commands.backup import asked, progress, rows
from nmem.errors import NmemError
from nmem.sealing import BY_PASSPHRASE, Keys, form
from nmem.text import printable, to_json


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
def command(
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
    import sqlite3

    from nmem import database
    from nmem.backup import take
    from nmem.backup.rescue import rescue

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
    from nmem.backup.restore import restore

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
    from nmem.settle_start import start

    start(paths.database())
