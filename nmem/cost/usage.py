"""Reads from clients' transcripts what each answer used: one `Usage` an answer; takes in what is new of them.

Counted as ccusage counts: an answer is known by the ids of its message and request, however many records and files
repeat it (blocks of one message, streaming, forks), and subagents count. Gemini's and Codex's figures are brought to
the same four: input without what came from the cache, output with reasoning.

Each file has a place of its own (`usage_places`), so that sessions which were recorded before are read as well. A
session that was purged is not looked at; one whose transcript is gone keeps what was stored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from sqlite3 import Connection

from capture.clients.fields import items, mapping, text, whole
from capture.jsonio import BadJson, loads
from capture.redaction import redact
from capture.storage.store import connect
from capture.text import clean
from capture.transcript.cursor import LIVE, fingerprint, lines
from capture.transcript.reading import millis
from capture.transcript.records import is_document, records
from nmem import tables
from nmem.cost import store
from nmem.database import exists
from nmem.importing import discover
from nmem.sessions.copies import within

Record = dict[str, object]
_KEY_BITS = 63
_LONGEST = 80
"""Characters of a model's name."""
_MOST = 1 << 40
"""Tokens: a larger figure is a damaged one."""
_MARKS = {
    "claude": (b'"usage"',),
    "codex": (b'"token_count"', b'"turn_context"', b'"session_meta"'),
    "gemini": (b'"tokens"', b'"sessionId"'),
    "qwen": (b'"usageMetadata"',),
    "copilot": (b'"session.usage_record"', b'"session.start"'),
}
"""What stands in a line that tells something of usage; the others are not parsed."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one answer used, in tokens. `key` is the same wherever the answer is repeated."""

    key: int
    session_id: str
    """As the record names it; empty: the file's."""
    at: int
    """Milliseconds; 0: not told."""
    model: str
    inner: bool
    """By a subagent."""
    input: int
    output: int
    cache_read: int
    cache_write: int
    """Written to the cache for five minutes."""
    cache_write_1h: int

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.input + self.output + self.cache_read + self.cache_write + self.cache_write_1h


@dataclass(slots=True)
class Known:
    """What records said about those after them; plain values, kept between two readings of a file."""

    session: str = ""
    thread: str = ""
    """Of Codex: whose answers the file holds; of a fork, and a fork of one, the first session that it repeats."""
    model: str = ""
    inner: bool = False
    total: list[int] = field(default_factory=list)
    """Of Codex: all tokens up to here."""
    begun: bool = False
    """Of Gemini: whether an answer was read."""

    def dumps(self) -> str:
        """As it is stored."""
        return json.dumps({name: value for name, value in asdict(self).items() if value})

    @classmethod
    def loads(cls, stored: str) -> Known:
        """As it was stored; anything else says nothing."""
        try:
            found = mapping(loads(stored)) if stored else {}
        except BadJson:
            return cls()
        total = [whole(one) or 0 for one in items(found.get("total"))][:3]
        return cls(text(found.get("session")), text(found.get("thread")), text(found.get("model")),
                   found.get("inner") is True, total if total[2:] else [], found.get("begun") is True)  # fmt: skip


def read(client: str, path: str, offset: int, known: Known) -> Iterator[tuple[int, Usage | None]]:
    """(offset behind it, what it used) of the new lines of a file; None for those that tell of no answer.

    Raises OSError.
    """
    reader = _READERS[client]
    if is_document(path):
        for _, end, record in records(path, offset):
            found = reader(record, known) if record else []
            for one in found:
                yield end, one
            if not found:
                yield end, None
        return
    for end, line in lines(path, offset):
        for one in _told(reader, line, known) if any(mark in line for mark in _MARKS[client]) else ():
            yield end, one
        yield end, None


def _told(reader: Callable[[Record, Known], list[Usage]], line: bytes, known: Known) -> list[Usage]:
    try:
        record = loads(line.decode("utf-8", "replace"))
    except BadJson:
        return []
    return reader(record, known) if isinstance(record, dict) else []


def _claude(record: Record, _known: Known) -> list[Usage]:
    """One record a block of a message, each with the usage so far: what is stored is the last."""
    message = mapping(record.get("message"))
    usage = message.get("usage")
    model = text(message.get("model"))
    if record.get("type") != "assistant" or not isinstance(usage, dict) or model == "<synthetic>":
        return []
    written = _count(usage, "cache_creation_input_tokens")
    hour = min(written, _count(mapping(usage.get("cache_creation")), "ephemeral_1h_input_tokens"))
    ids = (text(message.get("id")) or text(record.get("uuid")), text(record.get("requestId")))
    inner = bool(record.get("agentId")) or record.get("isSidechain") is True
    fast = "-fast" if usage.get("speed") == "fast" else ""
    return _usage(("claude", *ids), text(record.get("sessionId")), record, model + fast, inner,
                  _count(usage, "input_tokens"), _count(usage, "output_tokens"),
                  _count(usage, "cache_read_input_tokens"), written - hour, hour)  # fmt: skip


def _codex(record: Record, known: Known) -> list[Usage]:
    """`token_count` events: the last answer's figures beside those of all; one that changes nothing is a repetition.

    A fork begins with its own `session_meta`, then repeats its parent's file, which begins likewise: the last one
    before any answer names the session that all of them come from.
    """
    payload = mapping(record.get("payload"))
    kind = text(record.get("type"))
    if kind == "session_meta" and not known.total:
        thread = text(payload.get("id"))
        if not known.thread:
            known.session = text(payload.get("session_id")) or thread
            known.inner = bool(thread) and thread != known.session
        known.thread = text(payload.get("forked_from_id")) or thread or known.thread
    if kind == "turn_context":
        known.model = text(payload.get("model")) or known.model
    if payload.get("type") != "token_count" or not isinstance(payload.get("info"), dict):
        return []
    info = mapping(payload["info"])
    total, before = _codex_figures(info.get("total_token_usage")), known.total
    last = _codex_figures(info.get("last_token_usage"))
    if not any(total) or total == before:
        return []
    if not any(last):
        last = [max(0, now - then) for now, then in zip(total, before or [0, 0, 0], strict=True)]
    known.total = total
    given, output = last[0], last[2]
    cached = min(given, last[1])
    ids = ("codex", known.thread, *map(str, total))
    return _usage(ids, known.session, record, known.model, known.inner, given - cached, output, cached, 0, 0)


def _codex_figures(told: object) -> list[int]:
    """Input with what came from the cache, that part of it, output with reasoning."""
    return [_count(mapping(told), name) for name in ("input_tokens", "cached_input_tokens", "output_tokens")]


def _gemini(record: Record, known: Known) -> list[Usage]:
    """Answers with their tokens; the messages that a resumed session begins with were counted in their own file."""
    known.session = text(record.get("sessionId")) or known.session
    if "$set" in record:
        messages = [] if known.begun else items(mapping(record["$set"]).get("messages"))
        return [one for message in messages for one in _gemini(mapping(message), known)]
    tokens = mapping(record.get("tokens"))
    if record.get("type") != "gemini" or not tokens:
        return []
    known.begun = True
    given = _count(tokens, "input")
    cached = min(given, _count(tokens, "cached"))
    return _usage(("gemini", known.session, text(record.get("id"))), known.session, record, text(record.get("model")),
                  False, given - cached + _count(tokens, "tool"), _count(tokens, "output") + _count(tokens, "thoughts"),
                  cached, 0, 0)  # fmt: skip


def _qwen(record: Record, _known: Known) -> list[Usage]:
    used, session = mapping(record.get("usageMetadata")), text(record.get("sessionId"))
    given = _count(used, "promptTokenCount")
    cached = min(given, _count(used, "cachedContentTokenCount"))
    output = _count(used, "candidatesTokenCount") + _count(used, "thoughtsTokenCount")
    ids = ("qwen", session, text(record.get("uuid")))
    return _usage(ids, session, record, text(record.get("model")), False, given - cached, output, cached, 0, 0)


def _copilot(record: Record, known: Known) -> list[Usage]:
    data = mapping(record.get("data"))
    known.session = text(data.get("sessionId")) or known.session
    used = mapping(data.get("usage"))
    given, cached = _count(used, "inputTokens"), _count(used, "cacheReadTokens")
    ids = ("copilot", known.session, text(record.get("id")))
    return _usage(ids, known.session, record, text(used.get("model")), bool(record.get("agentId")),
                  max(0, given - cached), _count(used, "outputTokens"), cached, 0, 0)  # fmt: skip


_READERS: dict[str, Callable[[Record, Known], list[Usage]]] = {
    "claude": _claude, "codex": _codex, "gemini": _gemini, "qwen": _qwen, "copilot": _copilot,
}  # fmt: skip
CLIENTS = tuple(_READERS)


def _usage(
    ids: tuple[str, ...], session: str, record: Record, model: str, inner: bool, *figures: int
) -> list[Usage]:  # fmt: skip
    """One answer, or none where nothing was used."""
    if not any(figures):
        return []
    return [Usage(_key(ids), session, millis(record.get("timestamp")), _named(model), inner, *figures)]


@lru_cache(64)
def _named(model: str) -> str:
    """A model's name as it is stored: it comes from outside, as all of a transcript does."""
    return redact(clean(model))[:_LONGEST] or "unknown"


def _key(ids: tuple[str, ...]) -> int:
    """A number for the ids of an answer: two of a million are the same once in twenty million memories."""
    return int.from_bytes(blake2b("\0".join(ids).encode(), digest_size=8).digest(), "big") >> (64 - _KEY_BITS)


def _count(usage: dict[str, object], name: str) -> int:
    """A figure of a record; 0 for what is none."""
    found = whole(usage.get(name)) or 0
    return found if 0 <= found < _MOST else 0


def inner_folder(path: str) -> str:
    """Where Claude keeps the files of a session's subagents, by the session's own file; empty for what is no such."""
    folder, name = os.path.split(path)
    stem = name.removesuffix(".jsonl")
    return os.path.join(folder, stem, "subagents") if stem and stem != name else ""  # noqa: PTH118 - thousands of paths


def subagents(inner: str) -> Iterator[str]:
    """The files in a folder of subagents."""
    for folder, _, names in os.walk(inner):
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".jsonl"))  # noqa: PTH118


# What is new since the last time: background work and commands


_WAIT = 3.0
_AT_ONCE = 1_000
"""Answers that are stored in one transaction: a hook waits for a quarter of a second."""


@dataclass(slots=True)
class _Place:
    """How far a file was read."""

    path: str
    session_id: str
    began: int
    offset: int = 0
    head: str = ""
    known: Known | None = None


def take_in(db: Connection, stopped: Callable[[], bool] = lambda: False) -> int:
    """Store what is new; how many answers were read. A file that cannot be read is passed over.

    Call it outside a transaction. Raises sqlite3.Error.
    """
    sessions = store.sessions(db)
    taken = 0
    found: list[tuple[Usage, str, int]] = []
    read: list[_Place] = []
    for client, place in list(_new(db)):
        if stopped():
            break
        try:
            answers = _answers(client, place)
        except OSError:
            continue
        found += [(one, one.session_id if one.session_id in sessions else place.session_id, place.began)
                  for one in answers]  # fmt: skip
        read.append(place)
        if len(found) >= _AT_ONCE:
            taken += _keep(db, found, read)
            found, read = [], []
    return taken + _keep(db, found, read)


def fresh(path: str) -> int:
    """`take_in` before somebody reads; nothing where nothing is recorded yet. Raises as `take_in`, and OSError."""
    if not exists(path):
        return 0
    with closing(connect(path, timeout=_WAIT)) as db:
        tables.ensure(db)
        return take_in(db)


def _answers(client: str, place: _Place) -> list[Usage]:
    """The new answers of a file, each once, from when it began; the place moves behind them. Raises OSError."""
    known = place.known or Known()
    out: dict[int, Usage] = {}
    for end, one in read(client, place.path, place.offset, known):
        place.offset = end
        if one is None:
            continue
        before = out.get(one.key)
        if before is None:
            out[one.key] = one
        elif one.tokens > before.tokens:
            out[one.key] = replace(one, at=before.at)
    place.head, place.known = fingerprint(place.path), known
    return list(out.values())


def _keep(db: Connection, found: list[tuple[Usage, str, int]], read: list[_Place]) -> int:
    """Answers and the places up to which their files were read; of sessions that are still there."""
    answers = ((one.key, session_id, one.at or began, one.model, one.inner, one.input, one.output, one.cache_read,
                one.cache_write, one.cache_write_1h) for one, session_id, began in found)  # fmt: skip
    if read:
        rows = [(one.path, one.session_id, one.offset, one.head, one.known and one.known.dumps()) for one in read]
        store.keep(db, answers, rows)
    return len(found)


def _new(db: Connection) -> Iterator[tuple[str, _Place]]:
    """The files that have grown, with the clients that wrote them."""
    places = store.places(db)
    for client, session_id, began, path in _files(db):
        try:
            size = os.stat(path).st_size  # noqa: PTH116 - thousands of paths
        except OSError:
            continue
        offset, head, state = places.get(path, (0, "", ""))
        if size == offset:
            continue
        place = _Place(path, session_id, began)
        bytes_, _, _ = head.partition(".")
        if offset and size > offset and bytes_.isdigit() and fingerprint(path, int(bytes_)) == head:
            place.offset, place.head, place.known = offset, head, Known.loads(state or "")
        yield client, place


def _files(db: Connection) -> Iterator[tuple[str, str, int, str]]:
    """(client, session, when it began, path): the transcripts that hooks and imports named, the oldest first."""
    seen: set[str] = set()
    for client, session_id, began, named in store.files(db, CLIENTS):
        path = named.removeprefix(LIVE)
        inner = inner_folder(path) if client == "claude" and path not in seen else ""
        for one in (path, *(subagents(inner) if _claudes(inner) else ())):
            if one not in seen and os.path.isabs(one):  # noqa: PTH117 - thousands of paths
                seen.add(one)
                yield client, session_id, began, one


def _claudes(folder: str) -> bool:
    """Whether Claude keeps sessions there: a path comes from a hook's payload, and elsewhere nothing is searched."""
    return os.path.isdir(folder) and any(within(folder, str(each)) for each in discover.folders("claude"))  # noqa: PTH112
