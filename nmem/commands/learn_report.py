"""`nmem learn report`: whether rules, learnings and written decisions hold, in one table with a totals line."""

from __future__ import annotations

from dataclasses import asdict
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from nmem.commands import terminal
from nmem.commands.learn import project_of, refreshed
from nmem.learn.lessons import FEW
from nmem.read import lessons as reading
from nmem.text import fit, pad, printable, to_json, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nmem.learn.lessons import Count, Lesson, Rate, Report

_HEADS = (
    "lesson",
    "kind",
    "applied",
    "kept",
    "broken",
    "unclear",
    "before",
    "after",
    "told",
    "held out",
    "note",
    "title",
)
_WIDE, _TITLE = 120, 24
"""Columns of a terminal that has room for the kind; the least of a title."""
_SPARE = ("held out", "told", "unclear", "before", "after", "kept")
"""Columns that a narrow terminal goes without, the first ones first."""


@click.command("report")
@click.option(
    "--project", default="", help="Use this project (name, key or root folder); default: the current folder's."
)
@click.option("--all-projects", "everywhere", is_flag=True, help="Of every project.")
@click.option("--since", metavar="WHEN", help="Only sessions begun since: 2026-01-31, 7d, 12h, 4w.")
@click.option("--limit", type=terminal.LIMIT, default=40, show_default=True, help="How many to list; all are counted.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(project: str, everywhere: bool, since: str | None, limit: int, as_json: bool) -> None:
    """Show whether lessons hold: in how many sessions each applied, was kept and was broken.

    A session counts once for each lesson. `before`, `after`: broken/applied in sessions that began before its
    acceptance (a rule of yours: before you said it), and after. `told`, `held out`: the same in sessions that were told
    it, and in those kept without by `context.holdout`, from then on. `unclear`: it applied, and nothing says how that
    ended. `?`: only what breaks it is recorded. Repeated: broken although it was met in an earlier session, accepted or
    said by then.
    """
    after, now = (terminal.when(since) if since else 0), terminal.now()
    left = refreshed()
    with terminal.reading("learnings") as db:
        project_id, about = project_of(db, project, everywhere)
        found = reading.report(db, now, project_id, after)
    if as_json:
        click.echo(to_json(_shape(found, limit)))
    elif not found.lessons:
        click.echo(f"nothing was learned in {printable(about)} yet: `nmem learn --all-projects` lists other projects'")
    else:
        _table(found.lessons[:limit], everywhere)
        if len(found.lessons) > limit:
            click.echo(f"{len(found.lessons) - limit} more: --limit")
        for line in totals(found):
            click.echo(line)
    if left:
        click.echo(left, err=True)


def _cells(one: Lesson, named: bool) -> list[str]:
    """The row of a lesson; its note says that it was accepted, or why nothing can be told of it."""
    count = one.counts()
    if one.why:
        figures = [str(count.applied or "-"), *["-"] * 7]
    else:
        exposed = [_share(one.exposures(held_out=out), "-") for out in (False, True)]
        before, after = (_share(one.counts(after=each)) if one.since else "-" for each in (False, True))
        figures = [*map(str, (count.applied, "?" if one.blind else count.kept, count.broken, count.unknown)),
                   before, after, *exposed]  # fmt: skip
    note = ("accepted" if one.accepted else "", f"cannot be told ({one.why})" if one.why else "")
    title = " ".join(one.title.split()) + (f" ({one.project})" if named else "")
    return [printable(cell) for cell in (one.id, one.label, *figures, ", ".join(filter(None, note)), title)]


def _share(count: Count, none: str = "0/0") -> str:
    """Broken of applied."""
    return f"{count.broken}/{count.applied}" if count.applied else none


def _table(found: Sequence[Lesson], named: bool) -> None:
    rows = [list(_HEADS), *(_cells(one, named) for one in found)]
    if not terminal.is_terminal():
        terminal.piped("Lessons", " ".join(one.replace(" ", "_") for one in _HEADS), map("\t".join, rows[1:]))
        return
    room = get_terminal_size().columns
    shown = [at for at in range(len(_HEADS) - 2) if at != 1 or room >= _WIDE]  # the note stands before the title
    widths = {at: max(width(row[at]) for row in rows) for at in shown}
    for name in _SPARE:
        if sum(widths[at] for at in shown) + 2 * len(shown) + _TITLE > room:
            shown.remove(_HEADS.index(name))
    title = max(8, room - sum(widths[at] for at in shown) - 2 * len(shown))
    for row in rows:
        cells = [pad(row[at], widths[at], right=at > 1) for at in shown]
        told = f"{row[-2]}: {row[-1]}" if row[-2] and row is not rows[0] else row[-1]
        click.echo("  ".join((*cells, fit(told, title))).rstrip())


def totals(found: Report) -> list[str]:
    """What all lessons come to, with the intervals that hold the true value nine times in ten."""
    count, (low, high) = found.total, found.broken_share
    known = found.known.kept + found.known.broken
    said = f"; where both can be told, broken {found.known.broken / known:.0%}" if known else ""
    share = f"{said} ({low:.0%} to {high:.0%}, Wilson)" if known else ""
    total = f"total: applied {count.applied:,}, kept {count.kept:,}, broken {count.broken:,}, unclear {count.unknown:,}"
    groups = f"{_rate(found.every)}; told: {_rate(found.told)}; held out: {_rate(found.held_out)}"
    out = [total + share, f"repeated mistakes per 100 sessions: {groups}"]
    if not found.held_out.sessions:
        out.append("No session was held out: `nmem config set context.holdout 0.2` keeps one in five without.")
    elif not (found.told.enough and found.held_out.enough):
        out.append(f"Under {FEW} sessions in a group a difference says nothing.")
    if found.told_before:
        out.append(f"{terminal.count(found.told_before, 'session')} told before the first held out: in neither group.")
    return out


def _rate(one: Rate) -> str:
    if one.per_hundred is None:
        return "no session"
    how = "bootstrap" if one.mistakes else "Wilson"
    sessions = terminal.count(one.sessions, "session")
    return f"{one.per_hundred:.1f} ({one.low:.1f} to {one.high:.1f}, {how}) in {sessions}"


def _shape(found: Report, limit: int) -> dict[str, Any]:
    """As JSON; rates per hundred sessions, times in milliseconds."""
    count, (low, high) = found.total, found.broken_share
    rates = {name: {**asdict(one), "per_hundred": one.per_hundred}
             for name, one in (("all", found.every), ("told", found.told), ("held_out", found.held_out))}  # fmt: skip
    return {
        "lessons": [_one(one) for one in found.lessons[:limit]], "known": len(found.lessons),
        "total": {**_count(count), "broken_share_low": round(low, 4), "broken_share_high": round(high, 4)},
        "repeated_per_hundred_sessions": rates, "told_before_held_out": found.told_before,
    }  # fmt: skip


def _one(one: Lesson) -> dict[str, Any]:
    parts = {
        "": one.counts(), "before": one.counts(after=False), "after": one.counts(after=True),
        "told": one.exposures(held_out=False), "held_out": one.exposures(held_out=True),
    }  # fmt: skip
    told = {name: None if one.why or (name in ("before", "after") and not one.since) else _count(each, one)
            for name, each in parts.items() if name}  # fmt: skip
    figures = {"applied": parts[""].applied, "kept": None, "broken": None, "unclear": None} if one.why else None
    return {
        "id": one.id, "kind": one.label, "title": one.title, "project": one.project, "state": one.state,
        "since": one.since or None, "cannot_be_told": one.why or None, **(figures or _count(parts[""], one)), **told,
    }  # fmt: skip


def _count(one: Count, of: Lesson | None = None) -> dict[str, int | None]:
    kept = None if of and of.blind else one.kept
    return {"applied": one.applied, "kept": kept, "broken": one.broken, "unclear": one.unknown}
