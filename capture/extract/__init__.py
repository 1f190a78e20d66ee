"""Extracts the records to store from one Event: its prompts and observations, as a Batch.

Nothing here is redacted or cut to its final length; `capture.seal` does both. Texts are only ever shortened at line
ends, so that no secret is cut in half before it can be recognised.
"""

from __future__ import annotations

from capture import keys
from capture.clients import client
from capture.event import (
    AGENT,
    FAILED,
    MACHINE,
    OK,
    POST_COMPACT,
    PRE_COMPACT,
    PROMPT,
    SESSION_END,
    SESSION_START,
    STATUS,
    STOPPED,
    SUBAGENT_END,
    TOOL_ERROR,
    TOOL_RESULT,
    TURN_END,
    USER,
    Batch,
    Event,
    Observation,
    Project,
    Prompt,
)

_FAILED_HEAD, _FAILED_TAIL = 700, 1_300
_CHECKED_TAIL = 1_000
_OK_HEAD = 200
_CHECKED = frozenset(("test", "build", "lint"))
_SILENT = frozenset(("file_edit", "file_write", "todo", "question", "plan"))


def batch(event: Event, project: Project) -> Batch | None:
    """The rows of one event; None for an event without a session."""
    if not event.session_id:
        return None
    out = Batch(event.client, event.session_id, event.at, event.cwd or event.project_dir)
    out.project = project
    out.drift = event.drift
    out.session = _session(event, project)
    if event.kind in (TOOL_RESULT, TOOL_ERROR):
        out.observations = observations(event, project)
    elif event.kind in (SESSION_START, PRE_COMPACT, POST_COMPACT):
        out.observations = _passages(event)
    if event.kind != STATUS and (said := _said(event)):
        out.prompts.append(said)
    if event.kind == TURN_END and event.interrupted:
        out.prompts.append(_stopped(event))
    return out


def observations(event: Event, project: Project) -> list[Observation]:
    """What a tool call amounts to: one observation, or one for each file that an edit changed."""
    from capture.extract import outcome  # on use: start-up stays short

    if event.tool == "shell":
        from capture.extract.shell_call import describe as describe_command  # on use: start-up stays short

        seen = describe_command(event, project)
    else:
        from capture.extract.tools import describe  # on use: start-up stays short

        seen = describe(event, project)
    for number, one in enumerate(seen):
        if event.tool != "shell":
            one.exit_code = outcome.exit_code(event)
            one.outcome = outcome.outcome(event, one.exit_code)
        one.dedup_key = keys.tool(event, number)
        one.tool_name = event.tool_name
        one.tool_use_id = event.tool_use_id
        one.agent_id = event.agent_id
        one.turn_id = event.turn_id
        one.duration_ms = event.duration_ms
        _remember(event, one)
    return seen


def _remember(event: Event, seen: Observation) -> None:
    """The part of the answer that a reader or a learner will want, and how the call ended."""
    from capture.extract.outcome import excerpt  # on use: start-up stays short

    if event.interrupted:
        seen.metadata["interrupted"] = True
    if event.refused:
        seen.metadata["refused"] = event.refused
    if event.agent_type:
        seen.metadata["agent_type"] = event.agent_type
    said = event.output_text
    if _told_by_us(event):
        return
    if not said or (seen.obs_type in _SILENT and seen.outcome != FAILED and not event.refused):
        return
    if seen.outcome == FAILED or event.refused:
        kept = excerpt(said, _FAILED_HEAD, _FAILED_TAIL)
    elif seen.obs_type in _CHECKED:
        kept = excerpt(said, 0, _CHECKED_TAIL)
    elif seen.obs_type == "file_read":
        return
    else:
        kept = excerpt(said, _OK_HEAD, 0)
    if kept:
        seen.metadata["response"] = kept


def _told_by_us(event: Event) -> bool:
    """Whether an answer is nmem's own, by its server or by the one of its plugin: memory does not feed on itself."""
    server = event.tool_input.get("server") if event.tool == "mcp" else None
    return isinstance(server, str) and (server == "nmem" or server.endswith("_nmem"))


def _passages(event: Event) -> list[Observation]:
    """Starts, resumes, clears and compactions."""
    if event.kind == SESSION_START:
        source = event.source or "startup"
        name = {"resume": "resume", "clear": "clear", "compact": "compact", "fork": "resume"}.get(source, "start")
    elif event.kind == PRE_COMPACT and not client(event.client).starts_after_compact:
        source, name = "compact", "compact"
    else:
        return []
    seen = Observation(event.at, f"session_{name}", source, dedup_key=keys.session(source, event.at))
    seen.outcome = OK
    seen.turn_id = event.turn_id
    if event.model:
        seen.metadata["model"] = event.model
    if event.reason:
        seen.metadata["trigger"] = event.reason
    return [seen]


def _said(event: Event) -> Prompt | None:
    """The prompt, the closing text or the summary that an event carries."""
    text = event.text.strip()
    if not text:
        return None
    if event.kind == PROMPT:
        return _prompt(event, text)
    kind, letter = _SAYINGS.get(event.kind, ("", ""))
    if not kind:
        return None
    key = keys.saying(letter, event, text)
    return Prompt(event.at, AGENT, kind, text, dedup_key=key, native_id=event.turn_id, agent_id=event.agent_id)


_SAYINGS = {TURN_END: ("closing", "c"), SUBAGENT_END: ("subagent", "c"), POST_COMPACT: ("summary", "s")}


def _prompt(event: Event, text: str) -> Prompt:
    machine = event.source == MACHINE
    kind = "notification" if machine else "command" if _command(text) else "prompt"
    key = keys.prompt(event, text)
    return Prompt(event.at, MACHINE if machine else USER, kind, text, dedup_key=key, native_id=event.turn_id,
                  agent_id=event.agent_id)  # fmt: skip


def _stopped(event: Event) -> Prompt:
    """The mark of a turn that the person broke off, behind what the agent said last."""
    return Prompt(event.at, MACHINE, "notification", STOPPED, dedup_key=keys.prompt(event, STOPPED),
                  native_id=event.turn_id)  # fmt: skip


def _command(text: str) -> bool:
    """A slash command: `/review now`, and not a path."""
    name = text[1:].split(None, 1)[0] if text[:1] == "/" and text[1:2].isalpha() else ""
    return bool(name) and "/" not in name and "." not in name


_STATES = {SESSION_START: "idle", PROMPT: "working", TURN_END: "idle", SESSION_END: "ended", TOOL_RESULT: "working",
           TOOL_ERROR: "working", STATUS: "waiting"}  # fmt: skip


def _session(event: Event, project: Project) -> dict[str, object]:
    """What the event says of its session; only what it says, so that nothing is overwritten by silence."""
    known: dict[str, object] = {
        "cwd": event.cwd, "transcript_path": event.transcript_path, "permission_mode": event.permission_mode,
        "model": event.model, "client_version": event.client_version, "branch": project.branch,
        "state": _STATES.get(event.kind, ""),
    }  # fmt: skip
    if event.kind == TURN_END and event.ok is False:
        known["state"] = "failed"
    known = {name: value for name, value in known.items() if value}
    if event.agent_id and event.kind in (TOOL_RESULT, TOOL_ERROR, SUBAGENT_END, STATUS):
        # a subagent may run another model elsewhere: the session's own are not its
        for name in ("model", "cwd", "state"):
            known.pop(name, None)
    if event.context_tokens is not None:
        known["context_tokens"], known["context_at"] = event.context_tokens, event.at
    if event.kind == SESSION_START:
        if event.source:
            known["source"] = event.source
        if event.source not in ("resume", "compact"):
            known["started_at"] = event.at
        if event.source == "compact":
            known.pop("state", None)  # it may happen in the middle of a turn
    elif event.kind == SESSION_END:
        known["ended_at"], known["end_reason"] = event.at, event.reason or "unknown"
    return known
