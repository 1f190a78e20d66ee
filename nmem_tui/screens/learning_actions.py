"""Actions on learnings: accept, dismiss, snooze, resolve, reopen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmem.learn import lifecycle
from nmem.learn.learning import SKILL
from nmem_tui.model import actions
from nmem_tui.operations import commands
from nmem_tui.screens.list_screen import ListScreen
from nmem_tui.store.access import Change

if TYPE_CHECKING:
    from nmem.learn.accept import Plan, Withdrawal
    from nmem.learn.learning import Learning
    from nmem.recall.changes import Change as Planned
    from nmem.recall.remember import Plan as Entry

_DAY_MS = 86_400_000


class LearningActions(ListScreen):
    """The part of the screen Learnings that changes where one stands; every change can be undone."""

    CONTEXT = "learnings"
    ALONE = frozenset({"accept", "write_how", "reopen", "dispatch", "copy_id"})
    TOGETHER = frozenset({"dismiss", "snooze", "resolved", "pin_learning", "purge"})

    @property
    def one(self) -> Learning | None:
        """The learning under the cursor."""
        raise NotImplementedError

    def chosen(self) -> list[Learning]:
        """The marked learnings, else the one under the cursor."""
        raise NotImplementedError

    def _able(self, verb: str) -> list[int]:
        """Those of the chosen that a verb applies to."""
        return [one.id for one in self.chosen() if not one.members and verb in lifecycle.able(one.state, one.rule)]

    def _each(self, verb: str, make: Callable[[int], Change], done: str) -> None:
        """Do it to one, or to all that are marked as one change."""
        able = self._able(verb)
        if not self.marked:
            self.cockpit.change(make(able[0]) if able else commands.each((), done))
            return
        self.cockpit.change(commands.each([make(each) for each in able], done))
        self.unmark()

    def _may(self, verb: str) -> str | None:
        one = self.one
        if self.marked:
            return None if self._able(verb) else f"none of the {len(self.marked)} marked ones allows that"
        if one is None:
            return "no learning here"
        if one.members:
            return f"this covers several projects: {actions.key_of('projects')} lists each project's own"

        return None if verb in lifecycle.able(one.state, one.rule) else f"it is {one.state}{_help(one.state)}"

    def may_accept(self) -> str | None:
        """Only what is not accepted or dismissed."""
        return self._may("accept")

    def may_dismiss(self) -> str | None:
        """Only what is not accepted or dismissed."""
        return self._may("dismiss")

    def may_snooze(self) -> str | None:
        """Only what is open."""
        return self._may("snooze")

    def may_resolved(self) -> str | None:
        """Only what may still be wrong."""
        return self._may("resolve")

    def may_reopen(self) -> str | None:
        """Only what is not open."""
        return self._may("reopen")

    def may_dispatch(self) -> str | None:
        """Only what is of one project."""
        if self.one is None or self.one.members:
            return self._may("dispatch")
        return None

    def do_dispatch(self) -> None:
        from nmem_tui.screens import task_form  # on use: start-up stays short

        if self.one:
            task_form.of_learning(self.cockpit, self.one.id)

    def do_accept(self) -> None:
        """See the rule and the file it goes into; nothing is written before that is confirmed."""
        from nmem_tui.screens.diff_dialog import Accept  # on use: start-up stays short

        def take(planned: Plan | None) -> None:
            if planned is not None:
                self.cockpit.change(commands.accept(planned))

        if self.one:
            self.app.push_screen(Accept(self.one.id, self.cockpit.clock()), take)

    def do_instructions(self) -> None:
        """See what is wrong in the project's instructions, then what would mend it; nothing is written before that."""
        from nmem_tui.screens.instructions_dialog import Instructions  # on use: start-up stays short

        def take(planned: list[Planned] | None) -> None:
            if planned:
                self.cockpit.change(commands.mend_instructions(planned))

        name = self.one.project if self.one and not self.one.members else self.cockpit.project
        self.app.push_screen(Instructions(name, self.cockpit.clock()), take)

    def may_write_how(self) -> str | None:
        """Only a skill is written down."""
        one = self.one
        return None if one is not None and one.kind == SKILL and not one.members else "no skill here"

    def do_write_how(self) -> None:
        """See the entry /how that the skill becomes; nothing is written before that is confirmed."""
        from nmem.learn import promote, skill_use  # on use: start-up stays short
        from nmem_tui.screens.diff_dialog import Promote

        one, now, here = self.one, self.cockpit.clock(), str(Path.cwd())
        if one is None:
            return
        number = one.id

        def take(planned: Entry | None) -> None:
            if planned is not None:
                self.cockpit.change(commands.promote(planned))

        self.app.push_screen(
            Promote(f"skill {number}", "how", skill_use.situation(one),
                    lambda db, words: promote.written(db, number, words, now, here)),
            take,
        )  # fmt: skip

    def may_purge(self) -> str | None:
        """Only what is one learning."""
        if not self.chosen():
            return "no learning here"
        whole = any(not one.members for one in self.chosen())
        return None if whole else f"this covers several projects: {actions.key_of('projects')} lists each project's own"

    def do_purge(self) -> None:
        """See what goes with the learning, or with all marked ones, then let it go."""
        self.purge([f"learning/{one.id}" for one in self.chosen() if not one.members])

    def do_dismiss(self) -> None:
        self._each("dismiss", lambda each: commands.mark_learning(each, "dismissed"), "dismissed")

    def do_snooze(self) -> None:
        from nmem_tui.screens.diff_dialog import Snooze  # on use: start-up stays short

        def take(words: str | None) -> None:
            if words:
                self._each(
                    "snooze", lambda each: commands.snooze(each, Snooze.SPANS[words] * _DAY_MS, words),
                    f"snoozed for {words}",
                )  # fmt: skip

        self.app.push_screen(Snooze(), take)

    def do_resolved(self) -> None:
        self._each("resolve", lambda each: commands.mark_learning(each, "resolved"), "resolved")

    def do_reopen(self) -> None:
        """It is open again; an accepted one takes its rule back, which is shown first."""
        one = self.one
        if one is None:
            return
        if one.state != "accepted":
            self.cockpit.change(commands.mark_learning(one.id, "open"))
            return
        from nmem_tui.screens.diff_dialog import Withdraw  # on use: start-up stays short

        def take(found: tuple[Withdrawal | None] | None) -> None:
            if found is not None:
                self.cockpit.change(commands.withdraw(one.id, found[0]))

        dialog: Any = Withdraw(one.id, self.cockpit.clock())
        self.app.push_screen(dialog, take)


def _help(state: str) -> str:
    return " already" if state == "open" else f": {actions.key_of('reopen')} opens it again"
