"""Growth curves as a picture: a small SVG, in words and lines that read on light and on dark.

A panel has the sizes to the right (logarithmic) and, upwards, how many times each figure is what it is at the smallest
size; the dashed line is the budget. Names stand at the ends of their lines, pushed apart where they would overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from xml.sax.saxutils import escape

from benchmarks.figures import GROWTH, Run, short

WIDE, HIGH = 900, 250
_LEFT, _RIGHT, _TOP, _LOW = 46, 250, 34, 30
_GAP = 13
COLOURS = ("#2f7fd1", "#d1602f", "#2f9e5b", "#a34fc0", "#b8860b", "#0f98a6", "#c23a68", "#7a7f2a")
"""Each reads on white and on black."""
_STYLE = """text{font:11px system-ui,sans-serif;fill:#333}.t{font-weight:600;font-size:12px}line{stroke:#bbb}
.b{stroke:#c00;stroke-dasharray:5 4}path{fill:none;stroke-width:1.8}
@media (prefers-color-scheme:dark){text{fill:#ddd}line{stroke:#555}.b{stroke:#f66}}"""

Curve = Mapping[int, float]
PANELS = (
    ("Hooks", ("hook ",)),
    ("Reads and searches", ("read ", "search ")),
    ("The cockpit", ("key ", "memory", "first frame")),
)


def curves(run: Run, starts: Sequence[str]) -> dict[str, Curve]:
    """What is drawn: by name, size -> times the smallest size. A figure of one size is no curve."""
    found: dict[str, Curve] = {}
    for one in run.measured():
        readings = run.figures[one.key]
        first = readings[min(readings)].relative
        if one.key.startswith(tuple(starts)) and len(readings) > 1 and first:
            found[one.what] = {size: each.relative / first for size, each in sorted(readings.items())}
    return found


def picture(run: Run) -> str:
    """The whole SVG."""
    panels = [(name, found) for name, starts in PANELS if (found := curves(run, starts))]
    high = HIGH * len(panels)
    body = "".join(panel(name, found, HIGH * at) for at, (name, found) in enumerate(panels))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{high}" viewBox="0 0 {WIDE} {high}"'
        f' role="img"><title>Growth with the number of observations</title><style>{_STYLE}</style>{body}</svg>\n'
    )


def panel(name: str, found: Mapping[str, Curve], top: float) -> str:
    """One coordinate system with its lines."""
    sizes = sorted({size for curve in found.values() for size in curve})
    most = max(GROWTH * 1.15, *(value for curve in found.values() for value in curve.values()))
    least = min(0.5, *(value for curve in found.values() for value in curve.values()))
    low, high = top + HIGH - _LOW, top + _TOP

    def x(size: int) -> float:
        span = log10(sizes[-1]) - log10(sizes[0])
        return _LEFT + (WIDE - _LEFT - _RIGHT) * (log10(size) - log10(sizes[0])) / span

    def y(value: float) -> float:
        return low - (low - high) * (value - least) / (most - least)

    out = [f'<text class="t" x="{_LEFT}" y="{top + 18:.0f}">{escape(name)}: times the smallest size</text>']
    for size in sizes:
        out.append(f'<line x1="{x(size):.1f}" y1="{high:.1f}" x2="{x(size):.1f}" y2="{low:.1f}"/>')
        out.append(f'<text x="{x(size):.1f}" y="{low + 15:.1f}" text-anchor="middle">{short(size)}</text>')
    for value, style in ((1.0, ""), (GROWTH, ' class="b"')):
        out.append(f'<line{style} x1="{_LEFT}" y1="{y(value):.1f}" x2="{WIDE - _RIGHT}" y2="{y(value):.1f}"/>')
        out.append(f'<text x="{_LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    ends = {label: y(curve[max(curve)]) for label, curve in found.items()}
    places = apart(ends, high, low)
    for at, (label, curve) in enumerate(found.items()):
        colour = COLOURS[at % len(COLOURS)]
        line = " ".join(f"{'ML'[bool(n)]}{x(size):.1f} {y(value):.1f}" for n, (size, value) in enumerate(curve.items()))
        out.append(f'<path stroke="{colour}" d="{line}"/>')
        out.append(
            f'<text x="{WIDE - _RIGHT + 8}" y="{places[label] + 4:.1f}" style="fill:{colour}">'
            f"{escape(label)} {curve[max(curve)]:.2f}</text>"
        )
    return "".join(out)


def apart(wanted: Mapping[str, float], high: float, low: float) -> dict[str, float]:
    """Heights of labels near those that are wanted, none nearer than a line to the next, within the panel."""
    found: dict[str, float] = {}
    at = high - _GAP
    for label in sorted(wanted, key=wanted.__getitem__):
        at = found[label] = max(wanted[label], at + _GAP)
    end = low + _GAP
    for label in reversed(found):
        end = found[label] = min(found[label], end - _GAP)
    return found
