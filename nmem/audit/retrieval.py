"""Checks the use of injected context: the share of injected items that was used, by kind and over time."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from nmem.audit import NOTE, OK, Finding, store
from nmem.audit.shift import Share, share, shifted
from nmem.intervals import wilson

_WEEK = 7 * 24 * 3_600_000
_WINDOW = 5_000
"""Newest injections that are looked at."""
_USELESS = 0.1
"""Below this part of used items, telling costs more than it gives."""
_LATE = 0.05


@dataclass(frozen=True, slots=True)
class Use:
    """Items of one kind: how many were of use, lately and before."""

    kind: str
    recent: Share
    before: Share

    @property
    def whole(self) -> Share:
        """Both together."""
        return Share(self.recent.hits + self.before.hits, self.recent.cases + self.before.cases)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What became of what sessions were told."""

    uses: tuple[Use, ...]
    """By kind; the first is of all kinds."""
    silent: Share
    """Occasions on which nothing was said."""
    withheld: int
    late: int
    """Selections that took too long, so that nothing was said."""


def retrieval(db: Connection, now: int) -> Retrieval:
    """Of the newest injections. Raises sqlite3.Error."""
    found = store.used(db, now - _WEEK, _WINDOW)
    kinds = ["", *sorted({row[0] for row in found})]
    silent, every, withheld = store.occasions(db, _WINDOW)
    uses = tuple(Use(kind, _part(found, kind, True), _part(found, kind, False)) for kind in kinds)
    return Retrieval(uses, Share(silent, every), withheld, store.counter(db, "context_late") or 0)


def _part(found: list[tuple[str, bool, int, int]], kind: str, recent: bool) -> Share:
    return share((hits, cases) for one, when, hits, cases in found if when == recent and kind in ("", one))


def findings(db: Connection, now: int, deep: bool = False) -> list[Finding]:
    """Kinds whose use has fallen or is next to nothing, and late answers; nothing while nothing was told."""
    found = retrieval(db, now)
    if not found.silent.cases:
        return []
    out = [one for use in found.uses for one in _use(use)]
    if found.late > _LATE * found.silent.cases:
        said = f"{found.late:,} answers took too long and were not given ({found.silent.cases:,} were asked for)"
        out.append(Finding("retrieval", NOTE, said, "nmem config set context.deadline_ms 120"))
    if not out:
        use = found.uses[0].whole
        known = f"{use} of what sessions were told was of use" if use.cases else "no use of it is known yet"
        said = f"passed in silence: {found.silent.hits:,} of {found.silent.cases:,} occasions; {known}"
        out.append(Finding("retrieval", OK, said))
    return out + (_holdout(db) if deep else [])


def _use(use: Use) -> list[Finding]:
    name = f"items of kind {use.kind}" if use.kind else "items"
    see = "nmem context --past, then nmem context --exclude ITEM"
    if use.recent.value < use.before.value and shifted(use.before, use.recent):
        said = f"{use.recent} of told {name} were of use this week, {use.before} before"
        return [Finding("retrieval", NOTE, said, see)]
    if use.whole.cases >= 30 and wilson(use.whole.hits, use.whole.cases)[1] < _USELESS:
        return [Finding("retrieval", NOTE, f"only {use.whole} of told {name} were of use", see)]
    return []


def _holdout(db: Connection) -> list[Finding]:
    """Sessions that were told beside those kept without, where there are enough of both."""
    from nmem.context.past import MEASURES, effect  # on use: start-up stays short

    found = effect(db)
    if not found.without.sessions:
        return []
    said = "; ".join(f"{name}: {found.verdict(name)}" for name in MEASURES)
    groups = f"{found.told.sessions} sessions told, {found.without.sessions} kept without"
    worse = any(found.verdict(name) == "more when told" for name in ("failures", "rereads"))
    mend = "nmem context --past; nmem config set context.enabled false" if worse else ""
    return [Finding("holdout", NOTE if worse else OK, f"{groups}: {said}", mend)]
