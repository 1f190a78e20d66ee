"""How the cockpit looks: colours that are read by everybody, symbols that every terminal has, nothing that moves."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from textual.color import Color
from textual.pilot import Pilot
from textual.theme import BUILTIN_THEMES
from textual.widgets import Input

from nmem.settings import declared
from nmem.text import width
from nmem_tui.appearance import themes
from nmem_tui.appearance.themes import FAINT, READABLE, VISIBLE, contrast, roles
from nmem_tui.messages import FileChanged
from nmem_tui.model import symbols
from nmem_tui.widgets.drawn import Palette

GROUNDS = ("ground", "raised", "cursor")
WORDS = (
    "text", "strong", "quiet", "accent", "good", "bad", "warn", "user", "agent", "change", "run", "look",
)  # fmt: skip
APART = 20
"""The least difference (CIE 1976) of good, bad and warn as a deuteranope sees them; about 2 can just be seen."""
OURS = {"dark": themes._DARK, "light": themes._LIGHT}
SCREENS = "12345678r"
REVERSED = ("1", "2", "5", "8", "question_mark")
"""Where a cursor stands, and colours alone do not say so."""
_SEEN = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
"""Deuteranopia (Machado 2009) on linear light."""


@pytest.fixture(autouse=True)
def blocks() -> Iterable[None]:
    """Each test begins and ends with the set of a common terminal."""
    symbols.use(symbols.BLOCKS)
    yield
    symbols.use(symbols.BLOCKS)


def seen(colour: str) -> tuple[float, float, float]:
    """The colour in CIELAB as a deuteranope sees it."""
    light = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in Color.parse(colour).normalized]
    red, green, blue = (min(1.0, max(0.0, sum(a * b for a, b in zip(row, light, strict=True)))) for row in _SEEN)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def found_wanting(colours: dict[str, str]) -> list[str]:
    """Roles that cannot be read, or seen, on a ground."""
    given = {role: Color.parse(colour) for role, colour in colours.items()}
    wanted = [*((role, READABLE, GROUNDS) for role in WORDS), ("bar", VISIBLE, GROUNDS),
              ("off", READABLE, GROUNDS[:2]), ("off", VISIBLE, GROUNDS[2:]),
              ("rest", FAINT, GROUNDS[:2]), ("line", FAINT, GROUNDS[:2])]  # fmt: skip
    return [f"{role} on {ground}" for role, least, grounds in wanted for ground in grounds
            if contrast(given[role], given[ground]) < least]  # fmt: skip


@pytest.mark.parametrize("name", OURS)
def test_words_are_readable_and_bars_visible_on_every_ground(name: str) -> None:
    assert found_wanting(OURS[name]) == []
    assert set(OURS[name]) == {*GROUNDS, *WORDS, "bar", "off", "rest", "line"}, "every role is held to something"
    assert contrast(Color.parse(OURS[name]["bar"]), Color.parse(OURS[name]["rest"])) >= VISIBLE


@pytest.mark.parametrize("name", sorted(set(BUILTIN_THEMES) - {"ansi-dark", "ansi-light"}))
def test_any_other_theme_is_made_readable(name: str) -> None:
    assert found_wanting(roles(BUILTIN_THEMES[name])) == []


@pytest.mark.parametrize("name", OURS)
def test_good_bad_and_warnings_stay_apart_without_red_and_green(name: str) -> None:
    for one, other in combinations(("good", "bad", "warn", "text"), 2):
        first, second = seen(OURS[name][one]), seen(OURS[name][other])
        apart = sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5
        assert apart >= APART, (one, other, apart)


def test_what_the_configuration_knows_is_what_there_is() -> None:
    assert set(declared.THEMES) == {"dark", "light", "ansi", *themes.NAMES, *BUILTIN_THEMES}
    assert declared.ROLES == themes.ROLES
    assert declared.SYMBOLS == symbols.NAMES


def looks_of(pilot: Pilot[None]) -> list[Any]:
    strips = pilot.app.screen._compositor.render_strips()
    return [segment.style for strip in strips for segment in strip if segment.style]


async def test_ansi_uses_only_the_terminals_own_colours_and_shows_the_cursor(
    make_db: Any, cockpit: Any, settled: Any
) -> None:
    async with cockpit(make_db("story"), (80, 24), "ansi", colours={"text": "#ff0000"}) as pilot:
        for key in [*SCREENS, "question_mark"]:
            await pilot.press("escape", key)  # out of the box of Search
            await settled(pilot)
            used = {colour for style in looks_of(pilot) for colour in (style.color, style.bgcolor) if colour}
            assert not [colour for colour in used if colour.is_default is False and colour.triplet], key
            assert key not in REVERSED or any(style.reverse for style in looks_of(pilot)), key


async def test_without_colours_there_is_none_and_the_cursor_shows(
    whole: dict[str, int], cockpit: Any, settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with cockpit("aurora.db", (160, 45), "") as pilot:
        for key in [*SCREENS, "question_mark", "1 s", "2 x", "4 a", "7 n", "8 s"]:
            await pilot.press("escape", *key.split())
            await settled(pilot)
            used = {colour for style in looks_of(pilot) for colour in (style.color, style.bgcolor) if colour}
            assert all(colour.is_default for colour in used), key
            assert key not in REVERSED or any(style.reverse for style in looks_of(pilot)), key


async def test_a_wrong_setting_is_told_at_the_start_and_looks_change_while_it_runs(
    make_db: Any, cockpit: Any, settled: Any, text: Any, until: Any, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    async with cockpit(make_db("story"), (160, 45), wrong=("line 2: tui.theme is not a theme",)) as pilot:
        await until(pilot, "config: line 2: tui.theme is not a theme")
        for said in ('theme = "light"', 'symbols = "ascii"', 'colours = { text = "#123456" }'):
            config.write_text(f"[tui]\n{said}\n")
            pilot.app.post_message(FileChanged("config", str(config)))
            await settled(pilot)
            assert text(pilot).isascii() == ("ascii" in said), said
        assert pilot.app.theme == "nmem-light", "a setting that is not there any more changes nothing"
        used = {str(style.color.triplet.hex) for style in looks_of(pilot) if style.color and style.color.triplet}
        assert "#123456" in used

        config.write_text('[tui]\ntheme = "lihgt"\nsymbols = "ascii"\n[tui.colours]\ntext = "red"\nfog = "#000000"\n')
        pilot.app.post_message(FileChanged("config", str(config)))
        await settled(pilot)
        assert "config: line 2: tui.theme is not a theme: did you mean light?" in text(pilot)
        assert pilot.app.theme == "nmem-light"
        assert text(pilot).isascii(), "what is right is taken all the same"


@pytest.mark.parametrize(("kind", "size"), [("empty", (80, 24)), ("story", (160, 45))])
async def test_in_ascii_nothing_of_ours_is_anything_else(
    kind: str, size: tuple[int, int], make_db: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    said = {"6": "down and enter, or a click", "6 escape question_mark": "j down"} if kind == "story" else {}
    async with cockpit(make_db(kind), size, symbols="ascii") as pilot:
        assert "- +" not in text(pilot), "a point between two facts is no minus"
        for key in [*SCREENS, "6 escape question_mark", "1 s", "2 x", "7 n"]:
            await pilot.press("escape", *key.split())
            await settled(pilot)
            assert not [char for char in text(pilot) if char > "\x7f"], key
            assert said.get(key, "") in text(pilot), "arrows that are keys are words"


async def test_braille_is_another_drawing_of_the_same_words(
    make_db: Any, cockpit: Any, settled: Any, text: Any
) -> None:
    path, drawn = make_db("story"), {}
    for name in symbols.NAMES:
        async with cockpit(path, (160, 45), symbols=name) as pilot:
            drawn[name] = text(pilot)
    assert "⣿" in drawn["braille"]
    assert "▓" in drawn["blocks"]
    assert "▓" not in drawn["braille"]
    assert "Raise it to 8 MB" in drawn["ascii"]
    assert len({len(each.splitlines()) for each in drawn.values()}) == 1


def test_a_terminal_without_utf_8_is_drawn_on_in_ascii() -> None:
    assert symbols.possible("blocks", "ANSI_X3.4-1968") == "ascii"
    assert symbols.possible("braille", "ISO-8859-1") == "ascii"
    assert symbols.possible("braille", "UTF-8") == "braille"
    assert symbols.possible("nonsense", "utf8") == "blocks"


async def test_where_only_ascii_can_be_shown_other_scripts_are_question_marks(
    make_db: Any, cockpit: Any, text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbols, "possible", lambda _wanted: "ascii")
    async with cockpit(make_db("hostile"), (160, 45)) as pilot:
        shown = text(pilot)
    assert "??" in shown
    assert shown.isascii()


def test_every_glyph_has_a_twin_of_its_own_width() -> None:
    table = symbols.twins()
    assert all(len(twin) == width(chr(code)) and twin.isascii() for code, twin in table.items())
    assert {ord(char) for char in "✓✗▲●○▸─│╭╰▇█▓░…·“”"} <= table.keys()


@pytest.mark.parametrize(("theme", "size"), [("dark", (80, 24)), ("light", (160, 45))])
async def test_every_word_on_every_screen_can_be_read_and_nothing_moves_by_itself(
    theme: str, size: tuple[int, int], whole: dict[str, int], cockpit: Any, settled: Any
) -> None:
    async with cockpit("aurora.db", size, theme) as pilot:
        assert pilot.app.animation_level == "none"
        palette = Palette(pilot.app.screen)
        for under, least in ((False, FAINT), (True, VISIBLE)):
            look = next(iter(palette.strip([("░", "rest")], 1, cursor=under))).style
            assert look and look.color and look.bgcolor
            front, ground = (Color.from_rich_color(each) for each in (look.color, look.bgcolor))
            assert contrast(front, ground) >= least, f"what is free, under the cursor: {under}"
        for key in SCREENS:
            await pilot.press("escape", key)
            await settled(pilot)
            for screen in pilot.app.screen_stack:
                assert not [field for field in screen.query(Input) if field.cursor_blink], key
            for strip in pilot.app.screen._compositor.render_strips():
                for text, look, _ in strip:
                    if look and look.color and look.bgcolor and any(char.isalnum() or char == "·" for char in text):
                        front, ground = (Color.from_rich_color(each) for each in (look.color, look.bgcolor))
                        least = READABLE if any(map(str.isalnum, text)) else VISIBLE
                        assert contrast(front, ground) >= least, (key, text)
