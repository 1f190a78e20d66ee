"""The signature of an error: the parts that stay the same between runs."""

from __future__ import annotations

from dataclasses import dataclass

WORLD = "world"
"""The machine, the network, a service: something is missing, in the way or does not answer."""
USAGE = "usage"
"""The call was wrong: an option, a path, a file that was not read before."""
RULE = "rule"
"""A linter's or formatter's rule was broken."""
CODE = "code"
"""The code does not compile or run; while it is being written, that is work."""
TEST = "test"
"""A test failed; while code is being written, that is work."""

WORK = "work"
"""Nothing is wrong: a merge that has conflicts, say."""

KEY, LINE = 160, 240
"""Longest key or title, longest line."""
MOST = 8
"""Signatures of one output."""


@dataclass(frozen=True, slots=True)
class Signature:
    """One error."""

    ecosystem: str
    """`program`: it does not say whose error it is, so the same words of another program are another error."""
    key: str
    """The same for the same cause."""
    title: str
    """As a person reads it."""
    line: str
    """The line that says it, as it was printed."""
    nature: str
