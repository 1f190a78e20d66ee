"""The numbered screens, shown as tabs: a fixed list, and any other screen module with a style sheet of its name.

The first line of such a module says its name and what it shows: `Ghosts: files that are gone`.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import nmem_tui
from nmem_tui.model.symbols import Sign

_ROOTS = [Path(root).resolve() for root in nmem_tui.__path__]
STYLES = [next(one for one in (root / "styles", root.parent / "styles") if one.exists()) for root in _ROOTS]
"""Folders of style sheets, looked through in this order: in an installed package, or beside it in a checkout."""
_SHARED = ("base", "dialogs")
"""Style sheets of all screens."""


class Tab(NamedTuple):
    """A numbered screen: its key, its name, its mode, which is its module's name, and what it shows."""

    key: str
    name: str
    mode: str
    help: str


_LISTED = (
    Tab("1", "Now", "now", "the session and its stream"),
    Tab("2", "Episodes", "episodes", "history by thread and day, their stories"),
    Tab("3", "Stance", "stance", "thinking and acting, widening and narrowing"),
    Tab("4", "Learnings", "learnings", "recurring failures, their fixes; ▲ counts the hot ones"),
    Tab("5", "Context", "context", "what a session is told, and whether it helps"),
    Tab("6", "Search", "search", "search everything that is recorded"),
    Tab("7", "Tasks", "tasks", "work for coding clients, queued and run; · counts"),
    Tab("8", "Health", "health", "findings, hooks, redactions, storage, backups"),
)


def _others() -> tuple[Tab, ...]:
    """Screens that are not listed, by name; the first has the key 9, others are reached with tab and the palette."""
    listed = {each.mode for each in _LISTED}
    sheets = {file.stem for folder in STYLES for file in folder.glob("*.tcss")} - listed - {*_SHARED}
    return tuple(_tab("9" if not number else "", mode) for number, mode in enumerate(sorted(sheets)))


def _tab(key: str, mode: str) -> Tab:
    spec = find_spec(f"nmem_tui.screens.{mode}")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"the style sheet {mode}.tcss has no module nmem_tui.screens.{mode}")
    with Path(spec.origin).open(encoding="utf-8") as file:
        name, _, help_ = file.readline().strip().strip('"').partition(": ")
    return Tab(key, name, mode, help_.rstrip("."))


OTHERS = _others()
TABS = (*_LISTED, *OTHERS)
MODES = tuple(each.mode for each in TABS)


def style(name: str) -> Path:
    """The style sheet `name`."""
    return next(file for folder in STYLES if (file := folder / f"{name}.tcss").exists())


SHEETS = tuple(map(style, (_SHARED[0], *MODES, *_SHARED[1:])))
"""All style sheets in the order in which they are read."""


SIGNS = (
    Sign("▲3", "on the tab Learnings: so many of the project's learnings are hot", "bad"),
    Sign("·2", "on the tab Tasks: so many tasks run, or wait for you", "accent"),
)
