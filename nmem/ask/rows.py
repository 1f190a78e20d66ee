"""Reads what was said about a question's subject: turns with their decisions, stories, learnings, /when entries.

Search and the retrieval engine name the episodes; everything said in them is read, so that an answer as short as
"Seven." is found by the question it answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from sqlite3 import Connection

from nmem.decisions import store as decided
from nmem.errors import NmemError
from nmem.learn import read as learned
from nmem.recall import resolve
from nmem.retrieval import engine
from nmem.search import decisions, kinds
from nmem.search.search import search
from nmem.store.store import with_folders
from nmem.text import texts

DECISION, PROMPT, CLOSING, STORY, LEARNING = "decision", "prompt", "closing", "story", "learning"
RECALL = decisions.KIND
_EPISODES = 24
"""Episodes that are read: the best of search and of the engine."""
_HITS, _SECONDS = 60, 1.0
_DECIDED = ("The user decided", "The user corrected", "Plan accepted by the user")
"""How a story tells what a person settled: that is quoted from the prompt itself."""
_CUT = 12_000
"""Characters of a text that are read."""
_PROJECTS = 8
"""Projects whose written decisions and episodes are looked at where none is named: those worked on last."""
_ENTRIES = 4
"""Entries of a project's written decisions."""


@dataclass(frozen=True, slots=True)
class Said:
    """A text of the records that sentences may be quoted from."""

    id: str
    """As `nmem show` takes it; decision/N of what was decided."""
    kind: str
    at: int
    session_id: str
    project_id: int
    project: str
    unit_id: int
    """The episode; 0 for none."""
    text: str
    before: str = ""
    """What was said just before: what it answers."""
    restated: str = ""
    """How the agent said a decision again."""
    superseded: decided.Later | None = None
    row: str = ""
    """The prompt that says a decision."""
    answered: str = ""
    """The decision by which the person answered an agent's turn."""
    path: str = ""


def read(db: Connection, text: str, about: str, now: int, project: int | None) -> list[Said]:
    """All that was said where a question's subject was talked about; `about`: its informative words.

    Raises sqlite3.Error.
    """
    units, learnings = _found(db, text, about, now, project)
    turns = _turns(db, units)
    later = [one.superseded.id for one in turns if one.superseded]
    held = [one for number in dict.fromkeys(later) if (one := decided.get(db, number)) and one.unit_id not in units]
    turns += _turns(db, [one.unit_id for one in held])
    return turns + _stories(db, units) + _learnings(db, learnings, now) + _written(db, about, project)


def _found(
    db: Connection, text: str, about: str, now: int, project: int | None
) -> tuple[list[int], list[int]]:  # fmt: skip
    """The episodes in which it may be said, the best first, and learnings."""
    hits = search(db, about, now, limit=_HITS, seconds=_SECONDS, projects=() if project is None else (project,)).hits
    prompts = [int(hit.id.partition("/")[2]) for hit in hits if hit.kind in (kinds.PROMPT, kinds.REASONING)]
    of = decided.units_of(db, prompts)
    units = [hit.episode or of.get(int(hit.id.partition("/")[2])) or 0 for hit in hits
             if hit.kind in (kinds.PROMPT, kinds.REASONING, kinds.EPISODE)]  # fmt: skip
    places = [project] if project is not None else [one[0] for one in with_folders(db)[:_PROJECTS]]
    near = sorted((one for place in places for one in engine.related(db, place, text, _EPISODES)),
                  key=lambda one: -one.share)  # fmt: skip
    best = [unit for pair in zip(_padded(units), _padded([one.unit_id for one in near]), strict=False) for unit in pair]
    chosen = [unit for unit in dict.fromkeys(best) if unit][:_EPISODES]
    return chosen, [int(hit.id.partition("/")[2]) for hit in hits if hit.kind == kinds.LEARNING]


def _padded(units: Sequence[int]) -> list[int]:
    few = list(dict.fromkeys(units))[:_EPISODES]
    return few + [0] * (_EPISODES - len(few))


def _turns(db: Connection, units: Iterable[int]) -> list[Said]:
    """Every turn of some episodes, with what it says just before; a prompt that settles something as the decision."""
    said = decided.turns_of_units(db, units, _CUT)
    settled = {one.prompt_id: one for one in decided.of_units(db, units)}
    later = decided.superseded(db, [f"prompt/{row[4]}" for row in said])
    out: list[Said] = []
    for before, row in pairwise([None, *said]):
        unit_id, session_id, project_id, project, number, at, source, text = row
        asked = str(before[-1]) if before is not None and before[0] == unit_id and before[6] != source else ""
        name, one = f"prompt/{number}", settled.get(number)
        kind = PROMPT if source == "user" else CLOSING
        turn = Said(name, kind, at, session_id, project_id, project, unit_id, text, asked, "", later.get(name))
        if one is not None:
            turn = replace(turn, id=f"{DECISION}/{one.id}", row=name, kind=DECISION, text=one.text,
                           before=one.question or asked, restated=one.restated, superseded=one.superseded)  # fmt: skip
            if asked and out[-1].kind == CLOSING:
                out[-1] = replace(out[-1], answered=turn.id)
        out.append(turn)
    return out


def _stories(db: Connection, units: Sequence[int]) -> list[Said]:
    """What was found out in some episodes, and what went wrong, as their stories tell it; decisions have rows."""
    later = decided.superseded(db, [f"episode/{unit_id}" for unit_id in units])
    out = []
    for unit_id, session_id, project_id, project, at, found, notes in decided.stories(db, units):
        name = f"episode/{unit_id}"
        out += [
            Said(name, STORY, at, session_id, project_id, project, unit_id, text, superseded=later.get(name))
            for text in (*texts(found), *texts(notes))
            if text.strip() and not text.startswith(_DECIDED)
        ]
    return out


def _learnings(db: Connection, numbers: Sequence[int], now: int) -> list[Said]:
    """Patterns, each with what put it right."""
    out = []
    for one in learned.of(db, numbers, now).values():
        text = f"{one.title}. {one.remedy.text}" if one.remedy else one.title
        out.append(Said(f"learning/{one.id}", LEARNING, one.last_at, "", one.project_id, one.project, 0, text))
    return out


def _written(db: Connection, about: str, project: int | None) -> list[Said]:
    """Entries of the projects' written decisions that the question may mean."""
    places = [row for row in with_folders(db) if project in (None, row[0])][:_PROJECTS]
    return [one for number, name, root in places for one in _entries(number, name, root, about)]


def written_in(root: str, about: str) -> list[Said]:
    """Entries of the written decisions of a folder whose project has no session."""
    return _entries(0, Path(root).name, root, about)


def _entries(number: int, name: str, root: str, about: str) -> list[Said]:
    """Entries of the written decisions of a project."""
    try:
        found = decisions.OPEN.of(root)
    except NmemError:
        return []  # `nmem recall check` says what is wrong with them
    if found is None:
        return []
    resolver = resolve.Resolver(found.recall)
    first = resolver.ask(about, limit=_ENTRIES)
    answers = [first] if first.good else [resolver.ask(each.link) for each in first.offers[:_ENTRIES]]
    return [
        Said(f"{RECALL}/{one.entry[1:]}", RECALL, found.times.get(one.file, 0), "", number, name, 0,
             f"{one.heading}.\n\n{one.body}", path=f"{found.recall.place.folder}/{one.file}")
        for one in answers if one.good and one.body and one.entry
    ]  # fmt: skip
