"""Actions on the screen Health: fix, audit, sweep, purge, back up, review redactions, switch the model, retrain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem_tui.model import actions, health
from nmem_tui.operations import commands, jobs
from nmem_tui.screens.list_screen import ListScreen
from nmem_tui.screens.modal import NOT_RECORDED

if TYPE_CHECKING:
    from nmem.audit import Finding

DRAWN = 20
"""Redactions that are drawn at once to be judged."""


class HealthActions(ListScreen):
    """The part of the screen Health that changes something; what takes long goes on in the background."""

    CONTEXT = "health"
    found: tuple[Finding, ...] = ()
    """The findings, the worst first."""
    second: Finding | None = None
    """What the second detector said last."""

    def read_everything(self, found: tuple[Finding, ...]) -> None:
        """Everything was read: these are the findings."""
        raise NotImplementedError

    def _idle(self) -> str | None:
        return NOT_RECORDED if self.is_blank() else self.cockpit.busy()

    may_audit = may_rescan = may_sweep = may_backup = may_retrain = _idle

    def do_audit(self) -> None:
        self.cockpit.work("audit", jobs.audit, self.read_everything)

    def do_rescan(self) -> None:
        self.cockpit.work("second detector", jobs.rescan, self._second)

    def _second(self, found: object) -> None:
        self.second = found  # type: ignore[assignment]

    def do_sweep(self) -> None:
        from nmem_tui.screens.health_dialogs import Sweep  # on use: start-up stays short

        self.app.push_screen(Sweep(), self._sweep)

    def _sweep(self, sure: bool | None) -> None:
        if sure and self.cockpit.busy() is None:
            self.cockpit.work("sweep", jobs.sweep)

    def do_backup(self) -> None:
        self.cockpit.work("backup", jobs.backup)

    def may_model(self) -> str | None:
        """Only where there is something to tell of."""
        if self.cockpit.demo:
            return "the demo asks no model"
        return NOT_RECORDED if self.is_blank() else None

    def do_model(self) -> None:
        """Say who is asked and what that costs, then ask a model from now on, or none."""
        from nmem_tui.screens.health_dialogs import SwitchModel  # on use: start-up stays short

        dialog = SwitchModel()

        def take(sure: bool | None) -> None:
            if sure and dialog.plan is not None:
                self.cockpit.change(commands.ask_model(dialog.plan.on, dialog.plan.offer))

        self.app.push_screen(dialog, take)

    def do_retrain(self) -> None:
        """Show what the corrections would change about where episodes begin, then keep what is better."""
        from nmem_tui.screens.health_dialogs import Retrain  # on use: start-up stays short

        self.app.push_screen(Retrain(self.cockpit.db_path), self._retrain)

    def _retrain(self, sure: bool | None) -> None:
        if sure and self.cockpit.busy() is None:
            self.cockpit.work("retraining", jobs.retrain, stops=False)

    def may_mend(self) -> str | None:
        """Only what needs no decision."""
        if not health.mendable(self.found):
            return f"no finding here has an automatic fix: {actions.key_of('copy')} copies the command of a finding"
        return self._idle()

    def do_mend(self) -> None:
        from nmem_tui.screens.health_dialogs import Fix  # on use: start-up stays short

        self.app.push_screen(Fix(health.mendable(self.found)), self._mend)

    def _mend(self, sure: bool | None) -> None:
        if sure and self.cockpit.busy() is None:
            self.cockpit.work("mending", jobs.mend, self.mended, stops=False)

    def mended(self, _done: object) -> None:
        """What was read before is old."""
        raise NotImplementedError

    def may_stop(self) -> str | None:
        """Only what goes on can be stopped."""
        if self.cockpit.job and not self.cockpit.job.stops:
            return f"{self.cockpit.job.name} cannot be stopped halfway"
        return None if self.cockpit.job else "no job is running"

    def do_stop(self) -> None:
        if self.cockpit.job:
            self.cockpit.job.stop()

    def may_purge(self) -> str | None:
        """Only what is recorded can go."""
        return NOT_RECORDED if self.is_blank() else None

    def do_purge(self) -> None:
        from nmem_tui.screens.purge_dialog import ask_words  # on use: start-up stays short

        ask_words(self.cockpit)

    def do_review(self) -> None:
        from nmem.queues import REDACTIONS  # on use: start-up stays short
        from nmem_tui.screens.review import Review

        if not self.is_blank():
            self.cockpit.change(commands.draw(DRAWN, more=False))
        self.app.push_screen(Review(queue=REDACTIONS), lambda _none: self.look_again())
