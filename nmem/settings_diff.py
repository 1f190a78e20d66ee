"""Shows the change to a client's settings file as a unified diff, before it is written."""

from __future__ import annotations

import difflib
import json
import os
import sys
from contextlib import suppress

import click

from capture.install import Plan
from capture.install.beside import Beside
from capture.install.targets import title
from nmem.text import printable

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_LONG = 24
"""Lines of one kind in a row that are shown: the rest of them is more of the same."""


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()


def _both(plan: Plan) -> tuple[list[str], list[str]]:
    """The file before and after; settings that stand in one line are broken up, or every word of them had changed."""
    before, after = _lines(plan.before), _lines(plan.after)
    if len(before) == 1 and before[0].lstrip().startswith("{"):
        with suppress(ValueError):
            return _broken(before), _broken(after)
    return before, after


def _broken(found: list[str]) -> list[str]:
    return json.dumps(json.loads("\n".join(found) or "{}"), indent=2, ensure_ascii=False).splitlines()


def lines(plan: Plan, short: bool = False) -> list[str]:
    """A unified diff, empty when nothing changes; a `short` one shows of many lines in a row only the first."""
    before = plan.target.path if plan.before is not None else "/dev/null"
    after = plan.target.path if plan.after is not None else "/dev/null"
    found = difflib.unified_diff(*_both(plan), before, after, n=1, lineterm="")
    out: list[str] = []
    run, sign = 0, ""
    for line in map(printable, found):
        run = run + 1 if out and line[:1] == sign and line[:1] in "+-" else 0
        sign = line[:1]
        if short and run == _LONG:
            out.append(f"{sign} … more of the same: --dry-run shows every line")
        if not short or run < _LONG:
            out.append(line)
    return out


def total(plan: Plan) -> str:
    """How many lines a plan adds and takes away."""
    both = difflib.ndiff(*_both(plan))
    signs = [line[:1] for line in both]
    return f"{plan.target.path}: +{signs.count('+')} -{signs.count('-')} lines"


def show(plan: Plan, short: bool = False) -> None:
    """Print a plan, in colour on a terminal that wants it."""
    heading = f"{title(plan.target.client)} ({plan.target.scope})"
    if not plan.changes:
        click.echo(f"{heading}: {plan.target.path}: nothing to change")
        return
    click.echo(f"{heading}:")
    whole = short and isinstance(plan.target, Beside) and plan.target.whole  # of many lines, all nmem's
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for line in [] if whole else lines(plan, short):
        click.echo(click.style(line, fg=_COLOURS.get(line[:1])) if colour else line)
    click.echo(total(plan))
