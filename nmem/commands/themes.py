"""`nmem themes`: lists subjects of a project's episodes across sessions and threads."""

from __future__ import annotations

from dataclasses import asdict

import click

from nmem import themes
from nmem.commands.terminal import LIMIT, count, number_of, reading, when
from nmem.commands.threads import day_and_time, table
from nmem.errors import NmemError
from nmem.store.project import key_of
from nmem.text import to_json

THEME = number_of("theme")


@click.command()
@click.argument("theme", type=THEME, required=False)
@click.option("--project", default="", help="Only this project (name, key or root folder).")
@click.option("--since", metavar="WHEN", help="Only themes active since: 2026-01-31, 7d, 12h, 4w.")
@click.option("--limit", type=LIMIT, default=30, show_default=True, help="How many to list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(theme: int | None, project: str, since: str | None, limit: int, as_json: bool) -> None:
    """What the work is about, the most recently active first; with THEME its episodes."""
    if theme is not None and (project or since):
        raise click.UsageError("THEME excludes --project and --since: a theme belongs to one project")
    if theme is None:
        _listed(project, when(since) if since else 0, limit, as_json=as_json)
    else:
        _one(theme, limit, as_json=as_json)


def _listed(project: str, since: int, limit: int, *, as_json: bool) -> None:
    with reading("themes") as db:
        found = themes.themes(db, key_of(db, project), since, limit)
    if as_json:
        click.echo(to_json({"themes": found}))
        return
    if not found:
        click.echo("no themes: `nmem settle` groups episodes on the same subject")
    table("Themes", ("id", "project", "last", "episodes", "sessions", "words", "for example"), [
        (str(each.id), each.project, day_and_time(each.last_at), str(each.episodes), str(each.sessions), each.label,
         " ".join(each.example.split())[:120])
        for each in found
    ])  # fmt: skip


def _one(number: int, limit: int, *, as_json: bool) -> None:
    with reading("themes") as db:
        found, episodes = themes.theme(db, number), themes.episodes(db, number, limit)
    if found is None:
        raise NmemError(f"there is no theme {number}: `nmem themes` lists them")
    if as_json:
        click.echo(to_json({**asdict(found), "listed": episodes}))
        return
    table(f"Theme {number}: {found.label}", ("id", "last", "thread", "about"), [
        (f"episode/{each.id}", day_and_time(each.last_at), f"thread/{each.thread_id}" if each.thread_id else "",
         " ".join(each.name.split())[:120])
        for each in episodes
    ])  # fmt: skip
    if found.episodes > len(episodes):
        click.echo(f"({count(found.episodes - len(episodes), 'episode')} more: --limit)")
