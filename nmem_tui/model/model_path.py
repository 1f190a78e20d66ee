"""Texts on whether a language model writes the stories: a line on the screen Now, the dialog that switches it."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from nmem import tables
from nmem.llm.chosen import Offer, Standing, installed, standing
from nmem.text import printable
from nmem_tui.model import actions
from nmem_tui.model.line import Line, cut, wrap

_NONE = "no usable client is installed (claude, codex, gemini), and no endpoint is set: docs/llm.md"


@dataclass(frozen=True, slots=True)
class Plan:
    """What the key would change; `reason` says why it can change nothing."""

    found: Standing
    on: bool
    offer: Offer | None = None
    """A client that is set up first."""
    others: tuple[Offer, ...] = ()
    reason: str = ""

    @property
    def name(self) -> str:
        """Who is asked."""
        if self.offer is not None:
            return " ".join((*self.offer.command, self.offer.model)).strip()
        return self.found.backend or self.found.answered or "a model found on this machine"


def read(db: Connection) -> Standing | None:
    """How things stand; None before anything was concluded. Raises sqlite3.Error."""
    return standing(db) if tables.version(db) else None


def plan(db: Connection) -> Plan | None:
    """What turning the model on or off would change, from the settings, the ledger and what is installed."""
    found = read(db)
    if found is None:
        return None
    if found.used:
        return Plan(found, on=False)
    if found.problems:
        return Plan(found, on=True, reason=found.problems[0])
    if not found.cap:
        return Plan(found, on=True, reason="the day's cap is 0 tokens: daily_token_cap in config.toml")
    if found.backend or (found.answered and not found.enabled):
        return Plan(found, on=True)
    offers = installed()
    if offers:
        return Plan(found, on=True, offer=offers[0], others=tuple(offers[1:]))
    return Plan(found, on=True, reason=_NONE)


def line(found: Standing | None, cells: int) -> list[Line]:
    """The path that is at work, in one line of at most `cells`; none while that is not known."""
    if found is None:
        return []
    if not found.used:
        return [cut([("model ", "quiet"), ("none: stories by built-in rules", "text")], cells)]
    share = found.spent / max(1, found.cap)
    name = printable(found.backend or found.answered)
    today: Line = [(f"  {found.spent:,} of {found.cap:,} tokens today", "warn" if share >= 1 else "quiet")]
    failed: Line = [(f"  ! {found.last_failure}", "warn")] if found.last_failure else []
    return [cut([("model ", "quiet"), (name, "text"), *failed, *today], cells)]


def head(told: Plan, cells: int) -> list[Line]:
    """What would be changed, and what that costs."""
    found = told.found
    if told.reason:
        return _said("✗ ", "bad", told.reason, cells)
    if not told.on:
        rest = "Stories, titles and boundaries come from the built-in rules; stories from the model stay."
        spent = f"{found.spent:,} of {found.cap:,} tokens were used today, {found.asked_today} questions."
        return [*_said("", "strong", f"{told.name} is no longer asked.", cells), *_said("", "text", rest, cells),
                *_said("", "quiet", spent, cells)]  # fmt: skip
    known = "measured on your sessions" if found.measured else "measured on 198 real sessions"
    costs = f"It costs about {found.session_tokens:,} tokens a session of your account there ({known})."
    cap = (f"One question when a session is over; at most {found.cap:,} tokens a day, which is"
           f" {found.sessions_a_day} sessions.")  # fmt: skip
    leaves = "The session's prompts, deeds and answers leave this machine, redacted, to whoever runs that model."
    return [
        *_said("", "strong", f"{told.name} is asked from now on.", cells), *_said("", "text", costs, cells),
        *_said("", "text", cap, cells), *_said("", "text", leaves, cells),
    ]  # fmt: skip


def beside(told: Plan, cells: int) -> list[Line]:
    """What else could be asked, and how to take it back."""
    rows = [f"nmem model use {one.name} asks that client instead" for one in told.others]
    rows += [] if told.reason else [f"{actions.key_of('undo')} takes it back"]
    return [line for row in rows for line in _said("", "quiet", row, cells)]


def _said(mark: str, tone: str, text: str, cells: int) -> list[Line]:
    rows = wrap(printable(text), cells - len(mark), 4)
    return [[(mark if not n else " " * len(mark), tone), (row, tone if not mark else "text")]
            for n, row in enumerate(rows)]  # fmt: skip
