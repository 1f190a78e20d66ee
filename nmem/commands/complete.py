"""Completes words for a shell: prints the script by which it asks, and answers by a table, without any command.

The table, words.json, has a row for each command: what it does, its options and its arguments. `python -m
tests.reference` writes it. click finds the word that is meant; what projects and sessions there are is read from the
database if there is one. Whatever goes wrong, nothing is offered, and nothing is printed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

if TYPE_CHECKING:
    from sqlite3 import Connection

VARIABLE = "_NMEM_COMPLETE"
"""Set by a shell that asks, to a word such as bash_complete."""
SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
ANSWER = "_complete"
TABLE = Path(__file__).with_name("words.json")
PROJECT, SESSION = "project", "session"
"""Kinds of values that the database knows."""
FILE, FOLDER = "file", "folder"
FLAG = "flag"
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/@+")
"""What a shell takes as it is: a name with anything else in it could be a command there, and is not offered."""
_MOST = 60
Items = list[CompletionItem]
Row = tuple[list[str], str, str]
"""Names, kind (FLAG, FILE, a kind of the database, or choices with | between them) and help of an option."""


class Words(TypedDict):
    """A command: its help, its options, the names and kinds of its arguments, and what it does without a subcommand."""

    help: str
    options: list[Row]
    arguments: list[tuple[str, str, int]]
    alone: str


def main() -> None:
    """Answer, and leave the process: exit code 0 whatever happens, and nothing on standard error."""
    try:
        said = answer()
    except BaseException:  # noqa: BLE001 - a boundary: a person is typing, and has no use for our faults
        said = ""
    try:
        os.write(1, said.encode("utf-8", "replace"))
    except OSError:
        os._exit(0)  # the shell did not wait
    os._exit(0)


def answer() -> str:
    """What fits the line in COMP_WORDS, in the form of the shell that asks."""
    shell = os.environ[VARIABLE].removesuffix(ANSWER)
    table: dict[str, Words] = json.loads(TABLE.read_text("utf-8"))
    found = SHELLS.get(shell)
    return found(Group("", table), {}, "nmem", VARIABLE).complete() + "\n" if found else ""


class Group(click.Group):
    """A command with subcommands, of the table; each is made when it is asked for."""

    def __init__(self, path: str, table: dict[str, Words]) -> None:
        super().__init__(path.rpartition(" ")[2] or "nmem", params=_params(table[path]), help=table[path]["help"])
        self.path, self.table = path, table

    def _below(self, name: str) -> str:
        return f"{self.path} {name}".strip()

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click calls it so
        """The names below this one."""
        below = (each.rpartition(" ") for each in self.table if each)
        return [name for above, _, name in below if above == self.path]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click calls it so
        """The command of a name."""
        path = self._below(cmd_name)
        if path not in self.table:
            return None
        if any(each.startswith(f"{path} ") for each in self.table):
            return Group(path, self.table)
        return click.Command(cmd_name, params=_params(self.table[path]), help=self.table[path]["help"])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read options of a group that lists its subject as those of `list`."""
        alone = self.table[self.path]["alone"]
        if alone and args and args[0].startswith("-"):
            args = [alone, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> Items:
        """Subcommands; of a group that lists its subject the options of `list` as well."""
        out = super().shell_complete(ctx, incomplete)
        alone = self.get_command(ctx, self.table[self.path]["alone"]) if incomplete.startswith("-") else None
        if alone is not None:
            have = {each.value for each in out}
            out += [each for each in alone.shell_complete(click.Context(alone), incomplete) if each.value not in have]
        return out


def _params(words: Words) -> list[click.Parameter]:
    options = [
        click.Option(names, is_flag=kind == FLAG, multiple=kind != FLAG, help=said, **_valued(kind))
        for names, kind, said in words["options"]
    ]
    arguments = [click.Argument([name], nargs=nargs, **_valued(kind)) for name, kind, nargs in words["arguments"]]
    return [*options, *arguments]


class _Valued(TypedDict, total=False):
    type: click.ParamType[object]
    shell_complete: Callable[[click.Context, click.Parameter, str], Items]


def _valued(kind: str) -> _Valued:
    """How the values of a parameter are completed."""
    if kind in (FILE, FOLDER):
        return {"type": click.Path(file_okay=kind == FILE)}
    if kind in (PROJECT, SESSION):
        return {"shell_complete": partial(_recorded, kind)}
    return {"shell_complete": partial(_listed, kind.split("|"))} if kind not in ("", FLAG) else {}


def _listed(values: Iterable[str], _context: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    return [CompletionItem(value) for value in values if value.startswith(incomplete)]


def _recorded(kind: str, _context: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """Projects and sessions by name and id, the most recently active first."""
    from capture import paths  # on use: few words are of the database
    from nmem.database import reader

    with closing(reader(paths.database())) as db:
        values = _of(kind, db)
    fit = [(value, help_) for value, help_ in values if value.startswith(incomplete) and set(value) <= _PLAIN]
    return [CompletionItem(value, help=help_ if set(help_) <= _PLAIN else None) for value, help_ in fit[:_MOST]]


def _of(kind: str, db: Connection) -> list[tuple[str, str]]:
    from nmem.store import project, store  # on use: few words are of the database

    return [(name, "") for name in project.worked_on(db)] if kind == PROJECT else store.newest_sessions(db)


@click.command("completion")
@click.argument("shell", type=click.Choice(list(SHELLS)))
def command(shell: str) -> None:
    """Print a script by which SHELL completes commands, options, projects, session ids and settings.

    Source it in the start file of your shell, or write it where the shell looks for it. It asks `nmem` at each press of
    the tab key; nothing is recorded, and no database is made.
    """
    asking = SHELLS[shell](click.Command("nmem"), {}, "nmem", VARIABLE)
    click.echo(asking.source_template % asking.source_vars())  # source() would start a shell to ask for its version
