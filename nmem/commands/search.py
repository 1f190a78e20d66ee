"""`nmem search`: searches everything recorded; prints for a terminal, a pipe, or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nmem.commands import of_others, terminal
from nmem.search import others
from nmem.search.query import MEANT, filters, typed_words
from nmem.search.rank import NEWEST, RELEVANCE
from nmem.search.search import NEAREST, index, search
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from rich.text import Text

    from nmem.search.rows import Facet
    from nmem.search.search import Hit, Results
    from nmem.teammates.read import Fact

SECONDS = 1.0
"""Nobody is typing: a busy machine gets longer than a keystroke."""
_MOST = 200
_FACETS, _OTHERS = 6, 8
_SESSION = len("session/") + 8


@click.command()
@click.argument("query", nargs=-1)
@click.option("--project", multiple=True, help="Only this project; a part of its name is enough.")
@click.option(
    "--type", "type_", multiple=True, help="Only these types: prompt, episode, learning, git_commit, test ..."
)
@click.option("--since", multiple=True, metavar="WHEN", help="Only since then: 30m, 12h, 7d, 4w, today, 2026-01-31.")
@click.option("--client", multiple=True, help="Only from this client: claude, codex, gemini ...")
@click.option("--limit", type=click.IntRange(1, _MOST), default=20, show_default=True, help="How many to list.")
@click.option("--newest", is_flag=True, help="Sort by newest, not by best match.")
@click.option("--cursor", default="", metavar="NEXT", help="The next page: the value of `next` in the JSON of a page.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    query: tuple[str, ...], project: tuple[str, ...], type_: tuple[str, ...], since: tuple[str, ...],
    client: tuple[str, ...], limit: int, newest: bool, cursor: str, as_json: bool,
) -> None:  # fmt: skip
    """Search what was asked, done, answered, told and learned.

    Filters also stand in the QUERY: project:shop type:git file:src/a.py client:codex since:7d is:failed is:pinned
    !word "a phrase". Several arguments are one query; one with blanks among several is a phrase.
    """
    now = terminal.now()
    given = {"project": project, "type": type_, "since": since, "client": client}
    text = _typed(query, given, now)
    if not text.strip():
        raise click.UsageError('no query: nmem search "coupon rounding", or nmem search type:test is:failed')
    found, theirs = _found(text, now, NEWEST if newest else RELEVANCE, limit, cursor)
    if as_json:
        click.echo(to_json(index(found) | of_others.forms(theirs)))
        return
    if terminal.is_terminal():
        _print(found)
    else:
        near, remarks = [f"# {NEAREST}"] * (NEAREST in found.remarks), _remarks(found)
        terminal.piped(text, "id at type project notes path text", [*near, *map(_tabs, found.hits), *remarks])
    of_others.show(theirs)


def _typed(query: tuple[str, ...], given: dict[str, tuple[str, ...]], now: int) -> str:
    """The query with the options as filters, as one would type them."""
    out = []
    for name, values in given.items():
        try:
            out += filters(name, values, now)
        except ValueError as error:
            meant = MEANT.get(name, "any name without quotation marks")
            raise click.UsageError(f"--{name}: invalid value {printable(str(error))!r}: use {meant}") from None
    return " ".join([*out, typed_words(query)])


def _found(text: str, now: int, order: str, limit: int, cursor: str) -> tuple[Results, list[Fact]]:
    """A page of hits; with the first also what others of the team said."""
    with terminal.reading("indexes") as db:
        try:
            out = search(db, text, now, order=order, limit=limit, cursor=cursor, seconds=SECONDS)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        return out, [] if cursor else others.found(db, out.query, min(limit, _OTHERS))


def _remarks(found: Results) -> list[str]:
    return [f"# {printable(one)}" for one in (*(() if found.hits else ("nothing found",)), *_further(found))]


def _further(found: Results) -> list[str]:
    """Its remarks, but for the one that stands above the hits."""
    return [one for one in found.remarks if one != NEAREST]


def _type(hit: Hit) -> str:
    """Its observation type, else what it is."""
    return hit.type if hit.kind == "obs" else hit.kind


def _tabs(hit: Hit) -> str:
    at = f"{terminal.local(hit.at):%Y-%m-%d %H:%M}"
    cells = (hit.id, at, _type(hit), hit.project, " ".join(_notes(hit)), hit.path, hit.snippet.text)
    return "\t".join(printable(cell) for cell in cells)


def _notes(hit: Hit) -> list[str]:
    times = f"×{hit.times}" if hit.times > 1 else ""
    later = f"superseded by {hit.superseded}" if hit.superseded else ""
    return [one for one in (later, "pinned" * hit.pinned, "failed" * (hit.outcome == "failed"), times) if one]


def _print(found: Results) -> None:
    """A table: ids, and beside them what was found with its words marked, and when and where it was."""
    from rich.console import Console  # on use: start-up stays short
    from rich.table import Table  # on use: start-up stays short
    from rich.text import Text  # on use: start-up stays short

    console = Console(highlight=False)
    if not found.hits:
        console.print(Text("nothing found"))
    elif NEAREST in found.remarks:
        console.print(Text(f"{NEAREST}:", "dim"))
    grid = Table.grid(padding=(0, 2), pad_edge=False)
    grid.add_column(no_wrap=True, style="cyan")
    grid.add_column(overflow="fold", ratio=1)
    for hit in found.hits:
        grid.add_row(Text(_id(hit)), _told(hit))
    console.print(grid)
    for line in [*_facets(found), *_further(found)]:
        console.print(Text(printable(line), "dim"))


def _id(hit: Hit) -> str:
    """As `nmem show` takes it, of a session the beginning; moved in beneath the episode that it speaks for."""
    return "  " * hit.beneath + printable(hit.id[:_SESSION] if hit.kind == "session" else hit.id)


def _told(hit: Hit) -> Text:
    from rich.text import Text  # on use: start-up stays short

    out = Text(hit.snippet.text or "(empty)")
    for begin, end in hit.snippet.marks:
        out.stylize("bold yellow", begin, end)
    path = "" if hit.path in hit.snippet.text else hit.path
    at = f"{terminal.day(hit.at, terminal.now())} {terminal.clock(hit.at)}"
    around = " · ".join(printable(one) for one in (at, _type(hit), hit.project, path, *_notes(hit)) if one)
    return out.append(f"\n{around}", "dim")


def _facets(found: Results) -> list[str]:
    """How the hits divide, as filters that could be added; nothing where all are of one sort."""
    least = 2
    groups = (found.facets.kinds, found.facets.types, found.facets.projects, found.facets.clients)
    parts = [_counts(group) for group in groups if len(group) >= least]
    if not parts:
        return []
    total = f"{found.found}{'+' if found.more else ''}"
    return [f"{total} found: {'; '.join(parts)}"]


def _counts(group: tuple[Facet, ...]) -> str:
    more = " …" if len(group) > _FACETS else ""
    return ", ".join(f"{one.filter} {one.count}" for one in group[:_FACETS]) + more
