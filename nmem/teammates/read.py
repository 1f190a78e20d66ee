"""Lists what others of the team said, by kind, text or file; and what this person said on another machine.

Nobody's order is believed: times are by their authors' clocks. A text is redacted by the rules in force before it
leaves here, for it was redacted by its author's.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from sqlite3 import Connection

from capture import redaction
from capture.text import clean
from nmem.store.store import projects
from nmem.teammates import live
from nmem.teammates.live import KINDS
from nmem.text import json_object, texts

_TITLE, _BODY, _FILES = 300, 4_000, 40
_EVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a member said. Texts are redacted and cut; they are to be escaped where they are shown."""

    id: str
    """team/ and a random word."""
    kind: str
    """episode decision learning recall"""
    author: str
    device: str
    """The word of the machine where this very person said it; empty of anybody else."""
    at: int
    """Milliseconds, by the author's clock."""
    title: str
    body: str
    files: tuple[str, ...]
    project_id: int
    project: str
    data: dict[str, object] = field(default_factory=dict)
    corrects: str = ""
    """The member whose words this says otherwise; empty where it is of the author's own."""

    @property
    def who(self) -> str:
        """The author; of one's own other machine, which; and whom it corrects."""
        author = f"you on {self.device}" if self.device else self.author
        return f"{author}, correcting {self.corrects}" if self.corrects else author

    def form(self) -> dict[str, object]:
        """As plain values, for JSON."""
        return {
            "id": self.id, "kind": self.kind, "author": self.author, "device": self.device, "at": self.at,
            "project": self.project, "title": self.title, "body": self.body, "files": list(self.files),
            "data": self.data, **({"corrects": self.corrects} if self.corrects else {}),
        }  # fmt: skip


Fits = Callable[[str, str, str, str], bool]
"""Whether a fact is wanted, by its title, its body, and as JSON its files and its data."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for; empty: anything."""

    kinds: Sequence[str] = KINDS
    projects: Sequence[int] | None = None
    """None: all that the team shares."""
    since: int = 0
    until: int = _EVER
    heads: Sequence[str] = ()
    """Beginnings of words in lower case, of which a text has one at least: what has none is not looked at further."""
    fits: Fits | None = None


def said(db: Connection, wanted: Wanted, most: int) -> list[Fact]:
    """Others' facts, and one's own of other machines, the newest first; where there are more than `most`, of each
    member as many as of any other. Raises sqlite3.Error."""
    named, db.row_factory = db.row_factory, None
    try:
        shared = live.shared(db)
        places = [one for one in shared if wanted.projects is None or one in wanted.projects]
        owners = live.owners(db)
        found = [
            fact for place in places for kind in wanted.kinds for fact in _of(db, place, kind, wanted, most, owners)
        ]
    finally:
        db.row_factory = named
    now = time.time_ns() // 1_000_000
    return [_redacted(one) for one in _newest(found, most, now)]


def _newest(found: list[Fact], most: int, now: int) -> list[Fact]:
    """The newest, of each member in turn; a clock that is ahead brings nothing to the front."""
    found.sort(key=lambda one: (-min(one.at, now), one.id))
    if len(found) > most:
        before: Counter[str] = Counter()
        turns = []
        for place, one in enumerate(found):
            turns.append((before[one.author], place))
            before[one.author] += 1
        found = [found[place] for place in sorted(place for _, place in sorted(turns)[:most])]
    return found


def listed(db: Connection, kind: str, project: str, since: int, limit: int) -> list[Fact]:
    """The facts of one kind for a list; `project`: its key, "" for all. Raises sqlite3.Error."""
    return said(
        db, Wanted((kind,), [int(row[0]) for row in projects(db, "key", project)] if project else None, since), limit
    )


def of_file(path: str) -> Fits:
    """Whether a fact is about a file, by the end of its name."""
    end = path.lower()
    return lambda _title, _body, files, _data: (
        end in files.lower() and any(one.lower().endswith(end) for one in texts(files))
    )


def one(db: Connection, item: str) -> Fact | None:
    """The fact of an id, whoever said it; None where there is none."""
    rows = live.fact(db, item.removeprefix("team/"))
    return _redacted(_fact(tuple(rows[0]), live.owners(db))) if rows else None


def _of(
    db: Connection, project: int, kind: str, wanted: Wanted, most: int, owners: Mapping[str, str]
) -> list[Fact]:  # fmt: skip
    """The newest of one kind in one project that fit, of each member who is heard, and of one's own machines."""
    given = live.walk(db, project, kind, wanted.since, wanted.until, live.WALK)
    given |= {f"head{number}": head for number, head in enumerate(wanted.heads)}
    out: list[Fact] = []
    for member in [*live.heard(db), None]:
        taken = 0
        for row in live.facts(db, given, len(wanted.heads), member):
            if wanted.fits is None or wanted.fits(str(row[5]), str(row[6]), str(row[7]), str(row[8])):
                taken += 1
                out.append(_fact(row, owners))
            if taken >= most:
                break
    return out


def _fact(row: Sequence[object], owners: Mapping[str, str]) -> Fact:
    number, kind, who, device, at, title, body, files, data, project_id, project, subject = row
    return Fact(
        f"team/{clean(str(number))}", str(kind), clean(str(who)), clean(str(device)), int(str(at)),
        " ".join(str(title).split())[:_TITLE],
        str(body)[:_BODY], texts(files)[:_FILES], int(str(project_id)), str(project), json_object(data),
        live.corrected(owners, str(subject), str(who)),
    )  # fmt: skip


def _redacted(one: Fact) -> Fact:
    """The same by the rules in force."""
    title, body = redaction.outward(one.title), redaction.outward(one.body)
    files = tuple(redaction.outward(path, place=True) for path in one.files)
    data = redaction.redact_tree(one.data)
    return replace(one, title=title, body=body, files=files, data=data if isinstance(data, dict) else {})
