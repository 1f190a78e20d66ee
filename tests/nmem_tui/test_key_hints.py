"""Whatever text names a key names the one that the person has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nmem_tui
from nmem_tui.model import actions, empty
from nmem_tui.model.actions import ACTIONS

OWN = {"undo": ("f12",), "again": ("f11",), "run_task": ("f10",), "new_task": ("f9",), "exclude": ("f8",)}
_VERBS = (
    "looks|starts|shows|brings|keeps|undoes|asks|goes|follows|opens|takes|leads|puts|chooses|lists|queues|cancels|"
    "retries|fixes|reopens|includes|excludes|pins|moves|previews|stops|purges|writes|tells|plays|accepts|draws|makes|"
    "copies|answers|reads everything|next "
)
_NAMED = re.compile(rf"(?:^|[(:·;,] |, or |\()(?:[b-zB-Z]|a(?= shows)|\^[a-z]) (?:{_VERBS})")
"""A letter that does something, in a text."""
_DIALOGS = {
    "diff_dialog.py",
    "confirm_dialog.py",
    "purge_dialog.py",
    "previews.py",
    "instructions_dialog.py",
    "reason_dialogs.py",
    "relabel.py",
}
"""Dialogs have keys of their own, which are not in the registry."""


@pytest.fixture(autouse=True)
def usual() -> Any:
    """The registry's keys again afterwards."""
    yield
    actions.use_keys({})


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """Every text of a module that a person may see."""
    tree = ast.parse(path.read_text("utf-8"))
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.lineno, node.value


def test_no_text_names_the_key_of_an_action_by_itself() -> None:
    root = Path(nmem_tui.__file__).parent
    found = [
        f"{path.name}:{line}: {text}"
        for path in root.rglob("*.py")
        if path.name not in _DIALOGS
        for line, text in _texts(path)
        if _NAMED.search(text)
    ]
    assert not found
    assert _NAMED.search("more was recorded since: r looks again")


def test_a_text_has_the_key_that_the_person_has() -> None:
    assert (actions.key_of("again"), actions.key_of("run_task"), actions.key_of("undo")) == ("^r", "S", "u")
    actions.use_keys(OWN)
    assert actions.fill_keys("{run_task} starts it, {undo} undoes") == "f10 starts it, f12 undoes"
    assert "f9" in str(empty.told("tasks", 100, 30))
    assert all(actions.key_of(action.id) for action in ACTIONS)


async def test_what_is_said_names_the_persons_own_key(make_db: Any, cockpit: Any, until: Any) -> None:
    async with cockpit(make_db("story"), (120, 36), keys=OWN) as pilot:
        await pilot.press("2")
        await until(pilot, "Episodes")
        await pilot.press("p")
        await until(pilot, "pinned · f12 undoes")
        await pilot.press("f12")
        await until(pilot, "undone: ")
        pilot.app.keys = {}
        pilot.app.use_keys({})
        await pilot.press("7")
        await until(pilot, " n ", "write the first one", "S starts one")
