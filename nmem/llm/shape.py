"""Describes the fields of a model's answer: gives the JSON schema to send, and parses and bounds the reply.

Reading is stricter than the schema: types are checked, lengths are bounded, unknown keys are dropped, and every text
is neutralised. Lengths stay off the wire because hosted endpoints refuse `maxLength` and grammars explode on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from nmem.llm.outgoing import untagged


class BadShape(ValueError):
    """What is wrong with an answer, in words that the model can act on.

    `words`: those of the answer that are wrong. They go back to the model alone, and are kept nowhere.
    """

    def __init__(self, said: str, words: Sequence[str] = ()) -> None:
        super().__init__(said)
        self.words = tuple(words)


class Field(Protocol):
    """One value of an answer."""

    def schema(self) -> dict[str, object]: ...

    def read(self, value: object, where: str) -> object: ...


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text."""

    limit: int
    hint: str = ""
    required: bool = False

    def schema(self) -> dict[str, object]:
        return {"type": "string", **({"description": self.hint} if self.hint else {})}

    def read(self, value: object, where: str) -> str:
        if value is None and not self.required:
            return ""
        if not isinstance(value, str):
            raise BadShape(f"{where} must be a string")
        text = untagged(value[: self.limit * 8])
        if self.required and not text:
            raise BadShape(f"{where} must not be empty")
        return cut(text, self.limit)


@dataclass(frozen=True, slots=True)
class Texts:
    """A list of lines; one bare line counts as a list of one, repeated ones as one."""

    most: int
    limit: int
    hint: str = ""

    def schema(self) -> dict[str, object]:
        words = {"description": self.hint} if self.hint else {}
        return {"type": "array", "items": {"type": "string"}, "maxItems": self.most, **words}

    def read(self, value: object, where: str) -> list[str]:
        rows = [] if value is None else [value] if isinstance(value, str) else value
        if not isinstance(rows, list):
            raise BadShape(f"{where} must be a list of strings")
        item = Text(self.limit)
        texts = [item.read(row, f"{where}[{index}]") for index, row in enumerate(rows[: self.most * 4])]
        return list({text.casefold(): text for text in reversed(texts) if text}.values())[::-1][: self.most]


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds; `whole` ones are integers, `optional` ones may be null."""

    low: float
    high: float
    whole: bool = False
    optional: bool = False

    def schema(self) -> dict[str, object]:
        kind = "integer" if self.whole else "number"
        return {"type": [kind, "null"] if self.optional else kind}

    def read(self, value: object, where: str) -> float | int | None:
        if value is None and self.optional:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise BadShape(f"{where} must be a number")
        if not self.low <= value <= self.high or (self.whole and value != int(value)):
            raise BadShape(
                f"{where} must be {'a whole number ' if self.whole else ''}from {self.low:g} to {self.high:g}"
            )
        return int(value) if self.whole else float(value)


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    def schema(self) -> dict[str, object]:
        return {"type": "boolean"}

    def read(self, value: object, where: str) -> bool:
        if not isinstance(value, bool):
            raise BadShape(f"{where} must be true or false")
        return value


@dataclass(frozen=True, slots=True)
class Record:
    """An object with named fields."""

    fields: Mapping[str, Field]

    def schema(self) -> dict[str, object]:
        inner = {name: field.schema() for name, field in self.fields.items()}
        return {"type": "object", "properties": inner, "required": list(inner), "additionalProperties": False}

    def read(self, value: object, where: str = "the answer") -> dict[str, object]:
        if not isinstance(value, dict):
            raise BadShape(f"{where} must be a JSON object")
        prefix = "" if where == "the answer" else f"{where}."
        return {name: field.read(value.get(name), prefix + name) for name, field in self.fields.items()}


@dataclass(frozen=True, slots=True)
class Records:
    """A list of objects."""

    record: Record
    most: int

    def schema(self) -> dict[str, object]:
        return {"type": "array", "items": self.record.schema()}

    def read(self, value: object, where: str) -> list[dict[str, object]]:
        if not isinstance(value, list) or len(value) > self.most:
            raise BadShape(f"{where} must be a list of at most {self.most} objects")
        return [self.record.read(row, f"{where}[{index}]") for index, row in enumerate(value)]


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[limit // 2 :] else head).rstrip() + "…"
