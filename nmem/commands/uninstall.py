"""`nmem uninstall`: removes nmem's hooks and tools from the settings; the memory stays."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from capture import install, paths
from capture.clients import CLIENTS
from capture.install import Plan, SettingsError, beside, installed, targets
from capture.install.beside import Beside
from capture.install.targets import Target
from nmem import settings_diff
from nmem.errors import NmemError
from nmem.mcp import registration
from nmem.text import printable


def places(clients: tuple[str, ...], scopes: tuple[str, ...], folder: str, db: str) -> list[Target]:
    """Every file that may hold anything of nmem's: of the user, of this project, and what init wrote elsewhere."""
    found: list[Target] = []
    for client in clients:
        found += [*beside.everywhere(client, folder), *targets.targets(client, folder)]
    found += [beside.of(one) or Target(one.client, one.scope, one.path) for one in installed.everything(db)]
    found.sort(key=lambda target: not isinstance(target, Beside))  # skills lie in folders that were made for hooks
    out: dict[str, Target] = {}
    for target in found:
        if target.client in clients and target.scope in scopes:
            out.setdefault(target.path, target)
    return list(out.values())


@click.command("uninstall")
@click.option("--client", "clients", multiple=True, type=click.Choice(CLIENTS), metavar="NAME",
              help=f"One of {', '.join(CLIENTS)}; may be given several times. Default: all.")  # fmt: skip
@click.option("--scope", type=click.Choice(targets.SCOPES), help="Only settings of this scope. Default: all.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def command(clients: tuple[str, ...], scope: str | None, yes: bool, dry_run: bool) -> None:
    """Take nmem's hooks and tools out of your clients' settings; the memory itself stays.

    A file that nothing else changed since becomes what it was, to the byte; otherwise only nmem's entries go.
    """
    db = paths.database()
    scopes = (scope,) if scope else targets.SCOPES
    refused: list[str] = []
    plans = _plans(places(clients or CLIENTS, scopes, str(Path.cwd()), db), db, refused, dry_run)
    if not plans and not refused:
        click.echo("No hooks of nmem's were found.")
    for plan in plans:
        settings_diff.show(plan, short=not dry_run)
        if not dry_run and (yes or click.confirm(f"Write {plan.target.path}?", default=True)):
            _write(plan, db, refused)
    if not dry_run and Path(db).exists():
        registration.renew(db, str(Path.cwd()))
    if name := printable(registration.plugged()):
        click.echo(f"Claude Code's plugin {name} goes on recording: `claude plugin uninstall {name}` removes it.")
    _memory(db)
    if refused:
        raise NmemError("; ".join(refused))


def _plans(found: list[Target], db: str, refused: list[str], dry_run: bool) -> list[Plan]:
    """What changes; a file in the home that this one is a copy of is named and left alone."""
    plans: list[Plan] = []
    for target in found:
        try:
            plan = _plan(target, db)
        except SettingsError as error:
            refused.append(str(error))
            continue
        home = installed.elsewhere(db, target.path)
        if home and plan.changes:
            click.echo(f"{target.path} belongs to the home {home}, which this one is a copy of: left unchanged")
        elif plan.changes:
            plans.append(plan)
        elif not home and not dry_run:
            installed.forget(db, target.path)
    return plans


def _plan(target: Target, db: str) -> Plan:
    return beside.plan_uninstall(target, db) if isinstance(target, Beside) else install.plan_uninstall(target, db)


def _write(plan: Plan, db: str, refused: list[str]) -> None:
    try:
        install.uninstall(plan, db)
    except SettingsError as error:
        refused.append(str(error))
        return
    holds = f"no {plan.target.holds}" if isinstance(plan.target, Beside) else "no hooks"
    done = "was removed: nmem had made it" if plan.after is None else f"has {holds} of nmem's any more"
    click.echo(f"{targets.title(plan.target.client)}: {plan.target.path} {done}")


def _memory(db: str) -> None:
    """Say where the memory is, and how to be rid of it."""
    if not Path(db).exists():
        return
    folder = Path(paths.folder(db))
    own = folder.name == "nmem"
    beside = (db + "-wal", db + "-shm", paths.spool(db), paths.cache(db), paths.log(db), installed.folder(db))
    names = [str(folder)] if own else [name for name in (db, *beside) if Path(name).exists()]
    click.echo(f"The memory stays in {db}. To delete it: rm -rf {shlex.join(names)}")
