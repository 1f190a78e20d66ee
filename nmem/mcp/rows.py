"""Reads observations and prompts for agents (SQL): one in full, the rows around a moment, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection, Row

from nmem import tables
from nmem.decisions import store as decided
from nmem.mcp.reply import code, line, lines, name, some, when
from nmem.mcp.tool import OBS, PROMPT, Ref
from nmem.read import stream
from nmem.read.views import StreamRow, metadata, outcome_words

_SHORT = 160
_ANSWER = 8_000
_SAID_BY = {"user": "user", "agent": "agent", "machine": "client"}

Shown = dict[str, object]
Place = tuple[int, int]
"""When, and the key: twice the row's id, plus one for an observation."""


def index(row: StreamRow, most: int = _SHORT) -> Shown:
    """One line of a list: what `get` gives in full."""
    kind = OBS if row.key % 2 else PROMPT
    failed = outcome_words(row.outcome, row.exit_code, row.meta) if row.outcome == "failed" else ""
    text = "" if row.path and row.word in ("file_read", "file_edit", "file_write") else code(row.text, most)
    return some({"id": f"{kind}/{row.key // 2}", "at": when(row.at), "what": row.word.replace("/", " "),
                 "path": name(row.path, 200), "text": text, "failed": failed, "again": row.repeats})  # fmt: skip


def place(db: Connection, ref: Ref) -> tuple[str, Place]:
    """The session of an observation or a saying, and where in it that stands."""
    bit = ref.kind == OBS
    table = "observations" if bit else "prompts"
    row = db.execute(f"SELECT session_id, at FROM {table} WHERE id = ?", (ref.number,)).fetchone()  # noqa: S608 -- our names
    return str(row[0]), (int(row[1]), ref.number * 2 + bit)


def last(db: Connection, session_id: str) -> Place | None:
    """Where a session stands now; None while nothing was said or done in it."""
    slots = stream.page(db, session_id, None, stream.Query(), 1)
    return (slots.at[0], slots.key[0]) if len(slots) else None


def around(db: Connection, session_id: str, at: Place, before: int, after: int) -> list[StreamRow]:
    """What was said and done in a session before and after a moment, the row of that moment between them."""
    earlier = stream.page(db, session_id, at, stream.Query(), before).key if before else []
    keys = [*earlier, at[1], *_later(db, session_id, at, after)]
    known = stream.rows(db, keys)
    return [known[key] for key in keys if key in known]


def _later(db: Connection, session_id: str, at: Place, limit: int) -> Sequence[int]:
    found: list[Place] = []
    for table, bit in (("prompts", 0), ("observations", 1)):
        rows = db.execute(
            f"SELECT at, id * 2 + {bit} FROM {table} WHERE session_id = ? AND at >= ?"  # noqa: S608 -- our names
            f" AND (at, id * 2 + {bit}) > (?, ?) ORDER BY at, id LIMIT ?",
            (session_id, at[0], *at, limit),
        )
        found += [(row[0], row[1]) for row in rows.fetchall()]
    return [key for _, key in sorted(found)[:limit]]


def unit_of(db: Connection, prompt_id: int | None) -> int | None:
    """The episode of a prompt."""
    if prompt_id is None or not tables.version(db):
        return None
    row = db.execute("SELECT unit_id FROM unit_prompts WHERE prompt_id = ?", (prompt_id,)).fetchone()
    return row[0] if row else None


def observation(db: Connection, number: int, most: int) -> Shown:
    """One observation in full: its text, what it answered, how it went."""
    row: Row = db.execute("SELECT * FROM observations WHERE id = ?", (number,)).fetchone()
    meta = metadata(row["metadata"])
    unit = unit_of(db, row["prompt_id"])
    changed = f"+{row['lines_added'] or 0} -{row['lines_removed'] or 0}"
    return some({
        "id": f"obs/{number}", "at": when(row["at"]), "what": row["obs_type"], "tool": name(row["tool_name"] or "", 80),
        "session": f"session/{line(row['session_id'], 80)}",
        "prompt": f"prompt/{row['prompt_id']}" if row["prompt_id"] else "",
        "episode": f"episode/{unit}" if unit else "",
        "path": name(row["file_path"] or "", 400), "lines": changed if changed != "+0 -0" else "",
        "outcome": outcome_words(row["outcome"], row["exit_code"], meta), "again": row["repeats"],
        "kind": line(str(meta.get("kind") or ""), 40) if row["obs_type"] == "marker" else "",
        "pinned": bool(row["pinned"]), **_whole("text", row["content"], most),
        **_whole("answer", str(meta.get("response") or ""), min(most, _ANSWER)),
    })  # fmt: skip


def saying(db: Connection, number: int, most: int, few: int = 30) -> Shown:
    """One saying in full, with an index of what was done after it."""
    from nmem.read.listing import prompt  # on use: start-up stays short

    found = prompt(db, number)
    assert found is not None
    shown = [index(row) for row in found.done[:few]]
    later = decided.superseded(db, [f"prompt/{number}"]).get(f"prompt/{number}")
    return some({
        "id": f"prompt/{number}", "at": when(found.at), "by": _SAID_BY.get(found.source, found.source),
        "what": found.kind, "session": f"session/{line(found.session_id, 80)}",
        "episode": f"episode/{found.unit_id}" if found.unit_id else "",
        "superseded_by": line(later.told, 120) if later else "", **_whole("text", found.text, most),
        "done": shown, "done_more": max(0, len(found.done) - few),
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
    row = db.execute("SELECT session_id, source, at FROM prompts WHERE id = ?", (int(number),)).fetchone()
    if row is None:
        return {}
    session_id, source, at = tuple(row)
    answer = _answer(db, session_id, at) if source == "user" else ""
    return {"by": _QUOTED_BY.get(source, source), "answered": line(answer, _QUOTED)}


def _answer(db: Connection, session_id: str, at: int) -> str:
    """What the agent said last before the person spoke again."""
    row = db.execute(
        "SELECT content FROM prompts WHERE session_id = ?1 AND source = 'agent' AND kind = 'closing' AND at >= ?2"
        " AND agent_id IS NULL AND at < coalesce((SELECT min(at) FROM prompts WHERE session_id = ?1"
        " AND source = 'user' AND at > ?2), 1 << 62) ORDER BY at DESC, id DESC LIMIT 1",
        (session_id, at),
    ).fetchone()
    return str(row[0]) if row else ""


def superseded(db: Connection, hit: str) -> str:
    """The decision that holds instead of the one said there, in the person's words; empty where nothing replaced it."""
    later = decided.superseded(db, [hit]).get(hit)
    found = decided.get(db, later.id) if later else None
    return found.text if found else ""
