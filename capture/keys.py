"""Computes deduplication keys of prompts and tool calls, equal whether a hook or a transcript reports them."""

from __future__ import annotations

from capture.event import Event

WRITTEN = "t"
"""Behind the time in a key: the transcript told it, not a hook."""
_HEAD = 2_000


def digest(text: str) -> str:
    """16 hexadecimal digits for a text of any length."""
    from _blake2 import blake2b  # on use: a shared library, and most calls bring an id of their own

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def tool(event: Event, number: int = 0) -> str:
    """Of a tool call: the client's id, else what was called and when; the n-th further file of one edit has its own.

    Without an id the part before the dot is the call and the part after it the time: a transcript may tell of the same
    call with a slightly different time and another wording of its answer. capture.storage.tellings compares them.
    """
    if event.tool_use_id:
        return f"{event.tool_use_id}#{number}" if number else event.tool_use_id
    called = _called(event)
    return f"x{digest(f'{called}#{number}' if number else called)}.{event.at}"


def _called(event: Event) -> str:
    """The call's own words: no answer, and nothing that was counted from an answer."""
    given, parts = event.tool_input, [event.tool, event.agent_id]
    files = given.get("files")
    for one in files if isinstance(files, list) else [given]:
        if isinstance(one, dict):
            names = ("path", "old", "new") if one is not given else sorted(given)
            parts += [_head(one.get(name)) for name in names if name != "background"]
    return "\0".join(parts)


def _head(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return f"{len(text)}:{text[:_HEAD]}"


def prompt(event: Event, text: str) -> str:
    """Of a user's or a machine's prompt: its words, and the turn or the time that tells two equal ones apart."""
    return f"p{digest(text)}.{event.turn_id or event.at}"


def saying(kind: str, event: Event, text: str) -> str:
    """Of something the agent said: t thinking, c closing, s summary; with the turn or the time, like a prompt."""
    words = digest(f"{text}\0{event.agent_id}" if event.agent_id else text)
    return f"{kind}{words}.{event.turn_id or event.at}"


def session(source: str, at: int) -> str:
    """Of a start, a resume, a clear or a compaction, with its time; compared like a call without an id."""
    return f"s:{source}.{at}"
