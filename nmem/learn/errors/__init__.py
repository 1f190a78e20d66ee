"""Identifies errors in a failed call's output: one key per cause, whatever the paths, numbers and names.

`signatures(text)` reads the output of a failed call. One module an ecosystem, each a table of lines that say what went
wrong; `rules` reads them, `normal` takes out what changes from run to run. The tables are imported when they are
asked: the cockpit needs only what this package keeps of names, and would wait for a hundred patterns.
"""

from __future__ import annotations

from nmem.learn.errors.rules import CODE, MOST, RULE, TEST, USAGE, WORK, WORLD, Signature, read

__all__ = ["CODE", "RULE", "TEST", "USAGE", "WORK", "WORLD", "Signature", "refused", "signatures"]


def signatures(text: str) -> tuple[Signature, ...]:
    """The errors that an output tells of, in its order, each once; () when it tells of none that is known."""
    from nmem.learn.errors.programs import TABLES  # on use: start-up stays short

    if refused(text):
        return ()
    return read(text, TABLES)[:MOST]


def refused(text: str) -> bool:
    """Whether the call never ran, because the user or the client's rules did not let it: nothing has failed."""
    from nmem.learn.errors import programs  # on use: start-up stays short

    return programs.refused(text)
