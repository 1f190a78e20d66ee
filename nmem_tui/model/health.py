"""Loads and draws the lists of the screen Health: audit findings, redactions, backups and purges."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import PurePath
from sqlite3 import Connection

from nmem import tables
from nmem.audit import NOTE, OK, WRONG, Finding, read, redaction
from nmem.audit.redaction import Daily, Judged, Rate
from nmem.audit.store import unjudged
from nmem.backup import places
from nmem.backup.places import Kept
from nmem.purge import said as wording
from nmem.purge.run import Past, past
from nmem.retention import read as retention
from nmem.retention.read import Forecast, Standing
from nmem.teammates import members
from nmem.text import fit, fit_path, pad, printable
from nmem_tui.model import symbols
from nmem_tui.model.actions import key_of
from nmem_tui.model.figures import age, ago, by_day, count, date, day, filled, several, size
from nmem_tui.model.line import Line, cut, fitting, spread, wrap
from nmem_tui.model.lists import Item
from nmem_tui.model.symbols import Sign

FINDINGS, HOOKS, SECRETS, STORAGE, KEPT = "findings", "hooks", "secrets", "storage", "kept"
MODES = (FINDINGS, HOOKS, SECRETS, STORAGE, KEPT)
_WORST = {WRONG: 0, NOTE: 1}


@dataclass(frozen=True, slots=True)
class Secrets:
    """Redactions: by kind and day, what a person judged of them, what waits."""

    daily: tuple[Daily, ...]
    rates: tuple[Rate, ...]
    judged: tuple[Judged, ...]
    waiting: int


@dataclass(frozen=True, slots=True)
class Stored:
    """What there is by type, and what of it is to go."""

    standing: Standing
    forecast: Forecast


@dataclass(frozen=True, slots=True)
class Keeping:
    """What can be brought back: backups, and purges within their window."""

    folder: str
    backups: tuple[Kept, ...]
    purges: tuple[Past, ...]


def read_findings(db: Connection, path: str, now: int) -> tuple[Finding, ...]:
    """What can be seen quickly; nothing before anything was concluded."""
    return (*read.findings(db, path, now), *_team(db, now)) if tables.version(db) else ()


def _team(db: Connection, now: int) -> tuple[Finding, ...]:
    """How sharing with a team stands; nothing where nothing is shared."""
    team = members.standing(db)
    if not team.team:
        return ()
    said = f"{team.team}: {several(team.projects, 'project')} shared with {several(team.others, 'other')}"
    if team.paused_at:
        return (Finding("team", NOTE, f"{said}; paused {ago(now - team.paused_at)}", "nmem sync resume"),)
    if team.failing_at:
        why = f"no pass goes well, first {ago(now - team.failing_at)}: {team.reason or 'no answer'}"
        return (Finding("team", NOTE, f"{said}; {why}", "nmem sync status"),)
    return (Finding("team", OK, said),)


def worst_first(found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """In the order in which a person should read them."""
    return tuple(sorted(found, key=lambda one: _WORST.get(one.severity, 2)))


def read_secrets(db: Connection, now: int) -> Secrets:
    """Redactions and their review."""
    if not tables.version(db):
        return Secrets(redaction.daily(db, now), (), (), 0)
    return Secrets(redaction.daily(db, now), redaction.rates(db, now), redaction.judged(db), unjudged(db))


def read_stored(db: Connection, now: int, stopped: Callable[[], bool]) -> Stored | None:
    """Every row is counted: not to be asked often."""
    if not tables.version(db):
        return None
    return Stored(retention.standing(db, now), retention.forecast(db, now=now, stopped=stopped))


def read_kept(db: Connection, path: str) -> Keeping:
    """Backups in their folder, and past purges."""
    folder = places.folder(path)
    purges = tuple(past(db)) if tables.version(db) else ()
    return Keeping(str(folder), tuple(places.kept(folder)), purges)


NAMES = {FINDINGS: "findings", HOOKS: "hooks", SECRETS: "redactions", STORAGE: "storage", KEPT: "backups, purges"}
FINDING, KIND, BACKUP, PURGE = "finding", "kind", "backup", "purge"
FIX = "nmem doctor --fix"
MENDABLE = ("orphans", "search", "text indexes")
"""Findings that are mended in the database, without a decision."""
_SIGNS = {OK: ("✓", "fine ", "good"), NOTE: ("!", "note ", "warn")}
_WRONG = ("✗", "wrong", "bad")
_SUBJECT = 15


def bar(mode: str, cells: int) -> Line:
    """What can be shown, the current one marked."""
    line: Line = []
    for each in MODES:
        here = each == mode
        line += [("▸" if here else " ", "accent"), (NAMES[each], "tab" if here else "quiet"), ("  ", "text")]
    return spread(line, [(f"{key_of('next_check')} next ", "quiet")], cells)


def working(name: str, done: int, whole: int, said: str, cells: int, *, stops: bool = True) -> Line:
    """How far long work is."""
    room = 20 if cells >= 60 else 8
    full = filled(done, whole, room)
    drawn: Line = [
        (symbols.now().much * full, "bar"),
        (symbols.now().free * (room - full), "rest"),
        (f" {done:,} of {whole:,} ", "text"),
    ]
    end: Line = [(f"  {key_of('stop')}", "key"), (" stops it", "quiet")] if stops else []
    return cut([(f" {name} ", "strong"), *(drawn if whole else []), (f" {printable(said)}", "quiet"), *end], cells)


def not_done(why: str, cells: int) -> Line:
    """Why work could not be done; it stands until somebody has seen it."""
    return spread([(" ✗ ", "bad"), (printable(why), "text")], [("esc", "key"), (" seen ", "quiet")], cells)


def say(line: Line) -> Item:
    """A line that is only there to be read."""
    return Item(lambda cells: cut([(" ", "text"), *line], cells) if line else [])


# findings


def mendable(found: tuple[Finding, ...]) -> list[Finding]:
    """What the key mends."""
    return [one for one in found if one.check in MENDABLE and one.mend == FIX]


def findings_title(found: tuple[Finding, ...]) -> str:
    """How many there are of each sort."""
    wrong = sum(one.severity not in (OK, NOTE) for one in found)
    notes = sum(one.severity == NOTE for one in found)
    return f"Findings ─ {wrong} wrong · {notes} to know · {len(found) - wrong - notes} fine"


def findings(found: tuple[Finding, ...], deep_at: int, now: int, zone: tzinfo | None) -> list[Item]:
    """The worst first."""
    out = [_finding(one, key) for key, one in keyed(found).items()]
    if not found:
        out = [say([("nothing to audit yet: run `nmem settle` first", "quiet")])]
    if deep_at:
        told: Line = [(f"everything was read at {date(deep_at, now, zone)}; ", "quiet"), (key_of("reload"), "key"),
                      (" the quick checks", "quiet")]  # fmt: skip
    else:
        told = [
            ("seen quickly; ", "quiet"),
            (key_of("audit"), "key"),
            (" reads everything: indexes, transcripts", "quiet"),
        ]
    return [*out, say([]), say(told), say([("`nmem doctor` also sends an event through each hook", "quiet")])]


def keyed(found: tuple[Finding, ...]) -> dict[str, Finding]:
    """The findings by what stays the same when they are read again, whatever their order."""
    out: dict[str, Finding] = {}
    for one in found:
        name = f"{one.check} {one.client}"
        out[next(key for number in range(len(found)) if (key := f"{name} {number}") not in out)] = one
    return out


def _finding(one: Finding, key: str) -> Item:
    glyph, word, tone = _SIGNS.get(one.severity, _WRONG)
    said = " ".join(printable(one.evidence).split())
    subject = printable(one.check)

    def draw(cells: int) -> Line:
        who = f"{printable(one.client)}: " if one.client else ""
        return cut([
            (f" {glyph} ", tone), (f"{word} ", tone), (pad(fit(subject, _SUBJECT), _SUBJECT) + " ", "strong"),
            (fit(who + said, max(8, cells - _SUBJECT - 11)), "quiet" if one.severity == OK else "text"),
        ], cells)  # fmt: skip

    return Item(draw, FINDING, key)


def about_finding(one: Finding | None, cells: int) -> list[Line]:
    """One finding in full: what was seen, what mends it, where it shows."""
    if one is None:
        return [[("put the cursor on a finding", "quiet")]]
    glyph, word, tone = _SIGNS.get(one.severity, _WRONG)
    who = f"  {printable(one.client)}" if one.client else ""
    lines: list[Line] = [[(f"{glyph} {word.strip()} ", tone), (printable(one.check), "strong"), (who, "text")]]
    lines += [[(row, "text")] for row in wrap(printable(one.evidence), cells, 12)]
    if one.mend:
        lines.append([("fix", "quiet"), (f"  {key_of('copy')} copies", "key")])
        lines += [[(f"  {row}", "accent")] for row in wrap(printable(one.mend), cells - 2, 4)]
        if one.check in MENDABLE:
            lines.append([(key_of("mend"), "key"), (" fixes it here", "quiet")])
    if one.examples:
        named = ", ".join(printable(each) for each in one.examples)
        rows = wrap(named, cells - 4, 3)
        lines += [[("see " if not n else "    ", "quiet"), (row, "text")] for n, row in enumerate(rows)]
    if one.ms is not None:
        lines.append([(f"took {one.ms:,.0f} ms", "quiet")])
    return lines


# redactions


def secrets(found: Secrets, second: Finding | None, cells: int) -> list[Item]:
    """By kind over time, with what was judged of each."""
    out: list[Item] = []
    if not found.daily:
        out.append(say([("✓ ", "good"), ("no secret found so far; each is replaced before storing", "quiet")]))
    else:
        out.append(Item(lambda cells: _kinds_head(found, cells)))
        out += [_kind(found, number) for number in range(len(found.daily))]
    out += [say([]), say(_asked(found.waiting))]
    if second is not None:
        sign, _, tone = _SIGNS.get(second.severity, _WRONG)
        rows = wrap(printable(second.evidence), cells - 4, 4)
        out += [say([(f"{sign} " if not n else "  ", tone), (row, "text")]) for n, row in enumerate(rows)]
    else:
        out.append(say([(key_of("rescan"), "key"), (" shows a sample of texts to a second detector", "quiet")]))
    return out


def _days(found: Secrets, cells: int) -> int:
    """How many days there is room for."""
    return max(7, min(redaction.DAYS, cells - 33 - (18 if found.judged else 0)))


def _kinds_head(found: Secrets, cells: int) -> Line:
    head = pad("kind", 22) + pad("all", 7, right=True) + f"  the {several(_days(found, cells), 'day')} up to today"
    return cut([(" " + head, "quiet")], cells)


def _asked(waiting: int) -> Line:
    if waiting:
        return [("? ", "warn"), (f"{several(waiting, 'redaction')} to judge: secrets, or false alarms?  ", "text"),
                (key_of("review"), "key"), (" answers", "quiet")]  # fmt: skip
    return [(key_of("review"), "key"), (" draws a sample to judge: secrets, or false alarms?", "quiet")]


def _kind(found: Secrets, number: int) -> Item:
    one = found.daily[number]
    verdicts = [each for each in found.judged if each.kind == one.kind]

    def draw(cells: int) -> Line:
        room = _days(found, cells)
        judged: Line = [(f"  {_judged(verdicts)}", "quiet")] if verdicts else []
        return cut([
            (" " + pad(fit(printable(one.kind), 21), 22), "text"), (pad(count(one.total), 7, right=True), "strong"),
            ("  ", "text"), (by_day(one.days, room), "bar" if any(one.days[-room:]) else "rest"), *judged,
        ], cells)  # fmt: skip

    return Item(draw, KIND, one.kind)


def _judged(verdicts: list[Judged]) -> str:
    real, false = sum(each.real for each in verdicts), sum(each.false for each in verdicts)
    return f"{real} real, {false} false"


def about_kind(found: Secrets | None, kind: str, cells: int) -> list[Line]:
    """One kind: how often in the texts, this week and before, and what was judged."""
    one = next((each for each in found.daily if each.kind == kind), None) if found else None
    if found is None or one is None:
        return [[("removed before anything was stored; the secrets are gone", "quiet")]]
    lines: list[Line] = [[(printable(one.kind), "strong"), (f"  found {several(one.total, 'time')}", "text")]]
    for rate in found.rates:
        if rate.kind == one.kind:
            lines += [
                [(pad(name, 11), "quiet"), (f"in {share} of texts" if share.cases else "no texts to compare", "text")]
                for name, share in (("this week", rate.recent), ("before", rate.before))
            ]
    for each in found.judged:
        if each.kind == one.kind:
            low, high = each.wrongly
            lines.append([("judged     ", "quiet"), (_judged([each]), "text"),
                          (f"  ({low:.0%} to {high:.0%} false alarms)", "quiet")])  # fmt: skip
    more = "false alarms: `nmem config edit`, [redaction] allow · kept secrets: patterns, then `nmem redact --history`"
    return [*lines, *([(row, "quiet")] for row in wrap(more, cells, 3))]


# backups and purges


def kept(found: Keeping, now: int, zone: tzinfo | None) -> list[Item]:
    """Backups, then purges, the newest first."""
    out = [say([("Backups ", "title"), (f"in {printable(found.folder)}", "quiet")])]
    out += [_backup(one) for one in found.backups]
    if not found.backups:
        out.append(
            say(
                [("no backup yet: ", "quiet"), (key_of("backup"), "key"), (" makes one, while sessions go on", "quiet")]
            )
        )
    out += [say([]), say([("Purges ", "title"), ("removed records, and until when that can be undone", "quiet")])]
    out += [_purge(one, now, zone) for one in found.purges]
    if not found.purges:
        where = " here, or on a row, an episode, a learning"
        out.append(say([("nothing was purged: ", "quiet"), (key_of("purge"), "key"), (where, "quiet")]))
    return out


def _stamp(written: str) -> str:
    """20260131-142500 as 2026-01-31 14:25:00."""
    d, _, t = written.partition("-")
    return f"{d[:4]}-{d[4:6]}-{d[6:8]} {t[:2]}:{t[2:4]}:{t[4:6]}"


def _backup(one: Kept) -> Item:
    what = "kept before a restore" if one.before_restore else ""
    sealed = "encrypted" if one.encrypted else ""
    name = PurePath(one.path).name

    def draw(cells: int) -> Line:
        return cut([
            ("   " + pad(_stamp(one.at), 21), "text"), (pad(size(one.bytes), 9, right=True), "strong"),
            ("  " + fit(printable(name), max(8, cells - 58)), "quiet"), (f"  {sealed}" if sealed else "", "good"),
            (f"  {what}" if what else "", "warn"),
        ], cells)  # fmt: skip

    return Item(draw, BACKUP, one.path)


def undoable(one: Past, now: int) -> bool:
    """Whether its window is open."""
    return one.state == "kept" and one.keep_until > now


def _purge(one: Past, now: int, zone: tzinfo | None) -> Item:
    left: Line = [(one.said(now), "quiet")]
    if undoable(one, now):
        left = [(f"{key_of('undo')} ", "key"), (f"undoes until {date(one.keep_until, now, zone)}", "good"),
                (f", {age(one.keep_until - now)} left", "quiet")]  # fmt: skip

    def draw(cells: int) -> Line:
        parts: list[tuple[int, Line]] = [
            (0, [("   " + pad(day(one.at, zone), 21), "text"), (one.went, "strong")]),
            (2, [(printable(wording.by(one.how)), "quiet")]), (1, left),
        ]  # fmt: skip
        return fitting(parts, cells)

    return Item(draw, PURGE, str(one.number))


def about_backup(one: Kept | None, cells: int) -> list[Line]:
    """One backup: where it lies, and the command that puts it back."""
    if one is None:
        return [[(key_of("backup"), "key"), (" backs up now", "quiet")],
                [("nmem restore FILE", "accent"), (" puts one back", "quiet")]]  # fmt: skip
    sealed = "encrypted: opens with its key or passphrase" if one.encrypted else "an ordinary SQLite file, for you only"
    return [
        [("Backup of ", "quiet"), (_stamp(one.at), "strong"), (f"  {size(one.bytes)}", "text")],
        [(fit_path(printable(one.path), cells), "text")], [(sealed, "quiet")],
        [("puts it back", "quiet"), (f"  {key_of('copy')} copies", "key")],
        *([(f"  {row}", "accent")] for row in wrap(printable(restore(one)), cells - 2, 3)),
    ]  # fmt: skip


def restore(one: Kept) -> str:
    """The command that puts a backup back."""
    return f"nmem restore {shlex.quote(one.path)}"


def about_purge(one: Past | None, now: int, zone: tzinfo | None, cells: int) -> list[Line]:
    """One purge, in numbers: its words are gone, or sealed."""
    if one is None:
        return []
    lines: list[Line] = [[(f"purge/{one.number}", "strong"), (f"  {day(one.at, zone)}", "text")],
                         [(f"{one.went} {printable(wording.by(one.how))}", "text")]]  # fmt: skip
    became = f"{one.said(now)}."
    if undoable(one, now):
        until = date(one.keep_until, now, zone)
        back = f"{key_of('undo')} takes the newest change back first, then the one before, up to this."
        became = f"It lies sealed until {until}. {back}"
    return [*lines, *([(row, "quiet")] for row in wrap(became, cells, 4))]


SIGNS = (
    *(Sign(f"{sign} {word}".strip(), means, tone) for (sign, word, tone), means in (
        (_WRONG, "something is lost or broken: what mends it stands beside it"),
        (_SIGNS[NOTE], "worth knowing"), (_SIGNS[OK], "looked at, and in order"))),
    Sign("{much}{free}", "how far the work in the background is", "bar"),
)  # fmt: skip
