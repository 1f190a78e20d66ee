"""The table of prices: a model's name in, its price a million tokens out; a person's own file comes first.

prices.json beside this module, and `prices.json` beside config.toml (or the file that `cost.prices` names), of the same
form: {"currency": "USD", "models": [{"match": "*claude-opus-4-6*", "input": 5, "output": 25, "cache_read": 0.5,
"cache_write": 6.25, "cache_write_1h": 10, "above": {"tokens": 200000, ...}}]}. The first pattern that matches counts.
`above`: what an answer costs whose question was longer. An own file in another currency stands alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from capture import files, paths
from nmem.errors import NmemError
from nmem.settings import file as settings
from nmem.text import printable

KINDS = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
"""What tokens are counted as, in the order in which everything here has them."""
_INSTEAD = {"cache_read": "input", "cache_write": "input", "cache_write_1h": "cache_write"}
"""The price of what a file gives none for."""
_OWN = Path(__file__).with_name("prices.json")
Rates = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Price:
    """What the models of a pattern cost, in KINDS, for a million tokens."""

    match: str
    rates: Rates
    above: int = 0
    """Tokens of a question from which on `long` counts; 0: never."""
    long: Rates = ()

    def money(self, tokens: tuple[int, ...], *, long: bool) -> float:
        """What so many tokens cost, in KINDS."""
        rates = self.long if long else self.rates
        return sum(rate * count for rate, count in zip(rates, tokens, strict=True)) / 1e6


@dataclass(frozen=True, slots=True)
class Prices:
    """All patterns, the first that matches counts."""

    currency: str
    prices: tuple[Price, ...]

    def of(self, model: str) -> Price | None:
        """The price of a model; None where nothing is known."""
        return next((one for one in self.prices if fnmatchcase(model.lower(), one.match)), None)

    def steps(self) -> tuple[int, ...]:
        """The lengths of questions from which on some model costs more."""
        return tuple(sorted({one.above for one in self.prices if one.above}))


def load() -> Prices:
    """What is in force. Raises NmemError for an own file that is wrong."""
    ours = _ours()
    named = str(settings.values("cost").get("prices") or "")
    path = Path(named).expanduser() if named else Path(paths.config()).with_name("prices.json")
    try:
        text = files.read(str(path)).decode()
    except FileNotFoundError:
        if named:
            raise NmemError(f"{printable(str(path))} does not exist: cost.prices in config.toml names it") from None
        return ours
    except (OSError, UnicodeDecodeError) as error:
        raise NmemError(f"{printable(str(path))} cannot be read: {error}") from None
    own = parse(text, printable(str(path)))
    return own if own.currency != ours.currency else Prices(own.currency, own.prices + ours.prices)


@lru_cache(1)
def _ours() -> Prices:
    return parse(_OWN.read_text("utf-8"), _OWN.name)


def parse(text: str, name: str) -> Prices:
    """A table of prices as a file has it. Raises NmemError, in words that name the file."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NmemError(f"{name} is no JSON: {error}") from None
    models = found.get("models") if isinstance(found, dict) else None
    if not isinstance(models, list):
        raise NmemError(f'{name}: needs {{"currency": "USD", "models": [{{"match": "*", "input": 3, "output": 15}}]}}')
    currency = found.get("currency", "USD")
    if not (isinstance(currency, str) and 0 < len(currency) <= 8 and currency.isprintable()):
        raise NmemError(f'{name}: currency must be a short text: "USD"')
    return Prices(currency, tuple(_price(one, f"{name}: models[{number}]") for number, one in enumerate(models)))


def _price(given: Any, where: str) -> Price:  # noqa: ANN401 - whatever the file has
    if not (isinstance(given, dict) and isinstance(given.get("match"), str) and given["match"]):
        raise NmemError(f'{where}: needs a "match", a pattern of model names: "*opus-4-6*"')
    above = given.get("above")
    if above is None:
        return Price(given["match"].lower(), _rates(given, where))
    if not isinstance(above, dict) or not _number(above.get("tokens")) or above["tokens"] < 1:
        raise NmemError(f'{where}: "above" needs "tokens", and prices as the model has')
    return Price(given["match"].lower(), _rates(given, where), int(above["tokens"]), _rates(above, f"{where}: above"))


def _rates(given: dict[str, Any], where: str) -> Rates:
    out: dict[str, float] = {}
    for kind in KINDS:
        value = given.get(kind, out.get(_INSTEAD.get(kind, "")))
        if not _number(value):
            raise NmemError(f'{where}: "{kind}" must be a price for a million tokens, as a number')
        out[kind] = float(value)  # type: ignore[arg-type]
    return tuple(out.values())


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
