"""`nmem compactions`: what each compaction of a session dropped, and what was done again after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from nmem.commands import terminal
from nmem.commands.terminal import Section, count
from nmem.read import compactions, listing, store, views
from nmem.read.compactions import AGAIN, KINDS, READ, Again, Compaction, Known
from nmem.share.document import outward
from nmem.store.project import key_of
from nmem.text import fit, printable, to_json

if TYPE_CHECKING:
    from sqlite3 import Connection

_TEXT = 200


@click.command()
@click.argument("session", required=False, type=terminal.session)
@click.option("--project", default="", help="Without SESSION: only this project (name, key or root).")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, help="How many sessions to list.")
@click.option("--all", "everything", is_flag=True, help="Show what the summaries name as well.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(session: str | None, project: str, limit: int, everything: bool, as_json: bool) -> int:
    """What compactions dropped: decisions, open ends, files and passing commands that a summary does not name.

    SESSION is the beginning of an id; without one, the sessions that were compacted are listed, with totals. Known is
    what was said, open, changed or passing before; dropped is what the summary does not name of it; again is what the
    session read, saw fail or was asked a second time afterwards. Told and needed say when the memory told a thing
    once more, and which row came to it. Files that were merely read are listed with --all. Exit code 1: no compaction
    is recorded.
    """
    if session and project:
        raise click.UsageError("--project goes without SESSION")
    with terminal.reading("compactions") as db:
        if session:
            ids = [(listing.session_of(db, session), "")]
        else:
            ids = [(one, name) for one, name, _ in store.compacted(db, key_of(db, project))]
        found = [(one, name, compactions.of_session(db, one)) for one, name in ids]
        found = [each for each in found if each[2]]
        shown = [(one, name, _outward(db, one, some)) for one, name, some in found[:limit]]
    every = [one for _, _, some in found for one in some]
    if as_json:
        told = [{"session": one, "compactions": [_shape(each) for each in some]} for one, _, some in shown]
        click.echo(to_json({"sessions": told, "known": len(found), "totals": _totals(every)}))
    elif not found:
        where = f"session {printable(session)}" if session else "any session here"
        click.echo(f"no compaction of {where} is recorded", err=True)
    elif session:
        sections = [_section(number, each, everything=everything) for number, each in enumerate(shown[0][2], 1)]
        terminal.say(f"Compactions of session {found[0][0]}", [*sections, ("In all", _sum(every))])
    else:
        _list(shown, every)
        if len(found) > limit:
            click.echo(f"{limit} of {count(len(found), 'session')} listed, all counted: --limit lists more", err=True)
    return 0 if found else 1


def _list(shown: Sequence[tuple[str, str, Sequence[Compaction]]], every: Sequence[Compaction]) -> None:
    """Sessions in a line each, with what all come to."""
    if terminal.is_terminal():
        rows = [(f"{one[:8]}  {name}", _brief(some)) for one, name, some in shown]
        terminal.say("Compactions", [("", rows), ("In all", _sum(every))])
        return
    terminal.piped("Compactions", "session project compactions with_summary known_with_summary dropped again",
                   [*(_row(one[:8], name, some) for one, name, some in shown), _row("total", "", every)])  # fmt: skip


def _row(session: str, project: str, some: Sequence[Compaction]) -> str:
    told = _totals(some)
    sums = (sum(told[each].values()) for each in ("known_with_summary", "dropped", "again"))
    return "\t".join(map(printable, (session, project, *map(str, (len(some), told["with_summary"], *sums)))))


def _outward(db: Connection, session_id: str, found: Sequence[Compaction]) -> tuple[Compaction, ...]:
    """Compactions with paths relative to the project, and no home in them."""
    if not found:
        return ()
    out = outward(db, views.session(db, session_id))
    known = [tuple(replace(each, text=out.text(each.text)) for each in one.known) for one in found]
    again = [tuple(replace(each, text=out.text(each.text)) for each in one.again) for one in found]
    return tuple(replace(one, known=k, again=a) for one, k, a in zip(found, known, again, strict=True))


def _shape(one: Compaction) -> dict[str, Any]:
    """As JSON."""
    return {**asdict(one), "dropped": one.dropped}


def _totals(every: Sequence[Compaction]) -> dict[str, Any]:
    """Counts over compactions: known and dropped by kind (dropped only where there is a summary), again by kind."""
    told = [one for one in every if one.summary]
    return {
        "compactions": len(every), "with_summary": len(told),
        "known": {kind: sum(each.kind == kind for one in every for each in one.known) for kind in KINDS},
        "known_with_summary": {kind: sum(each.kind == kind for one in told for each in one.known) for kind in KINDS},
        "dropped": {kind: sum(each.kind == kind for one in told for each in one.dropped) for kind in KINDS},
        "dropped_needed": {kind: sum(each.kind == kind and bool(each.needed) for one in told for each in one.dropped)
                           for kind in KINDS},
        "dropped_given": {kind: sum(each.kind == kind and bool(each.given_at) for one in told for each in one.dropped)
                          for kind in KINDS},
        "again": {kind: sum(each.kind == kind for one in every for each in one.again) for kind in AGAIN},
        "again_dropped": {kind: sum(each.kind == kind and each.dropped for one in every for each in one.again)
                          for kind in AGAIN},
    }  # fmt: skip


def _sum(every: Sequence[Compaction]) -> list[tuple[str, str]]:
    """The totals in words."""
    told = _totals(every)
    out = [("compactions", f"{told['compactions']}, {told['with_summary']} of them with a summary on record")]
    if told["with_summary"]:
        parts = [f"{told['dropped'][kind]} of {count(told['known_with_summary'][kind], kind)}" for kind in KINDS
                 if told["known_with_summary"][kind]]  # fmt: skip
        out.append(("dropped", ", ".join(parts) or "nothing was known yet"))
    of = ", {} of them dropped before" if told["with_summary"] else ""
    parts = [f"{kind}: {many}{of.format(told['again_dropped'][kind])}" for kind, many in told["again"].items() if many]
    out.append(("afterwards", "; ".join(parts) or "nothing was done again"))
    return out


def _brief(some: Sequence[Compaction]) -> str:
    """A session in a line."""
    told = _totals(some)
    dropped = f"{sum(told['dropped'].values())} of {sum(told['known_with_summary'].values())} dropped"
    known = dropped if told["with_summary"] else f"{sum(told['known'].values())} known, no summary on record"
    return f"{count(len(some), 'compaction')}: {known}, {sum(told['again'].values())} done again"


def _section(number: int, one: Compaction, *, everything: bool) -> Section:
    """One compaction: what the summary dropped, and names where that is asked for; then what came again."""
    when = f"{terminal.local(one.at):%Y-%m-%d %H:%M}"
    said = f"{one.summary}, {one.tokens:,} tokens" if one.summary else "no summary on record"
    kinds = ", ".join(count(many, kind) for kind in KINDS if (many := sum(each.kind == kind for each in one.known)))
    rows = [("known", kinds or "nothing")]
    if one.summary and not one.dropped:
        rows.append(("dropped", "nothing of it"))
    rows += [(f"dropped {each.kind}", _told(each)) for each in one.dropped if everything or each.kind != READ]
    if everything or not one.summary:
        word = "named" if one.summary else "known"
        rows += [(f"{word} {each.kind}", _told(each)) for each in one.known if each.named or not one.summary]
    return f"{number}. {when}, {one.id} ({said})", [*rows, *((each.kind, _came(each, one)) for each in one.again)]


def _told(one: Known) -> str:
    """A thing with its row, when it was told after the compaction, and what came to it."""
    told = f", told {terminal.local(one.given_at):%H:%M}" if one.given_at else ""
    needed = f", needed {terminal.local(one.needed_at):%H:%M} by {one.needed}" if one.needed else ""
    return f"{fit(printable(one.text), _TEXT)} ({one.id}{told}{needed})"


def _came(one: Again, of: Compaction) -> str:
    """What came again, with the rows of both times and whether the summary had dropped it."""
    state = "" if not of.summary else ", dropped" if one.dropped else ", named in the summary"
    return f"{fit(printable(one.text), _TEXT)} ({one.id}, known from {one.before}{state})"
