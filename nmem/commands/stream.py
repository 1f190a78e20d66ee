"""`nmem stream`: sends events as JSON lines to a file, a pipe, VictoriaLogs or Loki, from where it ended last."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, nullcontext

import click

from capture import paths
from nmem import database, upgrade
from nmem.commands import terminal
from nmem.errors import NmemError
from nmem.marks import KINDS as MARKS
from nmem.read.stream import SOURCES, Marks, Wanted
from nmem.settings import file as settings
from nmem.settings.kinds import DAYS, SAYINGS
from nmem.share import streaming, targets
from nmem.share.streaming import Cursor, Run
from nmem.store.project import named
from nmem.text import printable, to_json

TYPES = (*SOURCES, *(each for each in DAYS if each not in SAYINGS), *MARKS)


def _types(_: click.Context, __: click.Parameter, given: str) -> tuple[str, ...]:
    """Words between commas; `user/prompt` is one kind of what a source says."""
    words = tuple(dict.fromkeys(word for each in given.split(",") if (word := each.strip())))
    for word in words:
        if word not in TYPES and word.partition("/")[0] not in SOURCES:
            raise click.UsageError(f"--types: {printable(word)!r} is no type; they are {', '.join(TYPES)}")
    return words


def _headers(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Names and values; `$NAME` as a whole value is read from the environment, where no list of processes shows it."""
    out = {}
    for each in given:
        name, colon, value = (part.strip() for part in each.partition(":"))
        if value.startswith("$") and value[1:].isidentifier():
            if value[1:] not in os.environ:
                raise click.UsageError(f"--header {printable(name)}: {printable(value)} is not set in the environment")
            value = os.environ[value[1:]]
        if not colon or not name or not f"{name}{value}".isascii() or not f"{name}{value}".isprintable():
            raise click.UsageError("--header: give it as 'X-Scope-OrgID: team'")
        out[name] = value
    return out


@click.command()
@click.option("--to", default="", metavar="TARGET",
              help="FILE, a named pipe, http://… or loki+http://…; default: standard output.")  # fmt: skip
@click.option("--follow", is_flag=True, help="Go on with what comes, until you press Ctrl-C.")
@click.option("--since", metavar="WHEN", help="Nothing from before: 2026-01-31, 7d, 12h; 0h: only what comes.")
@click.option("--project", default="", help="Only this project (name, key or root folder).")
@click.option("--types", default="", callback=_types, metavar="TYPES", help="Only these, such as test,file_edit,user.")
@click.option("--name", default="", help="Keep a cursor of this name; standard output has none otherwise.")
@click.option("--again", is_flag=True, help="Begin with the first event again.")
@click.option("--header", "headers", multiple=True, callback=_headers, metavar="'NAME: VALUE'",
              help="A header of each request; '$NAME' as its value reads the environment.")  # fmt: skip
@click.option("--allow-remote", is_flag=True, help="Let events leave this machine, to an endpoint on another one.")
@click.option("--rotate-mb", type=click.IntRange(1, 100_000), default=64, show_default=True,
              help="A FILE of this size becomes FILE.1.")  # fmt: skip
@click.option("--keep", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many of these are kept.")
@click.option("--list", "listing", is_flag=True, help="How far each target got, and what went wrong last.")
@click.option("--json", "as_json", is_flag=True, help="A summary as one JSON object at the end; needs --to.")
def command(
    to: str, follow: bool, since: str | None, project: str, types: tuple[str, ...], name: str, again: bool,
    headers: dict[str, str], allow_remote: bool, rotate_mb: int, keep: int, listing: bool, as_json: bool,
) -> int:  # fmt: skip
    """Send every prompt and call as one line of JSON, redacted once more, and end when all is sent.

    Each target has a cursor: the next run goes on behind it. An event may come twice, never not at all; its id tells.
    Exit code 1: the target took nothing, and the events wait for the next run.
    """
    if listing:
        _say_cursors(streaming.cursors(paths.database()), as_json=as_json)
        return 0
    if as_json and to in ("", "-"):
        raise click.UsageError("--json needs --to: standard output holds the events")
    if headers and "://" not in to:
        raise click.UsageError("--header is for http:// and loki+http://")
    remote = allow_remote or settings.values("stream").get("allow_remote") is True
    target = targets.target(to, headers, rotate_mb * 1_000_000, keep, remote=remote)
    path = paths.database()
    with closing(upgrade.reader(path)) as db:
        wanted = Wanted(named(db, project).id if project else 0, types, terminal.when(since) if since else 0)
    own = name or ("" if to in ("", "-") else _place(to))
    scope = f"project {wanted.project_id}" if project else ""  # its name would outlive a purge of the project
    shown = ", ".join(filter(None, (name, target.name, scope, " ".join(types))))
    with streaming.cursor(path, own, wanted, shown) if own else nullcontext(Cursor()) as cursor:
        if again:
            cursor.move(Marks())
        run = Run(path, target, wanted, cursor, _tell, follow)
        try:
            run.go()
        except KeyboardInterrupt:
            pass  # how following ends
        except sqlite3.Error as error:
            raise NmemError(f"{path}: {database.worded(error)}") from None
        finally:
            target.close()
    _say(run, as_json=as_json, quietly=to in ("", "-"))
    return 1 if run.waiting else 0


def _tell(said: str) -> None:
    click.echo(f"nmem stream: {printable(said)}", err=True)


def _place(to: str) -> str:
    """The same for a file however it is named."""
    return to if "://" in to else os.path.abspath(to)  # noqa: PTH100 - a link to a file is a target of its own


def _say(run: Run, *, as_json: bool, quietly: bool) -> None:
    """What was sent, and what was not."""
    counts = {"sent": run.sent, "failed_tries": run.failed, "refused": run.refused, "replaced_now": run.replaced}
    if as_json:
        ended = {"waiting": run.waiting, "trouble": run.cursor.trouble}
        click.echo(to_json({"target": run.target.name, **counts, **ended}))
        return
    if not quietly:
        tries = f"; {terminal.count(run.failed, 'try').replace('trys', 'tries')} failed" if run.failed else ""
        passed = f"; {terminal.count(run.refused, 'event')} refused and passed over" if run.refused else ""
        click.echo(f"{terminal.count(run.sent, 'event')} sent to {printable(run.target.name)}{tries}{passed}")
    if run.replaced:
        places = terminal.count(run.replaced, "place")
        click.echo(f"{places} held a secret that is stored as it was: `nmem redact --history` removes it", err=True)
    if run.waiting:
        click.echo(
            f"{run.target.name} took {'no more' if run.sent else 'nothing'}: the events wait, run it again", err=True
        )


def _say_cursors(found: list[Cursor], *, as_json: bool) -> None:
    if as_json:
        click.echo(to_json({"targets": found}))
        return
    for one in found:
        refused = f", {one.refused:,} refused" if one.refused else ""
        failed = f", {one.failed:,} tries failed" if one.failed else ""
        last = f"{terminal.local(one.at):%Y-%m-%d %H:%M}"
        click.echo(f"{printable(one.target)}  {one.sent:,} sent{refused}{failed}, last {last}")
        if one.trouble:
            click.echo(f"    {printable(one.trouble)}")
    if not found:
        click.echo("no target yet: `nmem stream --to FILE` makes the first")
