"""Makes the changes that sure findings call for: lines go or have words swapped; written together, undone together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.native.documents import Document
from nmem.native.review import Finding, Report
from nmem.recall import changes
from nmem.recall.changes import Change
from nmem.store import corrections

_OF = "instructions"


def plan(report: Report) -> list[Change]:
    """What the files become, a change for each folder that they lie in; nothing where no finding is sure."""
    out: dict[str, Change] = {}
    for document in report.documents:
        found = [one for one in report.findings if one.file == document.shown and one.sure]
        if not found or document.everywhere or document.leads_out:
            continue
        change = out.setdefault(document.root, Change("stale and repeated lines", document.root, of=_OF))
        if change.text(document.path).encode("utf-8", "surrogateescape") != document.data:
            raise NmemError(f"{document.shown} changed in the meantime: look again")
        change.put(document.path, edited(document, found))
    return [change for change in out.values() if change.changed]


def edited(document: Document, found: Sequence[Finding]) -> str:
    """A file's text with the lines of findings gone or changed; every other byte stays."""
    rows = document.data.decode("utf-8", "surrogateescape").split("\n")
    goes = {one.line for one in found if one.swap is None}
    for one in found:
        if one.swap is not None and one.line not in goes:
            old, new = one.swap
            rows[one.line - 1] = re.sub(rf"(?<![\w/.-]){re.escape(old)}(?![\w-]|[./]\w)", lambda _: new,  # noqa: B023
                                        rows[one.line - 1])  # fmt: skip
    left: list[str] = []
    for number, row in enumerate(rows, 1):
        if number not in goes:
            blank = not row.strip() and number - 1 in goes and (not left or not left[-1].strip())
            left += [] if blank and number < len(rows) else [row]
    return "\n".join(left)


def diff(changes_: Sequence[Change]) -> list[str]:
    """All of it as one unified diff, printable, a line each."""
    return [row for change in changes_ for row in change.diff().split("\n")]


def apply(db: Connection, changes_: Sequence[Change], now: int) -> int:
    """Write them; how many files. Raises NmemError; what was not written then is as it was."""
    with corrections.together():
        return sum(changes.apply(db, change, now + at) for at, change in enumerate(changes_))
