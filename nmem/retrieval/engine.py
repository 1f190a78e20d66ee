"""Ranks a project's episodes for a query: BM25 over weighted words, evidence added up. On the hook's path.

A query is never AND-ed into nothing: each of its most informative words adds what it says of an episode. A whole issue
or a stack trace works as well as three words.
"""

from __future__ import annotations

from math import log

from nmem.retrieval import store
from nmem.retrieval.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from sqlite3 import Connection

ASKED = 200
"""Distinct words of a query that are looked up."""
FOLLOWED = 60
"""Words of a query whose postings are read: the most informative."""
SPECIFIC = 0.5
"""The least that a specific word says, in units of the rarest one: the square root of the episodes have it."""
WORK = 60_000
"""Postings that one query reads at most; the rarest words come first."""
_SHOWN = 400
"""Documents by score among which those that exist are looked up."""
TITLE = 200
"""Characters of a first line that may be a title."""
LEAD = 0.3
"""What the words of a title weigh beside those of the whole text."""
WEIGHT = 255.0
_AT_ONCE = 500
"""Words that one statement looks up."""


class Found:
    """An episode that speaks of what a query asks for."""

    __slots__ = ("at", "evidence", "score", "share", "specific", "unit_id")

    def __init__(
        self, unit_id: int, at: int, score: float, share: float, evidence: float, specific: float
    ) -> None:  # fmt: skip
        self.unit_id = unit_id
        self.at = at
        """When it was last worked on, in milliseconds."""
        self.score = score
        """The sum of what the query's words say of it."""
        self.share = share
        """The part of what the query's words could say at most, 0 to 1: comparable between queries."""
        self.evidence = evidence
        """The score in units of the rarest word there can be: comparable between projects."""
        self.specific = specific
        """The part of the evidence that comes from words which few episodes of the project have."""

    def __repr__(self) -> str:
        return f"Found({self.unit_id}, {self.score:.2f}, {self.share:.2f})"


class Query:
    """A query's informative words, with what each is worth in one project."""

    __slots__ = ("most", "postings", "rarest", "specific")

    def __init__(self) -> None:
        self.postings: list[tuple[float, bytes]] = []
        """(worth, packed postings), the rarest word first."""
        self.most = 0.0
        """The score of an episode that is about all of the query, unknown words included."""
        self.rarest = 1.0
        """What a word says that one episode has."""
        self.specific: list[float] = []
        """What the first words say by themselves: those that few episodes have."""


def related(
    db: Connection, project_id: int, text: str, limit: int = 20, before: int = 0, work: int = WORK,
    total: int | None = None,
) -> list[Found]:  # fmt: skip
    """The episodes of a project that speak of what a text speaks of, best first; `before`: last worked on until then.

    `total`: the project's episodes, where they are counted already. Raises sqlite3.Error.
    """
    total = store.size(db, project_id) if total is None else total
    query = prepared(db, project_id, counted(text), titled(text), work, total)
    scores = _sums(query.postings)
    specific = _sums([(says, packed) for says, (_, packed) in zip(query.specific, query.postings, strict=False)])
    best = _highest(scores, 2 * limit)
    docs = store.documents(db, project_id, best, before)
    if len(docs) < limit and len(best) < len(scores):
        best = _highest(scores, _SHOWN)
        docs = store.documents(db, project_id, best, before)
    most = query.most or 1.0
    out = []
    for doc in best:
        if doc in docs:
            unit_id, at = docs[doc]
            share, rarely = min(1.0, scores[doc] / most), specific.get(doc, 0.0) / query.rarest
            out.append(Found(unit_id, at, scores[doc], share, scores[doc] / query.rarest, rarely))
            if len(out) == limit:
                break
    return out


def counted(text: str) -> dict[str, int]:
    """The words of a text and how often each stands there, the first ones."""
    out: dict[str, int] = {}
    for word in words(text):
        if word in out:
            out[word] += 1
        elif len(out) < ASKED:
            out[word] = 1
    return out


def titled(text: str) -> frozenset[str]:
    """The words of a text's first line, where more follows: an issue's title, an error above its trace."""
    first, _, rest = text.strip().partition("\n")
    return frozenset(words(first)) if rest.strip() and len(first) <= TITLE else frozenset()


def prepared(
    db: Connection, project_id: int, asked: dict[str, int], title: Collection[str], work: int, total: int
) -> Query:
    """The informative words of a query, and the postings of the rarest, `work` at most; those of its `title` weigh
    more, as a whole."""
    out = Query()
    if not asked or not total:
        return out
    found = store.known(db, project_id, list(asked))
    worth = {word: (1.0 + log(asked[word])) * informative(total, docs) for docs, word in found}
    if named := [word for word in worth if word in title]:
        more = LEAD * sum(sorted(worth.values(), reverse=True)[:FOLLOWED]) / (sum(worth[word] for word in named) or 1.0)
        worth |= {word: worth[word] * (1.0 + more) for word in named}
    chosen = dict.fromkeys(sorted(worth, key=worth.__getitem__, reverse=True)[:FOLLOWED])
    unknown = sorted((1.0 + log(count) for word, count in asked.items() if word not in worth), reverse=True)
    known = sum(worth[word] for word in chosen)
    out.rarest = informative(total, 1)
    out.most = known + informative(total, 0) * sum(unknown[: max(0, FOLLOWED - len(chosen))])
    kept = _affordable(sorted((docs, word) for docs, word in found if word in chosen), work)
    packed = store.postings(db, project_id, [word for _, word in kept])
    out.postings = [(worth[word], packed[word]) for _, word in kept]
    says = (informative(total, docs) for docs, _ in kept)
    out.specific = [each for each in says if each >= SPECIFIC * out.rarest]
    return out


def _affordable(rarest: list[tuple[int, str]], work: int) -> list[tuple[int, str]]:
    """Of words with how many documents each has, those whose postings come to `work` at most."""
    for place, (docs, _) in enumerate(rarest):
        work -= docs
        if work < 0:
            return rarest[:place]
    return rarest


def worth(db: Connection, project_id: int, asked: Iterable[str], total: int | None = None) -> dict[str, float]:
    """What each word says in a project, in units of the rarest word there can be, 0 to 1; an unknown word says most.

    Raises sqlite3.Error.
    """
    wanted = list(asked)
    total = store.size(db, project_id) if total is None else total
    rarest = informative(total, 1) or 1.0
    out = dict.fromkeys(wanted, 1.0)
    for start in range(0, len(wanted), _AT_ONCE):
        for docs, word in store.known(db, project_id, wanted[start : start + _AT_ONCE]):
            out[word] = min(1.0, informative(total, docs) / rarest)
    return out


def informative(total: int, docs: int) -> float:
    """What a word says that `docs` of `total` documents have: BM25's inverse document frequency, never negative."""
    return log(1.0 + max(0.0, total - docs + 0.5) / (docs + 0.5))


def _sums(postings: Iterable[tuple[float, bytes]]) -> dict[int, float]:
    """Document number -> the sum of the weights of some words in it, each word by what it is worth."""
    out: dict[int, float] = {}
    get = out.get
    for worth, packed in postings:
        unit = worth / WEIGHT
        for posting in memoryview(packed).cast("I"):
            doc = posting >> 8
            out[doc] = get(doc, 0.0) + unit * (posting & 255)
    return out


def _highest(scores: dict[int, float], most: int) -> list[int]:
    """The documents with the highest scores, of equal ones the first; the many others are not brought into order."""
    if len(scores) > most:
        least = sorted(scores.values(), reverse=True)[most - 1]
        scores = {doc: score for doc, score in scores.items() if score >= least}
    return sorted(scores, key=scores.__getitem__, reverse=True)[:most]
