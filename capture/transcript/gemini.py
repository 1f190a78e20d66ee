"""Parses Gemini CLI's chat files into Events: one JSON document, or JSON lines where an id's last line counts.

A replaced message is read again and gives only what is new: its calls by their ids, its thoughts by their words.
The folder that the session ran in is not in the file: it is told by the context message or by the project's hash.
"""

from __future__ import annotations

from capture.clients import gemini, said
from capture.clients.fields import items, mapping, text, whole
from capture.event import PROMPT, THINKING, TOOL_ERROR, TOOL_RESULT, TURN_END, USER, Event
from capture.transcript.reading import Reader, Source, joined, millis, window

_OVER = ("success", "error", "cancelled")
_CONTINUE = "System: Please continue."
_WORKSPACE = "- **Workspace Directories:**\n  - "
_MCP = " MCP Server)"


class GeminiReader(Reader):
    """Messages of one chat -> Events."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.known: set[str] = set()
        self.restored = False
        self.closing: Event | None = None

    def feed(self, record: dict[str, object], offset: int) -> list[Event]:
        """The Events of one line or message."""
        if "$set" in record:
            return self._patched(mapping(record["$set"]), offset)
        if "$rewindTo" in record:
            self._forget()
            return self.skip("$rewindTo")
        kind = text(record.get("type"))
        if kind == "user":
            return self._user(record)
        if kind == "gemini":
            return self._agent(record, offset)
        if "sessionId" in record:
            self.source.session_id = text(record["sessionId"]) or self.source.session_id
            return []
        return self.skip(kind or "untyped")

    def finish(self, over: bool) -> list[Event]:
        """The last text of the chat closes its turn."""
        return self._close() if over else []

    def turn_end(self) -> list[Event]:
        """The last text so far."""
        return self._close()

    def restore(self, state: dict[str, object]) -> None:
        """Go on where an earlier reader stopped."""
        super().restore(state)
        self.restored = True

    def _patched(self, given: dict[str, object], offset: int) -> list[Event]:
        """All messages at once: news in a file that begins with them, else the history of a resumed session.

        A resumed session's history comes with new times and ids, so nothing in it tells it from what was read before.
        """
        out, read_before = [], bool(self.known) or self.restored
        for message in items(given.get("messages")):
            if read_before:
                self._workspace(joined(mapping(message).get("content")))
                self.skip("history of a resumed session")
            else:
                out += self.feed(mapping(message), offset)
        return out

    def _user(self, record: dict[str, object]) -> list[Event]:
        content = joined(record.get("content"))
        self._workspace(content)
        typed = joined(record.get("displayContent")) or content
        spoken, speaker = said.prompt(typed)
        if not spoken or speaker != USER or spoken == _CONTINUE:
            return self.skip("tool answers" if not content else "machine")
        if not self._new(f"user {text(record.get('id'))}"):
            return []
        event = self.event(PROMPT, millis(record.get("timestamp")), "transcript")
        event.text, event.source = spoken, USER
        return [*self._close(), event]

    def _workspace(self, content: str) -> None:
        """The context message of a session names its folders."""
        if not self.source.cwd and content.startswith("<session_context>"):
            self.source.cwd = content.partition(_WORKSPACE)[2].partition("\n")[0].strip()

    def _agent(self, record: dict[str, object], offset: int) -> list[Event]:
        at = millis(record.get("timestamp"))
        self.model = text(record.get("model")) or self.model
        tokens = whole(mapping(record.get("tokens")).get("input"))
        self.seen(tokens, window(self.model, tokens), at)
        out = [event for thought in items(record.get("thoughts")) for event in self._thought(mapping(thought), at)]
        calls = [mapping(call) for call in items(record.get("toolCalls"))]
        words = joined(record.get("content"))
        self._forget()
        if words.strip() and not calls:
            self.closing = self.event(TURN_END, at, "transcript")
            self.closing.text = said.strip_own(words)
            self.held["closing"] = offset
        for call in calls:
            out += self._call(call, at)
        return out

    def _thought(self, thought: dict[str, object], at: int) -> list[Event]:
        words = "\n\n".join(part for part in (text(thought.get("subject")), text(thought.get("description"))) if part)
        if not words or not self._new(f"thought {words}"):
            return []
        event = self.event(THINKING, millis(thought.get("timestamp")) or at, "thoughts")
        event.text = words
        return [event]

    def _call(self, call: dict[str, object], at: int) -> list[Event]:
        status = text(call.get("status"))
        if status not in _OVER or not self._new(f"call {text(call.get('id'))}"):
            return []
        event = self.event(TOOL_RESULT, millis(call.get("timestamp")) or at, "toolCalls")
        event.tool_name = _name(call)
        event.tool, event.tool_input = gemini.canonical(event.tool_name, call.get("args"))
        gemini.answer(event, _response(call))
        if status != "success":
            event.kind, event.ok, event.interrupted = TOOL_ERROR, False, status == "cancelled"
        return [event]

    def _new(self, mark: str) -> bool:
        fresh = mark not in self.known
        self.known.add(mark)
        return fresh

    def _forget(self) -> None:
        self.closing = None
        self.held.pop("closing", None)

    def _close(self) -> list[Event]:
        event = self.closing
        self._forget()
        return [event] if event else []


def _name(call: dict[str, object]) -> str:
    """A server's tool is stored under its bare name; the display name tells the server."""
    name, shown = text(call.get("name")), text(call.get("displayName"))
    if not shown.endswith(_MCP) or name.startswith("mcp_"):
        return name
    return f"mcp_{shown.removesuffix(_MCP).rpartition('(')[2]}_{name}"


def _response(call: dict[str, object]) -> dict[str, object]:
    """A stored result in the shape that a hook is given."""
    out: dict[str, object] = {"returnDisplay": call.get("resultDisplay")}
    parts = [
        mapping(mapping(mapping(part).get("functionResponse")).get("response")) for part in items(call.get("result"))
    ]
    texts = [text(part.get("output")) for part in parts if part.get("output")]
    errors = [text(part.get("error")) for part in parts if part.get("error")]
    out["llmContent"] = "\n".join(texts or errors)
    if errors and not texts:
        out["error"] = {"message": "\n".join(errors)}
    return out


READER = GeminiReader
