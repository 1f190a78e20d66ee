"""What a purge would take, line by line: rows in groups with their counts, what is made of them, files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING

from nmem.text import fit, pad, printable
from nmem_tui.model.figures import date, several
from nmem_tui.model.items import Item, plain
from nmem_tui.model.line import Line, cut, wrap

if TYPE_CHECKING:
    from nmem.purge.around import Wider
    from nmem.purge.preview import Item as Gone
    from nmem.purge.preview import Preview

_KINDS = {"project": "project", "session": "session", "learning": "learning", "task": "task", "prompt": "prompt",
          "obs": "call", "trace": "swept call"}  # fmt: skip
_SAID = {"user prompt": "your prompt", "agent thinking": "agent thought", "agent closing": "agent ended"}
ITEM = "item"
KEYS = {ITEM: "i", "file": "f", "episode": "e", "thread": "t", "session": "s", "project": "p"}
"""Reach -> the key that chooses it."""
REACHES = {key: kind for kind, key in KEYS.items()}
NOTHING = "nothing is recorded that this selects"


def reach(one: Wider, *, single: bool) -> str:
    """How far one reaches, in a few words."""
    if one.kind == ITEM:
        return f"{'only this' if single else 'only these'}: {one.name}"
    if one.kind == "project":
        return f"all of {one.name}"
    if single and one.kind != "file":
        return f"its {one.kind}"
    return f"{'its' if single else 'their'} file: {one.name}" if one.kind == "file" else f"their {one.name}"


def counts(found: Preview) -> str:
    """What goes, in numbers: `2 prompts, 14 calls`."""
    return ", ".join(several(found.rows[kind], word) for kind, word in _KINDS.items() if found.rows.get(kind))


def head(found: Preview, minutes: int, at: int, zone: tzinfo | None, cells: int, note: str = "") -> list[Line]:
    """What goes, whether it can be brought back, and a note."""
    if found.empty:
        return [[(NOTHING, "strong")]]
    goes = counts(found) or "what says it elsewhere"
    lines: list[Line] = [[(row, "strong")] for row in wrap(f"These go: {goes}", cells, 2)]
    if minutes:
        until = moment(at + minutes * 60_000, at, zone)
        back: Line = [("u ", "key"), (f"brings them back until {until}; until then they lie sealed, encrypted", "text")]
    else:
        back = [("! ", "warn"), ("for good: nothing brings them back", "warn")]
    return [*lines, cut(back, cells), *([cut([("! ", "warn"), (note, "text")], cells)] if note else [])]


def moment(until: int, at: int, zone: tzinfo | None) -> str:
    """A time to come: the time of day where it is today's, else with its day."""
    told = date(until, at, zone)
    return told[6:] if told[:5] == date(at, at, zone)[:5] else told


def items(found: Preview, at: int, zone: tzinfo | None, *, backups: bool = False) -> list[Item]:
    """Everything that goes, and everything that stays although it tells the same; `backups`: these go as well."""
    return list(plain(list(_lines(found, at, zone, backups=backups))))


def _lines(found: Preview, at: int, zone: tzinfo | None, *, backups: bool) -> Iterator[Line]:
    for kind, word in _KINDS.items():
        if number := found.rows.get(kind, 0):
            mine = [one for one in found.items if one.id.partition("/")[0] == kind]
            yield _heading(number, word, mine)
            for one in mine:
                yield _row(one, at, zone)
            if number > len(mine):
                yield [(f"   and {number - len(mine)} more", "quiet")]
            yield []
    yield from _pairs("Made of them: goes, or is made anew of what is left", [
        *found.derived.items(), *([("sessions told anew", len(found.sessions))] if found.sessions else []),
    ])  # fmt: skip
    yield from _pairs("Said elsewhere: blanked", list(found.elsewhere.items()))
    yield from _paths("Files of nmem that say it: cleaned", found.files)
    held = "Backups that hold it, or may: "
    yield from _paths(held + ("they go as well" if backups else "they stay; b takes them as well"), found.backups)
    yield from _paths("The client's own transcripts: they stay, they are not nmem's", found.transcripts)


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
            yield [(pad(f"   {number:,}", 12), "strong"), (printable(name), "text")]
        yield []


def _paths(title: str, paths: tuple[str, ...]) -> Iterator[Line]:
    if paths:
        yield [(title, "title")]
        for path in paths:
            yield [(f"   {printable(path)}", "text")]
        yield []
