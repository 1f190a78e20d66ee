"""A model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from nmem.llm.backend import Cancel, Failure, Rejected, Reply, Request, tokens
from nmem.llm.config import Settings
from nmem.llm.ladder import Dialect, Memory
from nmem.llm.outgoing import Redact, untagged
from nmem.llm.wire import Answer, Limits, exchange

_REMEMBERED: Memory = {}
_TOO_LONG = ("context_length", "context length", "exceed_context", "context size", "too many tokens", "maximum context")
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_REASONS = {401: "refuses the key", 403: "refuses access", 404: "knows no such model or path", 429: "asks to slow down"}


@dataclass
class Endpoint:
    """`complete` steps down the ladder until the endpoint takes the request; raises nothing but `Failure`."""

    settings: Settings
    redact: Redact
    memory: Memory = field(default_factory=lambda: _REMEMBERED)

    @property
    def label(self) -> str:
        return untagged(f"{self.settings.model or 'the first model'} at {self.settings.host}")

    def complete(self, request: Request, cancel: Cancel) -> Reply:
        known = (self.settings.base_url, self.settings.model)
        dialect: Dialect | None = self.memory.get(known, Dialect())
        spent = 0
        while dialect:
            try:
                answer = self._post(dialect.body(request, self.settings.model), cancel)
            except Failure as failure:
                failure.spent = spent + (0 if failure.kind == "unreachable" else _worst(request, failure.kind))
                raise
            if answer.status == 200:
                self.memory[known] = dialect
                return self._reply(answer, request, dialect, spent)
            complaint = self._complaint(answer)
            spent += request.cost if answer.status == 500 else 0
            if any(words in complaint.lower() for words in _TOO_LONG):
                raise Failure("too_long", f"the question is too long for {self.label}", spent)
            cancel.check(spent)
            last, dialect = answer.status, dialect.after(answer.status, complaint)
        reason = f"{self.settings.host} {_REASONS.get(last, f'answered {last}')}"
        raise Failure("status", f"{reason}: {complaint}" if complaint else reason, spent)

    def _post(self, body: object, cancel: Cancel) -> Answer:
        headers = {"Authorization": f"Bearer {self.settings.key}"} if self.settings.key else {}
        limits = Limits(self.settings.connect_seconds, self.settings.call_seconds)
        return exchange("POST", f"{self.settings.base_url}/chat/completions", headers, body, limits, cancel)

    def _reply(self, answer: Answer, request: Request, dialect: Dialect, spent: int) -> Reply:
        body = answer.json()
        if not isinstance(body, dict):
            raise Rejected("the endpoint's answer is not JSON", spent + _worst(request))
        asked, told = _usage(body, request)
        choice = _first(body.get("choices"))
        message = choice.get("message")
        text = _content(message) if isinstance(message, dict) else None
        if choice.get("finish_reason") == "length":
            raise Failure("length", "the answer was cut off at the token limit", spent + asked + told)
        if not text or choice.get("finish_reason") == "content_filter":
            raise Rejected("the endpoint's answer holds no text", spent + asked + told)
        model = body.get("model")
        name = untagged(model)[:80] if isinstance(model, str) else self.settings.model
        return Reply(_THOUGHT.sub("", text), name, spent + asked, told, dialect.name)

    def _complaint(self, answer: Answer) -> str:
        """What a refusal says, without secrets and fit to be shown."""
        body = answer.json()
        error = body.get("error", body) if isinstance(body, dict) else None
        text = error.get("message") or error.get("detail") if isinstance(error, dict) else error
        words = text if isinstance(text, str) else ""
        if self.settings.key:
            words = words.replace(self.settings.key, "[the key]")
        return untagged(self.redact(words[:2000]))[:200]


def _worst(request: Request, kind: str = "") -> int:
    """What a call may have cost when nothing says so."""
    return request.cost + (0 if kind == "redirect" else request.max_tokens)


def _usage(body: dict[str, object], request: Request) -> tuple[int, int]:
    """Tokens of prompt and reply: as told when that is plausible, else estimated from above."""
    usage = body.get("usage")
    told = usage if isinstance(usage, dict) else {}
    values = [told.get(name) for name in ("prompt_tokens", "completion_tokens")]
    limits = (request.cost * 4, max(request.max_tokens * 4, 4096))
    guesses = (request.cost, min(request.max_tokens, tokens(str(body.get("choices", "")))))
    asked, answered = (
        value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= limit else guess
        for value, limit, guess in zip(values, limits, guesses, strict=True)
    )
    return asked, answered


def _first(choices: object) -> dict[str, object]:
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _content(message: dict[str, object]) -> str | None:
    """The text of a message: a string, or parts of which some are text."""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return content if isinstance(content, str) else None
