"""Helpers of all commands: opening the database, parsing times, printing sections to a terminal or a pipe."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from capture import paths
from capture.storage import store
from capture.storage.schema import NewerDatabase
from nmem import database, tables, upgrade
from nmem.errors import NmemError, NoDatabase
from nmem.hours import utc
from nmem.text import lines, printable, whole_minutes

if TYPE_CHECKING:
    from rich.progress import Progress

_WAIT = 10.0
_DAY = 86_400_000
_SPANS = {"h": 3_600_000, "d": _DAY, "w": 7 * _DAY}

_MOST = 1_000_000
LIMIT, LIMIT_OR_NONE = click.IntRange(1, _MOST), click.IntRange(0, _MOST)
"""How many to list, for every command: what fits a database's numbers."""
Section = tuple[str, Sequence[tuple[str, str]]]
"""A heading, and rows of a label and a text."""


class Default(click.Group):
    """A group that alone lists its subject: options that no subcommand takes are those of `list`."""

    def __init__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **{"no_args_is_help": False, **more})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list` in front where no subcommand is named."""
        if not args or (args[0].startswith("-") and args[0] not in ("-h", "--help")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def number_of(word: str, short: str = "") -> Callable[[str], int]:
    """Reads the number of an episode, thread or prompt: `12`, or `episode/12` as it is printed; also with the `short`
    word."""

    def read(value: str) -> int:
        before, slash, number = value.partition("/")
        text = number if slash and before in (word, short) else value
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            article = "an" if word[0] in "aeiou" else "a"
            raise click.UsageError(f"{named(value)} is not the number of {article} {word}: 12 or {word}/12")
        return int(text)

    read.__name__ = word
    return read


EPISODE, PROMPT, THREAD = number_of("episode"), number_of("prompt"), number_of("thread")


def session(value: str) -> str:
    """The type of an argument that names a session, as `nmem.read.listing.session_of` takes it: never an empty one."""
    if not value.strip().removeprefix("session/"):
        raise click.UsageError(f"{named(value)} names no session: give the beginning of its id, or last")
    return value


def named(value: str) -> str:
    """What was given, for a message; an empty text can be seen."""
    return printable(value) if value.strip() else f"“{printable(value)}”"


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@contextmanager
def reading(what: str = "episodes") -> Iterator[sqlite3.Connection]:
    """The database for reading; what goes wrong is one line. `what` is there only once something was settled."""
    db = database.one_moment(database.leniently(upgrade.reader(paths.database())))
    try:
        yield db
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise NmemError(f"{paths.database()}: {database.worded(error)}") from None
        raise NmemError(f"no {what} yet: the next session or `nmem settle` makes the first") from None
    finally:
        db.close()


@contextmanager
def writing() -> Iterator[sqlite3.Connection]:
    """The database for writing; what goes wrong is one line."""
    from nmem.purge import run  # on use: start-up stays short
    from nmem.purge.store import waiting  # on use: start-up stays short

    upgrade.reader(paths.database()).close()
    try:
        db = store.connect(paths.database(), timeout=_WAIT)
    except (sqlite3.Error, OSError, NewerDatabase) as error:
        raise NmemError(f"{paths.database()} cannot be written: {database.worded(error)}") from None
    try:
        tables.ensure(db)
        if waiting(db, now()):
            run.expire(db, paths.database(), now())
        yield db
    except (sqlite3.Error, NewerDatabase) as error:
        raise NmemError(f"{paths.database()}: {database.worded(error)}") from None
    finally:
        db.close()


@contextmanager
def progress_bar(*columns: str) -> Iterator[Progress]:
    """A bar on standard error, gone at its end; columns: `bar`, `left` (time), `of` (steps), else a format of rich."""
    from rich import progress as parts  # on use: start-up stays short
    from rich.console import Console  # on use: start-up stays short

    known = {"bar": parts.BarColumn, "left": parts.TimeRemainingColumn, "of": parts.MofNCompleteColumn}
    shown = [known[each]() if each in known else parts.TextColumn(each) for each in columns]
    with parts.Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        yield bar


@contextmanager
def kept() -> Iterator[sqlite3.Connection | None]:
    """The database, for what undo needs; None where nothing is recorded yet, or it cannot be kept, which is told."""
    with ExitStack() as open_:
        db = None
        try:
            db = open_.enter_context(writing())
        except NoDatabase:
            pass
        except NmemError as error:
            click.echo(f"note: `nmem undo` cannot undo this: {error}", err=True)
        yield db


def when(text: str, option: str = "--since") -> int:
    """2026-01-31, 2026-01-31T10:00, 7d, 12h or 4w as milliseconds; `option` is what was given so."""
    try:
        if text[-1:] in _SPANS:
            return now() - int(float(text[:-1].replace("-", "no sign")) * _SPANS[text[-1]])  # not in the future
        return int(datetime.fromisoformat(text).astimezone(UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise click.UsageError(
            f"{option}: invalid time {printable(text)!r}: use 2026-01-31, 2026-01-31T10:00, 7d, 12h or 4w"
        ) from None


def local(at: int) -> datetime:
    """Milliseconds as the person's own time."""
    return utc(at).astimezone()


def day(at: int, today: int) -> str:
    """Today, yesterday, or the day; the year only where it is another one."""
    then, this = local(at), local(today)
    name = f"{then:%a} {then.day} {then:%b}"
    distance = (this.date() - then.date()).days
    word = {0: "Today, ", 1: "Yesterday, "}.get(distance, "")
    return f"{word}{name}" if then.year == this.year else f"{name} {then.year}"


def clock(at: int) -> str:
    """Hours and minutes."""
    return f"{local(at):%H:%M}"


def span(ms: int) -> str:
    """How long, in at most six cells."""
    minutes = whole_minutes(ms)
    if ms < 60_000:
        return f"{ms // 1000} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60}h{minutes % 60:02d}"


def count(number: int, what: str) -> str:
    """1 prompt, 2 prompts."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def is_terminal() -> bool:
    """Whether a person reads it, and not a pipe."""
    return sys.stdout.isatty()


def piped(title: str, columns: str, rows: Iterable[str]) -> None:
    """A list for a pipe: its title and the names of its columns, each behind a #, and rows whose cells tabs part."""
    click.echo("\n".join([f"# {printable(title)}", "# " + "\t".join(columns.split()), *rows]))


def wrapped(line: str, indent: str = "") -> str:
    """A line broken between words at the terminal's width, the next ones behind `indent`; whole in a pipe."""
    if not is_terminal():
        return line
    from shutil import get_terminal_size  # on use: start-up stays short
    from textwrap import fill  # on use: start-up stays short

    room = max(20, get_terminal_size().columns - 1)
    return fill(line, room, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def say(heading: str, sections: Sequence[Section]) -> None:
    """A heading and sections; folded to the terminal's width, or one line a row with tabs when piped."""
    full = [(title, rows) for title, rows in sections if rows]
    if not is_terminal():
        click.echo(f"# {printable(heading)}")
        for title, rows in full:
            if title:
                click.echo(f"\n## {printable(title)}")
            for label, text in rows:
                click.echo(f"{printable(label)}\t{printable(text)}" if label else printable(text))
        return
    from rich.console import Console  # on use: start-up stays short
    from rich.table import Table  # on use: start-up stays short
    from rich.text import Text  # on use: start-up stays short

    console = Console(highlight=False)
    console.print(Text(printable(heading), "bold"))
    for title, rows in full:
        console.print(Text(f"\n{printable(title)}", "bold") if title else "")
        grid = Table.grid(padding=(0, 2), pad_edge=False)
        grid.add_column(no_wrap=True, style="dim")
        grid.add_column(overflow="fold", ratio=1)
        for label, text in rows:
            grid.add_row(Text(printable(label)), Text("\n".join(lines(text, 200))))
        console.print(grid)
