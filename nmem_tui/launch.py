"""Opens the cockpit in the terminal, without what reads options: `nmem tui` alone needs none of that."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

from capture import paths
from nmem import database
from nmem.errors import NmemError, OlderDatabase

if TYPE_CHECKING:
    from nmem_tui.app import Cockpit
    from nmem_tui.config import Own


def here(
    path: str = "", place: str = "", *, project: str = "", theme: str = "", demo: bool = False, read_only: bool = False
) -> int:
    """Open the cockpit of a database, of the usual one without a path, until the person leaves it; the exit code.

    Raises NmemError where there is no terminal.
    """
    path = path or paths.database()
    if not (demo or read_only):
        bring_up_to_date(path)
    if not terminal():
        raise NmemError("the cockpit needs a terminal")
    gc.disable()  # until the first frame: what is imported and set up is no garbage; see nmem_tui.idle
    try:
        return _open(place, path, project=project, theme=theme, demo=demo, read_only=read_only)
    finally:
        gc.enable()


def _open(place: str, path: str, *, project: str, theme: str, demo: bool, read_only: bool) -> int:
    """Until the person leaves it; the demo has a database of its own."""
    from nmem_tui import idle  # on use: start-up stays short
    from nmem_tui.app import Cockpit
    from nmem_tui.model import locations

    idle.share_heap()
    idle.spare_strips()
    if not demo:
        where, own = locations.parse(place, path), _configured()
        return _run(Cockpit(
            path, project=project, home=_folder(), theme=theme or own.theme, symbols=own.symbols,
            colours=own.colours, link=where, keys=own.keys, read_only=read_only, wrong=own.wrong,
        ))  # fmt: skip
    from nmem.demo import remove, temporary  # on use: start-up stays short

    path = temporary()
    try:
        own = _configured()
        return _run(Cockpit(
            path, theme=theme or own.theme, symbols=own.symbols, colours=own.colours, keys=own.keys, demo=True,
            read_only=read_only, wrong=own.wrong,
        ))  # fmt: skip
    finally:
        remove(path)


def _run(app: Cockpit) -> int:
    """Until the person leaves it; a fault, whose traceback the library prints, gives an exit code."""
    if hangup := getattr(signal, "SIGHUP", None):
        signal.signal(hangup, signal.SIG_DFL)  # ignored, as under nohup, keys of a lost terminal are waited for busily
    app.run()
    return app.return_code or 0


def bring_up_to_date(path: str) -> None:
    """Bring what an older nmem made up to date; what goes wrong with that, the cockpit says in place.

    Another file than the usual one, a backup perhaps, is left as it is.
    """
    if path != paths.database():
        return
    try:
        database.reader(path).close()
    except OlderDatabase:
        from nmem import upgrade  # on use: start-up stays short

        sys.stderr.write("upgrading the memory to this version ...\n")
        upgrade.ready(path)
    except NmemError:
        return


def _folder() -> str:
    """Where it was started; empty where that folder is gone."""
    try:
        return os.getcwd()  # noqa: PTH109 -- pathlib is not loaded yet here
    except OSError:
        return ""


def terminal() -> bool:
    """Whether there is one to read keys from and to draw on, or a page; a closed stream is None."""
    if os.environ.get("TEXTUAL_DRIVER") == "nmem_tui.serve.driver:Served":
        return True
    able = os.environ.get("TERM", "") != "dumb"
    return able and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _configured() -> Own:
    """What the config file says, if there is a readable one."""
    from nmem_tui.config import Own, read  # on use: start-up stays short

    there = os.path.exists(paths.config())  # noqa: PTH110 -- pathlib is not loaded yet here
    return read(paths.config()) if there else Own()
