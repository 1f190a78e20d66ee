"""`nmem doctor`: reports problems, their symptoms, and the command that fixes each."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from capture import paths
from nmem.audit import NOTE, OK, Finding
from nmem.doctor import examine
from nmem.text import printable, to_json

_SIGNS = {OK: ("ok", "green"), NOTE: ("note", "yellow")}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object: {ok, findings: [...]}.")
@click.option(
    "--fix", is_flag=True, help="First fix problems that need no decision: modes, bytecode, spool, indexes, hooks."
)
@click.option("--deep", is_flag=True, help="Read everything: every index, many transcripts, a second secret scanner.")
def command(as_json: bool, fix: bool, deep: bool) -> None:
    """Send an event through every registered hook, read it back, look whether the memory does its job, and say what is
    wrong and how to mend it.

    Exit status 0 when all is well, 1 when something is wrong: an event would not be recorded, or not as it should, or
    others could read the memory. What is only worth knowing (a note) does not count.
    """
    folder = str(Path.cwd())
    mended = examine.fix(folder) if fix else []
    if deep and not as_json:
        click.echo(f"Reading everything: {_takes(paths.database())}.", err=True)
    findings = examine.examine(folder, deep)
    healthy = examine.healthy(findings)
    if as_json:
        data = {"ok": healthy, "fixed": mended, "findings": findings}
        click.echo(to_json(data, indent=1))
    else:
        for line in mended:
            click.echo(f"fixed: {printable(line)}")
        _table(findings) if sys.stdout.isatty() else _plain(findings)
        _summary(findings, healthy)
    if not healthy:
        sys.exit(1)


def _takes(path: str) -> str:
    """About how long a deep look takes: it reads every page several times."""
    try:
        size = Path(path).stat().st_size
    except OSError:
        return "there is nothing yet"
    return f"{size / 1e6:.0f} MB, about {max(5, round(size / 3e7))} seconds"


def _subject(finding: Finding) -> str:
    return f"{finding.check} ({finding.client})" if finding.client else finding.check


def _plain(findings: list[Finding]) -> None:
    """One line a finding; the mend stands below it."""
    for finding in findings:
        click.echo(printable(f"{finding.severity:5}  {_subject(finding)}: {finding.evidence}"))
        if finding.mend:
            click.echo(printable(f"       fix: {finding.mend}"))


def _table(findings: list[Finding]) -> None:
    from rich.console import Console  # on use: start-up stays short
    from rich.table import Table  # on use: start-up stays short
    from rich.text import Text  # on use: start-up stays short

    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        sign, colour = _SIGNS.get(finding.severity, ("wrong", "red"))
        said = Text(printable(finding.evidence))
        if finding.mend:
            said.append("\n→ " + printable(finding.mend), style="bold")
        table.add_row(Text(sign, style=colour), Text(printable(_subject(finding))), said)
    Console(no_color=bool(os.environ.get("NO_COLOR"))).print(table)


def _summary(findings: list[Finding], healthy: bool) -> None:
    wrong = sum(finding.severity not in (OK, NOTE) for finding in findings)
    notes = sum(finding.severity == NOTE for finding in findings)
    said = "Everything works" if healthy else f"{wrong} thing{'s are' if wrong > 1 else ' is'} wrong"
    click.echo(f"{said}{f', {notes} to know' if notes else ''}.")
