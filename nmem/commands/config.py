"""`nmem config`: lists, gets, sets and checks settings."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from capture import paths
from nmem.commands import terminal
from nmem.errors import NmemError
from nmem.retention import policy
from nmem.settings import file, given
from nmem.settings.check import dotted, nearest
from nmem.settings.declared import find
from nmem.settings.file import Config
from nmem.settings.kinds import Setting
from nmem.settings.listing import Standing, standing, standing_of
from nmem.store import changed_settings
from nmem.text import printable, to_json

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")


@click.group(invoke_without_command=True)
@_JSON
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """Settings, all in one file: config.toml."""
    if context.invoked_subcommand is None:
        _list(as_json=as_json)
    elif as_json:
        raise click.UsageError("--json goes after the subcommand")


@command.command("list")
@_JSON
@click.option("--yours", is_flag=True, help="Only settings that you changed.")
def list_(*, as_json: bool, yours: bool) -> None:
    """List every setting: name, value, whether you changed it, and its meaning."""
    _list(as_json=as_json, yours=yours)


@command.command()
@click.argument("name")
@_JSON
def get(name: str, *, as_json: bool) -> None:
    """Print the current value of one setting. A key is shown as (hidden); config.toml holds it."""
    path, setting = _known(name)
    config = file.read()
    found = standing_of(setting, dotted(path), file.value(config.document, path))
    told = next((fault for fault in config.faults() if fault.name in ("", dotted(path))), None)
    if told is not None:
        click.echo(f"nmem: {config.told(told)}; using the default", err=True)
    if as_json:
        click.echo(to_json({"name": found.name, "value": found.value, "yours": found.yours}))
    else:
        click.echo(_shown(found.value))


@command.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("value", nargs=-1, required=True, type=click.UNPROCESSED)
def set_(name: str, value: tuple[str, ...]) -> None:
    """Set one setting; comments and the order of the file stay as they are. `nmem undo` takes it back, but
    for what may be a secret.

    A list takes its members one by one, or as TOML writes it: nmem config set context.off shop blog
    """
    path, setting = _known(name)
    new = given.value(setting, value)
    _change(path, new)
    click.echo(f"{dotted(path)} is {'set' if setting.secret else _shown(new)}")


@command.command()
@click.argument("name")
def unset(name: str) -> None:
    """Remove one setting from the file: the default applies again. Also one that nobody knows."""
    path = given.path(name)
    _change(path, None)
    setting = find(path)
    click.echo(f"{dotted(path)} is unset" + (f": {_shown(setting.default)}" if setting else ""))


@command.command()
@_JSON
def check(*, as_json: bool) -> None:
    """Check the file: one line per fault, and exit status 1."""
    config = file.read()
    found = config.faults()
    strange = policy.recorded()
    found += [one.fault for one in strange if one.nearest]
    if as_json:
        data = {"path": config.path, "ok": not found, "faults": [{**asdict(one), "text": str(one)} for one in found]}
        click.echo(to_json(data))
    else:
        for one in found:
            click.echo(config.told(one))
        for one in (each.fault for each in strange if not each.nearest):
            click.echo(config.told(one))
        if not found:
            click.echo(f"{printable(config.path)}: " + ("no errors" if config.exists else "no file: all defaults"))
    if found:
        raise click.exceptions.Exit(1)


@command.command("path")
def path_() -> None:
    """Print where the file is, or would be."""
    click.echo(paths.config())


@command.command()
def edit() -> None:
    """Open the file in $VISUAL or $EDITOR, and check it afterwards."""
    config = file.read()
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    paths.make(paths.folder(config.path))
    if not config.exists:
        os.close(os.open(config.path, os.O_CREAT | os.O_WRONLY, 0o600))
    try:
        done = subprocess.run([*words, config.path], check=False)
    except OSError as error:
        raise NmemError(f"{words[0]} cannot be started ({error.strerror}): set EDITOR, or edit {config.path}") from None
    if done.returncode:
        raise NmemError(f"{words[0]} exited with {done.returncode}")
    if Path(config.path).is_file() and not Path(config.path).is_symlink():
        Path(config.path).chmod(0o600)
    config = file.read()
    found = config.faults()
    for one in found:
        click.echo(config.told(one))
    if found:
        raise NmemError("faulty settings are ignored, redaction stays on: nmem config edit")
    click.echo("no errors")


def _known(name: str) -> tuple[tuple[str, ...], Setting]:
    path = given.path(name)
    setting = find(path)
    if setting is None:
        raise NmemError(f"{printable(name)} is not known{nearest(path)}")
    return path, setting


def _change(path: tuple[str, ...], new: object) -> None:
    """Write a setting, so that `nmem undo` takes it back, and tell other mistakes in a file that was written."""
    with terminal.kept() as db:
        found, kept = changed_settings.put(db, path, new, terminal.now())
    if db is not None and not kept:
        said = "nmem keeps no former value of keys, redaction, unknown settings and values that look secret"
        click.echo(f"nmem: `nmem undo` does not take this back: {said}", err=True)
    config = file.read()
    for one in found:
        click.echo(f"nmem: {config.told(one)}", err=True)
    if path[0] == "redaction" and {"words", "patterns", "sensitivity"} & set(path) and new is not None:
        click.echo("nmem: the setting holds for new records; stored ones stay as they are until you run `nmem redact"
                   " --history`, which shows what it would remove, and asks", err=True)  # fmt: skip


def _list(*, as_json: bool, yours: bool = False) -> None:
    config = file.read()
    rows = [row for row in standing(config) if row.yours or not yours]
    found = config.faults()
    if as_json:
        data = {"path": config.path, "settings": rows,
                "faults": [config.told(one) for one in found]}  # fmt: skip
        click.echo(to_json(data))
        return
    for one in found:
        click.echo(f"nmem: {config.told(one)}", err=True)
    if rows:
        _table(config, rows)
    else:
        click.echo(f"nothing is set in {printable(config.path)}: all defaults")


def _table(config: Config, rows: Sequence[Standing]) -> None:
    if not terminal.is_terminal():
        for row in rows:
            whose = "yours" if row.yours else "default"
            click.echo("\t".join((row.name, _shown(row.value), whose, row.meaning)))
        return
    from rich.console import Console  # on use: start-up stays short
    from rich.table import Table  # on use: start-up stays short
    from rich.text import Text  # on use: start-up stays short

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("setting", "value", "", "meaning"):
        table.add_column(Text(head, "bold"), justify="left", overflow="fold")
    for row in rows:
        style = "bold" if row.yours else ""
        said = Text("yours" if row.yours else "default", "" if row.yours else "dim")
        table.add_row(Text(row.name, style), Text(_shown(row.value), style), said, Text(row.meaning))
    console = Console(highlight=False)
    console.print(table)
    console.print(Text(printable(config.path) + ("" if config.exists else " (not there yet)"), "dim"))


def _shown(value: object) -> str:
    """A value on one line."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple | dict):
        return printable(to_json(value))
    return printable(str(value)) or '""'
