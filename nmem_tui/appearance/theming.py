"""Applies theme, the person's own colours and the symbol set to a running app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from nmem_tui.appearance import themes
from nmem_tui.model import symbols


class Twins(LineFilter):
    """Frames, scroll bars and texts alike; no line changes its width.

    `strict`: the terminal can show nothing else, so what people wrote in other scripts becomes question marks.
    """

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__()
        self._table, self._strict = symbols.twins(), strict

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 -- as the base class
        """The segments of a line with what is not ASCII exchanged."""
        return [
            one if one.text.isascii() else Segment(self._plain(one.text), one.style, one.control) for one in segments
        ]

    def _plain(self, text: str) -> str:
        text = text.translate(self._table)
        if not self._strict or text.isascii():
            return text
        return "".join(char if char.isascii() else "?" * cell_len(char) for char in text)


class ThemedApp(App[None]):
    """An app whose looks change while it runs; nothing in it moves by itself."""

    _twins: LineFilter | None = None
    _colours: Mapping[str, str] = {}

    def dress(self, theme: str, signs: str = "", colours: Mapping[str, str] | None = None) -> None:
        """Look like this from now on; without a theme it stays the same one."""
        before = symbols.now().name, self._colours
        chosen = symbols.use(symbols.possible(signs))
        self._twins = None
        if chosen.name == symbols.ASCII:
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
