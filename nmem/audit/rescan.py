"""A second opinion (SQL): a sample of stored texts goes through detect-secrets, for what redaction left standing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.audit import review, second_detector
from nmem.audit.finding import NOTE, OK, Finding
from nmem.audit.shift import interval

BY = "detect-secrets"
SAMPLE = 1_000
"""Texts that are looked at."""


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
    with second_detector.ready():
        for source, row_id, at, content in _sample(db, sample, seed):
            texts += 1
            redacted += "[REDACTED:" in content
            counts: dict[str, int] = {}
            for kind, _ in second_detector.suspects(content):
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
                yield source, number, row[0], row[1][: second_detector.HEAD]


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
