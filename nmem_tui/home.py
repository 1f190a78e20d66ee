"""The project of the folder that the cockpit was started in."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capture.event import Project


class Home:
    """Found when it is first asked for, in a worker: the first frame does not wait for it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.unrecorded = ""
        """Its name, once another project's session had to be shown for it."""

    @cached_property
    def _project(self) -> Project | None:
        if not self._folder:
            return None
        from capture.project import resolve

        return resolve(self._folder)

    @property
    def key(self) -> str:
        """What its sessions are stored under; empty without a folder."""
        return self._project.key if self._project else ""

    def missed(self) -> None:
        """Nothing is recorded of it; that is worth saying of a git checkout, a mere folder may be anyone's."""
        if self._project and (self._project.remote or self._project.branch):
            self.unrecorded = self._project.name
