"""[tui]: read by nmem_tui.config; which actions there are, nmem_tui.keymap knows."""

from __future__ import annotations

from nmem.settings.setting import KEYS, TEXT, Setting

SETTINGS = (
    Setting("tui.theme", TEXT, "", "the cockpit's theme: dark, light, ansi, or one of `nmem tui --theme`; empty: dark"),
    Setting("tui.keys.*", KEYS, None, "the key or keys of one action of the cockpit, by its id: `nmem tui --keys`"),
)
