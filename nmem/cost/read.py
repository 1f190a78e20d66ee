"""Reads what sessions cost: sums by session, episode, thread, project, day or model, and nmem's own share.

An answer belongs to the episode that was open when it began, and to that episode's thread; subagents' answers as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from sqlite3 import Connection

from nmem.cost import store
from nmem.cost.prices import KINDS, Prices
from nmem.cost.store import Chosen
from nmem.read.episode_store import cut_title
from nmem.settings import file as settings

_NO_RATES = (0,) * len(KINDS)


@dataclass(frozen=True, slots=True)
class Sum:
    """Tokens and money of some answers. `tokens` are in KINDS."""

    key: str = ""
    """The id of the session, episode, thread or project; else the name."""
    name: str = ""
    answers: int = 0
    tokens: tuple[int, ...] = _NO_RATES
    money: float = 0.0
    unpriced: int = 0
    """Tokens of models without a price: they are in `tokens`, not in `money`."""
    inner: float = 0.0
    """Of the money, what subagents cost."""

    def __add__(self, other: Sum) -> Sum:
        tokens = tuple(a + b for a, b in zip(self.tokens, other.tokens, strict=True))
        return Sum(self.key, self.name, self.answers + other.answers, tokens, self.money + other.money,
                   self.unpriced + other.unpriced, self.inner + other.inner)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Own:
    """What nmem itself costs, of what is shown: the context that sessions were told, and its questions to models."""

    told: int
    """Tokens, each told once."""
    times: int
    again: int
    """Tokens of these that later answers had before them, out of the cache."""
    money: float
    """Of both, at the price of the models that read them; a compaction makes it less."""
    calls: int
    asked: int
    """Tokens of questions and answers."""
    asked_money: float
    """Of those that went to models with a price: at the price of input, so at least."""
    asked_unpriced: int


@dataclass(frozen=True, slots=True)
class Budget:
    """What a day or a month may cost, and has cost."""

    setting: str
    name: str
    limit: float
    spent: float

    @property
    def passed(self) -> bool:
        """Whether it is too much."""
        return self.spent > self.limit


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one screenful needs."""

    by: str
    since: int
    project: str
    currency: str
    sums: tuple[Sum, ...]
    """Days the newest first, all else the most expensive first."""
    total: Sum
    sessions: int
    unpriced: tuple[tuple[str, int], ...]
    """Models without a price, and their tokens."""
    own: Own
    budgets: tuple[Budget, ...]
    imported: int
    """Where no usage is known at all: how many imported transcripts were read, and hold none."""


def report(
    db: Connection, prices: Prices, now: int, *, by: str = "day", since: int = 0,
    project: tuple[int, str] | None = None, zone: tzinfo | None = None,
) -> Report:  # fmt: skip
    """What was spent since a time (milliseconds), in all projects or one (id, name).

    Raises sqlite3.Error, KeyError for an unknown `by`, NmemError for wrong settings.
    """
    chosen = Chosen(since, project[0] if project else None)
    sums: dict[str, Sum] = {}
    models: dict[str, int] = {}
    for key, model, one in _sums(db, prices, chosen, by):
        sums[key] = sums.get(key, Sum(key)) + one
        if one.unpriced:
            models[model] = models.get(model, 0) + one.unpriced
    total = sum(sums.values(), Sum(name="total"))
    order = sorted(sums.values(), key=lambda one: (one.money, sum(one.tokens), one.key), reverse=True)
    if by == "day":
        order.sort(key=lambda one: one.key, reverse=True)
    named = _told_apart(db, by, [_named(db, by, one) for one in order])
    unpriced = tuple(sorted(models.items(), key=lambda each: -each[1]))
    return Report(by, since, project[1] if project else "", prices.currency, named, total,
                  store.session_count(db, chosen), unpriced, _own(db, prices, chosen),
                  tuple(_budgets(db, prices, now, zone)),
                  0 if total.answers or since or project else store.imported(db))  # fmt: skip


def _sums(db: Connection, prices: Prices, chosen: Chosen, by: str) -> Iterator[tuple[str, str, Sum]]:
    """(group, model, sum) of answers that have one price."""
    steps = prices.steps()
    for key, model, passed, inner, answers, *counts in store.sums(db, chosen, by, steps):
        tokens, price = tuple(counts), prices.of(model)
        long = price is not None and price.above > 0 and passed > steps.index(price.above)
        money = price.money(tokens, long=long) if price else 0.0
        yield str(key), model, Sum(str(key), "", answers, tokens, money, 0 if price else sum(tokens),
                                   money if inner else 0.0)  # fmt: skip


def _named(db: Connection, by: str, one: Sum) -> Sum:
    """With the name that a person knows it by."""
    name: str | None = f"no {by}"
    if one.key and (name := store.name(db, by, one.key)) is not None:
        name = cut_title(name) if by == "thread" else " ".join(name.split())
    name = one.key if name is None else name
    return Sum(one.key, name, one.answers, one.tokens, one.money, one.unpriced, one.inner)


def _told_apart(db: Connection, by: str, named: list[Sum]) -> tuple[Sum, ...]:
    """Projects of one name with their folders."""
    many = Counter(one.name for one in named)
    if by != "project" or many.total() == len(many):
        return tuple(named)
    roots = store.roots(db)
    return tuple(replace(one, name=f"{one.name} ({roots[one.key]})")
                 if many[one.name] > 1 and roots.get(one.key) else one for one in named)  # fmt: skip


def _own(db: Connection, prices: Prices, chosen: Chosen) -> Own:
    """What sessions were told is written to the cache by the next answer, and read from there by those after it."""
    rows = store.told(db, chosen)
    again, money = 0, 0.0
    for tokens, model, answered in rows:
        price = prices.of(model) if model else None
        later = tokens * max(0, answered - 1)
        again += later
        money += price.money((0, 0, later, tokens, 0), long=False) if price else 0.0
    return Own(sum(row[0] for row in rows), len(rows), again, money, *_asked(db, prices, chosen))


def _asked(db: Connection, prices: Prices, chosen: Chosen) -> tuple[int, int, float, int]:
    """Calls, tokens, money and unpriced tokens of nmem's own questions; they belong to no project."""
    if chosen.project is not None:
        return 0, 0, 0.0, 0
    rows = store.asked(db, chosen.since)
    money, unpriced = 0.0, 0
    for backend, _, tokens in rows:
        price = prices.of(f"{backend} ") or prices.of(backend)
        money += price.money((tokens, 0, 0, 0, 0), long=False) if price else 0.0
        unpriced += 0 if price else tokens
    return sum(row[1] for row in rows), sum(row[2] for row in rows), money, unpriced


def _budgets(db: Connection, prices: Prices, now: int, zone: tzinfo | None) -> Iterator[Budget]:
    """The limits that a person set, and what was spent of them, in all projects."""
    said = settings.values("cost")
    today = datetime.fromtimestamp(now / 1000, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    for setting, name, begin in (
        ("cost.budget_day", "today", today), ("cost.budget_month", "this month", today.replace(day=1)),
    ):  # fmt: skip
        limit = float(str(said[setting.partition(".")[2]] or 0))
        if limit:
            since = Chosen(int(begin.timestamp() * 1000))
            yield Budget(setting, name, limit, sum(one.money for _, _, one in _sums(db, prices, since, "")))
