"""Parses Qwen Code's chat files into Events: one JSON object a line, messages in Gemini's parts."""

from __future__ import annotations

from capture.clients import qwen, said
from capture.clients.fields import items, mapping, text, whole
from capture.event import PROMPT, THINKING, TOOL_ERROR, TOOL_RESULT, TURN_END, USER, Event
from capture.transcript.reading import Conversation, Source, joined, millis, window


class QwenReader(Conversation):
    """Records of one chat -> Events."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.took: dict[str, int] = {}
        """Calls -> how long they took, as told before their answer."""

    def feed(self, record: dict[str, object], offset: int) -> list[Event]:
        """The Events of one line."""
        source, kind = self.source, text(record.get("type"))
        source.session_id = text(record.get("sessionId")) or source.session_id
        source.version = text(record.get("version")) or source.version
        self.cwd = text(record.get("cwd")) or self.cwd
        source.cwd = source.cwd or self.cwd
        at = millis(record.get("timestamp"))
        parts = [mapping(part) for part in items(mapping(record.get("message")).get("parts"))]
        if kind == "user":
            return self._user(record, parts, at)
        if kind == "assistant":
            return self._agent(record, parts, at, offset)
        if kind == "tool_result":
            return self._result(record, parts, at)
        told = mapping(mapping(record.get("systemPayload")).get("uiEvent"))
        if number := text(told.get("call_id")):
            self.took[number] = whole(told.get("duration_ms")) or 0
        return self.skip(text(record.get("subtype")) or kind or "untyped")

    def _user(self, record: dict[str, object], parts: list[dict[str, object]], at: int) -> list[Event]:
        spoken, speaker = said.prompt(joined(parts))
        if not spoken or speaker != USER or record.get("provenance", "real_user") != "real_user":
            return self.skip("machine")
        event = self.event(PROMPT, at, "transcript")
        event.text, event.source = spoken, USER
        return [*self.close(), event]

    def _agent(
        self, record: dict[str, object], parts: list[dict[str, object]], at: int, offset: int
    ) -> list[Event]:  # fmt: skip
        self.model = text(record.get("model")) or self.model
        tokens = whole(mapping(record.get("usageMetadata")).get("promptTokenCount"))
        self.seen(tokens, whole(record.get("contextWindowSize")) or window(self.model, tokens), at)
        out: list[Event] = []
        if thought := joined([part for part in parts if part.get("thought") is True]).strip():
            event = self.event(THINKING, at, "thought")
            event.text = thought
            out.append(event)
        if words := joined([part for part in parts if part.get("thought") is not True]).strip():
            event = self.event(TURN_END, at, "transcript")
            event.text = said.strip_own(words)
            self.says(event, offset)
        for call in (mapping(part["functionCall"]) for part in parts if "functionCall" in part):
            event = self.event(TOOL_RESULT, at, "functionCall")
            event.tool_name, event.tool_use_id = text(call.get("name")), text(call.get("id"))
            event.tool, event.tool_input = qwen.canonical(event.tool_name, call.get("args"))
            self.called.append(event.tool_use_id)
            self.open(event.tool_use_id, event, offset)
        return out

    def _result(self, record: dict[str, object], parts: list[dict[str, object]], at: int) -> list[Event]:
        told = mapping(record.get("toolCallResult"))
        given = next((mapping(part["functionResponse"]) for part in parts if "functionResponse" in part), {})
        event = self.answered(text(told.get("callId")) or text(given.get("id")))
        if event is None:
            return self.skip("answer without a call")
        event.at = at or event.at
        event.duration_ms = self.took.pop(event.tool_use_id, None)
        response = mapping(given.get("response"))
        failed = text(response.get("error"))
        display = told.get("resultDisplay")
        shown = mapping(display)
        if shown.get("type") == "shell_result":
            display = text(shown.get("output"))
        qwen.answer(event, failed or {"llmContent": response.get("output"), "returnDisplay": display})
        if text(told.get("status")) in ("error", "cancelled") or failed:
            event.kind, event.ok = TOOL_ERROR, False
            event.interrupted = event.interrupted or told.get("status") == "cancelled"
        return [event]


READER = QwenReader
