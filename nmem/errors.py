"""Exceptions for expected failures; the text of each is one line for the person.

NmemError          one clear line that says what is wrong and what to do; the command line prints it and exits 1
├── NoDatabase     nothing is recorded yet
│   └── Begun      hooks or an import have only begun it
└── OlderDatabase  an older nmem made it
"""

from __future__ import annotations


class NmemError(Exception):
    """An expected failure; its text is the whole message."""


class NoDatabase(NmemError):
    """There is no database yet."""


class Begun(NoDatabase):
    """The database has no tables of meaning yet."""


class OlderDatabase(NmemError):
    """The database has not seen the latest migrations."""
