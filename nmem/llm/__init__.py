"""Optional language models: asked within bounds, with answers checked against the facts, or not used at all.

    config.py    what a person set
    endpoint.py  an OpenAI-compatible server   wire.py   its exchange
    command.py   the person's own client: its words, its run
    outgoing.py  redacted, fenced, its language ask.py       cap, call, one repair
    shape.py     types and lengths             facts.py, claims.py   what may be kept
    grounding.py each sentence against the rows that it names
    session_prompt.py  linking_prompt.py   what is asked
    connect.py    the desk of this person and this database   book.py  the ledger, the only SQL here

The one interface to a model, `Backend`, is below.

What `ask` and the prompts' readers return is all that may be stored.

Failure               one clear line; `kind` says which
├── Cancelled         the person or the program did not want it any more
├── CapReached        the day's tokens are spent
└── Rejected          it answered, and the answer is not fit to be kept
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NewType, Protocol

from nmem.errors import NmemError

Json = Mapping[str, object]
Redacted = NewType("Redacted", str)
"""Text that went through the redactor; only `outgoing` makes it."""


class Failure(NmemError):
    """The model gave no usable answer; `spent` is what it may have cost in tokens."""

    def __init__(self, kind: str, message: str, spent: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.spent = spent


class Cancelled(Failure):
    """Nobody waits for the answer any more."""

    def __init__(self, spent: int = 0) -> None:
        super().__init__("cancelled", "the question to the model was cancelled", spent)


class CapReached(Failure):
    """The day's tokens are spent."""

    def __init__(self, spent: int, cap: int) -> None:
        super().__init__("cap", f"today's {cap} tokens are used up ({spent} spent); llm.daily_token_cap raises it")


class Rejected(Failure):
    """The reply is not what was asked for, or says what nothing supports."""

    def __init__(self, message: str, spent: int = 0) -> None:
        super().__init__("rejected", message, spent)


class Cancel:
    """A flag that another thread may set, and a moment after which nobody waits; ask `wanted` between steps."""

    def __init__(self, seconds: float | None = None, *, also: Callable[[], bool] | None = None) -> None:
        self._event = threading.Event()
        self._until = None if seconds is None else time.monotonic() + seconds
        self._also = also

    def set(self) -> None:
        self._event.set()

    def is_set(self) -> bool:
        late = self._until is not None and time.monotonic() >= self._until
        return self._event.is_set() or late or (self._also is not None and self._also())

    def check(self, spent: int = 0) -> None:
        """Raise `Cancelled` when it was."""
        if self.is_set():
            raise Cancelled(spent)


@dataclass(frozen=True, slots=True)
class Request:
    """One question: our own words, the redacted material, the shape of the answer, and the bound on its length."""

    system: str
    user: Redacted
    schema: Json
    name: str
    max_tokens: int
    previous: tuple[Redacted, str] | None = None
    """A reply that was not fit, and what was wrong with it: the one repair."""

    def text(self) -> str:
        """The whole question as one text, for a backend that knows no roles."""
        parts = [self.system, self.user]
        if self.previous:
            parts += ["Your earlier reply was:", self.previous[0], self.previous[1]]
        return "\n\n".join(parts)

    def messages(self) -> list[dict[str, str]]:
        """The question as chat messages."""
        turns = [{"role": "system", "content": self.system}, {"role": "user", "content": str(self.user)}]
        if self.previous:
            turns.append({"role": "assistant", "content": str(self.previous[0])})
            turns.append({"role": "user", "content": self.previous[1]})
        return turns

    @property
    def cost(self) -> int:
        """Tokens that the question itself takes, estimated from above."""
        return tokens(self.text()) + 16


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, untouched: never to be stored as it is."""

    text: str
    model: str
    prompt_tokens: int
    reply_tokens: int
    step: str = ""
    """The rung of the ladder that answered, for status and tests."""

    @property
    def spent(self) -> int:
        return self.prompt_tokens + self.reply_tokens


class Backend(Protocol):
    """A model behind a wire or a command. `complete` raises nothing but `Failure`."""

    @property
    def label(self) -> str:
        """What to show a person: model and place."""
        ...

    def complete(self, request: Request, cancel: Cancel) -> Reply: ...


def tokens(text: str) -> int:
    """Tokens of a text, estimated from above: a third of its bytes, which suits prose, code and any script."""
    return (len(text.encode("utf-8", "replace")) + 2) // 3
