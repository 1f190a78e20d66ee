"""`nmem tui`: opens the cockpit."""

from __future__ import annotations

import click

from capture import paths
from nmem import database
from nmem.errors import NmemError


@click.command()
@click.option("--demo", is_flag=True, help="Play a recorded session into a temporary database.")
@click.option("--or-demo", is_flag=True, help="As --demo, but only while nothing is recorded yet.")
@click.option("--db", type=click.Path(dir_okay=False), help="Another database file.")
@click.option("--project", default="", help="Only sessions of this project (name, key or root folder).")
@click.option("--theme", default="", help="dark, light, ansi, or any theme by its name.")
def command(*, demo: bool, or_demo: bool, db: str | None, project: str, theme: str) -> None:
    """Open the cockpit beside your coding session."""
    from nmem_tui import themes
    from nmem_tui.app import Cockpit

    if theme and not themes.known(theme):
        raise NmemError(f"no theme is called {theme!r}: try dark, light, ansi, {', '.join(themes.NAMES)}")
    path = db or paths.database()
    demo = demo or (or_demo and not database.exists(path))
    if not demo:
        Cockpit(path, project=project, theme=theme or _configured()).run()
        return
    from nmem.demo.player import remove, temporary

    path = temporary()
    try:
        Cockpit(path, theme=theme or _configured(), demo=True).run()
    finally:
        remove(path)


def _configured() -> str:
    """The theme that the config file names, if there is a readable one."""
    import os

    if not os.path.exists(paths.config()):  # noqa: PTH110 -- pathlib is not loaded yet here
        return ""
    from nmem_tui.config import read_theme

    return read_theme(paths.config())[0]
