"""How the cockpit looks: its theme with the person's own colours, and the symbols that it draws with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.app import App
from textual.filter import LineFilter
from textual.theme import Theme

from nmem_tui.looks import themes
from nmem_tui.model import symbols


class Looking(App[None]):
    """An app whose looks change while it runs; nothing in it moves by itself."""

    _twins: LineFilter | None = None
    _colours: Mapping[str, str] = {}

    def dress(self, theme: str, signs: str = "", colours: Mapping[str, str] | None = None) -> None:
        """Look like this from now on; without a theme it stays the same one."""
        before = symbols.now().name, self._colours
        chosen = symbols.use(symbols.possible(signs))
        self._twins = None
        if chosen.name == symbols.ASCII:
            from nmem_tui.widgets.ascii import Twins

            self._twins = Twins(strict=signs != symbols.ASCII)
        self._colours = dict(colours or {})
        for own in themes.made(self._colours):
            self.register_theme(own)
        if theme and theme != self.theme:
            self.theme = theme
        elif before != (chosen.name, self._colours) and self.is_running:
            self.mutate_reactive(App.theme)

    def get_theme(self, theme_name: str) -> Theme | None:
        """The library puts all of them together anew, for every line that is painted."""
        return self._registered_themes.get(theme_name) or super().get_theme(theme_name)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What happens to every line before it is shown."""
        filters = super().get_line_filters()
        return [*filters, self._twins] if self._twins else filters

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our variables, for themes that are not ours."""
        theme = self.current_theme
        return {} if theme.name in themes.NAMES else themes.variables(theme, self._colours)
