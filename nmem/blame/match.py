"""Lines and recorded edits in, the edit that made each line out: by its text, and only where that is evidence.

A line is claimed where its commit is one that the records saw made, or where it is in none yet, and where an edit
since the commit before added its text: once, of some length, not taken out again, and nobody else's line put back.
Short lines and those with several origins are claimed only between two claimed lines, where they stand in the file as
they do in the edit. Blank ones never are.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nmem.blame.git import UNCOMMITTED, Blamed, Commit

LETTERS = 12
"""Letters and digits from which a line is evidence by its text alone."""
_LEAST_HASH = 7
"""Characters from which an abbreviated hash is enough without the subject."""
_WRITTEN = 120_000
"""Milliseconds between a commit and its record: hooks report when the whole command line is over."""
_AHEAD = 5_000
_FOREVER = 2**62
_STANDS_IN = re.compile(r"\(\d+ (?:characters|more lines)\)\Z")
"""What is stored in the place of a long line, or of lines that had no room."""
_HIDDEN = "[REDACTED:"
"""Two secrets look the same when they are hidden."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A recorded edit of the file."""

    id: int
    at: int
    session_id: str
    prompt_id: int
    """0: not known."""
    unit_id: int
    """0: of no episode yet."""
    root: str
    """The checkout that it was made in."""
    name: str
    """The file, relative to that."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    replaces: bool = False
    """It wrote the whole file, and nobody said what stood there before: evidence of a new file only."""
    created: bool = False
    """The file was not there before it: what was made earlier is gone."""
    cut: bool = False
    """Not all that it took out and added was stored."""


@dataclass(frozen=True, slots=True)
class Made:
    """A commit that was seen made in a session."""

    hash: str
    at: int
    subject: str
    session_id: str
    unit_id: int
    root: str


@dataclass(frozen=True, slots=True)
class Claim:
    """The edit that made a line, the place in what it added, and the record of the commit; none: not committed yet."""

    edit: Edit
    place: int
    made: Made | None


def recorded(commit: Commit, made: Sequence[Made], kept: Callable[[str], bool] = lambda _name: False) -> Made | None:
    """The record of a commit: by its hash; of one that was amended or rebased, by its time and subject.

    `kept`: whether a commit is still in the history: then the record is of that one.
    """
    for one in made:
        enough = len(one.hash) >= _LEAST_HASH or (one.hash and _same(one.subject, commit.subject))
        if enough and commit.hash.startswith(one.hash):
            return one
    for one in made:
        near = _same(one.subject, commit.subject) and -_AHEAD <= one.at - commit.at <= _WRITTEN
        if near and not (one.hash and kept(one.hash)):
            return one
    return None


def _same(one: str, other: str) -> bool:
    return bool(one.strip()) and one.strip() == other.strip()


def strong(text: str) -> bool:
    """Whether a line's text says by itself where it is from."""
    return sum(map(str.isalnum, text)) >= LETTERS and not _STANDS_IN.fullmatch(text.strip()) and _HIDDEN not in text


def claims(
    found: Blamed, lines: Sequence[str], edits: Sequence[Edit], made: Mapping[str, Made],
    stood: Callable[[str, int], int] = lambda _commit, _place: 0,
) -> dict[int, Claim]:  # fmt: skip
    """The claimed lines by their place. `lines` are the file's as the records have them; `made` by the commit's hash;
    `edits` the oldest first; `stood`: how often the line of a place stands in the file as a commit has it, one where
    that cannot be read."""
    often, twice = Counter(lines), _by_several(edits)
    out: dict[int, Claim] = {}
    undone: dict[str, set[str]] = {}
    for commit in dict.fromkeys(found.hashes):
        one = made.get(commit)
        if commit != UNCOMMITTED and one is None:
            continue
        begin, end = window(found, commit, made)
        kept = [edit for edit in _of(found, commit, one, edits) if begin < edit.at <= end]
        first = found.history[-1].hash if found.history else UNCOMMITTED
        alive = _alive(kept, new=commit == first)
        later = undone[commit] = {text for edit in edits if edit.at > end for text in edit.removed}
        for place, text in enumerate(lines):
            if found.hashes[place] != commit or not strong(text) or text in twice or text in later:
                continue
            if not (origins := alive.get(text)):
                continue
            then = stood(commit, place) if commit != UNCOMMITTED else 0
            told = _single(origins, max(often[text], then))
            if told and not any(stood(each.hash, place) for each in _foreign(found, commit, made, told[0].at, end)):
                out[place] = Claim(*told, one)
    _between(found, lines, out, edits)
    return out


def added_before(
    found: Blamed, lines: Sequence[str], edits: Sequence[Edit], made: Mapping[str, Made]
) -> dict[int, Claim]:  # fmt: skip
    """Of lines whose commit nobody saw made: the last edit before it that added the same text. That edit is told, but
    it is not said to have made the line: a person may have typed it."""
    foreign = [place for place, commit in enumerate(found.hashes) if commit != UNCOMMITTED and commit not in made]
    wanted = {lines[place] for place in foreign if strong(lines[place])}
    added: dict[str, list[Origin]] = {}
    for edit in edits:
        for place, text in enumerate(() if edit.replaces else edit.added):
            if text in wanted and text not in edit.removed:
                added.setdefault(text, []).append((edit, place))
    earlier = {
        commit: {edit.id for edit in _of(found, commit, None, edits) if edit.at < found.commits[commit].at + 1000}
        for commit in {found.hashes[place] for place in foreign}
    }
    out: dict[int, Claim] = {}
    for place in foreign:
        known = [one for one in added.get(lines[place], ()) if one[0].id in earlier[found.hashes[place]]]
        if known:
            out[place] = Claim(*known[-1], None)
    _between(found, lines, out, edits)
    return out


def window(found: Blamed, commit: str, made: Mapping[str, Made]) -> tuple[int, int]:
    """From when to when an edit may have made a line of a commit: since the recorded commit of the file before it."""
    end = made[commit].at if commit != UNCOMMITTED else _FOREVER
    hashes = [one.hash for one in found.history]
    before = hashes[hashes.index(commit) + 1 :] if commit in hashes else hashes if commit == UNCOMMITTED else []
    return max((made[one].at for one in before if one in made and made[one].at < end), default=0), end


def _foreign(found: Blamed, commit: str, made: Mapping[str, Made], begin: int, end: int) -> Iterator[Commit]:
    """Commits of the file that nobody recorded, between an edit and the line's own: a text that they hold was taken
    out and put back, or moved, since."""
    hashes = [one.hash for one in found.history]
    before = found.history[hashes.index(commit) + 1 :] if commit in hashes else found.history
    return (one for one in before if one.hash not in made and begin - 1000 < one.at <= end)


def _of(found: Blamed, commit: str, one: Made | None, edits: Iterable[Edit]) -> Iterator[Edit]:
    """The edits of the file in the checkout in which the commit was made, under its name then or now."""
    root = one.root if one else found.root
    names = {found.name, found.commits[commit].name if commit in found.commits else found.name}
    return (edit for edit in edits if edit.root == root and edit.name in names)


def _by_several(edits: Iterable[Edit]) -> set[str]:
    """The texts that edits of several prompts added at some time: whose a line with one is, its text does not say."""
    first: dict[str, tuple[str, int]] = {}
    out: set[str] = set()
    for edit in edits:
        who = edit.session_id, edit.prompt_id
        out |= {text for text in edit.added if first.setdefault(text, who) != who and text not in edit.removed}
    return out


Origin = tuple[Edit, int]


def _alive(edits: Iterable[Edit], *, new: bool) -> dict[str, list[Origin]]:
    """What edits added and did not take out again, by its text. A line that was somebody else's and is put back is
    not added, nor is one that an edit both takes out and adds."""
    alive: dict[str, list[Origin]] = {}
    whose: set[tuple[str, int]] = set()
    owed: Counter[str] = Counter()
    for edit in edits:
        who = edit.session_id, edit.prompt_id
        if edit.created:  # what stood there is gone
            alive, whose = {}, set()
        elif (edit.replaces or edit.cut) and whose - {who}:  # what others made may be gone, and be put back by this one
            alive, whose = _own(alive, edit), {who}
        gone = Counter(edit.removed) - Counter(edit.added)
        for text in gone.elements():
            if alive.get(text):
                alive[text].pop()
            else:
                owed[text] += 1
        for place, text in enumerate(edit.added):
            if text in edit.removed or not strong(text) or (edit.replaces and not new):
                continue
            if owed[text]:
                owed[text] -= 1
            else:
                alive.setdefault(text, []).append((edit, place))
                whose.add(who)
    return alive


def _own(alive: Mapping[str, list[Origin]], edit: Edit) -> dict[str, list[Origin]]:
    """What the prompt of an edit made of all that is there."""
    who = edit.session_id, edit.prompt_id
    own = {text: [one for one in all_ if (one[0].session_id, one[0].prompt_id) == who] for text, all_ in alive.items()}
    return {text: origins for text, origins in own.items() if origins}


def _single(origins: Sequence[Origin], times: int) -> Origin | None:
    """Where a text is from that stands in the file so often: from one prompt, which added it as often or more."""
    same = len({(edit.session_id, edit.prompt_id) for edit, _ in origins}) == 1
    return origins[-1] if same and times <= len(origins) else None


def _between(found: Blamed, lines: Sequence[str], out: dict[int, Claim], edits: Sequence[Edit]) -> None:
    """Claim what stands between two claimed lines of one commit as it does between them in their one edit.

    Not where that edit found such a line there, or a later one took it out: another one may stand there. Blank lines
    are never claimed: no edit is stored with them.
    """
    last_gone = {text: (edit.at, edit.id) for edit in edits for text in edit.removed}
    for before, after in itertools.pairwise(sorted(out)):
        one, other = out[before], out[after]
        if one.edit is not other.edit or len(set(found.hashes[before : after + 1])) > 1:
            continue
        between = {place: lines[place] for place in range(before + 1, after) if lines[place]}
        if tuple(between.values()) != one.edit.added[one.place + 1 : other.place]:
            continue
        here = one.edit.at, one.edit.id
        if not any(last_gone.get(text, (0, 0)) >= here or _HIDDEN in text for text in between.values()):
            out.update(dict.fromkeys(between, one))
