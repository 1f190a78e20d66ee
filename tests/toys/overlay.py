"""nmem with the toys: each folder beneath tests/toys joins the package of the same name before anything is found there.

`python -m tests.toys.overlay nmem COMMAND ...` runs the command line so, `... hook CLIENT EVENT` a hook, `... screen
KEY KEY ...` prints what the cockpit shows after these keys.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def join() -> None:
    """Let every package find the modules that lie in the folder of its name here."""
    for folder in sorted(HERE.rglob("*")):
        if folder.is_dir() and folder.name not in ("styles", "__pycache__"):
            name = ".".join(folder.relative_to(HERE).parts)
            importlib.import_module(name).__path__.append(str(folder))


def declare() -> None:
    """The toy table, as its lines in nmem/store/registry.py and nmem/store/schema/__init__.py would declare it."""
    from nmem import tables
    from nmem.store import registry, schema
    from tests.toys.perches import MIGRATION, TABLE

    schema.MIGRATIONS = (*schema.MIGRATIONS, MIGRATION)
    tables.VERSION += 1
    registry.TABLES = (*registry.TABLES, TABLE)  # type: ignore[assignment]
    registry.BY_NAME[TABLE.name] = TABLE


async def shown(*keys: str) -> str:
    """What the cockpit shows after some keys, its toasts first."""
    from nmem_tui.app import Cockpit
    from nmem_tui.screens.base import View

    async with Cockpit(os.environ["NMEM_DB"], watch=False).run_test(size=(120, 30)) as pilot:
        for key in ("", *keys):
            await pilot.press(*filter(None, [key]))
            await pilot.pause()
            if isinstance(view := pilot.app.screen, View):
                await view.ready.wait()
            await pilot.pause()
        toasts = [each.message for each in pilot.app._notifications]
        strips = pilot.app.screen._compositor.render_strips()
        return "\n".join([*toasts, *("".join(segment.text for segment in strip) for strip in strips)])


def main(which: str, *words: str) -> None:
    """Run a hook, the command line or the cockpit."""
    declare()
    join()
    if which == "hook":
        from capture.hook import main as hook

        hook(list(words), time.time_ns())
    if which == "screen":
        sys.stdout.write(asyncio.run(shown(*words)))
        return
    from nmem.commands.main import main as nmem

    sys.argv = ["nmem", *words]
    nmem()


if __name__ == "__main__":
    main(*sys.argv[1:])
