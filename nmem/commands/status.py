"""`nmem status`: prints what is recorded, and whether hooks are alive and what they cost."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capture import paths
from nmem import database, tables, upgrade
from nmem.commands.terminal import LIMIT
from nmem.errors import NoDatabase
from nmem.labels import read as labels
from nmem.purge.history import MEND, waiting
from nmem.read import views
from nmem.read.health import HealthView, Latency, health
from nmem.read.views import ContextWindow, SessionRow, window
from nmem.store import project as places
from nmem.store.project import Recorded
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from rich.table import Table

Section = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
"""Title, column names, rows."""


_ROWS = {"prompts": "prompts, and what agents said"}
"""Tables that hold more than their names say."""


def ms(us: int | None) -> str:
    """Microseconds as milliseconds."""
    return "-" if us is None else f"{us / 1000:.1f} ms"


def _ago(at: int, now: int) -> str:
    seconds = max(0, now - at) // 1000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"


def _latency(name: str, what: Latency) -> tuple[str, ...]:
    return (name, ms(what.p50), ms(what.p95), ms(what.p99))


def _hooks(view: HealthView) -> list[tuple[str, ...]]:
    """Inside the hook, all and by event; then what a client waits, and why it is much."""
    rows = [_latency("inside the hook", view.wall), _latency("processor, with the start", view.cpu)]
    rows += [(f"{one.client} {one.event}", ms(one.p50), ms(one.p95), "") for one in view.cost.events]
    said = [view.cost.verdict, *([f"likely: {view.cost.why}"] if view.cost.why else [])]
    return rows + [(each, "", "", "") for each in said]


def _alive(view: HealthView, now: int) -> str:
    """Whether hooks are alive: that no client has them, that none ran yet, or when the last one did."""
    from nmem.doctor import registrations  # on use: start-up stays short

    try:
        folder = str(Path.cwd())
    except OSError:  # it was deleted: it has no settings of its own
        folder = str(Path.home())
    # hooks do not write to another file that is named, a backup perhaps
    if view.path == paths.database() and (amiss := registrations.unconnected(folder)):
        return f"{amiss[0].evidence} → {amiss[0].mend}"
    if not view.clients:
        return "no hook has run yet"
    last = max(view.clients, key=lambda one: one.last_at)
    return printable(f"the last hook ran {_ago(last.last_at, now)} ({last.client} {last.last_event})")


def _labels(found: labels.Standing) -> list[tuple[str, ...]]:
    """Which model labels calls, and what would label the rest."""
    model = f"{found.model} ({found.source})" if found.model else "none: install nmem again"
    rows: list[tuple[str, ...]] = [("model", model), ("calls it has labelled", f"{found.by_it:,} of {found.calls:,}")]
    lacking = (("calls without labels", found.bare), ("labelled by another model", found.by_others))
    rows += [(what, f"{number:,}: nmem backfill labels them") for what, number in lacking if number]
    rows += [("of which you said a word", f"{found.own:,}")] if found.own else []
    return rows + ([("your own model", found.passed_over)] if found.passed_over else [])


def _window(row: SessionRow, seen: ContextWindow) -> tuple[str, ...]:
    """One session's window: how full, when it is compacted, what it cost."""
    used = "just compacted" if seen.tokens is None else f"{seen.tokens:,}"
    full = f"{used} of {seen.size:,} ({seen.share:.0%})" if seen.share is not None and seen.size else used
    size = full if seen.size else f"{used} of an unknown window"
    told = seen.forecast
    minutes = f", {told.minutes} min" if told and told.minutes else ""
    turns = f"compacts in about {told.turns} turn{'s' * (told.turns != 1)}{minutes}" if told else ""
    limit = f"compacts at {seen.compacts_at:,}" if seen.compacts_at else ""
    cost = f"${seen.cost_usd:,.2f}" if seen.cost_usd is not None else ""
    return (row.project, seen.model or row.client, size, turns or limit, cost, seen.source)


def sections(
    view: HealthView, recent: list[SessionRow], now: int, labelled: labels.Standing | None = None,
    windows: Sequence[tuple[SessionRow, ContextWindow]] = (), projects: Sequence[Recorded] = (),
) -> list[Section]:  # fmt: skip
    """What there is to say, as tables; empty ones are left out."""
    tally = {
        **dict.fromkeys(("stored", "duplicate", "dropped"), 0),
        **view.results,
        **dict.fromkeys(("spooled", "drained", "lost", "errors"), 0),
        **view.counters,
    }
    latency = _hooks(view) if view.runs else []
    found: list[Section] = [
        (
            "Sessions",
            ("project", "client", "state", "last event", "prompt"),
            [
                (row.project, row.client, row.state, _ago(row.last_at, now), " ".join(row.name.split())[:60])
                for row in recent
            ],
        ),
        (
            "Projects",
            ("project", "sessions", "last event", "folder"),
            [
                (one.name, str(one.sessions), _ago(one.last_at, now) if one.last_at else "-", one.root)
                for one in projects
            ],
        ),
        (
            "Context windows",
            ("project", "model", "tokens", "ahead", "cost", "told by"),
            [_window(*one) for one in windows],
        ),
        (f"Hooks, the newest {view.runs} runs", ("", "p50", "p95", "p99"), latency),
        (
            "Clients",
            ("client", "last event", "when", "runs"),
            [(row.client, row.last_event, _ago(row.last_at, now), str(row.runs)) for row in view.clients],
        ),
        ("Events", ("what", "count"), [(name, str(number)) for name, number in tally.items()]),
        (
            "Storage",
            ("what", "size"),
            [
                ("database", f"{view.database_bytes:,} bytes"),
                ("log (WAL)", f"{view.wal_bytes:,} bytes"),
                *((_ROWS.get(name, f"rows of {name}"), f"{number:,}") for name, number in view.rows.items()),
            ],
        ),
        ("Labels", ("what", "value"), _labels(labelled) if labelled and labelled.calls else []),
        ("Secrets taken out", ("kind", "count"), [(kind, str(number)) for kind, number in view.redactions.items()]),
        (
            "Fields nobody knew",
            ("client", "event", "field", "since"),
            [(row.client, row.event, row.field, row.version) for row in view.drift],
        ),
        ("Log", ("",), [(line,) for line in view.log]),
    ]
    return [
        (title, head, [tuple(printable(cell) for cell in row) for row in rows]) for title, head, rows in found if rows
    ]


def plain(found: list[Section]) -> str:
    """The tables without frames, one row a line, columns by tabs: made for pipes."""
    out: list[str] = []
    for title, head, rows in found:
        named = ["# " + "\t".join(one or "what" for one in head)] if any(head) else []
        out += [f"# {title}", *named, *("\t".join(row) for row in rows)]
    return "\n".join(out)


def _table(title: str, head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    from rich.box import SIMPLE_HEAD  # on use: start-up stays short
    from rich.table import Table  # on use: start-up stays short
    from rich.text import Text  # on use: start-up stays short

    table = Table(
        title=Text(title, "bold"), title_justify="left", box=SIMPLE_HEAD, show_header=any(head), pad_edge=False
    )
    for number, name in enumerate(head):
        right = number and name in ("p50", "p95", "p99", "count", "size", "runs", "sessions")
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _windows(db: Connection, recent: list[SessionRow]) -> list[tuple[SessionRow, ContextWindow]]:
    """The windows of the sessions that are not over, where anything is known of them."""
    found = [(row, window(db, row.id)) for row in recent if row.state != "ended"]
    return [(row, seen) for row, seen in found if seen and (seen.tokens is not None or seen.compacted)]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--db", type=click.Path(dir_okay=False), help="Another database file.")
@click.option("--project", default="", help="Only sessions of this project (name, key or root folder).")
@click.option("--limit", type=LIMIT, default=5, show_default=True, help="How many sessions to list.")
def command(*, as_json: bool, db: str | None, project: str, limit: int) -> None:
    """What is recorded, and whether the hooks are alive."""
    path = db or paths.database()
    try:
        # another file that is named, a backup perhaps, is left as it is
        connection = (upgrade if path == paths.database() else database).reader(path)
    except NoDatabase:
        if not as_json:
            raise
        click.echo(to_json({"path": path, "runs": 0, "sessions": []}))
        return
    try:
        told = tables.version(connection) > 0  # a full disk takes no tables: what it lost is said all the same
        key = places.key_of(connection, project)
        view, recent = health(connection, path), views.sessions(connection, limit, key) if told else []
        labelled = labels.standing(connection, path)
        left = waiting(connection) if told else ""
        windows, listed = _windows(connection, recent), places.recorded(connection)
    finally:
        connection.close()
    if as_json:
        data = {
            **asdict(view), "history": left, "labels": labelled, "sessions": recent,
            "projects": listed, "windows": [seen for _, seen in windows],
        }  # fmt: skip
        click.echo(to_json(data))
        return
    now = time.time_ns() // 1_000_000
    click.echo(_alive(view, now))
    found = sections(view, recent, now, labelled, windows, listed)
    found += [("History", ("",), [(f"{left}: {MEND}",)])] if left else []
    if not sys.stdout.isatty():
        click.echo(plain(found))
        return
    from rich.console import Console  # on use: start-up stays short

    console = Console()
    for section in found:
        console.print(_table(*section))
