"""Groups episodes by subject with scikit-learn, and keeps the themes of a project. Background work only.

Words come from the postings of the retrieval index: no record is read. A theme keeps its number while the largest part
of its episodes stays together.

What the retrieval index holds of an episode is enough: words with their weights. Words that every project says are left
out; a theme's label is the words that tell it best from the others, as its episodes' titles write them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import log
from sqlite3 import Connection

from capture.storage.store import transaction
from nmem import themes as store
from nmem.episodes.text import runs
from nmem.retrieval.engine import WEIGHT
from nmem.retrieval.naming import GENERAL
from nmem.retrieval.terms import CHAT
from nmem.retrieval.words import stem

MOST = 2000
"""Episodes of a project that are grouped: the newest."""
_GROWN, _NEW = 0.25, 20
"""A project is grouped anew when this part of its episodes came since, and so many."""


def keep(db: Connection, stopped: Callable[[], bool] = lambda: False) -> int:
    """Group the projects that have grown, on a writing connection outside a transaction; how many themes were made."""
    due = _due(db)
    if not due or not possible():
        return 0
    made = 0
    for project_id in due:
        if stopped():
            break
        bags = _bags(db, project_id)
        found = grouped(bags, store.titles(db, project_id))
        with transaction(db):
            _store(db, project_id, found, bags)
        made += len(found)
    return made


def _due(db: Connection) -> list[int]:
    """Projects with enough episodes, many of which were told since they were grouped."""
    return [
        number
        for number, told, new, last in store.growth(db, MOST, LEAST)
        if last is None or new >= max(_NEW, _GROWN * told)
    ]


def _bags(db: Connection, project_id: int) -> dict[int, Bag]:
    """The newest episodes of a project with their words, out of the index."""
    units = store.documents(db, project_id, MOST)
    bags: dict[int, dict[str, float]] = {unit_id: {} for unit_id in units.values()}
    for word, packed in store.postings(db, project_id):
        for posting in memoryview(packed).cast("I"):
            unit_id = units.get(posting >> 8)
            if unit_id is not None:
                bags[unit_id][word] = (posting & 255) / WEIGHT
    return dict(bags)


def _store(db: Connection, project_id: int, found: Sequence[Group], bags: dict[int, Bag]) -> None:
    """Put a project's themes in place of those of before; episodes in none keep a row of theme 0, for `_due`."""
    numbers = _numbers(found, store.placed(db, project_id), store.highest(db))
    rows = dict.fromkeys(bags, (0, ""))
    for group, number in zip(found, numbers, strict=True):
        rows |= dict.fromkeys(group.units, (number, group.label))
    store.replace(db, project_id, rows)


def _numbers(found: Sequence[Group], before: dict[int, int], highest: int) -> list[int]:
    """A number for each theme: that of the old one which it shares most episodes with, else a new one."""
    shared = [
        (count, place, number)
        for place, group in enumerate(found)
        for number, count in Counter(before[unit] for unit in group.units if unit in before).items()
    ]
    out: dict[int, int] = {}
    taken: set[int] = set()
    for _, place, number in sorted(shared, key=lambda each: (-each[0], each[2], each[1])):
        if place not in out and number not in taken:
            out[place] = number
            taken.add(number)
    for place in range(len(found)):
        if place not in out:
            highest += 1
            out[place] = highest
    return [out[place] for place in range(len(found))]


LEAST = 12
"""Episodes of a project below which there is nothing to group."""
EACH = 6
"""Episodes of a theme, on average."""
_TOPICS = 40
"""Latent topics at most; never more than a third of the episodes."""
_RARE, _COMMON = 2, 0.4
"""A word counts that so many episodes have at least, and this part of them at most."""
_KNOWN = 4
"""Words that count, below which there is nothing to group by."""
_WORDS, _NAMED = 3, 0.3
"""Words of a label, and the part of a theme's episodes that have each of them."""
_LONGEST = 24
"""Characters of a word of a label."""

Bag = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Group:
    """Episodes that are about the same."""

    units: tuple[int, ...]
    label: str


def possible() -> bool:
    """Whether scikit-learn is there; it is not imported."""
    return find_spec("sklearn") is not None


def grouped(bags: Mapping[int, Bag], titles: Mapping[int, str]) -> list[Group]:
    """The themes of a project's episodes, each episode in one; none where there are too few, or no words in common."""
    units = sorted(unit for unit, bag in bags.items() if bag)
    if len(units) < LEAST:
        return []
    held = Counter(word for unit in units for word in bags[unit])
    most = max(_COMMON * len(units), _RARE + 1)
    known = {
        word: log(len(units) / number)
        for word, number in held.items()
        if _RARE <= number <= most and word not in GENERAL and word not in CHAT and not word.isdigit()
    }
    told = [unit for unit in units if any(word in known for word in bags[unit])]
    if len(told) < LEAST or len(known) < _KNOWN:
        return []
    weights = {unit: {word: says * known[word] for word, says in bags[unit].items() if word in known} for unit in told}
    members: dict[int, list[int]] = {}
    for unit, place in zip(told, _clusters([weights[unit] for unit in told]), strict=True):
        members.setdefault(place, []).append(unit)
    found = [tuple(group) for group in members.values() if len(group) > 1]
    return [Group(group, _label(group, weights, titles)) for group in found]


def _clusters(weights: Sequence[Bag]) -> list[int]:
    """Which of about a sixth as many clusters each bag belongs to."""
    from sklearn.cluster import AgglomerativeClustering  # on use: start-up stays short
    from sklearn.decomposition import TruncatedSVD  # on use: start-up stays short
    from sklearn.feature_extraction import DictVectorizer  # on use: start-up stays short
    from sklearn.preprocessing import normalize  # on use: start-up stays short

    table = normalize(DictVectorizer().fit_transform(weights))
    topics = max(2, min(_TOPICS, len(weights) // 3, table.shape[1] - 1))
    placed = normalize(TruncatedSVD(topics, random_state=0).fit_transform(table))
    placed[~placed.any(axis=1), 0] = 1.0  # nothing of it is in any topic: cosine needs a direction
    number = max(2, round(len(weights) / EACH))
    found = AgglomerativeClustering(n_clusters=number, metric="cosine", linkage="average").fit_predict(placed)
    return [int(place) for place in found]


def _label(group: Sequence[int], weights: Mapping[int, Bag], titles: Mapping[int, str]) -> str:
    """The words that tell a theme best, as its titles write them."""
    says: dict[str, float] = {}
    held: Counter[str] = Counter()
    for unit in group:
        size = sum(weights[unit].values()) or 1.0
        for word, weight in weights[unit].items():
            says[word] = says.get(word, 0.0) + weight / size
            held[word] += 1
    needed = max(2.0, _NAMED * len(group))
    written = _written(titles.get(unit, "") for unit in group)
    chosen: list[str] = []
    for word in sorted(says, key=lambda each: (each not in written, -says[each], each)):
        if len(chosen) > 1 and word not in written:
            break  # a stem reads badly: it stands only where titles write less than two words
        if held[word] < needed or len(word) > _LONGEST or any(word in one or one in word for one in chosen):
            continue
        chosen.append(word)
        if len(chosen) == _WORDS:
            break
    return " ".join(written.get(word, word) for word in chosen)


def _written(titles: Iterable[str]) -> dict[str, str]:
    """Index word -> as titles write it most often."""
    counts: dict[str, Counter[str]] = {}
    for title in titles:
        for run in runs(title):
            low = run.lower()
            counts.setdefault(stem(low), Counter())[low] += 1
    return {word: min(forms, key=lambda form: (-forms[form], form)) for word, forms in counts.items()}
