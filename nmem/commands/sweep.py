"""`nmem sweep` and `nmem maintain`: forget records past their lifetime, and optimize the database file."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from capture import paths
from nmem.commands import terminal
from nmem.errors import NmemError
from nmem.retention import idle, plan, policy, read
from nmem.retention import journal as kept
from nmem.retention.idle import alone, within
from nmem.retention.sweep import aged, sweep
from nmem.sessions import copies
from nmem.store.project import key_of
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.retention.journal import Entry
    from nmem.retention.policy import Life, Policy
    from nmem.retention.sweep import Swept
    from nmem.sessions.copies import Stored

_LISTED = 20


@click.command()
@click.option("--dry-run", is_flag=True, help="Only show what would go, and why.")
@click.option("--policy", "show_policy", is_flag=True, help="Only show the current lifetimes, and their reasons.")
@click.option("--journal", "show_journal", is_flag=True, help="Only show what earlier sweeps took.")
@click.option("--project", default="", help="Only this project: name, key or root.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--clock-is-right", "trusted", is_flag=True, help="Trust the date although the clock jumped.")
@click.option("--seconds", type=click.FloatRange(min=0.1), default=600.0, show_default=True, help="At most this long.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    dry_run: bool, show_policy: bool, show_journal: bool, project: str, yes: bool, trusted: bool, seconds: float,
    as_json: bool,
) -> None:  # fmt: skip
    """Forget old records, type by type; their traces stay, and so does all that a person pinned, marked or accepted.

    It happens by itself once a day when a session is over; [retention] in config.toml says how long what is kept. It
    cannot be undone. It can be stopped at any time and goes on where it was.
    """
    if sum((dry_run, show_policy, show_journal)) > 1:
        raise click.UsageError("give only one of --dry-run, --policy and --journal")
    if show_policy or show_journal:
        _show(project, as_json, journal=show_journal)
        return
    wanted = policy.load()
    ahead = 0 if trusted else _ahead()
    if dry_run or ahead or not yes:
        done = _dry(wanted, project)
        if dry_run or not done.count:
            _say(done, as_json)
            return
        if not yes:
            _ask(done, as_json)
        if ahead:
            _doubt(done, ahead, as_json)
    _say(_swept(wanted, project, seconds), as_json)


def _ahead() -> int:
    """How far the clock is ahead of what nmem saw of it, in ms."""
    with terminal.reading() as db:
        return plan.ahead_by(db, terminal.now())


def _doubt(done: Swept, ahead: int, as_json: bool) -> None:
    """What the clock did; whoever is at a terminal is asked, anybody else has to say that the date is right."""
    days = terminal.count(ahead // 86_400_000, "day")
    said = f"the clock says {terminal.local(terminal.now()):%Y-%m-%d}, {days} after nmem last saw it"
    if as_json or not terminal.is_terminal():
        raise NmemError(
            f"{said}: by that date {done.count:,} records would go, for good; if the date is right, add"
            " --clock-is-right, otherwise set the clock"
        )
    click.echo(f"{said}.")
    click.confirm("Is the date right", abort=True)


def _ask(done: Swept, as_json: bool) -> None:
    if as_json or not terminal.is_terminal():
        raise click.UsageError(f"{done.count:,} records would go, for good: add --yes, or --dry-run to see which")
    _say(done, False)
    click.confirm("Forget them? This cannot be undone", abort=True)


def _dry(wanted: Policy, project: str) -> Swept:
    with terminal.reading() as db:
        project = key_of(db, project)
        out = sweep(db, wanted, terminal.now(), project=project, dry=True)
        found = aged(db, terminal.now(), wanted, project)
        if found.count:
            from_when = f"imported: their time counts from then, until {terminal.day(found.first, terminal.now())}"
            out.imported = (found.count, f"{from_when} and later")
        return out


_PATIENCE = 30.0
"""Seconds that the sweep of a cockpit or of settling is waited for."""


def _swept(wanted: Policy, project: str, seconds: float) -> Swept:
    with terminal.writing() as db, alone(paths.database(), min(seconds, _PATIENCE)) as mine:
        if not mine:
            raise NmemError("another sweep is running: see `nmem sweep --journal`")
        project = key_of(db, project)
        with _steps() as stopped:
            return sweep(db, wanted, terminal.now(), project=project, stopped=within(seconds, stopped))


@contextmanager
def _steps() -> Iterator[Callable[[], bool]]:
    """A signal stops between two steps."""
    asked: list[int] = []
    old = {number: signal.signal(number, lambda *_: asked.append(1)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _say(done: Swept, as_json: bool) -> None:
    if as_json:
        click.echo(to_json(told(done)))
        return
    if not done.count:
        head = "nothing is past its lifetime"
    elif done.dry:
        head = f"{done.count:,} records of {terminal.count(done.sessions, 'session')} would be forgotten"
    else:
        head = f"{done.count:,} records of {terminal.count(done.sessions, 'session')} forgotten in {done.seconds:.1f} s"
    if done.done != "finished":
        head += "; more is left for the next time"
    rows = [(f"{count:,}", f"{type_.replace('_', ' ')} of {printable(project)}")
            for (project, type_), count in done.counts.most_common(_LISTED)]  # fmt: skip
    if len(done.counts) > _LISTED:
        rows.append(("", f"and {len(done.counts) - _LISTED} more sorts: --json has them all"))
    kept = [(f"{done.spared:,}", "pinned, decided, or evidence of what was accepted")] if done.spared else []
    kept += [(f"{done.imported[0]:,}", done.imported[1])] if done.imported[0] else []
    kept += [(terminal.count(number, "session"), why) for why, number in done.skipped.most_common()]
    shorter = [("lifetimes", f"shortened to {done.shorter:.0%}: the file is too large")] if done.shorter < 1 else []
    moved = [_life(one) for one in done.lives if one.factor != 1.0][:_LISTED]
    wrong = [(printable(one.fault.name), one.said) for one in done.strangers]
    terminal.say(head, [("In config.toml", wrong), ("By type", rows), ("Past their lifetime, and kept", kept),
                        ("For the size", shorter), ("Kept longer or shorter, by use", moved)])  # fmt: skip


def told(done: Swept) -> dict[str, Any]:
    """A sweep as JSON."""
    return {
        "dry_run": done.dry, "forgotten": done.count, "sessions": done.sessions, "spared": done.spared,
        "imported": done.imported[0],
        "skipped": dict(done.skipped), "done": done.done, "seconds": done.seconds, "longest_lock_ms": done.longest_ms,
        "shortened_to": done.shorter, "unknown_projects": done.strangers,
        "counts": [{"project": project, "type": type_, "count": count}
                   for (project, type_), count in done.counts.most_common()],
        "lifetimes": done.lives,
    }  # fmt: skip


def _life(one: Life) -> tuple[str, str]:
    name = f"{one.type.replace('_', ' ')} of {printable(one.project)}"
    changed = f" instead of {one.written:g}" if one.factor != 1.0 else ""
    why = f": {one.reason}" if one.reason else ""
    return name, f"{one.in_force:g} days{changed}{why}"


def _show(project: str, as_json: bool, *, journal: bool) -> None:
    with terminal.reading("sweeps") as db:
        project = key_of(db, project)
        if journal:
            found = kept.entries(db)
            if as_json:
                click.echo(to_json(found))
            else:
                terminal.say("sweeps, the newest first" if found else "no sweep yet", [("", _rows(found))])
            return
        wanted = policy.load()
        lives = read.lives(db, project, terminal.now(), wanted)
        copied = copies.stored(db)
    if as_json:
        standing = {"enabled": wanted.enabled, "mediation": wanted.mediation, "max_bytes": wanted.max_bytes}
        click.echo(to_json({**standing, "lifetimes": lives, "transcripts": copied}))
        return
    switches = [
        ("by itself", "yes, once a day" if wanted.enabled else "no: retention.enabled is false"),
        ("mediation", "on: what is used lives longer" if wanted.mediation else "off: as written"),
    ]
    for_ever = [("markers", "for ever: notes, decisions, points to come back to")]
    rows = [*map(_life, lives), *for_ever, _copies(copied)]
    terminal.say("what is kept how long", [("", switches), ("Lifetimes", rows)])


def _copies(found: Stored) -> tuple[str, str]:
    bounds = found.limits
    lived = f"{bounds.days:g} days" if bounds.days else "as long as prompts"
    kept = f"{found.count:,} {'copy' if found.count == 1 else 'copies'}, {found.bytes / (1 << 20):.1f} MB"
    return "transcripts", f"{lived}, at most {bounds.all >> 20} MB: {kept}" if bounds.on else f"none are copied: {kept}"


def _rows(found: tuple[Entry, ...]) -> list[tuple[str, str]]:
    out = []
    for one in found:
        at = f"{terminal.local(one.started_at):%Y-%m-%d %H:%M}"
        parts = ", ".join(f"{each.count:,} {each.type}" for each in one.counts[:6])
        where = f" of {printable(one.project)}" if one.project else ""
        took = (one.last_at - one.started_at) / 1000
        said = f"{one.count:,} forgotten{where} ({one.why}, {one.done or 'running'}, {took:.1f} s)"
        out.append((at, f"{said}{': ' if parts else ''}{parts}"))
    return out


@click.command()
@click.option("--vacuum/--no-vacuum", default=None, help="Rewrite the file; default: only if that saves space.")
@click.option("--seconds", type=click.FloatRange(min=0.1), default=300.0, show_default=True, help="At most this long.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def maintain(vacuum: bool | None, seconds: float, as_json: bool) -> None:
    """Merge the text indexes, renew statistics, fold the log back, give empty pages back where that pays.

    It happens by itself once a week when a session is over. Hooks go on meanwhile: what they cannot write at once they
    spool.
    """
    with terminal.writing() as db:
        steps = idle.maintain(
            db, paths.database(), terminal.now(), stopped=within(seconds, lambda: False), vacuum=vacuum
        )
    if as_json:
        click.echo(to_json(steps))
        return
    rows = [(one.name, f"{one.told}{f' ({one.seconds:.1f} s)' if one.done else ''}") for one in steps]
    terminal.say("maintained the file", [("", rows)])
