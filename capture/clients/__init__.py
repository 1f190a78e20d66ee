"""One module a coding client: its payload -> Event, its settings file <-> our hooks.

Every client module has these names:

    EVENTS: dict[str, Registration]       the native events that nmem registers, and how (sync, async, timeout)
    parse(native_event, payload, now) -> Event | None
                                          None: not ours to keep (a machine's echo, an event nobody registers)

An Event's tool is canonical and its tool_input has canonical keys, whatever the client calls them:

    shell       command description background cwd
    edit        files: list of {path, old, new, patch, added, removed, created}
    write       files: as edit
    read        path offset limit
    search      pattern path glob
    web_fetch   url prompt          web_search  query
    agent       description prompt subagent_type
    todo        items: list of {content, status}
    ask         questions: list of {question, options, answer}
    plan        plan                skill       skill args
    mcp         server tool arguments
    other       the native input as it came
"""

from __future__ import annotations

CLIENTS = ("claude", "codex", "gemini", "cursor", "copilot", "droid", "opencode")
"""Names as they stand in a registered command; each is a module of this package."""
