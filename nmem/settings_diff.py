"""The change to a settings file as a person wants to see it before it is made."""

from __future__ import annotations

import difflib
import sys

import click

from capture.install import Plan
from capture.install.targets import TITLES
from nmem.text import printable

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()


def lines(plan: Plan) -> list[str]:
    """A unified diff; empty when nothing changes."""
    before = plan.target.path if plan.before is not None else "/dev/null"
    after = plan.target.path if plan.after is not None else "/dev/null"
    return [
        printable(line)
        for line in difflib.unified_diff(_lines(plan.before), _lines(plan.after), before, after, lineterm="")
    ]


def show(plan: Plan) -> None:
    """Print a plan, in colour on a terminal that wants it."""
    import os

    title = f"{TITLES[plan.target.client]} ({plan.target.scope})"
    if not plan.changes:
        click.echo(f"{title}: {plan.target.path}: nothing to change")
        return
    click.echo(f"{title}:")
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for line in lines(plan):
        click.echo(click.style(line, fg=_COLOURS.get(line[:1])) if colour else line)
