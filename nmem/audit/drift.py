"""Detects changed payloads of a client: recorded fields by version, compared with the fields adapters read.

A field that came with every payload and comes no more is missing; one that comes only sometimes is not. New fields
that the adapter knows are news, no fault. What a single project's hooks send is that project's own wrapper.

Types are the letters of capture.clients.fields: s text, n number, b yes or no, o object, l list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from sqlite3 import Connection

from nmem.audit import NOTE, OK, WRONG, Finding, store
from nmem.audit.shift import ALPHA, FEWEST, Share, probability

NEW, MISSING, RETYPED, ADDED, OWN = "new", "missing", "retyped", "added", "own"
_RECENT = 30 * 24 * 3_600_000
"""Milliseconds for which the change of a version that is not the newest any more is told."""
_SURE = 3
"""Payloads from which on an absence or a type is no accident."""
_MOST = 12


@dataclass(frozen=True, slots=True)
class Change:
    """One field of one kind of payload that is not as it was."""

    client: str
    version: str
    kind: str
    """new (nobody reads it), missing, retyped; added (new and known), own (a project's own wrapper sends it)."""
    event: str
    tool: str
    field: str
    was: str
    now: str
    payloads: int
    of: int
    first_at: int
    newest: bool

    @property
    def severity(self) -> str:
        """Wrong where rows are made of the field."""
        if self.kind in (ADDED, OWN):
            return OK
        read = self.field in READ.get(self.client, {})
        return WRONG if self.kind != NEW and read else NOTE

    @property
    def place(self) -> str:
        """`PostToolUse(Bash)`."""
        return f"{self.event}({self.tool})" if self.tool else self.event

    def __str__(self) -> str:
        often = f"{self.payloads} of {self.of} payloads"
        if self.kind == MISSING:
            return f"{self.place} comes without `{self.field}` ({often}); {self.was}"
        if self.kind == RETYPED:
            return f"{self.place} has `{self.field}` as {self.now} ({often}), was {self.was}"
        end = {NEW: ", which nmem does not read", OWN: "; only hooks of one project send it: its own wrapper's"}
        return f"{self.place} has a new field `{self.field}` ({often}){end.get(self.kind, ', which nmem knows')}"


def changes(db: Connection, deep: bool = False) -> list[Change]:
    """Every change of every client, versions in their order. Raises sqlite3.Error."""
    return [one for mine in read(db, deep).values() for one in _client(mine)]


def findings(db: Connection, now: int, deep: bool = False) -> list[Finding]:
    """What is wrong or new by now: of the newest version of each client, and of others for a month."""
    found = [one for one in changes(db, deep) if one.newest or one.first_at > now - _RECENT]
    out = [_finding(one) for one in found if one.severity != OK][:_MOST]
    for client, version in dict.fromkeys((one.client, one.version) for one in found if one.kind == ADDED):
        news = [one for one in found if (one.kind, one.client, one.version) == (ADDED, client, version)]
        said = f"{version_told(client, version)} sends more than before, all of it known: {_news(news)}"
        out.append(Finding("payloads", OK, said, client=client))
    out += [_finding(one) for one in found if one.kind == OWN]
    if not found and (seen := store.payloads(db)):
        out.append(Finding("payloads", OK, f"all fields and types of {seen:,} payloads are known"))
    return out


def _news(news: Sequence[Change]) -> str:
    """`prompt_id (Stop, PostToolUse), effort (Stop)`."""
    places: dict[str, list[str]] = {}
    for one in news:
        places.setdefault(one.field, []).append(one.place)
    return ", ".join(f"{field} ({', '.join(where)})" for field, where in places.items())


def _finding(one: Change) -> Finding:
    mend = ""
    if one.severity != OK:
        mend = "upgrade nmem; if this is the newest, report this line"
    return Finding("payloads", one.severity, f"{version_told(one.client, one.version)}: {one}", mend, one.client)


def _client(lists: Sequence[list[Shape]]) -> Iterator[Change]:
    earlier: list[Shape] = []
    for at, here in enumerate(lists):
        later = [one for mine in lists[at:] for one in mine]
        for one in _version(earlier, here, later):
            yield replace(one, newest=at == len(lists) - 1)
        earlier += here


def _version(earlier: list[Shape], here: list[Shape], later: list[Shape]) -> Iterator[Change]:
    version = here[0].version
    events = sorted({one.event for one in here})
    own = frozenset(name for event in events for name in _own(_of(here, event), _of(later, event)))
    for event in events:
        now, before = _of(here, event), _of(earlier, event)
        found = [*_unknown(now, before, own), *_fields(now, before, "")]
        for tool in sorted({one.tool for one in now} - {"", "mcp", "other"}):
            found += _fields(_of(now, event, tool), _of(before, event, tool), tool)
        yield from (replace(one, version=version) for one in found)


def _of(found: Sequence[Shape], event: str, tool: str | None = None) -> list[Shape]:
    return [one for one in found if one.event == event and tool in (None, one.tool)]


def _change(
    kind: str, found: Sequence[Shape], name: str, count: int, tool: str = "", was: str = "", now: str = ""
) -> Change:
    one = found[0]
    return Change(one.client, one.version, kind, one.event, tool, name, was, now, count, payloads(found),
                  first(found), newest=False)  # fmt: skip


def _unknown(now: list[Shape], before: list[Shape], own: frozenset[str]) -> Iterator[Change]:
    """Fields that no adapter knew, told for the version that brought them."""
    known = {name for one in before for name in one.unknown}
    for name in sorted({name for one in now for name in one.unknown} - known):
        having = [one for one in now if name in one.unknown]
        tools = sorted({one.tool for one in having}) if name.startswith("tool_response.") else []
        yield _change(OWN if name in own else NEW, now, name, payloads(having), tool=", ".join(tools))


def _own(now: list[Shape], later: list[Shape]) -> Iterator[str]:
    """Fields that one project's payloads of an event always have and those of others never, though they are as new."""
    for name in {name for one in now for name in one.unknown if not name.startswith("tool_response.")}:
        having = {one.project for one in later if name in one.unknown}
        others = payloads(one for one in later if one.project not in having)
        always = all(name in one.unknown for one in later if one.project in having)
        if len(having) == 1 and always and others >= 2 * _SURE:
            yield name


def _fields(now: list[Shape], before: list[Shape], tool: str) -> Iterator[Change]:
    """Known fields: of the payload itself, or of one tool's input and response."""
    needed = () if tool else NEEDED.get(now[0].client, {}).get(now[0].event, ())
    names = {name for one in (*now, *before) for name in one.types if ("." in name) == bool(tool)} | set(needed)
    for name in sorted(names):
        found = _missing(now, before, name, tool, name in needed) or _retyped(now, before, name, tool)
        if found or (found := _added(now, before, name, tool)):
            yield found


def _missing(now: list[Shape], before: list[Shape], name: str, tool: str, needed: bool) -> Change | None:
    here, there = _share(now, name), _share(before, name)
    absent = here.cases - here.hits
    if needed and absent >= _SURE and (here.value < 0.5 or name in STRICTLY) and there.hits == there.cases:
        return _change(MISSING, now, name, absent, tool=tool, was="nmem can store nothing without it")
    if there.cases and there.hits == there.cases and here.value < 0.5 and probability(there, here) < ALPHA:
        was = f"each of {there.cases} had it before"
        return _change(MISSING, now, name, absent, tool=tool, was=was)
    return None


def _retyped(now: list[Shape], before: list[Shape], name: str, tool: str) -> Change | None:
    here, there = letters(now, name), letters(before, name)
    expected = READ.get(now[0].client, {}).get(name, "")
    odd = {letter: n for letter, n in here.items() if letter not in expected and letter not in there}
    known = bool(expected) or sum(there.values()) >= FEWEST
    if not odd or not known or sum(odd.values()) < _SURE:
        return None
    was = _words(there or dict.fromkeys(expected, 1))
    return _change(RETYPED, now, name, sum(odd.values()), tool=tool, was=was, now=_words(odd))


def _added(now: list[Shape], before: list[Shape], name: str, tool: str) -> Change | None:
    here, there = _share(now, name), _share(before, name)
    if there.hits or not there.cases or probability(there, here) >= ALPHA:
        return None
    return _change(ADDED, now, name, here.hits, tool=tool)


def _share(found: Sequence[Shape], name: str) -> Share:
    """In how many payloads a field holds something."""
    return Share(sum(letters(found, name).values()), payloads(found))


def _words(found: dict[str, int]) -> str:
    return " or ".join(TYPES.get(letter, letter) for letter in sorted(found))


_COMMON = {"session_id": "s", "cwd": "s", "transcript_path": "s", "prompt": "s", "tool_name": "s"}
_CALLS = {"tool_input": "o", "tool_response": "osl", "tool_use_id": "s", "duration_ms": "n", "error": "s"}
_ENDS = {"last_assistant_message": "s", "agent_id": "s", "agent_type": "s", "prompt_id": "s", "turn_id": "s",
         "model": "s", "permission_mode": "s", "source": "s", "reason": "s", "trigger": "s"}  # fmt: skip
_RESPONSES = {"tool_response.stdout": "s", "tool_response.stderr": "s", "tool_response.filePath": "s",
              "tool_response.structuredPatch": "l", "tool_response.interrupted": "b",
              "tool_input.command": "s", "tool_input.file_path": "s", "tool_input.pattern": "s",
              "tool_input.url": "s", "tool_input.query": "s"}  # fmt: skip
_CODEX = {**_COMMON, **_CALLS, **_ENDS, "tool_input": "osl"}

READ: dict[str, dict[str, str]] = {
    "claude": {**_COMMON, **_CALLS, **_ENDS, **_RESPONSES},
    "codex": _CODEX,
    "gemini": {**_COMMON, "tool_input": "o", "tool_response": "osl", "prompt_response": "s",
               "tool_response.llmContent": "slo", "timestamp": "s"},
    "droid": {**_COMMON, **_CALLS, "message_id": "s", "tool_input": "os"},
    "cursor": {"conversation_id": "s", "generation_id": "s", "prompt": "s", "tool_name": "s", "command": "s",
               "output": "s", "file_path": "s", "edits": "l", "tool_use_id": "s", "tool_input": "os"},
    "copilot": {"session_id": "s", "sessionId": "s", "cwd": "s", "prompt": "s", "tool_name": "s", "toolName": "s"},
    "qwen": {**_COMMON, **_CALLS},
    "opencode": {"session_id": "s", "prompt": "s", "tool_name": "s", "client_version": "s"},
}  # fmt: skip

NEEDED: dict[str, dict[str, tuple[str, ...]]] = {
    "claude": {
        "UserPromptSubmit": ("session_id", "prompt"),
        "PostToolUse": ("session_id", "tool_name", "tool_input", "tool_response"),
        "PostToolUseFailure": ("session_id", "tool_name", "tool_input", "error"),
        "Stop": ("session_id", "transcript_path"),
        "SessionStart": ("session_id", "cwd", "source"),
        "SessionEnd": ("session_id",),
    },
    "codex": {
        "UserPromptSubmit": ("session_id", "prompt"),
        "PostToolUse": ("session_id", "tool_name", "tool_input", "tool_response"),
        "SessionStart": ("session_id", "cwd"),
    },
    "gemini": {
        "BeforeAgent": ("session_id", "prompt"),
        "AfterTool": ("session_id", "tool_name", "tool_input", "tool_response"),
        "SessionStart": ("session_id", "cwd"),
    },
}
"""Without these nothing can be made of an event, of whatever version. Other clients' fields have several names."""

STRICTLY = ("session_id", "prompt", "tool_name")
"""Of these even few absences are told: such a payload is dropped."""

TYPES = {"s": "text", "n": "number", "b": "true or false", "o": "object", "l": "list", "-": "null", "?": "something"}


SESSIONS = 2_000
"""Newest sessions that are looked at; all of them when asked to look deep."""


@dataclass(frozen=True)
class Shape:
    """One shape with how many payloads of one version, in one project, had it."""

    client: str
    version: str
    project: int
    event: str
    tool: str
    fields: str
    payloads: int
    first_at: int

    @cached_property
    def types(self) -> dict[str, str]:
        """Known fields, each with its letter."""
        pairs = (one.rpartition(":") for one in self.fields.split() if one[0] != "+")
        return {name: letter for name, _, letter in pairs}

    @cached_property
    def unknown(self) -> frozenset[str]:
        """Fields that the adapter did not know."""
        return frozenset(one[1:] for one in self.fields.split() if one[0] == "+")


def read(db: Connection, deep: bool = False) -> dict[str, list[list[Shape]]]:
    """Of each client its versions in their order, each with its shapes. Raises sqlite3.Error."""
    found: dict[str, dict[str, list[Shape]]] = {}
    for row in store.shapes(db, 0 if deep else SESSIONS):
        one = Shape(*row)
        found.setdefault(one.client, {}).setdefault(one.version, []).append(one)
    return {client: _ordered(by) for client, by in sorted(found.items())}


def _ordered(by: dict[str, list[Shape]]) -> list[list[Shape]]:
    """Versions in their order. Payloads of an unknown one are counted to the newest version known before them."""
    strays = by.pop("", [])
    lists = sorted(by.values(), key=lambda mine: version_order(mine[0].version, first(mine)))
    if not lists:
        return [strays] if strays else []
    for one in strays:
        before = [mine for mine in lists if first(mine) <= one.first_at]
        (before[-1] if before else lists[0]).append(one)
    return lists


def first(shapes: Iterable[Shape]) -> int:
    """When the first of them came."""
    return min(one.first_at for one in shapes)


def payloads(shapes: Iterable[Shape]) -> int:
    """How many there were."""
    return sum(one.payloads for one in shapes)


def letters(shapes: Sequence[Shape], name: str) -> dict[str, int]:
    """How often a field came as which type; null is as good as absent."""
    out: dict[str, int] = {}
    for one in shapes:
        letter = one.types.get(name, "-")
        if letter != "-":
            out[letter] = out.get(letter, 0) + one.payloads
    return out


_NUMBERS = re.compile(r"\d+")


def version_order(version: str, first_at: int) -> tuple[tuple[int, ...], int]:
    """A key to sort by; a version that nobody told comes where its first session was."""
    return tuple(int(one) for one in _NUMBERS.findall(version)[:4]), first_at


def version_told(client: str, version: str) -> str:
    """A client and its version, in words."""
    from capture.install.targets import title  # on use: start-up stays short

    return f"{title(client)} {version or '(version unknown)'}"
