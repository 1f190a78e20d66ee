"""Draws previews of changes: all that a purge would delete or leave, and a unified diff."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from nmem.purge import said
from nmem.text import fit, fit_path, pad, printable, width
from nmem_tui.model import actions
from nmem_tui.model.figures import date, several
from nmem_tui.model.line import Line, wrap
from nmem_tui.model.lists import Item, plain_items

if TYPE_CHECKING:
    from nmem.native.review import Report
    from nmem.purge.preview import Preview, Wider
    from nmem.purge.store import Item as Gone

_TONES = {"+": "good", "-": "bad", "@": "accent", " ": "quiet"}


def diff_items(lines: Sequence[str], cells: int, nothing: str) -> list[Item]:
    """The diff in so many cells; `nothing` is said where it is empty."""
    if not lines:
        return list(plain_items([[(row, "text")] for row in wrap(nothing, cells, 3)]))
    return list(plain_items([line for text in lines for line in _wrapped(text, cells)]))


def _wrapped(text: str, cells: int) -> Iterator[Line]:
    if text.startswith(("---", "+++", "@@", "\\")):
        yield [(printable(text), "quiet")]
        return
    sign, rest = text[:1] or " ", text[1:]
    indent = " " * (len(rest) - len(rest.lstrip()))
    for number, row in enumerate(wrap(printable(rest), max(8, cells - 2 - len(indent)), 12) or [""]):
        yield [(sign + " " if not number else "  ", _TONES.get(sign, "text")), (indent + row, _TONES.get(sign, "text"))]


def into(name: str, root: str, verb: str, there: str = "in") -> Line:
    """Which file it is about."""
    return [(f"{verb} ", "quiet"), (printable(name), "strong"), (f"  {there} {fit_path(printable(root), 60)}", "quiet")]


def instructions(report: Report, cells: int) -> list[Item]:
    """What is stale, contradicted or repeated in each file that clients load, and what the files cost."""
    from nmem.native import told  # on use: start-up stays short

    lines: list[Line] = []
    for document in report.documents:
        lines.append([(row, "title") for row in wrap(printable(told.heading(document)), cells, 1)])
        for where, text in told.rows(report, document):
            marked: Line = [(f"{printable(where)}  ", "accent")] if where else [("  ", "quiet")]
            rows = wrap(printable(text.strip()), max(20, cells - sum(width(part) for part, _ in marked)), 4)
            for number, row in enumerate(rows):
                before: Line = marked if not number else [(" " * sum(width(part) for part, _ in marked), "text")]
                lines.append([*before, (row, "text" if where else "quiet")])
        lines.append([])
    lines += [[("Tokens", "title")]] if report.documents else []
    lines += [[(f"{printable(where)}  ", "accent"), (printable(text), "text")] for where, text in told.cost(report)]
    return list(plain_items(lines))


def trouble(reason: str, cells: int) -> list[Line]:
    """Why it cannot be done."""
    return [[("✗ " if not n else "  ", "bad"), (row, "text")] for n, row in enumerate(wrap(reason, cells - 2, 4))]


_SAID = {"user prompt": "your prompt", "agent thinking": "agent thought", "agent closing": "agent ended"}
ITEM = "item"
KEYS = {ITEM: "i", "file": "f", "episode": "e", "thread": "t", "session": "s", "project": "p"}
"""Reach -> the key that chooses it."""
REACHES = {key: kind for kind, key in KEYS.items()}
_ANEW = "sessions told anew"
_ONE = {
    "episodes told": "episode told", "session summaries": "session summary", "threads summed up": "thread summed up",
    "learnings that rest on it": "learning that rests on it", _ANEW: "session told anew",
    "notes that learnings are made of": "note that learnings are made of",
    "corrections that can be undone": "correction that can be undone",
    "items told to sessions": "item told to sessions",
}  # fmt: skip
"""What is made of the rows, where there is one of it."""
NOTHING = "nothing recorded matches this selection"


def reach(one: Wider, *, single: bool) -> str:
    """How far one reaches, in a few words."""
    if one.kind == ITEM:
        return f"{'only this' if single else 'only these'}: {one.name}"
    if one.kind == "project":
        return f"all of {one.name}"
    if single and one.kind != "file":
        return f"its {one.kind}"
    return f"{'its' if single else 'their'} file: {one.name}" if one.kind == "file" else f"their {one.name}"


def stays(backups: int, transcripts: int) -> str:
    """What goes on holding what is purged: `1 backup and 2 transcripts still hold it, or may`; empty: nothing does."""
    held = " and ".join(
        several(many, word) for many, word in ((backups, "backup"), (transcripts, "transcript")) if many
    )
    return f"{held} still {'holds' if backups + transcripts == 1 else 'hold'} it, or may" if held else ""


def head(
    found: Preview, minutes: int, at: int, zone: tzinfo | None, cells: int, note: str = "", *, backups: bool = False,
    low: bool = False,
) -> list[Line]:  # fmt: skip
    """What goes, whether it can be brought back, what stays although it holds it, and a note; `low`: in few rows."""
    if found.empty:
        return [[(NOTHING, "strong")]]
    lines: list[Line] = [[(row, "strong")] for row in wrap(f"These go: {said.goes(found.rows)}", cells, 2)]
    if minutes:
        until = moment(at + minutes * 60_000, at, zone)
        lines += _marked(
            f"{actions.key_of('undo')} ",
            "key",
            f"brings them back until {until}" + ("" if low else "; until then they lie sealed, encrypted"),
            cells,
        )
    else:
        lines += _marked("! ", "warn", "for good: nothing brings them back", cells, "warn")
    lines += _marked("! ", "warn", note, cells) if note else []
    if held := stays(0 if backups else len(found.backups), len(found.transcripts)):
        also = "; b takes the backups too" if found.backups and not backups else ""
        lines += _marked("! ", "warn", held + also, cells)
    return lines


def _marked(mark: str, tone: str, text: str, cells: int, look: str = "text") -> list[Line]:
    """A sentence behind its mark, over as many lines as it takes."""
    rows = wrap(text, cells - width(mark), 4)
    return [[(" " * width(mark) if number else mark, tone), (row, look)] for number, row in enumerate(rows)]


def moment(until: int, at: int, zone: tzinfo | None) -> str:
    """A time to come: the time of day where it is today's, else with its day."""
    told = date(until, at, zone)
    return told[6:] if told[:5] == date(at, at, zone)[:5] else told


def purge_items(found: Preview, at: int, zone: tzinfo | None, *, backups: bool = False) -> list[Item]:
    """Everything that goes, and everything that stays although it tells the same; `backups`: these go as well."""
    return list(plain_items(list(_lines(found, at, zone, backups=backups))))


def _lines(found: Preview, at: int, zone: tzinfo | None, *, backups: bool) -> Iterator[Line]:
    for kind, word in said.KINDS.items():
        if number := found.rows.get(kind, 0):
            mine = [one for one in found.items if one.id.partition("/")[0] == kind]
            yield _heading(number, word, mine)
            for one in mine:
                yield _row(one, at, zone)
            if number > len(mine):
                yield [(f"   and {number - len(mine)} more", "quiet")]
            yield []
    yield from _pairs("Made of them: goes, or is made anew of what is left", [
        *found.derived.items(), *([(_ANEW, len(found.sessions))] if found.sessions else []),
    ])  # fmt: skip
    yield from _pairs("Said elsewhere: blanked", list(said.elsewhere(found.elsewhere).items()))
    yield from _paths("Files of nmem that contain it: cleaned", found.files)
    held = "Backups that hold it, or may: "
    yield from _paths(held + ("they go, too" if backups else "they stay; b takes them as well"), found.backups)
    yield from _paths("The client's own transcripts stay: they are not nmem's", found.transcripts)


def _heading(number: int, word: str, mine: list[Gone]) -> Line:
    """`14 calls: 5 file read, 3 file edit`; of what is shown."""
    kinds = Counter(printable(one.kind).replace("_", " ") for one in mine)
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(6)) if word == "call" else ""
    shown = f", the newest {len(mine)}" if number > len(mine) else ""
    return [(several(number, word) + shown, "title"), (f": {told}" if told else "", "quiet")]


def _row(one: Gone, at: int, zone: tzinfo | None) -> Line:
    kind = printable(one.kind)
    return [
        ("   " + pad(date(one.at, at, zone), 12), "quiet"),
        (pad(fit(_SAID.get(kind, kind.replace("_", " ")), 13), 14), "look"),
        (pad(fit(printable(one.id), 14), 11) + " ", "quiet"),
        (fit(" ".join(printable(one.text).split()), 400), "text"),
    ]


def _pairs(title: str, rows: list[tuple[str, int]]) -> Iterator[Line]:
    if rows:
        yield [(title, "title")]
        for name, number in rows:
            words = name if number > 1 else _ONE.get(name, name)
            yield [(pad(f"   {number:,}", 12), "strong"), (printable(words), "text")]
        yield []


def _paths(title: str, paths: tuple[str, ...]) -> Iterator[Line]:
    if paths:
        yield [(title, "title")]
        for path in paths:
            yield [(f"   {printable(path)}", "text")]
        yield []
