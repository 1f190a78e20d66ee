"""Our roles in the colours of a theme that is not ours: each is moved away from its grounds until it can be read."""

from __future__ import annotations

from textual.color import Color
from textual.theme import Theme

READABLE = 4.5
"""The least contrast of text (WCAG 2, level AA)."""
VISIBLE = 3.0
"""That of what is drawn."""
FAINT = 1.5
"""That of what is only free: the empty part of a bar, a day without anything, a frame."""
_STEPS = 20
_BLACK, _WHITE = Color.parse("#000000"), Color.parse("#ffffff")


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two colours, 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def roles(theme: Theme) -> dict[str, str]:
    """Role -> colour as `#rrggbb`."""
    given = theme.to_color_system().generate()
    ground, text = Color.parse(given["background"]), Color.parse(given["foreground"])
    away = _WHITE if contrast(ground, _WHITE) > contrast(ground, _BLACK) else _BLACK
    accent = Color.parse(given["primary"])
    grounds = [ground, ground.blend(away, 0.06), ground.blend(accent, 0.22)]

    def read(colour: Color, least: float = READABLE, on: int = 3) -> Color:
        for step in range(_STEPS + 1):
            moved = colour.blend(away, step / _STEPS)
            if all(contrast(moved, under) >= least for under in grounds[:on]):
                return moved
        return away

    named = {name: Color.parse(given[name]) for name in ("secondary", "accent", "success", "warning", "error")}
    quiet = read(ground.blend(text, 0.6))
    found = {
        "ground": grounds[0], "raised": grounds[1], "cursor": grounds[2],
        "line": read(ground.blend(text, 0.25), FAINT, 2),
        "text": read(text), "strong": away, "quiet": quiet, "accent": read(accent), "good": read(named["success"]),
        "bad": read(named["error"]), "warn": read(named["warning"]), "user": read(named["warning"].blend(text, 0.4)),
        "agent": read(named["secondary"]), "change": read(named["success"].blend(text, 0.3)),
        "run": read(accent.blend(text, 0.4)), "look": quiet, "bar": read(accent, VISIBLE),
        "rest": read(ground.blend(text, 0.15), FAINT, 2), "off": read(ground.blend(text, 0.45), on=2),
    }  # fmt: skip
    return {role: colour.hex6 for role, colour in found.items()}
