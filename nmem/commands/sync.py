"""`nmem sync`: shares facts of chosen projects with a team, or with your other machine, through a PostgreSQL server."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from capture import paths
from capture.redaction import outward
from nmem.commands import sync_members, terminal
from nmem.errors import NmemError
from nmem.store import project as known
from nmem.team import config, local, server, sync, wire
from nmem.team.config import Membership
from nmem.teammates.live import state
from nmem.teammates.members import FAILING, NO_TEAM, PAUSED
from nmem.text import json_object, printable, to_json

if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.team.sync import Pass

_WAITS = 120.0
"""Seconds for which a pass that is under way is waited for."""


@click.group()
def command() -> None:
    """Share episodes, decisions, accepted learnings and recall entries with a team.

    Redacted rows of the projects that you choose leave, nothing else; what you purge is taken back everywhere. Passes
    run in the background after sessions; hooks and the cockpit never wait for the server.
    """


sync_members.add_members(command)


@command.command()
@click.argument("url")
@click.option("--team", required=True, metavar="NAME", help="The team: small letters, digits and _.")
@click.option("--as", "member", default="", metavar="MEMBER", help="Your name in the team.")
@click.option("--project", "named", multiple=True, metavar="PROJECT", help="Share this project; may be repeated.")
@click.option("--admin", is_flag=True, help="Set the server up instead: schema, roles, members.")
@click.option("--admit", multiple=True, metavar="LOGIN=MEMBER", help="With --admin: let a login of the server in.")
def init(url: str, team: str, member: str, named: tuple[str, ...], admin: bool, admit: tuple[str, ...]) -> None:
    """Join a team on the server at URL (postgresql://LOGIN:PASSWORD@HOST/DATABASE; - reads it from standard input).

    With --admin the login must be allowed to create roles and schemas; then the server is set up and no more.
    """
    wire.team(team)
    address = config.address(sys.stdin.readline().strip() if url == "-" else url)
    if admin:
        _set_up(Membership(team, "admin", address, ""), admit)
        return
    if admit:
        raise click.UsageError("--admit goes with --admin")
    if not member:
        raise click.UsageError("--as MEMBER is needed: your name in the team")
    _join(Membership(team, wire.member(member), address, ""), named)


def _set_up(there: Membership, admit: tuple[str, ...]) -> None:
    wire.driver()
    admitted = dict(each.partition("=")[::2] for each in admit)
    if not all(admitted.values()):
        raise click.UsageError("--admit takes LOGIN=MEMBER")
    _warn(there)
    done = server.prepare(there.server, there.team, admitted)
    click.echo("\n".join(map(printable, done)) or "the server is set up already")
    click.echo(f"members join with `nmem sync init URL --team {there.team} --as MEMBER`", err=True)


def _join(us: Membership, named: tuple[str, ...]) -> None:
    _warn(us)
    with terminal.writing() as db:
        chosen = [_chosen(db, each, "") for each in named]
        with server.connected(us.server) as remote:
            who = server.Server(remote, us.team).me()
        if who != us.member:
            raise NmemError(f"the server knows this login as {printable(who)}: say --as {printable(who)}")
        device = state(db, "device") or config.machine()
        before = None
        with suppress(NmemError):  # a damaged file is written anew
            before = config.load()
        if before and before.team != us.team:
            local.leave(db)
        local.join(db, us.member, device)
        config.save(replace(us, device=device))
        for number, name in chosen:
            local.share(db, us.team, number, name, terminal.now())
        shared = [each.shared_as for each in local.projects(db, us.team)]
    click.echo(f"{us.member} is in team {us.team}, at {us.place}")
    click.echo(f"shared: {printable(', '.join(shared))}" if shared else "nothing is shared: `nmem sync share PROJECT`")
    click.echo("`nmem sync now` begins; from then on it runs by itself after sessions", err=True)


def _warn(us: Membership) -> None:
    if us.warning:
        click.echo(f"warning: {us.warning}", err=True)


def _chosen(db: Connection, named: str, called: str) -> tuple[int, str]:
    """A project's number, resolved now and never again, and what the team calls it. Raises NmemError."""
    found = _meant(db, named)
    remote = local.remote(db, found.id)
    name = called or remote
    if not called and (not remote or remote.startswith(("/", ".", "~")) or ":" in remote or "\\" in remote):
        said = f"{printable(found.name)} has no remote by which others know it"
        raise NmemError(f"{said}: `nmem sync share {printable(named)} --called NAME`, the same NAME for everybody")
    if len(name) > 300:
        raise NmemError("the name is too long: 300 characters at most")
    if outward(name) != name:
        raise NmemError("the name holds something that is redacted: give another with --called")
    return found.id, name


def _meant(db: Connection, named: str) -> known.Known:
    """The project of a key, a root, or a name that no other has: what is shared is never guessed. Raises NmemError."""
    found = known.meant(db, named)
    if found is None:
        raise known.unknown(db, named)
    return found


@command.command("now")
@click.option("--quiet", is_flag=True, help="In the background: print nothing, yield to others, log errors.")
@click.option("--db", "db_path", default="", help="Use another database file.", hidden=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def now_(quiet: bool, db_path: str, as_json: bool) -> None:
    """Send and fetch what is new, and say how much it was."""
    path = db_path or paths.database()
    if quiet:
        if hasattr(os, "nice"):
            os.nice(10)
        try:
            sync.run(path, background=True)
        except NmemError:
            raise SystemExit(1) from None  # why, and since when, is kept for `status`
        return
    with terminal.writing():
        pass
    done = sync.waiting(path, _WAITS)
    if done is None:
        raise NmemError("another pass is still under way: it goes on in the background")
    click.echo(to_json(done) if as_json else _told(done))
    for name in done.strangers:
        click.echo(f"{printable(name)} is another project than the one you chose: share it again", err=True)


def _told(done: Pass) -> str:
    counts = ((done.sent, "sent"), (done.came, "received"), (done.announced, "deletions announced"),
              (done.taken_away, "taken away"), (done.refused, "refused by the server"))  # fmt: skip
    said = ", ".join(f"{count:,} {what}" for count, what in counts if count) or "nothing new"
    back = "the server was set back or is another one, and was told everything again: " if done.set_back else ""
    return f"{back}{said}; {done.seconds:.1f} s{', more is left' if done.left else ''}"


@command.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def status(as_json: bool) -> None:
    """Show what is shared with whom, what waits, what was refused, and since when a server is down."""
    us = config.load()
    if us is None:
        click.echo(to_json({"team": None}) if as_json else NO_TEAM)
        return
    with terminal.reading("facts of a team") as db:
        found = local.counted(db, us.team)
        shared = local.projects(db, us.team)
        failing, last = (json_object(state(db, key)) for key in (FAILING, sync.LAST))
        paused = state(db, PAUSED)
    if as_json:
        click.echo(to_json({
            "team": us.team, "member": us.member, "server": us.place, "warning": us.warning, "paused": bool(paused),
            "failing": failing, "last": last, "projects": [each.shared_as for each in shared if each.same],
            "strangers": [each.name for each in shared if not each.same], **found,
        }))  # fmt: skip
        return
    rows = [("server", us.place), ("projects", ", ".join(each.shared_as for each in shared if each.same) or "none"),
            *((key.replace("_", " "), f"{value:,}") for key, value in found.items())]  # fmt: skip
    terminal.say(f"Team {us.team}, as {us.member}", [("", rows), ("State", _state(us, paused, failing, last, [
        each.name for each in shared if not each.same]))])  # fmt: skip


def _state(
    us: Membership, paused: str, failing: dict[str, object], last: dict[str, object], strangers: list[str]
) -> list[tuple[str, str]]:
    rows = [("warning", us.warning)] if us.warning else []
    rows += [("paused", f"since {_when(paused)}: `nmem sync resume`")] if paused else []
    if failing:
        rows.append(("failing", f"since {_when(failing['since'])}, {failing['times']} times: {failing['why']}"))
    if last:
        rows.append(("last pass", f"{_when(last['at'])}: {last['sent']:,} sent, {last['came']:,} received"))
    rows += [("another project", f"{name} is not the one you chose: `nmem sync share` it again") for name in strangers]
    return rows or [("", "no pass yet: `nmem sync now`")]


def _when(at: object) -> str:
    return f"{terminal.local(int(str(at))):%Y-%m-%d %H:%M}"


@command.command()
def pause() -> None:
    """Rest: no pass runs in the background until `nmem sync resume`."""
    _rest(on=True)


@command.command()
def resume() -> None:
    """Go on after a pause."""
    _rest(on=False)


def _rest(*, on: bool) -> None:
    config.needed()
    with terminal.writing() as db:
        local.keep(db, PAUSED, str(terminal.now()) if on else "")
    click.echo("paused: nothing is sent or read until `nmem sync resume`" if on else "sharing goes on")


@command.command()
@click.option("--withdraw", is_flag=True, help="Take back everything you have shared first.")
def leave(withdraw: bool) -> None:
    """Leave the team: what others said is forgotten here, what you shared stays theirs.

    What was ever taken away stays noted: it is told to the server again should you come back.
    """
    us = config.needed()
    with terminal.writing() as db:
        if withdraw:
            local.unshare_all(db)  # first: a pass under way sends nothing more
            number = local.withdraw_all(db, us.member)
            if sync.waiting(paths.database(), _WAITS) is None:
                raise NmemError("another pass is still under way: try again")
            click.echo(f"{terminal.count(number, 'version')} taken back")
        gone = local.leave(db)
        config.forget()
    click.echo(f"left team {us.team}: {terminal.count(gone, 'row')} of others forgotten")


@command.command("share")
@click.argument("project")
@click.option("--called", default="", metavar="NAME", help="What the team calls it; default: its git remote.")
def share_(project: str, called: str) -> None:
    """Share a project from now on: its settled facts leave, and those of others come."""
    us = config.needed()
    with terminal.writing() as db:
        number, name = _chosen(db, project, called.strip())
        if any(each.shared_as == name and each.project_id != number for each in local.projects(db, us.team)):
            raise NmemError(f"another project of yours is shared as {printable(name)}: give another name with --called")
        local.share(db, us.team, number, name, terminal.now())
    click.echo(f"shared as {printable(name)} with team {us.team}; `nmem sync now` begins")


@command.command()
@click.argument("project")
@click.option("--withdraw", is_flag=True, help="Take back what you have shared of it.")
def unshare(project: str, withdraw: bool) -> None:
    """Share a project no longer; what is shared stays with the team unless it is withdrawn."""
    us = config.needed()
    with terminal.writing() as db:
        found = _meant(db, project)
        shared = local.unshare(db, found.id)  # first: a pass under way sends nothing more
        number = local.withdraw_all(db, us.member, found.id) if withdraw else 0
        if not (shared or number):
            raise NmemError(f"{printable(found.name)} is not shared: `nmem sync status` lists what is")
    more = f"; {terminal.count(number, 'version')} taken back with the next pass" if withdraw else ""
    click.echo(f"{printable(found.name)} is shared no longer{more}")
