"""Known failures that an episode runs into again, on the screens Now and Episodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem_tui.model.line import Line
from nmem_tui.screens.base import View

if TYPE_CHECKING:
    from nmem.learn.learning import Warned


class EpisodeWarnings(View):
    """The part of a screen that warns."""

    CONTEXT = "now"
    OPENS = "stream"

    def __init__(self) -> None:
        super().__init__()
        self.warned: Sequence[Warned] = ()
        """Learnings that the shown episode runs into again, the hottest first."""
        self._warns: int | None = None

    def read_warnings(self, unit_id: int | None) -> None:
        """Read those of one episode; what another one was warned of is gone at once."""
        if unit_id != self._warns:
            self._warns = unit_id
            self._show_warnings((unit_id, ()))
        if unit_id is None:
            return
        at = self.cockpit.clock()

        def work(db: Connection) -> tuple[int, Sequence[Warned]]:
            from nmem.learn import warnings  # on use: start-up stays short

            return unit_id, warnings.of_unit(db, unit_id, at)

        self.reads.ask("warnings", work, self._show_warnings)

    def _show_warnings(self, found: tuple[int | None, Sequence[Warned]]) -> None:
        unit_id, warned = found
        if unit_id == self._warns and tuple(warned) != tuple(self.warned):
            self.warned = warned
            self.show_warnings()

    @property
    def warning(self) -> Callable[[int], Line] | None:
        """What draws them in one line of so many cells; None where nothing warns."""
        warned = self.warned
        if not warned:
            return None
        from nmem_tui.model import learnings  # on use: start-up stays short

        return lambda cells: learnings.warning(warned, cells)

    def show_warnings(self) -> None:
        """Draw them."""
        raise NotImplementedError

    def may_warning(self) -> str | None:
        """Only where there is one."""
        return None if self.warned else "no warning here: no hot learning matches this episode"

    def do_warning(self) -> None:
        """The hottest of them, on the screen Learnings."""
        if self.warned:
            self.cockpit.show_learning(self.warned[0].learning.id)
