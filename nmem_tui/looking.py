"""How the cockpit looks: its theme with the person's own colours, and the symbols that it draws with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.app import App
from textual.filter import LineFilter

from nmem_tui import themes
from nmem_tui.model import symbols


class Looking(App[None]):
    """An app whose looks change while it runs."""

    _twins: LineFilter | None = None
    _colours: Mapping[str, str] = {}

    def dress(self, theme: str = "", signs: str = "", colours: Mapping[str, str] | None = None) -> None:
        """Look like this from now on; an empty theme leaves the theme as it is."""
        before, changed = symbols.now().name, dict(colours or {}) != self._colours
        chosen = symbols.use(symbols.possible(signs))
        self._draw_with(chosen, strict=chosen.name == symbols.ASCII != signs)
        if changed or not self.available_themes.keys() & set(themes.NAMES):
            self._colours = dict(colours or {})
            for own in themes.made(self._colours):
                self.register_theme(own)
        name = themes.first(theme, no_color=False) if theme and themes.known(theme) else self.theme
        if self.no_color or name == self.theme:
            if self.is_running and (changed or before != chosen.name):
                self.mutate_reactive(App.theme)
        else:
            self.theme = name

    def _draw_with(self, chosen: symbols.Symbols, *, strict: bool) -> None:
        self._twins = None
        if chosen.name == symbols.ASCII:
            from nmem_tui.widgets.ascii import Twins

            self._twins = Twins(strict=strict)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What happens to every line before it is shown."""
        filters = super().get_line_filters()
        return [*filters, self._twins] if self._twins else filters

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our variables, for themes that are not ours."""
        return themes.FALLBACK
