"""`nmem tui`: opens the cockpit."""

from __future__ import annotations

import os
import sys

import click

from capture import paths
from nmem import database
from nmem.errors import NmemError
from nmem.text import printable


@click.command()
@click.argument("place", default="")
@click.option("--demo", is_flag=True, help="Play a recorded session into a temporary database.")
@click.option("--or-demo", is_flag=True, help="As --demo, but only while nothing is recorded yet.")
@click.option("--db", type=click.Path(dir_okay=False), help="Another database file.")
@click.option(
    "--project",
    default="",
    help="Only sessions of this project (name, key or root folder). Without: the newest of the current folder's "
    "first, else the newest of all.",
)
@click.option("--theme", default="", help="dark, light, ansi, or any theme by its name.")
def command(*, place: str, demo: bool, or_demo: bool, db: str | None, project: str, theme: str) -> None:
    """Open the cockpit beside your coding session: that of the current folder's project, else the newest of all.

    PLACE is where: "?q=coupon type:test" is a search, episode/12 its story; also learning/3, session/ID, and the
    screens by name: search, health ...
    """
    _check_theme(theme)
    path = db or paths.database()
    demo = demo or (or_demo and not database.recorded(path))
    if db and not demo and not os.path.exists(db):  # noqa: PTH110 -- pathlib is not loaded yet here
        raise NmemError(f"there is no database {printable(db)}")
    if not _terminal():
        raise NmemError("the cockpit needs a terminal")
    from nmem_tui import link
    from nmem_tui.app import Cockpit

    if not demo:
        where = link.parse(place, path)
        Cockpit(path, project=project, home=_folder(), theme=theme or _configured(), link=where).run()
        return
    from nmem.demo.player import remove, temporary

    path = temporary()
    try:
        Cockpit(path, theme=theme or _configured(), demo=True).run()
    finally:
        remove(path)


def _folder() -> str:
    """Where it was started; empty where that folder is gone."""
    try:
        return os.getcwd()  # noqa: PTH109 -- pathlib is not loaded yet here
    except OSError:
        return ""


def _check_theme(theme: str) -> None:
    """A theme that nobody knows is a wrong option."""
    if not theme:
        return
    from nmem_tui import themes

    if not themes.known(theme):
        told = f"no theme is called {printable(theme)!r}: try dark, light, ansi, {', '.join(themes.NAMES)}"
        raise click.BadParameter(told, param_hint="--theme")


def _terminal() -> bool:
    """Whether there is one to read keys from and to draw on; a closed stream is None."""
    able = os.environ.get("TERM", "") != "dumb"
    return able and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _configured() -> str:
    """The theme that the config file names, if there is a readable one."""
    if not os.path.exists(paths.config()):  # noqa: PTH110 -- pathlib is not loaded yet here
        return ""
    from nmem_tui.config import read_theme

    return read_theme(paths.config())[0]
