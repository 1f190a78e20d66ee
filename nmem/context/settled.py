"""Quotes the decisions made in related episodes, and names the episodes whose decisions replaced others.

On the hook's path. The tables hold places in prompts, no words (nmem.store.schema.found): a place that is no longer
believed says nothing.
"""

from __future__ import annotations

from nmem.context import selection_store
from nmem.retrieval.words import words
from nmem.sanitize import quoted, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.unsaid import Unsaid

MOST, _ALL = 8, 2_000
"""Decisions of an episode that are looked at, the last ones, and characters of those that are told."""
_PLAIN = 120
"""Characters from which a person's words are understood without the question."""
_SHARED = 3
"""Words that decisions made right after an episode share with the prompt, if they are about its work."""
_SAID, _LONG, _ASKED = 220, 600, 160
"""Characters of what is quoted; whole sentences alone, of a decision whose first is longer that one."""


class Settled:
    """The decisions of one episode that still hold, and the episodes whose decisions replaced others of it."""

    __slots__ = ("holding", "replaced_by")

    def __init__(self) -> None:
        self.holding: list[tuple[str, str, str, bool]] = []
        """(the person's words, what was asked, how the agent said it, whether it did before), the oldest first."""
        self.replaced_by: list[int] = []

    @property
    def outdated(self) -> bool:
        """Whether nothing that was settled in the episode holds any more."""
        return bool(self.replaced_by) and not self.holding

    def about(self, prompt: str) -> bool:
        """Whether what holds is about the work that a prompt asks for."""
        said = " ".join(part for one in self.holding for part in one[:3])
        return len(set(words(said)) & set(words(prompt))) >= _SHARED

    def told(self, unsaid: Unsaid | None, by: str, reported: str = "", prompt: str = "") -> list[str]:
        """Sentences that quote what holds, the oldest first; of many the last ones that are most about a prompt.

        Without what a person excluded, and without what the agent `reported` once more.
        """
        asks, over = set(words(prompt)), [reported]
        some: list[tuple[int, int, str]] = []
        for said, asked, restated, chosen in reversed(self.holding[-MOST:]):
            if not (unsaid and (unsaid.says(said, by) or unsaid.says(restated, by))):
                told = _sentence(said, asked, restated, over, chosen)
                some.append((len(asks.intersection(words(f"{said} {asked}"))), len(some), told))
        while len(some) > 1 and sum(len(told) for *_, told in some) > _ALL:
            some.remove(min(some, key=lambda one: (one[0], -one[1])))
        out = [told for *_, told in reversed(some) if told]
        if self.replaced_by and self.holding:
            out.append(f"Another decision of it was replaced in episode {self.replaced_by[-1]}.")
        return out


def _sentence(said: str, asked: str, restated: str, over: list[str], chosen: bool) -> str:
    """A decision in the person's words; short ones with the question and how the agent said it again, unless these
    are told anyway (`over`, which grows by what is told here). `chosen`: the agent said it before, and the person
    took it, so that without it nothing is told."""
    settled = whole(said, _LONG)
    if not settled:
        return ""
    out = f"The person decided: {quoted(settled.rstrip('. '), _LONG)}"
    if len(settled) >= _PLAIN and not chosen:
        return f"{out}."
    about = whole(asked, _ASKED)
    speaks = chosen or set(words(restated)) & set(words(f"{said} {asked}"))
    again = (whole(restated, _SAID) or (restated if chosen else "")) if speaks else ""
    told = again and not _among(again, over)
    over.append(again)
    if about and not _among(about, over):
        out += f" (asked: {quoted(about, _ASKED)})"
    return f"{out}. The agent: {quoted(again.rstrip('. '), _SAID)}." if told else f"{out}."


def _among(text: str, over: Sequence[str]) -> bool:
    """Whether a text is part of one that is told anyway."""
    return any(text.rstrip(". ") in one for one in over)


def answered(db: Connection, ids: Sequence[int], prompt: str, unsaid: Unsaid | None) -> dict[int, Settled]:
    """Of episodes in which nothing was settled, what was settled right after them in the same session about the prompt.

    A question is often put in one episode, and answered in the next. Raises sqlite3.Error.
    """
    later = {
        unit_id: following
        for unit_id, following in selection_store.followed(db, ids)
        if following is not None and not (unsaid and unsaid.never(following))
    }
    found = of_units(db, list(later.values()))
    return {unit: found[after] for unit, after in later.items() if after in found and found[after].about(prompt)}


def of_units(db: Connection, ids: Sequence[int]) -> dict[int, Settled]:
    """What was settled in some episodes, by episode. Raises sqlite3.Error."""
    out: dict[int, Settled] = {}
    for unit_id, said, asked, restated, later, chosen in selection_store.decided(db, ids) if ids else ():
        one = out.setdefault(unit_id, Settled())
        if later and later != unit_id:
            one.replaced_by.append(later)
        elif said:
            one.holding.append((said, asked or "", (restated or "").replace("**", ""), bool(chosen)))
    return out
