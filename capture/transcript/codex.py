"""Parses Codex's session files (rollouts), old and new, into Events: `{timestamp, type, payload}` a line.

A prompt is in a rollout up to three times (a response item, a `user_message` event, a `UserMessage` item) and counts
once a turn. A call and its output are paired by call_id; a command that runs on answers its later `write_stdin`.
"""

from __future__ import annotations

from capture.clients import codex, said
from capture.clients.fields import first, from_json, items, mapping, text, whole
from capture.event import (
    MACHINE,
    POST_COMPACT,
    PROMPT,
    SESSION_START,
    SUBAGENT_END,
    THINKING,
    TOOL_ERROR,
    TOOL_RESULT,
    TURN_END,
    USER,
    Event,
)
from capture.transcript.reading import Reader, Source, joined, millis, window

_WRAPPED = ("<environment_context", "<user_instructions", "<INSTRUCTIONS", "# AGENTS.md instructions", "<turn_aborted",
            "<permissions", "<collaboration_mode", "<skill", "<subagent_notification", "<user_shell_command",
            "<model_switch", "<hook_context", "<goal_context")  # fmt: skip
_POLL = "write_stdin"


class CodexReader(Reader):
    """Records of one rollout -> Events."""

    begun = False

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.calls: dict[str, Event] = {}
        self.running: dict[str, Event] = {}
        self.polls: dict[str, str] = {}
        self.heard: set[tuple[str, str]] = set()
        self.closing: Event | None = None

    def feed(self, record: dict[str, object], offset: int) -> list[Event]:
        """The Events of one line; unknown types are counted."""
        kind = text(record.get("type"))
        payload = mapping(record.get("payload"))
        at = millis(record.get("timestamp"))
        inner = text(payload.get("type"))
        handler = _HANDLERS.get(kind) or _HANDLERS.get(f"{kind}.{inner}")
        if handler is None:
            return self.skip(inner or kind or "untyped")
        return handler(self, payload, at, offset)

    def restore(self, state: dict[str, object]) -> None:
        """Go on behind the header."""
        super().restore(state)
        self.begun = True

    def finish(self, over: bool) -> list[Event]:
        """The last text and what was never answered, when nobody writes any more."""
        return [*self._close(), *self._abandon()] if over else []

    # -- the session

    def _meta(self, payload: dict[str, object], _at: int, _offset: int) -> list[Event]:
        """The first header is the file's own; a fork repeats its parent's."""
        if self.begun:
            return self.skip("copied session_meta")
        self.begun = True
        source = self.source
        thread = text(payload.get("id"))
        source.session_id = text(payload.get("session_id")) or thread or source.session_id
        source.agent_id = thread if thread and thread != source.session_id else ""
        source.version = text(payload.get("cli_version"))
        self.cwd = text(payload.get("cwd"))
        source.cwd = source.cwd or self.cwd
        self.branch = text(mapping(payload.get("git")).get("branch"))
        return []

    def _context(self, payload: dict[str, object], _at: int, _offset: int) -> list[Event]:
        self.turn = text(payload.get("turn_id")) or self.turn
        self.cwd = text(payload.get("cwd")) or self.cwd
        self.source.cwd = self.source.cwd or self.cwd
        self.model = text(payload.get("model")) or self.model
        return []

    def _started(self, payload: dict[str, object], _at: int, _offset: int) -> list[Event]:
        self.turn = text(payload.get("turn_id")) or self.turn
        self.window = whole(payload.get("model_context_window")) or self.window
        return []

    def _tokens(self, payload: dict[str, object], at: int, _offset: int) -> list[Event]:
        info = mapping(payload.get("info"))
        tokens = whole(mapping(info.get("last_token_usage")).get("input_tokens"))
        if not self.source.agent_id:
            size = whole(info.get("model_context_window")) or self.window or window(self.model, tokens)
            self.seen(tokens, size, at)
        return []

    def _compacted(self, payload: dict[str, object], at: int, _offset: int) -> list[Event]:
        start = self.event(SESSION_START, at, "compacted")
        start.source = "compact"
        summary = said.summary(payload.get("message"))
        if not summary:
            return [start]
        event = self.event(POST_COMPACT, at, "compacted")
        event.text, event.source = summary, MACHINE
        return [start, event]

    # -- what was said

    def _message(self, payload: dict[str, object], at: int, offset: int) -> list[Event]:
        role = payload.get("role")
        if role == "assistant":
            return self._agent(joined(payload.get("content")), at, offset)
        if role != "user":
            return self.skip("developer message")
        passed = mapping(payload.get("internal_chat_message_metadata_passthrough"))
        self.turn = text(passed.get("turn_id")) or self.turn
        blocks = items(payload.get("content"))
        origins = [
            mapping(mapping(each).get("provenance")).get("type") for each in items(passed.get("content_item_metadata"))
        ]
        spoken = [joined([block]) for block in blocks]
        if len(origins) == len(blocks):
            spoken = [words for words, origin in zip(spoken, origins, strict=True) if origin == "user"]
        words = "\n".join(each for each in spoken if each and not each.lstrip().startswith(_WRAPPED))
        return self._prompt(words, at) if words else self.skip("harness message")

    def _user_event(self, payload: dict[str, object], at: int, _offset: int) -> list[Event]:
        if text(payload.get("kind")) not in {"", "plain"}:
            return self.skip("harness message")
        words = text(payload.get("message"))
        return self._prompt(words, at) if words and not words.lstrip().startswith(_WRAPPED) else []

    def _item(self, payload: dict[str, object], at: int, offset: int) -> list[Event]:
        item = mapping(payload.get("item"))
        kind = item.get("type")
        if kind == "UserMessage":
            self.turn = text(payload.get("turn_id")) or self.turn
            return self._prompt(joined(item.get("content")), at)
        if kind == "CommandExecution":
            self._executed(item)
            return []
        if kind == "AgentMessage":
            return self._agent(joined(item.get("content")), at, offset)
        return self.skip(f"item {text(kind)}")

    def _prompt(self, words: str, at: int) -> list[Event]:
        spoken, speaker = said.prompt(words)
        if speaker != USER or not spoken or self.source.agent_id:
            return self.skip("machine")
        if (self.turn, spoken) in self.heard:
            return []
        out = [*self._close(), *self._abandon()]
        self.heard = {pair for pair in self.heard if pair[0] == self.turn}
        self.heard.add((self.turn, spoken))
        event = self.event(PROMPT, at, "transcript")
        event.text, event.source = spoken, USER
        return [*out, event]

    def _reasoning(self, payload: dict[str, object], at: int, _offset: int) -> list[Event]:
        return self._thought(joined(payload.get("summary")), at)

    def _reasoned(self, payload: dict[str, object], at: int, _offset: int) -> list[Event]:
        return self._thought(text(payload.get("text")), at)

    def _thought(self, thought: str, at: int) -> list[Event]:
        mark = ("thought", thought.strip())
        if not mark[1]:
            return self.skip("empty thinking")
        if mark in self.heard:
            return []
        self.heard.add(mark)
        event = self.event(THINKING, at, "reasoning")
        event.text = thought
        return [event]

    def _agent(self, words: str, at: int, offset: int) -> list[Event]:
        """The last text of a turn may be its closing; the turn's end says so, else the next prompt does."""
        if words.strip():
            event = self.event(SUBAGENT_END if self.source.agent_id else TURN_END, at, "transcript")
            event.text = said.strip_own(words)
            self.closing = event
            self.held["closing"] = offset
        return []

    def _complete(self, payload: dict[str, object], at: int, _offset: int) -> list[Event]:
        words = text(payload.get("last_agent_message"))
        self._agent(words, at, 0)
        return [*self._abandon(), *self._close()]

    def _aborted(self, payload: dict[str, object], at: int, _offset: int) -> list[Event]:
        """The turn was broken off: its last text stays, marked as no answer where the person did it."""
        out = [*self._abandon(), *self._close()]
        if self.source.agent_id or text(payload.get("reason")) not in {"", "interrupted"}:
            return out or self.skip(text(payload.get("type")))
        stop = self.event(TURN_END, at, "transcript")
        stop.interrupted = True
        return [*out, stop]

    def _close(self) -> list[Event]:
        event, self.closing = self.closing, None
        self.held.pop("closing", None)
        return [event] if event else []

    # -- what was done

    def _call(self, payload: dict[str, object], at: int, offset: int) -> list[Event]:
        key, name = first(payload, "call_id", "id"), text(payload.get("name"))
        self.closing = None
        self.held.pop("closing", None)
        given: object = payload.get("arguments", payload.get("input"))
        if name == _POLL:
            self.polls[key] = str(mapping(from_json(text(given))).get("session_id", ""))
            return []
        if name == "apply_patch" and isinstance(given, str) and not given.startswith("{"):
            given = {"command": given}
        space = text(payload.get("namespace"))
        return self._begun(
            key, f"{space}__{name.lstrip('_')}" if space.startswith("mcp__") else name, given, at, offset
        )

    def _local_shell(self, payload: dict[str, object], at: int, offset: int) -> list[Event]:
        action = mapping(payload.get("action"))
        given = {"command": action.get("command"), "workdir": action.get("working_directory")}
        return self._begun(first(payload, "call_id", "id"), "shell", given, at, offset)

    def _begun(self, key: str, name: str, given: object, at: int, offset: int) -> list[Event]:
        event = self.event(TOOL_RESULT, at, "call")
        event.tool_use_id, event.tool_name = key, name
        self.called.append(key)
        event.tool, event.tool_input = codex.canonical(name, given)
        self.calls[key] = event
        self.held[key] = offset
        return []

    def _searched(self, payload: dict[str, object], at: int, _offset: int) -> list[Event]:
        """The client answers a web search itself: call and answer are one record."""
        event = self.event(TOOL_RESULT, at, "web_search_end")
        event.tool_use_id, event.tool_name = text(payload.get("call_id")), "web_search"
        action = mapping(payload.get("action"))
        query = first(payload, "query") or first(action, "query", "url")
        event.tool, event.tool_input, event.ok = "web_search", {"query": query}, True
        return [event] if query and event.tool_use_id else self.skip("empty web search")

    def _executed(self, item: dict[str, object]) -> None:
        """The client's own word about a command, before its output reaches the model."""
        event = self.calls.get(text(item.get("id")))
        if event is not None:
            event.exit_code = whole(item.get("exit_code"))
            span = mapping(item.get("duration"))
            event.duration_ms = (whole(span.get("secs")) or 0) * 1000 + (whole(span.get("nanos")) or 0) // 1_000_000

    def _exec_end(self, payload: dict[str, object], _at: int, _offset: int) -> list[Event]:
        self._executed({**payload, "id": payload.get("call_id")})
        return []

    def _output(self, payload: dict[str, object], at: int, _offset: int) -> list[Event]:
        key = text(payload.get("call_id"))
        output = payload.get("output")
        event = self.calls.pop(key, None)
        if event is None:
            return self._polled(self.polls.pop(key, None), output, at)
        event.at = at or event.at
        offset = self.held.pop(key, 0)
        session = _still_running(output)
        if session:
            self.running[session] = event
            self.held[f"running {session}"] = offset
            return []
        return [_answered(event, output)]

    def _polled(self, session: str | None, output: object, at: int) -> list[Event]:
        """More output of a command that runs on: it may be its last."""
        if session is None:
            return self.skip("output without its call")
        event = self.running.get(session)
        if event is None or _still_running(output):
            return self.skip("poll")
        del self.running[session]
        self.held.pop(f"running {session}", None)
        event.at = at or event.at
        return [_answered(event, output)]

    def _abandon(self) -> list[Event]:
        out = [*self.calls.values(), *self.running.values()]
        self.held = {key: at for key, at in self.held.items() if key == "closing"}
        self.calls, self.running = {}, {}
        return out


def _answered(event: Event, output: object) -> Event:
    code, span = event.exit_code, event.duration_ms
    codex.answer(event, output)
    event.duration_ms = span if event.duration_ms is None else event.duration_ms
    if code is not None:
        event.exit_code, event.ok = code, code == 0
    if event.ok is False:
        event.kind = TOOL_ERROR
    return event


def _still_running(output: object) -> str:
    """The number of the terminal that a command goes on in; empty when it is over."""
    if not isinstance(output, str):
        return ""
    head = output[:400]
    _, mark, rest = head.partition("Process running with session ID ")
    return rest.partition("\n")[0].strip() if mark else ""


_HANDLERS = {
    "session_meta": CodexReader._meta, "turn_context": CodexReader._context, "compacted": CodexReader._compacted,
    "response_item.message": CodexReader._message, "response_item.reasoning": CodexReader._reasoning,
    "response_item.function_call": CodexReader._call, "response_item.custom_tool_call": CodexReader._call,
    "response_item.local_shell_call": CodexReader._local_shell,
    "response_item.function_call_output": CodexReader._output,
    "response_item.custom_tool_call_output": CodexReader._output, "event_msg.user_message": CodexReader._user_event,
    "event_msg.item_completed": CodexReader._item, "event_msg.agent_reasoning": CodexReader._reasoned,
    "event_msg.task_started": CodexReader._started, "event_msg.task_complete": CodexReader._complete,
    "event_msg.turn_aborted": CodexReader._aborted, "event_msg.token_count": CodexReader._tokens,
    "event_msg.web_search_end": CodexReader._searched, "event_msg.exec_command_end": CodexReader._exec_end,
}  # fmt: skip


READER = CodexReader
