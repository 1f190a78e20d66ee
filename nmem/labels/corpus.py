"""Converts the labelled example calls in nmem/labels/corpus to what a hook would store.

A record goes the way of a real call: the client's own tool and arguments -> Event -> Observation -> the classifiers'
features. The evaluation's records take the same way, so what is measured is what hooks do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from capture.clients import claude_tools, codex, gemini
from capture.clients.tools import canonical
from capture.event import TOOL_ERROR, TOOL_RESULT, Event, Observation, Project
from capture.extract import observations
from capture.labels import DIMENSIONS, WORDS
from capture.labels.calls import TEXT, WINDOW, Call, Seen
from capture.labels.labeller import call_of
from nmem.errors import NmemError

FOLDER = Path(__file__).with_name("corpus")
Labels = tuple[str, str, str, str, str]
_NAMES = {**gemini.NAMES, **codex.NAMES, **claude_tools.NAMES}
_KEYS = {
    "shell": "command", "edit": "file_path", "write": "file_path", "read": "file_path", "search": "pattern",
    "web_fetch": "url", "web_search": "query", "agent": "description", "ask": "question", "plan": "plan",
    "skill": "skill",
}  # fmt: skip
_WRAPPED = {"Bash": "command", "Read": "file_path", "Edit": "file_path", "Write": "file_path"}
_PROJECT = Project("corpus", "corpus", "/srv/corpus")


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled call: `labels` are words in the order of DIMENSIONS, "?" where two people would argue."""

    group: str
    seen: Seen
    labels: Labels
    where: str
    title: str
    language: str = ""


def files() -> list[Path]:
    """The corpus that is shipped, in a fixed order."""
    return sorted(FOLDER.glob("*.jsonl"))


def examples(sources: Iterable[Path]) -> Iterator[Example]:
    """The labelled calls of corpus files. Raises NmemError at the first line that is no record."""
    for source in sources:
        group, language, prompt, previous = "", "", "", list[Call]()
        for number, line in enumerate(source.read_text("utf-8").splitlines(), 1):
            if not line.strip():
                continue
            where = f"{source.name}:{number}"
            record = _record(line, where)
            if "session" in record:
                group, prompt, previous = str(record["session"]), "", []
                language = str(record.get("lang") or "")
            elif "prompt" in record:
                prompt = str(record["prompt"])[:TEXT]
            else:
                call = observed(str(record["tool"]), str(record.get("arg") or ""), str(record.get("error") or ""))
                title = f"{record['tool']} {record.get('arg') or ''}"
                if not group:
                    raise NmemError(f"{where}: a call before any session")
                seen = Seen(call, tuple(previous[:WINDOW]), prompt)
                yield Example(group, seen, _labels(str(record["labels"]), where), where, title, language)
                previous.insert(0, call)


def _record(line: str, where: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise NmemError(f"{where}: not JSON: {error}") from None
    if not isinstance(record, dict) or not ({"session", "prompt"} & set(record) or {"tool", "labels"} <= set(record)):
        raise NmemError(f"{where}: neither a session, nor a prompt, nor a call with labels")
    return record


def _labels(text: str, where: str) -> Labels:
    words = text.split()
    if len(words) != len(DIMENSIONS) or any(
        word != "?" and word not in known for word, known in zip(words, WORDS, strict=True)
    ):
        raise NmemError(f"{where}: five labels in the order {' '.join(DIMENSIONS)}, not {text!r}")
    a, b, c, d, e = words
    return a, b, c, d, e


def observed(tool: str, argument: str, error: str = "") -> Call:
    """A call as a client reports it, as the classifiers see it once it is stored."""
    return call_of(observation(tool, argument, error))


def observation(tool: str, argument: str, error: str = "") -> Observation:
    """What is stored of a call of a client's own tool with its one argument; `error` is what a failed one answered."""
    event = Event("claude", TOOL_ERROR if error else TOOL_RESULT, "corpus", 0)
    event.cwd, event.tool_name = _PROJECT.root, tool
    event.tool, event.tool_input = canonical(tool, _arguments(tool, argument), _NAMES)
    if error:
        claude_tools.answer(event, error)
        event.ok = False
    else:
        event.ok = True
    return observations(event, _PROJECT)[0]


def _arguments(tool: str, argument: str) -> dict[str, object]:
    if "*** Begin Patch" in argument:
        return {"input": argument}
    wrapped = _WRAPPED.get(tool.rpartition("__")[2]) if tool.startswith("mcp__") else None
    key = wrapped or _KEYS.get(_NAMES.get(tool, ""), "")
    if key:
        return {key: argument}
    return {"description": argument} if argument else {}


def failure(said: str) -> Call:
    """A failed call of which only the answer is known."""
    return Call("tool_other", "", "", said[:TEXT], failed=True)
