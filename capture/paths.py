"""Paths of nmem's files. One folder holds the database, its spool, its log and its caches.

`NMEM_DB` names another database file; its folder then holds the rest. `NMEM_CONFIG` names another config file.
"""

from __future__ import annotations

import os
import sys


def _data_home() -> str:
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    return os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")


def _config_home() -> str:
    if sys.platform in ("darwin", "win32"):
        return _data_home()
    return os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")


def entry() -> str:
    """The file that a hook runs: the composition root, beside this package."""
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.join(os.path.dirname(here), "nmem", "entry.py")


def database() -> str:
    """The database file."""
    return os.environ.get("NMEM_DB") or os.path.join(_data_home(), "nmem", "nmem.db")


def config() -> str:
    """The configuration file; it may not exist."""
    return os.environ.get("NMEM_CONFIG") or os.path.join(_config_home(), "nmem", "config.toml")


def folder(db: str) -> str:
    """The folder that holds a database and what belongs to it."""
    return os.path.dirname(os.path.abspath(db))


def make(path: str) -> None:
    """Make a folder, and those above it, for the owner only: os.makedirs gives its mode to the last one alone.

    Raises OSError.
    """
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    if above and above != path:
        make(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


BATCH = ".json"
"""How the name of a spooled batch ends."""
COUNTS = "counts"
"""How the name of a spooled count begins."""


def waits(folder: str) -> bool:
    """Whether there is something in a spool to bring in."""
    try:
        return any(name.endswith(BATCH) or name.startswith(COUNTS) for name in os.listdir(folder))
    except OSError:
        return False


def spool(db: str) -> str:
    """Where redacted rows wait while the database cannot be written."""
    return os.path.join(folder(db), "spool")


def last_spool(db: str) -> str:
    """Where they wait when not even the spool's folder can be written: the user's part of the temporary folder."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    temp = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"  # noqa: S108 - made 0700, its owner checked
    name = os.path.abspath(db).replace("_", "__").replace(os.sep, "_").replace(":", "")
    return os.path.join(temp, f"nmem-spool-{user}", name[-120:])


def log(db: str) -> str:
    """One line for each thing that went wrong in a hook."""
    return os.path.join(folder(db), "nmem.log")


def cache(db: str) -> str:
    """Compiled detectors and the like; safe to delete."""
    return os.path.join(folder(db), "cache")
