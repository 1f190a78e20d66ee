"""Checks redaction: rates by kind of secret, a person's verdicts, and a second detector on a sample."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from sqlite3 import Connection

from capture.redaction import settings
from capture.redaction.settings import LEVELS
from nmem.audit import NOTE, OK, Finding, review, store
from nmem.audit.shift import Share, share, shifted
from nmem.intervals import wilson
from nmem.settings.check import dotted
from nmem.text import printable

DAYS = 60
_DAY = 24 * 3_600_000
_LEAST = 0.01
"""Redactions are rare: a change of one in a hundred texts is one."""
_REAL, _FALSE = "real", "false"


@dataclass(frozen=True, slots=True)
class Rate:
    """One kind: in how many of the stored texts it was found, in the last seven days and in the weeks before."""

    kind: str
    recent: Share
    before: Share


@dataclass(frozen=True, slots=True)
class Daily:
    """One kind: how often it was found, ever, and on each of the newest DAYS days, the oldest first."""

    kind: str
    total: int
    days: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """What a person said of samples of one kind. Of what redaction found, `false` is a false alarm."""

    kind: str
    found_by: str
    real: int
    false: int

    @property
    def wrongly(self) -> tuple[float, float]:
        """Between which values the part of false alarms lies."""
        return wilson(self.false, self.real + self.false)


def rates(db: Connection, now: int) -> tuple[Rate, ...]:
    """By kind, the most frequent first. Raises sqlite3.Error."""
    texts = store.texts_by_day(db, now - DAYS * _DAY, now, _DAY)
    found = store.redactions(db)
    today = now // _DAY
    out = []
    for kind, counts in found.items():
        recent = [(min(counts.get(day, 0), of), of) for day, of in texts.items() if day > today - 7]
        before = [(min(counts.get(day, 0), of), of) for day, of in texts.items() if day <= today - 7]
        out.append(Rate(kind, share(recent), share(before)))
    return tuple(sorted(out, key=lambda one: (-one.recent.hits - one.before.hits, one.kind)))


def daily(db: Connection, now: int) -> tuple[Daily, ...]:
    """By kind, day by day up to today, the most frequent first. Raises sqlite3.Error."""
    today = now // _DAY
    days = range(today - DAYS + 1, today + 1)
    out = [
        Daily(kind, sum(of.values()), tuple(of.get(day, 0) for day in days))
        for kind, of in store.redactions(db).items()
    ]
    return tuple(sorted(out, key=lambda one: (-one.total, one.kind)))


def judged(db: Connection) -> tuple[Judged, ...]:
    """A person's verdicts by kind. Raises sqlite3.Error."""
    return tuple(Judged(*row) for row in store.verdicts(db))


def findings(db: Connection, now: int) -> list[Finding]:
    """Kinds whose rate has shifted, kinds that mostly were false alarms, secrets a person confirmed as kept."""
    found = rates(db, now)
    out = [_shift(one) for one in found if shifted(one.before, one.recent, least=_LEAST)]
    verdicts = judged(db)
    out += [said for one in verdicts for said in _verdict(one)]
    hits = sum(one.recent.hits + one.before.hits for one in found)
    if not out and hits:
        texts = found[0].recent.cases + found[0].before.cases
        kinds = ", ".join(f"{one.kind} {one.recent.hits + one.before.hits:,}" for one in found[:4])
        said = f"{hits:,} found in {texts:,} texts of {DAYS} days, no kind more or less often than before: {kinds}"
        out.append(Finding("redaction", OK, said))
    return out + sensitivity(db)


def sensitivity(db: Connection) -> list[Finding]:
    """Where more than secrets is redacted, and projects in the settings that none recorded is called."""
    chosen = settings.base()
    if not (chosen.strict or chosen.projects):
        return []
    known = store.project_names(db)
    said = [f"{printable(name)} is {level}" for name, (_, level) in chosen.projects.items() if level]
    own = [printable(name) for name, (patterns, _) in chosen.projects.items() if patterns]
    said += [f"own words or patterns in {', '.join(own)}"] if own else []
    out = [Finding("redaction", OK, f"sensitivity is {LEVELS[chosen.strict]}{''.join(f'; {one}' for one in said)}")]
    strange = [name for name in chosen.projects if known and name not in known]
    out += [
        Finding("redaction", NOTE, f"{dotted(('redaction', 'projects', name))} names no project that is recorded here:"
                " its name, root folder or remote is meant", "nmem config edit")
        for name in strange
    ]  # fmt: skip
    return out


def _shift(one: Rate) -> Finding:
    if one.recent.value > one.before.value:
        said = f"{one.kind} is found in {one.recent} of texts this week, {one.before} before: false alarms?"
        return Finding("redaction", NOTE, said, "nmem review draw, then nmem review")
    said = f"{one.kind} is found in {one.recent} of texts this week only, {one.before} before: is its form another?"
    return Finding("redaction", NOTE, said, "nmem doctor --deep looks with a second detector")


def _verdict(one: Judged) -> list[Finding]:
    if one.found_by == "redaction" and one.real + one.false >= 5 and one.wrongly[0] > 0.5:
        said = f"{one.kind}: {one.false} of {one.real + one.false} you judged were false alarms"
        return [Finding("redaction", NOTE, said, "nmem config edit: [redaction] allow")]
    if one.found_by != "redaction" and one.real:
        said = f"{one.real} secrets that redaction had kept were confirmed by you ({one.kind})"
        return [Finding("redaction", NOTE, said, "nmem config edit: [redaction] patterns; then nmem redact --history")]
    return []


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
        return wilson(self.suspicious, self.texts)

    @property
    def suspicious(self) -> int:
        """Texts with a suspect."""
        return len({(one.source, one.row_id) for one in self.suspects})


def opinion(db: Connection, sample: int = SAMPLE, seed: int = 1) -> Opinion:
    """Look at a random sample of all observations and prompts. Raises sqlite3.Error."""
    texts = redacted = 0
    found: list[Suspect] = []
    with review.ready():
        for source, row_id, at, content in _sample(db, sample, seed):
            texts += 1
            redacted += "[REDACTED:" in content
            counts: dict[str, int] = {}
            for kind, _ in review.suspects(content):
                counts[kind] = counts.get(kind, 0) + 1
                found.append(Suspect(source, row_id, counts[kind], kind, review.day_of(at)))
    return Opinion(texts, redacted, tuple(found))


def _sample(db: Connection, sample: int, seed: int) -> Iterator[tuple[str, int, int, str]]:
    """Rows drawn by id: no table is read as a whole."""
    dice = random.Random(seed)  # noqa: S311 -- no secret
    ends = {table: store.newest(db, table) for table in store.TEXTS}
    whole = sum(ends.values())
    for source, last in ends.items():
        count = min(last, -(-sample * last // whole)) if whole else 0
        for number in sorted(dice.sample(range(1, last + 1), count)):
            row = store.text(db, source, number)
            if row:
                yield source, number, row[0], row[1][: review.HEAD]


def second_opinion(db: Connection, writer: Connection | None, now: int) -> list[Finding]:
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
