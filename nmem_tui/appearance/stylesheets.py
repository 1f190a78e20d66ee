"""Finds the style sheets and parses each once per process."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from textual.app import App, ScreenError, UnknownModeError
from textual.css.model import RuleSet
from textual.css.styles import RenderStyles
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.dom import DOMNode
from textual.screen import Screen

from nmem_tui.widgets.drawn import COMPONENTS

_KEPT = 600
"""Parsed sources that are remembered; a theme has some fifty."""
_PARSED: dict[tuple[object, ...], list[RuleSet]] = {}
"""By text, place and variables: the same give the same rules, which nobody changes."""


class Sheet(Stylesheet):
    """A style sheet that remembers what was parsed in this process with the same variables."""

    _variables_key: tuple[tuple[str, str], ...] | None = None
    _tones: tuple[list[RuleSet], dict[str, RenderStyles]] | None = None
    """By which rules, and the looks of all tones by them: the same on every node."""

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

    def wears(self, screen: Screen[Any]) -> bool:
        """Whether a screen has the look of now."""
        return screen in self._worn

    def _shown(self) -> list[Screen[Any]]:
        try:
            return self.screen_stack
        except (ScreenError, UnknownModeError):
            return []  # it only just begins
