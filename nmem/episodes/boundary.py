"""Detects where a person's intent changes: decided at the prompt, revised after its turn.

`Detector` scores with the fitted weights; `Session` keeps the fading past and the goals of one session; `jaccard` is
the rule of keyword bags, kept as a baseline and as a choice. Nothing here knows the database.
"""

from __future__ import annotations

import os
from math import exp

from nmem.episodes import features as ft
from nmem.episodes import lexicon as lx
from nmem.episodes import text as tx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Prompt = Mapping[str, Any]
    """{text, gap_minutes, agent}; see features for `agent`."""
    Resumed = Callable[[str, ft.Agent], int | None]

WEIGHTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights.json")
FITTED = "boundaries.json"
"""The person's own weights, beside the database; made by training, absent otherwise."""
BARE_REPLY = 0.3
"""Share of acknowledging words above which a short prompt is a bare reply."""
HAND_SET = ("put_away", "returns")
"""Features whose weights are set by hand: a second look takes no cut back where one of them speaks."""
REASONS = {
    "first": "first prompt", "model": "a model says so", "clear": "the conversation was cleared",
    "len_log": "a longer request",
    "gap_log": "a pause before it",
    "switch": "says it turns to something else", "wish": "says what is wanted", "t_files_new": "other files",
    "t_dirs_new": "other folders", "ack": "no bare reply",
    "jaccard": "other keywords",
    "cover_last": "not the words of the prompt before", "gap_long": "a long pause before it",
    "prev_asks": "not an answer", "anaphor": "does not lean on what was said", "t_commit": "not only a commit",
    "t_said_known": "the answer speaks of something else", "house": "not only housekeeping",
    "prev_stop": "nothing was interrupted", "praised_on": "praise, and then a request",
    "long": "a longer request", "lines_log": "several lines", "asks": "a question",
    "names_new": "names other files", "names_known": "names files",
    "far_asked": "not the words asked before", "far_said": "not the words of the answer", "fresh": "new words",
    "fresh_much": "many new words", "worded": "how it is worded", "worded_before": "the prompt before it",
    "answered": "the answer before it", "put_away": "what went before is put away",
    "returns": "goes back to something", "t_far_asked": "the answer speaks of something else",
    "t_far_said": "the answer speaks of something else", "t_fresh": "the answer speaks of something new",
    "t_fresh_much": "the answer speaks of something new", "t_reads_log": "much was read",
    "t_calls_log": "much was done",
    "t_never": "files not seen before", "t_at_hand": "not the files at hand",
    "t_said_log": "a long answer", "a_like": "what follows is about something else",
    "a_carried": "what follows goes on with it", "a_back": "what follows does not go back",
    "a_known": "the session goes on", "apart": "what follows is not about the episode before it",
}  # fmt: skip
"""What a feature means when it speaks for a boundary."""


class Decision:
    """One prompt's verdict. `offer`: not cut, but close enough to ask the person about."""

    __slots__ = ("cut", "firm", "label", "offer", "probability", "resumes", "score", "why")

    def __init__(
        self, cut: bool, offer: bool, probability: float, label: str, why: tuple[str, ...] = (),
        resumes: int | None = None, score: float = 0.0, firm: bool = False,
    ) -> None:  # fmt: skip
        self.score = score
        """Log-odds of a boundary, where the detector gave them."""
        self.firm = firm
        """A cut that a second look does not take back."""
        self.cut = cut
        self.offer = offer
        self.probability = probability
        self.label = label
        self.why = why
        """Names of features, the strongest first."""
        self.resumes = resumes
        """Index of the prompt that opened the goal this one returns to."""

    def reason(self) -> str:
        """Why, in words."""
        return ", ".join(REASONS.get(name, name) for name in self.why)


class Model:
    """A linear model over named features, on the log-odds scale."""

    __slots__ = ("bias", "offer", "threshold", "weights")

    def __init__(self, bias: float, threshold: float, offer: float, weights: Mapping[str, Sequence[float]]) -> None:
        self.bias = bias
        self.threshold = threshold
        self.offer = offer
        self.weights = weights
        """Feature -> its weight and its mean over the prompts it was fitted on."""

    def score(self, found: ft.Features) -> float:
        """Log-odds of a boundary."""
        return self.bias + sum(weight * found.get(name, 0.0) for name, (weight, _) in self.weights.items())

    def why(self, found: ft.Features, most: int = 3) -> tuple[str, ...]:
        """What spoke for it most, against the average prompt."""
        parts = [
            (weight * (found.get(name, 0.0) - mean), name)
            for name, (weight, mean) in self.weights.items()
            if abs(weight * (found.get(name, 0.0) - mean)) >= 0.05
        ]
        parts.sort(reverse=True)
        return tuple(name for value, name in parts[:most] if value > 0)


class Detector:
    """The fitted models; one instance serves any number of sessions."""

    __slots__ = ("again", "common", "models", "words")

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.common = frozenset(spec["common"].split())
        self.words: ft.Weighed = spec["words"]
        self.again: Mapping[str, float] | None = spec.get("again")
        """How likeness to the episode and the session before moves a revised score, at a second look."""
        self.models = {
            kind: Model(spec[kind]["bias"], spec[kind]["threshold"], spec[kind]["offer"], spec[kind]["weights"])
            for kind in ("online", "revised")
        }

    def decide(self, kind: str, found: ft.Features) -> Decision:
        """Verdict of one model (`online` or `revised`) on one prompt's features."""
        model = self.models[kind]
        score = model.score(found)
        cut = score >= model.threshold
        offer = not cut and score >= model.offer
        why = model.why(found) if cut or offer else ()
        firm = cut and any(found.get(name) for name in HAND_SET)
        return Decision(cut, offer, _odds(score), four_way(cut, offer, found), why, score=score, firm=firm)

    def look_again(self, text: str, first: Decision, like: tuple[float, float]) -> Decision:
        """The verdict on a prompt once it is known how like what follows is to the episode and the session before.

        A cut where a feature of HAND_SET speaks stays: these are too few for the fitted likeness to weigh them.
        """
        weights, model = self.again, self.models["revised"]
        if weights is None:
            return first
        moved = weights["bias"] + weights["episode"] * like[0] + weights["session"] * like[1]
        moved = max(0.0, moved) if first.firm else moved
        score = first.score + moved
        cut = score >= model.threshold
        offer = not cut and score >= model.offer
        why = ((*first.why, "apart") if moved > 0 else first.why) if cut or offer else ()
        same = (cut, offer) == (first.cut, first.offer)
        label = first.label if same else four_way(cut, offer, ft.form(text))
        return Decision(cut, offer, _odds(score), label, why, score=score, firm=first.firm)


def _odds(score: float) -> float:
    return round(1.0 / (1.0 + exp(-score)), 3)


def load(db_path: str = "") -> Detector:
    """The detector with the person's own weights where training has made some, else with those of the package."""
    from capture.files import own, read  # on use: start-up stays short
    from capture.jsonio import loads

    paths = [os.path.join(os.path.dirname(os.path.abspath(db_path)), FITTED)] if db_path else []
    for path in (*paths, WEIGHTS):
        try:
            spec = loads((read if path == WEIGHTS else own)(path).decode())
            return Detector(spec)  # type: ignore[arg-type]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            if path == WEIGHTS:
                raise
    raise FileNotFoundError(WEIGHTS)


def four_way(cut: bool, offer: bool, found: ft.Features) -> str:
    """new | sub | cont | ack, from the verdict and the prompt's form."""
    if cut:
        return "new"
    if found["ack"] >= BARE_REPLY or (found["house"] and not found["switch"]):
        return "ack"
    return "sub" if offer else "cont"


def first() -> Decision:
    """A session's first prompt opens an episode, whatever it says."""
    return Decision(True, False, 1.0, "new", ("first",))


def points_back(text: str) -> bool:
    """Whether a prompt names a file or says that it goes back: without that, one waits for what its turn does."""
    head = text[: ft.INTENT_CHARS]
    return any(word in head[:160].lower() for word in lx.BACK) or bool(tx.file_mentions(head))


def verdict(
    kind: str, turn: Prompt, past: ft.Past, detector: Detector, resumed: Resumed, after: Sequence[Prompt] = ()
) -> Decision:
    """The verdict on a turn after the first: `online` from its words alone, `revised` also from what it did.

    `after`: the turns that have followed, as far as they are known; they count where the turn is revised.

    Hooks and replays both come through here; they differ in where `past` is read from and in how `resumed` names the
    goal that a text and an agent's doings return to. It is asked only where it matters.
    """
    text = str(turn.get("text") or "")
    found = {**ft.form(text), **ft.context(text, turn.get("gap_minutes"), past)}
    agent = turn.get("agent") or {} if kind == "revised" else {}
    if kind == "revised":
        found.update(ft.turned(text, agent, past, after))
    decision = detector.decide(kind, found)
    if turn.get("cleared"):
        decision = Decision(True, False, max(decision.probability, 0.9), "new", ("clear",))
    if decision.cut and (kind == "revised" or points_back(text)):
        decision.resumes = resumed(text, agent)
    return decision


class Session:
    """Feed prompts in order: `arrive` when one is submitted, `revise` and `ended` when its turn has ended."""

    __slots__ = ("count", "detector", "goals", "past")

    def __init__(self, detector: Detector, *, goals: bool = True) -> None:
        """`goals`: whether decisions say which goal they return to; without, a second look says so."""
        from nmem.episodes.resumption import Goals  # on use: start-up stays short

        self.detector = detector
        self.past = ft.Past(detector.common, detector.words)
        self.goals = Goals(detector.common) if goals else None
        self.count = 0

    def arrive(self, prompt: Prompt) -> Decision:
        """Online: only the prompt and what came before. Changes nothing."""
        return self._verdict("online", prompt)

    def revise(self, prompt: Prompt, after: Sequence[Prompt] = ()) -> Decision:
        """With what the prompt's own turn did, and with the turns that have followed. Changes nothing."""
        return self._verdict("revised", prompt, after)

    def _verdict(self, kind: str, prompt: Prompt, after: Sequence[Prompt] = ()) -> Decision:
        if not self.count:
            return first()
        resumed = self.goals.resumed if self.goals is not None else _nowhere
        return verdict(kind, prompt, self.past, self.detector, resumed, after)

    def ended(self, prompt: Prompt, decision: Decision) -> None:
        """The turn is over: learn it, in the episode where the standing decision (or a person) put it."""
        agent, text = prompt.get("agent") or {}, str(prompt.get("text") or "")
        if self.goals is not None:
            self.goals.add(self.count, text, agent, decision.cut, decision.resumes)
        self.past.add(text, agent)
        self.count += 1


def _nowhere(_text: str, _agent: ft.Agent) -> None:
    return None


def jaccard(
    prompts: Sequence[Prompt], threshold: float = 0.15, terse: int = 5, patient: float = 30.0
) -> list[Decision]:
    """The rule of keyword bags: terse prompts continue; else Jaccard against a bag that grows, until it is cut.

    `patient`: minutes of waiting after which a change is likelier, so that the threshold rises by half; 0 never.
    """
    bag: set[str] = set()
    out: list[Decision] = []
    for number, prompt in enumerate(prompts):
        text = str(prompt.get("text") or "")
        if number and tx.word_count(text) < terse:
            out.append(Decision(False, False, 0.0, "ack"))
            continue
        words = {word for word in (run.lower() for run in tx.runs(text)) if len(word) > 2 and word not in lx.STOP}
        limit = threshold * (1.5 if patient and (prompt.get("gap_minutes") or 0) > patient else 1.0)
        union = len(words | bag)
        near = len(words & bag) / union if union else 0.0
        cut = not number or near < limit
        bag = words if cut else bag | words
        why = ("jaccard",) if number else ("first",)
        out.append(Decision(cut, False, round(1.0 - near, 3), "new" if cut else "cont", why if cut else ()))
    return out
