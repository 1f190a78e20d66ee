"""A database in which every text is an attack, whatever table and column it stands in."""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
from typing import Any

LONG = 1_000_000
KINDS = {
    "markup": "see [/foo] [red]x[/] [@click=app.quit]y[/] [link=file:///etc]z[/link] [[/",
    "csi": "\x1b[2J\x1b[H\x1b[31m\x1b[?1049l\x1b[6n\x1b[>c",
    "osc": "\x1b]52;c;aGk=\x07\x1b]0;title\x07\x1b]8;;file:///etc\x1b\\link\x1b]8;;\x1b\\\x1b]4;1;?\x07",
    "dcs": "\x1bP$q\x1b\\\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\\x1bc\x1b(0\x1b#8",
    "c1": "".join(map(chr, range(0x80, 0xA0))),
    "c0": "".join(map(chr, range(1, 0x20))) + "\x7f",
    "nul": "a\x00b",
    "bidi": "\u202eevil\u202a\u202b\u202d\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u202c",
    "combining": "e" + "\u0301" * 200 + " \u0489\u20dd a\u0300\u0301\u0302 \u0ec9\u0ec9\u0ec9",
    "wide": "漢字仮名交じり文 ｆｕｌｌ 한국어 \u1112\u1161\u11ab ☰☷ ⚊ ㉈ ䷀ 𝍠",
    "emoji": "👩\u200d👩\u200d👧 👍🏽 🇨🇭🇯🇵 ❤\ufe0f 1\ufe0f\u20e3 🏴\U000e0067\U000e007f ⚠\ufe0f ✈ ☺",
    "scripts": "नमस्ते क्षि ไทยกำ้ العربية עברית ᠮᠣᠩᠭᠣᠯ",
    "invisible": "\ufeff\u00ad\u200b\u200c\u2060\u180e\u3164\u115f\uffa0\u302e\u034f\ufff9x\ufffa",
    "breaks": "one\r\ntwo\rthree\vfour\ffive\u2028six\u2029seven\x85eight\tnine",
    "unassigned": "\U000e0fff \ue000 \U0010ffff \ufdd0 \uffff",
}
EVERYTHING = " ".join(KINDS.values())
HARMLESS = "plain words of the same shape as the others, and as many "

_KEPT = re.compile(
    r"^(id|.*_id|key|dedup_key|day|state|sql|doc_key|rules|process|runner|told_of|mark|cursor|head|native_id|quiet_hours"
    r"|source|name|how|pane|socket|verdict|decided_by|label|seq|told)$"
)
"""Columns that hold an identifier, or a word of nmem's own."""
_LEFT = ("search_", "sqlite_", "nmem_", "context_", "counters", "gone_ids", "transcript_cursors", "upkeep")
"""What is made from the rest, or is nmem's own bookkeeping."""


def tables(db: sqlite3.Connection) -> list[tuple[str, list[str]]]:
    """Tables with their columns of text."""
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = []
    for name in sorted(names):
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})") if "TEXT" in row[2].upper()]
        if columns and not name.startswith(_LEFT) and "fts" not in name:
            found.append((name, columns))
    return found


def spoiled(value: str, text: str) -> str:
    """A value with an attack in it; of JSON, every text in it, the names included."""
    try:
        whole = json.loads(value)
    except ValueError:
        return text + value
    return json.dumps(_inside(whole, text)) if isinstance(whole, dict | list) else text + value


def _inside(value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return {name: _inside(each, text) for name, each in value.items()} | {text: text}
    if isinstance(value, list):
        return [*(_inside(each, text) for each in value), text]
    return text + value if isinstance(value, str) else value


def spoil(db: sqlite3.Connection, *, harmless: bool = False) -> None:
    """Put attacks into every column of text; with `harmless`, as much of plain words."""
    kinds = itertools.cycle([*KINDS.values(), EVERYTHING])
    for name, columns in tables(db):
        for column in columns:
            if _KEPT.match(column) or (name, column) == ("learnings", "kind"):
                continue
            for (value,) in db.execute(f"SELECT DISTINCT {column} FROM {name} WHERE {column} <> ''").fetchall():
                text = next(kinds)
                text = (HARMLESS * (1 + len(text) // len(HARMLESS)))[: len(text)] if harmless else text
                made = spoiled(str(value), text)
                db.execute(f"UPDATE OR IGNORE {name} SET {column} = ? WHERE {column} = ?", (made, value))


def lengthen(db: sqlite3.Connection, *, harmless: bool = False) -> None:
    """One line of a million characters in each place that holds long text."""
    text = HARMLESS if harmless else EVERYTHING
    long = (text * (LONG // len(text) + 1))[:LONG]
    for name, column in (("prompts", "content"), ("observations", "content"), ("work_units", "summary"),
                         ("tasks", "output"), ("tasks", "prompt"), ("learnings", "rule"), ("threads", "title"),
                         ("injections", "text"), ("learning_evidence", "excerpt")):  # fmt: skip
        db.execute(f"UPDATE {name} SET {column} = ? || {column} WHERE rowid = (SELECT max(rowid) FROM {name})", (long,))


def rename(db: sqlite3.Connection, text: str) -> None:
    """Every session's id is an attack as well."""
    for name, columns in tables(db):
        for column in columns:
            if column in ("session_id", "parent_id") or (name, column) == ("sessions", "id"):
                db.execute(f"UPDATE {name} SET {column} = {column} || ? WHERE {column} IS NOT NULL", (text,))
