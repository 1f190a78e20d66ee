"""Refits the boundary weights on a person's decisions, with a strong prior on the built-in weights.

Pure Python. Folds keep a session together; a model is adopted only when it does better than the shipped one on the
sessions that it has not seen. The prior is always the shipped weights, so repeated fitting does not drift.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from math import log
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from capture import files
from capture.storage.store import transaction
from nmem.episodes.boundary import FITTED, REASONS, WEIGHTS, Model
from nmem.errors import NmemError
from nmem.threads.formula import Example, fit
from nmem.training import answers as rows
from nmem.training import store
from nmem.training.answers import Answer, Shift
from nmem.training.store import Fitting

KINDS = ("online", "revised")
RIDGE = 20.0
"""How strongly a standardised weight is held to the shipped one: about so many answers move it half of the way."""
LEAST, LEAST_SESSIONS, LEAST_EACH = 12, 4, 3
"""Own decisions, sessions with some, and decisions for and against a boundary, below which nothing is fitted."""
FOLDS = 5
WRONG = 1.5
"""A wrong cut costs the person more than a missed one, which costs 1."""
PRIOR = 40.0
"""Prompts that the shipped rate of cuts counts as, beside the person's own: a few answers move it a little."""
_FARTHEST, _FELT = 1.0, 0.02
"""How far, on the log-odds scale, a threshold follows the person's rate at most; and the least that is kept."""
_MARGIN, _SAME = 0.1, 1e-6
_SPREAD = 0.1
_TOLD = 5

_WORDS = {
    **REASONS, "gap_pasted": "no pasted output after the pause", "repeat": "not the same words again",
    "machine": "not a machine's text",
}  # fmt: skip
"""What a feature means when it speaks for a boundary."""

Spec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Figures:
    """How a model does on prompts whose truth is known; F1, precision and recall count each by its weight."""

    cuts: int
    wrong: int
    missed: int
    """Among the person's own decisions, as `wrong`."""
    precision: float
    recall: float
    f1: float
    cost: float


@dataclass(frozen=True, slots=True)
class Refit:
    """One model, before and after, on sessions that the fit has not seen."""

    kind: str
    adopted: bool
    before: Figures
    after: Figures
    threshold_before: float
    threshold_after: float
    cuts_before: int
    """Over all prompts of the sessions, with the shipped model; `cuts_after` with the new one."""
    cuts_after: int
    shifts: tuple[Shift, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What a fit came to. `enough` false: too few decisions, and `refits` is empty."""

    enough: bool
    sessions: int
    decisions: int
    prompts: int
    reason: str
    refits: tuple[Refit, ...] = ()
    path: str = ""
    """Where the person's weights are now; empty when those of the package decide."""


def own(db_path: str) -> Path:
    """Where the person's weights are, or would be."""
    return Path(os.path.abspath(db_path)).parent / FITTED  # noqa: PTH100 - the detector's own words


def shipped() -> Spec:
    """The weights of the package."""
    spec: Spec = json.loads(Path(WEIGHTS).read_text(encoding="utf-8"))
    return spec


def in_force(db_path: str) -> Spec:
    """The weights that decide now."""
    try:
        spec: Spec = json.loads(files.own(str(own(db_path))))
    except (OSError, ValueError):
        return shipped()
    return spec if isinstance(spec, dict) and set(KINDS) <= spec.keys() else shipped()


def train(db: Connection, db_path: str, now: int, *, dry: bool = False) -> Report:
    """Fit, compare, and keep or reject. `dry`: change nothing. Raises sqlite3.Error or NmemError."""
    base = shipped()
    known = rows.answers(db, frozenset(base["common"].split()), base["words"])
    decided = [each for each in known if each.own]
    sessions = len({each.session_id for each in decided})
    missing = lacking(decided, sessions)
    if missing:
        if decided and not dry and _follow(db, db_path, now, base, known):
            missing += "; until then the cut follows how often you say that something new begins"
        return Report(False, sessions, len(decided), len(known), missing, path=_path(db_path))
    found = {kind: _refit(base[kind], kind, known) for kind in KINDS}
    refits = tuple(refit for refit, _ in found.values())
    spec = {**base, **{kind: part for kind, (refit, part) in found.items() if refit.adopted}}
    adopted = [refit.kind for refit in refits if refit.adopted]
    reason = _reason(refits)
    if not dry:
        spec["about"] = {"fitted_at": now, "sessions": sessions, "decisions": len(decided), "prior": _mark(base),
                         "fitted": adopted}  # fmt: skip
        _keep(db, db_path, now, spec if adopted else None, reason, refits)
    return Report(True, sessions, len(decided), len(known), reason, refits, _path(db_path))


def follow(db: Connection, db_path: str, now: int) -> bool:
    """Let the cut follow the person's own rate while there are too few decisions to fit; whether it moved.

    Reads nothing when no decision has come since. Raises NmemError or sqlite3.Error.
    """
    about = in_force(db_path).get("about", {})
    if "fitted" in about or about.get("decisions", 0) == store.decisions(db):
        return False
    base = shipped()
    known = rows.answers(db, frozenset(base["common"].split()), base["words"])
    return bool(known) and _follow(db, db_path, now, base, known)


def _follow(db: Connection, db_path: str, now: int, base: Spec, known: Sequence[Answer]) -> bool:
    parts = {kind: calibrated(base[kind], known) for kind in KINDS}
    if all(abs(parts[kind]["threshold"] - in_force(db_path)[kind]["threshold"]) < _FELT for kind in KINDS):
        return False
    about = {"calibrated_at": now, "decisions": store.decisions(db), "prior": _mark(base)}
    _keep(db, db_path, now, {**base, **parts, "about": about}, "the cut follows the person's own rate", ())
    return True


def reset(db: Connection, db_path: str, now: int) -> bool:
    """Go back to the weights of the package; whether others were in force. Raises NmemError or sqlite3.Error."""
    if not own(db_path).exists():
        return False
    _keep(db, db_path, now, None, "reset: the weights of the package decide again", ())
    return True


def _mark(spec: Spec) -> str:
    return blake2b(json.dumps([spec[kind] for kind in KINDS]).encode(), digest_size=8).hexdigest()


def _path(db_path: str) -> str:
    file = own(db_path)
    return str(file) if file.exists() else ""


def lacking(decided: Sequence[Answer], sessions: int) -> str:
    """Why these decisions are too few to learn from; empty when they are enough."""
    cuts = sum(each.boundary for each in decided)
    if len(decided) < LEAST or sessions < LEAST_SESSIONS:
        known = f"{len(decided)} decision{'s' * (len(decided) != 1)} in {sessions} session{'s' * (sessions != 1)}"
        return f"{known}; it takes {LEAST} in {LEAST_SESSIONS} to learn from"
    if min(cuts, len(decided) - cuts) < LEAST_EACH:
        return (f"of {len(decided)} decisions {cuts} are boundaries and {len(decided) - cuts} are not; it takes"
                f" {LEAST_EACH} of each")  # fmt: skip
    return ""


# fitting


def _refit(base: Spec, kind: str, known: Sequence[Answer]) -> tuple[Refit, Spec]:
    names = sorted({each.session_id for each in known})
    fold = {name: number % min(FOLDS, len(names)) for number, name in enumerate(names)}
    unseen: list[tuple[Answer, bool]] = []
    for number in sorted(set(fold.values())):
        part = fitted(base, [each for each in known if fold[each.session_id] != number])
        model = _model(part)
        held = [each for each in known if fold[each.session_id] == number]
        unseen += [(each, model.score(each.features) >= model.threshold) for each in held]
    old = _model(base)
    before = figures([(each, old.score(each.features) >= old.threshold) for each in known])
    after = figures(unseen)
    part = fitted(base, known)
    new = _model(part)
    adopted = better(before, after)
    refit = Refit(
        kind, adopted, before, after, base["threshold"], part["threshold"],
        sum(old.score(each.features) >= old.threshold for each in known),
        sum(new.score(each.features) >= new.threshold for each in known), _shifts(base, part, known),
    )  # fmt: skip
    return refit, part


def _model(part: Spec) -> Model:
    return Model(part["bias"], part["threshold"], part["offer"], part["weights"])


def fitted(base: Spec, known: Sequence[Answer]) -> Spec:
    """One model's weights, drawn towards `base`: no weight changes its sign, and it does not cut much more often."""
    names = list(base["weights"])
    signs = [-1.0 if base["weights"][name][0] < 0 else 1.0 for name in names]
    centre = [sign * base["weights"][name][1] for sign, name in zip(signs, names, strict=True)]
    table = [[sign * each.features.get(name, 0.0) for sign, name in zip(signs, names, strict=True)] for each in known]
    spread = _spread(table, centre)
    size = [abs(base["weights"][name][0]) * width for name, width in zip(names, spread, strict=True)]
    middle = base["bias"] + sum(abs(base["weights"][name][0]) * mean for name, mean in zip(names, centre, strict=True))
    examples = [Example(tuple(values), each.boundary, each.weight) for values, each in zip(table, known, strict=True)]
    bias, *moved = fit(examples, centre, spread, [middle, *size], RIDGE)
    weights = [value / width for value, width in zip(moved, spread, strict=True)]
    part = {
        "bias": round(bias - sum(weight * mean for weight, mean in zip(weights, centre, strict=True)), 4),
        "threshold": base["threshold"], "offer": base["offer"],
        "weights": {
            name: [round(sign * weight, 4), base["weights"][name][1]]
            for name, sign, weight in zip(names, signs, weights, strict=True)
        },
    }  # fmt: skip
    line = _line(base, part, known)
    part["threshold"], part["offer"] = round(line, 3), round(line - base["threshold"] + base["offer"], 3)
    return part


def own_rate(base: Spec, known: Sequence[Answer]) -> tuple[float, float]:
    """The share of prompts that the shipped model cuts, and that of the person: prior and counts, smoothed."""
    old = _model(base)
    mass = sum(each.weight for each in known)
    cuts = sum(each.weight for each in known if old.score(each.features) >= old.threshold)
    true = sum(each.weight for each in known if each.boundary)
    usual = (cuts + 1.0) / (mass + 2.0)
    return usual, (PRIOR * usual + true) / (PRIOR + mass)


def calibrated(base: Spec, known: Sequence[Answer]) -> Spec:
    """The shipped weights with their thresholds moved to the person's rate."""
    usual, own = own_rate(base, known)
    shift = log(own / (1.0 - own)) - log(usual / (1.0 - usual))
    shift = max(-_FARTHEST, min(_FARTHEST, shift))
    return {**base, "threshold": round(base["threshold"] - shift, 3), "offer": round(base["offer"] - shift, 3)}


def _spread(table: Sequence[Sequence[float]], centre: Sequence[float]) -> list[float]:
    """How far each number is from its usual value; never near 0."""
    return [
        (sum((value - mean) ** 2 for value in column) / len(table)) ** 0.5 + _SPREAD
        for column, mean in zip(zip(*table, strict=True), centre, strict=True)
    ]


def _line(base: Spec, part: Spec, known: Sequence[Answer]) -> float:
    """The threshold at which cuts are as frequent as the person's own rate says."""
    new = _model(part)
    true = sum(each.weight for each in known if each.boundary)
    wanted = own_rate(base, known)[1] * sum(each.weight for each in known)
    scored = sorted(((new.score(each.features), each.weight) for each in known), reverse=True)
    lines = [(0.0, scored[0][0] + _MARGIN)]
    mass = 0.0
    for place, (score, weight) in enumerate(scored, 1):
        mass += weight
        below = scored[place][0] if place < len(scored) else score - 2 * _MARGIN
        if score - below > _SAME:
            lines.append((mass, (score + below) / 2))
    return min(lines, key=lambda each: (abs(each[0] - wanted), abs(each[0] - true)))[1]


def figures(verdicts: Sequence[tuple[Answer, bool]]) -> Figures:
    """Verdicts against what is known."""
    hit = sum(each.weight for each, cut in verdicts if cut and each.boundary)
    wrong = sum(each.weight for each, cut in verdicts if cut and not each.boundary)
    missed = sum(each.weight for each, cut in verdicts if not cut and each.boundary)
    return Figures(
        sum(cut for _, cut in verdicts),
        sum(cut and each.own and not each.boundary for each, cut in verdicts),
        sum(not cut and each.own and each.boundary for each, cut in verdicts),
        _share(hit, hit + wrong), _share(hit, hit + missed), _share(2 * hit, 2 * hit + wrong + missed),
        round(WRONG * wrong + missed, 4),
    )  # fmt: skip


def better(before: Figures, after: Figures) -> bool:
    """Whether what is new is adopted: it costs the person less, and finds more of what is right."""
    return after.cost < before.cost - 1e-9 and after.f1 > before.f1


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0


def _shifts(base: Spec, part: Spec, known: Sequence[Answer]) -> tuple[Shift, ...]:
    """The features that moved most, by what they change on the person's own prompts."""
    found = []
    for name, (old, mean) in base["weights"].items():
        new = part["weights"][name][0]
        values = [each.features.get(name, 0.0) - mean for each in known]
        felt = abs(new - old) * (sum(value**2 for value in values) / len(values)) ** 0.5
        if felt >= 0.01:
            found.append((felt, Shift(name, _WORDS.get(name, name.replace("_", " ")), old, new)))
    found.sort(key=lambda each: (-each[0], each[1].feature))
    return tuple(shift for _, shift in found[:_TOLD])


def _reason(refits: Sequence[Refit]) -> str:
    return "; ".join(
        f"{refit.kind}: {'adopted' if refit.adopted else 'kept as shipped'}, F1 {refit.before.f1:.2f} to"
        f" {refit.after.f1:.2f} on sessions not seen"
        for refit in refits
    )


# keeping


def _keep(db: Connection, db_path: str, now: int, spec: Spec | None, reason: str, refits: Sequence[Refit]) -> None:
    """Put the weights in force (None: those of the package) and note it: both or neither."""
    before, after = in_force(db_path), spec or shipped()
    metrics = {refit.kind: {"before": asdict(refit.before), "after": asdict(refit.after), "adopted": refit.adopted}
               for refit in refits}  # fmt: skip
    slim = [{kind: each[kind] for kind in KINDS} for each in (before, after)]
    with transaction(db):
        store.note(db, rows.SUBJECT, Fitting(now, slim[0], slim[1], reason, metrics))
        try:
            _write(own(db_path), spec)
        except OSError as error:
            raise NmemError(f"the weights cannot be stored: {error}") from None


def _write(file: Path, spec: Spec | None) -> None:
    if spec is None:
        file.unlink(missing_ok=True)
        return
    files.replace(str(file), json.dumps(spec, ensure_ascii=False, indent=1).encode())
