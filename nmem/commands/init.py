"""`nmem init`: adds nmem's hooks and tools to the clients' settings, after showing the change."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import click

from capture import install, paths
from capture.clients import CLIENTS
from capture.install import Plan, SettingsError, beside, installed, registered, status_line, targets
from capture.install.beside import Beside
from nmem import settings_diff, setup
from nmem.commands.model import change, costs
from nmem.doctor import registrations
from nmem.doctor.checks import switches
from nmem.errors import NmemError
from nmem.llm import chosen as models
from nmem.mcp import registration
from nmem.settings import file
from nmem.text import printable

EXPERIMENTAL = ", ".join(f"{name} ({targets.title(name)})" for name in targets.experimental())


def plans(
    clients: tuple[str, ...], scope: str, folder: str, db: str, line: str = status_line.WRAP, tools: bool = True
) -> tuple[list[Plan], list[str]]:
    """One plan a client, and one line for each that cannot be had."""
    made, refused = [], []
    server = registration.server() if tools else None
    for client in clients:
        try:
            target = targets.target(client, scope, folder)
            made.append(install.plan_install(target, db, setup.pinned(), line, server))
        except (SettingsError, targets.NoSuchScope) as error:
            refused.append(str(error))
    return made, refused


def chosen(named: tuple[str, ...]) -> tuple[str, ...]:
    """The clients that were named, else every one that is found.

    Raises NmemError when there is none.
    """
    clients = tuple(dict.fromkeys(named)) or tuple(name for name in CLIENTS if targets.found(name))
    if not clients:
        looked = ", ".join(targets.home(name) for name in CLIENTS)
        raise NmemError(f"no coding client was found (looked for {looked}); name one with --client")
    return clients


def _plugin_folder(context: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(str(registration.plugin()))
        context.exit()


@click.command("init", epilog=f"Experimental, written from documentation only: {EXPERIMENTAL}.")
@click.option("--client", "clients", multiple=True, type=click.Choice(CLIENTS), metavar="NAME",
              help=f"One of {', '.join(CLIENTS)}; may be given several times. Default: every client that is found. "
                   f"Experimental: {', '.join(targets.experimental())}.")  # fmt: skip
@click.option("--scope", type=click.Choice(targets.SCOPES), default=targets.USER, show_default=True,
              help="Settings of the user, of the project in this folder, "
                   "or of this project for you alone (local).")  # fmt: skip
@click.option("--status-line", "line", flag_value=status_line.ADD,
              help="Add a status line to Claude Code if you have none: window, use and cost.")  # fmt: skip
@click.option("--no-status-line", "line", flag_value=status_line.OFF,
              help="Leave your status line alone. Default: it keeps running, and nmem reads its input.")  # fmt: skip
@click.option("--no-mcp", is_flag=True, help="Hooks only: no tools for the agent, and no skill.")
@click.option("--plugin", is_flag=True, is_eager=True, expose_value=False, callback=_plugin_folder,
              help="Print the folder of the plugin for Claude Code, and do nothing else.")  # fmt: skip
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def command(clients: tuple[str, ...], scope: str, line: str | None, no_mcp: bool, yes: bool, dry_run: bool) -> None:
    """Connect nmem to your coding clients.

    Shows the change to each settings file and asks. Your own hooks, comments and formatting stay as they are; a copy of
    the original lies beside the memory, and `nmem uninstall` gives it back.
    """
    db = paths.database()
    here = str(Path.cwd())
    clients, brought = _without_plugin(chosen(clients), here)
    made, refused = plans(clients, scope, here, db, line or status_line.WRAP, not no_mcp)
    tools = [] if no_mcp else _tools(clients, scope, here, db)
    asks = not (yes or dry_run)
    for plan in [*made, *tools]:
        if not (asks and plan.changes):  # what is asked about is shown right before its question
            settings_diff.show(plan, short=yes)
    wanted = [] if dry_run else [plan for some in _asked(made, tools) if yes or _agreed(some) for plan in some]
    made += tools
    if wanted or ((made or brought) and not dry_run and not any(plan.changes for plan in made)):
        for note in setup.prepare(db):
            click.echo(f"note: {note}", err=True)
    refused += _write(wanted, db)
    if not dry_run:
        _remember(made, db)
        registration.renew(db, here)
    for note in chain(brought, *(notes(plan, here) for plan in made)):
        click.echo(note)
    _offer_model(asked=asks and bool(wanted))
    if setup.fleeting(registered.entry()):
        click.echo(
            f"note: {registered.entry()} is in a folder that is cleared by and by: install nmem to stay, as pipx or"
            " `uv tool install` does, then init again",
            err=True,
        )
    if not dry_run and any(plan.changes for plan in wanted):
        click.echo(f"The memory is {db}.")
        click.echo(
            "Next: begin a session of your client, with nmem tui beside it. nmem doctor tries every hook, nmem import "
            "loads past sessions, nmem completion --help has your shell complete nmem's words."
        )
    _refuse(refused)


def _without_plugin(clients: tuple[str, ...], folder: str) -> tuple[tuple[str, ...], list[str]]:
    """The clients to connect, and why Claude Code is not: its plugin brings all that would be registered.

    Where init's own hooks stand already they stay, and are brought up to date: the plugin's stand back.
    """
    name = registration.plugged() if "claude" in clients else ""
    if not name or any(registrations.all_of("claude", folder)):
        return clients, []
    said = f"Claude Code: the plugin {printable(name)} brings hooks, tools and skills: nothing else is registered."
    return tuple(each for each in clients if each != "claude"), [said]


def _offer_model(*, asked: bool) -> None:
    """Offer the person's own client as the model that tells stories; not again where a model was set or refused."""
    found = models.installed() if asked else []
    if not found or {"command", "base_url", "enabled"} & set(file.table("llm")):
        return
    for one in found:
        name = " ".join((*one.command, one.model)).strip()
        click.echo(f"{name} could write the stories of sessions: {costs(models.ESTIMATED)}.")
        if click.confirm(f"Ask {one.name} for stories? Otherwise nmem writes them from the records", default=False):
            change(partial(models.use, one=one))
            click.echo("`nmem model off` stops that.")
            return


def _tools(clients: tuple[str, ...], scope: str, folder: str, db: str) -> list[Plan]:
    """The plans for tools and skill; what cannot be had of them keeps no hook from being registered."""
    made, left = registration.plans(clients, scope, folder, db)
    for said in [*left, *registration.left_out(clients, scope)]:
        click.echo(f"note: {said}", err=True)
    return made


def _refuse(refused: list[str]) -> None:
    """Say what could not be done, and fail if there was anything."""
    for said in refused[:-1]:
        click.echo(f"nmem: {said}", err=True)
    if refused:
        raise NmemError(refused[-1])


def _remember(made: list[Plan], db: str) -> None:
    """A status line that is to be left alone is left alone the next time, also where nothing had to be written."""
    for plan in made:
        if plan.record.no_line and not plan.changes:
            install.install(plan, db)


def _asked(made: list[Plan], tools: list[Plan]) -> Iterator[list[Plan]]:
    """What is asked about at once: each file of hooks, and all that gives one client its tools."""
    yield from ([plan] for plan in made if plan.changes)
    changed = [plan for plan in tools if plan.changes]
    for client in dict.fromkeys(plan.target.client for plan in changed):
        yield [plan for plan in changed if plan.target.client == client]


def _agreed(some: list[Plan]) -> bool:
    """Show what would change in some files, and ask."""
    for plan in some:
        settings_diff.show(plan, short=True)
    return click.confirm(f"Write {' and '.join(plan.target.path for plan in some)}?", default=True)


def _write(wanted: list[Plan], db: str) -> list[str]:
    refused = []
    for plan in wanted:
        target = plan.target
        try:
            (beside if isinstance(target, Beside) else install).install(plan, db)
        except SettingsError as error:
            refused.append(str(error))
            continue
        what = f"the {target.holds} is" if isinstance(target, Beside) else "hooks are"
        click.echo(f"{targets.title(target.client)}: {what} in {target.path}")
        if plan.before is not None and not isinstance(target, Beside):
            click.echo(f"  a copy of the original is in {installed.folder(db)}")
    return refused


def notes(plan: Plan, folder: str) -> list[str]:
    """What the user should know about one client's hooks, one line each."""
    target = plan.target
    if isinstance(target, Beside):
        return registration.notes(target)
    out = []
    if target.client == "codex":
        out.append("Codex runs a hook only once you trust it: start codex, type /hooks and trust nmem's.")
    if target.scope == targets.PROJECT:
        local = " (--scope local is for you alone)" if target.client in ("claude", "droid") else ""
        out.append(
            f"{target.path} names this machine's {registered.interpreter()}: keep it out of version control{local}."
        )
    if target.client == "droid" and (Path(targets.home("droid")) / "hooks.json").exists():
        out.append("Droid ignores hooks in settings.json while hooks.json exists: move one into the other.")
    out += _about_line(plan)
    if target.client == "claude" and (name := printable(registration.plugged())):
        out.append(
            f"The plugin {name} brings tools and skills once more: `claude plugin disable {name}` keeps one of each."
        )
    if target.client in ("claude", "gemini"):
        check = switches.claude if target.client == "claude" else switches.gemini
        out += [f"warning: {found.evidence}; to mend it: {found.mend}" for found in check(folder)]
    out += [
        f"{targets.title(target.client)} has nmem's hooks in {path} too: each event comes twice and is stored once."
        for path in registrations.elsewhere(target, folder)
    ]
    return out


def _about_line(plan: Plan) -> list[str]:
    """What becomes of the client's status line, once it is changed, and that there could be one."""
    if plan.target.client not in status_line.CLIENTS or plan.after is None:
        return []
    _, before = status_line.present(install.text_of(plan.before), plan.target)
    command, after = status_line.present(install.text_of(plan.after), plan.target)
    if before is None and after is not None and after.own is not None:
        return ["Your status line runs as before, and nmem reads along (--no-status-line leaves it alone)."]
    if command is None and plan.changes and not plan.record.no_line:
        return [
            "Window sizes come from the transcript; --status-line shows a line of nmem's, which is told them exactly."
        ]
    return []
