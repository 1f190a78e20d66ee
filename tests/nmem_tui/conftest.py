"""The cockpit in a test: fixed clock, zone, size and theme; no files are watched; a snapshot is text and styles.

`NMEM_UPDATE_SNAPSHOTS=1 pytest tests/nmem_tui` accepts what the screens show now.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import textual
from rich.style import Style
from textual._context import active_app
from textual._styles_cache import StylesCache
from textual.events import Key
from textual.message_pump import MessagePump
from textual.pilot import Pilot, WaitForScreenTimeout
from textual.widgets import Input, TextArea

from nmem_tui.app import Cockpit
from nmem_tui.model.actions import NUMBERED
from tests.nmem_tui.gallery import reading, screen_text
from tests.nmem_tui.gallery import still as settle

HERE = Path(__file__).parent
DATABASE = "aurora.db"
SIZES = {"80x24": (80, 24), "160x45": (160, 45)}
CONTROLS = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))} | set(
    "\u202a\u202b\u202d\u202e\u2066\u2067\u2028"
)
PLAIN = {"TERM": "xterm-256color", "PATH": ""}
"""What surrounds the cockpit: no desktop, no tmux, no editor."""
LONG = {"job", "aside", "narrate"}
"""Work beside which a person goes on."""
PLAIN_TOO = {
    "now-story", "episodes-story", "stance-story", "stance-sessions", "review-story", "learnings-learned",
    "context-full", "context-reset-full", "search-story-limit", "tasks-full", "tasks-form", "tasks-run",
    "health-findings-full", "health-dialog-purge", "health-dialog-sweep", "health-dialog-fix", "health-dialog-words",
}  # fmt: skip
"""States that are compared without colours as well: one of each screen, and dialogs, which then have no ground."""
_PRESS = Pilot.press
_WORD = 3
"""A run of letters longer than this is a word."""
Open = Callable[..., AbstractAsyncContextManager[Pilot[None]]]
Arrive = Callable[[Pilot[None]], Any]


async def quiet(min_sleep: float = 0, max_sleep: float = 120) -> None:
    """Wait until every message has arrived and no read or write is under way.

    Textual's pilot waits until the process has used no time for a while, which on a busy machine says nothing.
    """
    app, loop = active_app.get(), asyncio.get_running_loop()
    end, rounds = loop.time() + max_sleep, 0
    while rounds < 4 and loop.time() < end:
        await asyncio.sleep(0)
        if loop._ready:  # type: ignore[attr-defined]
            rounds = 0
        elif isinstance(app, Cockpit) and set(reading(app)) - LONG:
            rounds = 0
            await asyncio.sleep(0.002)
        else:
            rounds += 1
            if rounds == 2 and app._screen_stack:
                app.screen._on_timer_update()


def takes_messages(pump: MessagePump) -> bool:
    """Whether it has done all that it was told, and waits for more; one that closes is told nothing."""
    ready: Any = pump._message_queue.ready_event
    return pump._closing or pump._closed or (not ready.is_set() and bool(ready._waiters))


async def taken(pilot: Pilot[None], timeout: float = 300) -> bool:
    """Wait until the app, its screen and all on it have taken what they were told; whether that came to an end.

    Textual's pilot sends a message to each and waits until all have come: 3 ms at every key, and at every look.
    """
    app, loop = pilot.app, asyncio.get_running_loop()
    end, rounds = loop.time() + timeout, 0
    while rounds < 2:
        await asyncio.sleep(0)
        if app._exception is not None or not app._screen_stack:
            return False
        if loop._ready:  # type: ignore[attr-defined]
            rounds = 0
        elif all(map(takes_messages, (app, *app.screen.walk_children(with_self=True)))):
            rounds += 1
        elif loop.time() > end:
            raise WaitForScreenTimeout("widgets are still busy with their messages")
        else:
            rounds = 0
            await asyncio.sleep(0.002)
    return True


@pytest.fixture(autouse=True)
def found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands are called by name, wherever this checkout lies."""
    monkeypatch.setattr("nmem.context.ask._program", lambda: "nmem")


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys one after the other; a word that goes into a box is typed at once, and waited for at its end."""
    for letters, each in groupby(keys, key=lambda key: len(key) == 1):
        run = list(each)
        if letters and len(run) > _WORD and isinstance(pilot.app.focused, Input | TextArea):
            for char in run:
                pilot.app.post_message(Key("space" if char == " " else char, char))
            await pilot.pause(0)
        else:
            await _PRESS(pilot, *run)


@pytest.fixture(scope="session", autouse=True)
def quick_keys() -> Iterator[None]:
    """Keys follow each other as soon as what they do is done; however busy the machine, that is waited for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pilot, "press", press)
        patch.setattr(Pilot, "_wait_for_screen", taken)
        patch.setattr("textual.pilot.wait_for_idle", quiet)
        patch.setattr("textual.app.wait_for_idle", quiet)
        yield


@pytest.fixture(autouse=True)
def own_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reaches the clipboard, tmux, editor or locale of whoever runs it."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "TMUX", "TMUX_PANE", "STY", "VISUAL", "EDITOR",
                 "TEXTUAL_THEME"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("nmem_tui.screens.host.Host.environ", PLAIN)
    monkeypatch.setattr("locale.getencoding", lambda: "utf-8")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes nothing late: searches end, something is told, keys wait for the screen that they meant."""
    from nmem.context import config
    from nmem.search.search import search

    monkeypatch.setitem(config.DEFAULTS, "deadline_ms", 600_000.0)
    monkeypatch.setitem(search.__kwdefaults__ or {}, "seconds", 300.0)
    monkeypatch.setattr("nmem.search.examples._SECONDS", 300.0)
    monkeypatch.setattr("nmem_tui.dispatcher._PATIENCE_S", 60.0)


@pytest.fixture(autouse=True)
def said_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said stands until something else is, however late a test looks."""
    monkeypatch.setattr("textual.notifications.Notification.time_left", 3600.0)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What a test's widgets have drawn goes with them: the library keeps it, and each collection looks through it."""
    yield
    StylesCache.get_inner_outer.cache_clear()


@pytest.fixture(autouse=True)
def put_aside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cockpit that ends gives the collector all that the suite had put aside: once more, it is put aside."""
    given: list[bool] = []
    unfreeze = gc.unfreeze

    def noted() -> None:
        given.append(True)
        unfreeze()

    monkeypatch.setattr(gc, "unfreeze", noted)
    yield
    if given:
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session")
def load() -> Callable[[str], Any]:
    """A module beside this one, by its name."""

    def module(name: str) -> Any:
        spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
        assert spec
        assert spec.loader
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made

    return module


@pytest.fixture(scope="session")
def seeds(load: Callable[[str], Any]) -> Any:
    """The module that writes test databases."""
    return load("cockpit_seed")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, so that no path of this machine is on a screen; file sizes are fixed as well,
    and a client is connected."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nmem.doctor.registrations.unconnected", lambda _folder: ())
    monkeypatch.setattr("nmem.read.health._size", lambda path: 98_304 if path.endswith("-wal") else 1_331_200)
    return tmp_path


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[], dict[str, int]]], dict[str, int]]:
    """aurora.db as a function writes it and the ids that it returns: written once a name, and copied from then on."""
    folder, ids = tmp_path_factory.mktemp("written"), {}

    def make(name: str, write: Callable[[], dict[str, int]]) -> dict[str, int]:
        if Path(DATABASE).exists():  # it is added to
            return write()
        if name in ids:
            shutil.copy(folder / name, DATABASE)
        else:
            ids[name] = write()
            shutil.copy(DATABASE, folder / name)
        return dict(ids[name])

    return make


@pytest.fixture
def make_db(here: Path, seeds: Any, written: Any) -> Callable[[str], str]:
    """A database of one kind: empty (no file), story, hostile, long (many calls in one session)."""

    def write(kind: str) -> dict[str, int]:
        db = seeds.database(DATABASE)
        getattr(seeds, kind)(db)
        if kind == "story":
            seeds.history(db)
        if kind != "long":
            seeds.label(db)
        db.close()
        return {}

    def make(kind: str) -> str:
        if kind != "empty":
            written(kind, lambda: write(kind))
        return DATABASE

    return make


@pytest.fixture
def whole(here: Path, seeds: Any, load: Any, written: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """A database in which every screen has something: ids by name."""
    monkeypatch.setenv("NMEM_CONFIG", str(here / "config.toml"))
    for name in ("TMUX", "TMUX_PANE", "NMEM_TASK", "NMEM_DB"):
        monkeypatch.delenv(name, raising=False)

    def write() -> dict[str, int]:
        db = seeds.database(DATABASE)
        seeds.story(db)
        made: dict[str, int] = seeds.history(db)
        load("context_seed").fill(db, seeds, made)
        load("context_seed").told(db, seeds)
        made |= load("learnings_seed").fill(db, seeds, made)
        made |= load("tasks_seed").fill(db, seeds)
        seeds.label(db)
        db.close()
        return made

    made: dict[str, int] = written("whole", write)
    return made


@pytest.fixture
def cockpit(seeds: Any) -> Open:
    """Opens the cockpit on a database and waits until it shows it."""

    @asynccontextmanager
    async def run(
        db: str, size: tuple[int, int] = (80, 24), theme: str = "dark", **options: Any
    ) -> AsyncIterator[Pilot[None]]:
        app = Cockpit(db, theme=theme, watch=False, clock=lambda: int(seeds.NOW), zone=UTC, **options)
        async with app.run_test(size=size, notifications=True) as pilot:
            await settle(pilot)
            yield pilot

    return run


@pytest.fixture
def text() -> Callable[[Pilot[None]], str]:
    """The screen as text."""
    return lambda pilot: "\n".join(screen_text(pilot))


@pytest.fixture
def until() -> Callable[..., Any]:
    """Waits until words are on the screen, and others are gone."""

    async def wait(pilot: Pilot[None], *words: str, gone: str = "", seconds: float = 120) -> str:
        end, pause = time.monotonic() + seconds, 0.02
        while time.monotonic() < end:
            await pilot.pause(pause)
            pause = min(pause * 1.3, 0.2)  # what takes long has the processor to itself
            shown = "\n".join(screen_text(pilot))
            if all(word in shown for word in words) and (not gone or gone not in shown):
                return shown
        pytest.fail(f"{words} did not come, or {gone!r} did not go:\n" + "\n".join(screen_text(pilot)))

    return wait


@pytest.fixture(scope="session")
def harmless() -> Callable[[str], None]:
    """Fails where a control character, or one that turns the direction of text, stands on a screen."""

    def check(shown: str) -> None:
        assert not CONTROLS & set(shown.replace("\n", ""))

    return check


def drawn(pilot: Pilot[None]) -> str:
    """The styles of the screen: a line of `cells style` runs for each row, then a table of the styles."""
    styles: dict[str, int] = {}
    rows = []
    for strip in pilot.app.screen._compositor.render_strips():
        runs = [(len(text), styles.setdefault(_style(style), len(styles))) for text, style, _ in strip if text]
        merged = [(sum(size for size, _ in group), style) for style, group in _runs(runs)]
        rows.append(" ".join(f"{size}:{style}" for size, style in merged))
    return "\n".join([*rows, "", *(f"{number} {style}" for style, number in styles.items())]) + "\n"


def _style(style: Style | None) -> str:
    """A style in words, without its link and metadata."""
    return str(style.clear_meta_and_links()) if style else "none"


def _runs(runs: list[tuple[int, int]]) -> Iterator[tuple[int, Iterator[tuple[int, int]]]]:
    return groupby(runs, key=lambda run: run[1])


def differing(pilot: Pilot[None], name: str, *, styled: bool = True) -> list[str]:
    """The accepted files that differ from the screen: its text, and its styles. Each difference leaves a picture."""
    wrong = []
    for ending, now in (("txt", "\n".join(screen_text(pilot)) + "\n"), ("styles", drawn(pilot) if styled else "")):
        accepted = HERE / "snapshots" / f"{name}.{ending}"
        if ending == "styles" and not styled:
            continue
        if os.environ.get("NMEM_UPDATE_SNAPSHOTS"):
            assert textual.__version__ == "8.2.8", "snapshots are made with the pinned version"
            accepted.parent.mkdir(exist_ok=True)
            accepted.write_text(now, "utf-8")
        elif not accepted.exists() or accepted.read_text("utf-8") != now:
            accepted.with_suffix(f".actual.{ending}").write_text(now, "utf-8")
            accepted.with_suffix(".actual.svg").write_text(pilot.app.export_screenshot(), "utf-8")
            wrong.append(accepted.name)
    return wrong


@pytest.fixture
def snapshot() -> Callable[[Pilot[None], str], None]:
    """Compares the screen with what was accepted."""

    def compare(pilot: Pilot[None], name: str) -> None:
        if wrong := differing(pilot, name):
            pytest.fail(f"not as accepted: {', '.join(wrong)}; compare with the .actual files beside them")

    return compare


@pytest.fixture
def looks_at_each(cockpit: Open, harmless: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Compares states of one cockpit, one after the other, in both sizes, with their styles: each is come to small,
    grows and shrinks again, so that traces of a resize are seen as well. Other themes differ in their palettes alone
    (test_appearance).

    What stands in `PLAIN_TOO` is compared without colours as well, come to large.
    """
    small, large = SIZES

    async def compare(pilot: Pilot[None], name: str, size: str, *, styled: bool) -> list[str]:
        await pilot.resize_terminal(*SIZES[size])
        await settle(pilot)
        harmless("\n".join(screen_text(pilot)))
        return differing(pilot, f"{name}-{size}", styled=styled)

    async def run(db: str, states: Mapping[str, Arrive | None], **options: Any) -> None:
        wrong = []
        async with cockpit(db, SIZES[small], "dark", **options) as pilot:
            for name, arrive in states.items():
                await pilot.resize_terminal(*SIZES[small])
                if arrive:
                    await arrive(pilot)
                wrong += await compare(pilot, f"{name}-dark", small, styled=True)
                wrong += await compare(pilot, f"{name}-dark", large, styled=True)
                if name not in PLAIN_TOO:
                    wrong += await compare(pilot, f"{name}-dark", small, styled=False)
        if plain := [place for place, name in enumerate(states) if name in PLAIN_TOO]:
            monkeypatch.setenv("NO_COLOR", "1")
            async with cockpit(db, SIZES[large], "", **options) as pilot:
                for name, arrive in tuple(states.items())[: plain[-1] + 1]:
                    await pilot.resize_terminal(*SIZES[large])
                    if arrive:
                        await arrive(pilot)
                    for size in (large, small) if name in PLAIN_TOO else ():
                        wrong += await compare(pilot, f"{name}-nocolor", size, styled=False)
                        colourless(pilot)
        assert not wrong, f"not as accepted: {', '.join(wrong)}; compare with the .actual files beside them"

    return run


@pytest.fixture
def looks(looks_at_each: Any) -> Any:
    """Opens one state and compares it, as `looks_at_each` says; `then` are states, by name, that follow it."""

    async def run(
        db: str, name: str, arrive: Arrive | None = None, then: Mapping[str, Arrive] | None = None, **options: Any
    ) -> None:
        await looks_at_each(db, {name: arrive, **(then or {})}, **options)

    return run


def colourless(pilot: Pilot[None]) -> None:
    """Fails where a cell has a colour of its own."""
    for strip in pilot.app.screen._compositor.render_strips():
        for text, style, _ in strip:
            used = [colour for colour in (style.color, style.bgcolor) if colour] if style else []
            assert all(colour.is_default for colour in used), (text, str(style))


@pytest.fixture
def settled() -> Callable[[Pilot[None]], Any]:
    """Waits until every read is done."""
    return settle


@pytest.fixture
def at() -> Callable[[Pilot[None], str], Any]:
    """Goes to a screen of the whole database, with something in its list."""

    async def go(pilot: Pilot[None], screen: str) -> Any:
        await pilot.press(str(NUMBERED.split().index(screen) + 1))
        await settle(pilot)
        if screen == "search":
            await pilot.press(*"avatar", "enter")
        if screen == "learnings":
            await pilot.press("P")
        await settle(pilot)
        return pilot.app.screen

    return go
