"""What a person settled in episodes, quoted for a session that is told of them, and what replaced it (SQL).

On the hook's path. The tables hold places in prompts, no words (nmem.decisions.schema): a place that is no longer
believed says nothing.
"""

from __future__ import annotations

from nmem.context.neutral import quoted, whole
from nmem.retrieval.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.unsaid import Unsaid

MOST = 3
"""Decisions of an episode that are told: the last ones."""
_SAID, _LONG, _ASKED = 220, 400, 160
"""Characters of what is quoted; whole sentences alone, of a decision whose first is longer that one."""


def _quote(name: str, of: str) -> str:
    return (
        f"CASE WHEN length({of}.content) = d.{name}_size"
        f" THEN substr({of}.content, d.{name}_from + 1, d.{name}_to - d.{name}_from) ELSE '' END"
    )


_OF_UNITS = (
    f"SELECT x.unit_id, CASE WHEN d.wording != '' THEN d.wording ELSE {_quote('said', 'p')} END,"  # noqa: S608
    f" {_quote('asked', 'a')}, {_quote('restated', 'r')}, coalesce(y.unit_id, 0)"
    " FROM unit_prompts x JOIN said_decisions d ON d.prompt_id = x.prompt_id JOIN prompts p ON p.id = d.prompt_id"
    " LEFT JOIN prompts a ON a.id = d.asked_id LEFT JOIN prompts r ON r.id = d.restated_id"
    " LEFT JOIN said_decisions n ON n.id = d.superseded_by AND n.state != 'dismissed'"
    " LEFT JOIN unit_prompts y ON y.prompt_id = n.prompt_id"
    " WHERE d.state != 'dismissed' AND x.unit_id IN ({}) ORDER BY d.at, d.id"
)


class Settled:
    """The decisions of one episode that still hold, and the episodes whose decisions replaced others of it."""

    __slots__ = ("holding", "replaced_by")

    def __init__(self) -> None:
        self.holding: list[tuple[str, str, str]] = []
        """(the person's words, what was asked, how the agent said it again), the oldest first."""
        self.replaced_by: list[int] = []

    @property
    def outdated(self) -> bool:
        """Whether nothing that was settled in the episode holds any more."""
        return bool(self.replaced_by) and not self.holding

    def told(self, unsaid: Unsaid | None, by: str, reported: str = "") -> list[str]:
        """Sentences that quote what holds; without what a person excluded, and what the agent `reported` once more."""
        out = []
        over = [reported]
        for said, asked, restated in self.holding[-MOST:]:
            if unsaid and (unsaid.says(said, by) or unsaid.says(restated, by)):
                continue
            settled, about = whole(said, _SAID) or whole(said, _LONG), whole(asked, _ASKED)
            again = whole(restated, _SAID) if set(words(restated)) & set(words(f"{said} {asked}")) else ""
            if settled:
                question = f" (asked: {quoted(about, _ASKED)})" if about and not _among(about, over) else ""
                repeated = f" The agent: {quoted(again.rstrip('. '), _SAID)}." if not _among(again, over) else ""
                over.append(again)
                out.append(f"The person decided: {quoted(settled.rstrip('. '), _LONG)}{question}.{repeated}")
        if self.replaced_by and self.holding:
            out.append(f"Another decision of it was replaced in episode {self.replaced_by[-1]}.")
        return out


def _among(text: str, over: Sequence[str]) -> bool:
    """Whether a text is part of one that is told anyway."""
    return any(text.rstrip(". ") in one for one in over)


def of_units(db: Connection, ids: Sequence[int]) -> dict[int, Settled]:
    """What was settled in some episodes, by episode. Raises sqlite3.Error."""
    out: dict[int, Settled] = {}
    if not ids:
        return out
    for unit_id, said, asked, restated, later in db.execute(_OF_UNITS.format(",".join("?" * len(ids))), tuple(ids)):
        one = out.setdefault(unit_id, Settled())
        if later and later != unit_id:
            one.replaced_by.append(later)
        elif said:
            one.holding.append((said, asked or "", restated or ""))
    return out
