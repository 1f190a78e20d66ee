"""The entry point of `nmem`: answers a plain `when` or `how` at once, and a shell that completes a word; opens the
cockpit where no more is asked; hands the rest to the command line.

An agent asks many times in a session; what reads options and draws tables takes longer to load than an answer.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module

QUICK = ("when", "how")


def main() -> None:
    """Run the command line."""
    if "_NMEM_COMPLETE" in os.environ:
        from nmem.commands.complete import main as complete  # on use: a shell asks for words

        complete()
    asked = sys.argv[2:]
    if sys.argv[1:2] and sys.argv[1] in QUICK and asked and not any(each.startswith("-") for each in asked):
        code = _quick(sys.argv[1], asked)
        if code is not None:
            sys.exit(code)
    if sys.argv[1:] == ["tui"] and None not in (sys.stdin, sys.stdout, sys.stderr):
        sys.exit(_cockpit())
    from nmem.commands.main import main as whole  # on use: start-up stays short

    whole()


def _cockpit() -> int:
    """The exit code of the cockpit, which reads no option here; what goes wrong, the command line proper says."""
    try:
        return int(import_module("nmem_tui.launch").here())
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - what is not known is raised again
        from nmem.commands.main import exit_code  # on use: start-up stays short

        return exit_code(partial(_raise, error))


def _raise(error: BaseException) -> int:
    raise error


def _quick(operator: str, asked: list[str]) -> int | None:
    """The exit code; None where the command line proper has to tell what is wrong."""
    if None in (sys.stdin, sys.stdout, sys.stderr) or not hasattr(sys.stdout, "reconfigure"):
        return None  # closed ones
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    from nmem.errors import NmemError  # on use: start-up stays short
    from nmem.recall import asked as recall  # on use: start-up stays short

    try:
        return recall.run(operator, recall.queries(asked))
    except NmemError as error:
        from nmem.text import printable  # on use: start-up stays short

        sys.stderr.write(f"nmem: {printable(str(error))}\n")
        return 1
    except OSError as error:
        from nmem.commands.main import flushed, tell  # on use: start-up stays short

        if isinstance(error, BrokenPipeError):
            flushed(quiet=True)
            return 0  # whoever read has enough
        tell(f"nmem: {error.strerror or error}")
        flushed(quiet=True)
        return 1
