"""Help: every action with its key, those of the screen first; enter runs the highlighted one."""

from __future__ import annotations

from nmem.text import pad
from nmem_tui.actions import Action, of
from nmem_tui.model.line import Line
from nmem_tui.screens.dialog import Choice, Dialog


class Help(Dialog):
    """The list of all actions."""

    TITLE_TEXT = "Help ─ every key"
    HINT = "enter runs it · esc leaves"

    def __init__(self, context: str) -> None:
        super().__init__()
        self.context = context

    def on_mount(self) -> None:
        """Grouped as the registry has them."""
        super().on_mount()
        self.offer(self._choices())

    def _choices(self) -> list[Choice]:
        out: list[Choice] = []
        groups = list(dict.fromkeys(action.group for action in of(self.context)))
        for group in groups:
            members = [action for action in of(self.context) if action.group == group]
            words = " ".join(self._words(action) for action in members)
            out.append(Choice([(group, "title")], words, None))
            out += [self._choice(action) for action in members]
        return out

    @staticmethod
    def _words(action: Action) -> str:
        return f"{action.shown_key} {action.label} {action.help} {action.group}"

    def _choice(self, action: Action) -> Choice:
        reason = self.app.why_not(action.id)  # type: ignore[attr-defined]
        keys = " ".join(dict.fromkeys([action.shown_key]))
        line: Line = [("  ", "text"), (pad(keys, 6), "quiet" if reason else "key")]
        line.append((action.help, "quiet" if reason else "text"))
        if reason:
            line.append((f"  ─ not now: {reason}", "warn"))
        return Choice(line, self._words(action), action.id)
