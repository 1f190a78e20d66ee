"""Builds the command that runs an nmem function in a new process from any folder, and is that process's script.

A hook finds its packages by their path, so its interpreter need not know nmem; and the folder of a project must not
be looked into for modules. So this file is run by its path, and makes the packages beside it importable.
"""

from __future__ import annotations

import os
import sys

COMMANDS = "nmem.commands.main:main"
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_INSTALLED = ("site-packages", "dist-packages")


def words(*given: str, function: str = COMMANDS) -> list[str]:
    """The command that calls a function of nmem (`module:name`), with these words as its sys.argv."""
    return [sys.executable, "-P", os.path.join(_ROOT, "nmem", "own_process.py"), function, *given]


def _findable() -> None:
    """Our packages come before installed ones of the same name, and after the standard library."""
    if _ROOT in sys.path:
        return
    at = next((at for at, path in enumerate(sys.path) if path.endswith(_INSTALLED)), len(sys.path))
    sys.path.insert(at, _ROOT)


def _noted(kind: type[BaseException], error: BaseException, trace: object) -> None:
    """Nobody reads the output of a process in the background; the log is read."""
    from capture import log, paths  # on use: start-up stays short, and `_findable` comes before

    missing = f" {error.name}" if isinstance(error, ImportError) and error.name else ""
    log.note(paths.database(), f"background: {log.reason(error)}{missing}")
    sys.__excepthook__(kind, error, trace)  # type: ignore[arg-type]


def main() -> None:
    """Call the function that the first word names."""
    _findable()
    sys.excepthook = _noted
    module, _, name = sys.argv.pop(1).partition(":")
    getattr(__import__(module, fromlist=[name]), name)()


if __name__ == "__main__":
    main()
