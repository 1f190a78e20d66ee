"""Watches files in a thread: stores new transcript entries, and reports changed config and decision files.

A transcript that grew is caught up with at once, so that thinking and late prompts appear while the turn still runs.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from capture import paths
from capture.storage import store
from nmem import database
from nmem.errors import NmemError
from nmem.search import decisions
from nmem_tui.messages import FileChanged

if TYPE_CHECKING:
    from nmem.read.views import SessionRow

DECISIONS = ("docs/decisions", "docs/adr", "docs/adrs", "decisions", "adr", ".adr")
"""Folders of a project that commonly hold its decisions."""
_STEP_MS = 200
_WAIT_MS = 2000


class Watch:
    """The files that belong to the session on screen."""

    def __init__(self, db_path: str, post: Callable[[FileChanged], object], *, read_only: bool = False) -> None:
        self._db_path = db_path
        self._post = post
        self._session: SessionRow | None = None
        self._config = paths.config()
        self._config_was = _signature(self._config)
        self._transcript_was = (0, 0)
        self._read_only = read_only
        self._moved = threading.Event()
        self._stopped = threading.Event()
        self._told: str = ""
        self.watching: set[str] = set()
        """The folders that are watched now."""

    def follow(self, session: SessionRow | None) -> None:
        """Watch this session's files from now on."""
        if session is not None and (self._session is None or session.id != self._session.id):
            self._session = session
            self._moved.set()

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
        self._moved.set()

    def folders(self) -> set[str]:
        """The folders to watch; a file is watched through its folder, so that it may be replaced or not exist yet.

        Of a folder that does not exist yet the nearest above it that does: it is seen when it is made.
        """
        found = {str(_nearest(Path(self._config).parent))}
        if self._session is not None:
            if self._session.transcript_path:
                found.add(str(Path(self._session.transcript_path).parent))
            if self._session.root:
                found |= self._decided()
                if index := decisions.index(self._session.root):
                    found.add(str(Path(index).parent))
        return {folder for folder in found if Path(folder).is_dir()}

    def _decided(self) -> set[str]:
        """The folders of decisions: those that are read, and those that may become so."""
        root = self._session.root if self._session else ""
        return {*decisions.folders(root), *(str(Path(root) / name) for name in DECISIONS)} if root else set()

    def run(self) -> None:
        """Watch until stopped."""
        from watchfiles import watch  # on use: start-up stays short

        while True:
            self._moved.clear()
            if self._stopped.is_set():  # looked at after that: who stops it says both
                return
            try:
                self._catch_up()
                if folders := self.folders():
                    self._watch(watch, folders)
                    continue
            except Exception as error:  # noqa: BLE001 -- the worker boundary: it is said, and tried again
                self._trouble(f"files are not watched: {type(error).__name__}: {error}; nmem keeps retrying")
            self._moved.wait(_WAIT_MS / 1000)

    def _watch(self, watch: Callable[..., object], folders: set[str]) -> None:
        self.watching = folders
        changes = watch(
            *folders, stop_event=self._moved, step=_STEP_MS, debounce=_STEP_MS, rust_timeout=_WAIT_MS,
            recursive=False, watch_filter=None, raise_interrupt=False, ignore_permission_denied=True,
            yield_on_timeout=True,
        )  # fmt: skip
        for batch in changes:  # type: ignore[attr-defined]
            for path in {str(path) for _, path in batch}:
                self._tell(path)
            self._look_again()

    def _look_again(self) -> None:
        """The config's folder was made, or is gone; what was written before anybody watched is told as well."""
        if _signature(self._config) != self._config_was:
            self._tell(self._config)
        if self._session is not None and _signature(self._session.transcript_path or "") != self._transcript_was:
            self._catch_up()
        if str(_nearest(Path(self._config).parent)) not in self.watching:
            self._moved.set()

    def _tell(self, path: str) -> None:
        if path == self._config:
            self._config_was = _signature(path)
            self._post(FileChanged("config", path))
        elif self._session is not None and path == self._session.transcript_path:
            self._catch_up()
        elif path.endswith((".md", ".markdown")) and self._is_decision(path):
            self._reread()
            self._post(FileChanged("decision", path))

    def _catch_up(self) -> None:
        """Store what the transcript has that no hook told of; the feed then sees the commit."""
        session = self._session
        self._transcript_was = _signature(session.transcript_path or "") if session else (0, 0)
        if session is None or self._read_only or not session.transcript_path or session.state == "ended":
            return
        from capture.transcript import missed  # on use: start-up stays short

        try:
            db = store.connect(self._db_path)
            try:
                missed.catch_up(db, session.client, session.transcript_path, session.id, 1.0)
            finally:
                db.close()
        except FileNotFoundError:
            return
        except (sqlite3.Error, OSError, KeyError, ValueError) as error:
            self._transcript_was = (-1, -1)  # it is tried again, also where nothing is added to it
            self._trouble(f"the transcript could not be read: {database.worded(error)}")

    def _is_decision(self, path: str) -> bool:
        root = self._session.root if self._session else ""
        return str(Path(path).parent) in self._decided() or bool(root and path == decisions.index(root))

    def _reread(self) -> None:
        """Index the decisions anew, so that neither a search nor a hook has to wait for it."""
        if self._session is not None and self._session.root:
            with suppress(NmemError):  # `nmem recall check` says what is wrong with them
                decisions.OPEN.of(self._session.root)

    def _trouble(self, text: str) -> None:
        """Say it once."""
        if text != self._told:
            self._told = text
            self._post(FileChanged("trouble", text))


def _nearest(folder: Path) -> Path:
    """A folder, or where there is none the nearest above it."""
    return next((each for each in (folder, *folder.parents) if each.is_dir()), folder)


def _signature(path: str) -> tuple[int, int]:
    """What changes when a file is written; of none, nothing."""
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
