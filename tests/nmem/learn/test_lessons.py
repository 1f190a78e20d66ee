"""Whether lessons hold: counts on histories whose counts are known, and the table of `nmem learn report`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copy
from sqlite3 import Connection
from typing import Any

import pytest
from click.testing import CliRunner

from capture.storage import store
from nmem import tables
from nmem.commands import terminal
from nmem.commands.main import nmem
from nmem.intervals import wilson
from nmem.learn import lessons, read, refresh, worded
from nmem.learn.lessons import Count, Lesson
from nmem.read import lessons as reading

History = Any
MISSING = 'npm error Missing script: "test"'
UNREAD = "File has not been read yet. Read it first before writing to it."


def _report(history: History, **asked: Any) -> lessons.Report:
    refresh.refresh(history.db, history.at)
    return reading.report(history.db, history.at, **asked)


def _of(history: History, kind: str, **asked: Any) -> Lesson:
    (one,) = [one for one in _report(history, **asked).lessons if one.label == kind]
    return one


def _accept(history: History, learning: str, at: int, rule: str = "a rule") -> None:
    history.db.execute(
        "UPDATE learnings SET state = 'accepted', state_by = 'person', state_at = ?, rule = ? WHERE id = ?",
        (at, rule, int(learning.partition("/")[2])),
    )


def _told(history: History, item: str, *, held_out: bool = False, at: int = 0) -> None:
    """The session that goes on now is told a learning, or would have been."""
    made = history.db.execute(
        "INSERT INTO injections (at, session_id, event, client, text, tokens, withheld)"
        " VALUES (?, ?, 'startup', 'claude', 'a text', 3, ?)",
        (at or history.at, history.session, held_out),
    ).lastrowid
    history.db.execute(
        "INSERT INTO injection_items (injection_id, position, item, kind, score, reason, text, tokens)"
        " VALUES (?, 0, ?, 'learning', 1, 'known', 'a text', 3)",
        (made, item),
    )


def _failing(history: History) -> None:
    """Three sessions in which `npm test` fails and `pnpm test` goes well instead."""
    for name in "abc":
        history.begin(name).fails("npm test", MISSING).runs("pnpm test")


def test_a_failing_command_is_broken_where_it_fails_and_kept_where_the_other_way_is_gone(history: History) -> None:
    _failing(history)
    history.begin("d").runs("pnpm test")
    history.begin("e").runs("npm test")
    history.begin("f").runs("make")
    history.begin("g").runs("npm test", "unknown")
    one = _of(history, "failing command")
    assert one.counts() == Count(kept=2, broken=3, unknown=1)
    assert one.counts(after=False) == one.counts()
    assert (one.since, one.blind, one.why) == (0, False, "")


def test_before_and_after_acceptance_by_the_beginning_of_sessions(history: History) -> None:
    _failing(history)
    history.begin("d").runs("pnpm test")
    known = _of(history, "failing command")
    accepted = history.at + 1
    history.begin("e").runs("pnpm test")
    history.begin("f").fails("npm test", MISSING)
    history.begin("g").runs("npm test")
    refresh.refresh(history.db, history.at)
    _accept(history, known.id, accepted)
    one = _of(history, "failing command")
    assert one.counts(after=False) == Count(kept=1, broken=3)
    assert one.counts(after=True) == Count(kept=2, broken=1)
    assert one.title == "a rule"


def test_told_and_held_out_count_what_came_after_the_telling(history: History) -> None:
    _failing(history)
    item = _of(history, "failing command").id
    history.begin("held and broken")
    _told(history, item, held_out=True)
    history.fails("npm test", MISSING)
    history.begin("held and kept")
    _told(history, item, held_out=True)
    history.runs("pnpm test")
    history.begin("told and kept")
    _told(history, item)
    history.runs("pnpm test")
    history.begin("told after it failed, then gone right").fails("npm test", MISSING)
    _told(history, item)
    history.runs("pnpm test")
    history.begin("told after it failed, and nothing since").fails("npm test", MISSING)
    _told(history, item)
    found = _report(history)
    (one,) = [one for one in found.lessons if one.id == item]
    assert one.exposures(held_out=True) == Count(kept=1, broken=1)
    assert one.exposures(held_out=False) == Count(kept=2)
    assert (found.held_out.sessions, found.held_out.mistakes) == (2, 1)
    assert (found.told.sessions, found.told.mistakes) == (3, 2)


def test_only_what_was_known_is_a_repeated_mistake(history: History) -> None:
    _failing(history)
    history.quiet(7)
    found = _report(history)
    assert (found.every.sessions, found.every.mistakes) == (10, 2), "the first time nobody could know"
    assert found.every.per_hundred == 20.0
    assert 0 <= found.every.low < 20.0 < found.every.high <= 60.0


def test_a_session_told_before_any_was_held_out_is_in_no_group(history: History) -> None:
    _failing(history)
    item = _of(history, "failing command").id
    history.begin("early")
    _told(history, item)
    history.runs("ls")
    history.begin("held")
    _told(history, item, held_out=True)
    history.runs("ls")
    found = _report(history)
    assert (found.told.sessions, found.held_out.sessions, found.told_before) == (0, 1, 1)


def test_since_counts_only_sessions_begun_by_then(history: History) -> None:
    _failing(history)
    since = history.at + 1
    history.begin("d").runs("pnpm test")
    assert _of(history, "failing command", since=since).counts() == Count(kept=1)


def test_an_error_of_a_tool_is_kept_where_the_tool_was_used_without_it(history: History) -> None:
    for name in "abc":
        history.begin(name).edit_fails("/src/a.py", UNREAD)
    history.begin("d").edit("/src/a.py")
    history.begin("e").read("/src/a.py")
    one = _of(history, "recurring error")
    assert one.counts() == Count(kept=1, broken=3)


def test_what_has_no_situation_of_its_own_is_never_called_kept(history: History) -> None:
    for name in "abc":
        history.begin(name).fails("cd src", "bash: line 1: cd: src: No such file or directory")
    history.begin("d").runs("cd /src && make")
    one = _of(history, "recurring error")
    assert (one.blind, one.counts()) == (True, Count(broken=3))
    assert _report(history).known == Count()


def test_a_rule_that_was_said_is_broken_where_the_command_occurs(history: History) -> None:
    history.begin("before").runs("npm install left-pad")
    history.begin("said").user("always use pnpm instead of npm").runs("make")
    history.begin("kept").runs("pnpm install")
    history.begin("broken").runs("cd web && npm ci")
    history.begin("spoken of").runs("grep npm README.md")
    one = _of(history, "your rule")
    assert one.counts(after=False) == Count(broken=1)
    assert one.counts(after=True) == Count(kept=1, broken=1)


def test_a_rule_of_an_order_is_broken_where_the_first_step_is_missing(history: History) -> None:
    history.begin("said").user("Never commit without running make lint").runs("make")
    history.begin("kept").runs("make lint").runs("git commit -m one")
    history.begin("in one line").runs("make lint && git commit -m two")
    history.begin("broken").runs("git commit -m three").runs("make lint")
    history.begin("lint failed").fails("make lint").runs("git commit -m four")
    assert _of(history, "your rule").counts(after=True) == Count(kept=2, broken=2)


@pytest.mark.parametrize(
    ("said", "why"),
    [("Do not add comments to code that is plain", reading.NO_COMMAND), ("Never use mocks in a test", reading.UNHEARD)],
)
def test_of_a_rule_that_records_cannot_bear_out_nothing_is_guessed(history: History, said: str, why: str) -> None:
    history.begin("said").user(said).runs("make")
    one = _of(history, "your rule")
    assert (one.why, one.seen) == (why, {})


def test_what_a_person_refused_was_not_run(history: History) -> None:
    history.begin("said").user("Never run npm publish").runs("npm publish")
    history.db.execute("UPDATE observations SET metadata = '{\"refused\": true}'")
    history.begin("broken").runs("npm publish --tag next")
    one = _of(history, "your rule")
    assert (one.counts(), one.blind) == (Count(broken=1), True)


def test_a_written_decision_applied_where_it_was_offered(history: History) -> None:
    history.begin("a").runs("make")
    history.db.execute(
        "INSERT INTO recall_calls (at, project_id, session_id, place, origin, entry, file, outcome)"
        " VALUES (?, 1, 'a', '/src/shop/docs', 'hook', '/when adding a table', 'a.md', 'offered')",
        (history.at,),
    )
    one = _of(history, "written decision")
    assert (one.id, one.counts().applied, one.why) == ("recall/when adding a table", 1, reading.IN_WORDS)


def test_rules_are_read_for_the_command_that_they_name() -> None:
    def told(rule: str) -> tuple[tuple[str, ...], ...] | None:
        found = worded.of(rule)
        return (found.bad, found.good, found.due, found.first) if found else None

    none: tuple[str, ...] = ()
    assert told("Never use `git push --force`") == (("git", "push", "--force"), none, none, none)
    assert told("Prefer rg over grep") == (("grep",), ("rg",), none, none)
    assert told("Use apple container instead of docker proper") == (("docker",), ("apple", "container"), none, none)
    assert told("Always run make lint before committing") == (none, none, ("git", "commit"), ("make", "lint"))
    assert told("Do not wrap long lines in the markdown") is None
    assert told("Do not run the test suite every time") is None


def test_a_rule_holds_to_whole_commands_and_their_options() -> None:
    assert worded.ran(("git", "push", "--force"), "cd x && git push origin main --force")
    assert not worded.ran(("git", "push", "--force"), "git push origin main")
    assert not worded.ran(("npm",), "echo npm; pnpm test")
    assert worded.situation(("git", "push", "--force")) == ("git", "push")


def test_rates_tell_how_far_chance_may_be_off() -> None:
    none = lessons.rate([0] * 30)
    assert none.per_hundred == 0.0
    assert none.high == pytest.approx(100 * wilson(0, 30)[1])
    one = lessons.rate([1] * 10 + [0] * 30)
    assert one == lessons.rate([1] * 10 + [0] * 30)
    assert one.low < 25.0 < one.high
    assert lessons.rate([]).per_hundred is None


@pytest.fixture
def accepted(history: History, monkeypatch: pytest.MonkeyPatch) -> History:
    """One accepted rule, broken once since, and a rule of which nothing can be told."""
    _failing(history)
    known = _of(history, "failing command")
    moment = history.at + 1
    history.begin("d").runs("pnpm test")
    history.begin("e").fails("npm test", MISSING)
    history.begin("f").user("do not add comments to plain code").runs("make")
    refresh.refresh(history.db, history.at)
    _accept(history, known.id, moment, "Use `pnpm test`")
    monkeypatch.setattr(terminal, "now", lambda: history.at)
    return history


def _run(*words: str) -> str:
    result = CliRunner().invoke(nmem, ["learn", "report", *words])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_the_table_has_a_header_and_totals_with_intervals(accepted: History) -> None:
    heading, *lines = _run("--project", "shop").splitlines()
    assert heading == "# Lessons"
    assert lines[0].startswith("# lesson\tkind\tapplied\tkept\tbroken\tunclear\tbefore\tafter\ttold\theld_out")
    assert lines[1].split("\t")[2:] == ["5", "1", "4", "0", "3/3", "1/2", "-", "-", "accepted", "Use `pnpm test`"]
    assert lines[2].split("\t")[-2:] == ["cannot be told (names no command)", "Do not add comments to plain code"]
    low, high = wilson(4, 5)
    assert lines[3] == (
        "total: applied 5, kept 1, broken 4, unclear 0;"
        f" where both can be told, broken 80% ({low:.0%} to {high:.0%}, Wilson)"
    )
    assert lines[4].startswith("repeated mistakes per 100 sessions: 50.0 (")
    assert "bootstrap) in 6 sessions; told: no session; held out: no session" in lines[4]
    assert "context.holdout" in lines[5]


@pytest.mark.parametrize("cells", [60, 80, 100])
def test_the_table_fits_into_a_narrow_terminal(accepted: History, monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(cells))
    head, first, second, *_ = _run("--project", "shop").splitlines()
    assert head.startswith("lesson") and "broken" in head and "title" in head
    assert "accepted: Use" in first and max(map(len, (head, first, second))) <= cells


def test_the_same_as_json(accepted: History) -> None:
    told = json.loads(_run("--project", "shop", "--json"))
    first = told["lessons"][0]
    assert first["before"] == {"applied": 3, "kept": 0, "broken": 3, "unclear": 0}
    assert first["after"] == {"applied": 2, "kept": 1, "broken": 1, "unclear": 0}
    assert told["lessons"][1]["kept"] is None
    assert told["repeated_per_hundred_sessions"]["all"]["mistakes"] == 3
    assert _run("--project", "shop", "--since", "1h", "--json") != _run("--project", "shop", "--json")


@pytest.fixture
def real(shared: Path, tmp_path: Path) -> Iterator[Connection]:
    """A real history as it was recorded, in a copy."""
    source = shared.parent / "ev/s12/n.db"
    if not source.is_file():
        pytest.skip("the recorded history is not there")
    path = tmp_path / "n.db"
    copy(source, path)
    with closing(store.connect(str(path))) as db:
        tables.ensure(db)
        yield db


def test_a_real_history_adds_up(real: Connection) -> None:
    now = real.execute("SELECT max(last_at) FROM sessions").fetchone()[0]
    found = reading.report(real, now)
    assert found.every.sessions > 300
    for one in found.lessons:
        count = one.counts()
        number = int(one.id.partition("/")[2])
        met = {row[0] for row in real.execute(
            "SELECT session_id FROM learning_evidence WHERE learning_id = ? AND role = 'occurrence'", (number,)
        )}  # fmt: skip
        assert {session for session, seen in one.seen.items() if seen.broke} <= met
        assert count.applied == len([seen for seen in one.seen.values() if seen.outcome()])
        if not one.why:
            assert count.broken, f"{one.id} was learned from what failed"
    known = read.learning(real, int(found.lessons[0].id.partition("/")[2]), now)
    assert known
    assert reading.of(real, known).counts() == found.lessons[0].counts()


def test_where_nothing_was_learned_there_is_nothing_to_report(history: History) -> None:
    history.quiet(2)
    found = _report(history)
    assert (found.lessons, found.every.mistakes, found.total) == ((), 0, Count())
