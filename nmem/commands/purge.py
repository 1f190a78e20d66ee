"""`nmem purge`: forgets selected records completely, after a preview and with an undo window."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from capture import paths
from capture.storage.schema import NewerDatabase
from nmem.commands import terminal
from nmem.database import worded
from nmem.errors import NmemError
from nmem.purge import said
from nmem.purge.preview import preview
from nmem.purge.selection import Selection, parse
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from nmem.purge.preview import Preview
    from nmem.purge.run import Purged
    from nmem.purge.selection import Selection


@click.command()
@click.option("--id", "ids", multiple=True, metavar="ID", help="obs/12, prompt/5, episode/3, session/ID, thread/4 ...")
@click.option("--session", "sessions", multiple=True, metavar="ID", help="A session, by the beginning of its id.")
@click.option("--project", "projects", multiple=True, metavar="NAME", help="A project, by its name or folder.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="Calls on a file, by its path as listed.")
@click.option(
    "--text", "texts", multiple=True, help="Everything that contains this text, in any case; no copy remains."
)
@click.option("--regex", "regexes", multiple=True, help="Everything that matches this regular expression.")
@click.option("--before", metavar="TIME", help="Everything older: 2026-01-31, 7d, 12h or 4w.")
@click.option("--since", metavar="TIME", help="Everything not older.")
@click.option("--backups", is_flag=True, help="Delete backups that contain it, too; for whole sessions, all backups.")
@click.option("--dry-run", is_flag=True, help="Show what would go, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--now", "at_once", is_flag=True, help="Delete at once, without an undo window.")
@click.option("--whole", is_flag=True, help="Rewrite the database file, however large it is.")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, help="How many rows to show.")
@click.option("--list", "listing", is_flag=True, help="Show past purges, in numbers.")
@click.option("--empty", is_flag=True, help="Destroy the data kept for undo, now.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output; with --yes or --dry-run.")
def command(
    ids: tuple[str, ...], sessions: tuple[str, ...], projects: tuple[str, ...], files: tuple[str, ...],
    texts: tuple[str, ...], regexes: tuple[str, ...], before: str | None, since: str | None, backups: bool,
    dry_run: bool, yes: bool, at_once: bool, whole: bool, limit: int, listing: bool, empty: bool, as_json: bool,
) -> None:  # fmt: skip
    """Forget what you name: rows, what was made of them, indexes, files. Different options narrow each other."""
    if listing or empty:
        _past(empty, as_json)
        return

    several = {"--id": ids, "--session": sessions, "--project": projects, "--file": files, "--text": texts,
               "--regex": regexes, "--before": () if before is None else (before,),
               "--since": () if since is None else (since,)}  # fmt: skip
    for option, values in several.items():
        if not all(one.strip() for one in values):
            raise click.UsageError(f"{option} is empty")
    given = (ids, sessions, projects, files, texts, regexes, before, since)
    if not any(given):
        said = "--id, --session, --project, --file, --text, --regex, --before or --since"
        raise click.UsageError(f"nothing selected: use {said}")
    if as_json and not (yes or dry_run):
        raise click.UsageError("--json goes with --yes or --dry-run")
    chosen = Selection(
        tuple(map(parse, ids)), sessions, projects, files, texts, regexes,
        terminal.when(before, "--before") if before else None, terminal.when(since) if since else None,
    )  # fmt: skip
    if not yes or dry_run:
        shown = _preview(chosen, limit)
        if as_json:
            click.echo(to_json({"preview": shown}))
        else:
            _show(shown, backups)
        if dry_run or (shown.empty and not (backups and shown.backups)):
            return
        if not click.confirm("Purge this?", err=True):
            raise NmemError("nothing was purged")
    _purge(chosen, backups, at_once, whole, as_json)


def _preview(chosen: Selection, limit: int) -> Preview:
    with terminal.reading("sessions") as db:
        return preview(db, chosen, paths.database(), limit)


def _show(shown: Preview, backups: bool) -> None:
    if shown.empty:
        click.echo("nothing recorded matches this selection")
        return
    today = terminal.now()

    rows = [(f"{terminal.day(one.at, today)} {terminal.clock(one.at)}  {one.id}", f"{one.kind}: {one.text}")
            for one in shown.items]  # fmt: skip
    more = shown.total - len(shown.items)
    made = [(name, str(number)) for name, number in shown.derived.items()]
    if shown.sessions:
        made.append(("told anew", terminal.count(len(shown.sessions), "session")))
    beside = [("file", path) for path in shown.files]
    beside += [("backup" if backups else "backup, stays", path) for path in shown.backups]
    beside += [("the client's own, stays", path) for path in shown.transcripts]
    beyond = [(name, str(number)) for name, number in said.elsewhere(shown.elsewhere).items()]
    terminal.say("What would go", [
        ("", [("These go", said.goes(shown.rows))]), (f"The first {len(rows)}" if more > 0 else "Each", rows),
        ("Derived from them: deleted, or rebuilt from the rest", made),
        ("Mentioned elsewhere: blanked, counted over all tables", beyond),
        ("Files", beside),
    ])  # fmt: skip


def _purge(chosen: Selection, backups: bool, at_once: bool, whole: bool, as_json: bool) -> None:
    from nmem import settle, upgrade  # on use: start-up stays short
    from nmem.purge import run  # on use: start-up stays short

    path = paths.database()
    upgrade.reader(path).close()

    def say(text: str) -> None:
        if not as_json:
            click.echo(f"{text} ...", err=True)

    try:
        done = run.purge(path, chosen, terminal.now(), window=0 if at_once else None, backups=backups, say=say,
                         whole=True if whole else None)  # fmt: skip
        say("rewriting the remaining stories")
        settle.at_once(path)
    except (sqlite3.Error, NewerDatabase) as error:
        raise NmemError(f"{path}: {worded(error)}") from None
    if as_json:
        clean = done.clean and not (done.stays or done.left)
        click.echo(to_json({**asdict(done), "clean": clean}))
    else:
        _told(done)
    if done.left:
        raise NmemError("copies remain in: " + "; ".join(done.left))


def _told(done: Purged) -> None:
    click.echo(f"purged: {said.goes(done.rows)}; other writers waited {done.locked:.1f} s")
    if done.backups:
        click.echo(f"backups gone: {len(done.backups)}")
    for path in done.stays:
        sealed = "may contain it, encrypted" if path.endswith(".age") else "still contains it"
        click.echo(f"a backup {sealed}: {printable(path)} (--backups deletes these, too)")
    for path in done.transcripts:
        click.echo(f"the client's own file stays: {printable(path)}")
    if done.keep_until > terminal.now():
        until = f"{terminal.day(done.keep_until, terminal.now())} {terminal.clock(done.keep_until)}"
        click.echo(f"`nmem undo` restores it until {until}; the data kept for that is encrypted")


def _past(empty: bool, as_json: bool) -> None:
    from nmem.purge import run, said  # on use: start-up stays short

    if empty:
        with terminal.writing() as db:
            number = run.empty(db, paths.database(), terminal.now())
        told = f"{terminal.count(number, 'purge')} can no longer be undone"
        click.echo(to_json({"emptied": number}) if as_json else told)
        return
    with terminal.reading("purges") as db:
        found = run.past(db)
    if as_json:
        click.echo(to_json({"purges": found}))
        return
    today = terminal.now()
    rows = [(f"{terminal.day(one.at, today)} {terminal.clock(one.at)}",
             f"purge/{one.number}: {one.went} {said.by(one.how)}; {one.said(today)}")
            for one in found]  # fmt: skip
    terminal.say("Purges, the newest first", [("", rows)]) if rows else click.echo("nothing was purged")
