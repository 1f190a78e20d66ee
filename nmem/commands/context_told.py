"""`nmem context --past`, `--report`, `--include` ...: past injections, their use, and a person's choices."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.context import past as read
from nmem.context.choosing import choose as chosen
from nmem.context.choosing import project_of, promised, switched
from nmem.context.past import FEW, MEASURES, Effect, Group, effect
from nmem.text import fit, printable, to_json

if TYPE_CHECKING:
    from nmem.context.past import Telling, ToldItem

_DID = {True: "of use", False: "not of use", None: "not known yet"}
_NAMES = {"turns": "turns", "failures": "failed calls", "rereads": "files read again"}


def report(project: str, *, as_json: bool) -> None:
    """Sessions that were told something beside those that were kept without."""
    with terminal.reading() as db:
        found = effect(db, project_of(db, project) if project else None)
    if as_json:
        told = {**asdict(found), "enough": found.enough, "verdicts": {each: found.verdict(each) for each in MEASURES}}
        click.echo(to_json(told))
        return
    for line in lines(found):
        click.echo(line)


def lines(found: Effect) -> list[str]:
    """The report as a person reads it."""
    told, without = found.told, found.without
    out = [f"{'':18}{'told':>10}{'kept without':>15}", f"{'sessions':18}{told.sessions:>10}{without.sessions:>15}"]
    for measure in MEASURES:
        row = f"{_NAMES[measure]:18}{_mean(told, measure):>10}{_mean(without, measure):>15}"
        out.append(f"{row}   {found.verdict(measure)}{_between(found.ranges[measure])}")
    out.append(
        f"{'items of use':18}{_share(told):>10}{_share(without):>15}   (kept without: it came to them by itself)"
    )
    if not without.sessions:
        out.append("No session was kept without: [context] holdout = 0.2 in config.toml keeps one in five without.")
    elif not found.enough:
        out.append(f"Under {FEW} sessions in a group a difference says nothing.")
    if found.told_before:
        out.append(f"{terminal.count(found.told_before, 'session')} from before the first kept without: not compared.")
    if found.late:
        out.append(f"{terminal.count(found.late, 'time')} selecting took too long, and nothing was said.")
    return out


def _mean(group: Group, measure: str) -> str:
    mean = group.mean(measure)
    return "-" if mean is None else f"{mean:.1f}"


def _share(group: Group) -> str:
    return "-" if group.use is None else f"{group.use:.0%}"


def _between(found: tuple[float, float] | None) -> str:
    return "" if found is None else f" ({found[0]:+.1f} to {found[1]:+.1f})"


def switch(project: str, *, off: bool) -> None:
    """Tell the sessions of a project nothing from now on, or what is selected again."""
    with terminal.writing() as db:
        switched(db, project_of(db, project), terminal.now(), off=off)
    click.echo(f"sessions of {project} are told {'nothing' if off else 'what is selected for them'} from now on")


def choose(project: str, wanted: dict[str, str]) -> None:
    """Have items always told, never told, or chosen by their score again."""
    with terminal.writing() as db:
        number = project_of(db, project)
        for choice, item in wanted.items():
            own = chosen(db, number, item, choice, terminal.now())
            click.echo(f"{printable(own)} is {promised(own, choice)} (`nmem undo` takes it back)")


def past(project: str, limit: int, *, as_json: bool) -> None:
    """What sessions were told, the newest first, each thing with what became of it."""
    with terminal.reading("context") as db:
        found = read.past(db, project_of(db, project), limit)
        told = [one for each in found.found if (one := read.telling(db, each.id)) is not None]
    if as_json:
        shown = [{**asdict(one.told), "undecided": one.told.undecided, "text": one.text,
                  "items": [asdict(each) for each in one.items]} for one in told]  # fmt: skip
        counts = {name: getattr(found, name) for name in ("tellings", "sessions", "items", "used", "unused")}
        click.echo(to_json({**counts, "told": shown}))
        return
    heading = (
        f"{terminal.count(found.tellings, 'text')} told in {terminal.count(found.sessions, 'session')}:"
        f" {found.used} of {terminal.count(found.used + found.unused, 'thing')} of use"
    )
    terminal.say(heading, [(_title(one), [(each.id, _became(each)) for each in one.items]) for one in told])


def _title(one: Telling) -> str:
    told = one.told
    asked = f": “{fit(printable(told.prompt), 60)}”" if told.prompt else ""
    kept = ", kept back" if told.withheld else ""
    when = f"{terminal.local(told.at):%Y-%m-%d %H:%M}"
    return f"{when}  {told.session_id}  {told.event}{asked}  {terminal.count(told.tokens, 'token')}{kept}"


def _became(item: ToldItem) -> str:
    how = f": {item.how}" if item.how else ""
    return f"{item.score:.2f}  {terminal.count(item.tokens, 'token'):>10}  {_DID[item.used]}{how}  ({item.reason})"
