"""The Tool class: a name, a description, parameters, and the function that answers.

Definitions stand in an agent's context whether it uses them or not, so they are short; they need no database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nmem.mcp.ask import Ask, Usage, Value
from nmem.mcp.reply import line

TEXT, NUMBER, TEXTS = "string", "integer", "array"
_LONGEST = 20_000
"""Characters of one argument: more is no question."""
_WORDS = {TEXT: "a text", NUMBER: "a whole number", TEXTS: "a list of texts"}

Answer = dict[str, object]


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter; of a number `default` and the bounds that it is brought within."""

    name: str
    kind: str = TEXT
    says: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    default: Value | None = None
    low: int = 0
    high: int = 0

    def schema(self) -> dict[str, object]:
        """As JSON Schema, without what a model can do without."""
        out: dict[str, object] = {"type": self.kind}
        if self.kind == TEXTS:
            out["items"] = {"type": TEXT}
        if self.says:
            out["description"] = self.says
        if self.choices:
            out["enum"] = list(self.choices)
        if self.default is not None:
            out["default"] = self.default
        if self.high:
            out["maximum"] = self.high
        return out

    def value(self, given: object) -> Value:
        """What was given, as what it should be. Raises Usage."""
        if self.kind == NUMBER:
            return min(max(self._number(given), self.low), self.high or self._number(given))
        if self.kind == TEXTS:
            return tuple(self._text(each) for each in (given if isinstance(given, list) else [given]))
        text = self._text(given)
        if self.choices and text not in self.choices:
            raise Usage(f"{self.name}: {line(text, 60)} is none of {', '.join(self.choices)}")
        return text

    def _number(self, given: object) -> int:
        if isinstance(given, str) and given.strip().lstrip("+-").isdecimal() and len(given) < 18:
            given = int(given)
        if isinstance(given, float) and given.is_integer():
            given = int(given)
        if isinstance(given, bool) or not isinstance(given, int):
            raise self._wrong(given)
        return given

    def _text(self, given: object) -> str:
        if isinstance(given, int) and not isinstance(given, bool):
            given = str(given)
        if not isinstance(given, str):
            raise self._wrong(given)
        if len(given) > _LONGEST:
            raise Usage(f"{self.name}: {len(given)} characters are more than {_LONGEST}")
        return given.replace("\0", "")

    def _wrong(self, given: object) -> Usage:
        return Usage(f"{self.name}: {line(repr(given), 60)} is not {_WORDS[self.kind]}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; `run` answers with what becomes one JSON object, or raises NmemError."""

    name: str
    says: str
    params: tuple[Param, ...]
    run: Callable[[Ask], Answer]
    writes: bool = False

    def schema(self) -> dict[str, object]:
        """Its parameters as JSON Schema."""
        out: dict[str, object] = {"type": "object", "properties": {each.name: each.schema() for each in self.params}}
        if needed := [each.name for each in self.params if each.required]:
            out["required"] = needed
        return out

    def checked(self, given: Mapping[str, object]) -> dict[str, Value]:
        """Arguments as the tool takes them; null is as good as absent. Raises Usage."""
        known = {each.name: each for each in self.params}
        if strange := sorted(set(given) - set(known)):
            takes = ", ".join(known) or "nothing"
            raise Usage(f"{self.name} has no {', '.join(line(name, 40) for name in strange)}: it takes {takes}")
        out = {each.name: each.default for each in self.params if each.default is not None}
        out |= {name: known[name].value(value) for name, value in given.items() if value is not None}
        if missing := [each.name for each in self.params if each.required and out.get(each.name) in (None, "", ())]:
            raise Usage(f"{self.name} needs {' and '.join(missing)}")
        return out


PROJECT = Param("project")
CURSOR = Param("cursor")


def limit(default: int, most: int) -> Param:
    """How many at most."""
    return Param("limit", NUMBER, default=default, low=1, high=most)
