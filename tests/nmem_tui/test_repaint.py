"""What a key paints: the lines that change and nothing else. A theme dresses the screens behind as well."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.geometry import Region, Size
from textual.widget import Widget
from textual.widgets import Static

from nmem.read import stream
from nmem_tui import idle
from nmem_tui.appearance.theming import Sheet
from nmem_tui.widgets.details import Details
from nmem_tui.widgets.drawn import Card
from nmem_tui.widgets.lines import Lines
from nmem_tui.widgets.stream import Stream
from tests.nmem_tui.gallery import still as settle

Open = Callable[..., Any]


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool, tuple[Region, ...]]]:
    """Every repaint: of what, whether the screen is laid out for it, and which regions (none: all of it)."""
    seen: list[tuple[str, bool, tuple[Region, ...]]] = []
    plain = Widget.refresh

    def refresh(self: Widget, *regions: Region, layout: bool = False, **named: bool) -> Widget:
        seen.append((self.id or type(self).__name__, layout, regions))
        return plain(self, *regions, layout=layout, **named)

    monkeypatch.setattr(Widget, "refresh", refresh)
    return seen


async def painted_by(pilot: Any, painted: list[Any], key: str, before: str) -> None:
    """Leave only what a key repaints, once the one before it has led to where it is pressed."""
    await pilot.press(before)
    await settle(pilot)
    painted.clear()
    await pilot.press(key)
    await settle(pilot)


async def test_moving_the_cursor_paints_two_rows_and_lays_nothing_out(
    make_db: Callable[[str], str], cockpit: Open, painted: list[Any]
) -> None:
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        await painted_by(pilot, painted, "j", "2")
        assert not [one for one in painted if one[1]]
        rows = [regions for name, _, regions in painted if name == "episodes"]
        assert rows and all(len(regions) in (1, 2) for regions in rows)
        await painted_by(pilot, painted, "p", "slash")
        assert not [one for one in painted if one[1] and one[0] == "filter"], "a letter in the filter"


async def test_a_card_that_is_told_the_same_again_paints_nothing(
    make_db: Callable[[str], str], cockpit: Open, painted: list[Any]
) -> None:
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        card = pilot.app.screen.query_one("#failures", Card)
        card.show(lambda _c, _r: [[("one", "text")], [("two", "text")]], "Two")
        card.render_line(0)  # as the next frame does
        painted.clear()
        card.show(lambda _c, _r: [[("one", "text")], [("three", "text")]], "Two")
        assert painted == [("failures", False, (Region(0, 1, card.size.width, 1),))]
        painted.clear()
        card.show(lambda _c, _r: [[("one", "text")], [("three", "text")]], "Two")
        assert not painted


async def test_a_row_that_changes_again_before_it_is_painted_is_painted_as_it_is_then(
    make_db: Callable[[str], str], cockpit: Open, text: Callable[..., str]
) -> None:
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        await pilot.press("2")
        await settle(pilot)
        shown = pilot.app.screen.query_one("#episodes", Lines)
        said = ["first"]
        shown.show(1, lambda _place, _cells: [(said[0], "text")])
        said[0] = "second"
        shown.refresh()  # as whoever changed it asks for
        await pilot.pause()
        assert "second" in text(pilot) and "first" not in text(pilot)


async def test_another_screen_parses_nothing_and_a_theme_dresses_a_screen_that_is_behind(
    make_db: Callable[[str], str], cockpit: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit(make_db("story")) as pilot:
        behind = pilot.app.screen
        before = behind.styles.background
        with monkeypatch.context() as watched:
            parsed: list[int] = []
            watched.setattr(Sheet, "reparse", lambda _self: parsed.append(1))
            await pilot.press("2")
            await settle(pilot)
            assert not parsed
        pilot.app.theme = "nmem-light"
        await settle(pilot)
        light = pilot.app.screen.styles.background
        await pilot.press("1")
        await settle(pilot)
        assert pilot.app.screen is behind
        assert before != light == behind.styles.background


async def test_garbage_is_the_interpreters_again_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr(idle, "_LOOK_S", 0.001)
    monkeypatch.setattr(idle, "_WORTH", -1.0)
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    collected = asyncio.Event()
    monkeypatch.setattr(gc, "collect", collected.set)
    task = asyncio.create_task(idle.collect())
    await asyncio.wait_for(collected.wait(), 120)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() <= frozen


async def test_a_new_layout_is_painted_once_its_widgets_know_of_it(
    make_db: Callable[[str], str], cockpit: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit(make_db("long"), (160, 45)) as pilot:
        ends: list[bool] = []
        shown, paint = pilot.app.screen.query_one(Stream), Compositor.render_update

        def painting(self: Compositor, **named: Any) -> Any:
            ends.append(shown.is_vertical_scroll_end)
            return paint(self, **named)

        monkeypatch.setattr(Compositor, "render_update", painting)
        await pilot.press("slash")
        await settle(pilot)
        assert ends and all(ends), "it follows the newest row, and has less room"


async def test_details_open_with_what_stands_in_them(
    make_db: Callable[[str], str], cockpit: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        details, layouts = pilot.app.screen.query_one(Details), []
        plain = Compositor.reflow

        def reflow(self: Compositor, parent: Widget, size: Size) -> Any:
            layouts.append(details.display and bool(str(details.query_one("#description", Static).content)))
            return plain(self, parent, size)

        monkeypatch.setattr(Compositor, "reflow", reflow)
        await pilot.press("enter")
        await settle(pilot)
        assert layouts and all(layouts)
        await pilot.press("enter")  # closes them
        await pilot.press("enter", "escape")  # before the row is read
        await settle(pilot)
        assert not details.display


async def test_a_row_that_went_before_it_was_read_opens_nothing(
    make_db: Callable[[str], str], cockpit: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        details = pilot.app.screen.query_one(Details)
        with monkeypatch.context() as gone:
            gone.setattr(stream, "rows", lambda *_asked, **_named: {})
            await pilot.press("enter")
            await settle(pilot)
        assert not details.display
        await pilot.press("enter")
        await settle(pilot)
        assert details.display


async def test_a_key_is_shown_at_once_while_a_list_waits_to_be_read_again(
    make_db: Callable[[str], str], cockpit: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[Any] = []
    frames: list[Any] = []
    paint = Compositor.render_update

    def painting(self: Compositor, **named: Any) -> Any:
        frames.append(paint(self, **named))
        return frames[-1]

    async with cockpit(make_db("story"), (160, 45)) as pilot:
        for screen in "235":
            await pilot.press(screen)
            await settle(pilot)
            shown = pilot.app.screen
            waiting.clear()
            frames.clear()
            with monkeypatch.context() as still:
                still.setattr(shown, "set_timer", lambda _seconds, then, **_named: waiting.append(then))
                still.setattr(Compositor, "render_update", painting)
                shown.refresh_data()  # something was recorded: what is listed is read again soon
                assert waiting, screen
                await pilot.press("j")
                await pilot.pause()
                assert frames, screen


async def test_what_was_recorded_is_read_though_a_layout_waits_to_be_painted(
    make_db: Callable[[str], str], cockpit: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        await pilot.press("2")
        await settle(pilot)
        shown, waiting = pilot.app.screen, []
        monkeypatch.setattr(shown, "set_timer", lambda _seconds, then, **_named: waiting.append(then))
        shown._refresh_layout(shown.size)
        shown.refresh_data()
        assert len(waiting) == 1
        await pilot.pause()
        shown.refresh_data()
        assert len(waiting) == 1, "one read is enough for both"
