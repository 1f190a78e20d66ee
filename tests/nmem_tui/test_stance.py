"""The screen Stance: what its drawings and lists say, what its keys do, and that a long session stays quick."""

from __future__ import annotations

import sqlite3
import time
import unicodedata
from contextlib import closing
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from capture.labels import DIMENSIONS, WORDS
from capture.labels.calls import NOT_CALLS
from nmem.labels import cards
from nmem.labels.read import Labelled, Reason, Standing, Word
from nmem.stance.model import QUADRANTS, Advice, Compared, Point, SessionStance, Share, Shift, Stance, Stretch, Strip
from nmem_tui.model import review, stance_chart, stance_list, stream
from nmem_tui.model import stance as words
from nmem_tui.model.line import TONES, Line, cut, length, plain
from nmem_tui.model.stance_chart import Canvas, column_of, level, stretched
from tests.nmem_tui.gallery import tidy

AT = 1_760_000_000_000


def point(seq: int, phase: float | None, scope: float | None, *, failed: bool = False) -> Point:
    """A point whose lines stand where its scores are."""
    return Point(AT + seq * 60_000, seq, 100 + seq, 1, phase, scope, phase, scope, failed)


def stance(points: list[Point], **given: Any) -> Stance:
    """A stance of these points."""
    told: dict[str, Any] = {
        "session_id": "s", "project": "aurora", "count": len(points), "observations": len(points) + 2,
        "placed": max(20, len(points)), "points": tuple(points),
        "quadrants": {name: Share(1, 0.25) for name in QUADRANTS},
        "phase_5": 0.4, "phase_20": -0.08, "scope_5": 0.2, "scope_20": 0.2, "phase_direction": "act",
        "scope_direction": "stable", "quadrant": "finish", "scope_base": 0.4, "shifts": (),
        "locus": {"internal": Share(3, 0.75), "external": Share(1, 0.25)},
        "novelty": {"routine": Share(), "novel": Share()},
        "friction": {"smooth": Share(1, 0.5), "friction": Share(1, 0.5)}, "failed": 1, **given,
    }  # fmt: skip
    return Stance(**told)


# The drawings


def test_a_rising_line_ends_above_and_the_letters_stand_where_the_lines_end() -> None:
    found = stance([point(n, -1 + n / 50, 0.4) for n in range(101)])
    drawn = stance_chart.draw(stance_chart.trace(found, 80), 9, ())
    rows = [plain([line]) for line in drawn]
    assert rows[0].lstrip().startswith("act")
    assert rows[6].lstrip().startswith("think")
    assert "P" in rows[0]
    assert "S" in rows[3], "scope that stands where diverge and converge divide is drawn in the middle"
    assert [place for place in range(7) if "converge" in rows[place]] == [0]
    assert [place for place in range(7) if "diverge" in rows[place]] == [6]


def test_phase_and_scope_can_be_told_apart_without_colour() -> None:
    found = stance([point(n, 0.5, -0.5) for n in range(200)])
    rows = [plain([line]) for line in stance_chart.draw(stance_chart.trace(found, 80), 11, ())]
    dots = [sum((ord(char) - 0x2800).bit_count() for char in row if 0x2800 < ord(char) < 0x2900) for row in rows]
    upper, lower = sum(dots[:4]), sum(dots[5:9])
    assert upper >= 3.5 * lower > 0


def test_shifts_are_marked_with_their_times_and_the_chosen_one_never_goes_without() -> None:
    found = stance([point(n, 0.5, 0.5) for n in range(300)])
    ready = stance_chart.trace(found, 80)
    marks = [stance_chart.Mark(place, f"10:{place:02}"[-5:]) for place in (10, 12, 14, 250)]
    chosen = stance_chart.Mark(12, "CHOSE", chosen=True)
    axis, times = (plain([line]) for line in stance_chart.draw(ready, 9, [*marks, chosen], [150])[-2:])
    assert axis.count("▲") == 3
    assert "┴" in axis
    assert "CHOSE" in times
    assert times.count(":") == 1, "times that would touch another are left out"


def test_lifting_keeps_the_sides_of_the_dividing_line() -> None:
    assert stance_chart.lifted(0.4, 0.4) == 0
    assert stance_chart.lifted(1, 0.4) == 1
    assert stance_chart.lifted(-1, 0.4) == -1
    assert stance_chart.lifted(0.1, 0.4) < 0 < stance_chart.lifted(0.41, 0.4)


def test_plane_puts_the_session_into_its_quadrant() -> None:
    for phase, scope, corner in (
        (0.9, 0.9, "finish"),
        (-0.9, 0.9, "reason"),
        (-0.9, -0.9, "explore"),
        (0.9, -0.9, "scaffold"),
    ):
        drawn = [plain([line]).ljust(60) for line in stance_chart.draw_plane([(0, 0), (phase, scope)], {}, 60, 15)]
        row = next(place for place, text in enumerate(drawn) if "●" in text)
        column = drawn[row].index("●")
        name = next(place for place, text in enumerate(drawn) if corner in text)
        assert (row < 7) == (name < 7), corner
        assert (column > 30) == (drawn[name].index(corner) > 30), corner


def test_a_path_gives_each_stretch_its_part() -> None:
    way = [Stretch("explore", 10, 0), Stretch("finish", 30, 0)]
    assert plain([stance_chart.path(way, 8)]) == "░░██████"
    assert plain([stance_chart.path(way, 80)]).count("░") == 20
    assert plain([stance_chart.path([], 4)]) == ""


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=400), st.integers(1, 200))
def test_stretching_keeps_ends_and_bounds(values: list[float], columns: int) -> None:
    out = stretched(values, columns)
    assert len(out) == columns
    assert min(values) - 1e-9 <= min(out) <= max(out) <= max(values) + 1e-9
    places = [column_of(place, len(values), columns) for place in range(len(values))]
    assert places == sorted(places)
    assert 0 <= places[0] <= places[-1] == columns - 1


@given(st.floats(-2, 2), st.integers(1, 99))
def test_a_level_is_on_the_canvas(value: float, dots: int) -> None:
    assert 0 <= level(value, dots) < dots
    assert level(1, dots) == 0


def test_canvas_draws_only_within_itself() -> None:
    canvas = Canvas(3, 2)
    for x in range(-3, 12):
        for y in range(-3, 12):
            canvas.dot(x, y, "phase")
    canvas.text(-1, 0, "abcdef", "text")
    canvas.text(0, 9, "x", "text")
    assert [plain([line]) for line in canvas.lines()] == ["bcd", "⣿⣿⣿"]


# The words


def test_the_one_line_says_where_it_stands_and_where_it_goes() -> None:
    told = plain([words.now(stance([point(0, 0.62, 0.5)]), 90)])
    assert told.startswith("finish · acts +.62, more and more · narrows +.50")
    assert "–" not in told
    below = plain([words.now(stance([point(0, -0.1, 0.3)]), 90)])
    assert "thinks −.10, turning to act" in below
    assert "widens +.30 (narrows from +.40 on)" in below, "scope divides at its own line, not at zero"


def test_a_short_session_says_how_few_its_calls_are_and_what_each_did_by_itself() -> None:
    signs = {"explore": Share(), "reason": Share(2, 0.2), "scaffold": Share(), "finish": Share(8, 0.8)}
    stood = {"explore": Share(), "reason": Share(10, 1.0), "scaffold": Share(), "finish": Share()}
    found = stance([point(n, -0.1, 0.8) for n in range(10)], placed=10, quadrant="reason", quadrants=stood, signs=signs,
                   observations=10)  # fmt: skip
    few = "so far 10 think, 1 failed"
    assert f"{few} · a quadrant needs about 20 calls, here are 10" in plain([words.now(found, 120)])
    assert words.title(found) == "Stance ─ so far 10 think, 1 failed"
    assert few in plain([words.line(found, 100)])
    told = [plain([line]) for line in words.shares(found, 80)]
    assert "▸" not in "".join(told)
    assert next(line for line in told if "finish" in line).split()[-4:-2] == ["80%", "8"]
    assert any("each call by its own scores" in line for line in told)
    for line in (words.now(found, 120), words.line(found, 100)):
        assert "reason" not in plain([line])
        assert "thinks" not in plain([line])
    corners = plain(stance_chart.draw_plane(stance_chart.way(found), stance_chart.told(found), 60, 12))
    assert "reason" in corners
    assert "%" not in corners


async def test_a_session_whose_calls_say_nothing_lists_them(
    make_db: Any, cockpit: Any, settled: Any, text: Any, until: Any
) -> None:
    path = make_db("story")
    with closing(sqlite3.connect(path)) as db, db:
        of = "SELECT id FROM sessions ORDER BY last_at DESC LIMIT 1"
        db.execute(f"DELETE FROM observations WHERE id != (SELECT max(id) FROM observations WHERE session_id = ({of}))")
        db.execute("UPDATE observations SET phase = NULL, scope = NULL, label_model = 'sure of nothing'")
    async with cockpit(path, (80, 24)) as pilot:
        await pilot.press("3")
        await until(pilot, "so far 1 call", "too few for shares", "the model is not sure of 1 call")
        assert "nmem backfill" not in text(pilot)
        await pilot.press("j", "enter")
        await until(pilot, "Stream")


def test_a_session_of_two_calls_has_too_few_like_any_other_short_one() -> None:
    nothing = dict.fromkeys(("explore", "reason", "scaffold", "finish"), Share())
    strips = (Strip(1, "explain the kettle", AT, 2, nothing, (), 0),)
    found = stance([point(n, -0.99, None) for n in range(2)], placed=0, observations=2, quadrants=nothing,
                   signs=nothing, strips=strips)  # fmt: skip
    said = plain([words.now(found, 120)])
    assert "so far 2 think, 1 failed · a quadrant needs about 20 calls, here are 0 placed" in said
    assert "thinks" not in said
    assert any("each call by its own scores" in plain([line]) for line in words.shares(found, 80))
    assert "%" not in plain([words.strip(strips[0], 100, UTC)]), "no share of nothing"


def test_the_calls_that_are_placed_are_named_where_there_are_more() -> None:
    found = stance([point(n, -0.1, 0.8) for n in range(9)], placed=9, observations=10)
    assert "a quadrant needs about 20 calls, here are 9 placed" in plain([words.now(found, 120)])


def test_rows_say_labels_where_they_fit_and_a_tilde_where_the_model_abstains() -> None:
    assert plain([stream.told((0.9, None, -0.9, 0.8, 0.95))]) == "act   ~        novel friction"
    assert plain([stream.columns((-0.9, 0.7, 0.9, 0.8, 0.95), 25)]) == "think converge friction"
    assert plain([stream.columns((-0.9, 0.7, 0.9, 0.8, 0.95), 33)]) == "think converge novel friction"
    assert stream.told(()) == []


def test_the_small_card_keeps_what_tells_most_where_there_is_little_room() -> None:
    shift = Shift("phase", AT, 3, "think", "act", 1, "do it", "reason", "finish")
    found = stance(
        [point(n, n / 10 - 0.5, 0.8) for n in range(10)], shifts=(shift,), guidance=(Advice("Look at X", ""),)
    )
    roomy = plain(words.card(found, 46, 5, UTC))
    assert "reason→finish" in roomy
    assert "Look at X" in roomy
    assert "think ┤" in roomy
    low = plain(words.card(found, 46, 3, UTC))
    assert "reason → finish" in low
    assert "▁" <= plain([words.line(found, 78)]).removeprefix("phase ")[0] <= "█"


@pytest.mark.parametrize("cells", [42, 80, 120])
def test_shares_say_what_each_quadrant_is_and_what_decides_at_every_width(cells: int) -> None:
    found = stance([point(0, 0.62, 0.5)], observations=9, bare=2)
    told = plain(words.shares(found, cells))
    for quadrant, meaning in words.MEANING.items():
        assert any(quadrant in row and meaning in row for row in told.splitlines())
    said = " ".join(told.split())
    assert "it acts from phase (P) 0 on, narrows from scope (S) +.40 on" in said
    assert "2 calls without labels: nmem backfill" in said
    assert "the model is not sure of 6 calls" in said
    assert "9 calls" in plain([words.header(found, "aurora", "", cells)]), "calls are calls, labelled or not"


def test_the_chart_says_what_its_middle_stands_for() -> None:
    found = stance([point(n, -0.5 + n / 10, 0.4) for n in range(11)])
    rows = [plain([line]) for line in stance_chart.draw(stance_chart.trace(found, 80), 9, ())]
    assert rows[3].lstrip().startswith("0 ┤")
    assert rows[3].rstrip().endswith("+.40")
    assert "middle 0 of P, +.40 of S" in words.titles(found)[0]


def test_a_session_of_another_year_says_its_year_and_stands_where_it_ended() -> None:
    quadrants = {name: Share(1, 0.25) for name in QUADRANTS}
    day = 86_400_000
    old = SessionStance("a", "claude", AT - 400 * day, AT - 399 * day, "look", 9, 4, 4, 0.1, 0.1, quadrants,
                        0.5, 0.5, 0.1, 0.1, 0)  # fmt: skip
    new = SessionStance(
        "b", "claude", AT - day, AT - 3_600_000, "do", 7, 1, 0, None, None, {}, None, None, None, None, 0
    )
    rows = [item.draw(100) for item in stance_list.of_sessions([new, old], "b", UTC, AT)]
    assert plain([rows[0]]).startswith("▸ 10-09 07:53")
    assert "too few calls to tell" in plain([rows[0]]), "one call is labelled: not nothing is"
    assert plain([rows[1]]).startswith("  2024-09-05 ")
    assert "9 calls" in plain([rows[1]])
    assert "50 % think" in plain([rows[1]])


TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=30) | st.sampled_from(
    ["see [/foo]", "[red]x[/]", "\x1b]52;c;aGk=\x07", "漢字" * 20, "\u202eevil", "a\x00b"]
)
NUMBER = st.integers(-(2**53), 2**53)
SCORE = st.none() | st.floats(-1, 1)
SHARE = st.builds(Share, st.integers(0, 10**6), st.floats(0, 1))
POINTS = st.lists(
    st.builds(Point, NUMBER, st.integers(0, 10**6), st.just(1), st.none(), SCORE, SCORE, SCORE, SCORE, st.booleans()),
    max_size=30,
).map(lambda found: tuple(sorted(found, key=lambda each: each.seq)))
SHARES = st.dictionaries(st.sampled_from(QUADRANTS), SHARE)
STRETCHES = st.lists(st.builds(Stretch, st.sampled_from(QUADRANTS) | TEXT, st.integers(0, 99), NUMBER), max_size=4).map(
    tuple
)
SHIFTS = st.builds(Shift, TEXT, NUMBER, st.integers(0, 10**6), TEXT, TEXT, st.none(), TEXT, TEXT, TEXT)
STANCES = st.builds(
    Stance,
    session_id=TEXT,
    project=TEXT,
    count=st.integers(0, 10**6),
    observations=st.integers(0, 10**6),
    placed=st.integers(0, 10**6),
    quadrants=st.dictionaries(st.sampled_from(QUADRANTS), SHARE),
    points=POINTS,
    phase_5=SCORE,
    phase_20=SCORE,
    scope_5=SCORE,
    scope_20=SCORE,
    phase_direction=st.sampled_from(["stable", "act", "think"]) | TEXT,
    scope_direction=st.sampled_from(["stable", "converge", "diverge"]) | TEXT,
    quadrant=st.sampled_from(["", *QUADRANTS]),
    scope_base=st.floats(-0.99, 0.99),
    shifts=st.lists(SHIFTS, max_size=4).map(tuple),
    locus=st.dictionaries(TEXT, SHARE, max_size=2),
    novelty=st.dictionaries(TEXT, SHARE, max_size=2),
    friction=st.dictionaries(st.sampled_from(["smooth", "friction"]), SHARE),
    failed=st.integers(0, 10**6),
    guidance=st.lists(st.builds(Advice, TEXT, TEXT), max_size=3).map(tuple),
    strips=st.lists(
        st.builds(
            Strip, st.integers(1, 9), TEXT, NUMBER, st.integers(0, 10**6), SHARES, STRETCHES,
            st.integers(0, 10**6),
        ), max_size=3,
    ).map(tuple),
    usual=st.lists(
        st.builds(Compared, TEXT, *[st.floats(0, 1)] * 4, st.integers(0, 99), st.booleans(), TEXT), max_size=3
    ).map(tuple),
)  # fmt: skip


def check(lines: list[Line], cells: int) -> None:
    """Printable, in known tones, and no wider than it may be."""
    for drawn in lines:
        line = cut(drawn, cells)
        text = "".join(part for part, _ in line)
        assert not [char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
        assert {tone for _, tone in line} <= TONES
        assert cell_len(text) <= cells


@given(STANCES, st.integers(20, 170), st.integers(1, 20), st.booleans())
@settings(deadline=None, max_examples=60)
def test_whatever_is_stored_keeps_to_its_cells(found: Stance, cells: int, rows: int, column: bool) -> None:
    if found.points:
        ready = stance_chart.trace(found, cells)
        check(stance_chart.draw(ready, rows, [stance_chart.Mark(0, "10:42", chosen=True)], ready.episodes), 10**6)
        drawn = stance_chart.draw(stance_chart.trace(found, max(40, cells)), rows, ())
        assert all(length(line) <= max(40, cells) for line in drawn)
        check(words.card(found, max(40, cells), rows, UTC), max(40, cells))
        assert len(words.card(found, 46, rows, UTC)) <= rows
    check([words.line(found, cells)], cells)
    check([words.now(found, cells), words.header(found, found.project, found.project, 80)], 10**6)
    check([*words.guidance(found.guidance, cells), *words.usual(found.usual, cells)], cells)
    check([*words.shares(found, cells), *words.figure_lines(found, cells)], cells)
    items = stance_list.of_session(found, cells, UTC, column=column, plane=column)
    check([item.draw(cells) for item in items], cells)


@given(st.lists(st.builds(SessionStance, TEXT, TEXT, NUMBER, NUMBER, TEXT, st.integers(0, 9), st.integers(0, 10**6),
    st.integers(0, 9), SCORE, SCORE, st.dictionaries(st.sampled_from(QUADRANTS), SHARE), st.none() | st.floats(0, 1),
    st.none() | st.floats(0, 1), st.integers(0, 10**6)), max_size=3), st.integers(20, 170))  # fmt: skip
@settings(deadline=None)
def test_sessions_keep_to_their_cells(found: list[SessionStance], cells: int) -> None:
    check([item.draw(cells) for item in stance_list.of_sessions(found, "x", UTC, AT)], cells)


# The screen


async def test_a_long_session_is_drawn_as_accepted(make_db: Any, looks_at_each: Any, settled: Any) -> None:
    def arrive(keys: str) -> Any:
        async def go(pilot: Any) -> None:
            await pilot.press(*keys.split())
            await settled(pilot)

        return go

    await looks_at_each(make_db("long"), {"stance-long": arrive("3"), "stance-sessions": arrive("3 v")})


async def test_a_new_call_shows_the_cursor_points_out_its_shift_and_enter_goes_to_it_in_the_stream(
    make_db: Any, cockpit: Any, text: Any, settled: Any, until: Any, seeds: Any
) -> None:
    path = make_db("long")
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("3")
        await pilot.app.screen.ready.wait()
        assert pilot.app.why_not("copy") is None, "the key bar knows at once what can be copied"
        assert pilot.app.screen.pane.count
        await settled(pilot)
        calls = int(text(pilot).splitlines()[0].rsplit("calls", 1)[0].split()[-1])
        db = seeds.database(path)
        seeds.do(db, seeds.NOW, "file_edit", "x", phase=0.9, scope=0.9, label_model=seeds.MODEL)
        db.close()
        await until(pilot, f"   {calls + 1} calls")
        await settled(pilot)
        before = text(pilot)
        await pilot.press("j")
        await settled(pilot)
        assert text(pilot) != before
        shown = next(line for line in text(pilot).splitlines() if "▌" in line)
        when = shown.partition("▌")[2][:5]
        await pilot.press("enter")
        await settled(pilot)
        assert "Stream ─ row" in text(pilot)
        assert next(line for line in text(pilot).splitlines() if "▌" in line).split("▌")[1].strip().startswith(when)


async def test_a_shift_further_back_than_the_stream_was_read_is_found_as_well(
    here: Any, cockpit: Any, text: Any, settled: Any, seeds: Any
) -> None:
    db = seeds.database("aurora.db")
    seeds.long(db, times=12)
    db.close()
    async with cockpit("aurora.db", (160, 45)) as pilot:
        await pilot.press("3")
        await settled(pilot)
        items = pilot.app.screen.pane.items
        oldest = max(place for place, item in enumerate(items) if item.kind == "shift")
        pilot.app.screen.pane.go(oldest)
        await pilot.press("enter")
        await settled(pilot)
        row = pilot.app.screen.stream.row
        assert abs(row.at - items[oldest].at) < 1


async def test_sessions_of_the_project_and_back_and_w_tells_the_story_of_the_shifts_episode(
    make_db: Any, cockpit: Any, text: Any, settled: Any
) -> None:
    async with cockpit(make_db("long"), (160, 45)) as pilot:
        await pilot.press("3", "v")
        await settled(pilot)
        assert "Sessions of the project ─ 6 sessions" in text(pilot)
        await pilot.press("j", "enter")
        await settled(pilot)
        assert "Earlier work, part 1" in text(pilot).splitlines()[0]
        assert "Trajectory" in text(pilot)
        await pilot.press("1")
        await settled(pilot)
        assert "Earlier work, part 1" in text(pilot), "the screen Now follows"
        await pilot.press("3", "minus", "minus", "minus")
        await settled(pilot)
        assert "Why do the thumbnails" in text(pilot).splitlines()[0]
        await pilot.press("3", "v")
        await settled(pilot)
        pane = pilot.app.screen.pane
        pane.go(next(place for place, item in enumerate(pane.items) if item.kind == "episode") + 1)
        await pilot.press("w")
        await settled(pilot)
        assert "Story ─ episode 3" in text(pilot)


async def test_the_way_back_from_a_session_leads_to_it_in_the_list(
    make_db: Any, cockpit: Any, text: Any, settled: Any
) -> None:
    async with cockpit(make_db("long"), (160, 45)) as pilot:
        pilot.app.chosen = pilot.app.session.id
        pilot.app.project = "/srv/elsewhere"  # begun in a folder of which nothing is recorded
        await pilot.press("3", "v")
        await settled(pilot)
        await pilot.press("j", "j")
        item = pilot.app.screen.pane.item
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("minus")
        await settled(pilot)
        assert "Sessions of the project ─ 6 sessions" in text(pilot)
        assert pilot.app.screen.pane.item.key == item.key
        await pilot.press("v")
        await settled(pilot)
        assert "Shifts and episodes" in text(pilot)


async def test_model_cards_say_corpus_figures_threshold_and_failures(
    make_db: Any, cockpit: Any, text: Any, settled: Any
) -> None:
    async with cockpit(make_db("long"), (160, 45)) as pilot:
        await pilot.press("3", "m")
        await settled(pilot)
        shown = text(pilot)
        shipped = cards.cards("aurora.db")
        assert [card.dimension for card in shipped] == list(stream.POLES)
        first = shipped[0]
        assert f"{first.calls} written calls of {first.sessions} sessions" in shown
        assert f"macro-F1 {first.folds.macro_f1:.3f}" in shown
        assert f"macro-F1 {first.rules.macro_f1:.3f}" in shown
        assert first.missed[0].call[:40] in shown
        assert "nmem backfill" in shown
        await pilot.press("G")
        await settled(pilot)
        assert "friction ─ smooth or friction" in text(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert "Trajectory" in text(pilot)


def test_a_missing_card_is_said() -> None:
    standing = Standing("", "", 3, 0, 0, 3, 0, ())
    shown = plain(stance_list.lines(stance_list.Models((), standing), 80))
    assert "install nmem again" in shown
    assert "3 by none" in shown


async def test_a_label_is_said_better_in_one_key_and_undone(
    make_db: Any, cockpit: Any, text: Any, settled: Any, seeds: Any
) -> None:
    path = make_db("story")

    def stored() -> tuple[Any, ...]:
        db = seeds.database(path)
        asked = "SELECT phase, friction, label_model FROM observations WHERE obs_type = 'git_commit'"
        row = db.execute(asked).fetchone()
        db.close()
        return tuple(row)

    before = stored()
    async with cockpit(path, (160, 45)) as pilot:
        await pilot.press("k", "L")
        await settled(pilot)
        assert "Labels of this call" in text(pilot)
        assert "Raise the avatar limit" in text(pilot)
        await pilot.press("p")
        await settled(pilot)
        assert stored() == (-1.0, before[1], f"{before[2]}+phase")
        assert "✓ by your word" in text(pilot)
        await pilot.press("f")
        await settled(pilot)
        assert stored() == (-1.0, 1.0, f"{before[2]}+phase,friction")
        await pilot.press("P")
        await settled(pilot)
        assert stored()[0] == before[0]
        await pilot.press("u", "u", "u")
        await settled(pilot)
        assert stored() == before
        await pilot.press("escape")
        await settled(pilot)
        assert "act   converge" in text(pilot)
        await pilot.press("g", "j", "L")
        await settled(pilot)
        assert "only calls have labels" in text(pilot)


def test_words_are_those_of_the_classifiers() -> None:
    assert tuple(stream.POLES) == DIMENSIONS
    assert tuple(stream.POLES.values()) == WORDS
    assert stream.UNLABELLED == NOT_CALLS


def said(word: str, thinks: str, *, own: bool = False) -> Word:
    return Word("phase", word, 1.0 if word else None, own, "m", thinks, 0.2, 0.3, ())


@pytest.mark.parametrize(
    ("word", "thinks", "flipped"),
    [("act", "act", "think"), ("think", "think", "act"), ("", "think", "think"), ("", "", "act")],
)
def test_a_flip_says_the_other_word_and_where_it_is_not_clear_what_the_model_leans_to(
    word: str, thinks: str, flipped: str
) -> None:
    assert review.flipped(said(word, thinks)) == flipped


SAID = st.builds(
    Word, st.sampled_from(list(stream.POLES)), TEXT, SCORE, st.booleans(), TEXT, TEXT, st.floats(-1, 1),
    st.floats(0, 1), st.lists(st.builds(Reason, TEXT, TEXT, st.floats(-9, 9)), max_size=2).map(tuple),
)  # fmt: skip
LABELLED = st.builds(
    Labelled, st.just(1), TEXT, NUMBER, *[TEXT] * 6, st.lists(SAID, max_size=5).map(tuple), TEXT
)  # fmt: skip


@given(LABELLED, st.integers(30, 120), st.booleans())
@settings(deadline=None)
def test_the_dialog_keeps_to_its_cells(found: Labelled, cells: int, why: bool) -> None:
    check(review.relabel_lines(found, cells, why=why), cells)


async def test_without_labels_it_says_what_would_fill_it(
    here: Any, cockpit: Any, text: Any, settled: Any, seeds: Any
) -> None:
    db = seeds.database("aurora.db")
    seeds.story(db)
    db.close()
    async with cockpit("aurora.db") as pilot:
        await pilot.press("3")
        await settled(pilot)
        assert "No call is labelled yet of the" in text(pilot)
        assert "nmem backfill" in text(pilot)
        await pilot.press("v")
        await settled(pilot)
        assert "not labelled" in text(pilot)


@pytest.fixture
def step(here: Any, cockpit: Any, settled: Any, seeds: Any) -> Any:
    """The processor's seconds that a key takes in a session of so many stretches, and how many calls it has."""

    async def take(times: int) -> tuple[float, int]:
        db = seeds.database(f"aurora-{times}.db")
        db.execute("BEGIN")
        seeds.long(db, times=times)
        db.execute("COMMIT")
        db.close()
        async with cockpit(f"aurora-{times}.db", (160, 45)) as pilot:
            await pilot.press("3")
            await settled(pilot)
            screen, took = pilot.app.screen, []
            for _ in range(30):
                begun = time.process_time()
                screen.do_down()
                screen._compositor.render_strips()
                screen.chart.render()
                took.append(time.process_time() - begun)
            return sorted(took)[15], screen.found.stance.count

    return take


async def test_keys_stay_quick_in_a_session_of_twenty_thousand_calls(step: Any) -> None:
    quick, few = await step(1)
    took, many = await step(110)
    assert many > 18_000 > 50 * few
    assert took < 8 * quick  # twice on a machine of its own


def test_pictures_put_each_braille_pattern_into_its_own_cell() -> None:
    drawn = '<svg ><text class="a" x="10" y="2" textLength="36.6" clip-path="u">⠄&#160;⣿</text></svg>'
    assert tidy(drawn).count("<text ") == 2
    assert 'x="34.4" y="2" textLength="12.2" clip-path="u">⣿<' in tidy(drawn)
