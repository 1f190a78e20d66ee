"""What a person makes of a thing on the screen Context: always told, never told, pinned; and how long a text may be."""

from __future__ import annotations

from nmem.context.items import Item as Thing
from nmem.context.pinned import EXCLUDE, INCLUDE, PINNED, subject
from nmem_tui import steering
from nmem_tui.model import context
from nmem_tui.model.context_reading import PAST, RESET, START, Shown
from nmem_tui.screens.base import View


class Choosing(View):
    """The part of the screen Context that changes what is told; every change but a budget's can be undone."""

    CONTEXT = "context"

    def __init__(self) -> None:
        super().__init__()
        self.mode = START
        self.shown: Shown | None = None
        self.budgets: dict[str, int] = {}
        """Budgets that the person looks at instead of the configured ones, by what is shown."""
        self.person = False
        """Whether the next answer shows what the person changed."""

    @property
    def one(self) -> Thing | None:
        """The thing under the cursor."""
        raise NotImplementedError

    def read_shown(self) -> None:
        """Read what would be told."""
        raise NotImplementedError

    def _choice(self) -> str:
        found = self.shown.found if self.shown else None
        return found.choices.get(subject(self.one.id), "") if found and self.one else ""

    def may_exclude(self) -> str | None:
        """Only what is chosen at all."""
        if self.mode == PAST:
            return "what was told stays told: v shows what will be"
        if self.mode == RESET:
            return "what is told after a reset is what went on: it is not chosen"
        return None if self.one else "put the cursor on a thing"

    def may_include(self) -> str | None:
        """Not what is told always already, nor what is only told while it is open."""
        if reason := self.may_exclude():
            return reason
        if self.one and self.one.kind == "next":
            return "it is told while it is open: pin its episode instead"
        return "it is pinned: that is always told" if self._choice() == PINNED else None

    def may_pin_item(self) -> str | None:
        """Not what shall never be told."""
        if reason := self.may_exclude():
            return reason
        return "it is excluded: x brings it back first" if self._choice() == EXCLUDE else None

    def do_exclude(self) -> None:
        """Never tell it; or choose it by its score again."""
        self._choose("" if self._choice() == EXCLUDE else EXCLUDE)

    def do_include(self) -> None:
        """Always tell it; or choose it by its score again."""
        self._choose("" if self._choice() == INCLUDE else INCLUDE)

    def _choose(self, choice: str) -> None:
        if self.one and self.shown and self.shown.found:
            self.cockpit.change(steering.choose(self.shown.found.project_id, self.one.id, choice))

    def do_pin_item(self) -> None:
        """Pin what it stands for, or unpin it."""
        if self.one and self.shown and self.shown.found:
            pinned = self._choice() != PINNED
            self.cockpit.change(steering.pin_item(self.shown.found.project_id, self.one.id, pinned))

    # How long it may be

    def may_more(self) -> str | None:
        """Only of what will be told."""
        if self.mode == PAST:
            return "what was told had its budget then: v shows what will be"
        return None if self.shown and self.shown.found else "nothing is shown yet"

    may_less = may_more

    def may_configured(self) -> str | None:
        """Only where another one is looked at."""
        return None if self.mode in self.budgets else "the configured budget is shown"

    def may_keep(self) -> str | None:
        """Only where another one is looked at."""
        return None if self.mode in self.budgets else "+ and - try another budget first"

    def do_more(self) -> None:
        """A larger budget."""
        self._try(1)

    def do_less(self) -> None:
        """A smaller one."""
        self._try(-1)

    def _try(self, by: int) -> None:
        if self.shown is None:
            return
        now = self.budgets.get(self.mode, self.shown.configured)
        wanted = context.next_budget(now, by)
        if wanted == self.shown.configured:
            self.budgets.pop(self.mode, None)
        else:
            self.budgets[self.mode] = wanted
        self.person = True
        self.read_shown()
        self.check_keys()

    def do_configured(self) -> None:
        """The configured budget again."""
        self.budgets.pop(self.mode, None)
        self.person = True
        self.read_shown()

    def do_keep(self) -> None:
        """Write it into the configuration."""
        self.cockpit.change(steering.keep_budget(context.SETTINGS[self.mode], self.budgets[self.mode]))
