"""`nmem now`: prints the state of a session: its episode, failures, stance, next injection, newest rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.commands.sessions import clash_words
from nmem.commands.show import touched
from nmem.errors import NmemError
from nmem.llm.chosen import standing as models
from nmem.read.listing import session_of
from nmem.read.sessions import clashes_of
from nmem.read.standing import row_id, standing
from nmem.read.stream import Query
from nmem.read.views import outcome_words
from nmem.stance.words import stands
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.read.sessions import Clash
    from nmem.read.standing import Standing
    from nmem.read.views import Failure, StreamRow

_TEXT = 160
_NOTHING = "no test result, no commit"


@click.command()
@click.argument("session", required=False, type=terminal.session)
@click.option(
    "--project",
    default="",
    help="Show this project's newest session (name, key or root); default: the current folder's.",
)
@click.option(
    "--filter", "words", default="", metavar="WORDS", help="Only rows of the stream that match, such as is:failed."
)
@click.option(
    "--limit", type=terminal.LIMIT, default=15, show_default=True, metavar="N", help="How many rows of the stream."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(session: str | None, project: str, words: str, limit: int, as_json: bool) -> None:
    """Where a session stands: its work unit, what went wrong, its stance, what it is told next, its newest rows.

    Of SESSION's id the beginning is enough; or episode/12. Without one, or with last: the newest of the project, else
    of all.
    """
    if session and project:
        raise click.UsageError("give either SESSION or --project: a session belongs to one project")
    with terminal.reading("episodes") as db:
        told_by = models(db).sentence()
        found = standing(db, session_of(db, session, project), terminal.now(), limit, Query(words), whole=as_json)
        clashes = clashes_of(db, found.view.session.id, terminal.now()) if found else ()
    if found is None:
        raise NmemError("this session was purged in the meantime")
    if as_json:
        more = {"clashes": clashes, "told_by": told_by}
        click.echo(to_json({**as_dict(found), **more}))
    else:
        _say(found, told_by, clashes)


def as_dict(found: Standing) -> dict[str, object]:
    """All of it, each row with its id."""
    view = found.view._asdict()
    session = view.pop("session")._asdict()
    return {
        "session": {**session, "id": f"session/{session['id']}"}, **view,
        "unit": {**found.unit._asdict(), "id": f"episode/{found.unit.id}"} if found.unit else None,
        "stance": found.stance, "next": found.told,
        "stream": [{**asdict(row), "id": row_id(row)} for row in found.rows], "more": found.more,
    }  # fmt: skip


def _say(found: Standing, told_by: str, clashes: tuple[Clash, ...]) -> None:
    view, unit = found.view, found.unit
    row = view.session
    last = found.stance.points[-1] if found.stance and found.stance.points else None
    sections: list[terminal.Section] = [
        ("", [
            ("working on", unit.name if unit else view.prompt),
            ("id", f"episode/{unit.id}" if unit else ""),
            *(("beside", clash_words(one)) for one in clashes),
            ("outcome", (unit.outcome.words or _NOTHING) if unit else ""),
            ("calls", f"{view.total.investigate} look, {view.total.execute} do, {view.total.failed} failed"),
            ("stance", stands(found.stance) if found.stance and last else ""),
            ("window", f"{view.window.share:.0%} full" if view.window and view.window.share is not None else ""),
            ("told", told_by),
            ("hooks lost", str(view.hooks.lost) if view.hooks.lost else ""),
        ]),
        ("So far", [
            *(("done", one[:_TEXT]) for one in (unit.done if unit else ())),
            *(("open", one[:_TEXT]) for one in (unit.left if unit else ())),
        ]),
        ("Failed", [_failed(one) for one in view.failures]),
        ("Files", [(touched(one.reads, one.edits, one.failures), one.path) for one in view.hot]),
        (
            f"Told after a reset, {found.told.tokens} tokens",
            [("", line) for line in (found.told.text or found.told.why_silent).splitlines()],
        ),
        (f"Stream, the newest {terminal.count(len(found.rows), 'row')}", [_row(one) for one in found.rows]),
    ]  # fmt: skip
    shown = [(name, [each for each in rows if each[1]]) for name, rows in sections]
    heading = f"session/{row.id}  {row.project}  {row.client}, {row.state}, {terminal.day(row.last_at, terminal.now())}"
    terminal.say(printable(f"{heading}, {terminal.clock(row.last_at)}"), shown)


def _failed(one: Failure) -> tuple[str, str]:
    later = ", succeeded later" if one.mended else ""
    return terminal.clock(one.at), f"obs/{one.id}  {one.content[:_TEXT]} ({one.detail}){later}"


def _row(row: StreamRow) -> tuple[str, str]:
    what = row.path or " ".join(row.text.split())
    how = outcome_words(row.outcome, row.exit_code, row.meta) if row.outcome else ""
    return terminal.clock(row.at), f"{row_id(row)}  {row.word}  {what[:_TEXT]}{f'  {how}' if how else ''}"
