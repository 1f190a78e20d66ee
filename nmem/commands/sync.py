"""`nmem sync`: share chosen projects with a team through its PostgreSQL."""

from __future__ import annotations

import click

from nmem.commands import sync_members


@click.group()
def command() -> None:
    """Share chosen projects with a team: who is in it, and whom you do not want to hear."""


sync_members.add_members(command)
