"""Reads what sessions cost (SQL): sums by session, episode, thread, project, day or model, and nmem's own share.

An answer belongs to the episode that was open when it began, and to that episode's thread; subagents' answers as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from sqlite3 import Connection

from nmem.cost.prices import KINDS, Prices
from nmem.read.threads import whole
from nmem.settings import file as settings

_UNIT = (
    "coalesce((SELECT w.id FROM work_units w WHERE w.session_id = u.session_id AND w.started_at <= u.at"
    " ORDER BY w.started_at DESC LIMIT 1),"
    " (SELECT w.id FROM work_units w WHERE w.session_id = u.session_id ORDER BY w.started_at LIMIT 1), '')"
)
_GROUPS = {
    "day": "strftime('%Y-%m-%d', u.at / 1000, 'unixepoch', 'localtime')",
    "model": "u.model",
    "project": "s.project_id",
    "thread": f"coalesce((SELECT t.thread_id FROM work_units t WHERE t.id = {_UNIT}), '')",  # noqa: S608 - no values
    "episode": _UNIT,
    "session": "u.session_id",
}
BY = tuple(_GROUPS)
"""What costs are summed by."""
_NAMES = {
    "project": "SELECT name FROM projects WHERE id = ?",
    "thread": "SELECT title FROM threads WHERE id = ?",
    "episode": "SELECT coalesce(title, agent_title, heading, substr(intent, 1, 400)) FROM work_units WHERE id = ?",
    "session": "SELECT strftime('%Y-%m-%d %H:%M', s.started_at / 1000, 'unixepoch', 'localtime') || ' ' || p.name"
               " FROM sessions s JOIN projects p ON p.id = s.project_id WHERE s.id = ?",
}  # fmt: skip
_QUESTION = "u.input + u.cache_read + u.cache_write + u.cache_write_1h"
_SUMS = ", ".join(f"sum(u.{kind})" for kind in KINDS)
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


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Which answers, as SQL over model_usage `u` and sessions `s`."""

    since: int = 0
    project: int | None = None

    @property
    def sql(self) -> str:
        own = " AND s.project_id = ?" if self.project is not None else ""
        return f"FROM model_usage u JOIN sessions s ON s.id = u.session_id WHERE u.at >= ?{own}"

    @property
    def values(self) -> tuple[int, ...]:
        return (self.since, self.project) if self.project is not None else (self.since,)


def report(
    db: Connection, prices: Prices, now: int, *, by: str = "day", since: int = 0,
    project: tuple[int, str] | None = None, zone: tzinfo | None = None,
) -> Report:  # fmt: skip
    """What was spent since a time (milliseconds), in all projects or one (id, name).

    Raises sqlite3.Error, KeyError for an unknown `by`, NmemError for wrong settings.
    """
    chosen = _Chosen(since, project[0] if project else None)
    sums: dict[str, Sum] = {}
    models: dict[str, int] = {}
    for key, model, one in _sums(db, prices, chosen, _GROUPS[by]):
        sums[key] = sums.get(key, Sum(key)) + one
        if one.unpriced:
            models[model] = models.get(model, 0) + one.unpriced
    total = sum(sums.values(), Sum(name="total"))
    order = sorted(sums.values(), key=lambda one: (one.money, sum(one.tokens), one.key), reverse=True)
    if by == "day":
        order.sort(key=lambda one: one.key, reverse=True)
    sessions = db.execute(f"SELECT count(DISTINCT u.session_id) {chosen.sql}", chosen.values).fetchone()[0]
    named = _told_apart(db, by, [_named(db, by, one) for one in order])
    unpriced = tuple(sorted(models.items(), key=lambda each: -each[1]))
    return Report(by, since, project[1] if project else "", prices.currency, named, total, int(sessions), unpriced,
                  _own(db, prices, chosen), tuple(_budgets(db, prices, now, zone)))  # fmt: skip


def _sums(db: Connection, prices: Prices, chosen: _Chosen, group: str) -> Iterator[tuple[str, str, Sum]]:
    """(group, model, sum) of answers that have one price."""
    steps = prices.steps()
    step = " + ".join(["0", *(f"({_QUESTION} > ?)" for _ in steps)])
    rows = db.execute(
        f"SELECT {group}, u.model, {step}, u.inner, count(*), {_SUMS} {chosen.sql} GROUP BY 1, 2, 3, 4",
        (*steps, *chosen.values),
    ).fetchall()
    for key, model, passed, inner, answers, *counts in rows:
        tokens, price = tuple(counts), prices.of(model)
        long = price is not None and price.above > 0 and passed > steps.index(price.above)
        money = price.money(tokens, long=long) if price else 0.0
        yield str(key), model, Sum(str(key), "", answers, tokens, money, 0 if price else sum(tokens),
                                   money if inner else 0.0)  # fmt: skip


def _named(db: Connection, by: str, one: Sum) -> Sum:
    """With the name that a person knows it by."""
    if not one.key:
        name = f"no {by}"
    elif by in _NAMES:
        row = db.execute(_NAMES[by], (one.key,)).fetchone()
        name = str(row[0] or "") if row else ""
        name = whole(name) if by == "thread" else " ".join(name.split())
    else:
        name = one.key
    return Sum(one.key, name, one.answers, one.tokens, one.money, one.unpriced, one.inner)


def _told_apart(db: Connection, by: str, named: list[Sum]) -> tuple[Sum, ...]:
    """Projects of one name with their folders."""
    many = Counter(one.name for one in named)
    if by != "project" or many.total() == len(many):
        return tuple(named)
    roots = {str(row[0]): str(row[1] or "") for row in db.execute("SELECT id, root FROM projects")}
    return tuple(
        replace(one, name=f"{one.name} ({roots[one.key]})") if many[one.name] > 1 and roots.get(one.key) else one
        for one in named
    )


def _own(db: Connection, prices: Prices, chosen: _Chosen) -> Own:
    """What sessions were told is written to the cache by the next answer, and read from there by those after it."""
    answers = "FROM model_usage u WHERE u.session_id = i.session_id AND u.inner = 0 AND u.at > i.at"
    own = " AND s.project_id = ?" if chosen.project is not None else ""
    rows = db.execute(
        f"SELECT i.tokens, (SELECT u.model {answers} ORDER BY u.at LIMIT 1), (SELECT count(*) {answers})"  # noqa: S608 - our text
        " FROM injections i JOIN sessions s ON s.id = i.session_id"
        f" WHERE i.at >= ? AND i.withheld = 0 AND i.tokens > 0{own}",
        chosen.values,
    ).fetchall()
    again, money = 0, 0.0
    for tokens, model, answered in rows:
        price = prices.of(model) if model else None
        later = tokens * max(0, answered - 1)
        again += later
        money += price.money((0, 0, later, tokens, 0), long=False) if price else 0.0
    return Own(sum(row[0] for row in rows), len(rows), again, money, *_asked(db, prices, chosen))


def _asked(db: Connection, prices: Prices, chosen: _Chosen) -> tuple[int, int, float, int]:
    """Calls, tokens, money and unpriced tokens of nmem's own questions; they belong to no project."""
    if chosen.project is not None:
        return 0, 0, 0.0, 0
    rows = db.execute(
        "SELECT backend, count(*), sum(tokens) FROM llm_ledger WHERE at >= ? GROUP BY backend", (chosen.since,)
    ).fetchall()
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
            since = _Chosen(int(begin.timestamp() * 1000))
            yield Budget(setting, name, limit, sum(one.money for _, _, one in _sums(db, prices, since, "''")))
