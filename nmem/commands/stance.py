"""`nmem stance`: shows how a session moves between thinking and acting, with advice on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capture.project import resolve
from nmem.commands import terminal
from nmem.commands.terminal import EPISODE, Section, clock, count, day
from nmem.errors import NmemError
from nmem.read.listing import session_of
from nmem.stance import history, read
from nmem.stance.words import (
    early,
    few_means,
    names,
    needs,
    percent,
    percents,
    plural,
    short,
    signed,
    span,
    stands,
    unsure,
)
from nmem.store.project import unknown
from nmem.text import printable, to_json

if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.stance.model import Compared, SessionStance, Share, Shift, Stance, Strip, Stuck

_LISTED = "`nmem stance --project NAME` ends with the newest of a project"
UNLABELLED = "none of its {number} carries labels yet: `nmem backfill` gives them"


@click.command()
@click.argument("session", required=False, type=terminal.session)
@click.option("--episode", type=EPISODE, metavar="EPISODE", help="Only this episode.")
@click.option(
    "--project",
    default="",
    help="Show this project's newest session (name, key or root); default: the current folder's.",
)
@click.option("--limit", type=terminal.LIMIT_OR_NONE, default=5, show_default=True,
              help="How many shifts, episodes and sessions to list, newest first.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(session: str | None, episode: int | None, project: str, limit: int, as_json: bool) -> None:
    """How SESSION moves between thinking and acting, widening and narrowing; what went wrong in it, and what is usual.

    Of the id the beginning is enough. Without one: the newest session of the project.
    """
    if session and project:
        raise click.UsageError("give either SESSION or --project: a session belongs to one project")
    if episode is not None and (session or project):
        raise click.UsageError("--episode goes alone: an episode belongs to one session")
    now = terminal.now()
    with terminal.reading() as db:
        found = _found(db, session, episode, project, now)
        others = _others(db, found, limit)

    if as_json:
        click.echo(to_json(as_dict(found, others, now)))
        return
    if not found.count:
        click.echo(f"{heading(found)}: {unlabelled(found)}")
    say(found, others, limit)


def unlabelled(found: Stance) -> str:
    """Why nothing is known of a session's stance."""
    if not found.observations:
        return "nothing was done in it yet"
    if not found.bare:
        return f"the model is not sure of any of its {terminal.count(found.observations, 'call')}: too little to tell"
    return UNLABELLED.format(number=terminal.count(found.observations, "call"))


def _found(db: Connection, session: str | None, episode: int | None, project: str, now: int) -> Stance:
    if episode is not None:
        found = read.of_unit(db, episode, now)
        if found is None:
            raise NmemError(f"there is no episode {episode}: `nmem episodes` lists them")
        return found
    found = read.of_session(db, session_of(db, session) if session else _newest(db, project), now)
    if found is None:
        raise NmemError(f"there is no session {printable(session or '')}: {_LISTED}")
    return found


def _newest(db: Connection, project: str) -> str:
    key = project or resolve(str(Path.cwd())).key
    found = read.newest(db, key)
    if found is None:
        raise unknown(db, key)
    return found


def _others(db: Connection, found: Stance, limit: int) -> Sequence[SessionStance]:
    """The newest sessions of the project up to the one that is shown, itself included."""
    if not limit or found.unit_id is not None:
        return ()
    return history.up_to(db, found.session_id, limit)


_LEVELS = "▁▂▃▄▅▆▇█"
_SPARK, _BAR, _STRIP = 24, 20, 20
_TITLE = 100
_NAMES = {"explore": "think_diverge", "reason": "think_converge", "scaffold": "act_diverge", "finish": "act_converge"}
_DONE = {"think": "thinks", "act": "acts", "diverge": "widens", "converge": "narrows"}
_MEANING = {
    "explore": "thinks, widens",
    "reason": "thinks, narrows",
    "scaffold": "acts, widens",
    "finish": "acts, narrows",
}
_USUAL = {"think": "calls that think", "diverge": "calls that widen", "friction": "calls with friction",
          "novel": "calls on new ground", "failed": "calls that failed"}  # fmt: skip
_LEANS = {"stable": "steady"}
_LEGEND = "e explore, r reason, s scaffold, f finish"


def heading(found: Stance) -> str:
    """Which session or episode it is."""
    what = f"session/{found.session_id}" if found.unit_id is None else f"episode/{found.unit_id}"
    return printable(f"{what}  {found.project}")


def say(found: Stance, others: Sequence[SessionStance], limit: int) -> None:
    """Everything, in sections; what there is nothing of is left out."""
    worth = [("-", f"{each.text} ({each.reason.rstrip('.')})") for each in found.guidance]
    if not found.count and not worth:
        return
    strips = found.strips[-limit:] if limit else ()
    shifts = found.shifts[-limit:] if limit else ()
    sections: list[Section] = [
        ("", list(_about(found))),
        ("Worth knowing", worth),
        (f"Quadrants: {_counted(found)}", list(_shares(found))),
        (f"Shifts{_of(len(shifts), len(found.shifts))}", [_shift(each) for each in reversed(shifts)]),
        (f"Episodes{_of(len(strips), len(found.strips))}: {_LEGEND}",
         [row for each in strips for row in _strip(each, told=not found.few)]),
        ("Stuck", [_stuck(each) for each in found.stuck[-limit:]] if limit else []),
        ("Beside your sessions here", [_compared(each) for each in found.usual]),
        ("Sessions of the project", [row for each in others if each.count for row in _session_lines(each)]
         if len(others) > 1 else []),
    ]  # fmt: skip
    terminal.say(f"Stance of {heading(found)}", sections)


def _shares(found: Stance) -> Iterator[tuple[str, str]]:
    """Each quadrant; all that is told of quadrants here goes by the same two lines, which are said."""
    if not found.placed:
        return
    split = found.signs if found.few else found.quadrants
    parts = percents(split)
    for name, share in split.items():
        number = f"{count(share.number, 'call'):<10}"
        yield name, f"{bar(share.share)} {parts[name]:>5}  {number}  {_MEANING[name]}"
    if found.few:
        return
    base = signed(found.scope_base) if found.scope_base else "0"
    yield "", f"the smoothed lines decide here, above and below: acts from phase 0 on, narrows from scope {base} on"


def _counted(found: Stance) -> str:
    """What its shares count."""
    if found.few:
        return f"each call by its own scores: {needs(found)}"
    return f"where the lines stood after each of {count(found.placed, 'call')}"


def _of(shown: int, all_: int) -> str:
    return f", {shown} of {all_}" if shown < all_ else ""


def _about(found: Stance) -> Iterator[tuple[str, str]]:
    if found.points:
        last = found.points[-1]
        yield "now", _now(found)
        phases, scopes = [each.ema_phase for each in found.points], [each.ema_scope for each in found.points]
        for axis, middle, smoothed, mean5, mean20, lean in (
            ("phase", 0.0, phases, found.phase_5, found.phase_20, found.phase_direction),
            ("scope", found.scope_base, scopes, found.scope_5, found.scope_20, found.scope_direction),
        ):
            values = [value for value in smoothed if value is not None]
            if values and mean5 is not None and mean20 is not None:
                means = f"last 5 {signed(mean5)}, last 20 {signed(mean20)}"
                turn = _LEANS.get(lean, f"turning to {lean}")
                yield axis, f"{spark(values, middle)}  {signed(values[-1])} smoothed; {means}, {turn}"
        yield "last at", f"{day(last.at, terminal.now())}, {clock(last.at)}"
    yield "calls", f"{found.observations}, {found.failed} failed{_unread(found)}"
    for label, split in (("locus", found.locus), ("novelty", found.novelty), ("friction", found.friction)):
        if known := sum(share.number for share in split.values()):
            of = f" (of the {known} calls that the model is sure of)" if known < found.observations else ""
            yield label, ", ".join(f"{name} {part}" for name, part in percents(split).items()) + of


def _unread(found: Stance) -> str:
    """What is not among the quadrants, and why."""
    doubtful, before = unsure(found), early(found)
    parts = [
        f"{found.traced} of them older and known by their trace only" if found.traced else "",
        f"{found.bare} without labels (`nmem backfill`)" if found.bare else "",
        f"of {doubtful} the model is not sure" if doubtful else "",
        f"{before} before both lines had begun" if before else "",
    ]
    told = [part for part in parts if part]
    placed = f": {found.placed} in quadrants" if told and found.placed and not found.few else ""
    return "".join(f", {part}" for part in told) + placed


def _now(found: Stance) -> str:
    if found.few:
        return f"{stands(found)}; {needs(found)}"
    last = found.points[-1]
    parts = []
    if last.ema_phase is not None:
        parts.append(f"{_DONE['act' if last.ema_phase >= 0 else 'think']} ({signed(last.ema_phase)})")
    if last.ema_scope is not None:
        side = "converge" if last.ema_scope >= found.scope_base else "diverge"
        divides = f"; narrows from {signed(found.scope_base)} on" if found.scope_base and side == "diverge" else ""
        parts.append(f"{_DONE[side]} ({signed(last.ema_scope)}{divides})")
    return (f"{found.quadrant}: " if found.quadrant else "") + " and ".join(parts)


def _shift(each: Shift) -> tuple[str, str]:
    where = f" ({each.before} → {each.after})" if each.before and each.after and each.before != each.after else ""
    said = f": {short(each.prompt, _TITLE)}" if each.prompt else ""
    return f"{day(each.at, terminal.now())}, {clock(each.at)}", f"{each.axis} {each.from_} → {each.to}{where}{said}"


def _strip(each: Strip, *, told: bool) -> tuple[tuple[str, str], ...]:
    stood = percents(each.quadrants) if told else {}
    shares = ", ".join(f"{name} {part}" for name, part in stood.items() if each.quadrants[name].number)
    failed = f", {each.failed} failed" if each.failed else ""
    facts = f"{count(each.count, 'call')}{failed}" + (f", {shares}" if shares else "")
    return (f"episode/{each.unit_id}", f"{strip(each):<{_STRIP}}  {short(each.title, _TITLE)}"), ("", facts)


def _stuck(each: Stuck) -> tuple[str, str]:
    ended = "succeeded then" if each.over else "not seen to succeed"
    files = f"; changed meanwhile: {names(each.files)}" if each.files else ""
    text = f"{short(each.key, _TITLE)}: {plural(each.failures, 'failure')} over {span(each.ms)}, {ended}{files}"
    return f"{day(each.started_at, terminal.now())}, {clock(each.started_at)}", text


def _compared(each: Compared) -> tuple[str, str]:
    mark = "  unusual" if each.unusual else ""
    spread = f"{percent(each.low)} to {percent(each.high)} in half of {each.sessions} sessions"
    return _USUAL[each.name], f"{percent(each.value)}; usually {percent(each.median)} ({spread}){mark}"


def _session_lines(each: SessionStance) -> tuple[tuple[str, str], ...]:
    means = [f"{name} {signed(value)}" for name, value in (("phase", each.phase), ("scope", each.scope))
             if value is not None]  # fmt: skip
    parts = percents(each.quadrants)
    placed = [f"{name} {parts[name]}" for name, share in each.quadrants.items() if share.number]
    placed = [few_means(each)] if each.few else placed
    friction = [f"friction {percent(each.friction)}"] if each.friction is not None else []
    facts = ", ".join([count(each.observations, "call"), *means, *placed, *friction])
    at = f"{day(each.last_at, terminal.now())}, {clock(each.last_at)}"
    return (at, f"{each.session_id[:8]}  {short(each.intent, _TITLE)}"), ("", facts)


# drawn


def spark(values: Sequence[float], middle: float = 0.0, cells: int = _SPARK) -> str:
    """A line of values in [-1, 1], the mean of a stretch of them a cell.

    The upper four levels are above `middle`, where the line divides: what varies near one end can still be seen.
    """
    wide = min(cells, len(values))
    out = []
    for cell in range(wide):
        part = values[cell * len(values) // wide : (cell + 1) * len(values) // wide]
        mean = sum(part) / len(part)
        above = mean >= middle
        share = (mean - middle) / (1 - middle) if above else (mean + 1) / (middle + 1)
        out.append(_LEVELS[4 * above + min(3, max(0, int(share * 4)))])
    return "".join(out)


def bar(share: float, cells: int = _BAR) -> str:
    """A share as a bar; the least that is not nothing is one cell."""
    full = max(round(share * cells), 1 if share > 0 else 0)
    return "▓" * full + "░" * (cells - full)


def strip(each: Strip, cells: int = _STRIP) -> str:
    """The way of an episode, a letter a quadrant; every letter stands for as many calls."""
    way = [(part.quadrant[0], part.count) for part in each.path]
    total = sum(number for _, number in way)
    wide = min(cells, total)
    out, place, seen = "", 0, 0
    for letter, number in way:
        seen += number
        upto = seen * wide // total
        out += letter * (upto - place)
        place = upto
    return out


# JSON


def as_dict(found: Stance, others: Sequence[SessionStance], now: int) -> dict[str, object]:
    """One object with the figures; percentages are of 100, times milliseconds."""
    last = found.points[-1] if found.points else None
    return {
        "session_id": found.session_id, "project": found.project, "episode": found.unit_id,
        "observation_count": found.count, "observations": found.observations, "failed": found.failed,
        "unlabelled": found.bare,
        "quadrants": _quadrants(found.signs), "quadrants_of": sum(each.number for each in found.signs.values()),
        "stood": _quadrants(found.quadrants), "stood_of": found.placed,
        "current": {"phase": _rounded(last.ema_phase if last else None),
                    "scope": _rounded(last.ema_scope if last else None), "stance": found.quadrant or None,
                    "too_few": found.few},
        "scope_base": found.scope_base,
        "trend": {
            "phase_5": _rounded(found.phase_5), "phase_20": _rounded(found.phase_20),
            "scope_5": _rounded(found.scope_5), "scope_20": _rounded(found.scope_20),
            "phase_direction": found.phase_direction, "scope_direction": found.scope_direction,
        },
        "recent_shifts": [_shift_dict(each, now) for each in found.shifts],
        "locus": _split(found.locus, "internal"), "novelty": _split(found.novelty, "novel"),
        "friction": _split(found.friction, "friction"), "novelty_friction": found.novelty_friction,
        "guidance": [{"text": each.text, "reason": each.reason, "rule": each.rule} for each in found.guidance],
        "episodes": [
            {"id": each.unit_id, "title": each.title, "started_at": each.started_at, "observation_count": each.count,
             "failed": each.failed, "stood": _quadrants(each.quadrants),
             "path": [{"stance": part.quadrant, "count": part.count, "at": part.at} for part in each.path]}
            for each in found.strips
        ],
        "stuck": [
            {"kind": each.kind, "key": each.key, "started_at": each.started_at, "ended_at": each.ended_at,
             "failures": each.failures, "succeeded": each.over, "files": list(each.files)} for each in found.stuck
        ],
        "usual": {
            each.name: {"pct": _pct(each.value), "median": _pct(each.median), "low": _pct(each.low),
                        "high": _pct(each.high), "sessions": each.sessions, "unusual": each.unusual}
            for each in found.usual
        },
        "sessions": [_session_dict(each) for each in others],
    }  # fmt: skip


def _shift_dict(each: Shift, now: int) -> dict[str, object]:
    return {
        "at_observation": each.seq, "at": each.at, "axis": each.axis, "from": each.before or None,
        "to": each.after or None, "from_side": each.from_, "to_side": each.to,
        "minutes_ago": round(max(0, now - each.at) / 60_000, 1), "prompt_id": each.prompt_id, "prompt": each.prompt,
    }  # fmt: skip


def _session_dict(each: SessionStance) -> dict[str, object]:
    shares = (("think", each.think), ("diverge", each.diverge), ("friction", each.friction), ("novel", each.novel))
    return {
        "session_id": each.session_id, "client": each.client, "started_at": each.started_at, "last_at": each.last_at,
        "intent": each.intent, "observations": each.observations, "observation_count": each.count,
        "phase": _rounded(each.phase), "scope": _rounded(each.scope), "stood": _quadrants(each.quadrants),
        "failed": each.failed,
        **{f"pct_{name}": None if value is None else _pct(value) for name, value in shares},
    }  # fmt: skip


def _quadrants(shares: dict[str, Share]) -> dict[str, object]:
    return {_NAMES[name]: {"count": each.number, "pct": _pct(each.share)} for name, each in shares.items()}


def _split(shares: dict[str, Share], told: str) -> dict[str, object]:
    return {**{name: each.number for name, each in shares.items()}, f"pct_{told}": _pct(shares[told].share)}


def _pct(share: float) -> float:
    return round(100 * share, 1)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
