"""Notes tokens spent on models and keeps within the day's cap."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from capture.redaction import redact
from capture.storage import store
from nmem import tables
from nmem.llm import CapReached, Request
from nmem.llm.outgoing import untagged
from nmem.store.store import keep_model_call, model_calls_of_day

_WAIT = 10.0
_LABEL = 120


def today() -> str:
    """The person's local day, as YYYY-MM-DD."""
    return datetime.now().astimezone().date().isoformat()


class Book:
    """The ledger of one database. Each call uses a connection of its own, so that any thread may ask."""

    def __init__(self, db_path: str) -> None:
        self.db_path = db_path
        self._since = time.monotonic()

    def spent_today(self) -> int:
        """Tokens of today, questions and answers. Raises sqlite3.Error."""
        with closing(store.connect(self.db_path, timeout=_WAIT)) as db:
            tables.ensure(db)
            self._since = time.monotonic()  # a question follows
            return model_calls_of_day(db, today())[0]

    def record(self, *, purpose: str, label: str, tokens: int, outcome: str) -> None:
        """Keep one call: an answer that was refused later costs as much as a good one."""
        ms = int((time.monotonic() - self._since) * 1000)
        with closing(store.connect(self.db_path, timeout=_WAIT)) as db:
            tables.ensure(db)
            keep_model_call(db, (int(time.time() * 1000), today(), redact(untagged(label))[:_LABEL], purpose[:_LABEL],
                           max(0, tokens), ms, outcome[:_LABEL]))  # fmt: skip


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
