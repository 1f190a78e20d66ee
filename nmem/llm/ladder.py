"""Finds the strictest structured-output mode that an endpoint supports, by stepping down.

    json_schema -> json_object with the schema -> json_object -> plain

What an endpoint turned out to take is remembered by its address and model.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, replace

from nmem.llm.backend import Request

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
