"""Puts the examples of examples.txt into the help of commands: each line into that of the command that it runs.

An indented line follows from the one above it and stands with it. A group without examples of its own shows the first
one of each of its commands.
"""

from __future__ import annotations

from pathlib import Path

import click

FILE = Path(__file__).with_name("examples.txt")
HEADING = "Examples:"
HELP = {"-h", "--help"}
_MOST = 4
"""Examples that a group borrows from its commands."""
Block = tuple[str, ...]
"""A line, and those that follow from it."""


def blocks() -> list[Block]:
    """All examples, in the order of the file."""
    out: list[list[str]] = []
    for line in FILE.read_text("utf-8").splitlines():
        if line.startswith(" "):
            out[-1].append(line.strip())
        else:
            out.append([line])
    return [tuple(each) for each in out]


def run_by(line: str) -> list[str]:
    """The words of the command that a line runs, without `nmem`, and what stands before it, as `make |`."""
    before, _, after = line.partition("  #")[0].rpartition("nmem ")
    return after.split() if not before or before[-1] in " (" else []


def of(path: str, below: set[str]) -> list[Block]:
    """The examples of a command; `below` are the names of its own commands.

    >>> of("pin", set())[0]
    ('nmem pin obs/12',)
    """
    words = path.split()
    under = [block for block in blocks() if (run := run_by(block[0]))[: len(words)] == words and run]
    own = [block for block in under if not below & set(run_by(block[0])[len(words) :][:1])]
    if own:
        return own
    firsts: dict[str, Block] = {}
    for block in under:
        firsts.setdefault(run_by(block[0])[len(words)], block)
    return list(firsts.values())[:_MOST]


def teach(command: click.Command, path: str) -> None:
    """Put the examples behind the help of a command, and of its own commands."""
    below = command.list_commands(click.Context(command)) if isinstance(command, click.Group) else []
    found = of(path, set(below))
    if found and HEADING not in (command.epilog or ""):
        shown = "\n".join(_aligned([line for block in found for line in block]))
        command.epilog = "\n\n".join(part for part in (command.epilog, f"\b\n{HEADING}\n{shown}") if part)
    if isinstance(command, click.Group):
        for name in below:
            if own := command.get_command(click.Context(command), name):
                own.short_help = own.short_help or _sentence(own.help or "")
                teach(own, f"{path} {name}")


def _sentence(text: str) -> str:
    """The first sentence of a help text, whole: click cuts longer ones in the list of a group's commands."""
    first = " ".join(text.strip().partition("\n\n")[0].split())
    return first.partition(". ")[0].rstrip(".") + "." if first else ""


def _aligned(lines: list[str]) -> list[str]:
    """The lines with what their comments say in one column."""
    parts = [line.partition("  # ") for line in lines]
    width = max((len(run) for run, mark, _ in parts if mark), default=0)
    return [f"  {run:<{width}}{mark}{said}" if mark else f"  {run}" for run, mark, said in parts]
