"""`nmem context --report`, `--on`, `--off`: what telling is worth, and where it is switched off."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from nmem.commands import terminal
from nmem.context.effect import FEW, MEASURES, Effect, Group, effect
from nmem.context.switch import project_of, switched

_NAMES = {"turns": "turns", "failures": "failed calls", "rereads": "files read again"}


def report(project: str, *, as_json: bool) -> None:
    """Sessions that were told something beside those that were kept without."""
    with terminal.reading() as db:
        found = effect(db, project_of(db, project) if project else None)
    if as_json:
        told = {**asdict(found), "enough": found.enough, "verdicts": {each: found.verdict(each) for each in MEASURES}}
        click.echo(json.dumps(told))
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
