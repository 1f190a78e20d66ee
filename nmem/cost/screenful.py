"""Words what sessions cost: a report in, lines of at most so many cells out, each with how it is to be shown.

The command prints them, the cockpit draws them. All text is printable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from nmem.cost.prices import KINDS
from nmem.cost.read import Budget, Own, Report, Sum
from nmem.text import fit, pad, printable

HEAD, COLUMNS, ROW, TOTAL, NOTE, WARN = "head", "columns", "row", "total", "note", "warn"
Told = tuple[str, str]
"""A line, and which of these it is."""
_COLUMNS = ("answers", "input", "output", "written", "cached")
_WIDE, _MONEY, _NAME = 8, 11, 16
_SINCE = "since {}"
_NAMED = {"thread": "thread/{} ", "episode": "episode/{} ", "session": "{:.8} "}
"""How a row begins: what other commands take."""
_MODELS = 3
_MANY = 99_999
"""Answers that are counted one by one."""


def lines(report: Report, cells: int, rows: int, since: str = "") -> list[Told]:
    """Everything in at most `cells` cells a line, with at most `rows` rows; `since` in words."""
    total = report.total
    if not total.answers:
        return [(row, NOTE) for row in wrap(f"no usage{_about(report, since)}: {_none(report)}", max(_NAME, cells))]
    columns = max(0, min(len(_COLUMNS), (cells - _MONEY - _NAME) // _WIDE))  # where there is no room, the first go
    room = max(_NAME, cells - columns * _WIDE - _MONEY), columns
    out = [(fit(_head(report, since), cells), HEAD)]
    out.append((_row(report.by, _COLUMNS, report.currency, *room), COLUMNS))
    shown = report.sums[:rows]
    out += [(_line(one, report, room), ROW) for one in shown]
    if rest := report.sums[rows:]:
        out.append((_line(sum(rest[1:], rest[0]), report, room, _several(len(rest), f"more {report.by}")), ROW))
    out.append((_line(total, report, room, "total"), TOTAL))
    for text, kind in _notes(report):
        out += [(row, kind) for row in wrap(text, max(_NAME, cells), subsequent_indent="  ")]
    return out


def piped(report: Report, rows: int, since: str = "") -> tuple[str, str, list[str]]:
    """Heading, names of columns, and rows for a pipe: tokens and money to the last digit, notes behind a #."""
    names = f"{report.by} answers {' '.join(KINDS)} unpriced {report.currency}"
    sums = [*((one, "") for one in report.sums[:rows])]
    if rest := report.sums[rows:]:
        sums.append((sum(rest[1:], rest[0]), _several(len(rest), f"more {report.by}")))
    sums.append((report.total, "total"))
    told = ["\t".join([_called(report, one, name), *map(str, (one.answers, *one.tokens, one.unpriced)),
                       f"{one.money:.4f}"]) for one, name in sums]  # fmt: skip
    return _head(report, since), names, [*told, *(f"# {text}" for text, _ in _notes(report))]


def _head(report: Report, since: str) -> str:
    total = report.total
    money = _money(total, report.currency)
    told = f"{money}{_about(report, since)}: {figure(sum(total.tokens))} tokens,"
    return f"{told} {_several(total.answers, 'answer')} in {_several(report.sessions, 'session')}"


def _none(report: Report) -> str:
    """Why there is no usage, and what to do."""
    if report.since or report.project:
        return "`nmem cost` shows what is known of all projects and all times"
    if report.imported:
        held = "the imported transcript holds" if report.imported == 1 else (
            f"the {report.imported:,} imported transcripts hold")  # fmt: skip
        return f"{held} none; sessions of Claude Code, Codex and Gemini CLI from now on bring theirs"
    return ("it is read from the transcripts of Claude Code, Codex and Gemini CLI while they exist; `nmem import` reads"
            " those of earlier sessions")  # fmt: skip


def _several(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def figure(count: int) -> str:
    """Tokens in at most six cells: 999, 12.3k, 1.23M."""
    value, unit = float(count), ""
    for unit in ("", "k", "M", "G"):
        if value < 999.5 or unit == "G":
            break
        value /= 1000
    if not unit:
        return str(count)
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}{unit}"


def amount(money: float, currency: str) -> str:
    """Money with its currency: $1.23, 1.23 EUR; less than a cent is no nothing."""
    text = f"{money:,.2f}" if money >= 0.005 or not money else "0.01"
    less = "<" if 0 < money < 0.005 else ""
    return f"{less}${text}" if currency == "USD" else f"{less}{text} {printable(currency)}"


def _about(report: Report, since: str) -> str:
    project = f" in {printable(report.project)}" if report.project else ""
    return f"{project}{f' {_SINCE.format(since)}' if since else ''}"


def _line(one: Sum, report: Report, room: tuple[int, int], name: str = "") -> str:
    given, output, read, written, hour = one.tokens
    money = _money(one, report.currency)
    answers = figure(one.answers) if one.answers > _MANY else f"{one.answers:,}"
    counts = (answers, *map(figure, (given, output, written + hour, read)))
    return _row(_called(report, one, name), counts, money, *room)


def _called(report: Report, one: Sum, name: str) -> str:
    before = _NAMED.get(report.by, "").format(one.key) if one.key and not name else ""
    return before + printable(name or one.name)


def _money(one: Sum, currency: str) -> str:
    """What it cost, as far as there are prices."""
    if not one.unpriced:
        return amount(one.money, currency)
    return f"{amount(one.money, currency)}+" if one.money else "unpriced"


def _row(name: str, counts: Sequence[str], money: str, width: int, shown: int) -> str:
    cells = "".join(pad(one, _WIDE, right=True) for one in counts[len(counts) - shown :])
    return f"{pad(name, width)}{cells}{pad(money, _MONEY, right=True)}"


def _notes(report: Report) -> Iterator[Told]:
    for budget in report.budgets:
        yield _budget(budget, report.currency)
    if report.unpriced:
        named = ", ".join(f"{printable(model)} {figure(tokens)}" for model, tokens in report.unpriced[:_MODELS])
        more = f" and {len(report.unpriced) - _MODELS} more models" if len(report.unpriced) > _MODELS else ""
        yield (f"no price known, counted in tokens only: {named}{more}; put one into prices.json beside config.toml",
               WARN)  # fmt: skip
    if report.total.inner:
        yield f"subagents: {amount(report.total.inner, report.currency)} of it", NOTE
    yield from ((text, NOTE) for text in _own(report.own, report.currency))


def _budget(one: Budget, currency: str) -> Told:
    said = f"{one.name} {amount(one.spent, currency)} of {amount(one.limit, currency)}"
    return (f"! {said}: over budget ({one.setting})", WARN) if one.passed else (said, NOTE)


def _own(own: Own, currency: str) -> Iterator[str]:
    """What of it, and beside it, is nmem's."""
    if own.times:
        yield (f"nmem's context, in the above: {figure(own.told)} tokens told {_several(own.times, 'time')}, read again"
               f" {figure(own.again)}; at most {amount(own.money, currency)}")  # fmt: skip
    else:
        yield "nmem's context: nothing was told"
    if own.calls:
        money = f"at least {amount(own.asked_money, currency)}" if own.asked > own.asked_unpriced else "no price known"
        yield f"nmem's own questions to models: {own.calls:,}, {figure(own.asked)} tokens, {money}"


def to_dict(report: Report) -> dict[str, object]:
    """Plain values for --json, money unrounded."""
    own = report.own
    return {
        "by": report.by, "since": report.since or None, "project": report.project or None,
        "currency": report.currency, "sessions": report.sessions,
        "rows": [_plain(one) for one in report.sums], "total": _plain(report.total),
        "unpriced": [{"model": model, "tokens": tokens} for model, tokens in report.unpriced],
        "nmem": {"told_tokens": own.told, "told_times": own.times, "read_again_tokens": own.again, "money": own.money,
                 "model_calls": own.calls, "model_tokens": own.asked, "model_money": own.asked_money,
                 "model_unpriced_tokens": own.asked_unpriced},
        "budgets": [{"setting": one.setting, "limit": one.limit, "spent": one.spent, "passed": one.passed}
                    for one in report.budgets],
    }  # fmt: skip


def _plain(one: Sum) -> dict[str, object]:
    counts = dict(zip(KINDS, one.tokens, strict=True))
    return {"key": one.key, "name": one.name, "answers": one.answers, **counts, "tokens": sum(one.tokens),
            "money": one.money, "unpriced_tokens": one.unpriced, "subagents_money": one.inner}  # fmt: skip
