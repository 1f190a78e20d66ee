"""All that the present could be told, each with a score and a reason, nothing twice. On the hook's path.

Files come first: which of them the session will edit decides which episodes tell of them, and which learnings matter.
"""

from __future__ import annotations

from nmem.context import known, pinned, places, work
from nmem.context.choose import NAMES, START_NAMES, choose, named
from nmem.context.continuing import chosen_thread, continued
from nmem.context.episodes import YOUNG, near, related
from nmem.context.items import EPISODE, FILE, LEARNING, NEXT, PIN, THREAD, Item, file_told, subject, tokens
from nmem.context.quiet import quiet
from nmem.context.rank import FEATURES, rank
from nmem.context.usefulness_factor import factors
from nmem.names import told
from nmem.retrieval import engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.context.present import Present
    from nmem.context.rank import Ranking

SURE = 0.2
"""A file this likely to be edited brings what is known of it."""
_SPEAKS = (THREAD, EPISODE, NEXT, LEARNING)
"""Kinds that show that the memory knows of the work asked for."""
ALONE = 0.15
"""Where nothing of the memory speaks of the like: the least chance of a file that the prompt does not name."""
_WORDS = {
    "named": "the prompt names it", "text": "earlier work that spoke of the same edited it",
    "name": "its name has words of the prompt", "branch": "edited on branches of a like name",
    "recent": "edited lately", "long": "edited often", "read": "read lately",
}  # fmt: skip


def gathered(db: Connection, present: Present) -> list[Item]:
    """Items for a present, those of a kind by score; not yet packed. Raises sqlite3.Error."""
    chosen = heed(db, present)
    if present.prompt and quiet(present.prompt):
        goes_on = continued(db, present).item
        out = [*pinned.pins(db, present, chosen), *([goes_on] if goes_on else [])]
        return _once(out, present, chosen)
    ranking = rank(db, present.project_id, present.prompt, present.branch)
    only = chosen_thread(db, present)
    if only is not None:
        _of_thread(db, ranking, only)
    numbers = files_to_name(db, ranking, present)
    likely = [ranking.paths[number] for chance, number in ranking.files[: len(numbers) + NAMES] if chance >= SURE]
    out = pinned.pins(db, present, chosen)
    if present.prompt:
        out += _work(db, present)
    else:
        out += work.thread(db, present)
        out += work.left_open(db, present, only)
    if only is None or present.prompt:
        out += known.learnings(db, present, likely)
    out += pinned.markers(db, present, only)
    speaks = any(item.kind in _SPEAKS for item in out)
    if not speaks and engine.size(db, present.project_id) >= YOUNG and not near(db, present):
        numbers = _alone(ranking, numbers)
    out += _files(ranking, numbers)
    return _useful(db, present.project_id, _once(out, present, chosen))


def _alone(ranking: Ranking, numbers: list[int]) -> list[int]:
    """The files to name where nothing else of the memory speaks: those that the prompt names, and likely ones."""
    chances = {number: chance for chance, number in ranking.files}
    return [number for number in numbers if named(ranking.features[number]) or chances[number] >= ALONE]


def _work(db: Connection, present: Present) -> list[Item]:
    """The episode that the session goes on with, and those that speak of what it asks; of a chosen thread its own."""
    goes_on = continued(db, present)
    first = [goes_on.item] if goes_on.item else []
    left = work.left_asked(db, present, first, goes_on.thread_id)
    return first + left + related(db, present, first, goes_on.thread_id)


def _of_thread(db: Connection, ranking: Ranking, thread_id: int) -> None:
    """Leave the files that a thread touched: of a chosen thread alone is told."""
    touched = {
        row[0]
        for row in db.execute(
            "SELECT DISTINCT o.file_path FROM session_threads x CROSS JOIN observations o ON o.session_id ="
            " x.session_id WHERE x.thread_id = ? AND o.file_path IS NOT NULL",
            (thread_id,),
        ).fetchall()
    }
    ranking.files = [(chance, number) for chance, number in ranking.files if ranking.paths[number] in touched]


def chosen(db: Connection, present: Present) -> list[Item]:
    """What a person pinned or included, which is told whatever the session is about."""
    said = heed(db, present)
    return _once(pinned.pins(db, present, said), present, said)


def warned(db: Connection, present: Present) -> list[Item]:
    """The learnings that a prompt runs into, nothing ranked."""
    return once(db, present, known.learnings(db, present, []))


def once(db: Connection, present: Present, items: list[Item]) -> list[Item]:
    """Without what a person excluded, and what the session was told before."""
    return _once(items, present, heed(db, present))


def heed(db: Connection, present: Present) -> dict[str, str]:
    """What a person said about items of the project; whatever is told from now on leaves out what they excluded."""
    said = pinned.choices(db, present.project_id)
    out = [item for item, choice in said.items() if choice == pinned.EXCLUDE]
    if out and present.unsaid is None:
        from nmem.context import unsaid

        present.unsaid = unsaid.read(db, out)
    return said


def files_to_name(db: Connection, ranking: Ranking, present: Present) -> list[int]:
    """Which files are worth their names now, beside those that the session has been told of or worked on.

    A file that is not in the checkout any more is not named. Raises sqlite3.Error.
    """
    if elsewhere(ranking, present.prompt):
        return []
    over = {*present.given_files, *present.hot_files}
    ranked = [(chance, number) for chance, number in ranking.files if ranking.paths[number] not in over]
    most = max(0, (NAMES if present.prompt else START_NAMES) - len(present.given_files))
    numbers = choose(ranking, ranked, 2 * most)
    if present.over or not numbers:
        return numbers[:most]
    by_path = {ranking.paths[number]: number for number in numbers}
    folder = places.root(db, present.project_id, present.session_id)
    return [by_path[path] for path in places.there(folder, by_path, most)]


def elsewhere(ranking: Ranking, prompt: str) -> bool:
    """Whether a prompt does not say which of the project's work it is about, be it that it is about something else."""
    return bool(prompt) and not ranking.meant


def _files(ranking: Ranking, numbers: list[int]) -> list[Item]:
    chances = {number: chance for chance, number in ranking.files}
    out = []
    for number in numbers:
        path = ranking.paths[number]
        values = ranking.features[number]
        top = max(range(len(FEATURES)), key=values.__getitem__)
        reason = _WORDS["named" if values[0] else FEATURES[top]] if values[top] else "one of few files"
        if text := told(path):
            one = Item(f"file/{path}", FILE, text, files=(path,), score=chances[number], reason=reason)
            one.tokens = tokens(file_told(one))
            out.append(one)
    return out


def _once(items: list[Item], present: Present, chosen: dict[str, str]) -> list[Item]:
    """Without what a person excluded, what was told before, and what is there twice: a pin is the episode itself."""
    out: dict[str, Item] = {}
    for item in items:
        key = subject(item.id)
        told = item.id in present.given or key in present.given or f"pin/{key}" in present.given
        if key not in out and not told and chosen.get(key) != pinned.EXCLUDE:
            out[key] = item
    excluded = {key[5:] for key, choice in chosen.items() if choice == pinned.EXCLUDE and key.startswith("file/")}
    kept = [item for item in out.values() if not excluded.intersection(item.files)]
    return present.unsaid.told(kept) if present.unsaid else kept


def _useful(db: Connection, project_id: int, items: list[Item]) -> list[Item]:
    """Scores by what became of the same items before: what was of use rises a little, what never was sinks."""
    found = factors(db, project_id, [item.id for item in items])
    for item in items:
        if item.kind not in (FILE, PIN):
            item.score = min(1.0, item.score * found.get(item.id, 1.0))
    return items
