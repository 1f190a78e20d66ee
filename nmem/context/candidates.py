"""Collects and scores the context items that a session may be told, each with a reason. On the hook's path.

Files come first: which of them the session will edit decides which episodes tell of them, and which learnings matter.
"""

from __future__ import annotations

import os

from nmem.context import known, pinned, places, selection_store, work
from nmem.context.alike import speaking
from nmem.context.continuing import chosen_thread, continued
from nmem.context.episodes import edited, last_work, related
from nmem.context.items import EPISODE, FILE, PIN, THREAD, Item, file_told, tokens
from nmem.context.pinned import heed, heeded
from nmem.context.pointing import latest
from nmem.context.quiet import quiet
from nmem.context.rank import AT_START, ECHOED, FEATURES, NAMES, SPOKEN, choose, echo, named, rank, spoken
from nmem.names import told
from nmem.retrieval.terms import file_like, mentions
from nmem.threads.leaning import of_a_branch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.items import Item
    from nmem.context.present import Present
    from nmem.context.rank import Ranking

SURE = 0.2
"""A file this likely to be edited brings what is known of it."""
_MEANT = 0.5
"""The chance that a file is edited which the prompt gives by its path."""
_ECHOES, _OF_EACH, _LATER = 8, 5, 0.3
"""Episodes that speak of the prompt whose files are looked at, files of each, and how much less the next one counts."""
_READ = 6_000
"""Characters of a prompt in which paths are looked for."""
_MAKES = frozenset(("new", "create", "creates", "created", "creating", "neu", "neue", "nouveau", "nuevo", "crear"))
"""Words in the line of a file that is to be made."""
_SPACED = {ord(char): " " for char in "*:(),.`#-"}
_WORDS = {
    "named": "the prompt names it", "text": "earlier work that spoke of the same edited it",
    "name": "its name has words of the prompt", "branch": "edited on branches with similar names",
    "recent": "edited lately", "long": "edited before", "read": "read lately",
}  # fmt: skip


def gathered(db: Connection, present: Present) -> list[Item]:
    """Items for a present, those of a kind by score; not yet packed. Raises sqlite3.Error."""
    chosen = heed(db, present)
    if present.prompt and quiet(present.prompt):
        goes_on = continued(db, present).item
        out = [*pinned.pins(db, present, chosen), *([goes_on] if goes_on else [])]
        return heeded(out, present, chosen)
    ranking = rank(db, present.project_id, present.prompt, present.branch)
    only = chosen_thread(db, present)
    if only is not None:
        _of_thread(db, ranking, only)
    present.named = ranking.named
    paths = given_paths(present.prompt, ranking)
    likely = [ranking.paths[number] for chance, number in ranking.files[: 2 * NAMES] if chance >= SURE]
    out = pinned.pins(db, present, chosen)
    if present.prompt:
        out += _work(db, present)
    else:
        out += work.thread(db, present)
        out += work.left_open(db, present, only)
    if only is None or present.prompt:
        out += known.learnings(db, present, likely)
    out += pinned.markers(db, present, only)
    told_of = heeded(out, present, chosen)  # of what a person excluded nothing speaks for a file
    beside = any(item.kind in (THREAD, EPISODE) for item in told_of)
    if present.prompt and only is None and not (ranking.named or elsewhere(ranking, present.prompt)):
        echo(ranking, _echoed(db, ranking, present))
    if ranking.named or not (paths or _not_of_files(present.prompt)):
        out += _files(db, ranking, present, files_to_name(db, ranking, present, beside=beside))
    out += _unheard(db, present, paths, NAMES - len(ranking.named))
    return _useful(db, present.project_id, heeded(out, present, chosen))


def _work(db: Connection, present: Present) -> list[Item]:
    """The episode that the session goes on with, and those that speak of what it asks; of a chosen thread its own."""
    goes_on = continued(db, present)
    first = [goes_on.item] if goes_on.item else []
    left = work.left_asked(db, present, first, goes_on.thread_id)
    return first + left + related(db, present, first, goes_on.thread_id)


def _of_thread(db: Connection, ranking: Ranking, thread_id: int) -> None:
    """Leave the files that a thread touched: of a chosen thread alone is told."""
    touched = selection_store.touched_in(db, thread_id)
    ranking.files = [(chance, number) for chance, number in ranking.files if ranking.paths[number] in touched]


def _echoed(db: Connection, ranking: Ranking, present: Present) -> dict[int, float]:
    """File -> the parts of the prompt of which the episodes speak that edited it, those edited most first, added up."""
    numbers = {path: number for number, path in ranking.paths.items()}
    never = present.unsaid.never if present.unsaid else lambda _: False
    found = [one for one in speaking(db, present)[:_ECHOES] if not never(one.unit_id)]
    out: dict[int, float] = {}
    by_unit = edited(db, present, [one.unit_id for one in found])
    for one in found:
        for place, path in enumerate(by_unit.get(one.unit_id, ())[:_OF_EACH]):
            if path in numbers:
                out[numbers[path]] = out.get(numbers[path], 0.0) + one.share / (1.0 + _LATER * place)
    return out


def _not_of_files(prompt: str) -> bool:
    """Whether the subject of a prompt stands elsewhere: in what the checkout is at (its last commit, its changes, the
    review of them), or behind an address."""
    return bool(prompt) and ("://" in prompt or bool(latest(prompt)) or of_a_branch(prompt))


def files_to_name(db: Connection, ranking: Ranking, present: Present, *, beside: bool = False) -> list[int]:
    """Which files are worth their names now, beside those that the session has been told of or worked on.

    A file that is not in the checkout any more is not named. Raises sqlite3.Error.
    """
    if elsewhere(ranking, present.prompt):
        return []
    over = {*present.given_files, *present.hot_files}
    ranked = [(chance, number) for chance, number in ranking.files if ranking.paths[number] not in over]
    most = NAMES if present.prompt else AT_START
    most = max(0, most - len(present.given_files))
    numbers = choose(ranking, ranked, asked=bool(present.prompt), beside=beside)
    if present.over or not numbers:
        return numbers[:most]
    folder = selection_store.root(db, present.project_id, present.session_id)
    present.moved = places.called(db, present.project_id, folder, [ranking.paths[number] for number in numbers])
    by_path = {present.moved.get(ranking.paths[one], ranking.paths[one]): one for one in numbers}
    return [by_path[path] for path in places.there(folder, by_path, most) if path not in over]


def _unheard(db: Connection, present: Present, paths: Sequence[str], most: int) -> list[Item]:
    """Of the paths that the prompt gives for files that no session worked on, those that are in this checkout."""
    folder = "" if present.over or not paths else selection_store.root(db, present.project_id, present.session_id)
    if most <= 0 or not folder or not os.path.isdir(folder):  # noqa: PTH112 - pathlib costs a hook too much
        return []  # whether there are such files, nobody knows
    over = {*present.given_files, *present.hot_files}
    there = places.there(folder, [path for path in paths if path not in over], most)
    return [
        Item(f"file/{path}", FILE, text, files=(path,), score=_MEANT, reason=_WORDS["named"])
        for path in there
        if (text := told(path))
    ]


def given_paths(prompt: str, ranking: Ranking) -> list[str]:
    """Paths with a folder that a prompt gives for files that are there already, and that no session worked on."""
    known = {path.lower() for path in ranking.paths.values()}
    out: dict[str, None] = {}
    for line in prompt[:_READ].replace("\\", "/").split("\n"):
        low = line.lower()
        if "/" not in line or len(low) != len(line) or _MAKES.intersection(low.translate(_SPACED).split()):
            continue
        for word in mentions(line):
            at = low.find(word)
            dot = at > 0 and line[at - 1] == "." and (at == 1 or line[at - 2] not in "./")
            path = line[at - dot : at + len(word)].removeprefix("./")
            plain = at >= 0 and "/" in path[1:-1] and path[0] not in "/~" and path.isascii() and file_like(path)
            plain = plain and not any(mark in path for mark in ("://", "..", "@"))
            plain = plain and not any("." in part[1:] for part in path.split("/")[:-1])
            if plain and not any(_same(path.lower(), one) for one in known):
                out[path] = None
    return [path for path in out if not places.noise("/" + path)]


def _same(given: str, known: str) -> bool:
    """Whether a path in a prompt may stand for a file that is known: one of them ends with the other."""
    return given == known or known.endswith("/" + given) or ("/" in known and given.endswith("/" + known))


def elsewhere(ranking: Ranking, prompt: str) -> bool:
    """Whether a prompt does not say which of the project's work it is about, be it that it is about something else."""
    return bool(prompt) and not ranking.meant


def _files(db: Connection, ranking: Ranking, present: Present, numbers: list[int]) -> list[Item]:
    """Files as items, each with its reason and the last work on it."""
    chances = {number: chance for chance, number in ranking.files}
    last = last_work(db, present, [ranking.paths[number] for number in numbers])
    out = []
    for number in numbers:
        path = ranking.paths[number]
        values = ranking.features[number]
        top = max(range(1, 4) if spoken(ranking, number) else range(len(FEATURES)), key=values.__getitem__)
        if ranking.echoed.get(number, 0.0) >= ECHOED and values[top] < SPOKEN:
            top = FEATURES.index("text")
        reason = _WORDS["named" if named(values) else FEATURES[top]] if max(values) else "one of few files"
        name = present.moved.get(path, path)
        if text := told(name):
            was = f"it was {told(path)}" if name != path and told(path) else ""
            reason = "; ".join(filter(None, (was, reason, last.get(path, ""))))
            one = Item(f"file/{name}", FILE, text, files=(name,), score=chances[number], reason=reason)
            one.tokens = tokens(file_told(one))
            out.append(one)
    return out


def _useful(db: Connection, project_id: int, items: list[Item]) -> list[Item]:
    """Scores by what became of the same items before: what was of use rises a little, what never was sinks."""
    found = usefulness_factors(db, project_id, [item.id for item in items])
    for item in items:
        if item.kind not in (FILE, PIN):
            item.score = min(1.0, item.score * found.get(item.id, 1.0))
    return items


START_TOKENS, PROMPT_TOKENS = 1500, 800
"""Budgets where the person's configuration names none: when a session starts, and at a prompt."""


def select(db: Connection, present: Present, budget: int) -> list[Item]:
    """The items to tell, in the order in which they are told, together within `budget` tokens; empty: say nothing.

    Without a prompt in the present, what a session that starts may need. Raises sqlite3.Error.
    """
    from nmem.context.compose import packed  # on use: start-up stays short

    return packed(gathered(db, present), budget)


LEAST_FACTOR, MOST_FACTOR = 0.4, 1.2
"""An item that never was of use sinks, but a likely one is not silenced by that alone: sessions differ."""
_DOUBT = 2.0
"""Times used, of twice as many given, that every item is credited with: a few sessions move little."""


def usefulness_factor(given: int, used: int) -> float:
    """LEAST_FACTOR..MOST_FACTOR; 1 for an item of which nothing is known."""
    return min(MOST_FACTOR, max(LEAST_FACTOR, 2.0 * (used + _DOUBT) / (given + 2.0 * _DOUBT)))


def usefulness_factors(db: Connection, project_id: int, items: Sequence[str]) -> dict[str, float]:
    """Item -> factor, for those that were given before; for any other it is 1. Raises sqlite3.Error."""
    if not items:
        return {}
    rows = selection_store.usefulness(db, project_id, items)
    return {item: usefulness_factor(given, used) for item, given, used in rows}
