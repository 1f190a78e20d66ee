"""What a theme and a colour of the cockpit may be called; `nmem_tui.appearance.themes` says which there are."""

from __future__ import annotations

import re

THEMES = (
    "dark", "light", "ansi", "nmem-dark", "nmem-light", "nmem-ansi-dark", "nmem-ansi-light",
    "ansi-dark", "ansi-light", "atom-one-dark", "atom-one-light", "catppuccin-frappe", "catppuccin-latte",
    "catppuccin-macchiato", "catppuccin-mocha", "dracula", "flexoki", "gruvbox", "monokai", "nord", "rose-pine",
    "rose-pine-dawn", "rose-pine-moon", "solarized-dark", "solarized-light", "textual-dark", "textual-light",
    "tokyo-night",
)  # fmt: skip
ROLES = (
    "ground", "raised", "line", "text", "strong", "quiet", "accent", "good", "bad", "warn", "user", "agent", "change",
    "run", "look", "cursor", "bar", "rest", "off",
)  # fmt: skip
SYMBOLS = ("blocks", "braille", "ascii")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def theme(value: object) -> str:
    """What is wrong with the name of a theme."""
    if not value or value in THEMES:
        return ""
    from difflib import get_close_matches

    found = get_close_matches(str(value).lower(), THEMES, 1, 0.5)
    return f"is no theme: did you mean {found[0]}?" if found else "is no theme: try dark, light, ansi, nord"


def colour(value: object) -> str:
    """What is wrong with a colour."""
    return "" if _COLOUR.fullmatch(str(value)) else 'is a colour like "#7cb7ff"'
