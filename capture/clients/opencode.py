"""OpenCode: parses what nmem's plugin sends into Events.

OpenCode has no hook commands; a small plugin inside it starts the hook with these payloads.
"""

from __future__ import annotations

import os

from capture.clients import ASYNC, CAMEL, PLUGIN, SYNC, Client, Registration, vocabulary
from capture.clients.fields import begin, first, items, mapping, text, whole, words
from capture.clients.stamps import stamp
from capture.event import (
    POST_COMPACT,
    PROMPT,
    SESSION_END,
    SESSION_START,
    SUBAGENT_END,
    TOOL_ERROR,
    TOOL_RESULT,
    TURN_END,
    Event,
)

# Its plugin waits for the answers to these, three seconds at most, and of tools to that of a command that failed.
CLIENT = Client(
    "OpenCode", ".config/opencode", "plugins/nmem.js", ".opencode/plugins/nmem.js", shape=PLUGIN, shell_tool="bash",
    experimental=False, listens=("session.created", "chat.message", "tool.execute.after"), answers=CAMEL, most=8_000,
)  # fmt: skip

# Seconds, after which the plugin ends a hook.
EVENTS = {
    "session.created": Registration(SYNC, 20), "chat.message": Registration(SYNC, 20),
    "tool.execute.after": Registration(ASYNC, 20), "tool.execute.error": Registration(ASYNC, 20),
    "session.idle": Registration(ASYNC, 20), "subagent.idle": Registration(ASYNC, 20),
    "session.compacted": Registration(ASYNC, 20), "session.error": Registration(ASYNC, 20),
    "session.deleted": Registration(ASYNC, 20), "dispose": Registration(SYNC, 20),
}  # fmt: skip

_KINDS = {
    "session.created": SESSION_START, "chat.message": PROMPT, "tool.execute.after": TOOL_RESULT,
    "tool.execute.error": TOOL_ERROR, "session.idle": TURN_END, "subagent.idle": SUBAGENT_END,
    "session.compacted": POST_COMPACT, "session.error": TURN_END, "session.deleted": SESSION_END,
    "dispose": SESSION_END,
}  # fmt: skip

KNOWN = words(
    "session_id hook_event_name cwd project_dir model client_version agent_id agent_type turn_id source reason prompt"
    " text tool_name tool_input tool_response tool_use_id duration_ms error context_tokens timestamp"
)

NAMES = {
    "bash": "shell", "edit": "edit", "multiedit": "edit", "patch": "edit", "apply_patch": "edit", "write": "write",
    "read": "read", "list": "search", "glob": "search", "grep": "search", "codesearch": "search", "lsp": "search",
    "webfetch": "web_fetch", "websearch": "web_search", "task": "agent", "todowrite": "todo", "question": "ask",
    "skill": "skill",
}  # fmt: skip

_PLACE = "__NMEM_COMMAND__"

drift, response_fields, canonical = vocabulary(KNOWN, NAMES)


def plugin(command: list[str]) -> str:
    """The plugin's text, which starts this command with the event's name behind it."""
    from capture.jsonio import dumps  # on use: start-up stays short

    path = os.path.join(os.path.dirname(__file__), "opencode_plugin.js")
    with open(path, encoding="utf-8") as file:
        return file.read().replace(_PLACE, dumps(command))


def parse(native_event: str, payload: object, now: int) -> Event | None:
    """What happened, in nmem's words; None for events that are not kept and for payloads without a session."""
    kind = _KINDS.get(native_event)
    if kind is None or not isinstance(payload, dict):
        return None
    event = begin("opencode", kind, payload, now, native_event)
    if event is None or not _fill(event, payload):
        return None
    event.at = stamp(payload.get("timestamp"), now)
    event.project_dir = text(payload.get("project_dir"))
    event.client_version = text(payload.get("client_version"))
    event.drift = drift(native_event, payload)
    return event


def answer(event: Event, response: object) -> None:
    """Fill the event's outcome and text from `{title, output, metadata}` or from an error's text."""
    from capture.clients import output, said  # on use: start-up stays short

    event.output = response
    given = mapping(response)
    metadata = mapping(given.get("metadata"))
    event.exit_code = whole(metadata.get("exit"))
    event.ok = event.kind != TOOL_ERROR and not event.exit_code
    shown = output.flat(given.get("output")) if given else output.flat(response)
    if event.tool in ("edit", "write") and event.ok:
        _file(event, metadata)
        shown = ""
    event.output_text = said.strip_own(shown)


def typed(prompt: str) -> str:
    """What was typed: `opencode run` puts a prompt of several words into quotes."""
    inner = prompt[1:-1]
    if len(prompt) < 3 or prompt[0] != '"' or prompt[-1] != '"' or '"' in inner.replace('\\"', ""):
        return prompt
    return inner.replace('\\"', '"')


def _fill(event: Event, payload: dict[str, object]) -> bool:
    """Fill in what this kind of event carries; False when there is nothing to keep."""
    from capture.clients import common, said  # on use: start-up stays short

    if event.kind in (TOOL_RESULT, TOOL_ERROR):
        return common.tool(event, payload, canonical, answer)
    if event.kind == PROMPT:
        return common.prompt(event, typed(text(payload.get("prompt"))))
    event.source = text(payload.get("source")) or ("startup" if event.kind == SESSION_START else "")
    event.reason = first(payload, "reason", "error")
    event.text = said.strip_own(text(payload.get("text")))
    event.context_tokens = whole(payload.get("context_tokens"))
    if event.native == "session.error":
        event.ok = False
        event.interrupted = event.reason == "MessageAbortedError"
    return True


def _file(event: Event, metadata: dict[str, object]) -> None:
    """What an edit's metadata knows: the lines that a diff counts, and whether the file stood there before."""
    from capture.clients.patch import take_unified  # on use: start-up stays short

    files = items(event.tool_input.get("files"))
    if len(files) != 1:
        return
    file = mapping(files[0])
    if isinstance(metadata.get("exists"), bool):
        file["created"] = metadata["exists"] is False
    counts = mapping(metadata.get("filediff"))
    if not take_unified(file, text(metadata.get("diff"))) and counts:
        file["added"], file["removed"] = whole(counts.get("additions")), whole(counts.get("deletions"))
