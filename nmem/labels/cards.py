"""Reads the model cards of the five label classifiers (data, accuracy, strongest features) for docs and screens."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capture import cache, paths
from capture.files import own, read
from capture.labels import DIMENSIONS
from capture.labels import model as engine
from nmem.labels import names

SHIPPED, PERSONAL = "shipped", "personal"
FILE = "labels.json"
"""A person's own card, beside the database."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Of calls whose session the model had not seen: always answering, and where it answers."""

    macro_f1: float = 0.0
    accuracy: float = 0.0
    coverage: float = 0.0
    accuracy_answered: float = 0.0
    n: int = 0


@dataclass(frozen=True, slots=True)
class Missed:
    """A call that the model gets wrong with confidence."""

    call: str
    truth: str


@dataclass(frozen=True, slots=True)
class Card:
    """One classifier. Words are those of -1 and of +1; strongest features are told in words, for either word."""

    dimension: str
    words: tuple[str, str]
    model: str
    source: str
    """shipped or personal."""
    calls: int
    sessions: int
    own: int
    """A person's corrections that it was fitted on as well."""
    languages: tuple[tuple[str, int], ...]
    """Of the sessions' prompts, with the number of sessions, where the card says so."""
    classes: tuple[tuple[str, int], ...]
    threshold: float
    """How far from 0 a score is for an answer."""
    held_to: float
    """The accuracy that the threshold was set for."""
    folds: Figures
    rules: Figures
    """The published rules on the same calls."""
    strongest: tuple[tuple[str, ...], tuple[str, ...]]
    missed: tuple[Missed, ...]


def cards(db_path: str = "") -> tuple[Card, ...]:
    """A card for each dimension of the model in force, in the order of DIMENSIONS; none when its card is missing."""
    path = db_path or paths.database()
    model = engine.current(path)
    if model is None:
        return ()
    source, card = card_of(path, model.name)
    return tuple(_card(name, source, card) for name in DIMENSIONS if name in card.get("dimensions", {}))


def card_of(db_path: str, name: str) -> tuple[str, dict[str, Any]]:
    """Where a model in use came from, and its card; an empty card when it lies nowhere."""
    own = personal_file(db_path)
    for source, file in ((PERSONAL, own), (SHIPPED, Path(engine.SHIPPED).with_name("card.json"))):
        found = _read(file, private=source == PERSONAL)
        if found.get("name") == name:
            return source, found
    base = engine.shipped()
    return (SHIPPED if base and base.name == name else PERSONAL), {}


def outdated(db_path: str) -> bool:
    """Whether a person's own model was fitted beside another one than the package has now."""
    model, base = engine.current(db_path), engine.shipped()
    if model is None or base is None or model.name == base.name:
        return False
    return card_of(db_path, model.name)[1].get("beside") != base.name


def passed_over(db_path: str) -> str:
    """Why a person's own model lies there and does not label, in one line; empty when there is none, or it labels."""
    file = Path(engine.personal_file(db_path))
    model, base = engine.current(db_path), engine.shipped()
    try:
        found, folder = file.lstat(), file.parent.stat()
    except OSError:
        return ""
    if model is not None and (base is None or model.name != base.name):
        return ""
    if stat.S_ISLNK(found.st_mode):
        why = "it is a link"
    elif not cache.ours(found):
        why = f"others own it or may write to it (mode {stat.S_IMODE(found.st_mode):o}): chmod 600 {file}"
    elif not cache.ours(folder):
        why = f"others own its folder or may write to it: chmod 700 {file.parent}"
    else:
        why = "it is damaged, or of another nmem: `nmem train labels`, or --reset"
    return f"your own model {file} is not trusted: {why}"


def personal_file(db_path: str) -> Path:
    """Where the card of a person's own model lies."""
    return Path(engine.personal_file(db_path)).with_name(FILE)


def _read(file: Path, *, private: bool) -> dict[str, Any]:
    """A card; nothing of a damaged one, or of one beside a database that others may have written."""
    try:
        if private and not (cache.ours(file.lstat()) and cache.ours(file.parent.stat())):
            return {}
        found = json.loads((own if private else read)(str(file)))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("dimensions"), dict) else {}


def _card(name: str, source: str, card: dict[str, Any]) -> Card:
    one, corpus = card["dimensions"][name], card.get("corpus", {})
    left, right = one["words"]
    return Card(
        name, (left, right), str(card["name"]), source, int(corpus.get("calls", 0)), int(corpus.get("sessions", 0)),
        int(one.get("own", 0)), tuple(corpus.get("languages", {}).items()), tuple(one["classes"].items()),
        float(one["threshold"]), float(one["held_to"]), _figures(one["folds"]), _figures(one["rules"]),
        (names.list_of(one["strongest"][left]), names.list_of(one["strongest"][right])),
        tuple(Missed(each["call"], each["is"]) for each in one["missed"]),
    )  # fmt: skip


def _figures(found: dict[str, Any]) -> Figures:
    return Figures(**{name: found[name] for name in Figures.__slots__ if name in found})
