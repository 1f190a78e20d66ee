"""Selects items of the past for the present, within a budget of tokens. On the hook's path."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.context.items import Item
    from nmem.context.present import Present

START_TOKENS, PROMPT_TOKENS = 1500, 800
"""Budgets where the person's configuration names none: when a session starts, and at a prompt."""


def select(db: Connection, present: Present, budget: int) -> list[Item]:
    """The items to tell, in the order in which they are told, together within `budget` tokens; empty: say nothing.

    Without a prompt in the present, what a session that starts may need. Raises sqlite3.Error.
    """
    from nmem.context.budget import packed
    from nmem.context.candidates import gathered

    return packed(gathered(db, present), budget)
