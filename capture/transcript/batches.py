"""Turns transcript events into Batches with the keys of hooks, so that nothing is stored twice."""

from __future__ import annotations

from capture import keys
from capture.event import AGENT, SESSION_START, THINKING, USER, Batch, Event, Project, Prompt
from capture.extract import batch as extracted
from capture.text import clean
from capture.transcript.reading import Reader

IMPORT = "import"
LATE = "queued_command"
"""The native name of a prompt that was typed while the agent worked."""


def batch(event: Event, project: Project, origin: str = IMPORT) -> Batch | None:
    """What is kept of one Event; None when nothing is."""
    if event.kind == THINKING:
        out = Batch(event.client, event.session_id, event.at, event.cwd, origin)
        key = keys.saying("t", event, clean(event.text).strip())
        out.prompts.append(Prompt(event.at, AGENT, THINKING, event.text, dedup_key=key, native_id=event.turn_id,
                                  agent_id=event.agent_id))  # fmt: skip
        out.project = project
        return out
    made = extracted(event, project)
    if made is None:
        return None
    made.origin = origin
    for one in made.observations:
        if not one.tool_use_id:
            one.dedup_key += keys.WRITTEN
    if event.native == LATE:
        for prompt in made.prompts:
            if prompt.source == USER:
                prompt.kind = "late"
    if event.kind == SESSION_START:
        made.session.pop("state", None)
    else:
        made.session = {}
    return made


def status(reader: Reader, at: int, origin: str = IMPORT) -> Batch:
    """What a file says about its session as a whole; usage of subagents is not the session's."""
    source = reader.source
    out = Batch(source.client, source.session_id, at, reader.cwd or source.cwd, origin)
    if source.agent_id:
        return out
    out.session = {
        "model": reader.model or None, "client_version": source.version or None, "branch": reader.branch or None,
        "transcript_path": source.path, "context_tokens": reader.tokens,
        "context_window": reader.window if reader.tokens else None, "context_at": reader.tokens_at or None,
    }  # fmt: skip
    return out
