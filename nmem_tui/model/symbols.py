"""Every glyph by its meaning, in three sets: blocks, braille, ascii. Each is one cell wide.

Drawings take their glyphs from `now()`. What stands as a literal in a text (`✓`, `·`, `─`) is made its ASCII twin on
the way to the screen (`nmem_tui.appearance.theming`), so that both ways lead to the same screen.
"""

from __future__ import annotations

import codecs
import locale
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

from nmem.text import pad, width
from nmem_tui.model.line import Line, wrap

BLOCKS, BRAILLE, ASCII = "blocks", "braille", "ascii"
NAMES = (BLOCKS, BRAILLE, ASCII)


class Symbols(NamedTuple):
    """One set."""

    name: str = BLOCKS
    # How it went
    ok: str = "✓"
    failed: str = "✗"
    neither: str = "–"
    unsure: str = "·"
    # In which state it is
    live: str = "●"
    rest: str = "○"
    waits: str = "◐"
    later: str = "◔"
    pinned: str = "★"
    marked: str = "■"
    always: str = "✚"
    accepted: str = "§"
    # What to notice
    hot: str = "▲"
    below: str = "▼"
    advice: str = "◆"
    again: str = "↺"
    resumes: str = "↩"
    taken_up: str = "↪"
    reverted: str = "↶"
    follow: str = "↻"
    by_helper: str = "⤷"
    asked: str = "❯"
    # Ways
    left: str = "←"
    right: str = "→"
    up: str = "↑"
    down: str = "↓"
    more_left: str = "‹"
    more_right: str = "›"
    # Where one is
    here: str = "▸"
    cursor: str = "▌"
    # In texts
    cut: str = "…"
    dot: str = "·"
    dash: str = "─"
    times: str = "×"
    minus: str = "−"
    most: str = "≤"
    quote: str = "“"
    unquote: str = "”"
    # Bars: filled, free, and what is held back
    bar: str = "▇"
    full: str = "█"
    much: str = "▓"
    free: str = "░"
    held: str = "╌"
    track: str = "·"
    """Free, where what is measured may be little."""
    # Lines
    across: str = "─"
    upright: str = "│"
    crossing: str = "┼"
    tick: str = "┤"
    corner: str = "└"
    mark: str = "┴"
    border: str = "┊"
    levels: str = "▁▂▃▄▅▆▇█"
    """Heights of a sparkline, lowest first."""
    shades: str = "·░▒▓█"
    """How often or how much, none first."""
    bands: str = "░▒▓█"
    """Kinds side by side that are told apart by their shade."""


class Sign(NamedTuple):
    """A sign as it stands on a screen, and what it means. A module that draws signs declares its own in `SIGNS`."""

    sign: str
    """The text as it is drawn; a name of a field above in braces is its glyph in the set of now."""
    means: str
    tone: str = "text"

    def drawn(self) -> str:
        """The sign in the set of now."""
        return self.sign.format_map(_chosen._asdict()) if "{" in self.sign else self.sign


_BLOCKS = Symbols()
_BRAILLE = _BLOCKS._replace(
    name=BRAILLE, bar="⠶", full="⣿", much="⣿", free="⠒", track="⠐", levels="⣀⣠⣤⣴⣶⣾⣿", shades="·⠢⠶⡷⣿", bands="⠐⠢⠶⣿"
)
_ASCII = Symbols(
    name=ASCII, ok="+", failed="x", neither="-", unsure="|", live="*", rest="o", waits="?", later="z",
    pinned="P", marked="#", always="A", accepted="S", hot="^", below="v", advice="*", again="@", resumes="<",
    taken_up=">", reverted="<", follow="@", by_helper="/", asked=">", left="<", right=">", up="^", down="v",
    more_left="<", more_right=">", here=">", cursor="]", cut="~", dot="|", dash="-", times="x", minus="-",
    most="<", quote='"', unquote='"', bar="=", full="#", much="#", free=".", held="-", track=".", across="-",
    upright="|", crossing="+", tick="+", corner="`", mark="+", border=":", levels="_.-~=*%#", shades=".-+%#",
    bands="-+%#",
)  # fmt: skip
SETS = {each.name: each for each in (_BLOCKS, _BRAILLE, _ASCII)}
_chosen = _BLOCKS


def now() -> Symbols:
    """The set that is drawn with."""
    return _chosen


def use(name: str) -> Symbols:
    """Draw with this set from now on; a name that is none means blocks."""
    global _chosen  # noqa: PLW0603 -- one terminal, one set; drawings are functions that know no app
    _chosen = SETS.get(name, _BLOCKS)
    return _chosen


def possible(wanted: str, encoding: str = "") -> str:
    """The set to use: the wanted one, or ascii where the locale's encoding cannot carry the others."""
    try:
        unicode = codecs.lookup(encoding or locale.getencoding()).name.startswith("utf")
    except LookupError:
        unicode = False
    return (wanted if wanted in SETS else BLOCKS) if unicode else ASCII


_ARROWS = {"←": "left", "→": "right", "↑": "up", "↓": "down"}


def keys(text: str) -> str:
    """A text that names keys: an arrow is a word where its sign would read as another key."""
    if _chosen.name == ASCII:
        for arrow, word in _ARROWS.items():
            text = text.replace(arrow, word)
    return text


_ALSO = {
    "◂": "<", "◀": "<", "◄": "<", "▶": ">", "►": ">", "↔": "-", "↕": "|",
    "╭": "+", "╮": "+", "╰": "+", "╯": "+", "┌": "+", "┐": "+", "┘": "+", "├": "+", "┬": "+", "━": "-", "┃": "|",
    "▎": "|", "▍": "|", "▐": "|", "▔": "-", "▊": "|", "▋": "|", "▖": ".", "⎯": "-", "—": "-", "‘": "'", "’": "'",
    "≥": ">", "≈": "~", "•": "*", "↵": "<", "⏎": "<", "┄": "-", "┈": "-", "┆": ":", "▕": "|", "▏": "|",
}  # fmt: skip
"""What the library draws by itself, and signs in texts."""
_REST = ((0x2010, 0x2028, "-"), (0x2190, 0x2200, ">"), (0x2500, 0x2580, "+"), (0x2580, 0x25A0, "#"),
         (0x25A0, 0x2600, "*"), (0x2700, 0x27C0, "*"), (0x2801, 0x2900, "-"))  # fmt: skip
"""Punctuation, arrows, frames, blocks, shapes, ornaments and dots that nobody gave a twin of its own."""


def twins() -> dict[int, str]:
    """For `str.translate`: every glyph of the other sets, and the ASCII one that means the same."""
    table = {code: twin * width(chr(code)) for first, end, twin in _REST for code in range(first, end)}
    table |= {ord(char): twin for char, twin in _ALSO.items()}
    for other in (_BRAILLE, _BLOCKS):
        for glyphs, own in reversed([*zip(other, _ASCII, strict=True)][1:]):
            table |= {ord(glyph): own[min(place, len(own) - 1)] for place, glyph in enumerate(glyphs)}
    return {code: twin for code, twin in table.items() if code > 0x7F}


# The legends: what the signs of a screen mean

_SIGN = 18
"""Cells of a sign; a longer one takes more."""
_DRAWS: Mapping[str, tuple[str, ...]] = {
    "now": ("now_cards", "stream", "stance_chart", "stance", "now_gauges", "learnings"),
    "episodes": ("episodes", "band", "story", "stream"),
    "stance": ("stance", "stance_chart", "stream"),
    "learnings": ("learnings", "learning_detail", "stream"),
    "context": ("context", "context_text"),
    "search": ("search", "episodes", "stream", "tasks", "story"),
    "tasks": ("tasks",),
    "health": ("health", "health_cards", "health_storage"),
    "sessions": ("sessions",),
    "review": ("review", "stream"),
}
"""What draws on a screen beside its tabs and its list: modules beside this one."""


def of_screen(context: str) -> list[Sign]:
    """Every sign that a screen can show, each once, its own first."""
    names = (*_DRAWS.get(context, ()), "lists", "screens")
    found = [sign for name in names for sign in import_module(f"nmem_tui.model.{name}").SIGNS]
    return list({(one.sign, one.means): one for one in found}.values())


def explained(one: Sign, cells: int) -> list[Line]:
    """A sign and what it means, over more lines where there is no room."""
    sign = one.drawn()
    indent = max(_SIGN, width(sign) + 1)
    first, *rest = wrap(one.means, max(8, cells - indent), 3)
    head: Line = [(pad(sign, indent), one.tone), (first, "text")]
    return [head, *([(" " * indent, "text"), (row, "text")] for row in rest)]


def legend(context: str, cells: int, rows: int) -> list[Line]:
    """As many whole signs of a screen as there is room for."""
    out: list[Line] = []
    for one in of_screen(context):
        drawn = explained(one, cells)
        if len(out) + len(drawn) > rows:
            break
        out += drawn
    return out
