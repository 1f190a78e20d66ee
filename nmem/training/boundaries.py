"""Fits the boundary weights on labelled sessions and reports what they are worth on persons they have not seen.

    python -m nmem.training.boundaries SESSIONS.jsonl [--weights nmem/episodes/weights.json] [--draws 2000]

Nested folds: for each person held out, scaling, weights and threshold come from the other persons only (the threshold
from scores of an inner leave-one-person-out). Ridge logistic regression with signs fixed beforehand; the target is the
mean of the annotators, a sub-task counting a fifth of a boundary. Deterministic. Needs the extra `train`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize  # type: ignore[import-untyped]

from nmem.episodes import features as ft
from nmem.episodes.boundary import WEIGHTS, jaccard
from nmem.evaluate.segmentation import Figures, figures

ONLINE = {
    "len_log": 1, "uncovered": 1, "gap_log": 1, "near_commit": 1, "switch": 1, "wish": 1, "ack": -1, "house": -1,
    "anaphor": -1, "machine": -1, "lifecycle": -1, "gap_pasted": -1, "cover_last": -1, "repeat": -1, "prev_asks": -1,
    "prev_stop": -1, "prev_quiet": -1,
}  # fmt: skip
"""Feature -> the sign that its weight may have."""
TURN = {"t_files_new": 1, "t_dirs_new": 1, "t_said_known": -1, "t_edits_log": 1, "t_commit": -1}
SIGNS = {"online": ONLINE, "revised": {**ONLINE, **TURN}}
RIDGE = 10.0
CUT_AT = 1.0
"""Cut as often as this times the boundaries of the training sessions."""
OFFER_AT = 2.5
TARGET = {"new": 1.0, "sub": 0.2, "cont": 0.0, "ack": 0.0}
Array = Any
Model = tuple[float, Array]


class Table:
    """One row for each prompt but the first of its session."""

    def __init__(self, sessions: list[dict[str, Any]], common: frozenset[str]) -> None:
        self.rows: list[ft.Features] = []
        hard, soft, person, repo, number = [], [], [], [], []
        for at, session in enumerate(sessions):
            past = ft.Past(common)
            second = session.get("second_labels") or session["labels"]
            for index, prompt in enumerate(session["prompts"]):
                text, agent = prompt["text"], prompt.get("agent") or {}
                if index:
                    found = {**ft.form(text), **ft.context(text, prompt.get("gap_minutes"), past)}
                    self.rows.append({**found, **ft.turn(agent, past)})
                    hard.append(session["labels"][index] == "new")
                    soft.append((TARGET[session["labels"][index]] + TARGET[second[index]]) / 2)
                    person.append(who(session))
                    repo.append(str(session.get("repo")))
                    number.append(at)
                past.add(text, agent)
        self.gold, self.target = np.array(hard), np.array(soft)
        self.person, self.repo, self.session = np.array(person), np.array(repo), np.array(number)

    def matrix(self, kind: str, chosen: Array) -> Array:
        """The features of some rows, in the order of SIGNS."""
        return np.array([[self.rows[at][name] for name in SIGNS[kind]] for at in chosen])


def who(session: dict[str, Any]) -> str:
    """A person is the author; a repository whose author is masked is one person."""
    author = session.get("author")
    return str(session.get("repo")) if author in (None, "-", "") else str(author)


def fit(x: Array, y: Array, signs: list[int], ridge: float) -> Array:
    """Bias and weights of a ridge logistic regression on soft targets, signs bounded (0: free)."""

    def loss(b: Array) -> tuple[float, Array]:
        z = x @ b[1:] + b[0]
        rest = 1 / (1 + np.exp(-z)) - y
        total = (np.logaddexp(0, z) - y * z).sum() + ridge * (b[1:] ** 2).sum() / 2
        return float(total), np.r_[rest.sum(), x.T @ rest + ridge * b[1:]]

    bounds = [(None, None)] + [(0, None) if sign > 0 else (None, 0) if sign < 0 else (None, None) for sign in signs]
    return minimize(loss, np.zeros(x.shape[1] + 1), jac=True, bounds=bounds, method="L-BFGS-B").x


def train(table: Table, kind: str, chosen: Array) -> Model:
    """Bias and weights on the features as they are."""
    x = table.matrix(kind, chosen)
    mean, spread = x.mean(0), x.std(0) + 0.1
    b = fit((x - mean) / spread, table.target[chosen], list(SIGNS[kind].values()), RIDGE)
    weights = b[1:] / spread
    return float(b[0] - weights @ mean), weights


def scores(table: Table, kind: str, chosen: Array, model: Model) -> Array:
    """Log-odds of some rows."""
    return model[0] + table.matrix(kind, chosen) @ model[1]


def unseen(table: Table, kind: str, chosen: Array, group: Array) -> Array:
    """Scores of each group by a model of the others."""
    out = np.zeros(len(chosen))
    for name in np.unique(group[chosen]):
        inside = group[chosen] == name
        out[inside] = scores(table, kind, chosen[inside], train(table, kind, chosen[~inside]))
    return out


def threshold(found: Array, gold: Array, times: float) -> float:
    """The score at which cuts are `times` as frequent as boundaries."""
    return float(np.quantile(found, max(0.0, 1 - times * gold.mean())))


def nested(table: Table, kind: str, group: Array) -> Array:
    """A cut or not for every row, each decided without its group."""
    cuts, every = np.zeros(len(table.gold), bool), np.arange(len(table.gold))
    for name in np.unique(group):
        known, held = every[group != name], every[group == name]
        limit = threshold(unseen(table, kind, known, group), table.gold[known], CUT_AT)
        cuts[held] = scores(table, kind, held, train(table, kind, known)) >= limit
    return cuts


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


def spec(table: Table, common: frozenset[str]) -> dict[str, Any]:
    """What weights.json holds: fitted on everything, thresholds from scores of persons unseen."""
    every = np.arange(len(table.gold))
    about = {"sessions": int(table.session.max() + 1), "prompts": len(every), "boundaries": int(table.gold.sum())}
    out: dict[str, Any] = {"about": {**about, "ridge": RIDGE}}
    for kind, signs in SIGNS.items():
        bias, weights = train(table, kind, every)
        means = table.matrix(kind, every).mean(0)
        found = unseen(table, kind, every, table.person)
        out[kind] = {
            "bias": round(bias, 3), "threshold": round(threshold(found, table.gold, CUT_AT), 3),
            "offer": round(threshold(found, table.gold, OFFER_AT), 3),
            "weights": {
                name: [round(float(weight), 3), round(float(mean), 3)]
                for name, weight, mean in zip(signs, weights, means, strict=True)
            },
        }  # fmt: skip
    out["common"] = " ".join(sorted(common))
    return out


def written(found: dict[str, Any]) -> str:
    """The file as a person reads it: a line for each weight, which stands before the feature's mean."""
    parts = [f' "about": {json.dumps(found["about"])}']
    for kind in SIGNS:
        model = found[kind]
        rows = ",\n".join(f'   "{name}": {json.dumps(pair)}' for name, pair in model["weights"].items())
        head = ", ".join(f'"{name}": {model[name]}' for name in ("bias", "threshold", "offer"))
        parts.append(f' "{kind}": {{{head}, "weights": {{\n{rows}\n }}}}')
    parts.append(f' "common": {json.dumps(found["common"], ensure_ascii=False)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(name: str, found: Figures, more: str = "") -> str:
    values = [found["precision"], found["recall"], found["f1"], found["pk"], found["window_diff"], found["cut_rate"]]
    return f"{name:32s}" + " ".join("    -" if value is None else f"{value:.3f}" for value in values) + f"  {more}"


def report(sessions: list[dict[str, Any]], common: frozenset[str], draws: int) -> list[str]:
    """Lines of text: baselines, folds by person and by repository, languages, persons."""
    table = Table(sessions, common)
    count = len(table.gold)
    lines = [f"{'':32s}    P     R    F1    Pk    WD  rate", _line("never", measured(table, np.zeros(count, bool))),
             _line("always", measured(table, np.ones(count, bool)))]  # fmt: skip
    for limit in (0.05, 0.15, 0.3):
        cuts = [each.cut for session in sessions for each in jaccard(session["prompts"], limit, patient=0)[1:]]
        lines.append(_line(f"jaccard {limit}", measured(table, np.array(cuts))))
    second = [
        label == "new" for session in sessions for label in (session.get("second_labels") or session["labels"])[1:]
    ]
    lines.append(_line("second annotator", measured(table, np.array(second))))
    for kind in SIGNS:
        for name, group in (("person", table.person), ("repository", table.repo)):
            cuts = nested(table, kind, group)
            low, high = interval(table, cuts, draws)
            more = f"90 % {low:.2f}-{high:.2f}, p {chance(table, cuts):.3f}"
            lines.append(_line(f"{kind}, folds by {name}", measured(table, cuts), more))
        cuts = nested(table, kind, table.person)
        langs = np.array([str(sessions[at].get("lang")) for at in table.session])
        lines += [_line(f"  {kind} {lang}", measured(table, cuts, langs == lang)) for lang in np.unique(langs)]
        lines += [
            _line(f"  {kind} {person}", measured(table, cuts, table.person == person))
            for person in np.unique(table.person)
        ]
        most = max(np.unique(table.session), key=lambda at: int(table.gold[table.session == at].sum()))
        kept = table.session != most
        lines.append(_line(f"  {kind} without session {most}", measured(table, cuts, kept)))
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
    sys.stdout.write("\n".join(report(sessions, common, given.draws)) + "\n")
    if given.weights:
        given.weights.write_text(written(spec(Table(sessions, common), common)), "utf-8")


if __name__ == "__main__":
    main()
