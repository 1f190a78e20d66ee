"""`nmem tui`: opens the cockpit, in the terminal or served to a browser."""

from __future__ import annotations

import os
from importlib.util import find_spec

import click

from capture import paths
from nmem import database
from nmem.errors import NmemError
from nmem.own_process import words
from nmem.text import printable
from nmem_tui import launch


@click.command()
@click.argument("place", default="")
@click.option("--demo", is_flag=True, help="Play a recorded session into a temporary database.")
@click.option("--or-demo", is_flag=True, help="Like --demo, but only while nothing is recorded yet.")
@click.option("--db", type=click.Path(dir_okay=False), help="Open another database file.")
@click.option(
    "--project",
    default="",
    help="Only sessions of this project (name, key or root folder). Without: the newest of the current folder's "
    "first, else the newest of all.",
)
@click.option("--theme", default="", help="dark, light, ansi, or any theme by its name.")
@click.option("--read-only", is_flag=True, help="Look at everything, change nothing: every change is refused.")
@click.option("--keys", "list_keys", is_flag=True, help="List every action with its id and keys instead of opening.")
@click.option("--json", "as_json", is_flag=True, help="With --keys: list them as JSON.")
@click.option("--serve", is_flag=True, help="Show it in a browser on this machine, at an address that is printed.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=0, help="With --serve: this port. Default: any free one."
)
def command(
    *, place: str, demo: bool, or_demo: bool, db: str | None, project: str, theme: str, read_only: bool,
    list_keys: bool, as_json: bool, serve: bool, port: int,
) -> None:  # fmt: skip
    """Open the cockpit beside your coding session: that of the current folder's project, else the newest of all.

    PLACE is where: "?q=coupon type:test" is a search, episode/12 its story; also learning/3, task/4, session/ID, a
    row of the stream as call/123 or prompt/5, and the screens by name: search, health ...
    """
    if list_keys:
        from nmem_tui import config, keymap  # on use: start-up stays short

        own = config.read(paths.config())
        keymap.say(own.keys, own.wrong, as_json=as_json)
        return
    if as_json:
        raise click.UsageError("--json goes with --keys; `nmem now` and others are the screens as JSON")
    _check_theme(theme)
    path = db or paths.database()
    demo = demo or (or_demo and not database.recorded(path))
    if db and not demo and not os.path.exists(db):  # noqa: PTH110 -- pathlib is not loaded yet here
        raise NmemError(f"no such database: {printable(db)}")
    if serve:
        if not (demo or read_only):
            launch.bring_up_to_date(path)
        _serve(place, path, port)
        return
    if code := launch.here(path, place, project=project, theme=theme, demo=demo, read_only=read_only):
        raise click.exceptions.Exit(code)


def _serve(place: str, path: str, port: int) -> None:
    """The same in a browser; every page runs this command with the same options, those of serving left out."""
    from nmem_tui.model import locations  # on use: start-up stays short

    locations.parse(place, path)
    begin([*options(click.get_current_context()), "--", place], port)


def _check_theme(theme: str) -> None:
    """A theme that nobody knows is a wrong option."""
    if not theme:
        return
    from nmem_tui.appearance import themes  # on use: start-up stays short

    if not themes.known(theme):
        told = f"no theme is called {printable(theme)!r}: try dark, light, ansi, {', '.join(themes.NAMES)}"
        raise click.BadParameter(told, param_hint="--theme")


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
    from nmem_tui.serve import server  # on use: start-up stays short

    server.run(words("tui", *given), port)


def options(context: click.Context) -> list[str]:
    """The options that a command was given, as words again; those that say how to serve are left out."""
    made = []
    for each in context.command.params:
        value = context.params.get(each.name or "")
        if isinstance(each, click.Option) and each.name not in _OWN and value:
            made.append(each.opts[0] if each.is_flag else f"{each.opts[0]}={value}")
    return made
