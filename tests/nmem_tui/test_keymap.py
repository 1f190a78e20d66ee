"""A person's own keys: read from the file, told where they are wrong, shown wherever keys are shown, changed live."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem
from nmem_tui import config, keymap
from nmem_tui.messages import FileChanged
from nmem_tui.model.actions import ACTIONS, of


@pytest.fixture
def toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "own" / "config.toml"
    file.parent.mkdir()
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    return file


def said(**given: object) -> list[str]:
    return [f"{fault.action} {fault.said}" for fault in keymap.read(given)[1]]


@pytest.mark.parametrize(
    ("given", "keys"),
    [("Q", ("Q",)), (["B", "ctrl+y"], ("B", "ctrl+y")), ("", ()), ([], ()), ("Shift+z", ("Z",)), ("F7", ("f7",)),
     (".", ("full_stop",)), (";", ("semicolon",)), ("Ctrl+T", ("ctrl+t",)), ("alt+x", ("alt+x",)), ("pgdn", ())],
)  # fmt: skip
def test_keys_are_written_as_a_person_writes_them(given: object, keys: tuple[str, ...]) -> None:
    read, faults = keymap.read({"copy_id": given})
    if given == "pgdn":  # half_down has it
        assert [fault.action for fault in faults] == ["copy_id"]
        assert "cannot have pagedown: that is half_down" in faults[0].said
    else:
        assert (read, faults) == ({"copy_id": keys}, [])


def test_what_cannot_be_is_said_in_a_line_and_the_default_stays() -> None:
    assert said(undoo="x") == ["undoo is not an action: did you mean undo?"]
    assert said(wxyzwxyz="x") == ["wxyzwxyz is not an action; `nmem tui --keys` lists them"]
    assert said(undo="q") == ["undo cannot have q: that is quit everywhere; u stays"]
    assert said(retry_task="n") == ["retry_task cannot have n: that is new_task on the screen Tasks; R stays"]
    assert said(undo="esc") == ["undo cannot have esc: that key is always back"]
    assert said(undo="ctrl+i") == ["undo cannot have ctrl+i: a terminal sends it as tab"]
    assert said(undo="ctrl+c") == ["undo cannot have ctrl+c: ctrl+c copies marked text"]
    assert said(undo=3)[0].startswith("undo must be a key or a list of keys")
    for wrong in ("hyper+x", "banana", "ctrl+banana", "ctrl+", "\x1b", "a b", "é\u0301"):
        assert said(undo=wrong)[0].startswith("undo has no key"), wrong


def test_two_actions_change_places_and_of_two_that_want_one_key_the_first_has_it() -> None:
    assert keymap.read({"retry_task": "n", "new_task": "R"}) == ({"retry_task": ("n",), "new_task": ("R",)}, [])
    keys, faults = keymap.read({"undo": "ctrl+z", "theme": "ctrl+z"})
    assert keys == {"undo": ("ctrl+z",)}
    assert [fault.action for fault in faults] == ["theme"]


def test_going_back_and_leaving_keep_their_own() -> None:
    assert keymap.read({"back": "backspace", "quit": ""}) == (
        {"back": ("backspace", "escape"), "quit": ("ctrl+q",)}, [],
    )  # fmt: skip


def test_no_keys_that_can_be_given_leave_two_actions_on_one_key() -> None:
    """Whatever is asked for, what counts has no clash on any screen."""
    wild = {action.id: [chr(65 + at % 57), f"f{at % 20 + 1}"] for at, action in enumerate(ACTIONS)}
    keys, faults = keymap.read(wild)
    assert faults
    for place in {each for action in ACTIONS for each in action.context.split()}:
        there = {one.id: one for one in of(place, keys)}.values()
        for one, other in itertools.combinations(there, 2):
            assert not keymap.meet(one, other) or not set(one.keys) & set(other.keys), (place, one.id, other.id)


def test_the_file_is_checked_by_name_and_line(toml: Path) -> None:
    toml.write_text('[tui]\ntheme = "light"\n[tui.keys]\nundo = "ctrl+z"\npinn = "x"\ntheme = 3\n')
    own = config.read(str(toml))
    assert (own.theme, own.keys) == ("light", {"undo": ("ctrl+z",)})
    assert set(own.wrong) == {
        "line 5: tui.keys.pinn is not an action: did you mean pin?",
        'line 6: tui.keys.theme must be a key or a list of keys: "x" or ["x", "ctrl+x"]; "" removes its keys',
    }
    done = CliRunner().invoke(nmem, ["config", "check"])
    assert done.exit_code == 1
    assert "tui.keys.pinn is not an action: did you mean pin?" in done.output
    refused = CliRunner().invoke(nmem, ["config", "set", "tui.keys.undo", "q"])
    assert refused.exit_code == 1
    assert 'undo = "ctrl+z"' in toml.read_text()
    assert CliRunner().invoke(nmem, ["config", "set", "tui.keys.copy", "y", "ctrl+y"]).exit_code == 0
    assert config.read(str(toml)).keys["copy"] == ("y", "ctrl+y")
    assert CliRunner().invoke(nmem, ["config", "set", "tui.keys.copy", "["]).exit_code == 1


def test_the_list_of_keys_is_whole_and_counts_in_what_is_yours(toml: Path) -> None:
    toml.write_text('[tui.keys]\nundo = "ctrl+z"\n')
    listed = json.loads(CliRunner().invoke(nmem, ["tui", "--keys", "--json"]).output)["actions"]
    assert [one["id"] for one in listed] == [action.id for action in ACTIONS]
    assert next(one for one in listed if one["id"] == "undo")["keys"] == ["ctrl+z"]
    plain = CliRunner().invoke(nmem, ["tui", "--keys"]).output
    assert "undo\t^z (yours)  everywhere: undo your newest change" in plain


async def test_own_keys_act_and_stand_in_bar_help_and_palette(
    make_db: Any, cockpit: Any, text: Any, settled: Any, until: Any
) -> None:
    keys, faults = keymap.read({"theme": "T", "undo": "ctrl+z", "sessions": ""})
    assert not faults
    async with cockpit(make_db("story"), (240, 45), keys=keys) as pilot:
        before = pilot.app.theme
        await pilot.press("t")
        await pilot.pause()
        assert pilot.app.theme == before
        await pilot.press("T")
        await pilot.pause()
        assert pilot.app.theme != before
        bar = text(pilot).splitlines()[-1]
        assert "T theme" in bar
        assert "s sessions" not in bar
        await pilot.press("question_mark")
        await pilot.pause()
        await pilot.press(*"newest", "space", *"change")
        await pilot.pause()
        assert "^z    undo your newest change" in text(pilot)
        await pilot.press("escape", "colon")
        await settled(pilot)
        await pilot.press(*"sessions")
        await until(pilot, "sessions  ·  –")


async def test_typing_is_not_reached_by_own_keys(make_db: Any, cockpit: Any, text: Any, settled: Any) -> None:
    keys, faults = keymap.read({"undo": "z", "snooze": "Z", "back": "backspace"})
    assert not faults
    async with cockpit(make_db("story"), (160, 45), keys=keys) as pilot:
        await pilot.press("slash", *"zaza", "backspace")
        await settled(pilot)
        assert "“zaz”" in text(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert "“zaz”" not in text(pilot)


async def test_a_change_of_the_file_is_taken_up(
    make_db: Any, cockpit: Any, text: Any, settled: Any, toml: Path
) -> None:  # fmt: skip
    async with cockpit(make_db("story"), (240, 45)) as pilot:
        await pilot.press("2", "1")
        await settled(pilot)
        toml.write_text('[tui.keys]\ntheme = "T"\npinn = "x"\n')
        pilot.app.post_message(FileChanged("config", str(toml)))
        await settled(pilot)
        assert "T theme" in text(pilot).splitlines()[-1]
        assert "did you mean pin?" in text(pilot)
        toml.write_text("[tui.keys\n")  # half written: what was said before stays
        pilot.app.post_message(FileChanged("config", str(toml)))
        await settled(pilot)
        assert "config not read: " in text(pilot)
        before = pilot.app.theme
        await pilot.press("2", "T")
        await settled(pilot)
        assert pilot.app.theme != before
        toml.write_text("")
        pilot.app.post_message(FileChanged("config", str(toml)))
        await settled(pilot)
        await pilot.press("t")
        await settled(pilot)
        assert pilot.app.theme == before


def test_the_example_of_two_that_change_places_is_one() -> None:
    told = (Path(__file__).parents[2] / "docs" / "keys.md").read_text("utf-8")
    found = re.search(r'change places: `(\w+) = "(\w)"` with `(\w+) = "(\w)"`', told)
    assert found
    one, key, other, its = found.groups()
    assert keymap.read({one: key, other: its}) == ({one: (key,), other: (its,)}, [])
