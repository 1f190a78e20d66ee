"""Reads observations and prompts for agents: one in full, one line each."""

from __future__ import annotations

from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem.decisions import store as decided
from nmem.mcp.reply import code, line, lines, name, some, when
from nmem.mcp.tool import OBS, PROMPT, Ref
from nmem.read import store
from nmem.read.views import StreamRow, outcome_words

if TYPE_CHECKING:
    from nmem.read.listing import Observation, PromptStory

_SHORT = 160
_ANSWER = 8_000
_SAID_BY = {"user": "user", "agent": "agent", "machine": "client"}

Shown = dict[str, object]


def index(row: StreamRow, most: int = _SHORT) -> Shown:
    """One line of a list: what `get` gives in full."""
    kind = OBS if row.key % 2 else PROMPT
    failed = outcome_words(row.outcome, row.exit_code, row.meta) if row.outcome == "failed" else ""
    text = "" if row.path and row.word in ("file_read", "file_edit", "file_write") else code(row.text, most)
    return some({"id": f"{kind}/{row.key // 2}", "at": when(row.at), "what": row.word.replace("/", " "),
                 "path": name(row.path, 200), "text": text, "failed": failed, "again": row.repeats})  # fmt: skip


def record(db: Connection, ref: Ref, most: int) -> Shown:
    """One observation or saying in full."""
    from nmem.read import listing  # on use: start-up stays short

    if ref.kind == OBS:
        done = listing.observation(db, ref.number)
        assert done is not None
        return _observation(done, most)
    said = listing.prompt(db, ref.number)
    assert said is not None
    return _saying(db, said, most)


def _observation(found: Observation, most: int) -> Shown:
    """Its text, what it answered, how it went."""
    changed = f"+{found.added or 0} -{found.removed or 0}"
    return some({
        "id": f"obs/{found.id}", "at": when(found.at), "what": found.type, "tool": name(found.tool, 80),
        "session": f"session/{line(found.session_id, 80)}",
        "prompt": f"prompt/{found.prompt_id}" if found.prompt_id else "",
        "episode": f"episode/{found.unit_id}" if found.unit_id else "",
        "path": name(found.path, 400), "lines": changed if changed != "+0 -0" else "",
        "outcome": found.outcome, "again": found.repeats, "kind": line(found.mark, 40),
        "pinned": found.pinned, **_whole("text", found.text, most),
        **_whole("answer", found.answer, min(most, _ANSWER)),
    })  # fmt: skip


def _saying(db: Connection, found: PromptStory, most: int, few: int = 30) -> Shown:
    """Its words, with an index of what was done after it."""
    later = decided.superseded(db, [f"prompt/{found.id}"]).get(f"prompt/{found.id}")
    return some({
        "id": f"prompt/{found.id}", "at": when(found.at), "by": _SAID_BY.get(found.source, found.source),
        "what": found.kind, "session": f"session/{line(found.session_id, 80)}",
        "episode": f"episode/{found.unit_id}" if found.unit_id else "",
        "superseded_by": line(later.told, 120) if later else "", **_whole("text", found.text, most),
        "done": [index(row) for row in found.done[:few]], "done_more": max(0, len(found.done) - few),
    })  # fmt: skip


def _whole(name: str, text: str, most: int) -> Shown:
    """A text, and how long it really is where it was cut."""
    shown = lines(text, most)
    return {name: shown, f"{name}_of": f"{len(text)} characters"} if len(text) > most else {name: shown}


_QUOTED = 240
_QUOTED_BY = {"user": "the person", "agent": "the agent", "machine": "the client"}

Quoted = dict[str, object]


def of(db: Connection, hit: str) -> Quoted:
    """Of what a person said: that they did, and the agent's closing words to it; of another's, whose words they are.

    Of any hit whose decision holds no more: the words that hold instead. Else nothing of a hit that is no saying.
    """
    return some({**_said(db, hit), "holds_now": line(superseded(db, hit), _QUOTED)})


def _said(db: Connection, hit: str) -> Quoted:
    kind, _, number = hit.partition("/")
    if kind not in (PROMPT, "reasoning") or not number.isdecimal():
        return {}
    row = store.prompt(db, int(number))
    if row is None:
        return {}
    _, session_id, at, source, *_ = row
    answer = store.answer_to(db, session_id, at) if source == "user" else ""
    return {"by": _QUOTED_BY.get(source, source), "answered": line(answer, _QUOTED)}


def superseded(db: Connection, hit: str) -> str:
    """The decision that holds instead of the one said there, in the person's words; empty where nothing replaced it."""
    later = decided.superseded(db, [hit]).get(hit)
    found = decided.get(db, later.id) if later else None
    return found.text if found else ""
