"""`nmem completion SHELL`: prints the script by which a shell completes nmem's words."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from nmem.commands.complete import SHELLS, VARIABLE
from nmem.errors import NmemError


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print a script by which SHELL completes commands, options, projects, session ids and settings.

    Source it in the start file of your shell, or write it where the shell looks for it. It asks `nmem` at each press of
    the tab key; nothing is recorded, and no database is made.
    """
    found = get_completion_class(shell)
    if found is None:
        raise NmemError(f"this version of click knows no completion for {shell}")
    known = found(click.Command("nmem"), {}, "nmem", VARIABLE)
    click.echo(known.source_template % known.source_vars())  # not source(): that starts a shell to ask for its version
