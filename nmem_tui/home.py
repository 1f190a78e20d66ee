"""The project of the folder that the cockpit was started in."""

from __future__ import annotations

from functools import cached_property


class Home:
    """Found when it is first asked for, in a worker: the first frame does not wait for it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    @cached_property
    def key(self) -> str:
        """What its sessions are stored under; empty without a folder."""
        if not self._folder:
            return ""
        from capture.project import resolve

        return resolve(self._folder).key
