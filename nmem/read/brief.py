"""Shortens a command for a list: the main action, without its preparations."""

from __future__ import annotations

import re

from nmem.text import ELLIPSIS, fit, width

_WAY = re.compile(r"""(?:cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|"']+)\s*(?:&&|;)\s*)+(?=\S)""")


def fitted(command: str, cells: int) -> str:
    """A printable command in at most `cells` cells; one that begins by going to a folder loses that first."""
    if command.startswith("cd ") and width(command) > cells and (way := _WAY.match(command)):
        command = f"{ELLIPSIS} {command[way.end() :]}"
    return fit(command, cells)
