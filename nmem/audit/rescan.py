"""A second opinion on redaction (SQL): runs detect-secrets over a sample of stored texts.

Its rules of forms and names are used, not those of randomness: commit hashes and ids would drown everything else.
No secret leaves this module: only its kind, its place and a mask.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.audit import review
from nmem.audit.finding import NOTE, OK, Finding
from nmem.audit.shift import interval

BY = "detect-secrets"
SAMPLE = 1_000
"""Texts that are looked at."""
_LEFT_OUT = frozenset(("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector"))
_AROUND = 60
_SHORTEST = 4
_HEAD = 8_000


@dataclass(frozen=True, slots=True)
class Suspect:
    """Where the second detector sees a secret; never the secret."""

    source: str
    row_id: int
    place: int
    """The how many-th of its kind in the text."""
    kind: str
    day: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the second detector says of a sample."""

    texts: int
    redacted: int
    """Texts of the sample in which redaction found something."""
    suspects: tuple[Suspect, ...]

    @property
    def rate(self) -> tuple[float, float]:
        """Between which values the part of texts with something left lies (nine times in ten)."""
        return interval(self.suspicious, self.texts)

    @property
    def suspicious(self) -> int:
        """Texts with a suspect."""
        return len({(one.source, one.row_id) for one in self.suspects})


def opinion(db: Connection, sample: int = SAMPLE, seed: int = 1) -> Opinion:
    """Look at a random sample of all observations and prompts. Raises sqlite3.Error."""
    texts = redacted = 0
    found: list[Suspect] = []
    with _detector():
        for source, row_id, at, content in _sample(db, sample, seed):
            texts += 1
            redacted += "[REDACTED:" in content
            counts: dict[str, int] = {}
            for kind, _ in _suspects(content):
                counts[kind] = counts.get(kind, 0) + 1
                found.append(Suspect(source, row_id, counts[kind], kind, review.day_of(at)))
    return Opinion(texts, redacted, tuple(found))


def _sample(db: Connection, sample: int, seed: int) -> Iterator[tuple[str, int, int, str]]:
    """Rows drawn by id: no table is read as a whole."""
    dice = random.Random(seed)  # noqa: S311 -- no secret
    ends = {s: db.execute(f"SELECT coalesce(max(id), 0) FROM {s}").fetchone()[0] for s in ("observations", "prompts")}  # noqa: S608
    whole = sum(ends.values())
    for source, last in ends.items():
        count = min(last, -(-sample * last // whole)) if whole else 0
        for number in sorted(dice.sample(range(1, last + 1), count)):
            row = db.execute(f"SELECT at, content FROM {source} WHERE id = ?", (number,)).fetchone()  # noqa: S608
            if row:
                yield source, number, row[0], row[1][:_HEAD]


@contextmanager
def _detector() -> Iterator[None]:
    """Sets the second detector up for a while: it keeps its rules in a global."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.settings import transient_settings

    classes: list[type] = list(get_mapping_from_secret_type_to_class().values())
    names = {plugin.__name__ for plugin in classes} - _LEFT_OUT
    with transient_settings({"plugins_used": [{"name": name} for name in sorted(names)]}):
        yield


def _suspects(content: str) -> list[tuple[str, str]]:
    """(kind, value) of what the second detector sees and neither redaction nor the user's allow-list explains."""
    from detect_secrets.core.scan import scan_line

    from capture.redaction import settings

    known = settings.load()
    out = []
    for line in content[:_HEAD].splitlines():
        for one in scan_line(line):
            value = one.secret_value or ""
            if len(value) >= _SHORTEST and "REDACTED" not in value and not known.allows(value):
                out.append((one.type, value))
    return out


def masked(content: str, kind: str, place: int) -> tuple[str, str, str]:
    """What stands before a suspect, its mask, and what stands behind; every other suspect is masked as well."""
    with _detector():
        found = _suspects(content)
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


def findings(db: Connection, writer: Connection | None, now: int) -> list[Finding]:
    """The estimate, and suspects into the queue where that can be written."""
    found = opinion(db)
    if not found.texts:
        return []
    low, high = found.rate
    said = (
        f"a second detector sees something in {found.suspicious} of {found.texts:,} sampled texts that redaction left"
        f" ({low:.1%} to {high:.1%} of all); redaction had found something in {found.redacted}"
    )
    if not found.suspects:
        return [Finding("second opinion", OK, said)]
    if writer is not None:
        rows = [(one.source, one.row_id, one.place, one.kind, one.day) for one in found.suspects]
        review.put(writer, rows, BY, now, len(rows))
    kinds = ", ".join(sorted({one.kind for one in found.suspects}))
    ids = [f"{'obs' if one.source == 'observations' else 'prompt'}/{one.row_id}" for one in found.suspects]
    return [Finding("second opinion", NOTE, f"{said}: {kinds}", "nmem review", examples=tuple(dict.fromkeys(ids))[:3])]
