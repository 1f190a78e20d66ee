"""`nmem episodes`: lists episodes; splits, merges, renames and moves them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from nmem.commands import terminal
from nmem.commands.terminal import EPISODE, PROMPT, THREAD, Default
from nmem.read import listing
from nmem.store.project import key_of
from nmem.text import fit, pad, printable, to_json, width

if TYPE_CHECKING:
    from rich.text import Text

    from nmem.read.episodes import EpisodeRow

_UNDO = "`nmem undo` takes it back"
_NARROWEST, _WIDE, _OUTCOME = 36, 110, 24
"""Cells of a name at least, of a terminal that has room for all columns, and of an outcome at most."""


@click.group(cls=Default)
def command() -> None:
    """Episodes of work: list, show, split, merge, rename, resume, move, pin."""


@command.command("list")
@click.option("--project", default="", help="Only this project (name, key or root folder).")
@click.option("--thread", type=THREAD, metavar="THREAD", help="Only this thread.")
@click.option("--since", metavar="WHEN", help="Only episodes active since: 2026-01-31, 7d, 12h, 4w.")
@click.option("--limit", type=terminal.LIMIT, default=30, show_default=True, help="How many to list.")
@click.option("--team", is_flag=True, help="Others' episodes of shared projects, and yours of other machines.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def list_(project: str, thread: int | None, since: str | None, limit: int, team: bool, as_json: bool) -> None:
    """List episodes, the most recently active first."""
    after = terminal.when(since) if since else 0
    if team:
        if thread is not None:
            raise click.UsageError("--team and --thread exclude each other: a thread is your own")
        _team(project, after, limit, as_json=as_json)
        return
    with terminal.reading() as db:
        found = listing.listed(db, project=key_of(db, project), thread=thread, since=after, limit=limit + 1)
    more, found = len(found) > limit, found[:limit]
    if as_json:
        click.echo(to_json({"episodes": found}))
    elif not terminal.is_terminal():
        terminal.piped("Episodes", "id started active turns state end project thread name", map(_tabs, found))
    elif not found:
        click.echo("no episodes: the next session begins one; `nmem import` loads past sessions")
    else:
        _print(found)
        if more:
            click.echo(f"older episodes are not listed: add --limit {10 * limit}")


def _team(project: str, after: int, limit: int, *, as_json: bool) -> None:
    """What others of the team worked on."""
    from nmem.commands import of_others  # on use: start-up stays short
    from nmem.teammates import live, read

    with terminal.reading() as db:
        found = read.listed(db, live.EPISODE, key_of(db, project), after, limit)
    if as_json:
        click.echo(to_json({"team": [one.form() for one in found]}))
    elif not found:
        click.echo("no episodes of others: `nmem sync` shares projects with a team")
    else:
        of_others.show(found, "Episodes of your team")


def _tabs(row: EpisodeRow) -> str:
    cells = (
        str(row.id), f"{terminal.local(row.started_at):%Y-%m-%d %H:%M}", terminal.span(row.active_ms),
        str(row.turns), row.state, row.outcome.words, row.project, str(row.thread_id or ""), " ".join(row.name.split()),
    )  # fmt: skip
    return "\t".join(printable(cell) for cell in cells)


def _print(found: Sequence[EpisodeRow]) -> None:
    """A line each, under the days; names take what the terminal leaves.

    A narrow one has the project above, not behind each name, where there are several.
    """
    from rich.console import Console  # on use: start-up stays short
    from rich.text import Text  # on use: start-up stays short

    console = Console(highlight=False)
    many, narrow = len({row.project for row in found}) > 1, console.width < _WIDE
    shape = _Shape(
        numbers=max(len(str(row.id)) for row in found), marks=max(len(_marks(row)) for row in found),
        outcomes=0 if narrow else max(width(row.outcome.words) for row in found),
        projects=min(12, max(width(printable(row.project)) for row in found)) if many and not narrow else 0,
    )  # fmt: skip
    today, last, place = terminal.now(), "", ""
    for row in found:
        day, where = terminal.day(row.last_at, today), row.project if many and narrow else ""
        if (day, where) != (last, place):
            head = Text(("\n" if last and day != last else "") + day, "bold")
            console.print(
                head.append(f"  {printable(where)}" if where else "", "dim"), no_wrap=True, overflow="ellipsis"
            )
            last, place = day, where
        console.print(_line(Text(), row, shape, console.width), no_wrap=True, overflow="ellipsis", crop=True)
    legend = [text for mark, text in _LEGEND.items() if any(mark in _marks(row) for row in found)]
    if legend:
        console.print(Text("\n" + "   ".join(legend), "dim"))


class _Shape(NamedTuple):
    """Cells of the columns of a list; 0: there is no such column, and an outcome stands where there is one."""

    numbers: int
    marks: int
    outcomes: int
    projects: int


def _line(line: Text, row: EpisodeRow, shape: _Shape, cells: int) -> Text:
    """One episode in the list: its name has what the others leave, and of a narrow terminal the larger part."""
    line.append(f"{row.id:>{shape.numbers}}  ", "cyan")
    line.append(f"{terminal.clock(row.started_at)}  {terminal.span(row.active_ms):>6}  ", "dim")
    if shape.marks:
        line.append(f"{_marks(row):<{shape.marks}}  ", "yellow")
    name, outcome = printable(" ".join(row.name.split())), row.outcome.words
    left = cells - line.cell_len - 1 - (shape.projects + 2 if shape.projects else 0)
    ends = min(_OUTCOME, shape.outcomes or width(outcome), max(0, left - _NARROWEST - 2))
    line.append(pad(name, left - (ends + 2 if ends else 0)))
    if ends:
        line.append("  " + pad(outcome, ends), "dim")
    if shape.projects:
        line.append("  " + fit(printable(row.project), shape.projects), "dim")
    line.rstrip()
    return line


_LEGEND = {"*": "* pinned", "o": "o open", "<": "< goes on with an earlier one", "?": "? perhaps two tasks"}


def _marks(row: EpisodeRow) -> str:
    on = {"*": row.pinned, "o": row.state == "open", "<": row.resumes, "?": bool(row.offered)}
    return "".join(mark for mark, is_on in on.items() if is_on)[:3]


@command.command()
@click.argument("episode", type=EPISODE)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--all", "whole", is_flag=True, help="Show everything said and done, including thinking.")
@click.pass_context
def show(ctx: click.Context, episode: int, as_json: bool, whole: bool) -> None:
    """The story of one episode."""
    from nmem.commands import show as shown  # on use: start-up stays short

    ctx.invoke(shown.command, what=f"episode/{episode}", as_json=as_json, whole=whole)


@command.command()
@click.argument("episode", type=EPISODE)
@click.option(
    "--at", "prompt", type=PROMPT, required=True, metavar="PROMPT", help="The prompt that begins the new episode."
)
def split(episode: int, prompt: int) -> None:
    """Begin a new episode at a prompt, with all that follow it."""
    from nmem.episodes import corrections, storytelling  # on use: start-up stays short

    with terminal.writing() as db:
        made = corrections.split(db, episode, prompt, terminal.now())
        storytelling.retell(db, (episode, made), terminal.now())
    click.echo(f"episode {episode} ends before prompt {prompt}; episode {made} begins there ({_UNDO})")


@command.command()
@click.argument("episode", type=EPISODE)
@click.argument("into", type=EPISODE)
def merge(episode: int, into: int) -> None:
    """Put the prompts of EPISODE into INTO."""
    from nmem.episodes import corrections, storytelling  # on use: start-up stays short

    with terminal.writing() as db:
        corrections.merge(db, episode, into, terminal.now())
        storytelling.retell(db, (into,), terminal.now())
    click.echo(f"episode {episode} is now part of episode {into} ({_UNDO})")


@command.command()
@click.argument("episode", type=EPISODE)
@click.argument("title")
def rename(episode: int, title: str) -> None:
    """Give an episode your own name.

    An empty one ("") gives it back its opening prompt.
    """
    from nmem.episodes import corrections  # on use: start-up stays short

    with terminal.writing() as db:
        corrections.rename(db, episode, title, terminal.now())
    click.echo(f"episode {episode} is {'renamed' if title.strip() else 'named after its prompt again'} ({_UNDO})")


@command.command()
@click.argument("episode", type=EPISODE)
@click.argument("earlier", type=EPISODE)
def resume(episode: int, earlier: int) -> None:
    """Say that EPISODE goes on with the goal of EARLIER."""
    from nmem.episodes import corrections  # on use: start-up stays short

    with terminal.writing() as db:
        corrections.resume(db, episode, earlier, terminal.now())
    click.echo(f"episode {episode} continues episode {earlier} ({_UNDO})")


@command.command()
@click.argument("episode", type=EPISODE)
def unresume(episode: int) -> None:
    """Say that EPISODE is a goal of its own."""
    from nmem.episodes import corrections  # on use: start-up stays short

    with terminal.writing() as db:
        corrections.unresume(db, episode, terminal.now())
    click.echo(f"episode {episode} continues no other episode ({_UNDO})")


@command.command()
@click.argument("prompt", type=PROMPT)
@click.argument("episode", type=EPISODE)
def move(prompt: int, episode: int) -> None:
    """Put one PROMPT, with what was done after it, into EPISODE."""
    from nmem.episodes import corrections, storytelling, units  # on use: start-up stays short

    with terminal.writing() as db:
        left = units.of_prompt(db, prompt)
        corrections.move(db, prompt, episode, terminal.now())
        storytelling.retell(db, (episode, left or 0), terminal.now())
    click.echo(f"prompt {prompt} is now in episode {episode} ({_UNDO})")


@command.command()
@click.argument("prompt", type=PROMPT)
def keep(prompt: int) -> None:
    """Agree with what was decided at PROMPT.

    That a new task begins there, or that the same one goes on; a prompt marked ? is settled by it.
    """
    from nmem.episodes import corrections  # on use: start-up stays short

    with terminal.writing() as db:
        corrections.keep(db, prompt, terminal.now())
    click.echo(f"prompt {prompt} keeps its place in all later detection ({_UNDO})")


@command.command()
@click.argument("episode", type=EPISODE)
def pin(episode: int) -> None:
    """Pin an episode: it is kept, and comes first."""
    _pin(episode, pinned=True)


@command.command()
@click.argument("episode", type=EPISODE)
def unpin(episode: int) -> None:
    """Take an episode's pin away."""
    _pin(episode, pinned=False)


def _pin(episode: int, *, pinned: bool) -> None:
    from nmem.episodes import corrections  # on use: start-up stays short

    with terminal.writing() as db:
        corrections.pin(db, episode, pinned, terminal.now())
    click.echo(f"episode {episode} is {'pinned' if pinned else 'no longer pinned'} ({_UNDO})")
