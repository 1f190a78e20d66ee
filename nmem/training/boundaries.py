"""Fits the boundary weights on labelled sessions, and reports results on unseen persons.

    python -m nmem.training.boundaries SESSIONS.jsonl... [--weights nmem/episodes/weights.json] [--draws 2000]

Nested folds: for each person held out, words, scaling, weights and threshold come from the other persons only (the
threshold from scores of inner folds of persons, and so does what the second look at a whole session adds). Ridge
logistic regression, signs fixed beforehand; the target is the mean of the annotators, a sub-task counting a fifth of a
boundary; sessions put one after the other count a little as boundaries. Deterministic.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize  # type: ignore[import-untyped]
from scipy.sparse import csr_matrix, vstack  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression

from nmem.episodes import detect
from nmem.episodes import features as ft
from nmem.episodes.boundary import HAND_SET, WEIGHTS, jaccard
from nmem.evaluate.boundaries import Figures, figures

ONLINE = {
    "len_log": 1, "gap_log": 1, "switch": 1, "wish": 1, "ack": -1, "house": -1, "anaphor": -1,
    "machine": -1, "praised_on": 1, "gap_long": 1, "gap_pasted": -1, "cover_last": -1, "repeat": -1, "prev_asks": -1,
    "prev_stop": -1, "long": 1, "lines_log": 0, "asks": 0, "names_new": 1, "names_known": 0,
    "far_asked": 1, "far_said": 1, "fresh": 1, "fresh_much": 1, "put_away": 1, "returns": 1,
}  # fmt: skip
"""Feature -> the sign that its weight may have (0: either)."""
TURN = {
    "t_files_new": 1, "t_dirs_new": 1, "t_said_known": -1, "t_commit": -1, "t_far_asked": 1, "t_far_said": 1,
    "t_fresh": 1, "t_fresh_much": 1, "t_reads_log": 1, "t_calls_log": 0, "t_never": 1, "t_at_hand": -1, "t_said_log": 0,
    "a_like": -1, "a_carried": 1, "a_back": -1, "a_known": 0,
}  # fmt: skip
SIGNS = {"online": ONLINE, "revised": {**ONLINE, **TURN}}
BY_HAND = dict(zip(HAND_SET, (1.5, 0.8), strict=True))
"""Weights that are not fitted, for there are a dozen examples of each; a third of these and more are boundaries."""
RIDGE, WORD_RIDGE = 40.0, 60.0
CUT_AT = 1.2
"""Cut as often as this times the boundaries of the training sessions."""
OFFER_AT = 2.5
TARGET = {"new": 1.0, "sub": 0.2, "cont": 0.0, "ack": 0.0}
PERSONS, PROMPTS = 4, 12
"""A word is weighed when so many persons used it, in so many prompts or answers."""
FOLDS = 6
"""Inner folds of persons, from which thresholds come."""
SPLICED = 0.5
"""What a session begun right after another's counts as a boundary."""
TAIL = 12
"""Prompts of the session before that are kept."""
LEAST = 0.02
"""Weights below it are left out of the file."""
ASIDE = "det16:"
"""The salt of the hash that draws a third of the persons: left out of all reading and choosing, opened once."""
Array = Any
Model = dict[str, Any]


class Table:
    """One row for each prompt but the first of its session; with `spliced`, one for each session begun after another.

    Word sets stand beside the features: which words are weighed is chosen from the persons of a fold.
    """

    def __init__(self, sessions: list[dict[str, Any]], common: frozenset[str]) -> None:
        self.rows: list[ft.Features] = []
        self.bags: list[list[dict[str, int]]] = []
        """Of each session, the words of its turns; and the place of each row in its session."""
        place = []
        self.heard: list[list[str]] = []
        hard, soft, person, number, worth, other = [], [], [], [], [], []
        for at, session in enumerate(sessions):
            past = ft.Past(common)
            self.bags.append([])
            second = session.get("second_labels") or session["labels"]
            for index, prompt in enumerate(session["prompts"]):
                text, agent = prompt["text"], prompt.get("agent") or {}
                if index and session.get("from", 1) <= index <= session.get("to", index):
                    found = {**ft.form(text), **ft.context(text, prompt.get("gap_minutes"), past)}
                    after = session["prompts"][index + 1 :]
                    self.rows.append({**found, **ft.turned(text, agent, past, after)})
                    spoken = ft.heard(text, past)
                    self.heard.append([f"{place} {word}" for place in ft.PLACES for word in sorted(spoken[place])])
                    hard.append(session["labels"][index] == "new")
                    soft.append((TARGET[session["labels"][index]] + TARGET[second[index]]) / 2)
                    person.append(who(session))
                    other.append(session.get("after", who(session)))
                    number.append(at)
                    place.append(index)
                    worth.append(session.get("worth", 1.0))
                past.add(text, agent)
                self.bags[-1].append(detect.bag(past.turns[-1], common))
        self.place = np.array(place)
        self.gold, self.target, self.worth = np.array(hard), np.array(soft), np.array(worth)
        self.person, self.other, self.session = np.array(person), np.array(other), np.array(number)

    def matrix(self, kind: str, chosen: Array) -> Array:
        """The features of some rows, in the order of SIGNS."""
        return np.array([[self.rows[at][name] for name in SIGNS[kind]] for at in chosen])

    def by_hand(self, chosen: Array) -> Array:
        """Whether a feature of BY_HAND speaks, for some rows: a second look takes no cut back there."""
        return np.array([any(self.rows[at][name] for name in BY_HAND) for at in chosen], bool)

    def vocabulary(self, chosen: Array) -> list[str]:
        """The words that enough of the persons use, each with the place where it stands."""
        users: dict[str, set[str]] = {}
        count: Counter[str] = Counter()
        for at in chosen:
            count.update(self.heard[at])
            for word in self.heard[at]:
                users.setdefault(word, set()).add(self.person[at])
        return sorted(word for word, many in count.items() if many >= PROMPTS and len(users[word]) >= PERSONS)

    def words(self, chosen: Array, vocabulary: list[str]) -> Array:
        """A sparse row of 0 and 1 for each chosen row."""
        column = {word: at for at, word in enumerate(vocabulary)}
        pairs = [(row, column[word]) for row, at in enumerate(chosen) for word in self.heard[at] if word in column]
        rows, columns = zip(*pairs, strict=True) if pairs else ((), ())
        return csr_matrix((np.ones(len(pairs)), (rows, columns)), shape=(len(chosen), len(vocabulary)))


def who(session: dict[str, Any]) -> str:
    """A person is the author; where that is masked, the owner of the repository."""
    author = session.get("author")
    return str(session.get("repo")).partition("/")[0] if author in (None, "-", "") else str(author)


def aside(sessions: list[dict[str, Any]]) -> set[str]:
    """A third of the persons: one of each three that have about as many prompts."""
    count: Counter[str] = Counter()
    for session in sessions:
        count[who(session)] += len(session["prompts"])
    names = sorted(count, key=lambda name: (-count[name], name))
    return {
        min(names[at : at + 3], key=lambda name: sha256(f"{ASIDE}{name}".encode()).digest())
        for at in range(0, len(names), 3)
    }


def spliced(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each session's first prompt a minute after another session of another person in another project."""
    out = []
    for at, session in enumerate(sessions):
        others = [
            each for each in sessions
            if who(each) != who(session) and each["repo"] != session["repo"] and len(each["prompts"]) > 1
        ]  # fmt: skip
        if others:
            before = others[(at * 37 + 11) % len(others)]
            kept, (opening, *rest) = before["prompts"][-TAIL:], session["prompts"][: 1 + ft.AHEAD]
            out.append({
                **session, "prompts": [*kept, {**opening, "gap_minutes": 1.0}, *rest],
                "labels": ["cont"] * len(kept) + ["new"] + ["cont"] * len(rest), "second_labels": None,
                "from": len(kept), "to": len(kept), "after": who(before), "worth": SPLICED,
            })  # fmt: skip
    return out


def train(table: Table, chosen: Array, more: Table) -> Model:
    """Both models at once, which share the weights of words: {kind: (bias, weights)} and the words.

    `more` are splices, of which those count whose persons are both among the chosen.
    """
    known = np.unique(table.person[chosen])
    also = np.where(np.isin(more.person, known) & np.isin(more.other, known))[0]
    target, worth = np.r_[table.target[chosen], more.target[also]], np.r_[table.worth[chosen], more.worth[also]]
    vocabulary = table.vocabulary(chosen)
    words = vstack([table.words(chosen, vocabulary), more.words(also, vocabulary)]).tocsr()
    rare = np.asarray(words[: len(chosen)].mean(0)).ravel()
    dense, means, spreads, bounds = [], [], [], []
    for kind, signs in SIGNS.items():
        plain = table.matrix(kind, chosen)
        mean, spread = plain.mean(0), plain.std(0) + 0.1
        both = np.vstack([plain, more.matrix(kind, also)]) if len(also) else plain
        dense.append((both - mean) / spread)
        means.append(mean)
        spreads.append(spread)
        bounds += [
            (None, None),
            *(_bounds(name, sign, wide) for (name, sign), wide in zip(signs.items(), spread, strict=True)),
        ]
    b = _fit(dense, words, rare, target, worth, bounds)
    out: Model = {"words": {}}
    start, shared = 0, b[len(bounds) :]
    for kind, mean, spread in zip(SIGNS, means, spreads, strict=True):
        weights = b[start + 1 : start + 1 + len(mean)] / spread
        out[kind] = (b[start] - weights @ mean - shared @ rare, weights)
        start += 1 + len(mean)
    out["words"] = dict(zip(vocabulary, shared, strict=True))
    return out


def _bounds(name: str, sign: int, spread: float) -> tuple[float | None, float | None]:
    if name in BY_HAND:
        return (BY_HAND[name] * spread,) * 2
    return (0 if sign > 0 else None, 0 if sign < 0 else None)


def _fit(dense: list[Array], words: Array, rare: Array, target: Array, worth: Array, bounds: list[Any]) -> Array:
    """Ridge logistic regression of two models with one set of word weights, by bounded quasi-Newton steps."""
    size = [part.shape[1] + 1 for part in dense]

    def loss(b: Array) -> tuple[float, Array]:
        shared = b[sum(size) :]
        said = words @ shared - rare @ shared
        total, slopes, rests, start = len(dense) * WORD_RIDGE * (shared**2).sum() / 2, [], np.zeros(len(target)), 0
        for part, count in zip(dense, size, strict=True):
            own = b[start : start + count]
            z = part @ own[1:] + own[0] + said
            rest = (1 / (1 + np.exp(-z)) - target) * worth
            total += ((np.logaddexp(0, z) - target * z) * worth).sum() + RIDGE * (own[1:] ** 2).sum() / 2
            slopes.append(np.r_[rest.sum(), part.T @ rest + RIDGE * own[1:]])
            rests += rest
            start += count
        slopes.append(words.T @ rests - rare * rests.sum() + len(dense) * WORD_RIDGE * shared)
        return float(total), np.concatenate(slopes)

    free = bounds + [(None, None)] * len(rare)
    return minimize(loss, np.zeros(len(free)), jac=True, bounds=free, method="L-BFGS-B").x


def scores(table: Table, kind: str, chosen: Array, model: Model) -> Array:
    """Log-odds of some rows."""
    bias, weights = model[kind]
    said = [sum(model["words"].get(word, 0.0) for word in table.heard[at]) for at in chosen]
    return bias + table.matrix(kind, chosen) @ weights + np.array(said)


def unseen(table: Table, chosen: Array, more: Table) -> dict[str, Array]:
    """Scores of each fold of persons by a model of the others."""
    out = {kind: np.zeros(len(chosen)) for kind in SIGNS}
    count = Counter(table.person[chosen].tolist())
    names = sorted(count, key=lambda name: (-count[name], name))
    for fold in range(min(FOLDS, len(names))):
        inside = np.isin(table.person[chosen], names[fold::FOLDS])
        model = train(table, chosen[~inside], more)
        for kind, found in out.items():
            found[inside] = scores(table, kind, chosen[inside], model)
    return out


def threshold(found: Array, gold: Array, times: float) -> float:
    """The score at which cuts are `times` as frequent as boundaries."""
    return float(np.quantile(found, max(0.0, 1 - times * gold.mean())))


def looked(table: Table, cuts: Array, chosen: Array) -> Array:
    """Likeness to the episode and to the session before, of some rows that hold whole sessions, between these cuts."""
    out = np.zeros((len(chosen), 2))
    for at in np.unique(table.session[chosen]):
        inside = np.where(table.session[chosen] == at)[0]
        opens = [number == 0 for number in range(len(table.bags[at]))]
        for row in inside[cuts[inside]]:
            opens[table.place[chosen[row]]] = True
        like = detect.likeness(table.bags[at], opens)
        out[inside] = [like[table.place[chosen[row]]] for row in inside]
    return out


def second_look(table: Table, found: Array, chosen: Array) -> dict[str, float]:
    """What likeness adds to scores of persons unseen, so that their threshold still cuts CUT_AT times as often."""
    gold = table.gold[chosen]
    limit = threshold(found, gold, CUT_AT)
    rows = np.column_stack([found, looked(table, found >= limit, chosen)])
    spread = rows.std(0) + 1e-6
    weights = LogisticRegression().fit((rows - rows.mean(0)) / spread, gold).coef_[0] / spread
    if weights[0] <= 0:
        return {"bias": 0.0, "episode": 0.0, "session": 0.0}
    episode, session = (weights[1:] / weights[0]).tolist()
    after = found + rows[:, 1:] @ np.array([episode, session])
    after[(found >= limit) & table.by_hand(chosen)] = after.max()
    return {"bias": limit - threshold(after, gold, CUT_AT), "episode": episode, "session": session}


def moved(table: Table, found: Array, chosen: Array, limit: float, again: dict[str, float]) -> Array:
    """Revised scores after the second look."""
    after = found + again["bias"] + looked(table, found >= limit, chosen) @ [again["episode"], again["session"]]
    firm = (found >= limit) & table.by_hand(chosen)
    return np.where(firm, np.maximum(found, after), after)


def nested(table: Table, more: Table, groups: list[set[str]]) -> tuple[dict[str, Array], dict[str, Array]]:
    """How far each row's score is above the threshold, each decided without its group; the same of the splices."""
    above = {kind: np.full(len(table.gold), -np.inf) for kind in SIGNS}
    splices = {kind: np.full(len(more.gold), np.nan) for kind in SIGNS}
    every = np.arange(len(table.gold))
    for group in groups:
        held = np.isin(table.person, sorted(group))
        model = train(table, every[~held], more)
        limits = unseen(table, every[~held], more)
        held_splices = np.where(np.isin(more.person, sorted(group)))[0]
        for kind in SIGNS:
            limit = threshold(limits[kind], table.gold[~held], CUT_AT)
            found, spliced_in = scores(table, kind, every[held], model), scores(more, kind, held_splices, model)
            if kind == "revised":
                again = second_look(table, limits[kind], every[~held])
                found = moved(table, found, every[held], limit, again)
                spliced_in = moved(more, spliced_in, held_splices, limit, again)
            above[kind][held] = found - limit
            splices[kind][held_splices] = spliced_in - limit
    return above, splices


def measured(table: Table, cuts: Array, kept: Array | None = None) -> Figures:
    """The figures of a flat array of cuts."""
    parts = [table.session == at for at in np.unique(table.session) if kept is None or kept[table.session == at].any()]
    return figures([table.gold[part].tolist() for part in parts], [cuts[part].tolist() for part in parts])


def interval(table: Table, cuts: Array, draws: int) -> tuple[float, float]:
    """The 90 % interval of F1, with sessions drawn anew from a fixed seed."""
    dice = np.random.default_rng(0)
    parts = [table.session == at for at in np.unique(table.session)]
    counts = np.array(
        [[(table.gold & cuts & part).sum(), (table.gold & part).sum() + (cuts & part).sum()] for part in parts]
    )
    drawn = counts[dice.integers(0, len(counts), (draws, len(counts)))].sum(1)
    low, high = np.quantile(2 * drawn[:, 0] / np.maximum(1, drawn[:, 1]), [0.05, 0.95]).round(3)
    return float(low), float(high)


def chance(table: Table, cuts: Array, draws: int = 500) -> float:
    """Share of random cuts, as many within each session, that hit as often."""
    dice, real = np.random.default_rng(0), int((table.gold & cuts).sum())
    as_good = 0
    for _ in range(draws):
        shuffled = cuts.copy()
        for at in np.unique(table.session):
            inside = np.where(table.session == at)[0]
            shuffled[inside] = dice.permutation(cuts[inside])
        as_good += int((table.gold & shuffled).sum()) >= real
    return (as_good + 1) / (draws + 1)


def spec(table: Table, more: Table, common: frozenset[str]) -> dict[str, Any]:
    """What weights.json holds: fitted on everything, thresholds from scores of persons unseen."""
    every = np.arange(len(table.gold))
    about = {"sessions": int(table.session.max() + 1), "prompts": len(every), "boundaries": int(table.gold.sum())}
    model, found = train(table, every, more), unseen(table, every, more)
    words: dict[str, dict[str, float]] = {place: {} for place in ft.PLACES}
    for key, weight in model["words"].items():
        place, _, word = key.partition(" ")
        if abs(weight) >= LEAST:
            words[place][word] = round(float(weight), 3)
    said = {place: sum(_said(words[place], place, heard) for heard in table.heard) / len(every) for place in ft.PLACES}
    out: dict[str, Any] = {"about": {**about, "ridge": RIDGE}}
    for kind, signs in SIGNS.items():
        bias, weights = model[kind]
        means = table.matrix(kind, every).mean(0)
        out[kind] = {
            "bias": round(float(bias), 3), "threshold": round(threshold(found[kind], table.gold, CUT_AT), 3),
            "offer": round(threshold(found[kind], table.gold, OFFER_AT), 3),
            "weights": {
                name: [round(float(weight), 3), round(float(mean), 3)]
                for name, weight, mean in zip(signs, weights, means, strict=True) if abs(weight) >= LEAST
            } | {place: [1.0, round(said[place], 3)] for place in ft.PLACES},
        }  # fmt: skip
    again = second_look(table, found["revised"], every)
    out["again"] = {name: round(value, 3) for name, value in again.items()}
    out["words"] = words
    out["common"] = " ".join(sorted(common))
    return out


def _said(weights: dict[str, float], place: str, heard: list[str]) -> float:
    return sum(weights.get(key.partition(" ")[2], 0.0) for key in heard if key.partition(" ")[0] == place)


def written(found: dict[str, Any]) -> str:
    """The file as a person reads it: a line for each weight, which stands before the feature's mean."""
    parts = [f' "about": {json.dumps(found["about"])}']
    for kind in SIGNS:
        model = found[kind]
        rows = ",\n".join(f'   "{name}": {json.dumps(pair)}' for name, pair in model["weights"].items())
        head = ", ".join(f'"{name}": {model[name]}' for name in ("bias", "threshold", "offer"))
        parts.append(f' "{kind}": {{{head}, "weights": {{\n{rows}\n }}}}')
    parts.append(f' "again": {json.dumps(found["again"])}')
    places = ",\n".join(
        f'   "{place}": {json.dumps(words, ensure_ascii=False)}' for place, words in found["words"].items()
    )
    parts.append(f' "words": {{\n{places}\n }}')
    parts.append(f' "common": {json.dumps(found["common"], ensure_ascii=False)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(name: str, table: Table, cuts: Array, kept: Array | None = None, more: str = "") -> str:
    found = measured(table, cuts, kept)
    inside = np.ones(len(cuts), bool) if kept is None else kept
    some = np.array([bool(table.gold[table.session == at].any()) for at in table.session]) & inside
    changing = measured(table, cuts, some)["pk"] if some.any() else None
    values = [found["precision"], found["recall"], found["f1"], found["cut_rate"], found["true_rate"], found["pk"],
              found["window_diff"], changing]  # fmt: skip
    return f"{name:34s}" + " ".join("    -" if value is None else f"{value:.3f}" for value in values) + f"  {more}"


def report(sessions: list[dict[str, Any]], common: frozenset[str], draws: int) -> list[str]:
    """Lines of text: baselines, folds by person, the persons put aside, languages, persons; `Pk*` where one changes."""
    table, more = Table(sessions, common), Table(spliced(sessions), common)
    count = len(table.gold)
    lines = [f"{'':34s}    P     R    F1  rate  true    Pk    WD   Pk*"]
    jac = np.array([each.cut for session in sessions for each in jaccard(session["prompts"])[1:]])
    gaps = np.array([(each.get("gap_minutes") or 0) > 30 for one in sessions for each in one["prompts"][1:]])
    second = [label == "new" for one in sessions for label in (one.get("second_labels") or one["labels"])[1:]]
    plain = {
        "never": np.zeros(count, bool), "always": np.ones(count, bool), "jaccard": jac, "gap over 30 minutes": gaps,
        "second annotator": np.array(second),
    }  # fmt: skip
    lines += [_line(name, table, cuts) for name, cuts in plain.items()]
    persons = [str(name) for name in np.unique(table.person)]
    above, splices = nested(table, more, [{name} for name in persons])
    away = aside(sessions)
    strict, strict_splices = nested(table, more, [away])
    put = np.isin(table.person, sorted(away))
    langs = np.array([str(sessions[at].get("lang")) for at in table.session])
    files = np.array([str(bool(sessions[at].get("source"))) for at in table.session])
    for kind in SIGNS:
        cuts = above[kind] >= 0
        low, high = interval(table, cuts, draws)
        cut_splices = float((splices[kind][~np.isnan(splices[kind])] >= 0).mean())
        told = f"90 % {low:.2f}-{high:.2f}, p {chance(table, cuts):.3f}, splices cut {cut_splices:.2f}"
        lines.append(_line(f"{kind}, folds by person", table, cuts, None, told))
        cut_splices = float((strict_splices[kind][~np.isnan(strict_splices[kind])] >= 0).mean())
        lines.append(_line(f"  {kind}, persons put aside", table, strict[kind] >= 0, put, f"splices {cut_splices:.2f}"))
        lines.append(_line(f"  {kind}, the others", table, cuts, ~put))
        lines += [_line(f"  {kind} {lang}", table, cuts, langs == lang) for lang in np.unique(langs)]
        lines += [
            _line(f"  {kind} file {1 + (name == 'True')}", table, cuts, files == name) for name in ("False", "True")
        ]
        lines += [_line(f"  {kind} {name}", table, cuts, table.person == name) for name in persons]
    return lines


def main() -> None:
    """Report, and write the weights when a file is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions", type=Path, nargs="+")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--draws", type=int, default=2000)
    given = parser.parse_args()
    sessions = [json.loads(line) for path in given.sessions for line in path.read_text("utf-8").splitlines() if line]
    common = frozenset(json.loads(Path(WEIGHTS).read_text("utf-8"))["common"].split())
    if given.weights:
        found = spec(Table(sessions, common), Table(spliced(sessions), common), common)
        given.weights.write_text(written(found), "utf-8")
    sys.stdout.write("\n".join(report(sessions, common, given.draws)) + "\n")


if __name__ == "__main__":
    main()
