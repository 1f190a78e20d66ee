"""The interface of a cost ledger, and the day's cap."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from nmem.llm.backend import CapReached, Request

LEAST_REPLY = 64
"""Below this many tokens no answer is worth asking for."""


class Ledger(Protocol):
    """Keeps what was spent; the store behind it is the caller's. A day is the person's local day."""

    def spent_today(self) -> int: ...

    def record(self, *, purpose: str, label: str, tokens: int, outcome: str) -> None:
        """One call: what it was for, who was asked, what it cost, `ok` or the failure's kind."""
        ...


def within_cap(request: Request, ledger: Ledger, cap: int) -> Request:
    """The request, its answer shortened to what is left of the day; raises `CapReached` when that is too little."""
    spent = ledger.spent_today()
    left = cap - spent - request.cost
    if left < min(LEAST_REPLY, request.max_tokens):
        raise CapReached(spent, cap)
    return replace(request, max_tokens=min(request.max_tokens, left))
