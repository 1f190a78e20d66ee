"""Tells which redaction rules are in force, and remembers short texts that they leave as they are.

While history is gone over, the same short texts come again and again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path

from capture import redaction
from capture.redaction import PLACES, redact, redact_tree, settings
from capture.redaction.verdict import NONE, strength

_SHORT, _KEPT = 400, 20_000
"""Characters of a text that is remembered where it holds nothing, and how many of them are."""
CHOSEN = "."
"""Between the digest of the detectors and those of the person's choice; older versions wrote one digest of both."""


@cache
def _detectors() -> str:
    """A digest of the modules that find secrets, as this process has them."""
    mark = blake2b(digest_size=8)
    for file in sorted(Path(redaction.__file__).parent.glob("*.py")):
        mark.update(file.read_bytes())
    return mark.hexdigest()


def rules() -> str:
    """Digests of all that takes secrets out: of the detectors, then of what the person chose for all and for projects.

    What is allowed to stay is no part of it: texts that were redacted do not come back.
    """
    return f"{_detectors()}{CHOSEN}{text_of(choice())}"


def choice() -> dict[str, str]:
    """What the person chose: digest of a project's name ("" for all) -> digest of patterns, words and sensitivity."""
    form = settings.base()
    own = {"": digest([form.patterns, form.strict])} if form.patterns or form.strict else {}
    return own | {digest(name): digest(said) for name, said in sorted(form.projects.items())}


def digest(said: object) -> str:
    """Twelve hexadecimal digits of a JSON value."""
    return blake2b(json.dumps(said).encode(), digest_size=6).hexdigest()


def text_of(choice: Mapping[str, str]) -> str:
    """A choice as it stands behind `CHOSEN`."""
    return ",".join(f"{name}={said}" for name, said in sorted(choice.items()))


def choice_in(text: str) -> dict[str, str]:
    """The choice in digests that `rules` gave; empty for those of older versions."""
    return dict(each.split("=", 1) for each in text.partition(CHOSEN)[2].split(",") if "=" in each)


class Clean:
    """Short texts that hold nothing by the rules in force: the same stand in row after row, and twice in one."""

    def __init__(self) -> None:
        self._by: settings.Settings | None = None
        self._seen: set[tuple[bool, str]] = set()
        """Whether it is a place, and the text."""

    def follow(self) -> None:
        """Forget all where the rules are others than those at the last call, as they are from part to part."""
        now = settings.load()
        if now is not self._by:
            self._by = now
            self._seen.clear()

    def text(self, text: str, counts: dict[str, int] | None = None, *, place: bool = False) -> str:
        """As `redact`."""
        if (place, text) in self._seen:
            return text
        new = redact(text, counts, place=place)
        if new == text and len(text) <= _SHORT:
            if len(self._seen) >= _KEPT:
                self._seen.clear()
            self._seen.add((place, text))
        return new

    def value(self, text: str, counts: dict[str, int], name: str) -> str:
        """As `redact_tree`, of a text that stands under a name."""
        if name.isidentifier() and strength(name) == NONE:  # as most do: the text alone decides
            return self.text(text, counts, place=name in PLACES)
        return str(redact_tree(text, counts, name))
