"""Whatever text comes in, everything that is drawn is printable and exactly as wide as it says."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from nmem.audit import WRONG, Finding
from nmem.read.episode_store import Thread
from nmem.read.episodes import CurrentUnit, EpisodeRow, Outcome
from nmem.read.health import ClientRow, Drift, HealthView, Latency
from nmem.read.store import Effort, HotFile
from nmem.read.views import ContextWindow, Failure, Forecast, Hooks, NowView, SessionRow, StreamRow
from nmem_tui.model import episodes, health_cards, now_cards, now_gauges, stream
from nmem_tui.model import now_cards as unit_card
from nmem_tui.model.empty import told
from nmem_tui.model.episodes import Entry
from nmem_tui.model.line import TONES, Line, cut
from nmem_tui.widgets.details import describe

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=40) | st.sampled_from(
    [
        "see [/foo]",
        "[red]x[/]",
        "\x1b]52;c;aGk=\x07",
        "漢字" * 20,
        "e" + "\u0301" * 30,
        "\u202eevil",
        "a\x00b",
        "👩‍👩‍👧",
    ]
)
NUMBER = st.integers(-(2**53), 2**53)
META = st.dictionaries(
    TEXT, TEXT | NUMBER | st.lists(TEXT, max_size=2) | st.dictionaries(TEXT, NUMBER, max_size=2), max_size=3
)
AT = 1_760_000_000_000
SIZES = ((80, 24), (160, 45), (20, 6))

stream_rows = st.builds(
    StreamRow,
    key=st.integers(0, 9),
    at=NUMBER,
    word=TEXT | st.sampled_from(list(stream.WORDS)),
    text=TEXT,
    path=TEXT,
    outcome=st.sampled_from(["", "ok", "failed", "unknown"]),
    exit_code=st.none() | NUMBER,
    duration_ms=st.none() | NUMBER,
    added=st.none() | NUMBER,
    removed=st.none() | NUMBER,
    repeats=st.integers(0, 10**6),
    agent=st.booleans(),
    tool=TEXT,
    meta=META,
    labels=st.just(()) | st.tuples(*[st.none() | st.floats(-1, 1)] * 5),
    labelled_by=TEXT | st.sampled_from(["", "0123456789ab", "0123456789ab+phase,scope"]),
)
sessions = st.builds(
    SessionRow,
    id=TEXT,
    client=TEXT,
    project=TEXT,
    root=TEXT,
    branch=TEXT,
    model=TEXT,
    state=TEXT,
    cwd=TEXT,
    transcript_path=TEXT,
    started_at=NUMBER,
    last_at=NUMBER,
    origin=TEXT,
    context_tokens=st.none() | st.integers(0, 10**9),
    context_window=st.none() | st.integers(0, 10**9),
    context_at=st.none() | NUMBER,
    intent=TEXT,
)
efforts = st.builds(Effort, *[st.integers(0, 10**6)] * 3)
views = st.builds(
    NowView,
    session=sessions,
    prompt=TEXT,
    prompt_at=st.none() | NUMBER,
    prompts=st.integers(0, 9),
    turn=efforts,
    total=efforts,
    hot=st.lists(st.builds(HotFile, TEXT, *[st.integers(0, 10**6)] * 3), max_size=3).map(tuple),
    failures=st.lists(
        st.builds(Failure, NUMBER, NUMBER, TEXT, TEXT, TEXT, st.just("failed"), st.booleans()), max_size=2
    ).map(tuple),
    hooks=st.builds(Hooks, st.none() | NUMBER, st.none() | st.integers(0, 10**9), st.integers(0, 9), st.integers(0, 9)),
    live_elsewhere=st.integers(0, 3),
    window=st.none()
    | st.builds(
        ContextWindow,
        TEXT,
        TEXT | st.just("claude"),
        TEXT,
        *[st.none() | st.integers(0, 10**9)] * 3,
        TEXT,
        st.none() | st.integers(1, 10**9),
        st.booleans(),
        st.none() | st.floats(0, 1e8),
        st.none() | st.builds(Forecast, st.integers(1, 200), st.none() | st.integers(0, 10**5), NUMBER, NUMBER),
    ),
)
outcomes = st.builds(
    Outcome,
    st.sampled_from(["", "passed", "failed"]),
    st.integers(0, 10**9),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
current_units = st.builds(
    CurrentUnit,
    id=st.just(1),
    name=TEXT,
    titled=st.booleans(),
    started_at=NUMBER,
    active_ms=NUMBER,
    turns=st.integers(0, 10**6),
    cut_reason=TEXT,
    cut_confidence=st.floats(-1, 2),
    cut_by=TEXT | st.sampled_from(["first", "online", "revised", "llm", "person"]),
    resumes=TEXT,
    pinned=st.booleans(),
    effort=efforts,
    hot=st.lists(st.builds(HotFile, TEXT, *[st.integers(0, 10**6)] * 3), max_size=3).map(tuple),
    outcome=outcomes,
    thread=st.none() | st.builds(Thread, st.just(1), st.just(1), TEXT, st.integers(0, 99), TEXT, st.booleans()),
)
episode_rows = st.builds(
    EpisodeRow,
    id=st.just(1),
    session_id=TEXT,
    thread_id=st.none() | st.just(1),
    thread=TEXT,
    project=TEXT,
    name=TEXT,
    state=st.sampled_from(["open", "closed"]) | TEXT,
    resumes=st.booleans(),
    pinned=st.booleans(),
    started_at=NUMBER,
    last_at=NUMBER,
    active_ms=NUMBER,
    turns=st.integers(0, 10**6),
    outcome=outcomes,
    friction=st.none() | st.floats(0, 1),
    narrated=st.booleans(),
    offered=st.integers(0, 9),
)
figures = st.dictionaries(TEXT, st.integers(0, 10**12), max_size=3)
healths = st.builds(
    HealthView,
    path=TEXT,
    wall=st.builds(Latency),
    cpu=st.builds(Latency, *[st.integers(0, 10**9)] * 3),
    recent=st.lists(st.integers(0, 10**9), max_size=9).map(tuple),
    runs=st.integers(0, 9),
    results=figures,
    counters=figures,
    spool_files=st.integers(0, 3),
    database_bytes=st.integers(0, 2**60),
    wal_bytes=st.integers(0, 2**60),
    rows=figures,
    redactions=figures.filter(lambda kinds: all(kinds.values())),
    drift=st.lists(st.builds(Drift, TEXT, TEXT, TEXT, TEXT, NUMBER), max_size=2).map(tuple),
    clients=st.lists(
        st.builds(ClientRow, TEXT, NUMBER, TEXT, st.integers(0, 9), st.integers(0, 10**9)), max_size=2
    ).map(tuple),
    log=st.lists(TEXT, max_size=3).map(tuple),
)


def check(lines: list[Line], cells: int = 10**6) -> None:
    """Printable, in known tones, and no wider than it may be."""
    for drawn in lines:
        line = cut(drawn, cells)  # as panels and bars do
        text = "".join(part for part, _ in line)
        assert not [char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
        assert {tone for _, tone in line} <= TONES
        assert cell_len(text) <= cells


@given(stream_rows, st.integers(40, 200))
def test_a_row_fills_exactly_its_cells(row: StreamRow, cells: int) -> None:
    line = stream.draw(row, cells, UTC)
    check([line], cells)
    assert sum(cell_len(text) for text, _ in line) == cells
    check(describe(row, UTC))


@given(views, st.integers(40, 200), st.integers(3, 12))
@settings(deadline=None)
def test_cards_keep_to_their_cells(view: NowView, cells: int, height: int) -> None:
    check([now_cards.header(view, AT, cells)], cells)
    check(now_cards.prompt(view, cells, height), cells)
    check(now_cards.hot(view.hot, cells, height), cells)
    check(now_gauges.window_card(view.window, AT, cells), cells)
    check([now_gauges.short(view.window, cells)], cells)
    check(now_cards.failures(view, UTC, cells, height), cells)
    check(now_cards.narrow(view, AT, UTC, cells, height), cells)


@given(views, current_units, st.integers(40, 200), st.integers(6, 12))
@settings(deadline=None)
def test_work_unit_card_keeps_to_its_cells_and_has_no_blank_line(
    view: NowView, unit: CurrentUnit, cells: int, height: int
) -> None:
    drawn = unit_card.card(view, unit, cells, height)
    check(drawn, cells)
    assert len(drawn) <= height
    assert all("".join(text for text, _ in line).strip() for line in drawn)
    check([now_cards.header(view, AT, cells, unit)], cells)
    check(now_cards.narrow(view, AT, UTC, cells, height, unit), cells)


@given(episode_rows, st.integers(40, 200), st.integers(0, 800_000))
def test_an_episode_fills_exactly_its_cells(row: EpisodeRow, cells: int, day: int) -> None:
    line = episodes.unit(row, cells, UTC)
    check([line], cells)
    assert sum(cell_len(text) for text, _ in line) == cells
    for kind in ("day", "thread"):
        check([episodes.heading(Entry(kind, day, 1, 3), row, day + 1, cells, projects=True)])


@given(healths, st.integers(60, 200))
@settings(deadline=None)
def test_vitals_keep_to_their_cells(view: HealthView, cells: int) -> None:
    for draw in (health_cards.hooks, health_cards.events, health_cards.storage, health_cards.drift, health_cards.log):
        check(draw(view, cells), cells)
    check(health_cards.clients(view, AT, cells), cells)
    check([health_cards.header(view, AT, UTC, 60)], 60)


@given(healths, TEXT, TEXT, st.integers(60, 200))
@settings(deadline=None)
def test_why_no_hook_runs_keeps_to_its_cells(view: HealthView, evidence: str, mend: str, cells: int) -> None:
    """What was seen and what mends it name files of the machine."""
    stopped = Finding("hooks", WRONG, evidence, mend)
    check(health_cards.hooks(replace(view, runs=0), cells, registered=True, stopped=stopped), cells)


@given(st.integers(10, 200), st.integers(5, 60))
def test_the_empty_screen_names_the_next_command(cells: int, height: int) -> None:
    lines = told("now", cells, height)
    check(lines)
    assert any("nmem init" in text for line in lines for text, _ in line)


KEYS = (
    "2 enter", "2 R", "2 e", "2 slash ' *", "2 enter M", "r", "r j", "w", "3 j enter", "3 v enter", "3 w", "3 G y",
    "3 m", "L p", "enter", "s", "question_mark", "slash [ / x ]", "y", "8", "D",
)  # fmt: skip
"""Each from the screen Now; the demo comes last, because another database is shown from then on."""


@pytest.mark.parametrize("first", range(len(SIZES)))
async def test_no_key_on_a_hostile_database_breaks_or_leaks(
    first: int, make_db: Any, cockpit: Any, text: Any, settled: Any
) -> None:
    """The keys are pressed in one size, and what they led to is drawn in it and in the next."""
    async with cockpit(make_db("hostile"), SIZES[first]) as pilot:
        for keys in KEYS[first :: len(SIZES)]:
            await pilot.press(*keys.split())
            for size in SIZES[first], SIZES[(first + 1) % len(SIZES)]:
                if size != SIZES[first]:
                    await pilot.resize_terminal(*size)
                await settled(pilot)
                shown = text(pilot).replace("\n", "")
                assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cf", "Cs")], keys
            await pilot.press("escape", "escape", "escape", "1")
            await pilot.resize_terminal(*SIZES[first])
            await settled(pilot)
            assert pilot.app.current_mode == "now", keys
