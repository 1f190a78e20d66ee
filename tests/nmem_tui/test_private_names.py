"""The private names of Textual that the cockpit leans on: an upgrade that lost one says so here, before any screen."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual import keys
from textual._compositor import Compositor
from textual.app import App
from textual.command import CommandPalette
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.drivers.web_driver import WebDriver
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import TextArea

import nmem_tui

NAMES: dict[type, str] = {
    App: "_check_bindings _driver _exit _get_screen _load_screen_css _registered_themes _running _screen_stacks",
    CommandPalette: "_action_command_list _gather_commands _list_visible _select_or_command _selected_command",
    Compositor: "_cuts _dirty_regions _full_map _layers_visible",
    DOMNode: "_bindings _component_styles _get_component_classes _selector_names",
    MessagePump: "_attach _closing _mounted_event _post_message _timers",
    Screen: "_compositor _compositor_refresh _default_focused _dirty_widgets _get_breakpoint_classes _refresh_layout",
    Strip: "_cell_count _cell_length _link_ids _render_cache _segments",
    Stylesheet: "_parse_rules _process_component_classes _variables",
    TextArea: "_on_paste",
    Timer: "_interval _repeat _task",
    WebDriver: "_app _loop",
    Widget: "_border_title _default_virtual_size _layout_required _pruning _size _size_updated",
}
"""What is called, read, set or overridden, by the class that has it."""
PLUMBING = {"_inherit_bindings", "_merged_bindings", "_css_type_name", "_css_type_names", "_computes", "_reactives",
            "_decorated_handlers", "_inherit_css", "_inherit_component_classes", "_default_cursor_blink"}  # fmt: skip
"""What Textual itself writes into a class that is made of one of its own."""


@pytest.mark.parametrize("owner", NAMES, ids=lambda owner: owner.__name__)
def test_textual_has_what_the_cockpit_leans_on(owner: type) -> None:
    gone = [name for name in NAMES[owner].split() if not any(name in has(one) for one in owner.__mro__)]
    assert not gone, f"{owner.__qualname__} has no {', '.join(gone)} any more: see who uses it in nmem_tui"


def test_a_key_s_name_is_made_by_textual() -> None:
    assert keys._character_to_key("?") == "question_mark"


def test_every_private_name_in_use_is_listed() -> None:
    listed = set(" ".join(NAMES.values()).split())
    assert sorted(used() - listed) == [], "list them above, by the class that has them"
    assert sorted(overridden() - listed) == [], "list them above, by the class that has them"


def has(one: type) -> set[str]:
    """What a class defines, and what its constructor names."""
    begun = vars(one).get("__init__")
    named = begun.__code__.co_names if inspect.isfunction(begun) else ()
    return {*vars(one), *vars(one).get("__annotations__", ()), *named}


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith(("__", "_abc_"))


def sources() -> Iterator[Path]:
    yield from sorted(Path(nmem_tui.__file__).parent.rglob("*.py"))


def used() -> set[str]:
    """Private attributes that the cockpit reads and none of its modules makes."""
    made, found = {"_replace", "_asdict", "_fields"}, set()  # a named tuple's are public
    for file in sources():
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                made.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                made.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                made.add(node.attr)
            elif isinstance(node, ast.Attribute) and private(node.attr):
                found.add(node.attr)
    return found - made


def overridden() -> set[str]:
    """Private names of Textual's classes that classes of the cockpit have themselves."""
    found: set[str] = set()
    for file in sources():
        parts = file.relative_to(Path(nmem_tui.__file__).parents[1]).with_suffix("").parts
        if parts[-1] == "__main__":
            continue
        module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
        for one in vars(module).values():
            if inspect.isclass(one) and one.__module__ == module.__name__:
                bases = [base for base in one.__mro__ if base.__module__.startswith("textual")]
                theirs = {name for base in bases for name in has(base)}
                own = {*vars(one), *vars(one).get("__annotations__", ())}
                found |= {name for name in own & theirs - PLUMBING if private(name)}
    return found
