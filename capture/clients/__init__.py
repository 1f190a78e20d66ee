"""One module a coding client: its payload -> Event, its settings file <-> our hooks.

Every client module has these names:

    EVENTS: dict[str, Registration]       the native events that nmem registers, and how (sync, async, timeout)
    KNOWN: frozenset[str]                 the fields that payloads have had in some version
    parse(native_event, payload, now) -> Event | None
                                          None: not ours to keep (a machine's echo, an event nobody registers)
    drift(native_event, payload)          fields that no known version has
    response_fields(tool_name)            what its response has held in some version; None: a tool that nobody knows
    canonical(tool_name, tool_input)      the canonical tool and its canonical input; transcripts use it too
    answer(event, response)               fills output, output_text, ok, exit_code, duration_ms, interrupted, and what
                                          only the answer knows of the input (lines, created, answers, plan);
                                          event.tool, tool_name, tool_input and kind must stand before

`detect.detect` says whose payload it really is before `parse`; `said` tells a user's words from a machine's and strips
our own (between `said.BEGIN` and `said.END`). A wrong type in a payload is as good as absent: nothing here raises.

An Event's tool is canonical and its tool_input has canonical keys, whatever the client calls them:

    shell       command description background cwd
    edit        files: list of {path, old, new, patch, added, removed, created}, and where true: deleted, moved_from
                (added, removed, created are None where nobody knows)
    write       files: as edit
    read        path offset limit
    search      pattern path glob
    web_fetch   url prompt          web_search  query
    agent       description prompt subagent_type background
    todo        items: list of {content, status}, and the id where there is one (a later call may have the id alone)
    ask         questions: list of {question, options, answer}
    plan        plan path           skill       skill args
    mcp         server tool arguments
    other       the native input as it came
"""

from __future__ import annotations

CLIENTS = ("claude", "codex", "gemini", "cursor", "copilot", "droid", "opencode")
"""Names as they stand in a registered command; each is a module of this package."""

SYNC = "sync"
ASYNC = "async"


class Registration:
    """How a native event is registered: whether the client waits, how long, in its own unit, and for which tools."""

    __slots__ = ("matcher", "mode", "timeout")

    def __init__(self, mode: str, timeout: int, matcher: str | None = None) -> None:
        self.mode = mode
        self.timeout = timeout
        self.matcher = matcher

    def __repr__(self) -> str:
        return f"Registration({self.mode!r}, {self.timeout}, {self.matcher!r})"
