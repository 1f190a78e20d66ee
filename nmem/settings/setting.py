"""The Setting record: name, allowed values, default, meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

FLAG = "flag"
WHOLE = "whole number"
NUMBER = "number"
TEXT = "text"
CHOICE = "choice"
TEXTS = "list of texts"
URL = "address"
WORDS = "words of a command"
PATTERNS = "patterns"
ALLOW = "allowances"
KEYS = "key or list of keys"
KINDS = (FLAG, WHOLE, NUMBER, TEXT, CHOICE, TEXTS, URL, WORDS, PATTERNS, ALLOW, KEYS)
ANY = "*"
"""A part of a name that a person chooses: a client, a project."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of config.toml."""

    name: str
    """Dotted: `context.start_tokens`; `*` stands for a part that a person chooses: `threads.clients.*`."""
    kind: str
    default: object
    """Of the kind's own type, lists as tuples; None: nothing is set."""
    meaning: str
    """One line."""
    low: float | None = None
    high: float | None = None
    above: float | None = None
    """As `low`, but not itself allowed."""
    choices: tuple[str, ...] = ()
    """What it may be; with parts to choose, what the last of them may be."""
    unit: str = ""
    secret: bool = False
    """Never shown in a list."""
    also: Callable[[object], str] | None = None
    """What else is wrong with a value of its kind, as the rest of a sentence: what the reader itself would say."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The name, part by part."""
        return tuple(self.name.split("."))

    def matches(self, path: tuple[str, ...]) -> bool:
        """Whether a key of a document is this setting."""
        return len(path) == len(self.parts) and all(
            own in (ANY, given) for own, given in zip(self.parts, path, strict=True)
        )
