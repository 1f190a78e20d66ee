"""Parses Copilot CLI's `session-state/<session>/events.jsonl` into Events: one JSON object a line."""

from __future__ import annotations

from capture.clients import copilot, said
from capture.clients.fields import mapping, text, whole
from capture.event import POST_COMPACT, PROMPT, THINKING, TOOL_ERROR, TOOL_RESULT, TURN_END, USER, Event
from capture.transcript.reading import Conversation, millis, window


class CopilotReader(Conversation):
    """Events of one session -> Events of ours."""

    def feed(self, record: dict[str, object], offset: int) -> list[Event]:
        """The Events of one line; a subagent's texts are its own."""
        kind, data = text(record.get("type")), mapping(record.get("data"))
        at, inner = millis(record.get("timestamp")), text(record.get("agentId")) or text(data.get("parentToolCallId"))
        if kind in ("session.start", "session.resume"):
            return self._begun(data)
        if kind == "user.message" and not inner:
            return self._user(data, at)
        if kind == "assistant.message":
            return self._agent(data, at, offset, inner)
        if kind == "tool.execution_start":
            return self._call(data, at, offset, inner)
        if kind == "tool.execution_complete":
            return self._result(data, at)
        if kind == "session.usage_record" and not inner:
            used = mapping(data.get("usage"))
            self.model = text(used.get("model")) or self.model
            tokens = whole(used.get("inputTokens"))
            self.seen(tokens, whole(used.get("maxPromptTokens")) or window(self.model, tokens), at)
        if kind == "session.compaction_complete" and (summary := text(data.get("summaryContent"))):
            event = self.event(POST_COMPACT, at, kind)
            event.text = summary
            return [event]
        return self.skip(kind or "untyped")

    def _begun(self, data: dict[str, object]) -> list[Event]:
        place = mapping(data.get("context"))
        self.source.session_id = text(data.get("sessionId")) or self.source.session_id
        self.source.version = text(data.get("copilotVersion")) or self.source.version
        self.model = text(data.get("selectedModel")) or self.model
        self.cwd = text(place.get("cwd")) or self.cwd
        self.source.cwd = self.source.cwd or self.cwd
        self.branch = text(place.get("branch")) or self.branch
        return []

    def _user(self, data: dict[str, object], at: int) -> list[Event]:
        spoken, speaker = said.prompt(text(data.get("content")))
        if not spoken or speaker != USER or text(data.get("source")) not in ("", "user"):
            return self.skip("machine")
        event = self.event(PROMPT, at, "transcript")
        event.text, event.source = spoken, USER
        return [*self.close(), event]

    def _agent(self, data: dict[str, object], at: int, offset: int, inner: str) -> list[Event]:
        out = []
        if thought := text(data.get("reasoningText")).strip():
            event = self.event(THINKING, at, "reasoning")
            event.text, event.agent_id = thought, inner
            out.append(event)
        words = text(data.get("content")).strip()
        if words and not inner and not data.get("toolRequests"):
            event = self.event(TURN_END, at, "transcript")
            event.text = said.strip_own(words)
            self.says(event, offset)
        return out

    def _call(self, data: dict[str, object], at: int, offset: int, inner: str) -> list[Event]:
        event = self.event(TOOL_RESULT, at, "tool.execution_start")
        event.agent_id, event.tool_name = inner, text(data.get("toolName"))
        event.tool, event.tool_input = copilot.canonical(event.tool_name, data.get("arguments"))
        self.open(text(data.get("toolCallId")), event, offset)  # hooks tell no id, so none is kept
        return []

    def _result(self, data: dict[str, object], at: int) -> list[Event]:
        event = self.answered(text(data.get("toolCallId")))
        if event is None:
            return self.skip("answer without a call")
        event.duration_ms, event.at = max(0, at - event.at), at
        failed = data.get("success") is False
        error = text(mapping(data.get("error")).get("message"))
        result = text(mapping(data.get("result")).get("content"))
        event.kind = TOOL_ERROR if failed else TOOL_RESULT
        copilot.answer(event, error if failed else {"textResultForLlm": result, "resultType": "success"})
        code = whole(mapping(data.get("shellExecution")).get("exitCode"))
        if code is not None:
            event.exit_code, event.ok = code, code == 0
        return [event]


READER = CopilotReader
