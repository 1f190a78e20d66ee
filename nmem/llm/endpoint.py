"""A model behind any OpenAI-compatible endpoint: found on loopback, asked in its strictest output mode.

    json_schema -> json_object with the schema -> json_object -> plain

What an endpoint turned out to take is remembered by its address and model.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from nmem.llm import Cancel, Failure, Rejected, Reply, Request, tokens
from nmem.llm.config import Settings
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


STEPS = ("json_schema", "json_object+schema", "json_object", "plain")
DOWN = frozenset({400, 422, 500})
"""Statuses by which servers say that they do not know a response format (500: llama-cpp-python's own)."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one endpoint takes."""

    step: int = 0
    limit_field: str = "max_tokens"
    temperature: bool = True

    @property
    def name(self) -> str:
        return STEPS[self.step]

    def body(self, request: Request, model: str) -> dict[str, object]:
        """The request in the endpoint's words."""
        body: dict[str, object] = {
            "messages": request.messages(),
            self.limit_field: request.max_tokens,
            "stream": False,
        }
        if model:
            body["model"] = model
        if self.temperature:
            body["temperature"] = 0.2
        if form := self._format(request):
            body["response_format"] = form
        return body

    def _format(self, request: Request) -> dict[str, object]:
        schema = dict(request.schema)
        if self.step == 0:
            return {"type": "json_schema", "json_schema": {"name": request.name, "strict": True, "schema": schema}}
        if self.step == 1:
            return {"type": "json_object", "schema": schema}
        return {"type": "json_object"} if self.step == 2 else {}

    def after(self, status: int, complaint: str) -> Dialect | None:
        """What to try next after a refusal; None when there is nothing left."""
        if status not in DOWN:
            return None
        if self.limit_field == "max_tokens" and "max_completion_tokens" in complaint:
            return replace(self, limit_field="max_completion_tokens")
        if self.temperature and "temperature" in complaint:
            return replace(self, temperature=False)
        return replace(self, step=self.step + 1) if self.step + 1 < len(STEPS) else None


Memory = MutableMapping[tuple[str, str], Dialect]
"""(address, model) -> what it takes; a mapping of the caller's own may outlive the process."""


Place = tuple[str, int]
PORTS: tuple[Place, ...] = (("LM Studio", 1234), ("Ollama", 11434), ("llama.cpp", 8080))
_QUICK = Limits(connect=0.25, call=0.8, size=256 * 1024)
_NOT_FOR_TEXT = ("embed", "rerank", "whisper", "tts", "clip")


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listed its models."""

    name: str
    base_url: str
    models: tuple[str, ...]


def servers(cancel: Cancel | None = None, ports: Sequence[Place] = PORTS) -> list[Server]:
    """The servers that answer on loopback, in the order of `ports`; under a second even when none does."""
    waiting = cancel or Cancel()
    with ThreadPoolExecutor(len(ports) or 1) as pool:
        found = list(pool.map(lambda place: _ask(place, waiting), ports))
    return [server for server in found if server]


def settle(settings: Settings, cancel: Cancel | None = None, ports: Sequence[Place] = PORTS) -> Settings | None:
    """Settings with a place to ask: as configured, else the first loopback server with a model; None without one."""
    if not settings.enabled or settings.command:
        return settings if settings.enabled else None
    if settings.base_url:
        return settings if settings.model else replace(settings, model=_first_model(settings, cancel or Cancel()))
    for server in servers(cancel, ports):
        wanted = [model for model in server.models if model == settings.model] if settings.model else server.models
        if wanted:
            # A key belongs to a configured endpoint, never to whatever happens to listen on a port.
            return replace(settings, base_url=server.base_url, model=wanted[0], key="")
    return None


def models(base_url: str, key: str, limits: Limits, cancel: Cancel) -> tuple[str, ...]:
    """Names of the models an endpoint lists, those for text first; empty when it does not answer as one should."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        answer = exchange("GET", f"{base_url}/models", headers, None, limits, cancel)
    except Failure:
        return ()
    body = answer.json() if answer.status == 200 else None
    rows = body.get("data") if isinstance(body, dict) else None
    names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    fit = [name for name in names if isinstance(name, str) and 0 < len(name) <= 200 and untagged(name) == name]
    return tuple(sorted(fit[:100], key=lambda name: any(word in name.lower() for word in _NOT_FOR_TEXT)))


def _ask(place: Place, cancel: Cancel) -> Server | None:
    name, port = place
    base_url = f"http://127.0.0.1:{port}/v1"
    names = models(base_url, "", _QUICK, cancel)
    return Server(name, base_url, names) if names else None


def _first_model(settings: Settings, cancel: Cancel) -> str:
    limits = Limits(settings.connect_seconds, min(5.0, settings.call_seconds))
    return next(iter(models(settings.base_url, settings.key, limits, cancel)), "")
