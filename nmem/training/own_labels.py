"""SQL: a person's corrections of calls as training examples, and the history of fits."""

from __future__ import annotations

import json
from sqlite3 import Connection
from typing import Any

from capture.labels import DIMENSIONS, WORDS
from nmem.labels import names, walk
from nmem.labels.corpus import Example

SUBJECT = "labels"
GROUP = "own/"
"""How the groups of a person's sessions begin."""
MOST = 5000
"""Calls that are read, the newest ones."""
_TITLE = 80


def own(db: Connection) -> list[Example]:
    """What a person has decided, each call with what came before it; "?" where they said nothing."""
    found = db.execute(
        "SELECT id, session_id, label_model, obs_type, substr(content, 1, 200), phase, scope, locus, novelty, friction"
        " FROM observations WHERE instr(label_model, '+') ORDER BY at DESC, id DESC LIMIT ?", (MOST,)
    ).fetchall()  # fmt: skip
    out = []
    for number, session_id, model, kind, content, *scores in map(tuple, found):
        seen = walk.one(db, number)
        decided = names.read(model).own
        if seen is None or not decided:
            continue
        said = [WORDS[at][score > 0] if name in decided and score else "?"
                for at, (name, score) in enumerate(zip(DIMENSIONS, scores, strict=True))]  # fmt: skip
        a, b, c, d, e = said
        title = " ".join(f"{kind} {content}".split())[:_TITLE]
        out.append(Example(group=f"{GROUP}{session_id}", seen=seen[1], labels=(a, b, c, d, e),
                           where=f"observation/{number}", title=title))  # fmt: skip
    return out


def note(db: Connection, now: int, before: str, after: str, reason: str, metrics: dict[str, Any]) -> None:
    """Add to the history: the models by name; inside the caller's transaction."""
    db.execute(
        "INSERT INTO tuning_history (at, subject, before, after, reason, metrics) VALUES (?, ?, ?, ?, ?, ?)",
        (now, SUBJECT, json.dumps({"model": before}), json.dumps({"model": after}), reason, json.dumps(metrics)),
    )
