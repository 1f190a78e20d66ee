"""Stories of an older narrator are told in today's words, once, and only where nobody and nothing said otherwise."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from sqlite3 import Connection, OperationalError

import pytest

from capture import paths
from nmem.episodes import narrate, narrations, reading, storytelling, titles
from nmem.retention import idle
from nmem.settle import ERRORS, settle
from tests.nmem.conftest import Recorded

OLD = "In older words."
PINNED = (21, "17409de5e903f6d8")
"""The narrator's wording, and a digest of the modules that word it."""


def test_who_changes_the_narrator_says_whether_stories_read_otherwise() -> None:
    mark = blake2b(digest_size=8)
    for file in (
        *sorted(Path(narrate.__file__).parent.glob("[!_]*.py")),
        *sorted(Path(titles.__file__).parent.glob("*.py")),
    ):
        mark.update(file.read_text("utf-8").encode())
    assert (narrate.WORDING, mark.hexdigest()) == PINNED, "raise narrate.WORDING where they do, and pin both here"


@pytest.fixture
def told(record: Recorded, db_path: str) -> Recorded:
    """Four episodes, told by another narrator than today's."""
    for number in range(4):
        record.begin(f"s{number}").user(f"write the page {number} of the manual").edit(f"docs/{number}.md")
        record.agent("Written.")
    record.at += 24 * 3_600_000
    run(record, db_path)
    record.db.execute("UPDATE work_units SET summary = ?", (OLD,))
    record.db.execute("UPDATE upkeep SET told = '0' WHERE name = ?", (narrations.NARRATOR,))
    return record


def run(record: Recorded, db_path: str) -> int:
    report = settle(db_path, 600, models=False, clock=lambda: record.at)
    assert report is not None
    assert not report.failed
    return report.told


def old(record: Recorded) -> list[int]:
    return [row[0] for row in record.db.execute("SELECT id FROM work_units WHERE summary = ? ORDER BY id", (OLD,))]


def test_settling_words_them_anew_and_sums_their_sessions_up_once(told: Recorded, db_path: str) -> None:
    before = told.db.execute("SELECT max(narrated_at) FROM work_units").fetchone()[0]
    assert run(told, db_path) == 4
    assert old(told) == []
    assert told.db.execute("SELECT max(narrated_at) FROM work_units").fetchone()[0] == before + 1
    assert narrations.unsummarised(told.db) == []
    assert run(told, db_path) == 0
    assert narrations.NARRATOR not in [what for what, _, _ in idle.told(told.db)]


def test_what_is_pinned_swept_or_told_by_a_model_stays(told: Recorded, db_path: str) -> None:
    told.db.execute("UPDATE work_units SET pinned = 1 WHERE id = 1")
    told.db.execute("UPDATE narrations SET by_model = 1 WHERE unit_id = 2")
    told.db.execute("INSERT INTO swept_sessions (session_id, at) VALUES ('s1', 1)")
    assert storytelling.renew(told.db) == 1
    assert old(told) == [1, 2, 3]


def test_it_is_bounded_stops_and_goes_on_where_it_was(told: Recorded) -> None:
    assert storytelling.renew(told.db, most=1) == 1
    assert old(told) == [1, 2, 3]
    looks = iter((False, True))
    assert storytelling.renew(told.db, lambda: next(looks)) == 1
    assert old(told) == [1, 2]
    assert storytelling.renew(told.db, most=2) == 2
    assert storytelling.renew(told.db) == storytelling.renew(told.db) == 0


def broken(monkeypatch: pytest.MonkeyPatch, number: int, error: Exception) -> None:
    """The narrator fails at one episode."""
    sound = reading.read

    def read(db: Connection, unit_id: int) -> reading.Told | None:
        if unit_id == number:
            raise error
        return sound(db, unit_id)

    monkeypatch.setattr(reading, "read", read)


def test_a_story_that_cannot_be_told_is_said_and_passed_over(
    told: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        broken(patch, 3, ValueError())
        report = settle(db_path, 600, models=False, clock=lambda: told.at)
        assert report is not None
        assert (report.told, report.failed) == (3, ["wordings"])
        assert "settle: wordings: episode 3: ValueError at " in Path(paths.log(db_path)).read_text("utf-8")
        assert old(told) == [3]
        assert run(told, db_path) == 0  # it is not looked at again, and no longer counted
    assert not told.db.execute("SELECT 1 FROM counters WHERE name = ?", (ERRORS,)).fetchone()


def test_what_is_wrong_with_the_database_passes_no_story_over(told: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        broken(patch, 3, OperationalError("database is locked"))
        with pytest.raises(OperationalError):
            storytelling.renew(told.db, failed=lambda *_: pytest.fail("it is asked again"))
    assert storytelling.renew(told.db) == 3
    assert old(told) == []


def test_an_episode_that_cannot_be_told_leaves_the_others_theirs(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        record.begin(f"s{number}").user(f"write the page {number} of the manual").edit(f"docs/{number}.md")
        record.agent("Written.")
    record.at += 24 * 3_600_000
    with monkeypatch.context() as patch:
        broken(patch, 3, ValueError())
        report = settle(db_path, 600, models=False, clock=lambda: record.at)
        assert report is not None
        assert (report.told, report.failed) == (2, ["stories"])
        said = Path(paths.log(db_path)).read_text("utf-8")
        assert said.count("settle: stories: episode 3: ValueError at ") == 1
    assert run(record, db_path) == 1


def test_by_the_same_rules_nothing_is_looked_at_again(told: Recorded) -> None:
    storytelling.renew(told.db)
    told.db.execute("UPDATE work_units SET summary = ?", (OLD,))
    assert storytelling.renew(told.db) == 0
    assert len(old(told)) == 4


def test_an_older_installation_beside_a_newer_one_leaves_its_words(
    told: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(narrate, "WORDING", narrate.WORDING + 1)
        assert storytelling.renew(told.db) == 4
    told.db.execute("UPDATE work_units SET summary = ?", (OLD,))
    assert storytelling.renew(told.db) == 0
    with monkeypatch.context() as newer:
        newer.setattr(narrate, "WORDING", narrate.WORDING + 1)
        assert storytelling.renew(told.db) == 0
    assert len(old(told)) == 4


def test_a_memory_that_kept_another_mark_is_looked_at_once(told: Recorded) -> None:
    told.db.execute("UPDATE upkeep SET at = 0, told = 'a4b5c6d7' WHERE name = ?", (narrations.NARRATOR,))
    assert storytelling.renew(told.db) == 4
    assert storytelling.renew(told.db) == 0


def test_a_session_is_summed_up_anew_whichever_of_its_stories_was_worded_anew(record: Recorded, db_path: str) -> None:
    record.begin("s").user("write the first page of the manual").edit("docs/1.md").agent("Written.")
    record.at += 4 * 3_600_000
    record.user("fix the failing invoice parser in billing").edit("billing/parse.py").agent("Fixed.")
    record.at += 24 * 3_600_000
    run(record, db_path)
    first, last = record.db.execute("SELECT id FROM work_units ORDER BY id").fetchall()
    for told_first, other in ((first, last), (last, first)):
        record.db.execute("UPDATE work_units SET summary = ?, narrated_at = narrated_at - 9 WHERE id = ?",
                          (OLD, told_first[0]))  # fmt: skip
        record.db.execute("UPDATE upkeep SET told = '0' WHERE name = ?", (narrations.NARRATOR,))
        before = record.db.execute("SELECT narrated_at FROM work_units WHERE id = ?", (other[0],)).fetchone()[0]
        assert storytelling.renew(record.db) == 1
        assert narrations.unsummarised(record.db) == ["s"]
        assert record.db.execute("SELECT max(narrated_at) FROM work_units").fetchone()[0] == before + 1
        run(record, db_path)
        assert narrations.unsummarised(record.db) == []


def test_what_a_run_has_just_told_is_not_worded_once_more(
    record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.begin("new").user("write a page of the manual").edit("docs/new.md").agent("Written.")
    record.at += 24 * 3_600_000
    monkeypatch.setattr(storytelling.Teller, "renew", lambda *_given: pytest.fail("worded again"))
    assert run(record, db_path) == 1


def test_a_long_episode_that_goes_on_is_told_anew_once_a_third_is_new(told: Recorded) -> None:
    unit = told.db.execute("SELECT unit_id FROM narrations LIMIT 1").fetchone()[0]

    def waits(turns: int, told_at: int) -> bool:
        told.db.execute("UPDATE work_units SET state = 'open', turn_count = ? WHERE id = ?", (turns, unit))
        told.db.execute("UPDATE narrations SET told_of = ? WHERE unit_id = ?", (f"1.2.{told_at}.0.0.0.open", unit))
        return unit in narrations.going(told.db, 0)

    assert waits(3, 2) and waits(5, 3)
    assert waits(12, 8)
    assert not waits(12, 9)
