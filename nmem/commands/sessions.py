"""`nmem sessions`: lists sessions with their states; names, tags and archives them."""

from __future__ import annotations

from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from nmem.commands import terminal
from nmem.commands.threads import day_and_time, table
from nmem.read import sessions, store
from nmem.read.listing import session_of
from nmem.sessions import marks
from nmem.store import corrections
from nmem.store.project import key_of
from nmem.text import fit, pad, printable, to_json, width

if TYPE_CHECKING:
    from nmem.read.sessions import AtWork, Clash, Listed

_UNDO = "`nmem undo` takes it back"
SHORT = 8
"""Characters of an id that tell one session from the others, nearly always."""
_HEAD = ("state", "id", "client", "project", "last", "prompts", "name")
_FILES = 5
"""Files of a session at work that are listed."""
_WIDE, _MIDDLE = 120, 100
"""Columns of a terminal from which on client, branch and time, or how many prompts, are told beside a name."""


@click.group(
    cls=terminal.Default, epilog="`nmem sessions` alone is `nmem sessions list`. Of an id the beginning is enough."
)
def command() -> None:
    """Sessions and their states: list them, name, tag and archive them; `nmem resume` goes on with one."""


@command.command("list")
@click.option("--project", default="", help="Only this project (name, key or root folder).")
@click.option("--client", default=None, help="Only sessions of this client: claude, codex, gemini ...")
@click.option("--state", "states", type=click.Choice(sessions.STATES), multiple=True,
              help="Only sessions in this state; several may be given.")  # fmt: skip
@click.option("--working", is_flag=True, help="Those at work now: on what, on which files, and who edits the same one.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only sessions with this tag; with several, all.")
@click.option("--archived", "which", flag_value=sessions.ARCHIVED, help="The archived ones.")
@click.option("--all", "which", flag_value=sessions.ALL, help="Archived ones as well.")
@click.option("--sort", type=click.Choice(sessions.SORTS), default="last", show_default=True, help="By what to sort.")
@click.option("--limit", type=terminal.LIMIT, default=30, show_default=True, help="How many to list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def list_(
    project: str, client: str | None, states: tuple[str, ...], working: bool, tags: tuple[str, ...], which: str | None,
    sort: str, limit: int, as_json: bool,
) -> None:  # fmt: skip
    """List sessions, the most recently active first.

    working: its agent is at a turn. waiting: it is your turn. failed: over, and its last test or its task failed.
    done: over.
    """
    if working and states:
        raise click.UsageError("give either --working or --state: --working lists those in the state working")
    with terminal.reading("sessions") as db:
        every = sessions.sessions(
            db, terminal.now(), key_of(db, project), client or "", tags=tags, sort=sort,
            states=(sessions.WORKING,) if working else states, which=which or sessions.CURRENT,
        )  # fmt: skip
        known = store.all_tags(db)
        at_work = sessions.of_work(db, every[:limit], terminal.now()) if working else []
    found = every[:limit]
    if working:
        _say_at_work(at_work, len(every), as_json=as_json)
        return
    if as_json:
        click.echo(to_json({"sessions": found, "total": len(every), "tags": known}))
        return
    if terminal.is_terminal():
        cells = get_terminal_size().columns - 1
        where = len({one.project for one in found}) > 1  # what all of them say alike needs no column
        if found:
            click.echo(click.style(_cells(_HEAD, cells, where=where), dim=True))
        click.echo("".join(f"{_line(one, cells, where=where)}\n" for one in found), nl=False)
    else:
        table("Sessions", _HEAD, [_row(one) for one in found])
    if not found:
        click.echo(_none(bool(project or client or states or tags or which)))
    elif len(found) < len(every):
        click.echo(f"{len(found)} of {len(every):,} sessions: --limit lists more, --project and --state fewer")


def _say_at_work(found: list[AtWork], of: int, *, as_json: bool) -> None:
    """Each session with what it is at; where two edit one file, a line beneath both."""
    if as_json:
        click.echo(to_json({"working": found, "total": of}))
        return
    for one in found:
        row = one.session
        task = f"task/{one.task}" if one.task else ""
        helpers = terminal.count(one.helpers, "helper") if one.helpers else ""
        about = ", ".join(filter(None, (_where(row), task, helpers, day_and_time(row.last_at))))
        rest = f" and {len(one.files) - _FILES} more" if len(one.files) > _FILES else ""
        files = f"edited {', '.join(one.files[:_FILES])}{rest}" if one.files else "has edited nothing lately"
        click.echo(printable(f"{row.client} {row.id[:SHORT]}  {one.on or 'no prompt yet'}  ({about})"))
        click.echo(f"    {printable(files)}")
        for clash in one.clashes:
            click.echo(click.style(f"    ! {printable(clash_words(clash))}", fg="yellow"))
    if not found:
        click.echo("no session works now: `nmem sessions` lists every one")
    elif len(found) < of:
        click.echo(f"{len(found)} of {of:,} sessions: --limit lists more")


def clash_words(one: Clash) -> str:
    """Who edits which file as well."""
    where = "as well" if one.same_checkout else "in another checkout"
    return f"{one.file} was edited by {one.client} {one.session[:SHORT]} {where}, last at {terminal.clock(one.at)}"


def _none(narrowed: bool) -> str:
    if narrowed:
        return "no session like that: `nmem sessions --all` lists every one"
    return "no session is recorded yet: `nmem init` connects your clients, `nmem import` loads earlier sessions"


def _row(one: Listed) -> tuple[str, ...]:
    last = day_and_time(one.last_at)
    return one.state, one.id[:SHORT], one.client, _where(one), last, str(one.prompts), f"{one.name}{_said(one)}"


def _where(one: Listed) -> str:
    return f"{one.project} ({one.branch})" if one.branch not in ("", "HEAD") else one.project


def _said(one: Listed) -> str:
    """What the person says of it beside its name."""
    return "".join(f" #{each}" for each in one.tags) + (" (archived)" if one.archived else "")


def _line(one: Listed, cells: int, *, where: bool) -> str:
    """A session in one line of a terminal; in a narrow one all but state, project and day give way to the name."""
    row, said = _row(one), printable(_said(one))
    place, last = (row[3], row[4]) if cells >= _WIDE else (one.project, row[4][:10])
    line = _cells((*row[:3], place, last, row[5], ""), cells, where=where)
    return f"{line}{fit(printable(one.name), max(8, cells - width(line) - width(said)))}{said}"


def _cells(row: tuple[str, ...], cells: int, *, where: bool) -> str:
    """The columns of a line, the last as it is."""
    wide, middle = cells >= _WIDE, cells >= _MIDDLE
    place = 26 if wide else 16 if middle else 13
    sizes = (9, SHORT + 2, 8 if wide else 0, place if where or wide else 0, 18 if wide else 12, 9 if middle else 0)
    shown = (pad(fit(printable(text), size - 2), size) for text, size in zip(row, sizes, strict=False) if size)
    return "".join(shown) + row[-1]


@command.command("name")
@click.argument("session", type=terminal.session)
@click.argument("name", required=False, default="")
def name_(session: str, name: str) -> None:
    """Call SESSION by a NAME of your own; without one, by the title that was found."""
    with terminal.writing() as db:
        session_id = session_of(db, session)
        kept = marks.rename(db, session_id, name, terminal.now())
    said = f"is now called “{printable(kept)}”" if kept else "is called by its own title again"
    click.echo(f"session {session_id[:SHORT]} {said} ({_UNDO})")


@command.command("tag")
@click.argument("session", type=terminal.session)
@click.argument("tags", nargs=-1, required=True, metavar="TAG...")
def tag_(session: str, tags: tuple[str, ...]) -> None:
    """Add tags to SESSION: words of your own, to list by."""
    _retag(session, tags, ())


@command.command("untag")
@click.argument("session", type=terminal.session)
@click.argument("tags", nargs=-1, required=True, metavar="TAG...")
def untag_(session: str, tags: tuple[str, ...]) -> None:
    """Take tags of SESSION away."""
    _retag(session, (), tags)


def _retag(session: str, more: tuple[str, ...], gone: tuple[str, ...]) -> None:
    with terminal.writing() as db:
        session_id = session_of(db, session)
        left = marks.retag(db, session_id, more, gone, terminal.now())
    click.echo(f"session {session_id[:SHORT]}: {_tags(left)} ({_UNDO})")


def _tags(left: tuple[str, ...]) -> str:
    return printable(" ".join(f"#{each}" for each in left)) or "no tags"


@command.command("archive")
@click.argument("session_ids", nargs=-1, required=True, metavar="SESSION...", type=terminal.session)
def archive_(session_ids: tuple[str, ...]) -> None:
    """Put sessions away: the list leaves them out, everything else keeps them."""
    _archive(session_ids, on=True)


@command.command("unarchive")
@click.argument("session_ids", nargs=-1, required=True, metavar="SESSION...", type=terminal.session)
def unarchive_(session_ids: tuple[str, ...]) -> None:
    """Bring archived sessions back into the list."""
    _archive(session_ids, on=False)


def _archive(given: tuple[str, ...], *, on: bool) -> None:
    with terminal.writing() as db, corrections.together():
        for session_id in [session_of(db, each) for each in given]:
            marks.archive(db, session_id, on, terminal.now())
            click.echo(f"session {session_id[:SHORT]} is {'archived' if on else 'listed again'} ({_UNDO})")
