"""Asks a model one question within the day's token cap, and checks the answer; repairs it once, or rejects it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from nmem.llm import Backend, Cancel, Failure, Redacted, Rejected, Reply, Request
from nmem.llm.book import Ledger, within_cap
from nmem.llm.command import Command
from nmem.llm.config import Settings
from nmem.llm.endpoint import Endpoint, settle
from nmem.llm.outgoing import Outgoing, Redact, without_hidden
from nmem.llm.shape import BadShape

T = TypeVar("T")
_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_MOST_TEXT = 200_000
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """A checked answer and what it took."""

    value: T
    model: str
    spent: int
    repaired: bool
    step: str


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything a question needs beside itself: whom to ask, the bounds, the ledger, and the redactor."""

    backend: Backend
    settings: Settings
    ledger: Ledger
    redact: Redact

    @property
    def outgoing(self) -> Outgoing:
        return Outgoing(self.redact)

    def ask(self, request: Request, read: Callable[[object], T], cancel: Cancel) -> Asked[T]:
        """What `read` makes of the answer's JSON; it raises `BadShape` for one repair, `Rejected` for none.

        Raises `Failure`; whatever was spent is in the ledger either way.
        """
        spent = 0
        for repaired in (False, True):
            reply = self._call(request, cancel)
            spent += reply.spent
            try:
                value = read(self._without_secrets(parse(reply.text[:_MOST_TEXT])))
            except BadShape as problem:
                if repaired:
                    raise Rejected(f"{self.backend.label} gave no usable answer: {problem}", spent) from None
                request = self._repair(request, reply.text, problem)
                continue
            except Rejected as rejected:
                rejected.spent = spent
                raise
            return Asked(value, reply.model, spent, repaired, reply.step)
        raise AssertionError("unreachable")

    def _without_secrets(self, value: object, depth: int = 0) -> object:
        """The answer with every string redacted: a client may have read what it should not have."""
        if isinstance(value, str):
            return self.redact(without_hidden(value))
        if depth > _DEEPEST:
            return None
        if isinstance(value, dict):
            return {key: self._without_secrets(item, depth + 1) for key, item in value.items()}
        return [self._without_secrets(item, depth + 1) for item in value] if isinstance(value, list) else value

    def _call(self, request: Request, cancel: Cancel) -> Reply:
        cancel.check()
        bounded = within_cap(request, self.ledger, self.settings.daily_token_cap)
        label = self.backend.label
        try:
            reply = self.backend.complete(bounded, cancel)
        except Failure as failure:
            self.ledger.record(purpose=request.name, label=label, tokens=failure.spent, outcome=failure.kind)
            raise
        self.ledger.record(purpose=request.name, label=label, tokens=reply.spent, outcome="ok")
        return reply

    def _repair(self, request: Request, text: str, problem: BadShape) -> Request:
        strange = ", ".join(self.outgoing.clip(word, 40) for word in sorted(problem.words))
        said = f"{problem} (the material does not show: {strange})" if strange else str(problem)
        words = f"That is not usable: {said}. Answer again with nothing but the corrected JSON object."
        return replace(request, previous=(Redacted(self.outgoing.clip(text, 2000)), words))


def desk(settings: Settings, ledger: Ledger, redact: Redact, cancel: Cancel | None = None) -> Desk | None:
    """A desk for the model that the settings name or that loopback offers; None when there is none."""
    settled = settle(settings, cancel)
    if settled is None or not settled.daily_token_cap:
        return None
    backend: Backend = Command(settled, redact) if settled.command else Endpoint(settled, redact)
    return Desk(backend, settled, ledger, redact)


def parse(text: str) -> object:
    """The JSON object in a reply: bare, in a fence, or after some words; raises `BadShape`."""
    text = text.strip().lstrip("\ufeff")
    fenced = _FENCED.search(text)
    candidates = [text, fenced[1].strip() if fenced else "", text[text.find("{") :] if "{" in text else ""]
    for candidate in candidates:
        if candidate.startswith(("{", "[")):
            try:
                value, _ = json.JSONDecoder(strict=False, parse_constant=_no_constant).raw_decode(candidate)
            except (ValueError, RecursionError):
                continue
            return value
    raise BadShape("it is not a JSON object")


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
