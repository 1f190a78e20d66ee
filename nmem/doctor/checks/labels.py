"""Checks which model labels calls, and whether history has its labels."""

from __future__ import annotations

import sqlite3

from capture import paths
from nmem import database
from nmem.doctor.checks import NOTE, OK, WRONG, Finding
from nmem.errors import NmemError
from nmem.labels import cards, read
from nmem.labels.read import Standing


def labels() -> list[Finding]:
    """The model in force and what it has labelled; nothing while nothing is recorded."""
    path = paths.database()
    try:
        db = database.reader(path)
    except NmemError:
        return []
    try:
        found = read.standing(db, path)
    except sqlite3.Error as error:
        return [
            Finding("labels", WRONG, f"the labels cannot be counted: {database.worded(error)}", "nmem doctor --fix")
        ]
    finally:
        db.close()
    if not found.model:
        said = "the table of weights is missing or damaged: nothing is labelled"
        return [Finding("labels", WRONG, said, "install nmem again")]
    if found.passed_over:
        mend = "as it says; or nmem train labels --reset to do without"
        return [Finding("labels", WRONG, found.passed_over, mend), _standing(found, "mend your own model first")]
    return [_standing(found), *_own(path, found)]


def _standing(found: Standing, mend: str = "nmem backfill") -> Finding:
    said = f"model {found.model} ({found.source}) has labelled {found.by_it:,} of {found.calls:,} calls"
    if found.own:
        said += f", and you have said a word about {found.own:,}"
    if not found.due:
        return Finding("labels", OK, said)
    lacking = [f"{number:,} carry {what}" for number, what in
               ((found.bare, "no labels"), (found.by_others, "another model's")) if number]  # fmt: skip
    return Finding("labels", NOTE, f"{said}; {', '.join(lacking)}", mend)


def _own(path: str, found: Standing) -> list[Finding]:
    """Whether a person's own model goes with this nmem."""
    if found.source == cards.SHIPPED:
        return []
    if not cards.cards(path):
        said = f"the card of your own model {found.model} is missing: nothing explains its labels"
        return [Finding("labels", NOTE, said, "nmem train labels")]
    if cards.outdated(path):
        said = f"your own model {found.model} was fitted beside an older one of nmem's"
        return [Finding("labels", NOTE, said, "nmem train labels, then nmem backfill")]
    return []
