"""What opens over a screen leaves once: a key that comes while it leaves would else close what lies below."""

from __future__ import annotations

from typing import Any

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType

from nmem_tui.screens.placing import Placing


class Once:
    """Makes a screen leave with its first answer; stands before the screen's class."""

    left = False
    """Whether it is leaving."""

    def dismiss(self, result: Any = None) -> AwaitComplete:  # noqa: ANN401 -- whatever the screen answers
        """Leave; whatever comes later is too late."""
        if self.left:
            return AwaitComplete()
        self.left = True
        leaving: AwaitComplete = super().dismiss(result)  # type: ignore[misc]
        return leaving


class Over(Once, Placing, ModalScreen[ScreenResultType]):
    """A dialog."""
