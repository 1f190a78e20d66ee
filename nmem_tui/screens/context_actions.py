"""Actions on context items: always include, never include, pin, and the budget."""

from __future__ import annotations

from typing import Protocol

from nmem.context.items import ASK, subject
from nmem.context.items import Item as Thing
from nmem.context.pinned import EXCLUDE, INCLUDE, PINNED
from nmem_tui.model import actions, context
from nmem_tui.model.context_queries import PAST, RESET, START, Shown
from nmem_tui.operations import commands
from nmem_tui.screens.list_screen import ListScreen
from nmem_tui.store.access import Change

NOT_CHOSEN = "after a reset the current work is told: nothing to choose"
"""Why nothing can be made of it."""
_ALWAYS = "this line is told at every start: `[context] ask = false` in config.toml omits it"
_OFFERED = "a written decision is told when a prompt mentions it: put permanent rules into AGENTS.md"
_RECORDED = ("obs", "prompt", "episode", "thread", "learning")


class Make(Protocol):
    """A change of one thing of a project: chosen so, or no longer."""

    def __call__(self, one: Thing, project_id: int, *, on: bool) -> Change: ...


class ContextActions(ListScreen):
    """The part of the screen Context that changes what is told; every change can be undone."""

    CONTEXT = "context"
    HINT = "words of an item, its reason, its files; !word"
    ALONE = frozenset({"copy_id"})
    TOGETHER = frozenset({"exclude", "include", "pin_item", "purge"})

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

    def _choice(self, thing: Thing | None = None) -> str:
        found, one = self.shown.found if self.shown else None, thing or self.one
        return found.choices.get(subject(one.id), "") if found and one else ""

    def chosen(self) -> list[Thing]:
        """The marked things that are listed, else the one under the cursor."""
        found = self.shown.found if self.shown else None
        if not self.marked or found is None:
            return [self.one] if self.one else []
        meant = set(self.meant)
        return [one for one in found.every if subject(one.id) in meant and one.kind != ASK]

    def may_change(self) -> str | None:
        """Not what was told before."""
        if self.mode != PAST:
            return None
        return f"past injections cannot change: {actions.key_of('next_view')} shows what will be told"

    def may_exclude(self) -> str | None:
        """Only what is chosen at all."""
        if reason := self.may_change():
            return reason
        if self.mode == RESET:
            return f"{NOT_CHOSEN}; items excluded at the start stay excluded"
        if self.one and self.one.kind == ASK and not self.marked:
            return _ALWAYS
        return None if self.chosen() else "select an item first"

    def may_include(self) -> str | None:
        """Not what is told always already, nor what is only told while it is open."""
        if (reason := self.may_exclude()) or self.marked:
            return reason
        if self.one and self.one.kind == "next":
            return "open work is always told: pin its episode instead"
        if self.one and self.one.kind == "recall":
            return _OFFERED
        return "already always told: the item is pinned" if self._choice() == PINNED else None

    def may_pin_item(self) -> str | None:
        """Not what shall never be told."""
        if (reason := self.may_exclude()) or self.marked:
            return reason
        if self.one and self.one.kind == "recall":
            return _OFFERED
        return f"excluded: {actions.key_of('exclude')} brings it back first" if self._choice() == EXCLUDE else None

    def may_pin_everywhere(self) -> str | None:
        """One thing at a time, that a pin of its own can be put on."""
        if self.marked:
            return "only one at a time: clear the marks"
        if reason := self.may_pin_item():
            return reason
        kind = subject(self.one.id).partition("/")[0] if self.one else ""
        return None if kind in _RECORDED else f"a {kind} belongs to one project"

    def do_exclude(self) -> None:
        self._choose(EXCLUDE, "never told from now on")

    def do_include(self) -> None:
        self._choose(INCLUDE, "always told from now on")

    def _choose(self, choice: str, done: str) -> None:
        """Of several all are chosen so, or none where all of them are."""

        def make(one: Thing, project_id: int, *, on: bool) -> Change:
            return commands.choose(project_id, one.id, choice if on else "")

        self._each(choice, make, done, "chosen by their score again")

    def do_pin_item(self) -> None:
        def make(one: Thing, project_id: int, *, on: bool) -> Change:
            return commands.pin_item(project_id, one.id, on)

        self._each(PINNED, make, "pinned", "no longer pinned")

    def do_pin_everywhere(self) -> None:
        """Pin what it stands for and tell it in every project, or in its own alone."""
        if self.one:
            kind, _, number = subject(self.one.id).partition("/")
            self.cockpit.change(commands.pin_everywhere(kind, int(number)))

    def _each(self, choice: str, make: Make, done: str, undone: str) -> None:
        things = self.chosen()
        if not things or not self.shown or not self.shown.found:
            return
        number, on = self.shown.found.project_id, not all(self._choice(one) == choice for one in things)
        changes = [make(one, number, on=on) for one in things if not on or self._choice(one) != choice]
        if not self.marked:
            self.cockpit.change(changes[0])
            return
        self.cockpit.change(commands.each(changes, done if on else undone))
        self.unmark()

    def may_purge(self) -> str | None:
        """Only what something recorded stands behind."""
        if reason := self.may_exclude():
            return reason
        return None if self._recorded() else f"no single record is behind this: {actions.key_of('exclude')} excludes it"

    def _recorded(self) -> list[str]:
        """The ids of what the chosen things stand for, where a purge knows them."""
        found = []
        for one in self.chosen():
            kind, _, number = subject(one.id).partition("/")
            kind = "episode" if kind == "next" else kind
            if kind in _RECORDED and number.isdecimal():
                found.append(f"{kind}/{number}")
        return list(dict.fromkeys(found))

    def do_purge(self) -> None:
        self.purge(self._recorded())

    def _path(self) -> str:
        """The file that the thing under the cursor stands for, or the only one that it names."""
        if self.one is None:
            return ""
        kind, _, rest = subject(self.one.id).partition("/")
        return rest if kind == "file" else self.one.files[0] if len(self.one.files) == 1 else ""

    def may_blame(self) -> str | None:
        """Only a file."""
        return None if self._path() and self.shown else "put the cursor on a file"

    def do_blame(self) -> None:
        from nmem_tui.screens.reason_dialogs import Why  # on use: start-up stays short

        if self.shown:
            self.app.push_screen(Why(self.shown.session.id, self._path()))

    # How long it may be

    def may_more(self) -> str | None:
        """Only of what will be told."""
        if self.mode == PAST:
            return f"past injections keep their budget: {actions.key_of('next_view')} shows what will be told"
        return None if self.shown and self.shown.found else "nothing is shown yet"

    may_less = may_more

    def may_configured(self) -> str | None:
        """Only where another one is looked at."""
        return None if self.mode in self.budgets else "the configured budget is shown already"

    def may_keep(self) -> str | None:
        """Only where another one is looked at; the configuration is the person's own, also while the demo plays."""
        if self.cockpit.demo:
            return "not in the demo: the budget would go into your config.toml"
        return (
            None
            if self.mode in self.budgets
            else f"{actions.key_of('less')} and {actions.key_of('more')} try another budget first"
        )

    def do_more(self) -> None:
        self._try(1)

    def do_less(self) -> None:
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
        self.budgets.pop(self.mode, None)
        self.person = True
        self.read_shown()

    def do_keep(self) -> None:
        self.cockpit.change(commands.keep_budget(context.SETTINGS[self.mode], self.budgets[self.mode]))
