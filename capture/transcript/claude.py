"""Parses Claude Code's session files: records by `type`, tool calls paired with results by tool_use_id.

A session's file is `<slug>/<session>.jsonl`; a subagent's is `<session>/subagents/agent-<id>.jsonl`, whose records name
the parent's session. The format is the client's own and changes: what is not known is counted and passed over.
"""

from __future__ import annotations

from capture.clients import claude, said
from capture.clients.fields import items, mapping, text, whole
from capture.event import (
    MACHINE,
    POST_COMPACT,
    PROMPT,
    SESSION_START,
    STOPPED,
    SUBAGENT_END,
    THINKING,
    TOOL_ERROR,
    TOOL_RESULT,
    TURN_END,
    USER,
    Event,
)
from capture.transcript.reading import Reader, joined, millis, window

_LOCAL = frozenset((
    "add-dir", "agents", "bashes", "bug", "clear", "color", "compact", "config", "context", "copy", "cost", "doctor",
    "effort", "exit", "export", "extra-usage", "fast", "feedback", "fork", "help", "hooks", "ide", "keybindings",
    "login", "logout", "mcp", "memory", "mobile", "model", "output-style", "permissions", "plugin", "privacy-settings",
    "quit", "rate-limit-options", "release-notes", "reload-plugins", "remote-control", "remote-env", "rename", "resume",
    "rewind", "sandbox", "skills", "stats", "status", "statusline", "tag", "tasks", "terminal-setup", "theme", "todos",
    "upgrade", "usage", "vim",
))  # fmt: skip
"""Commands that the client runs itself: the model never hears of them, and neither does a hook."""
_HOOKED = "Operation stopped by hook"
_DENIED = "The user doesn't want to "
_SUMMARY_ENDS = (
    "\nIf you need specific details from before compaction",
    "\nPlease continue the conversation from where",
    "\nContinue the conversation from where it left off",
)
_SIDE = "sidechain"


class ClaudeReader(Reader):
    """Records of one file -> Events."""

    closing: Event | None = None
    calls: dict[str, Event] | None = None

    def feed(self, record: dict[str, object], offset: int) -> list[Event]:
        """The Events of one record; unknown types are counted."""
        kind = text(record.get("type"))
        handler = _HANDLERS.get(kind)
        if handler is None:
            return self.skip(kind or "untyped")
        self._envelope(record)
        return handler(self, record, offset)

    def finish(self, over: bool) -> list[Event]:
        """The closing text, and calls that nobody will answer any more."""
        return self._turn_over() if over else []

    def turn_end(self) -> list[Event]:
        """The closing text; a result that is not written yet may still come."""
        return self._close()

    def _envelope(self, record: dict[str, object]) -> None:
        source = self.source
        source.session_id = text(record.get("sessionId")) or source.session_id
        cwd = text(record.get("cwd"))
        if cwd:
            self.cwd = cwd
            source.cwd = source.cwd or cwd
        source.version = text(record.get("version")) or source.version
        self.branch = text(record.get("gitBranch")) or self.branch
        source.agent_id = text(record.get("agentId")) or (_SIDE if record.get("isSidechain") is True else "")
        source.agent_type = text(record.get("attributionAgent")) or source.agent_type
        self.turn = text(record.get("promptId")) or self.turn

    # -- the user's side

    def _user(self, record: dict[str, object], _offset: int) -> list[Event]:
        content = mapping(record.get("message")).get("content")
        results = [block for block in items(content) if isinstance(block, dict) and block.get("type") == "tool_result"]
        if results:
            return self._results(record, results)
        if record.get("isCompactSummary") is True:
            return [self._said(POST_COMPACT, record, _summary(joined(content)), MACHINE)]
        if self.source.agent_id:
            return self.skip("subagent prompt")
        if record.get("isMeta") is True or "toolUseResult" in record:
            return self.skip("meta")
        return self._spoken(record, joined(content), text(mapping(record.get("origin")).get("kind")))

    def _spoken(self, record: dict[str, object], content: str, origin: str) -> list[Event]:
        """What a person typed, a command of theirs, or a machine's message."""
        if content.lstrip().startswith("<command-"):
            return self._command(record, said.command(content))
        spoken, speaker = said.prompt(content, "" if origin in ("", "human") else origin)
        if speaker == USER and spoken and not spoken.startswith(_HOOKED):
            return [*self._turn_over(), self._said(PROMPT, record, spoken, USER)]
        if spoken.startswith("[Request interrupted"):
            return self._interrupted(record, spoken)
        if content.lstrip().startswith("<task-notification"):
            return [self._said(PROMPT, record, spoken, MACHINE)]
        return self.skip("machine")

    def _interrupted(self, record: dict[str, object], spoken: str) -> list[Event]:
        """The person broke the turn off: its last text stays, marked as no answer. A refused call is marked itself."""
        said_last = self._close()
        if spoken != STOPPED:
            self.skip("interrupt")
            return said_last
        stop = self._said(TURN_END, record, "", "")
        stop.interrupted = True
        return [*said_last, stop]

    def _command(self, record: dict[str, object], typed: str) -> list[Event]:
        name = typed[1:].partition(" ")[0]
        if name == "clear":
            return [self._said(SESSION_START, record, "", "clear")]
        if not typed or name in _LOCAL:
            return self.skip("local command")
        return [*self._turn_over(), self._said(PROMPT, record, typed, USER)]

    def _attachment(self, record: dict[str, object], _offset: int) -> list[Event]:
        """A prompt typed while the agent worked is an attachment, never a user record."""
        given = mapping(record.get("attachment"))
        origin = text(mapping(given.get("origin")).get("kind"))
        if given.get("type") != "queued_command" or text(given.get("commandMode")) not in {"", "prompt"}:
            return self.skip("attachment")
        content = joined(given.get("prompt"))
        spoken, speaker = said.prompt(content, "" if origin in ("", "human") else origin)
        if speaker != USER or not spoken or self.source.agent_id:
            return self.skip("machine")
        event = self._said(PROMPT, record, spoken, USER)
        event.native = "queued_command"
        event.at = millis(given.get("timestamp")) or event.at
        return [event]

    def _said(self, kind: str, record: dict[str, object], content: str, source: str) -> Event:
        event = self.event(kind, millis(record.get("timestamp")), "transcript")
        event.text, event.source = content, source
        event.permission_mode = text(record.get("permissionMode"))
        return event

    # -- the agent's side

    def _assistant(self, record: dict[str, object], offset: int) -> list[Event]:
        message = mapping(record.get("message"))
        model = text(message.get("model"))
        if model == "<synthetic>" or record.get("isApiErrorMessage") is True:
            return self.skip("synthetic")
        at = millis(record.get("timestamp"))
        if model and not self.source.agent_id:
            self.model = model
            self._usage(mapping(message.get("usage")), at)
        out: list[Event] = []
        for block in items(message.get("content")):
            given = mapping(block)
            kind = given.get("type")
            if kind in ("tool_use", "thinking", "text"):
                self._forget_closing()
            if kind == "tool_use":
                self._call(given, at, offset)
            elif kind == "thinking":
                out += self._thought(text(given.get("thinking")), at)
            elif kind == "text":
                out += self._text(text(given.get("text")), text(message.get("stop_reason")), at, offset)
        return out

    def _usage(self, usage: dict[str, object], at: int) -> None:
        """What the request held; the answer's own tokens are not in it. Repeated on every block of one message."""
        parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        tokens = sum(whole(usage.get(part)) or 0 for part in parts)
        self.seen(tokens, window(self.model, tokens), at)

    def _thought(self, thought: str, at: int) -> list[Event]:
        if not thought.strip():
            return self.skip("empty thinking")
        event = self.event(THINKING, at, "thinking")
        event.text = thought
        return [event]

    def _text(self, content: str, stop: str, at: int, offset: int) -> list[Event]:
        """Only the last text of a turn is kept; a client that does not say which it was lets the next record tell."""
        if stop == "tool_use" or not content.strip():
            return []
        event = self.event(SUBAGENT_END if self.source.agent_id else TURN_END, at, "transcript")
        event.text = said.strip_own(content)
        if stop:
            return [event]
        self.closing, self.held["closing"] = event, offset
        return []

    def _call(self, block: dict[str, object], at: int, offset: int) -> None:
        event = self.event(TOOL_RESULT, at, "tool_use")
        event.tool_use_id, event.tool_name = text(block.get("id")), text(block.get("name"))
        event.tool, event.tool_input = claude.canonical(event.tool_name, block.get("input"))
        if self.calls is None:
            self.calls = {}
        self.calls[event.tool_use_id] = event
        self.called.append(event.tool_use_id)
        self.held[event.tool_use_id] = offset

    def _results(self, record: dict[str, object], blocks: list[dict[str, object]]) -> list[Event]:
        out = []
        structured = record.get("toolUseResult") if len(blocks) == 1 else None
        for block in blocks:
            key = text(block.get("tool_use_id"))
            event = self.calls.pop(key, None) if self.calls else None
            self.held.pop(key, None)
            if event is None:
                self.skip("result without its call")
                continue
            event.at = millis(record.get("timestamp")) or event.at
            event.turn_id = self.turn
            denial = text(record.get("toolDenialKind"))
            _outcome(event, block, structured, denial)
            out.append(event)
        return out

    # -- the turn's end

    def _turn_over(self) -> list[Event]:
        """A person speaks: the last text was the turn's closing, and what was not answered never will be."""
        return [*self._close(), *self._abandon()]

    def _close(self) -> list[Event]:
        event = self.closing
        self._forget_closing()
        return [event] if event else []

    def _forget_closing(self) -> None:
        self.closing = None
        self.held.pop("closing", None)

    def _abandon(self) -> list[Event]:
        out = list(self.calls.values()) if self.calls else []
        for event in out:
            self.held.pop(event.tool_use_id, None)
        self.calls = None
        return out

    def _title(self, _record: dict[str, object], _offset: int) -> list[Event]:
        """Names a session by a message of it, often in another's file: see titles.py."""
        return []

    def _system(self, record: dict[str, object], _offset: int) -> list[Event]:
        if record.get("subtype") != "compact_boundary":
            return self.skip("system")
        event = self._said(SESSION_START, record, "", "compact")
        event.native = "compact_boundary"
        after = whole(mapping(record.get("compactMetadata")).get("postTokens"))
        self.seen(after, self.window, event.at)
        return [event]


_HANDLERS = {
    "user": ClaudeReader._user, "assistant": ClaudeReader._assistant, "attachment": ClaudeReader._attachment,
    "system": ClaudeReader._system, "summary": ClaudeReader._title, "custom-title": ClaudeReader._title,
    "ai-title": ClaudeReader._title,
}  # fmt: skip


def _outcome(event: Event, block: dict[str, object], structured: object, denial: str) -> None:
    """The same answer as a hook gets: structured on success, text on failure."""
    content = joined(block.get("content"))
    if block.get("is_error") is not True:
        claude.answer(event, structured if isinstance(structured, dict | list) else block.get("content"))
        return
    event.kind = TOOL_ERROR
    if denial or content.startswith(_DENIED):
        event.interrupted, event.reason = True, denial or "user-rejected"
    claude.answer(event, content)
    if denial and not event.refused:
        event.refused = "user"
    event.ok = False


def _summary(content: str) -> str:
    """The summary without the sentences that the client puts around it."""
    content = said.without(content, "system-reminder")
    _, mark, rest = content.partition("\nSummary:\n")
    content = rest if mark else content
    for end in _SUMMARY_ENDS:
        content = content.partition(end)[0]
    return said.summary(content)


READER = ClaudeReader
