"""Reading and summing up beside hooks and others who do the same: nobody waits, nothing is lost, nothing is guessed."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from typing import Any

import pytest

from capture.storage import store as base
from nmem.learn import find, findings_store, kinds, lifecycle, read, refresh, warnings
from nmem.learn.learning import OPEN, RESOLVED
from nmem.learn.refresh import forget
from nmem.learn.rows import Row

History = Any
NO_BUN = "error: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS]"
DAY = 86_400_000
HOUR = 3_600_000


def _rtk(history: History, *names: str) -> None:
    for name in names:
        history.begin(name).fails("rtk bun run test", NO_BUN).runs("bun run test")


def _path(history: History) -> str:
    return str(history.db.execute("PRAGMA database_list").fetchone()[2])


class Hook:
    """A second writer that takes the lock at once or fails."""

    def __init__(self, history: History) -> None:
        self._db = sqlite3.connect(_path(history), timeout=0, isolation_level=None)

    def write(self, *statements: str) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        for statement in statements:
            self._db.execute(statement)
        self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()


def test_a_hook_writes_while_sessions_and_projects_are_thought_about(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    _rtk(history, "a", "b", "c")
    found, summed, written = find.findings, kinds.patterns, []
    with closing(Hook(history)) as hook:

        def beside(*given: Any) -> Any:
            hook.write("INSERT OR REPLACE INTO counters VALUES ('errors', 1)")
            written.append(given)
            return (found if len(given) == 2 else summed)(*given)

        monkeypatch.setattr(find, "findings", beside)
        monkeypatch.setattr(kinds, "patterns", beside)
        refresh.refresh(history.db, history.at)
    assert len(written) == 4


def test_a_session_that_goes_on_while_it_is_read_is_read_again(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    _rtk(history, "a", "b", "c")
    real = find.findings
    with closing(Hook(history)) as hook, monkeypatch.context() as patched:

        def beside(rows: Any, stopped: Any) -> Any:
            hook.write("UPDATE sessions SET seq = seq + 1 WHERE id = 'b'")
            return real(rows, stopped)

        patched.setattr(find, "findings", beside)
        done = refresh.refresh(history.db, history.at)
    assert (done.sessions, done.left) == (2, 1)
    assert [session for session, _ in findings_store.stale(history.db)] == ["b"]
    assert [one.sessions for one in history.learn()] == [3]


def test_who_sums_up_what_others_have_read_meanwhile_does_it_again(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        history.begin(name).fails("rtk bun run test", NO_BUN)
    history.learn()
    history.begin("q").runs("ls")
    real = kinds.patterns

    def beside(project: Any) -> Any:
        out = real(project)
        monkeypatch.setattr(kinds, "patterns", real)
        with closing(base.connect(_path(history))) as other:
            history.begin("c").fails("rtk bun run test", NO_BUN)
            refresh.refresh(other, history.at)
        return out

    monkeypatch.setattr(kinds, "patterns", beside)
    refresh.refresh(history.db, history.at)
    assert [one.sessions for one in read.learnings(history.db, history.at)] == [3]


def test_it_gives_up_where_others_read_all_the_time_and_leaves_it_to_the_next(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    _rtk(history, "a", "b", "c")
    real, times = kinds.patterns, []
    with closing(Hook(history)) as hook, monkeypatch.context() as patched:

        def beside(project: Any) -> Any:
            hook.write("UPDATE learned_projects SET reading = reading + 1")
            times.append(1)
            return real(project)

        patched.setattr(kinds, "patterns", beside)
        assert refresh.refresh(history.db, history.at).projects == 0
    assert 1 < len(times) < 10
    assert len(history.learn()) == 1


def test_a_long_session_takes_time_in_proportion() -> None:
    def cost(number: int) -> float:
        letters = "abcdefghijklmnopqrstuvwxyz"
        names = [f"{letters[at % 26]}{letters[at // 26 % 26]}{letters[at // 676]}x" for at in range(number)]
        rows = [
            Row(at, at * 1000, at, 1, "command", "Bash", "", f"make {name}", "failed" if at % 2 else "ok",
                f"ModuleNotFoundError: No module named '{name}'")
            for at, name in enumerate(names)
        ]  # fmt: skip
        for row in rows:
            assert row.normal
        begun = time.process_time()
        assert find.findings(rows)
        return time.process_time() - begun

    # a square would take 36 times as long
    assert min(cost(6000) for _ in range(2)) < 18 * min(cost(1000) for _ in range(3))


@pytest.mark.parametrize("times", [4, 9])
def test_the_deadline_is_asked_within_a_session(history: History, times: int) -> None:
    """While its commands are read, and while it is thought about: each looks at 300 observations, 64 at a time."""
    history.begin("long")
    for _ in range(300):
        history.fails("rtk bun run test", NO_BUN)
    asked = iter([False] * times + [True] * 50)
    done = refresh.refresh(history.db, history.at, stopped=lambda: next(asked))
    assert (done.sessions, done.left) == (0, 1)
    assert [session for session, _ in findings_store.stale(history.db)] == ["long"]


def test_a_forgotten_observation_changes_nothing_from_then_on(history: History) -> None:
    _rtk(history, "a", "b", "c")
    history.learn()
    history.db.execute("DELETE FROM observations WHERE id = (SELECT max(observation_id) FROM learning_evidence)")
    history.db.execute("DELETE FROM observations WHERE session_id = 'a'")
    ids = history.db.execute("SELECT id FROM learning_evidence ORDER BY id").fetchall()
    for _ in range(2):
        history.quiet(1)
        assert refresh.refresh(history.db, history.at).learnings == 0
    assert history.db.execute("SELECT id FROM learning_evidence ORDER BY id").fetchall() == ids


def test_other_rules_leave_what_was_read_of_sessions_that_are_forgotten(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    _rtk(history, "a", "b", "c")
    history.learn()
    history.db.execute("DELETE FROM observations WHERE session_id = 'a'")
    monkeypatch.setattr(findings_store, "VERSION", "another")
    assert [one.sessions for one in history.learn()] == [3]
    assert findings_store.stale(history.db) == []


def test_a_transcript_that_puts_outcomes_right_is_seen(history: History) -> None:
    _rtk(history, "a", "b")
    history.begin("c").runs("rtk bun run test", "unknown").runs("bun run test")
    refresh.refresh(history.db, history.at)
    before = [one.sessions for one in history.learn()]
    history.db.execute(
        "UPDATE observations SET outcome = 'failed', metadata = json_object('response', ?)"
        " WHERE session_id = 'c' AND outcome = 'unknown'",
        (NO_BUN,),
    )
    history.db.execute("INSERT INTO transcript_cursors VALUES ('live:/c.jsonl', 'c', 100, '', NULL, 1)")
    assert refresh.refresh(history.db, history.at).sessions == 1
    assert (before, [one.sessions for one in history.learn()]) == ([2], [3])
    assert refresh.refresh(history.db, history.at).sessions == 0


def test_episodes_that_come_later_are_summed_up_without_a_new_observation(history: History) -> None:
    long = f"deploy the basket service to the staging cluster\n{'the log says so ' * 60}"
    for name in "abc":
        history.begin(name).user(long)
    assert history.learn() == []  # too long to be a request in passing: its episode tells it
    for name in "abc":
        prompt, at = history.db.execute("SELECT max(id), max(at) FROM prompts WHERE session_id = ?", (name,)).fetchone()
        history.db.execute(
            "INSERT INTO work_units (session_id, first_prompt_id, last_prompt_id, started_at, last_at, intent)"
            " VALUES (?, ?, ?, ?, ?, 'deploy the basket service to the staging cluster')",
            (name, prompt, prompt, at, at),
        )
    assert [one.kind for one in history.learn()] == ["repeated_intent"]
    changes = history.db.total_changes
    assert refresh.refresh(history.db, history.at).projects == 0
    assert history.db.total_changes == changes


def _unit(history: History, intent: str, state: str = "open") -> int:
    history.user(intent)
    return int(history.db.execute(
        "INSERT INTO work_units (session_id, first_prompt_id, last_prompt_id, started_at, last_at, intent, state)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (history.session, history.prompt, history.prompt, history.at, history.at, intent, state),
    ).lastrowid)  # fmt: skip


def test_an_episode_is_warned_when_it_opens(history: History) -> None:
    _rtk(history, "a", "b", "c")
    history.learn()
    history.begin("d", days=0.1)
    refresh.refresh(history.db, history.at)
    unit = _unit(history, "run `bun run test` after the change")
    closed = _unit(history, "run `bun run test` once more", "closed")
    assert read.warned(history.db, unit, history.at) == ()
    assert [one.reason for one in warnings.of_unit(history.db, unit, history.at)] == ["is to run `bun run test`"]
    assert warnings.of_unit(history.db, closed, history.at) == ()
    refresh.refresh(history.db, history.at)
    assert len(read.warned(history.db, unit, history.at)) == 1
    history.db.execute("UPDATE work_units SET intent = 'write the docs' WHERE id = ?", (unit,))
    refresh.refresh(history.db, history.at)
    assert read.warned(history.db, unit, history.at) == ()


def test_a_snooze_that_is_over_lets_a_learning_resolve(history: History) -> None:
    _rtk(history, "a", "b", "c")
    (one,) = history.learn()
    lifecycle.snooze(history.db, one.id, history.at + 9 * DAY, history.at)
    history.quiet(8)
    assert [each.state for each in history.learn()] == ["snoozed"]
    history.quiet(8)
    assert [(each.state, each.state_by) for each in history.learn()] == [(RESOLVED, "evidence")]
    _rtk(history, "d")
    assert [(each.id, each.state) for each in history.learn()] == [(one.id, OPEN)]


def test_one_session_less_is_weak_and_warns_of_nothing(history: History) -> None:
    def listed(*states: str) -> list[str]:
        return [one.title for one in read.learnings(history.db, history.at, states=states)]

    for name in "ab":
        history.begin(name).fails("make seed", "ModuleNotFoundError: No module named 'yaml'")
    refresh.refresh(history.db, history.at)
    assert listed(OPEN) == []
    (title,) = listed("weak")
    assert warnings.warm_learnings(history.db, 1, history.at) == ()
    (number,) = history.db.execute("SELECT id FROM learnings").fetchone()
    history.begin("c").fails("make seed", "ModuleNotFoundError: No module named 'yaml'")
    refresh.refresh(history.db, history.at)
    assert (listed(OPEN), listed("weak")) == ([title], [])
    assert history.db.execute("SELECT id FROM learnings").fetchall() == [(number,)]


def test_a_weak_one_makes_no_stuck_loop_of_what_is_asked_again(history: History) -> None:
    for name in "abc":
        history.begin(name)
        _unit(history, "deploy the basket service to the staging cluster")
        if name != "c":
            history.fails("make seed", "ModuleNotFoundError: No module named 'yaml'")
    assert [one.kind for one in history.learn()] == ["repeated_intent"]


SECRET = "hunter2hunter2"


def _secret(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("make seed", f'psql: error: FATAL: role "{SECRET}" does not exist').edit("seed.py")
        history.runs("make seed")
    history.begin("d").fails("make deploy", "ModuleNotFoundError: No module named 'yaml'")


def _left(history: History) -> bool:
    names = ("learnings", "learning_evidence", "learning_findings", "corrections", "unit_warnings")
    return any(SECRET in str(row) for name in names for row in history.db.execute(f"SELECT * FROM {name}").fetchall())


@pytest.mark.parametrize("word", ["", "dismiss", "snooze"])
def test_a_purge_takes_along_what_was_learned_of_it(history: History, word: str) -> None:
    _secret(history)
    history.learn()
    assert _left(history)
    for one in read.learnings(history.db, history.at):
        if word:
            getattr(lifecycle, word)(history.db, one.id, *[history.at + DAY] * (word == "snooze"), history.at)
    with base.transaction(history.db):
        assert forget(history.db, ["a", "b", "c"]) >= 1
        history.db.execute("DELETE FROM observations WHERE session_id IN ('a', 'b', 'c') AND outcome = 'failed'")
    assert not _left(history)
    refresh.refresh(history.db, history.at)
    assert not _left(history)
    states = {state for (state,) in history.db.execute("SELECT state FROM learnings")}
    assert states == ({f"{word.removesuffix('e')}ed"} if word else set())


def test_a_purge_of_one_session_leaves_what_the_others_bear_out(history: History) -> None:
    _rtk(history, "a", "b", "c", "d")
    history.learn()
    with base.transaction(history.db):
        history.db.execute("DELETE FROM observations WHERE session_id = 'd'")
        forget(history.db, ["d"])
    assert [(one.sessions, one.state) for one in history.learn()] == [(3, OPEN)]
    assert history.db.execute("SELECT count(*) FROM learning_findings WHERE session_id = 'd'").fetchone() == (0,)


def test_two_threads_that_refresh_come_to_the_same(history: History) -> None:
    _rtk(history, *"abcdef")
    done: list[refresh.Refreshed] = []
    path, at = _path(history), history.at

    def work() -> None:
        done.append(refresh.fresh(path, at))

    both = [threading.Thread(target=work) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(done) == 2
    assert [one.sessions for one in history.learn()] == [6]
    assert findings_store.stale(history.db) == []
