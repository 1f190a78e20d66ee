"""The lists of the screen Stance as places: shifts and episodes of a session, or the sessions of a project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from nmem.stance.model import SessionStance, Stance
from nmem.text import pad, printable
from nmem_tui.model import stance as words
from nmem_tui.model import stance_models, stance_plane
from nmem_tui.model.figures import date, plural, several
from nmem_tui.model.items import Item, plain
from nmem_tui.model.line import Line, cut, section
from nmem_tui.model.stance_models import Models
from nmem_tui.model.unit import flat

_PLANE_ROWS = 11


def _heading(name: str, more: str = "") -> Item:
    return Item(lambda cells: section(name, cells, more))


def of_session(stance: Stance, cells: int, zone: tzinfo | None, *, column: bool, plane: bool) -> list[Item]:
    """The shifts and episodes of a session; in one column with all that else stands in cards."""
    out: list[Item] = []
    if column:
        out += plain(words.guidance(stance.guidance, cells))
        out += [_heading("Quadrants", "shades: the darker, the more is settled")]
        out += plain(words.shares(stance, cells))
    out.append(_heading("Shifts", several(len(stance.shifts), "shift") if stance.shifts else ""))
    out += _shifts(stance, zone)
    if stance.stuck:
        out.append(_heading("Stuck", "the same kept failing"))
        out += _stuck(stance, zone)
    out.append(_heading("Episodes", several(len(stance.strips), "episode") if stance.strips else ""))
    out += _strips(stance, zone)
    if column:
        out.append(_heading("Beside your other sessions"))
        out += plain(words.usual(stance.usual, cells))
        out.append(_heading("Figures"))
        out += plain(words.figures(stance, cells))
    if plane:
        out.append(_heading("Plane", "act right, converge above, ● now, ○ 20 calls ago"))
        told = stance_plane.told(stance)
        out += plain(stance_plane.draw(stance_plane.way(stance), told, min(cells, 60), _PLANE_ROWS))
    return out


def _shifts(stance: Stance, zone: tzinfo | None) -> Iterator[Item]:
    if not stance.shifts:
        yield Item(lambda cells: cut([("none yet: the lines have stayed on one side", "quiet")], cells))
    for each in reversed(stance.shifts):
        yield Item(
            lambda cells, each=each: words.shift(each, cells, zone),  # type: ignore[misc]
            "shift", f"{each.axis} {each.seq}", each.at,
        )  # fmt: skip


def _stuck(stance: Stance, zone: tzinfo | None) -> Iterator[Item]:
    for each in reversed(stance.stuck):
        yield Item(
            lambda cells, each=each: words.stuck(each, cells, zone),  # type: ignore[misc]
            "stuck", f"{each.started_at} {each.key}", each.started_at,
        )  # fmt: skip


def _strips(stance: Stance, zone: tzinfo | None) -> Iterator[Item]:
    if not stance.strips:
        yield Item(lambda cells: cut([("no episode yet: the next prompt opens one", "quiet")], cells))
    for each in reversed(stance.strips):
        yield Item(
            lambda cells, each=each: words.strip(each, cells, zone, told=not stance.few),  # type: ignore[misc]
            "episode", str(each.unit_id), each.started_at,
        )  # fmt: skip


def of_models(found: Models, cells: int) -> list[Item]:
    """The model cards, to be read."""
    return list(plain(stance_models.lines(found, cells)))


def of_sessions(found: Sequence[SessionStance], current: str, zone: tzinfo | None, now: int) -> list[Item]:
    """The sessions of a project, one a row, the one worked in last first."""
    return [
        Item(
            lambda cells, each=each: _session(each, cells, zone, now, here=each.session_id == current),  # type: ignore[misc]
            "session", each.session_id, each.started_at,
        )
        for each in found
    ]  # fmt: skip


def _session(row: SessionStance, cells: int, zone: tzinfo | None, now: int, *, here: bool) -> Line:
    room = 32 if cells >= 120 else 16
    line: Line = [("▸ " if here else "  ", "accent"), (pad(date(row.last_at, now, zone), 11) + "  ", "quiet")]
    if not row.placed and not row.few:
        return cut(
            [
                *line,
                (pad("not clear" if row.count else "not labelled", room), "quiet"),
                (f"  {flat(row.intent)}", "quiet"),
            ],
            cells,
        )
    if row.few:
        line.append((pad("too few calls to tell", room + 11), "quiet"))
    else:
        most = max(words.MEANING, key=lambda name: words.share(row.quadrants, name).number)
        line += words.shares_short(row.quadrants, room)
        line.append((f"  {pad(most, 9)}", "strong"))
    if cells >= 120:
        rough = "" if row.friction is None else f"friction {row.friction:.0%}"
        novel = "" if row.novel is None else f"novel {row.novel:.0%}"
        line += [(pad(rough, 14), "quiet"), (pad(novel, 11), "quiet"), (pad(printable(row.client), 8), "quiet")]
    failed = f"✗ {row.failed}" if row.failed else ""
    line += [(pad(failed, 6), "bad"), (f"{row.observations:>5} {pad(plural(row.observations, 'call'), 5)}  ", "quiet")]
    return cut([*line, (flat(row.intent) or "no prompt", "text")], cells)
