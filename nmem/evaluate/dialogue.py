"""Evaluates generic dialogues ({utterances, boundaries}) with the same features, on published sets.

Each utterance is a prompt, the one after it stands for the closing text of its turn, and a few features look at both
sides of the gap. The weights are its own (dialogue.json): those of coding sessions would hardly ever cut here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from nmem.episodes import features as ft
from nmem.episodes import text as tx
from nmem.episodes.boundary import Model

WEIGHTS = Path(__file__).with_name("dialogue.json")
_SIDE = 3
"""Utterances on each side of a gap."""
Utterance = Mapping[str, Any]


def _counts(texts: Sequence[str]) -> dict[str, int]:
    out: dict[str, int] = {}
    for text in texts:
        for token in tx.tokens(text):
            out[token] = out.get(token, 0) + 1
    return out


def _cosine(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    dot = sum(count * other.get(token, 0) for token, count in one.items())
    norm = (sum(v * v for v in one.values()) * sum(v * v for v in other.values())) ** 0.5
    return float(dot / norm) if norm else 0.0


def _near(one: str, other: str) -> float:
    """Shared tokens over the smaller set."""
    left, right = set(tx.tokens(one)), set(tx.tokens(other))
    return len(left & right) / (min(len(left), len(right)) + 1.0)


def _asks(text: str) -> float:
    return float("?" in text or "？" in text)


def _around(texts: Sequence[str], roles: Sequence[str], at: int) -> ft.Features:
    """What the gap before an utterance looks like from both sides."""
    after = texts[at + 1] if at + 1 < len(texts) else ""
    return {
        "d_user": float(roles[at] == "user"),
        "d_prev_asks": _asks(texts[at - 1]),
        "d_asks": _asks(texts[at]),
        "d_near_last": _near(texts[at], texts[at - 1]),
        "d_near_before": _near(texts[at], texts[at - 2]) if at > 1 else 0.0,
        "d_next_near": _near(after, texts[at - 1]),
        "d_sides": _cosine(_counts(texts[max(0, at - _SIDE) : at]), _counts(texts[at : at + _SIDE])),
    }


def rows(utterances: Sequence[Utterance], common: frozenset[str]) -> list[ft.Features]:
    """Features of every utterance but the first."""
    texts = [str(each["text"]) for each in utterances]
    roles = [str(each.get("role")) for each in utterances]
    past, out = ft.Past(common), []
    for at, text in enumerate(texts):
        if at:
            known = ft.turn({"said": texts[at + 1] if at + 1 < len(texts) else ""}, past)["t_said_known"]
            form = {**ft.form(text), **ft.context(text, None, past)}
            out.append({**form, "t_said_known": known, **_around(texts, roles, at)})
        past.add(text, {"said": text})
    return out


@cache
def shipped() -> Model:
    """The weights of the package."""
    spec = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    weights = {name: [weight, 0.0] for name, weight in spec["weights"].items()}
    return Model(spec["bias"], spec["threshold"], spec["threshold"], weights)


def segment(utterances: Sequence[Utterance], common: frozenset[str]) -> list[bool]:
    """Cuts before each utterance but the first."""
    model = shipped()
    return [model.score(found) >= model.threshold for found in rows(utterances, common)]
