"""`nmem hot`: ranks files and folders by edits, failures, taken-back work and people; lists what git moved."""

from __future__ import annotations

from shutil import get_terminal_size
from sqlite3 import Connection

import click

from nmem import hot, structure
from nmem.commands import terminal
from nmem.commands.learn import project_of
from nmem.commands.threads import table
from nmem.errors import NmemError
from nmem.learn import config
from nmem.text import fit_path, printable, to_json

_BAR = 20
_WIDE, _BESIDE = 120, 28
"""Columns of a terminal from which on all is told of a file; those that the figures beside its name take else."""


@click.command()
@click.option("--project", default="", help="Use this project (name, key or root); default: the current folder's.")
@click.option("--since", metavar="WHEN", help="Count only work since: 2026-01-31, 7d, 12h, 4w.")
@click.option("--map", "as_map", is_flag=True, help="Folders instead of files, as a tree with bars.")
@click.option("--moved", is_flag=True, help="Files that git moved, renamed, deleted or added, the newest first.")
@click.option("--limit", type=terminal.LIMIT, default=20, show_default=True, help="How many to list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(project: str, since: str | None, as_map: bool, moved: bool, limit: int, as_json: bool) -> None:
    """Which files of a project are hot: edited often, failing, taken back, changed by several people.

    An edit counts 1, a failure 2, an edit that was taken back 3, at most 10 for one file in one session; each session
    is halved for every half-life (learn.half_life_days) before the project's newest work. Each further person who
    committed to the file adds a quarter. The hottest file has 100. Lockfiles, generated files and scripts that sessions
    only tried something with come last.
    """
    if as_map and moved:
        raise click.UsageError("--map excludes --moved: one is of folders, the other of files")
    after = terminal.when(since) if since else 0
    with terminal.reading() as db:
        project_id, name = project_of(db, project, everywhere=False)
    assert project_id is not None
    _look(project_id)
    with terminal.reading() as db:
        if moved:
            _moved(db, project_id, name, after, limit, as_json=as_json)
            return
        found = hot.hot(db, project_id, terminal.now(), after)
    if as_map:
        _map(found, name, limit, as_json=as_json)
    else:
        _files(found, name, limit, as_json=as_json)


def _look(project_id: int) -> None:
    """What git did since settling looked last; where that cannot be kept, what is known is told."""
    try:
        with terminal.writing() as db:
            structure.keep(db, terminal.now(), project_id=project_id)
    except NmemError:
        return


def _files(found: list[hot.Spot], name: str, limit: int, *, as_json: bool) -> None:
    if as_json:
        files = found[:limit]
        click.echo(to_json({"project": name, "half_life_days": config.load().half_life_days, "files": files}))
        return
    if not found:
        click.echo(f"no session edited a file of {printable(name)} in that time")
        return
    heads = ["heat", "edits", "failed", "taken back", "sessions", "people", "last", "file"]
    rows = [
        [
            str(one.heat), str(one.edits), str(one.failures), str(one.taken_back), str(one.sessions),
            str(len(one.people) or "–"), f"{terminal.local(one.last_at):%Y-%m-%d}", f"{one.path}{hot.remark(one)}",
        ]
        for one in found[:limit]
    ]  # fmt: skip
    columns = get_terminal_size().columns if terminal.is_terminal() else 0
    if 0 < columns < _WIDE:  # a line a file: what ranks them, and their names
        heads, rows = [*heads[:3], heads[-1]], [[*row[:3], fit_path(row[-1], columns - _BESIDE)] for row in rows]
    table(f"Hot files of {name}", tuple(heads), [tuple(row) for row in rows])
    if len(found) > limit:
        click.echo(f"({terminal.count(len(found) - limit, 'file')} more: --limit)")


def _map(found: list[hot.Spot], name: str, limit: int, *, as_json: bool) -> None:
    folders = hot.folders(found, limit)
    if as_json:
        click.echo(to_json({"project": name, "folders": folders}))
        return
    if not folders:
        click.echo(f"no session edited a file of {printable(name)} in that time")
        return
    bars = terminal.is_terminal()
    table(f"Hot folders of {name}", ("heat", *(("",) if bars else ()), "files", "edits", "failed", "folder"), [
        (
            f"{one.share:.0%}", *((hot.bar(one.share, _BAR),) if bars else ()), str(one.files), str(one.edits),
            str(one.failures), f"{'  ' * one.depth}{one.name or name}" if bars else one.path or name,
        )
        for one in folders
    ])  # fmt: skip


def _moved(db: Connection, project_id: int, name: str, since: int, limit: int, *, as_json: bool) -> None:
    changes = structure.changes(db, project_id, since, limit)
    if as_json:
        click.echo(to_json({"project": name, "changes": changes}))
        return
    if not changes:
        click.echo(f"git moved, renamed, deleted or added no file of {printable(name)} since nmem first looked")
    table(f"Moved files of {name}", ("when", "commit", "change", "file"), [
        (
            f"{terminal.local(one.at):%Y-%m-%d %H:%M}", one.commit, one.change,
            one.path if one.path == one.name or not one.name else f"{one.path} → {one.name}",
        )
        for one in changes
    ])  # fmt: skip
