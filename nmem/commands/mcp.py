"""`nmem mcp`: serves the memory to a coding agent as tools over standard input and output."""

from __future__ import annotations

import click


@click.command()
def command() -> None:
    """Serve the memory to a coding agent, as MCP tools over standard input and output.

    Your client starts this by itself: `nmem init` registers it. The project is that of the folder it is started in.
    """
    from nmem.mcp.server import serve  # on use: start-up stays short

    serve()
