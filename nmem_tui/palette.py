"""The command palette: every action that applies, by its words."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from nmem_tui.actions import Action, of


class Actions(Provider):
    """The actions of the screen that the palette was opened over."""

    def _actions(self) -> list[Action]:
        why_not, keys = self.app.why_not, self.app.keys  # type: ignore[attr-defined]
        skip = ("palette", "down", "up", "back")
        found = of(getattr(self.screen, "CONTEXT", ""), keys)
        return [item for item in found if item.id not in skip and not why_not(item.id)]

    def _run(self, action: Action) -> partial[None]:
        return partial(self.app.action_act, action.id)  # type: ignore[attr-defined]

    @staticmethod
    def _title(action: Action) -> str:
        return f"{action.label or action.id.replace('_', ' ')}  ·  {action.shown_key}"

    async def discover(self) -> Hits:
        """All of them while nothing is typed."""
        for action in self._actions():
            yield DiscoveryHit(Content(self._title(action)), self._run(action), self._title(action), action.help)

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for action in self._actions():
            words = f"{self._title(action)}  {action.help}"
            if (score := matcher.match(words)) > 0:
                yield Hit(score, Content(self._title(action)), self._run(action), words, action.help)
