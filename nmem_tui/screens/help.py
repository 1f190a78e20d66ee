"""Help: every action with its key, those of the screen first; enter runs the highlighted one."""

from __future__ import annotations

from nmem.text import pad, width
from nmem_tui.actions import Action, of
from nmem_tui.model.line import Line, length, wrap
from nmem_tui.screens.dialog import Choice, Dialog

_INDENT = 8


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
        known = of(self.context, self.app.keys)  # type: ignore[attr-defined]
        groups = list(dict.fromkeys(action.group for action in known))
        for group in groups:
            members = [action for action in known if action.group == group]
            words = " ".join(self._words(action) for action in members)
            out.append(Choice([(group, "title")], words, None))
            out += [self._choice(action) for action in members]
        return out

    @staticmethod
    def _words(action: Action) -> str:
        return f"{action.shown_key} {action.label} {action.help} {action.group}"

    def _choice(self, action: Action) -> Choice:
        reason = self.app.why_not(action.id)  # type: ignore[attr-defined]
        return Choice(lambda cells: _lines(action, reason, cells), self._words(action), action.id)


def _lines(action: Action, reason: str | None, cells: int) -> list[Line]:
    """Key and help; the reason why not stands behind them, or below where there is no room."""
    indent = max(_INDENT, width(action.shown_key) + 3)
    room = max(8, cells - indent)
    first, *rest = wrap(action.help, room, 3)
    tone = "quiet" if reason else "text"
    lines: list[Line] = [[("  ", "text"), (pad(action.shown_key, indent - 2), "quiet" if reason else "key")]]
    lines[0].append((first, tone))
    lines += [[(" " * indent, "text"), (text, tone)] for text in rest]
    if not reason:
        return lines
    told = f"─ not now: {reason}"
    if length(lines[-1]) + 2 + width(told) <= cells:
        lines[-1].append((f"  {told}", "warn"))
        return lines
    return lines + [[(" " * indent, "text"), (text, "warn")] for text in wrap(told, room, 2)]
