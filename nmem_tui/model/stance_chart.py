"""Draws stance: the lines of phase and scope over a session, and the plane of think/act by diverge/converge.

Above the middle a session acts and converges, below it thinks and diverges. Places along the chart are numbers of
observations, so that a night between two prompts takes no room; times stand below it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nmem.stance.model import Point, Share, Stance, Stretch
from nmem.stance.words import percents
from nmem.text import width
from nmem_tui.model import symbols
from nmem_tui.model.line import Line
from nmem_tui.model.symbols import Sign

ACROSS, DOWN = 2, 4
"""Dots of one cell."""
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_EMPTY = 0x2800


class Canvas:
    """`cells` by `rows` cells; the origin is at the top left. What is drawn later has its tone; text covers dots."""

    def __init__(self, cells: int, rows: int) -> None:
        self.cells, self.rows = max(0, cells), max(0, rows)
        self._dots = [[0] * self.cells for _ in range(self.rows)]
        self._text = [[""] * self.cells for _ in range(self.rows)]
        self._tones = [["text"] * self.cells for _ in range(self.rows)]

    def dot(self, x: int, y: int, tone: str) -> None:
        """One dot; outside of the canvas nothing happens."""
        cell, row = x // ACROSS, y // DOWN
        if 0 <= cell < self.cells and 0 <= row < self.rows:
            self._dots[row][cell] |= _BITS[y % DOWN][x % ACROSS]
            self._tones[row][cell] = tone

    def text(self, cell: int, row: int, text: str, tone: str) -> None:
        """Characters of one cell each, over whatever is there; what does not fit is left out."""
        if not 0 <= row < self.rows:
            return
        for place, char in enumerate(text, cell):
            if 0 <= place < self.cells:
                self._text[row][place] = char
                self._tones[row][place] = tone

    def behind(self, cell: int, row: int, char: str, tone: str) -> None:
        """A character, only where nothing is drawn yet."""
        free = 0 <= row < self.rows and 0 <= cell < self.cells
        if free and not self._dots[row][cell] and not self._text[row][cell]:
            self.text(cell, row, char, tone)

    def lines(self) -> list[Line]:
        """What was drawn; each line fills the canvas' cells."""
        return [self._line(row) for row in range(self.rows)]

    def _line(self, row: int) -> Line:
        out: Line = []
        glyph = _rough if symbols.now().name == symbols.ASCII else _dotted
        for text, dots, tone in zip(self._text[row], self._dots[row], self._tones[row], strict=True):
            char = text or (glyph(dots) if dots else " ")
            tone = tone if char != " " else "text"  # noqa: PLW2901 -- blanks have none
            if out and out[-1][1] == tone:
                out[-1] = (out[-1][0] + char, out[-1][1])
            else:
                out.append((char, tone))
        return out


_ROWS = (0x09, 0x12, 0x24, 0xC0)
_LEFT = 0x47
_THICK, _THIN = '"==_', "'::."
"""What stands for dots side by side, and for single ones, in the four rows of a cell."""


def _dotted(dots: int) -> str:
    return chr(_EMPTY + dots)


def _rough(dots: int) -> str:
    """The sign that lies nearest: upright where three rows are dotted, heavier where dots stand side by side."""
    rows = [row for row, bits in enumerate(_ROWS) if dots & bits]
    if rows[-1] - rows[0] > 1:
        return "|"
    signs = _THICK if dots & _LEFT and dots & ~_LEFT else _THIN
    return signs[sum(rows) // len(rows)]


def level(value: float, dots: int) -> int:
    """The dot row, from the top, of a value from -1 (lowest) to 1."""
    value = max(-1.0, min(1.0, value))
    return round((1 - value) / 2 * (dots - 1))


def stretched(values: Sequence[float], columns: int) -> list[float]:
    """One value a column: means where there are more values than columns, straight lines between them where fewer."""
    count = len(values)
    if not count or columns <= 0:
        return []
    if count > columns:
        edges = [column * count // columns for column in range(columns + 1)]
        return [sum(values[low:high]) / (high - low) for low, high in pairwise(edges)]
    if count == 1 or columns == 1:
        return [values[-1]] * columns
    out = []
    for column in range(columns):
        place = column * (count - 1) / (columns - 1)
        low = min(int(place), count - 2)
        out.append(values[low] + (values[low + 1] - values[low]) * (place - low))
    return out


def column_of(place: int, count: int, columns: int) -> int:
    """The column in which the value at a place stands."""
    if count > columns:
        return max(0, min(columns - 1, ((place + 1) * columns - 1) // count))
    return round(place * (columns - 1) / (count - 1)) if count > 1 else columns - 1


LEFT, RIGHT = 7, 11
"""Cells for the names of the poles at both sides."""
FILLS = ("explore", "reason", "scaffold", "finish")
"""The quadrants in the order of their shades: the more is settled, the darker."""
_LEAST = 12


@dataclass(frozen=True, slots=True)
class Mark:
    """Something to point out at the place of an observation."""

    place: int
    label: str
    """Said below the chart where there is room."""
    chosen: bool = False
    glyph: str = "▲"


@dataclass(frozen=True, slots=True)
class Trace:
    """A trajectory, made ready for one width: reading it anew costs nothing."""

    cells: int
    plot: int
    """Cells of them that the lines have."""
    count: int
    phase: tuple[float, ...]
    scope: tuple[float, ...]
    failed: tuple[int, ...]
    """Columns (of one cell) in which something failed."""
    seqs: tuple[int, ...]
    episodes: tuple[int, ...]
    """Places at which an episode begins, the first one left out."""
    base: float = 0.0
    """The scope at which the lines' middle stands."""


def lifted(scope: float, base: float) -> float:
    """A scope on a scale whose middle is where diverge and converge divide."""
    if scope >= base:
        return (scope - base) / (1 - base) if base < 1 else 1.0
    return (scope - base) / (1 + base) if base > -1 else -1.0


def fill(quadrant: str) -> str:
    """The shade of a quadrant."""
    return symbols.now().bands[FILLS.index(quadrant)] if quadrant in FILLS else symbols.now().track


def trace(stance: Stance, cells: int, *, right: int = RIGHT, last: int = 0) -> Trace:
    """The two lines in as many columns as `cells` cells have dots; only of the `last` observations where given."""
    plot = max(_LEAST, cells - LEFT - right)
    points, base = stance.points[-last:], stance.scope_base
    phase = [point.ema_phase for point in points]
    scope = [None if point.ema_scope is None else lifted(point.ema_scope, base) for point in points]
    failed = {column_of(place, len(points), plot) for place, point in enumerate(points) if point.failed}
    return Trace(
        cells,
        plot,
        len(points),
        tuple(stretched(_begun(phase), plot * ACROSS)),
        tuple(stretched(_begun(scope), plot * ACROSS)),
        tuple(sorted(failed)),
        tuple(point.seq for point in points),
        _beginnings(stance, points),
        base,
    )


def _beginnings(stance: Stance, points: Sequence[Point]) -> tuple[int, ...]:
    times = [point.at for point in points]
    starts = sorted(strip.started_at for strip in stance.strips)[1:]
    return tuple(sorted({place for each in starts if 0 < (place := bisect_left(times, each)) < len(times)}))


def _begun(values: Sequence[float | None]) -> list[float]:
    """Values whose line has not begun stand where it begins."""
    first = next((value for value in values if value is not None), None)
    if first is None:
        return []
    out, last = [], first
    for value in values:
        last = last if value is None else value
        out.append(last)
    return out


def draw(
    found: Trace, rows: int, shifts: Sequence[Mark], episodes: Sequence[int] = (), ends: Sequence[Mark] = ()
) -> list[Line]:
    """The chart in `rows` rows, its axis and the times below it included; the `ends` have only times."""
    plot = found.plot
    high = max(1, rows - 2)
    high -= (high + 1) % 2 if high > 2 else 0
    canvas = _lines(found, high)
    for column in {column_of(mark.place, found.count, plot) for mark in shifts if mark.chosen}:
        for row in range(high):
            canvas.behind(column, row, "│", "accent")
    for column in {column_of(place, found.count, plot) for place in episodes}:
        for row in range(high):
            canvas.behind(column, row, "┊", "line")
    for cell in range(plot if high > 2 else 0):
        canvas.behind(cell, high // 2, symbols.now().held, "line")
    names = _poles(found, high)
    body = [[*left, *line, *right] for (left, right), line in zip(names, canvas.lines(), strict=True)]
    return [*body, _axis(found, plot, shifts, episodes), _times(found, plot, shifts, ends)][: max(1, rows)]


def small(found: Trace, rows: int) -> list[Line]:
    """The lines alone, with the poles of phase and the lines' letters."""
    canvas = _lines(found, rows)
    for cell in range(found.plot if rows > 2 else 0):
        canvas.behind(cell, rows // 2, symbols.now().held, "line")
    return [
        [*left, *line, *letters]
        for (left, (*letters, _, _)), line in zip(_poles(found, rows), canvas.lines(), strict=True)
    ]


def _lines(found: Trace, rows: int) -> Canvas:
    canvas = Canvas(found.plot, rows)
    _line(canvas, found.scope, "scope", solid=False)
    _line(canvas, found.phase, "phase", solid=True)
    return canvas


def _line(canvas: Canvas, values: Sequence[float], tone: str, *, solid: bool) -> None:
    """A solid line is two dots thick and without gaps; a dotted one has one dot a cell."""
    dots = canvas.rows * DOWN
    before: int | None = None
    for x, value in enumerate(values):
        y = level(value, dots)
        if not solid:
            if x % ACROSS == 0:
                canvas.dot(x, y, tone)
            continue
        other = y + 1 if y + 1 < dots else y - 1
        start = y if before is None else before
        for each in (*range(min(start, y), max(start, y) + 1), other):
            canvas.dot(x, each, tone)
        before = y


def _poles(found: Trace, high: int) -> list[tuple[Line, Line]]:
    """What stands left and right of each row: the names of the poles, and the lines' letters where they end."""
    left = {0: "act", high - 1: "think"} if high > 1 else {0: ""}
    right = {0: "converge", high - 1: "diverge"} if high > 1 else {0: ""}
    if high > 4:  # what the dashed line stands for, on either scale
        left[high // 2] = "0"
        right[high // 2] = f"{found.base:+.2f}".replace("0.", ".", 1) if found.base else "0"
    ends: dict[int, Line] = {}
    for letter, tone, values in (("P", "phase", found.phase), ("S", "scope", found.scope)):
        if values:
            ends.setdefault(level(values[-1], high * DOWN) // DOWN, []).append((letter, tone))
    out: list[tuple[Line, Line]] = []
    for row in range(high):
        tick = "┤" if row in left else "│"
        name = f"{left.get(row, ''):>{LEFT - 2}} "
        letters = ends.get(row, [])
        gap = " " * (2 - len(letters))
        far = f"{right.get(row, ''):<{RIGHT - 3}}"
        out.append(([(name, "phase"), (tick, "line")], [*letters, (f"{gap} ", "text"), (far, "scope")]))
    return out


def _axis(found: Trace, plot: int, shifts: Sequence[Mark], episodes: Sequence[int]) -> Line:
    cells = ["─"] * plot
    tones = ["line"] * plot
    for place in episodes:
        cells[column_of(place, found.count, plot)] = "┴"
    for mark in sorted(shifts, key=lambda each: each.chosen):
        column = column_of(mark.place, found.count, plot)
        cells[column] = mark.glyph
        tones[column] = "accent" if mark.chosen else "text"
    line: Line = [(" " * (LEFT - 1) + "└", "line")]
    line += list(zip(cells, tones, strict=True))
    return merged(line)


def _times(found: Trace, plot: int, shifts: Sequence[Mark], ends: Sequence[Mark]) -> Line:
    """The times of as many shifts as there is room for, the chosen one first, then the newest; then both ends."""
    room = [" "] * (LEFT + plot + RIGHT)
    tones = ["quiet"] * len(room)
    for mark in [*sorted(shifts, key=lambda each: (each.chosen, each.place), reverse=True), *ends]:
        size = width(mark.label)
        middle = LEFT + column_of(mark.place, found.count, plot)
        if room[middle] != " ":
            continue
        start = max(0, min(middle - size // 2, len(room) - size))
        around = room[max(0, start - 1) : start + size + 1]
        if not size or any(char != " " for char in around):
            continue
        room[start : start + size] = list(mark.label)
        tones[start : start + size] = ["accent" if mark.chosen else "quiet"] * size
    return merged(list(zip(room, tones, strict=True)))


def merged(line: Line) -> Line:
    """Neighbouring spans of one tone as one."""
    out: Line = []
    for text, tone in line:
        if out and out[-1][1] == tone:
            out[-1] = (out[-1][0] + text, tone)
        else:
            out.append((text, tone))
    return out


def path(stretches: Sequence[Stretch], cells: int) -> Line:
    """The way through the quadrants in `cells` cells: in each the shade of what there was most of."""
    total = sum(each.count for each in stretches)
    if not total or cells <= 0:
        return [(" " * max(0, cells), "rest")]
    line: Line = []
    place, reached, tally = 0, 0, dict.fromkeys(FILLS, 0.0)
    for each in stretches:
        reached += each.count
        while place < cells:
            low, high = place * total / cells, (place + 1) * total / cells
            tally[each.quadrant] = tally.get(each.quadrant, 0.0) + min(high, reached) - max(low, reached - each.count)
            if high > reached:
                break
            most = max(tally, key=lambda name: tally[name])
            line.append((fill(most), most if most in FILLS else "rest"))
            place, tally = place + 1, dict.fromkeys(FILLS, 0.0)
    line += [line[-1]] * (cells - len(line)) if line else [(" " * cells, "rest")]
    return merged(line)


Place = tuple[float, float]
"""Phase and scope, both from -1 to 1 with their middle at 0."""
_CORNERS = (("reason", 0, 0), ("finish", 0, 1), ("explore", 1, 0), ("scaffold", 1, 1))
"""Quadrant, whether it is below, whether it is at the right."""
NEWEST = 20
"""So many of the newest steps are drawn without gaps."""
_SHOWN = 80
"""Older steps are not drawn: they lie under each other."""


def way(stance: Stance) -> list[Place]:
    """The newest places of a session, the oldest first."""
    return [
        (point.ema_phase, lifted(point.ema_scope, stance.scope_base))
        for point in stance.points[-_SHOWN:]
        if point.ema_phase is not None and point.ema_scope is not None
    ]


def told(stance: Stance) -> Mapping[str, Share] | None:
    """The shares that its corners say; None of a session with too few calls to tell."""
    return None if stance.few else stance.quadrants


def tight(parts: Mapping[str, str], name: str) -> str:
    """One of the parts of a whole, without its blank: 12%."""
    return parts.get(name, "0 %").replace(" ", "")


def draw_plane(way: Sequence[Place], shares: Mapping[str, Share] | None, cells: int, rows: int) -> list[Line]:
    """The plane in `cells` by `rows` cells: act at the right, converge above; without shares, the corners' names."""
    canvas = Canvas(cells, rows)
    _way(canvas, way)
    parts = percents(shares or {})
    for name, below, right in _CORNERS:
        said = name if shares is None else f"{name} {tight(parts, name)}"
        said = f" {said} " if cells >= 36 else said
        row = rows - 1 if below else 0
        canvas.text(cells - width(said) if right else 0, row, said, name)
    if len(way) > NEWEST:
        _point(canvas, way[-1 - NEWEST], "○", "quiet")
    if way:
        _point(canvas, way[-1], "●", "strong")
    poles = ((cells // 2 - 4, 0, "converge"), (cells // 2 - 3, rows - 1, "diverge"))
    for cell, row, pole in poles if cells >= 48 else ():
        canvas.text(cell, row, pole, "quiet")
    for pole, cell in (("think", 0), ("act", cells - 3)):
        canvas.text(cell, rows // 2, pole, "quiet")
    for cell in range(cells):
        canvas.behind(cell, rows // 2, "┼" if cell == cells // 2 else "─", "line")
    for row in range(rows):
        canvas.behind(cells // 2, row, "│", "line")
    return canvas.lines()


def _way(canvas: Canvas, way: Sequence[Place]) -> None:
    """Older steps are dotted, the newest are a line."""
    first = len(way) - 1 - NEWEST
    for number, (start, end) in enumerate(pairwise(way)):
        recent = number >= first
        ax, ay = _dot(canvas, start)
        bx, by = _dot(canvas, end)
        steps = max(abs(bx - ax), abs(by - ay), 1)
        for step in range(0, steps + 1, 1 if recent else steps):
            x, y = ax + (bx - ax) * step // steps, ay + (by - ay) * step // steps
            canvas.dot(x, y, "accent" if recent else "quiet")


def _dot(canvas: Canvas, place: Place) -> tuple[int, int]:
    """The dot of a place; the first and the last row belong to the corners' names."""
    across, down = canvas.cells * ACROSS, max(1, canvas.rows - 2) * DOWN
    return across - 1 - level(place[0], across), DOWN + level(place[1], down)


def _point(canvas: Canvas, place: Place, char: str, tone: str) -> None:
    x, y = _dot(canvas, place)
    canvas.text(x // ACROSS, y // DOWN, char, tone)


SIGNS = (
    Sign("P", "the solid line, phase: act above, think below, smoothed over calls", "phase"),
    Sign("S", "the dotted line, scope: converge above, diverge below", "scope"),
    Sign("{held}", "where both lines divide", "line"),
    Sign("▲", "a shift: a line crossed its middle; in accent the one under the cursor", "accent"),
    Sign("┊ ┴", "an episode begins", "line"),
    Sign("● ○", "on the plane: now, and 20 calls ago", "accent"),
    *(
        Sign(f"{{bands[{place}]}}", f"the shade of {name}: {told}", name)
        for place, (name, told) in enumerate(
            zip(FILLS, ("thinks and widens", "thinks and narrows", "acts and widens", "acts and narrows"), strict=True)
        )
    ),
)
