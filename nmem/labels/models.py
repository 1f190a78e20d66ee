"""SQL: the models that labelled rows, for later explanations, and the progress of the backfill."""

from __future__ import annotations

import json
from sqlite3 import Connection
from typing import Any

from capture.labels.model import Model
from capture.storage.store import transaction
from nmem.labels import cards
from nmem.text import json_object


def met(db: Connection, db_path: str, model: Model, now: int) -> None:
    """Keep a model's name and card when it is first used here. Raises sqlite3.Error."""
    if db.execute("SELECT 1 FROM label_models WHERE name = ?", (model.name,)).fetchone():
        return
    source, card = cards.card_of(db_path, model.name)
    with transaction(db):
        db.execute("INSERT OR IGNORE INTO label_models VALUES (?, ?, ?, ?)",
                   (model.name, now, source, json.dumps(card, ensure_ascii=False)))  # fmt: skip


def known(db: Connection) -> dict[str, tuple[int, str, dict[str, Any]]]:
    """Name -> when it was first used, where it came from, and its card."""
    found = db.execute("SELECT name, at, source, card FROM label_models ORDER BY at").fetchall()
    return {row[0]: (row[1], row[2], json_object(row[3])) for row in found}


def looked_to(db: Connection) -> int:
    """The id up to which no row is without labels, as far as settling has looked."""
    row = db.execute("SELECT max(json_extract(card, '$.looked_to')) FROM label_models").fetchone()
    return int(row[0] or 0)


def looked(db: Connection, model: Model, to: int) -> None:
    """Note it with the model that gave the last of these labels."""
    with transaction(db):
        db.execute("UPDATE label_models SET card = json_set(card, '$.looked_to', ?) WHERE name = ?", (to, model.name))
