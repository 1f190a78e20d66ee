"""A file and lines of it in, the reasons of these lines out: prompt, episode, decisions, failures, tests, commit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path, PurePath, PureWindowsPath
from sqlite3 import Connection

from capture.project import resolve
from capture.redaction import redact
from capture.shell.tables import words
from capture.text import clean
from nmem.blame import git, match, store
from nmem.blame.git import Blamed, Commit
from nmem.blame.match import Claim, Made
from nmem.blame.store import Ran
from nmem.context.places import forward
from nmem.context.selection_store import root
from nmem.decisions import store as decided
from nmem.errors import NmemError
from nmem.read import episodes, file_history
from nmem.read.file_history import marked
from nmem.read.store import project_of
from nmem.store.store import of_folder
from nmem.text import printable

_QUOTE, _LINES = 400, 6
_WORD = re.compile(r"[^\W_]{4,}|\d{3,}")
_SHARED = 2
"""Words that a decision has in common with lines that it is about; the file's name is enough."""
_COMMON = frozenset(words("this return else elif from import none null true false const function class void with"))


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision of the episode that speaks of these lines."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Reason:
    """Why lines are as they are."""

    unit_id: int
    """0: the episode is not known yet."""
    episode: str
    session_id: str
    client: str
    prompt_id: int
    prompt: str
    edit_id: int
    """The observation."""
    edited_at: int
    committed_in: int
    """The episode that made the commit; 0: none is known, or there is no commit."""
    replaced: tuple[str, ...] = ()
    """The beginning of what the edit took out."""
    failed: tuple[Ran, ...] = ()
    """What failed on the file before, in the episode, the newest first."""
    tested: Ran | None = None
    """The last run of its tests after it."""
    decisions: tuple[Decided, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines with one reason, or with none."""

    first: int
    last: int
    lines: tuple[str, ...]
    """The beginning of them, without secrets."""
    commit: Commit | None
    """None: they are not committed yet, or there is no repository."""
    reason: Reason | None
    seen_in: int = 0
    """The episode that made the commit of lines that no recorded edit has."""
    tracked: bool = True
    """Whether the file lies in a repository."""
    added_by: int = 0
    """The observation of an edit that had added the text before somebody committed it outside a recorded session."""
    added_in: int = 0
    """The episode of that; 0: it is not known yet."""

    @property
    def name(self) -> str:
        """Which lines, as a person says it."""
        return f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of the lines asked for."""

    file: str
    lines: int
    blocks: tuple[Block, ...]
    blank: int = 0
    """Of the lines; none of them is ever explained."""

    @property
    def written(self) -> int:
        """Lines that are not blank."""
        return self.lines - self.blank

    @property
    def explained(self) -> int:
        """Lines with a reason."""
        return sum(one.last - one.first + 1 for one in self.blocks if one.reason)


def blame(db: Connection, path: str, first: int = 1, last: int = 0) -> Answer:
    """The reasons of the lines `first` to `last` of a file, 0 being its last. Raises NmemError."""
    found = git.blamed(path)
    if not found.lines and last == 0:
        return Answer(found.name, 0, ())
    if not 1 <= first <= (last or len(found.lines)) <= len(found.lines):
        size = len(found.lines)
        raise NmemError(f"{printable(path)} has {size} line{'s' * (size != 1)}")
    lines = [redact(clean(text)).rstrip() for text in found.lines]
    place = resolve(str(Path(path).parent))
    project = of_folder(db, place.key, place.root)
    known = _claimed(db, found, lines, project, place.root) if project is not None else ({}, {}, {})
    wanted = range(first - 1, last or len(lines))
    blocks = tuple(_blocks(db, found, lines, wanted, *known))
    return Answer(found.name, len(lines), blocks, lines.count(""))


def of_session(db: Connection, session_id: str, path: str) -> str:
    """Where a file of a session lies; a path with a drive stays. Raises NmemError: no such folder on this machine."""
    if PureWindowsPath(path).drive:
        return path
    project = project_of(db, session_id)
    folder = "" if project is None else root(db, project, session_id)
    return str(Path(folder or ".") / path)


def _claimed(
    db: Connection, found: Blamed, lines: Sequence[str], project: int, folder: str
) -> tuple[dict[int, Claim], dict[int, Claim], dict[str, Made]]:  # fmt: skip
    """The claimed lines, those that an edit had added before somebody else's commit, and the commits seen made."""
    seen = store.commits(db, project)
    known = {one.hash: one for one in (*found.history, *found.commits.values())}

    @cache
    def kept(name: str) -> bool:
        return git.reached(found.root, name)

    @cache
    def held(name: str) -> Counter[str] | None:
        texts = git.at(found.root, name, known[name].name or found.name)
        return None if texts is None else Counter(text.rstrip() for text in texts)

    def stood(name: str, place: int) -> int:
        texts = held(name)
        return 1 if texts is None else texts[found.lines[place].rstrip()]

    made = {name: one for name, commit in known.items() if (one := match.recorded(commit, seen, kept))}
    inside = Blamed(forward(folder), _inside(found, folder), found.lines, found.hashes, found.commits, found.history)
    names = dict.fromkeys([inside.name, *(one.name for one in found.commits.values() if one.hash in made)])
    edits = store.edits(db, project, names, [folder, *file_history.roots(db, project)])
    return match.claims(inside, lines, edits, made, stood), match.added_before(inside, lines, edits, made), made


def _inside(found: Blamed, folder: str) -> str:
    """The file relative to the project's root, as records have it."""
    whole = PurePath(found.root) / found.name
    return forward(str(whole.relative_to(folder))) if found.root and whole.is_relative_to(folder) else found.name


def _blocks(
    db: Connection, found: Blamed, lines: Sequence[str], wanted: range, claimed: dict[int, Claim],
    before: dict[int, Claim], made: dict[str, Made],
) -> Iterator[Block]:  # fmt: skip
    def why(place: int) -> tuple[str, str, int, int]:
        one, other = claimed.get(place), before.get(place)
        who = (one.edit.session_id, one.edit.prompt_id) if one else ("", -1)
        return found.hashes[place], *who, other.edit.id if other else 0

    for (name, *_), group in groupby(wanted, why):
        places = list(group)
        texts = [lines[place] for place in places]
        one, other = claimed.get(places[0]), before.get(places[0])
        commit, seen = found.commits.get(name), made.get(name)
        if commit is not None:
            commit = replace(commit, author=redact(clean(commit.author)), subject=redact(clean(commit.subject)))
        shown = tuple([text for text in texts if text][:_LINES])
        reason = _reason(db, [claimed[place] for place in places], texts) if one else None
        yield Block(places[0] + 1, places[-1] + 1, shown, commit, reason, seen.unit_id if seen and not one else 0,
                    bool(found.root), *((other.edit.id, other.edit.unit_id) if other else ()))  # fmt: skip


def _reason(db: Connection, claimed: Sequence[Claim], texts: Sequence[str]) -> Reason:
    """The reason of lines of one prompt: told of the newest of its edits that made them."""
    one = max(claimed, key=lambda each: (each.edit.at, each.edit.id))
    edit, made = one.edit, one.made
    first = min((each.edit for each in claimed), key=lambda each: (each.at, each.id))
    said = store.asked(db, edit)
    row = episodes.rows(db, [edit.unit_id]).get(edit.unit_id) if edit.unit_id else None
    return Reason(
        edit.unit_id, " ".join(row.name.split())[:_QUOTE] if row else "", edit.session_id, said.client,
        edit.prompt_id, " ".join(said.text.split())[:_QUOTE], edit.id, edit.at, made.unit_id if made else 0,
        edit.removed[:_LINES] if first is edit else (), tuple(store.failed_before(db, first)),
        store.tested_after(db, edit), tuple(_decisions(db, edit.unit_id, edit.name, texts)) if edit.unit_id else (),
    )  # fmt: skip


def _decisions(db: Connection, unit_id: int, name: str, texts: Sequence[str]) -> Iterator[Decided]:
    """The episode's decisions that name the file, or have words in common with the lines."""
    here, base = _words(" ".join(texts)), PurePath(name).name.lower()
    said = [(f"decision/{one.id}", one.text, f"{one.question} {one.text} {one.restated}")
            for one in decided.of_units(db, [unit_id])]  # fmt: skip
    said += [(f"obs/{one.id}", one.text, one.text) for one in marked(db, unit_id)]
    for number, text, whole in said:
        if base in whole.lower() or len(_words(whole) & here) >= _SHARED:
            yield Decided(number, " ".join(text.split())[:_QUOTE])


def _words(text: str) -> set[str]:
    """The words of a text, those of names apart: totalAfterTax and total_after_tax are three each."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).lower()
    return set(_WORD.findall(apart)) - _COMMON
