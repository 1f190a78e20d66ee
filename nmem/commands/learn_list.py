"""How `nmem learn` shows learnings: two lines each on a terminal, tabs in a pipe, JSON, a report in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import click

from nmem.commands import terminal
from nmem.errors import NmemError
from nmem.learn import lifecycle, read, report, rules, shown
from nmem.learn.learning import FIX, STATES, Evidence, Learning
from nmem.text import fit, fit_path, printable

_EVIDENCE, _FILES, _PATH = 3, 4, 48
_HEAT = {"hot": "red", "warm": "yellow", "cool": "cyan"}


def shape(one: Learning) -> dict[str, Any]:
    """As JSON."""
    return {**asdict(one), "heat_word": shown.word(one.heat), "can": list(lifecycle.able(one.state))}


def counts(every: Sequence[Learning]) -> str:
    """1 open, 2 snoozed ..."""
    numbers = [(sum(one.state == state for one in every), state) for state in STATES]
    return ", ".join(f"{number} {state}" for number, state in numbers if number)


def tabs(one: Learning) -> str:
    """One line of a pipe."""
    cells = (
        str(one.id), str(one.heat), shown.word(one.heat), shown.KIND[one.kind], str(one.sessions),
        f"{terminal.local(one.last_at):%Y-%m-%d}", one.state, one.project, one.title, shown.remedy(one.remedy),
    )  # fmt: skip
    return "\t".join(printable(cell) for cell in cells)


def show(found: Sequence[Learning], about: str, state: str, numbers: str, projects: bool) -> None:
    """Two lines each: what it is, then how often, how lately and what helped."""
    from rich.console import Console
    from rich.text import Text

    console, today = Console(highlight=False), terminal.now()
    console.print(Text(f"Learnings of {printable(about)}", "bold").append(f"   {numbers}", "not bold dim"))
    if not found:
        named = "" if state == "all" else f"{state} "
        console.print(Text(f"no {named}learnings here; --all-projects and --state look further", "dim"))
    ids = max((len(str(one.id)) for one in found), default=1)
    for one in found:
        word = shown.word(one.heat)
        line = Text().append(f"\n{one.id:>{ids}}  ", "cyan").append(f"{shown.bar(one.heat)} ", _HEAT[word])
        line.append(f"{word:<4} {one.heat:>3}  ", _HEAT[word]).append(f"{shown.KIND[one.kind]:<15}  ", "dim")
        line.append(fit(printable(" ".join(one.title.split())), max(20, console.width - ids - 35)))
        console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
        facts = [
            terminal.count(one.sessions, "session"),
            f"last {terminal.day(one.last_at, today).rpartition(', ')[2]}",
        ]
        facts += [printable(one.project)] * projects + [one.state] * (state == "all")
        facts += [printable(shown.remedy(one.remedy))] if one.remedy else []
        console.print(Text(" " * (ids + 2) + "; ".join(facts), "dim"), no_wrap=True, overflow="ellipsis", crop=True)


def write(db: Connection, found: Sequence[Learning], about: str, now: int, output: str | None) -> None:
    """The report, on standard output or into a file; another file than a report is not overwritten."""
    evidence = {one.id: read.evidence(db, one.id, _EVIDENCE) for one in found}
    text = report.markdown(found, evidence, about, now)
    if output in (None, "-"):
        click.echo(text, nl=False)
        return
    path = Path(str(output))
    try:
        if path.exists() and not path.read_bytes().startswith(report.TITLE.encode()):
            raise NmemError(f"{printable(str(path))} is there already and is no report of learnings: name another file")
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NmemError(f"{printable(str(path))} cannot be written: {error.strerror or error}") from None
    click.echo(f"{terminal.count(len(found), 'learning')} in {printable(str(path))}")


def facts(one: Learning) -> list[tuple[str, str]]:
    """All that is known of one, by name."""
    times = terminal.count(one.occurrences, "time")
    found = [
        ("kind", shown.KIND[one.kind]),
        ("heat", f"{shown.bar(one.heat)} {shown.word(one.heat)}, {one.heat} of 100"),
        ("state", shown.standing(one)),
        ("until", time(one.snoozed_until) if one.state == "snoozed" and one.snoozed_until else ""),
        ("project", one.project),
        ("met", f"{times} in {terminal.count(one.sessions, 'session')}, {_day(one.first_at)} to {_day(one.last_at)}"),
        ("weeks", f"{shown.weeks(one.weeks, one.last_at)} to that of {_day(one.last_at)}"),
        ("files", ", ".join(_files(one.files))),
        ("helped", shown.remedy(one.remedy)),
        ("rule", one.rule),
        ("as a rule", "" if one.rule else rules.rule(one)),
        ("can", ", ".join(f"nmem learn {verb} {one.id}" for verb in lifecycle.able(one.state))),
    ]
    return [(name, value) for name, value in found if value]


def _files(paths: Sequence[str]) -> list[str]:
    """The first ones, each by its end: that tells it apart."""
    more = [f"{len(paths) - _FILES} more"] if len(paths) > _FILES else []
    return [fit_path(printable(path), _PATH) for path in paths[:_FILES]] + more


def met(each: Evidence) -> str:
    """Where, what was called, and what came of it."""
    where = f"episode/{each.unit_id}" if each.unit_id else f"session/{each.session_id[:8]}"
    word = "put right: " if each.role == FIX else ""
    return f"{where} {word}{fit(' '.join(each.command.split()), 100)}\n{each.excerpt}".rstrip()


def time(at: int) -> str:
    """Day and minute."""
    return f"{terminal.local(at):%Y-%m-%d %H:%M}"


def _day(at: int) -> str:
    return f"{terminal.local(at):%Y-%m-%d}"
