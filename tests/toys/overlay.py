"""nmem with the toys: each folder beneath tests/toys joins the package of the same name before anything is found there.

`python -m tests.toys.overlay nmem COMMAND ...` runs the command line so, `... hook CLIENT EVENT` a hook.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def join() -> None:
    """Let every package find the modules that lie in the folder of its name here."""
    for folder in sorted(HERE.rglob("*")):
        if folder.is_dir() and any(folder.glob("*.py")):
            name = ".".join(folder.relative_to(HERE).parts)
            importlib.import_module(name).__path__.append(str(folder))


def main(which: str, *words: str) -> None:
    """Run a hook or the command line."""
    join()
    if which == "hook":
        from capture.hook import main as hook

        hook(list(words), time.time_ns())
    from nmem.commands.main import main as nmem

    sys.argv = ["nmem", *words]
    nmem()


if __name__ == "__main__":
    main(*sys.argv[1:])
