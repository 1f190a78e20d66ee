"""[tui]: read by nmem_tui.config."""

from __future__ import annotations

from nmem.settings.setting import TEXT, Setting

SETTINGS = (
    Setting("tui.theme", TEXT, "", "the cockpit's theme: dark, light, ansi, or one of `nmem tui --theme`; empty: dark"),
)
