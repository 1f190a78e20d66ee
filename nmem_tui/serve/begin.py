"""From the command line to the server; what the server needs beyond the cockpit is looked for before."""

from __future__ import annotations

from importlib.util import find_spec

import click

from nmem.errors import NmemError
from nmem.own_process import words

_NEEDS = ("aiohttp", "textual_serve")
_OWN = ("serve", "port")


def begin(given: list[str], port: int) -> None:
    """Serve the cockpit that `nmem tui` opens with these words; returns on ctrl+c."""
    missing = [name for name in _NEEDS if find_spec(name) is None]
    if missing:
        raise NmemError(
            f"--serve needs {' and '.join(missing)}: install nmem with its extra `web`, "
            "as in: pip install -c constraints.txt '.[web]'"
        )
    from nmem_tui.serve import server

    server.run(words("tui", *given), port)


def options(context: click.Context) -> list[str]:
    """The options that a command was given, as words again; those that say how to serve are left out."""
    made = []
    for each in context.command.params:
        value = context.params.get(each.name or "")
        if isinstance(each, click.Option) and each.name not in _OWN and value:
            made.append(each.opts[0] if each.is_flag else f"{each.opts[0]}={value}")
    return made
