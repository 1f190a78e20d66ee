"""Defines the dark and light themes, chooses the one to start with, and derives our colours in foreign themes.

Colours repeat what glyphs and words already say. Blue and orange carry good and bad, so that red and green need not
be told apart. Style sheets use these variables only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

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


DARK, LIGHT = "nmem-dark", "nmem-light"


def _variables(**colours: str) -> dict[str, str]:
    return {f"nm-{name.replace('_', '-')}": colour for name, colour in colours.items()} | {
        "border": colours["line"],
        "border-blurred": colours["line"],
        "block-cursor-background": colours["cursor"],
        "block-cursor-foreground": colours["text"],
        "block-cursor-text-style": "none",
        "scrollbar": colours["line"],
        "scrollbar-hover": colours["quiet"],
        "scrollbar-active": colours["accent"],
        "scrollbar-background": colours["ground"],
        "scrollbar-background-hover": colours["ground"],
        "scrollbar-background-active": colours["ground"],
        "scrollbar-corner-color": colours["ground"],
        "input-selection-background": colours["cursor"],
    }


_DARK = {
    "ground": "#11161c",
    "raised": "#1a212a",
    "line": "#34404d",
    "text": "#d8dee6",
    "strong": "#ffffff",
    "quiet": "#9aa7b5",
    "accent": "#7cb7ff",
    "good": "#6fb3e0",
    "bad": "#ff8f5e",
    "warn": "#ffdd57",
    "user": "#f4d58d",
    "agent": "#b9a5e2",
    "change": "#8fd0c0",
    "run": "#a9c7ea",
    "look": "#9dabba",
    "cursor": "#213a55",
    "bar": "#4f8fcf",
    "rest": "#32404d",
    "off": "#7d8996",
}
_LIGHT = {
    "ground": "#fbfaf7",
    "raised": "#f0eee8",
    "line": "#c4c0b6",
    "text": "#24292f",
    "strong": "#000000",
    "quiet": "#565e67",
    "accent": "#0b5cad",
    "good": "#0a5f9e",
    "bad": "#b93200",
    "warn": "#5c4300",
    "user": "#6f4e00",
    "agent": "#5f3fa3",
    "change": "#066452",
    "run": "#2a4d7c",
    "look": "#525a63",
    "cursor": "#d3e3f5",
    "bar": "#2c6aaa",
    "rest": "#c6c2b8",
    "off": "#666c73",
}
_ANSI = {
    "ground": "ansi_default",
    "raised": "ansi_default",
    "line": "ansi_bright_black",
    "text": "ansi_default",
    "strong": "ansi_default",
    "quiet": "ansi_default",
    "accent": "ansi_blue",
    "good": "ansi_cyan",
    "bad": "ansi_red",
    "warn": "ansi_yellow",
    "user": "ansi_yellow",
    "agent": "ansi_magenta",
    "change": "ansi_green",
    "run": "ansi_blue",
    "look": "ansi_default",
    "cursor": "ansi_default",
    "bar": "ansi_blue",
    "rest": "ansi_bright_black",
    "off": "ansi_bright_black",
}


ROLES = tuple(_DARK)
"""What a colour can mean; docs/cockpit.md says what each does."""


def _theme(name: str, colours: dict[str, str], *, dark: bool, ansi: bool = False) -> Theme:
    return Theme(
        name=name,
        primary=colours["accent"],
        secondary=colours["quiet"],
        accent=colours["accent"],
        warning=colours["warn"],
        error=colours["bad"],
        success=colours["good"],
        foreground=colours["text"],
        background=colours["ground"],
        surface=colours["ground"],
        panel=colours["raised"],
        dark=dark,
        ansi=ansi,
        variables=(BUILTIN_THEMES["ansi-dark" if dark else "ansi-light"].variables if ansi else {})
        | _variables(**colours),
    )


def made(colours: Mapping[str, str]) -> tuple[Theme, ...]:
    """Our themes, these roles in the person's own colours; what is the terminal's own stays it."""
    own = {role: colour for role, colour in colours.items() if role in ROLES}
    return (
        _theme(DARK, _DARK | own, dark=True),
        _theme(LIGHT, _LIGHT | own, dark=False),
        _theme("nmem-ansi-dark", _ANSI, dark=True, ansi=True),
        _theme("nmem-ansi-light", _ANSI, dark=False, ansi=True),
    )


THEMES = made({})
NAMES = tuple(theme.name for theme in THEMES)
_PAIRS = {DARK: LIGHT, LIGHT: DARK, "nmem-ansi-dark": "nmem-ansi-light", "nmem-ansi-light": "nmem-ansi-dark"}


def variables(theme: Theme, colours: Mapping[str, str]) -> dict[str, str]:
    """Our variables for a theme that is not ours; the person's own colours over them."""
    if theme.ansi:
        return _variables(**_ANSI)

    return _variables(**roles(theme) | {role: colour for role, colour in colours.items() if role in ROLES})


def first(wanted: str, *, no_color: bool) -> str:
    """The theme to start with: what was asked for, else what the terminal's environment suggests."""
    if no_color:
        return "nmem-ansi-dark"
    name = wanted or os.environ.get("TEXTUAL_THEME", "")
    short = {"dark": DARK, "light": LIGHT, "ansi": "nmem-ansi-dark"}.get(name, name)
    return short if known(short) else DARK


def other(name: str) -> str:
    """The light twin of a dark theme, and the other way round."""
    return _PAIRS.get(name, DARK)


def known(name: str) -> bool:
    """Whether there is such a theme, of ours or built in."""
    return name in ("dark", "light", "ansi") or name in NAMES or name in BUILTIN_THEMES
