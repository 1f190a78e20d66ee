"""Checks a model's texts against the facts, sentence by sentence: drops and counts unsupported ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from nmem.llm.claims import sentences, stands, unsupported
from nmem.llm.facts import Facts


@dataclass
class Checker:
    """Keeps what stands, once, and counts both; one checker for one answer, its fields in order of importance."""

    facts: Facts
    kept: int = 0
    dropped: int = 0
    seen: set[str] = field(default_factory=set)
    strange: list[str] = field(default_factory=list)
    """Names and numbers for which sentences were dropped."""

    def text(self, text: str, *, brief: bool = False) -> str:
        """The sentences of the text that stand and were not said before, joined."""
        rows = sentences(text)
        standing = [row for row in rows if self._new(row) and self._stands(row, brief)]
        self.dropped += len(rows) - len(standing)
        self.kept += len(standing)
        return " ".join(standing).rstrip(" ;；")

    def texts(self, rows: Iterable[str], *, brief: bool = False) -> tuple[str, ...]:
        """The rows of which something stands."""
        return tuple(checked for row in rows if (checked := self.text(row, brief=brief)))

    def _stands(self, sentence: str, brief: bool) -> bool:
        if stands(sentence, self.facts, brief=brief):
            return True
        self.strange += [word for word in unsupported(sentence, self.facts) if word not in self.strange]
        return False

    @property
    def mostly_invented(self) -> bool:
        """Whether more was dropped than kept: then the rest is luck."""
        return self.dropped > self.kept

    def _new(self, sentence: str) -> bool:
        """Whether it was not said before: a model at a loss says one thing in every field."""
        key = sentence.casefold().strip(" .;!")
        if key in self.seen:
            return False
        self.seen.add(key)
        return True
