"""[tui]: read by nmem_tui.config; which actions there are, nmem_tui.keymap knows."""

from __future__ import annotations

from nmem.settings.declared import looks
from nmem.settings.setting import ANY, CHOICE, KEYS, TEXT, Setting

SETTINGS = (
    Setting(
        "tui.theme",
        TEXT,
        "",
        "the cockpit's theme: dark, light, ansi, or another that docs/cockpit.md names; empty: dark",
        also=looks.theme,
    ),
    Setting(
        f"tui.colours.{ANY}",
        TEXT,
        None,
        'a colour of your own for what it stands for, over the theme\'s: "#7cb7ff"',
        choices=looks.ROLES,
        also=looks.colour,
    ),
    Setting(
        "tui.symbols",
        CHOICE,
        "blocks",
        "what bars, charts and signs are drawn with; ascii needs no font and no UTF-8",
        choices=looks.SYMBOLS,
    ),
    Setting("tui.keys.*", KEYS, None, "the key or keys of one action of the cockpit, by its id: `nmem tui --keys`"),
)
