"""What a sweep left only traces of is reached as well, and a trace loses what goes and nothing else."""

from __future__ import annotations

import json
from sqlite3 import Connection
from typing import Any

import pytest

from nmem.episodes import annotate, units
from nmem.purge import reach, run
from nmem.purge.preview import preview
from nmem.purge.selection import Selection
from nmem.retention import sweep as sweeping
from nmem.retention.policy import Policy
from nmem.settle import settle
from nmem.store import trace
from nmem.undo import undo
from tests.nmem.conftest import Recorded
from tests.nmem.purge.conftest import holding

DAY = 86_400_000
WORD = "quokkabird99"


@pytest.fixture
def swept(record: Recorded, db_path: str) -> Connection:
    """Two sessions of which only traces are left: of `s1` some say the word."""
    for session in ("s1", "s2"):
        record.begin(session)
        record.user("please fix the totals of the invoice")
        record.act("file_edit", "src/invoice.py", "src/invoice.py")
        record.act("file_read", f"src/{WORD if session == 's1' else 'other'}.py",
                   f"src/{WORD if session == 's1' else 'other'}.py")  # fmt: skip
        record.act("git_commit", f"git commit -m 'fix {session}'", None, "ok",
                   commit={"hash": "abc1234", "message": f"fix {WORD if session == 's1' else 'it'}"})  # fmt: skip
        record.user("now write the release notes about something else entirely")
        record.act("file_edit", "docs/notes.md", "docs/notes.md")
        record.act("test", "pytest", None, "failed")
        record.db.execute("UPDATE sessions SET state = 'ended' WHERE id = ?", (session,))
    settle(db_path, 600, models=False, clock=lambda: record.at + DAY)
    sweeping.sweep(record.db, Policy(mediation=False), record.at + 2_000 * DAY)
    assert record.db.execute("SELECT count(*) FROM observations").fetchone() == (0,)
    return record.db


def whole(db: Connection) -> dict[str, Any]:
    names = ("swept_traces", "swept_files", "swept_sessions")
    return {name: db.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in names}


def counted(db: Connection) -> list[Any]:
    """All episodes, counted anew."""
    for (session_id,) in db.execute("SELECT id FROM sessions").fetchall():
        for unit in units.of_session(db, session_id):
            annotate.recount(db, unit)
    return db.execute("SELECT session_id, obs_count, hot_files, commits FROM work_units ORDER BY id").fetchall()


def left(db: Connection, session_id: str) -> list[tuple[str, str | None]]:
    return [(one.obs_type, one.file_path) for one in trace.gone(db, session_id)]


def test_words_go_out_of_a_trace_and_the_rest_of_it_stays(swept: Connection, db_path: str) -> None:
    other = left(swept, "s2")
    run.purge(db_path, Selection(texts=(WORD,)), 1, window=0)
    assert left(swept, "s1") == [("file_edit", "src/invoice.py"), ("file_edit", "docs/notes.md"), ("test", None)]
    assert left(swept, "s2") == other
    assert holding(db_path, (WORD,)) == []
    assert sum(row[1] for row in counted(swept) if row[0] == "s1") == 3
    assert swept.execute("SELECT observations FROM swept_sessions WHERE session_id = 's1'").fetchone() == (3,)
    assert settle(db_path, 600, models=False) is not None


def test_a_trace_that_cannot_be_read_stops_nobody(swept: Connection, db_path: str) -> None:
    swept.execute("UPDATE swept_traces SET trace = '{}' WHERE session_id = 's1'")
    swept.execute("UPDATE swept_traces SET trace = 'torn ' || ? WHERE session_id = 's2'", (WORD,))
    counted(swept)
    assert settle(db_path, 600, models=False) is not None
    run.purge(db_path, Selection(texts=(WORD,)), 1, window=0)
    assert holding(db_path, (WORD,)) == []
    counted(swept)


@pytest.mark.parametrize(("chosen", "gone"), [
    (Selection(files=(f"src/{WORD}.py",)), [("file_read", f"src/{WORD}.py")]),
    (Selection(sessions=("s1",), texts=("git commit",)), [("git_commit", None)]),
    (Selection(sessions=("s1",), files=("src/invoice.py",)), [("file_edit", "src/invoice.py")]),
])  # fmt: skip
def test_what_is_known_by_its_trace_is_selected(
    swept: Connection, db_path: str, chosen: Selection, gone: list[tuple[str, str | None]]
) -> None:
    before, rows, others = whole(swept), left(swept, "s1"), left(swept, "s2")
    shown = preview(swept, chosen, db_path)
    assert (shown.rows["trace"], shown.total, len(shown.items)) == (len(gone), len(gone), len(gone))
    run.purge(db_path, chosen, 1_000)
    assert left(swept, "s1") == [one for one in rows if one not in gone]
    assert left(swept, "s2") == others
    paths = {path for _, path in gone if path}
    assert not paths & {row[0] for row in swept.execute("SELECT file_path FROM swept_files WHERE session_id = 's1'")}
    for (traced,) in swept.execute("SELECT obs_trace FROM work_units WHERE session_id = 's1'").fetchall():
        assert not paths & {one["path"] for one in json.loads(traced)}
    undo(swept, 1_001)
    assert whole(swept) == before


def test_an_episode_goes_with_what_is_traced_of_it(swept: Connection, db_path: str) -> None:
    number, session_id = swept.execute("SELECT id, session_id FROM work_units WHERE session_id = 's1'").fetchone()
    inside = {one.id for one in trace.of_unit(swept, session_id, number)}
    every = {one.id for one in trace.gone(swept, session_id)}
    run.purge(db_path, Selection(ids=(("episode", str(number)),)), 1, window=0)
    assert inside
    assert {one.id for one in trace.gone(swept, session_id)} == every - inside


def test_one_action_goes_by_its_number(swept: Connection, db_path: str) -> None:
    first = trace.gone(swept, "s1")[0].id
    assert reach.find(swept, Selection(ids=(("obs", str(first)),))).traced == {("s1", first)}
    run.purge(db_path, Selection(ids=(("obs", str(first)),)), 1, window=0)
    assert first not in {one.id for one in trace.gone(swept, "s1")}


def test_what_answered_a_prompt_that_goes_stays_counted(swept: Connection, db_path: str) -> None:
    second = swept.execute("SELECT max(id) FROM prompts WHERE session_id = 's1' AND source = 'user'").fetchone()[0]
    run.purge(db_path, Selection(ids=(("prompt", str(second)),)), 1, window=0)
    assert len(left(swept, "s1")) == 5
    assert sum(row[1] for row in counted(swept) if row[0] == "s1") == 5
