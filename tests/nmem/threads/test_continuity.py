"""Which thread a session continues: explicit and implicit channels, timeouts, what is stored of a thread."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmem.errors import NmemError
from nmem.threads import config, continuity, steering, store
from nmem.threads import read as _read

World = Any
read: Any = _read  # what is found is there: a None fails the test all the same
HOOK_PATH = ("re", "json", "dataclasses", "typing", "enum", "pathlib", "datetime", "logging", "hashlib")


def test_forty_minutes_of_silence_begin_a_new_thread(world: World) -> None:
    world.session("a", 0, "What limits the avatar size?", "And for banners?", step=5)
    world.session("b", 45, "Oh, and what is it for icons?")
    assert world.assign("a") != world.assign("b")
    assert world.how("b") == "new"
    assert world.all("SELECT state FROM threads ORDER BY id") == [("closed",), ("open",)]


@pytest.mark.parametrize("minutes", [1, 29.9, 30])
def test_within_the_timeout_the_thread_goes_on_in_another_client(world: World, minutes: float) -> None:
    world.session("a", 0, "What limits the avatar size?")
    world.session("b", minutes, "Now the banners", client="codex")
    assert world.assign("a") == world.assign("b")
    assert world.how("b") == "timeout"
    thread = read.thread(world.db, world.assign("b"))
    assert (thread.clients, thread.turn_count, thread.explicit) == (("claude", "codex"), 2, False)


def test_just_over_the_timeout_is_over(world: World) -> None:
    world.session("a", 0, "What limits the avatar size?")
    world.session("b", 30.01, "Now the banners")
    assert world.assign("a") != world.assign("b")


def test_the_silence_counts_from_the_last_thing_that_happened(world: World) -> None:
    world.session("a", 0, "Run the long benchmark")
    world.do("a", 40, "command", "make bench")
    world.session("b", 60, "What came of it?")
    assert world.assign("a") == world.assign("b")


def test_an_open_session_goes_on_whatever_the_silence(world: World) -> None:
    world.session("a", 0, "Start")
    first = world.assign("a")
    world.session("b", 100, "Something else")
    other = world.assign("b")
    world.say("a", 500, "Back here")
    assert world.assign("a") == first != other


def test_a_resumed_or_forked_session_continues_its_parents_thread(world: World) -> None:
    world.session("a", 0, "Start")
    world.session("other", 5000, "Other work")
    world.session("b", 5001, "Go on", parent_id="a", source="resume")
    world.session("c", 9000, "Try another way", parent_id="b", source="fork")
    first = world.assign("a")
    world.assign("other")
    assert world.assign("b") == world.assign("c") == first
    assert world.how("b") == "resume"
    assert read.thread(world.db, first).explicit


def test_clear_is_no_resume(world: World) -> None:
    world.session("a", 0, "Start")
    world.session("b", 300, "Fresh", parent_id="a", source="clear")
    assert world.assign("a") != world.assign("b")


def test_a_chosen_thread_is_continued_once(world: World) -> None:
    world.session("a", 0, "The parser")
    first = world.assign("a")
    steering.continue_next(world.db, first, world.at(100))
    world.session("b", 200, "Go on with the parser", client="codex")
    world.session("c", 900, "Else")
    assert world.assign("b") == first
    assert world.how("b") == "chosen"
    assert read.thread(world.db, first).explicit
    assert world.assign("c") != first
    assert store.chosen(world.db, world.project()) is None


def test_a_choice_is_for_the_next_session_of_its_project(world: World) -> None:
    world.session("a", 0, "The parser")
    first = world.assign("a")
    steering.continue_next(world.db, first, world.at(100))
    world.session("elsewhere", 101, "Hello", project="borealis")
    world.session("imported", 50, "Older than the choice")
    world.session("late", 100 + 13 * 60, "The choice has lapsed")
    assert first not in {world.assign("elsewhere"), world.assign("imported"), world.assign("late")}


def test_a_new_thread_can_be_chosen(world: World) -> None:
    world.session("a", 0, "The parser")
    first = world.assign("a")
    steering.start_next(world.db, world.project(), world.at(1))
    world.session("b", 2, "Something else")
    assert world.assign("b") != first


def test_a_session_can_be_moved_and_moved_back(world: World) -> None:
    world.session("a", 0, "The parser")
    world.session("b", 500, "More parser")
    first, second = world.assign("a"), world.assign("b")
    assert steering.move(world.db, "b", first, world.at(600)) == first
    assert world.assign("b") == first
    assert (world.how("b"), read.thread(world.db, first).turn_count) == ("chosen", 2)
    target, before = world.all("SELECT target, before FROM corrections")[0]
    steering.undo(world.db, target, json.loads(before))
    assert world.assign("b") == second
    assert read.thread(world.db, first).turn_count == 1


def test_what_cannot_be_chosen_is_one_line(world: World) -> None:
    world.session("a", 0, "The parser")
    world.session("b", 0, "Else", project="borealis")
    world.assign("b")
    for call in (
        lambda: steering.continue_next(world.db, 99, 0),
        lambda: steering.move(world.db, "nobody", 1, 0),
        lambda: steering.move(world.db, "a", 99, 0),
        lambda: steering.move(world.db, "a", world.thread("b"), 0),
        lambda: steering.timeout(world.db, 99, 5),
        lambda: steering.timeout(world.db, world.thread("b"), -1),
    ):
        with pytest.raises(NmemError):
            call()


def test_different_feature_branches_are_different_work(world: World) -> None:
    world.session("a", 0, "Start", branch="feature/x")
    world.session("b", 1, "Start", branch="feature/y")
    world.session("c", 2, "Go on", branch="feature/x")
    world.session("d", 3, "Merge it", branch="main")
    a, b, c, d = (world.assign(each) for each in "abcd")
    assert (a == c, a == b) == (True, False)
    assert d == c


def test_timeouts_by_client_and_by_thread(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[threads]\ntimeout_minutes = 10\n[threads.clients]\ncodex = 60\n", encoding="utf-8")
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    world.session("a", 0, "Round the coupons down")
    first = world.assign("a")
    world.session("b", 20, "Round the coupons half up")
    second = world.assign("b")
    assert second != first
    world.session("c", 70, "continue", client="codex")
    assert world.assign("c") == second
    steering.timeout(world.db, second, 500)
    world.session("d", 500, "continue")
    assert world.assign("d") == second
    assert read.thread(world.db, second).timeout_minutes == 500


@pytest.mark.parametrize("text", ["[threads]\ntimeout_minutes = 'x'", "threads = 3", "[threads]\nmethod = 'best'",
                                  "[threads.clients]\ncodex = -1", "not toml", "[threads]\nclients = 3"])  # fmt: skip
def test_a_broken_config_keeps_the_defaults_and_says_so(
    text: str, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = own_home / "config.toml"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    for _ in range(2):  # parsed, then from the cache
        found = config.load()
        assert (found.timeout("codex"), found.method) == (30, "fitted")
        assert found.problems


def test_a_changed_config_is_read_again(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = own_home / "config.toml"
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    for minutes in (5, 45):
        file.write_text(f"[threads]\ntimeout_minutes = {minutes}\nmethod = 'seed'{' ' * minutes}", encoding="utf-8")
        assert (config.load().timeout("claude"), config.load().method) == (minutes, "seed")


def test_metadata_is_stored(world: World) -> None:
    world.session("a", 0, "Raise the avatar limit\nto 8 MB", "and the banner", "ok", step=4)
    world.say("a", 2, "/status", kind="command")
    world.say("a", 3, "done", kind="notification", source="machine")
    thread_id = world.assign("a")
    prompts = [row[0] for row in world.all("SELECT id FROM prompts WHERE kind = 'prompt' ORDER BY at")]
    small = world.unit("a", prompts[0])
    large = world.unit("a", *prompts[1:])
    assert small != large
    world.assign("a")
    thread = read.thread(world.db, thread_id)
    assert thread is not None
    assert (thread.title, thread.turn_count, thread.created_at, thread.last_at) == (
        "Raise the avatar limit to 8 MB", 3, world.at(0), world.at(8),
    )  # fmt: skip
    assert (thread.clients, thread.timeout_minutes, thread.primary_unit_id) == (("claude",), 30, large)
    assert (thread.cross_thread_episodes, thread.summary) == ((), thread.title)


def test_nobody_has_spoken(world: World) -> None:
    world.session("a", 0)
    world.do("a", 0, "session_start", "startup")
    world.say("a", 1, "notice", kind="notification", source="machine")
    assert world.assign("a") is None
    assert world.assign("unheard of") is None
    assert world.all("SELECT count(*) FROM threads") == [(0,)]


def test_proposed_writes_nothing(world: World) -> None:
    world.session("a", 0, "Start")
    first = world.assign("a")
    world.session("b", 10)
    assert continuity.proposed(world.db, "b", world.at(12)) == (first, "timeout")
    assert continuity.proposed(world.db, "b", world.at(60)) == (None, "new")
    assert continuity.proposed(world.db, "none", 0) == (None, "new")
    assert world.thread("b") is None


def test_joins_the_callers_transaction(world: World) -> None:
    world.session("a", 0, "Start")
    world.db.execute("BEGIN IMMEDIATE")
    assert world.assign("a") is not None
    world.db.execute("ROLLBACK")
    assert world.thread("a") is None


def test_episodes_found_before_the_thread_get_it(world: World) -> None:
    world.session("a", 0)
    unit = world.unit("a", world.say("a", 1, "Start"))
    thread = world.assign("a")
    assert world.all("SELECT thread_id FROM work_units WHERE id = ?", unit) == [(thread,)]


_EVENTS = st.lists(
    st.tuples(st.integers(0, 200), st.sampled_from(["claude", "codex"]), st.sampled_from(["", "main", "x", "y"])),
    min_size=1, max_size=8,
).map(lambda rows: [(f"s{number}", *row) for number, row in enumerate(rows)])  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(_EVENTS, st.randoms(use_true_random=False))
def test_history_gives_the_same_threads_in_whatever_order_it_was_written(
    replay: Any, events: list[tuple[str, int, str, str]], random: Any
) -> None:
    order = list(range(len(events)))
    straight = replay(events, order, batch=True)
    random.shuffle(order)
    assert replay(events, order, batch=True) == straight
    live = sorted(order, key=lambda number: (events[number][1], events[number][0]))
    assert replay(events, live, batch=False) == straight


@settings(max_examples=25, deadline=None)
@given(_EVENTS)
def test_assigning_again_changes_nothing(replay: Any, events: list[tuple[str, int, str, str]]) -> None:
    order = list(range(len(events)))
    assert replay(events, order, batch=True, times=3) == replay(events, order, batch=True)


def test_a_hook_that_assigns_loads_nothing_heavy(world: World, db_path: str) -> None:
    world.session("a", 0, "Start with the coupons of the cart")
    world.session("b", 10, "Coupons that are empty break the cart")
    world.assign("a")
    root = str(Path(continuity.__file__).parents[2])
    code = (
        f"import sys; sys.path.insert(0, {root!r})\n"
        "from capture.storage import store\nfrom nmem.threads import continuity\n"
        f"db = store.connect({db_path!r})\nassert continuity.assign(db, 'b', 0)\n"
        f"print(*sorted(set({HOOK_PATH!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_storage_closes_idle_threads_by_their_own_timeout(world: World) -> None:
    world.session("a", 0, "Start")
    world.session("b", 100, "Else")
    first, second = world.assign("a"), world.assign("b")
    store.set_timeout(world.db, second, 1000)
    assert store.close_idle(world.db, 30, world.at(200)) == 0  # the first ended when the second began
    assert store.close_idle(world.db, 30, world.at(1200)) == 1
    assert world.all("SELECT id FROM threads WHERE state = 'closed' ORDER BY id") == [(first,), (second,)]


def test_an_ended_thread_opens_only_when_something_happens(world: World) -> None:
    world.session("a", 0, "Start")
    thread = world.assign("a")
    store.close(world.db, thread)
    world.assign("a")
    assert read.thread(world.db, thread).state == "closed"
    world.say("a", 90, "Back")
    world.assign("a")
    assert read.thread(world.db, thread).state == "open"
