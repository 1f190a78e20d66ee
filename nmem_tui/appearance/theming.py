"""Applies theme, style sheets, the person's own colours and the symbol set to a running app."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from weakref import WeakSet

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App, ScreenError, UnknownModeError
from textual.color import Color
from textual.css.model import RuleSet, SelectorType
from textual.css.styles import RenderStyles
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import Theme

from nmem_tui.appearance import themes
from nmem_tui.model import symbols
from nmem_tui.widgets.drawn import COMPONENTS


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


_KEPT = 600
"""Parsed sources that are remembered; a theme has some fifty."""
_PARSED: dict[tuple[object, ...], list[RuleSet]] = {}
"""By text, place and variables: the same give the same rules, which nobody changes."""


class Sheet(Stylesheet):
    """A style sheet that remembers what was parsed in this process with the same variables."""

    _variables_key: tuple[tuple[str, str], ...] | None = None
    _tones: tuple[list[RuleSet], dict[str, RenderStyles]] | None = None
    """By which rules, and the looks of all tones by them: the same on every node."""

    _concerned: tuple[list[RuleSet], dict[str, set[str]]] | None = None
    """By which rules, and for each class the selectors at whose end something looks otherwise with it."""

    def concerned(self, classes: Iterable[str]) -> set[str]:
        """Selectors of what may look otherwise inside of a node that gets these classes or loses them."""
        if self._concerned is None or self._concerned[0] is not self.rules:
            found: dict[str, set[str]] = {}
            for rule in self.rules:
                for each in rule.selector_set:
                    for selector in each.selectors:
                        if selector.type == SelectorType.CLASS:
                            found.setdefault(selector.name, set()).update(rule.selector_names)
            self._concerned = self.rules, found
        known = self._concerned[1]
        return set().union(*(known.get(name, ()) for name in classes))

    def set_variables(self, variables: dict[str, str]) -> None:
        """Another theme."""
        super().set_variables(variables)
        self._variables_key = None

    def reparse(self) -> None:
        """Apply the variables."""
        self.parse()

    def _parse_rules(
        self, css: str, read_from: CSSLocation, is_default_rules: bool = False, tie_breaker: int = 0, scope: str = ""
    ) -> list[RuleSet]:  # fmt: skip
        if self._variables_key is None:
            self._variables_key = tuple(sorted(self._variables.items()))
        key = (css, read_from, is_default_rules, tie_breaker, scope, self._variables_key)
        if (known := _PARSED.get(key)) is None:
            if len(_PARSED) >= _KEPT:
                _PARSED.clear()
            known = _PARSED[key] = super()._parse_rules(css, read_from, is_default_rules, tie_breaker, scope)
        return known

    def _process_component_classes(self, node: DOMNode) -> None:
        """The library resolves all tones again for every node that has them, whenever its styles are applied."""
        classes = node._get_component_classes()
        if not classes >= COMPONENTS:
            super()._process_component_classes(node)
            return
        rules = [rule for name in sorted(COMPONENTS) for rule in self.rules_map.get(f".{name}", ())]
        if self._tones is None or self._tones[0] != rules:
            super()._process_component_classes(node)
            self._tones = rules, {name: node._component_styles[name] for name in COMPONENTS}
        else:
            node._component_styles |= self._tones[1]
            for name in classes - COMPONENTS:
                alone = DOMNode(classes=name)
                alone._attach(node)
                self.apply(alone)
                node._component_styles[name] = alone.styles


class StyledApp(App[None]):
    """An app with such a style sheet. The library reads it all again for every screen that is shown first."""

    stylesheet: Sheet

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.stylesheet = Sheet(variables=self.get_css_variables())
        self._look: object = None
        self._worn: WeakSet[Screen[Any]] = WeakSet()
        """Screens that have the look of now."""

    def refresh_css(self, animate: bool = True) -> None:
        """Another theme is for all; a screen that was behind takes it when it is shown, a new one has it."""
        look = (self.theme, self.get_css_variables())
        if look != self._look:
            self._look = look
            self._worn.clear()
            super().refresh_css(animate)
        elif (stack := self._shown()) and (top := stack[-1]) not in self._worn and top.is_mounted and top.children:
            self.stylesheet.update(self, animate=animate)
            top.refresh(layout=True)
        self._worn.update(self._shown())

    def worn(self, screen: Screen[Any]) -> None:
        """A screen was just styled."""
        self._worn.add(screen)

    def restyle(self, node: DOMNode, classes: Iterable[str]) -> None:
        """A node has got or lost these classes: style it, and what in it a rule that names them is about."""
        concerned = self.stylesheet.concerned(classes)
        inside = (each for each in node.walk_children() if not concerned.isdisjoint(each._selector_names))
        self.stylesheet.update_nodes((node, *inside))

    def wears(self, screen: Screen[Any]) -> bool:
        """Whether a screen has the look of now."""
        return screen in self._worn

    def _shown(self) -> list[Screen[Any]]:
        try:
            return self.screen_stack
        except (ScreenError, UnknownModeError):
            return []  # it only just begins
