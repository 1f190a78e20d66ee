"""Every setting there is, table by table, in the order in which a person should read them.

A table is a module here with a tuple `SETTINGS`; whoever adds one names it in TABLES.
"""

from __future__ import annotations

from nmem.settings.declared import (
    backup,
    context,
    dispatch,
    episodes,
    learn,
    llm,
    purge,
    recall,
    redaction,
    retention,
    threads,
    tui,
)
from nmem.settings.setting import Setting

TABLES: tuple[tuple[Setting, ...], ...] = (
    redaction.SETTINGS,
    context.SETTINGS,
    episodes.SETTINGS,
    threads.SETTINGS,
    learn.SETTINGS,
    llm.SETTINGS,
    recall.SETTINGS,
    dispatch.SETTINGS,
    retention.SETTINGS,
    purge.SETTINGS,
    backup.SETTINGS,
    tui.SETTINGS,
)
SETTINGS: tuple[Setting, ...] = tuple(setting for table in TABLES for setting in table)


def find(path: tuple[str, ...]) -> Setting | None:
    """The setting that a key of a document is."""
    return next((setting for setting in SETTINGS if setting.matches(path)), None)


def tables() -> tuple[str, ...]:
    """The names of the tables."""
    return tuple(dict.fromkeys(setting.parts[0] for setting in SETTINGS))
