"""Formats learnings for `nmem learn`: two lines each on a terminal, tabs in a pipe, JSON, or a report file."""

from __future__ import annotations

import sqlite3
import time as time_module
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import click

from capture import paths
from capture.storage.schema import NewerDatabase
from nmem.commands import terminal
from nmem.database import exists
from nmem.errors import NmemError
from nmem.learn import lifecycle, read, report, rules
from nmem.learn.kinds import words
from nmem.learn.learning import FIX, STATES, WEAK, Evidence, Learning
from nmem.text import fit, fit_path, printable

_EVIDENCE, _FILES, _PATH = 3, 4, 48
_PATIENCE = 10.0
"""Seconds that bringing learnings up to date may take before they are listed."""
_HEAT = {"hot": "red", "warm": "yellow", "cool": "cyan"}


def shape(one: Learning) -> dict[str, Any]:
    """As JSON."""
    return {**asdict(one), "heat_word": report.word(one.heat), "can": list(lifecycle.able(one.state, one.rule))}


def counts(every: Sequence[Learning]) -> str:
    """1 open, 2 snoozed ..."""
    numbers = [(sum(one.state == state for one in every), state) for state in (*STATES, WEAK)]
    return ", ".join(f"{number} {state}" for number, state in numbers if number)


def none(state: str) -> str:
    """What is said where there is none."""
    named = "" if state == "all" else f"{state} "
    return f"no {named}learnings here; --all-projects and --state look further"


def refreshed() -> str:
    """Bring learnings up to date, for a few seconds at most; what is still to be done, in words, if anything.

    Where the database cannot be written, what is known is read.
    """
    from nmem import settle  # on use: start-up stays short
    from nmem.learn import refresh  # on use: start-up stays short

    path, until = paths.database(), time_module.monotonic() + _PATIENCE
    if not exists(path):
        return ""
    try:
        done = refresh.fresh(path, terminal.now(), stopped=lambda: time_module.monotonic() > until)
    except (sqlite3.Error, OSError, NewerDatabase) as error:
        return f"not brought up to date: {error}"
    busy = "settling goes on in the background: what is asked again is looked for when it is done"
    if done.left:
        return f"{terminal.count(done.left, 'session')} still to be read: ask again, or `nmem settle`"
    return busy if done.sessions and settle.running(path) else ""


def tabs(one: Learning) -> str:
    """One line of a pipe."""
    cells = (
        str(one.id), str(one.heat), report.word(one.heat), words(one.kind).label, str(one.sessions),
        f"{terminal.local(one.last_at):%Y-%m-%d}", one.state, one.project, one.title, report.remedy(one.remedy),
    )  # fmt: skip
    return "\t".join(printable(cell) for cell in cells)


def show(found: Sequence[Learning], about: str, state: str, numbers: str, projects: bool) -> None:
    """Two lines each: what it is, then how often, how lately and what helped."""
    from rich.console import Console  # on use: start-up stays short
    from rich.text import Text  # on use: start-up stays short

    console, today = Console(highlight=False), terminal.now()
    console.print(Text(f"Learnings of {printable(about)}", "bold").append(f"   {numbers}", "not bold dim"))
    if not found:
        console.print(Text(none(state), "dim"))
    ids = max((len(str(one.id)) for one in found), default=1)
    for one in found:
        word = report.word(one.heat)
        line = Text().append(f"\n{one.id:>{ids}}  ", "cyan").append(f"{report.bar(one.heat)} ", _HEAT[word])
        line.append(f"{word:<4} {one.heat:>3}  ", _HEAT[word]).append(f"{words(one.kind).label:<15}  ", "dim")
        line.append(fit(printable(" ".join(one.title.split())), max(20, console.width - ids - 35)))
        console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
        facts = [
            terminal.count(one.sessions, "session"),
            f"last {terminal.day(one.last_at, today).rpartition(', ')[2]}",
        ]
        facts += ["nobody works there now"] * (projects and read.dormant(one, today))
        facts += [printable(one.project)] * projects + [one.state] * (state == "all")
        facts += [printable(report.remedy(one.remedy))] if one.remedy else []
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
            raise NmemError(
                f"{printable(str(path))} exists already and is not a report of learnings: name another file"
            )
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NmemError(f"{printable(str(path))} cannot be written: {error.strerror or error}") from None
    click.echo(f"{terminal.count(len(found), 'learning')} in {printable(str(path))}")


def facts(one: Learning, file: str = "") -> list[tuple[str, str]]:
    """All that is known of one, by name; `file`: where its rule stands."""
    times = terminal.count(one.occurrences, "time")
    most = max((count for _, count in one.weeks), default=0)
    found = [
        ("kind", words(one.kind).label),
        ("heat", f"{report.bar(one.heat)} {report.word(one.heat)}, {one.heat} of 100"),
        ("state", report.standing(one)),
        ("until", time(one.snoozed_until) if one.state == "snoozed" and one.snoozed_until else ""),
        ("project", one.project),
        ("met", f"{times} in {terminal.count(one.sessions, 'session')}, {_day(one.first_at)} to {_day(one.last_at)}"),
        (
            "weeks",
            f"{report.weeks(one.weeks, one.last_at)}  the last is that of {_day(one.last_at)}; at most {most} in one",
        ),
        ("files", ", ".join(_files(one.files))),
        ("helped", report.remedy(one.remedy)),
        ("rule", one.rule),
        ("it stands in", file),
        ("as a rule", "" if one.rule else rules.rule(one)),
        ("can", ", ".join(f"nmem learn {verb} {one.id}" for verb in lifecycle.able(one.state, one.rule))),
    ]
    return [(name, value) for name, value in found if value]


def _files(paths: Sequence[str]) -> list[str]:
    """The first ones, each by its end: that tells it apart."""
    more = [f"{len(paths) - _FILES} more"] if len(paths) > _FILES else []
    return [fit_path(printable(path), _PATH) for path in paths[:_FILES]] + more


def met(evidence: Sequence[Evidence]) -> list[tuple[str, str]]:
    """Where it was met, the newest session first: what was called, what came of it, and what put it right."""
    sessions: dict[str, list[Evidence]] = {}
    for each in evidence:
        sessions.setdefault(each.session_id, []).append(each)
    return [(time(ours[0].at), "\n".join(_session(ours[::-1]))) for ours in sessions.values()]


def _session(ours: Sequence[Evidence]) -> list[str]:
    """The evidence of one session in its order; what says the same again is counted."""
    first = ours[0]
    out = [f"episode/{first.unit_id}" if first.unit_id else f"session/{first.session_id[:8]}"]
    seen: dict[str, int] = {}
    for each in ours:
        called, said = (" ".join(text.split()) for text in (each.command, each.excerpt))
        word = "put right: " if each.role == FIX else ""
        line = f"{word}{fit(called, 100)}" + (f": {said}" if said and said not in called else "")
        seen[line] = seen.get(line, 0) + 1
    return out + [f"{line} ({count} times)" if count > 1 else line for line, count in seen.items()]


def time(at: int) -> str:
    """Day and minute."""
    return f"{terminal.local(at):%Y-%m-%d %H:%M}"


def _day(at: int) -> str:
    return f"{terminal.local(at):%Y-%m-%d}"
