"""Ranks the files that a new session will edit, and chooses those to name. On the hook's path: bounded queries.

Candidates are the project's hot files, those of earlier turns that spoke of the same, those that the prompt names or
whose names share its words, and those edited on branches of a like name. Each has seven features in 0..1; a logistic
gives the probability that the session edits it.
Where a prompt names files, others are right one time in ten, whatever speaks for them: only the named ones are told.
Where it names none, three together are told when one of them is likely enough to be edited. Beside an episode the
chances are too low: of the files with less than a tenth one in nine is edited.
"""

from __future__ import annotations

from math import exp, log

from nmem.context import selection_store
from nmem.retrieval.terms import CHAT, base, branch_terms, mentions, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from nmem.context.selection_store import File, Heard, Named

    Scored = tuple[int, float, float, float, float, float, float, float]
    """A file, and its features as they were found."""
    Weights = tuple[float, float, float, float, float, float, float, float]

SHORT, LONG = 5.0, 20.0
"""Half-lives of heat, in sessions."""
PLAIN = frozenset(("main", "master", "next", "develop", "dev", "trunk", "head", ""))
"""Branches whose name says nothing of the work, in lower case."""
FEATURES = ("named", "text", "name", "branch", "recent", "long", "read")
PROMPT = (-5.0, 3.5, 1.5, 1.1, 1.3, 0.3, 0.2, 1.7)
"""Weights of a bias and of each of FEATURES where there is a prompt. Fitted by `python -m nmem.training.context` and
rounded; leaving a project out moves a weight by about .5."""
START = (-4.3, 0.0, 0.0, 0.0, 1.3, 0.4, 0.8, 1.8)
"""Where a session starts, and nothing is asked yet."""
TERMS = 32
"""Words of a prompt that are followed: the rarest."""
ASKED = 120
"""Words of a prompt that are looked up."""
TURNS = 64
"""Earlier turns that are looked at: those that share most."""
HOT, WARM = 100, 40
"""Files taken for being edited, and read, lately."""
BRANCH = 60
BY_TEXT, BY_NAME = 100, 60
"""Files taken for what earlier turns said, and for the words of their names: the best."""
COMMON = 400
"""A word that more base names have tells none of them apart."""
SAME_NAME = 12
"""A base name that more files have names none of them outright."""
ABOUT = 0.3
"""The share of what a prompt says, by weight, that the project must have spoken of; else it is about something else."""
RARE = 0.1
"""The part of a project's turns in which a word may stand that says by itself which work is meant."""
USUAL = 0.4
"""A file that this part of the sessions edits says nothing of which work is meant."""
_FEW = 5
"""A word in no more turns than this is rare in a young project, too."""


class Ranking:
    """Files from the most to the least likely, and the earlier turns that speak of the same."""

    __slots__ = ("echoed", "features", "files", "known", "meant", "named", "paths", "turns")

    def __init__(self) -> None:
        self.files: list[tuple[float, int]] = []
        """(probability, file), falling."""
        self.paths: dict[int, str] = {}
        self.features: dict[int, list[float]] = {}
        self.named: dict[str, float] = {}
        """The files that the prompt names -> how much an edit of each says: 1 for one that no session edits usually."""
        self.turns: dict[int, float] = {}
        """Earlier turn -> how much it speaks of the same, 0 to about 1."""
        self.known = 0.0
        """The share of what the prompt says, by weight, that the project has ever spoken of."""
        self.echoed: dict[int, float] = {}
        """File -> the shares of the prompt that episodes which edited it speak of, added up."""
        self.meant = False
        """Whether the prompt says which of the project's work it is about: what was only done lately tells nothing."""


def rank(db: Connection, project_id: int, prompt: str = "", branch: str = "") -> Ranking:
    """Rank the project's files for a prompt, or for a session that only starts. Raises sqlite3.Error."""
    out = Ranking()
    row = selection_store.standing(db, project_id)
    if row is None or not row[2]:
        return out
    sessions, turns, files = row
    words = list(terms(prompt))[:ASKED] if prompt else []
    said = mentions(prompt) if prompt else []
    heard = _heard(db, project_id, [word for word in words if word not in CHAT], turns, out) if words else []
    text, together = _like(db, project_id, heard[:TERMS], turns, out) if heard else ({}, False)
    names = selection_store.names(db, project_id, words) if words else []
    weigh = _by_name(names, files)
    named = _named(db, project_id, said) if said else []
    by_branch = _by_branch(db, project_id, branch)
    numbers = {*_best(text, BY_TEXT), *_best(weigh, BY_NAME), *named[:BY_NAME], *by_branch}
    numbers.update(selection_store.hot(db, project_id, HOT, WARM))
    rows = selection_store.files(db, project_id, list(numbers))
    outright = _outright(said, rows, named)
    out.meant = bool(outright) or (out.known >= ABOUT and (together or _alone(heard, names, turns, out)))
    lately, for_long = sessions / SHORT, sessions / LONG
    recent = min(float(sessions), LONG / log(2.0))
    out.paths = {row[0]: row[1] for row in rows}
    for number, path, _, long, *_ in rows if outright else ():
        if outright.get(number, 0.0) >= 1.0:
            often = _count(long, for_long)
            out.named[path] = max(0.0, 1.0 - log(1.0 + often) / log(1.0 + recent)) if often < USUAL * recent else 0.0
    found = [
        (number, outright.get(number, 0.0), text.get(number, 0.0), weigh.get(number, 0.0) / weight,
         by_branch.get(number, 0.0), _count(edits, lately), _count(long, for_long), _count(reads, lately))
        for number, _, edits, long, reads, weight in rows
    ]  # fmt: skip
    _score(out, found, PROMPT if prompt else START)
    return out


def _best(values: dict[int, float], most: int) -> list[int]:
    """The keys of the highest values, of equal ones the first; numbers alone are sorted in a third of the time."""
    if len(values) <= most:
        return list(values)
    least = sorted(values.values(), reverse=True)[most - 1]
    few = [key for key, value in values.items() if value >= least]
    return sorted(few, key=values.__getitem__, reverse=True)[:most]


def _count(heat: float | None, cooled: float) -> float:
    """The decayed count of sessions that a heat, less what has cooled since, stands for."""
    return 0.0 if heat is None else float(2.0 ** max(heat - cooled, -60.0))


def unpack(packed: bytes) -> memoryview:
    """Packed numbers, one after the other."""
    return memoryview(packed).cast("I")


def _heard(db: Connection, key: int, words: list[str], turns: int, out: Ranking) -> list[Heard]:
    """The words that the project has spoken of, the rarest first; fills how much of all they are."""
    if not words:
        return []
    found = sorted(selection_store.heard(db, key, words))
    weight = sum(log(1.0 + turns / (1.0 + count)) for count, _, _ in found)
    out.known = weight / (weight + (len(words) - len(found)) * log(1.0 + turns))
    return found


def _alone(heard: list[Heard], names: list[Named], turns: int, out: Ranking) -> bool:
    """Whether a rare word is also in a file's name, or is all that is said."""
    rare = {word for count, word, _ in heard if count <= max(_FEW, RARE * turns)}
    return bool(rare) and (len(heard) == 1 == out.known or any(word in rare for word, _, _ in names))


def _like(db: Connection, key: int, rarest: list[Heard], turns: int, out: Ranking) -> tuple[dict[int, float], bool]:
    """File -> how much the earlier turns that edited it speak of the same, and whether one of these turns has two of
    the words; fills the turns' likeness. The turns of common words are many, and are not looked at."""
    shared: dict[int, float] = {}
    said = 0
    get = shared.get
    for count, _, packed in rarest:
        weight = log(1.0 + turns / (1.0 + count)) ** 2
        those = unpack(packed).tolist()
        said += len(those)
        shared.update([(turn, get(turn, 0.0) + weight) for turn in those])
    best = _best(shared, TURNS)
    by_file: dict[int, float] = {}
    for turn, norm, edited in selection_store.turns(db, key, best):
        like = out.turns[turn] = shared[turn] / norm
        for number in unpack(edited):
            by_file[number] = by_file.get(number, 0.0) + like * like
    return by_file, said > len(shared)


def _by_name(names: list[Named], files: int) -> dict[int, float]:
    """File -> weight of the prompt's words that its base name has."""
    out: dict[int, float] = {}
    for _, count, packed in names:
        if count <= COMMON:
            weight = log(1.0 + files / (1.0 + count))
            for number in unpack(packed):
                out[number] = out.get(number, 0.0) + weight
    return out


def _named(db: Connection, key: int, said: list[str]) -> list[int]:
    """Files whose base name the prompt names."""
    found = selection_store.names(db, key, ["=" + base(word) for word in said])
    return [number for _, _, packed in found for number in unpack(packed)]


def _outright(said: list[str], rows: Sequence[File], named: list[int]) -> dict[int, float]:
    """File -> 1 when the prompt gives its path, or a base name that no other file has; less for one of several.

    Where most of the documents that it names without a folder are not here, it speaks of kinds of documents.
    """
    if not named:
        return {}
    some = set(named)
    paths = {row[0]: "/" + row[1].lower() for row in rows if row[0] in some}
    hits = {word: _hits(word, paths) for word in said}
    bare = [word for word in said if "/" not in word and word.endswith(".md")]
    kinds = sum(len(hits[word]) == 1 for word in bare) * 2 < len(bare)
    out: dict[int, float] = {}
    for word in said:
        if 0 < len(hits[word]) <= SAME_NAME and not (kinds and word in bare):
            for number in hits[word]:
                out[number] = max(out.get(number, 0.0), 1.0 if "/" in word else 1.0 / len(hits[word]))
    return out


def _hits(word: str, paths: dict[int, str]) -> list[int]:
    """The files that a path or a base name in a prompt may stand for."""
    tail = "/" + word.lstrip("./")
    return [number for number, path in paths.items() if path.endswith(tail) or ("/" in word and tail.endswith(path))]


def _by_branch(db: Connection, key: int, branch: str) -> dict[int, float]:
    """File -> sessions that edited it on branches whose name shares words with this one's."""
    words = branch_terms(branch) if branch.lower() not in PLAIN else []
    return selection_store.on_branches(db, key, words, BRANCH) if words else {}


def _score(out: Ranking, rows: Sequence[Scored], weights: Weights) -> None:
    """Bring features to 0..1 among the candidates, and weigh them; written out, for it is done for hundreds."""
    if not rows:
        return
    _, _, likes, *others = zip(*rows, strict=True)
    place = _places(likes)
    most_name, most_branch, most_recent, most_long, most_read = (max(column) or 1.0 for column in others)
    bias, of_named, of_text, of_name, of_branch, of_recent, of_long, of_read = weights
    for number, named, like, by_name, by_branch, by_recent, by_long, by_read in rows:
        text, name, branch = place.get(like, 0.0), by_name / most_name, by_branch / most_branch
        recent, long, read = by_recent / most_recent, by_long / most_long, by_read / most_read
        out.features[number] = [named, text, name, branch, recent, long, read]
        total = (
            bias + of_named * named + of_text * text + of_name * name + of_branch * branch + of_recent * recent
            + of_long * long + of_read * read
        )  # fmt: skip
        out.files.append((1.0 / (1.0 + exp(-total)), number))
    out.files.sort(reverse=True)


def _places(values: Sequence[float]) -> dict[float, float]:
    """Value -> 1 for the highest, falling with its place; equal values share theirs, 0 has none."""
    ordered = sorted((value for value in values if value > 0.0), reverse=True)
    out: dict[float, float] = {}
    at = 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end] == ordered[at]:
            end += 1
        out[ordered[at]] = 1.0 / (1.0 + (at + end - 1) / 2.0 / 5.0)
        at = end
    return out


# which of them are named

NAMES, AT_START = 5, 4
"""Most files named in one session, and most of these at its start, so that a first prompt can always name one more."""
TOGETHER, TOGETHER_OF = 0.35, 3
"""The least chance that one of so many likeliest files is edited; alone each is right too seldom to be told."""
ECHO, ECHOED = 3.0, 0.05
"""What it says of a file, as a logit, that episodes which edited it speak of the whole prompt; and the part of the
prompt from which they speak for it."""
SPOKEN = 0.8
"""The part of the most from which earlier work, a name or a branch speaks for a file. Of the likeliest only such files
are told: one that was merely edited or read lately says nothing of what is asked."""
ALONE = 0.1
"""The least chance of each file where files alone are told."""
BESIDE = 0.08
"""The least chance of each of them where an episode is told, which names files as well."""
LATELY = 0.1
"""The least chance of a file that is named before anything is asked."""


def choose(
    ranking: Ranking, ranked: Sequence[tuple[float, int]], *, asked: bool = True, beside: bool = False
) -> list[int]:  # fmt: skip
    """The files to name, of (probability, file) falling; twice as many as may be told, for some may be gone."""
    if not asked:
        return [number for chance, number in ranked if chance >= LATELY][: 2 * AT_START]
    if ranking.named:
        return [number for _, number in ranked if named(ranking.features[number])][: 2 * NAMES]
    if beside:
        return [number for chance, number in ranked[: 2 * NAMES] if chance >= BESIDE]
    if together(ranked) < TOGETHER:
        return []
    return [number for chance, number in ranked[: 2 * NAMES] if chance >= ALONE and spoken(ranking, number)]


def together(ranked: Sequence[tuple[float, int]]) -> float:
    """The chance that one of the likeliest files is edited."""
    none = 1.0
    for chance, _ in ranked[:TOGETHER_OF]:
        none *= 1.0 - chance
    return 1.0 - none


def echo(ranking: Ranking, says: dict[int, float]) -> None:
    """Raise the chances of the files that episodes edited which speak of the prompt; file -> how much of it."""
    ranking.echoed = says
    raised = []
    for chance, number in ranking.files:
        odds = exp(ECHO * min(1.0, says.get(number, 0.0))) * chance
        raised.append((odds / (odds + 1.0 - chance), number))
    ranking.files = sorted(raised, reverse=True)


def spoken(ranking: Ranking, number: int) -> bool:
    """Whether what is asked speaks for a file: earlier work that spoke of the same, its name, or the branch."""
    return ranking.echoed.get(number, 0.0) >= ECHOED or max(ranking.features[number][1:4]) >= SPOKEN


def named(values: Sequence[float]) -> bool:
    """Whether the prompt names this very file, by its features."""
    return values[0] >= 1.0
