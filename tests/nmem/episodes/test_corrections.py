"""What a person changes about episodes: it stands, outlives detection, and can be taken back row by row."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from sqlite3 import Connection
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capture.storage.schema import migrate
from nmem import tables
from nmem.episodes import corrections, detect, units
from nmem.episodes.boundary import load
from nmem.episodes.undo import made
from nmem.errors import NmemError
from nmem.store import corrections as log
from nmem.undo import history, undo

START = 1_760_000_000_000
MINUTE = 60_000
SAID = (
    ("fix the login redirect that loses the query string", "src/login.py", 0),
    ("yes", "src/login.py", 2),
    ("run the tests again", "src/login.py", 4),
    ("Next problem: I want the invoice export to write CSV with German number formats", "billing/export.py", 95),
    ("use a semicolon", "billing/export.py", 97),
    ("now I want dark mode for the settings page, with a toggle in the header", "ui/settings.tsx", 300),
    ("ok", "ui/settings.tsx", 302),
    ("going back to the login redirect: the fragment is lost as well in src/login.py", "src/login.py", 500),
    ("thanks", "src/login.py", 502),
)
"""What is asked, the file that its turn changes, and when (minutes)."""


def say(db: Connection, session: str, text: str, path: str, minute: int) -> int:
    """A prompt and the edit of its turn."""
    at = START + minute * MINUTE
    prompt = db.execute(
        "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key) VALUES (?, ?, 'user', 'prompt', ?, ?)",
        (session, at, text, f"p{at}"),
    ).lastrowid
    db.execute("UPDATE sessions SET seq = seq + 1, last_at = ? WHERE id = ?", (at + 30_000, session))
    seq = db.execute("SELECT seq FROM sessions WHERE id = ?", (session,)).fetchone()[0]
    db.execute(
        "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, content, file_path, outcome,"
        " dedup_key) VALUES (?, ?, ?, ?, 'file_edit', 'Edit', ?, ?, 'ok', ?)",
        (session, prompt, at + 30_000, seq, f"edit {path}", path, f"o{seq}"),
    )
    db.execute(
        "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
        " VALUES (?, ?, 'agent', 'closing', ?, ?)",
        (session, at + 40_000, f"Changed {path} as asked.", f"c{at}"),
    )
    return int(prompt or 0)


def begin(db: Connection, session: str, project: str = "aurora") -> None:
    db.execute(
        "INSERT OR IGNORE INTO projects (key, name, root, created_at) VALUES (?, ?, ?, ?)",
        (project, project, f"/src/{project}", START),
    )
    db.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, state, started_at, last_at)"
        " VALUES (?, 'claude', (SELECT id FROM projects WHERE key = ?), '/src', 'ended', ?, ?)",
        (session, project, START, START),
    )


def world() -> Connection:
    """One session of nine prompts, detected; and a thread that its first episode leads."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    _first().backup(db)
    db.execute("PRAGMA foreign_keys=ON")
    return db


@cache
def _first() -> Connection:
    """One such world: the others are copies."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db)
    tables.ensure(db)
    begin(db, "s1")
    for text, path, minute in SAID:
        say(db, "s1", text, path, minute)
    db.execute(
        "INSERT INTO threads (id, project_id, title, created_at, last_at) VALUES (1, 1, 'login', ?, ?)", (START, START)
    )
    db.execute("INSERT INTO session_threads VALUES ('s1', 1, 'new')")
    detect.session(db, "s1")
    db.execute("UPDATE threads SET primary_unit_id = (SELECT min(id) FROM work_units)")
    return db


@pytest.fixture
def db() -> Any:
    with closing(world()) as made:
        yield made


def episodes(db: Connection, session: str = "s1") -> dict[int, list[int]]:
    """Episode -> its prompts, counted from 0 in their session."""
    order = [prompt.id for prompt in units.prompts_of_session(db, session)]
    return {
        unit.id: [order.index(prompt.id) for prompt in units.prompts_of(db, unit.id)]
        for unit in units.of_session(db, session)
    }


def prompt(db: Connection, number: int) -> int:
    return units.prompts_of_session(db, "s1")[number].id


def everything(db: Connection) -> dict[str, list[tuple[object, ...]]]:
    """All rows that corrections may touch, whole."""
    names = ("work_units", "unit_prompts", "threads", "session_signatures", "session_threads", "narrations")
    out = {name: db.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in names}
    out["fts"] = db.execute("SELECT rowid, * FROM narratives_fts ORDER BY 1").fetchall()
    return out


def consistent(db: Connection) -> None:
    """What must be true whatever was done."""
    found = units.of_session(db, "s1")
    placed = [prompt for unit in found for prompt in units.prompts_of(db, unit.id)]
    assert len(placed) == db.execute("SELECT count(*) FROM prompts WHERE source = 'user'").fetchone()[0]
    for unit in found:
        prompts = units.prompts_of(db, unit.id)
        assert (unit.first_prompt_id, unit.last_prompt_id) == (prompts[0].id, prompts[-1].id)
        assert unit.turn_count == len(prompts)
        assert unit.obs_count == len(prompts)
        assert unit.resumes is None or units.get(db, unit.resumes).started_at < unit.started_at  # type: ignore[union-attr]
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert sum(unit.state == "open" for unit in found) <= 1


def test_the_session_is_cut_where_one_would(db: Connection) -> None:
    assert list(episodes(db).values()) == [[0, 1, 2], [3, 4], [5, 6], [7, 8]]
    assert units.of_session(db, "s1")[3].resumes == units.of_session(db, "s1")[0].id


def test_split(db: Connection) -> None:
    first = min(episodes(db))
    made = corrections.split(db, first, prompt(db, 1), START)
    assert episodes(db)[first] == [0]
    assert episodes(db)[made] == [1, 2]
    unit = units.get(db, made)
    assert unit is not None
    assert (unit.cut_by, unit.state, unit.obs_count, unit.thread_id) == ("person", "closed", 2, 1)
    consistent(db)


def test_merge_takes_name_and_pin_along(db: Connection) -> None:
    one, two, *_ = episodes(db)
    corrections.rename(db, two, "Invoices", START)
    corrections.pin(db, two, True, START)
    corrections.merge(db, two, one, START)
    unit = units.get(db, one)
    assert unit is not None
    assert (unit.title, unit.pinned, unit.turn_count) == ("Invoices", 1, 5)
    assert units.get(db, two) is None
    consistent(db)


@pytest.mark.parametrize(("one", "two"), [(0, 1), (1, 0), (0, 3), (3, 0), (1, 2)])
def test_a_merge_in_either_direction_outlives_detection(db: Connection, one: int, two: int) -> None:
    ids = list(episodes(db))
    corrections.merge(db, ids[one], ids[two], START)
    before = episodes(db)
    consistent(db)
    detect.session(db, "s1")
    assert episodes(db) == before


@pytest.mark.parametrize(("number", "to"), [(0, 1), (2, 1), (3, 0), (4, 2), (8, 0), (5, 0), (1, 3)])
def test_a_moved_prompt_stays_and_takes_nobody_along(db: Connection, number: int, to: int) -> None:
    ids, expected = list(episodes(db)), {unit: [*held] for unit, held in episodes(db).items()}
    corrections.move(db, prompt(db, number), ids[to], START)
    for held in expected.values():
        if number in held:
            held.remove(number)
    expected[ids[to]] = sorted([*expected[ids[to]], number])
    assert episodes(db) == expected
    consistent(db)
    detect.session(db, "s1")
    assert episodes(db) == expected
    consistent(db)


def test_a_prompt_that_goes_on_does_so_when_the_episode_is_no_longer_cut(db: Connection) -> None:
    one, two, *_ = episodes(db)
    corrections.keep(db, prompt(db, 4), START)
    deaf = load()
    deaf.models["revised"].threshold = 99.0
    detect.session(db, "s1", deaf)
    assert episodes(db) == {one: list(range(9))}
    assert units.get(db, two) is None


def test_what_is_kept_as_a_boundary_stays_one(db: Connection) -> None:
    one, two, *_ = episodes(db)
    corrections.keep(db, prompt(db, 3), START)
    deaf = load()
    deaf.models["revised"].threshold = 99.0
    detect.session(db, "s1", deaf)
    assert episodes(db) == {one: [0, 1, 2], two: [3, 4, 5, 6, 7, 8]}


def test_a_person_says_what_resumes_what(db: Connection) -> None:
    one, two, three, four = episodes(db)
    corrections.unresume(db, four, START)
    corrections.resume(db, three, one, START)
    detect.session(db, "s1")
    assert [unit.resumes for unit in units.of_session(db, "s1")] == [None, None, one, None]
    corrections.merge(db, one, two, START)
    assert units.get(db, three).resumes == two  # type: ignore[union-attr]


def test_a_name_is_cleaned_and_redacted(db: Connection) -> None:
    one = min(episodes(db))
    corrections.rename(db, one, "\x1b[31mLog\u202ein\n with AKIAIOSFODNN7EXAMPLQ " + "x" * 400, START)
    title = units.get(db, one).title or ""  # type: ignore[union-attr]
    assert title.startswith("Login with [REDACTED:")
    assert len(title) == corrections.TITLE
    corrections.rename(db, one, " ", START)
    assert units.get(db, one).title is None  # type: ignore[union-attr]


def test_what_cannot_be_done_is_said_in_one_line_and_changes_nothing(db: Connection) -> None:
    begin(db, "s2")
    begin(db, "s3", "borealis")
    say(db, "s2", "write the changelog", "CHANGELOG.md", 900)
    say(db, "s3", "tune the kiln", "kiln.py", 950)
    detect.sessions(db, ["s2", "s3"])
    one, two, *_ = episodes(db)
    (five,), (six,) = episodes(db, "s2"), episodes(db, "s3")
    refused: list[tuple[str, Callable[[], object]]] = [
        ("no episode 99", lambda: corrections.split(db, 99, prompt(db, 1), 0)),
        ("no episode has a prompt 999", lambda: corrections.split(db, one, 999, 0)),
        (f"is in episode {two}, not in", lambda: corrections.split(db, one, prompt(db, 4), 0)),
        ("nothing to split", lambda: corrections.split(db, one, prompt(db, 0), 0)),
        ("no episode 99", lambda: corrections.merge(db, one, 99, 0)),
        ("with itself", lambda: corrections.merge(db, one, one, 0)),
        ("different sessions", lambda: corrections.merge(db, five, one, 0)),
        ("no name of its own", lambda: corrections.rename(db, one, "", 0)),
        ("began after", lambda: corrections.resume(db, one, two, 0)),
        ("continue itself", lambda: corrections.resume(db, one, one, 0)),
        ("different projects", lambda: corrections.resume(db, six, one, 0)),
        ("does not continue", lambda: corrections.unresume(db, two, 0)),
        ("in episode 1 already", lambda: corrections.move(db, prompt(db, 0), one, 0)),
        ("different sessions", lambda: corrections.move(db, prompt(db, 0), five, 0)),
        ("not pinned", lambda: corrections.pin(db, one, False, 0)),
        ("nothing to undo", lambda: undo(db, 0)),
    ]
    before = everything(db)
    for words, attempt in refused:
        with pytest.raises(NmemError, match=words) as caught:
            attempt()
        assert "\n" not in str(caught.value)
        assert not db.in_transaction
    assert everything(db) == before
    assert db.execute("SELECT count(*) FROM corrections").fetchone()[0] == 0


def test_the_only_prompt_of_an_episode_cannot_be_moved_away(db: Connection) -> None:
    one, two, *_ = episodes(db)
    corrections.move(db, prompt(db, 4), one, START)
    with pytest.raises(NmemError, match=f"nmem episodes merge {two} {one}"):
        corrections.move(db, prompt(db, 3), one, START)


def test_repeating_a_correction_is_refused(db: Connection) -> None:
    one, _two, three, _four = episodes(db)
    corrections.pin(db, one, True, START)
    corrections.rename(db, one, "Login", START)
    corrections.resume(db, three, one, START)
    corrections.keep(db, prompt(db, 1), START)
    repeated: list[Callable[[], None]] = [
        lambda: corrections.pin(db, one, True, START),
        lambda: corrections.rename(db, one, "Login", START),
        lambda: corrections.resume(db, three, one, START),
        lambda: corrections.keep(db, prompt(db, 1), START),
    ]
    for again in repeated:
        with pytest.raises(NmemError, match="already"):
            again()


def test_undo_says_what_it_takes_back(db: Connection) -> None:
    one, two, *_ = episodes(db)
    corrections.rename(db, one, "Login", START)
    corrections.merge(db, two, one, START)
    assert undo(db, START) == f"merge of episode {two} into episode {one}"
    assert undo(db, START) == f"rename of episode {one} to “Login”"
    with pytest.raises(NmemError, match="nothing to undo"):
        undo(db, START)
    assert [(entry.kind, entry.undone_at) for entry in history(db)] == [("merge", START), ("rename", START)]


STEP = st.tuples(
    st.sampled_from(["split", "merge", "rename", "resume", "unresume", "move", "keep", "pin", "unpin", "undo"]),
    st.integers(0, 8), st.integers(0, 8),
)  # fmt: skip


def attempt(db: Connection, step: tuple[str, int, int]) -> bool:
    """A random correction of what there is; whether it was possible."""
    kind, one, two = step
    ids = list(episodes(db))
    unit, other, at = ids[one % len(ids)], ids[two % len(ids)], prompt(db, two)
    act: dict[str, Callable[[], object]] = {
        "split": lambda: corrections.split(db, units.of_prompt(db, at) or 0, at, START),
        "merge": lambda: corrections.merge(db, unit, other, START),
        "rename": lambda: corrections.rename(db, unit, f"name {two}" if two else "", START),
        "resume": lambda: corrections.resume(db, unit, other, START),
        "unresume": lambda: corrections.unresume(db, unit, START),
        "move": lambda: corrections.move(db, at, unit, START),
        "keep": lambda: corrections.keep(db, at, START),
        "pin": lambda: corrections.pin(db, unit, True, START),
        "unpin": lambda: corrections.pin(db, unit, False, START),
        "undo": lambda: undo(db, START),
    }
    try:
        act[kind]()
    except NmemError:
        return False
    return True


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP, max_size=14))
def test_any_corrections_undone_to_the_end_leave_the_start(steps: list[tuple[str, int, int]]) -> None:
    with closing(world()) as db:
        before, left = everything(db), 0
        for step in steps:
            if attempt(db, step):
                left += -1 if step[0] == "undo" else 1
                consistent(db)
        for _ in range(left):
            undo(db, START)
            consistent(db)
        assert everything(db) == before
        assert log.newest(db) is None


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP.filter(lambda step: step[0] != "undo"), min_size=1, max_size=8))
def test_detection_changes_nothing_that_a_person_decided(steps: list[tuple[str, int, int]]) -> None:
    with closing(world()) as db:
        for step in steps:
            attempt(db, step)
        before, names = episodes(db), [(unit.title, unit.pinned) for unit in units.of_session(db, "s1")]
        said = {one.id: (one.unit_id, one.verdict.label) for one in units.prompts_of_session(db, "s1")
                if one.verdict.by == "person"}  # fmt: skip
        detect.session(db, "s1")
        after = {one.id: (one.unit_id, one.verdict.label) for one in units.prompts_of_session(db, "s1")}
        assert {number: after[number] for number in said} == said
        assert episodes(db) == before
        assert [(unit.title, unit.pinned) for unit in units.of_session(db, "s1")] == names
        assert detect.session(db, "s1") is False
        consistent(db)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP.filter(lambda step: step[0] != "undo"), min_size=1, max_size=6), st.integers(0, 5))
def test_undo_keeps_what_came_since(steps: list[tuple[str, int, int]], when: int) -> None:
    """A hook goes on between corrections; undone to the end, its prompt is in place and all is counted."""
    with closing(world()) as db:
        start, left = episodes(db), 0
        for number, step in enumerate(steps):
            if number == when % len(steps):
                say(db, "s1", "ok, and once more", "src/login.py", 510)
                detect.session(db, "s1")
            left += attempt(db, step)
        for _ in range(left):
            undo(db, START)
            consistent(db)
        detect.session(db, "s1")
        consistent(db)
        last = max(start)
        assert episodes(db) == {**start, last: [*start[last], 9]}


def test_a_session_that_is_forgotten_takes_its_corrections_along(db: Connection) -> None:
    corrections.rename(db, min(episodes(db)), "Login", START)
    units.forget_session(db, "s1")
    assert db.execute("SELECT count(*) FROM corrections").fetchone()[0] == 0


def test_an_episodes_number_is_never_used_again(db: Connection) -> None:
    ids = list(episodes(db))
    corrections.merge(db, ids[3], ids[2], START)
    assert corrections.split(db, ids[0], prompt(db, 1), START) > ids[3]


def test_only_what_changed_is_kept(db: Connection) -> None:
    corrections.pin(db, min(episodes(db)), True, START)
    entry = log.newest(db)
    assert entry is not None
    assert {table: {key: row["before"] for key, row in rows.items()} for table, rows in entry.before.items()} == {
        "work_units": {str(min(episodes(db))): {"pinned": 0}}
    }
    assert made(entry.before) == []
