"""Queues a sample of redactions of all kinds for a person to judge, and stores the verdicts, with undo.

Nothing shown holds a secret: of redaction's finds it is gone, and of a second detector's it is masked.

Its rules of forms and names are used, not those of randomness: commit hashes and ids would drown everything else.
No secret leaves the audit: only its kind, its place and a mask.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Literal

from capture.storage.store import transaction
from nmem.audit import store
from nmem.errors import NmemError
from nmem.hours import utc
from nmem.store.corrections import Entry, write

KIND = "judge"
Verdict = Literal["real", "false"]
_MARK = re.compile(r"\[REDACTED:([^\]\n]{1,60})\]")
_NEWEST = 4_000
"""Rows with a redaction among which a sample is drawn."""
_AROUND = 60
"""Characters shown on either side."""
BY_REDACTION = "redaction"


@dataclass(frozen=True, slots=True)
class Review:
    """One place to be judged, with what stands around it."""

    id: int
    source: str
    """observations or prompts."""
    row_id: int
    place: int
    kind: str
    found_by: str
    """redaction, or detect-secrets: then it stands in the text still, and a verdict `real` means a leak."""
    day: str
    before: str
    masked: str
    after: str
    verdict: str | None

    @property
    def target(self) -> str:
        """obs/12 or prompt/5, as other commands know it."""
        return f"{'obs' if self.source == 'observations' else 'prompt'}/{self.row_id}"


def draw(db: Connection, now: int, limit: int = 20, seed: int | None = None) -> int:
    """Put a random sample of redactions into the queue, kinds in turn; how many are new. On a writing connection."""
    dice = random.Random(now if seed is None else seed)  # noqa: S311 -- no secret
    by_kind: dict[str, list[tuple[str, int, int, str, str]]] = {}
    for source in store.TEXTS:
        for row_id, at, content in store.redacted(db, source, _NEWEST):
            seen: dict[str, int] = {}
            for mark in _MARK.finditer(content):
                kind = mark.group(1)
                seen[kind] = seen.get(kind, 0) + 1
                by_kind.setdefault(kind, []).append((source, row_id, seen[kind], kind, day_of(at)))
    for found in by_kind.values():
        dice.shuffle(found)
    chosen = [row for turn in range(limit) for found in by_kind.values() for row in found[turn : turn + 1]]
    return put(db, chosen, BY_REDACTION, now, limit)


def put(db: Connection, rows: Sequence[tuple[str, int, int, str, str]], found_by: str, now: int, limit: int) -> int:
    """Queue (source, row, place, kind, day); those that were drawn before stay as they are."""
    added = 0
    with transaction(db):
        for row in rows:
            if added >= limit:
                break
            added += store.add_review(db, row, found_by, now)
    return added


def queue(db: Connection, limit: int = 20, *, judged: bool = False) -> tuple[Review, ...]:
    """What waits for a verdict, the oldest first; `judged`: what has one, the newest first. Text is not printable."""
    return tuple(_review(db, row) for row in store.reviews(db, limit, judged=judged))


def _review(db: Connection, row: tuple[int, str, int, int, str, str, str, str | None]) -> Review:
    number, source, row_id, place, kind, found_by, day, verdict = row
    found = store.text(db, source, row_id)
    content = found[1] if found else ""
    if found_by == BY_REDACTION:
        before, masked, after = _around(content, kind, place)
    else:
        before, masked, after = around_mask(content, kind, place)
    return Review(number, source, row_id, place, kind, found_by, day, before, masked, after, verdict)


def _around(content: str, kind: str, place: int) -> tuple[str, str, str]:
    marks = [mark for mark in _MARK.finditer(content) if mark.group(1) == kind]
    if len(marks) < place:
        return "", f"[REDACTED:{kind}]", ""  # the text is another by now
    mark = marks[place - 1]
    return content[max(0, mark.start() - _AROUND) : mark.start()], mark.group(), content[mark.end() :][:_AROUND]


def judge(db: Connection, number: int, verdict: Verdict, now: int) -> None:
    """Say what one is, or something else than before. Raises NmemError for one that is not there."""
    with transaction(db):
        row = store.review(db, number)
        if row is None:
            raise NmemError(f"there is no redaction {number} to judge: nmem review lists them")
        if row[2] == verdict:
            raise NmemError(f"redaction {number} is judged {verdict} already")
        store.set_verdict(db, number, verdict, now)
        payload = {"verdict": verdict, "kind": row[0], "found_by": row[1]}
        write(db, KIND, f"redaction/{number}", payload, {"verdict": row[2]}, now)


def ours(entry: Entry) -> bool:
    """Whether a correction is one of these."""
    return entry.kind == KIND


def describe(entry: Entry) -> str:
    """What a person did, in a few words."""
    return f"{entry.target.replace('/', ' ')} ({entry.payload.get('kind')}) judged {entry.payload.get('verdict')}"


def take_back(db: Connection, entry: Entry, now: int) -> str:
    """Put back what was, inside a transaction; what the person should know beside it."""
    number = int(entry.target.partition("/")[2])
    row = store.review(db, number)
    if row is None:
        return "it is gone"
    if row[2] != entry.payload.get("verdict"):
        return "a later verdict replaced this one and is kept"
    store.set_verdict(db, number, entry.before.get("verdict"), now)
    return ""


def day_of(at: int) -> str:
    """The day of a time in milliseconds, as redactions are counted."""
    return utc(at).strftime("%Y-%m-%d")


HEAD = 8_000
"""Characters of a text that are looked at."""
_LEFT_OUT = frozenset(("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector"))
_SHORTEST = 4


@contextmanager
def ready() -> Iterator[None]:
    """Sets the second detector up for a while: it keeps its rules in a global."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class  # on use: start-up stays short
    from detect_secrets.settings import transient_settings  # on use: start-up stays short

    classes: list[type] = list(get_mapping_from_secret_type_to_class().values())
    names = {plugin.__name__ for plugin in classes} - _LEFT_OUT
    with transient_settings({"plugins_used": [{"name": name} for name in sorted(names)]}):
        yield


def suspects(content: str) -> list[tuple[str, str]]:
    """(kind, value) of what the second detector sees and neither redaction nor the user's allow-list explains."""
    from detect_secrets.core.scan import scan_line  # on use: start-up stays short

    from capture.redaction import settings  # on use: start-up stays short

    known = settings.load()
    out = []
    for line in content[:HEAD].splitlines():
        for one in scan_line(line):
            value = one.secret_value or ""
            if len(value) >= _SHORTEST and "REDACTED" not in value and not known.allows(value):
                out.append((one.type, value))
    return out


def around_mask(content: str, kind: str, place: int) -> tuple[str, str, str]:
    """What stands before a suspect, its mask, and what stands behind; every other suspect is masked as well."""
    with ready():
        found = suspects(content)
    mine = [value for one, value in found if one == kind]
    if len(mine) < place:
        return "", f"({kind}: gone)", ""
    value = mine[place - 1]
    for other in sorted({other for _, other in found} - {value}, key=len, reverse=True):
        content = content.replace(other, mask(other))
    before, _, after = content.partition(value)
    return before[-_AROUND:], mask(value), after.replace(value, mask(value))[:_AROUND]


def mask(value: str) -> str:
    """`gh...(40 characters)`: enough to know it again, too little to use it."""
    return f"{value[:2] if len(value) >= 16 else ''}...({len(value)} characters)"
