"""Copies of transcripts: what is copied and when, how it is bounded, what purges take, and what is given back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from sqlite3 import Connection

import pytest

from capture.transcript import cursor
from nmem.errors import NmemError
from nmem.purge import run
from nmem.purge.preview import preview
from nmem.purge.rules import rules
from nmem.purge.selection import Selection
from nmem.sessions import copies, packing, resume
from nmem.settle import settle
from nmem.undo import undo
from tests.nmem.conftest import MINUTE, Recorded
from tests.nmem.sessions.conftest import ID, SECRET, lines

DAY = 24 * 60 * MINUTE


def keep(record: Recorded, after: int = MINUTE) -> int:
    return copies.keep(record.db, record.at + after, rules())


def state(db: Connection, session_id: str = ID) -> tuple[str, bool]:
    """What is noted of a copy, and whether it is kept."""
    row = db.execute("SELECT state, packed IS NOT NULL FROM transcript_copies WHERE session_id = ?", (session_id,))
    return tuple(row.fetchone() or ("", 0))


@pytest.fixture
def day_by_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock was looked at every day."""
    monkeypatch.setattr(copies, "ahead_by", lambda _db, _now: 0)


def config(home: Path, text: str) -> None:
    (home.parent / "config.toml").write_text(text)


def test_settling_copies_an_ended_session_once_without_its_secret(
    record: Recorded, db_path: str, transcript: Path
) -> None:
    settle(db_path, models=False, clock=lambda: record.at + MINUTE)
    path, data = copies.give(record.db, ID) or ("", b"")
    assert path == str(transcript)
    assert SECRET.encode() not in data
    assert [json.loads(line)["message"]["content"] for line in data.splitlines()] == [
        "the token is [REDACTED:github-token]", "rename the invoice",
    ]  # fmt: skip
    assert keep(record) == 0
    with transcript.open("ab") as file:
        file.write(lines("and more"))
    assert keep(record) == 1
    assert b"and more" in (copies.give(record.db, ID) or ("", b""))[1]


def test_an_open_session_is_copied_once_it_is_idle(record: Recorded, transcript: Path) -> None:
    record.db.execute("UPDATE sessions SET state = 'working'")
    assert keep(record, 29 * MINUTE) == 0
    assert keep(record, 31 * MINUTE) == 1


@pytest.mark.parametrize("what", ["elsewhere", "link", "fifo", "gone"])
def test_only_regular_files_of_the_clients_own_folder_are_read(
    record: Recorded, transcript: Path, tmp_path: Path, what: str
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(transcript.read_bytes())
    transcript.unlink()
    if what == "elsewhere":
        record.db.execute("UPDATE sessions SET transcript_path = ?", (str(other),))
    elif what == "link":
        transcript.symlink_to(other)
    elif what == "fifo":
        os.mkfifo(transcript)
    assert keep(record) == 0
    assert copies.give(record.db, ID) is None


@pytest.mark.usefixtures("day_by_day")
def test_a_copy_outlives_the_file_but_not_its_time(record: Recorded, home: Path, transcript: Path) -> None:
    keep(record)
    transcript.unlink()
    keep(record, 179 * DAY)
    assert state(record.db) == ("kept", 1)
    keep(record, 181 * DAY)
    assert state(record.db) == ("dropped", 0)


def test_a_clock_that_leapt_takes_nothing(record: Recorded, home: Path, transcript: Path) -> None:
    keep(record)
    keep(record, 900 * DAY)
    assert state(record.db) == ("kept", 1)


@pytest.mark.usefixtures("day_by_day")
def test_no_copy_outlives_the_words_of_prompts(record: Recorded, home: Path, transcript: Path) -> None:
    config(home, "[retention.days]\nprompt = 20\n")
    keep(record)
    keep(record, 21 * DAY)
    assert state(record.db) == ("dropped", 0)


def test_a_large_one_is_left_and_not_read_again(record: Recorded, home: Path, transcript: Path) -> None:
    config(home, "[sessions]\ncopy_mb = 1\n")
    with transcript.open("ab") as file:
        file.write(b" " * (1 << 20) + b"\n")
    assert keep(record) == 0
    assert state(record.db) == ("large", 0)


def test_the_oldest_give_way_where_there_is_no_room(
    record: Recorded, home: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(record)
    held = copies.stored(record.db).bytes
    later = transcript.with_name("later.jsonl")
    later.write_bytes(transcript.read_bytes())
    record.begin("later").user("hello").agent("done")
    record.db.execute("UPDATE sessions SET state = 'ended', transcript_path = ? WHERE id = 'later'", (str(later),))
    monkeypatch.setattr(copies, "limits", lambda: copies.Limits(all=held + 1))
    keep(record)
    assert state(record.db) == ("dropped", 0)
    assert state(record.db, "later") == ("kept", 1)


def test_switched_off_none_stays(record: Recorded, home: Path, transcript: Path) -> None:
    keep(record)
    config(home, "[sessions]\ncopies = false\n")
    assert keep(record) == 0
    assert copies.give(record.db, ID) is None
    config(home, "")
    assert keep(record) == 1, "the file has not changed, the setting has"


@pytest.mark.parametrize("what", ["large", "unread"])
def test_an_older_copy_stays_where_the_file_can_no_longer_be_copied(
    record: Recorded, home: Path, transcript: Path, what: str
) -> None:
    config(home, "[sessions]\ncopy_mb = 1\n")
    keep(record)
    before = copies.give(record.db, ID)
    transcript.write_bytes(lines("x" * (1 << 20)) if what == "large" else b"torn")
    assert keep(record, 2 * MINUTE) == 0
    assert state(record.db) == (what, 1)
    assert copies.give(record.db, ID) == before
    config(home, "[sessions]\ncopy_mb = 2\n")
    assert keep(record, 3 * MINUTE) == (what == "large"), "what was too large is not any more"


def test_what_could_not_be_read_is_tried_again_the_next_day(record: Recorded, home: Path, transcript: Path) -> None:
    text = transcript.read_bytes()
    transcript.write_bytes(b"x" * len(text))
    at = transcript.stat().st_mtime_ns
    keep(record)
    transcript.write_bytes(text)
    os.utime(transcript, ns=(at, at))
    assert keep(record, 2 * MINUTE) == 0
    assert keep(record, DAY + MINUTE) == 1


@pytest.mark.usefixtures("day_by_day")
@pytest.mark.parametrize("why", ["past", "swept"])
def test_no_copy_outlives_the_first_prompt_of_a_long_session(
    record: Recorded, home: Path, transcript: Path, why: str
) -> None:
    config(home, "[retention.days]\nprompt = 20\n")
    keep(record)
    record.db.execute("UPDATE sessions SET last_at = last_at + ?", (15 * DAY,))
    if why == "swept":
        record.db.execute("UPDATE prompts SET content = '' WHERE source = 'user'")
    keep(record, (21 if why == "past" else 16) * DAY)
    assert state(record.db) == ("dropped", 0)
    record.db.execute("DELETE FROM transcript_copies")
    assert keep(record, (21 if why == "past" else 16) * DAY) == 0


def test_what_would_not_find_room_is_not_read(
    record: Recorded, home: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        later = transcript.with_name(f"later{number}.jsonl")
        later.write_bytes(transcript.read_bytes())
        record.begin(f"later{number}").user("hello").agent("done")
        sql = "UPDATE sessions SET state = 'ended', transcript_path = ? WHERE id = ?"
        record.db.execute(sql, (str(later), f"later{number}"))
    monkeypatch.setattr(copies, "limits", lambda: copies.Limits(all=300))
    made = [keep(record), keep(record), keep(record)]
    assert made[0] < 4
    assert made[1:] == [0, 0], "what went for the room is not made again"
    monkeypatch.setattr(copies, "limits", copies.Limits)
    assert made[0] + keep(record) >= 5


def test_new_rules_go_over_what_is_kept(
    record: Recorded, home: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("capture.redaction.settings.RECHECK", 0.0)
    keep(record)
    transcript.unlink()
    config(home, '[redaction]\npatterns = [{ name = "invoices", regex = "rename the [a-z]+" }]\n')
    keep(record)
    assert b"rename the invoice" not in (copies.give(record.db, ID) or ("", b""))[1]


# purges


def test_a_purge_of_its_session_takes_the_copy_and_its_undo_brings_it_back(
    record: Recorded, db_path: str, transcript: Path
) -> None:
    settle(db_path, models=False, clock=lambda: record.at + MINUTE)
    before = copies.give(record.db, ID)
    run.purge(db_path, Selection(sessions=(ID,)), record.at)
    assert copies.give(record.db, ID) is None
    undo(record.db, record.at + 1)
    assert copies.give(record.db, ID) == before


def test_a_purge_of_a_prompt_takes_the_copy_for_good(record: Recorded, db_path: str, transcript: Path) -> None:
    settle(db_path, models=False, clock=lambda: record.at + MINUTE)
    run.purge(db_path, Selection(ids=(("prompt", "1"),)), record.at, window=0)
    assert copies.give(record.db, ID) is None
    assert keep(record) == 0, "the client's file still says it"


def test_words_that_only_the_copy_says_are_purged(record: Recorded, db_path: str, transcript: Path) -> None:
    transcript.write_bytes(lines("the Zebra\nproject"))
    settle(db_path, models=False, clock=lambda: record.at + MINUTE)
    chosen = Selection(texts=("zebra project",))
    assert preview(record.db, chosen).elsewhere == {"transcript_copies.packed": 1}
    run.purge(db_path, chosen, record.at)
    assert state(record.db) == ("purged", 0)
    assert keep(record) == 0
    undo(record.db, record.at + 1)
    assert b"Zebra" in (copies.give(record.db, ID) or ("", b""))[1]


def test_words_of_a_transcript_that_is_not_copied_yet_never_are(
    record: Recorded, db_path: str, transcript: Path
) -> None:
    transcript.write_bytes(lines("the Zebra\nproject"))
    chosen = Selection(texts=("zebra project",))
    assert preview(record.db, chosen).elsewhere == {"transcripts": 1}
    assert preview(record.db, chosen, stopped=lambda: True).elsewhere == {}
    done = run.purge(db_path, chosen, record.at)
    assert done.transcripts == (str(transcript),)
    assert keep(record) == 0
    assert state(record.db) == ("purged", 0)
    undo(record.db, record.at + 1)
    assert keep(record) == 1


def test_a_purge_while_a_copy_is_made_wins(
    record: Recorded, db_path: str, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = packing.pack

    def meanwhile(data: bytes, *, document: bool = False) -> bytes:
        run.purge(db_path, Selection(ids=(("prompt", "1"),)), record.at, window=0)
        return pack(data, document=document)

    monkeypatch.setattr(packing, "pack", meanwhile)
    keep(record)
    assert copies.give(record.db, ID) is None


# given back


def test_a_deleted_transcript_is_given_back_where_it_was(record: Recorded, transcript: Path) -> None:
    keep(record)
    at(record, transcript, transcript.stat().st_size)
    transcript.unlink()
    transcript.parent.rmdir()
    plan = resume.plan(record.db, ID)
    assert plan.deleted
    assert resume.restore(record.db, plan) == str(transcript)
    assert transcript.stat().st_mode & 0o777 == 0o600
    assert transcript.read_bytes() == lines("the token is [REDACTED:github-token]", "rename the invoice").replace(
        b'": ', b'":'
    ).replace(b', "', b',"')
    assert sorted(each.name for each in transcript.parent.iterdir()) == [transcript.name]
    place = cursor.load(record.db, str(transcript), ID)
    assert place.offset == transcript.stat().st_size, "what was recorded once is not read again"


def at(record: Recorded, transcript: Path, offset: int) -> None:
    """An import has read the file up to there."""
    place = cursor.Cursor(str(transcript), ID, offset, cursor.fingerprint(str(transcript)))
    cursor.save(record.db, place, record.at)


@pytest.mark.parametrize("read", [0, 40])
def test_what_was_not_read_before_is_read_after_it(record: Recorded, transcript: Path, read: int) -> None:
    keep(record)
    if read:
        at(record, transcript, read)
    transcript.unlink()
    resume.restore(record.db, resume.plan(record.db, ID))
    assert cursor.load(record.db, str(transcript), ID).offset == 0
    assert cursor.load(record.db, str(transcript), ID, live=True).offset == 0


def test_a_file_that_is_there_is_never_written_over(record: Recorded, transcript: Path, tmp_path: Path) -> None:
    keep(record)
    plan = resume.plan(record.db, ID)
    before = transcript.read_bytes()
    with pytest.raises(NmemError, match="is there: nothing was written"):
        resume.restore(record.db, plan)
    assert transcript.read_bytes() == before
    transcript.unlink()
    transcript.symlink_to(tmp_path / "victim")
    with pytest.raises(NmemError, match="nothing was written"):
        resume.restore(record.db, plan)
    assert not (tmp_path / "victim").exists()


def test_a_folder_that_leads_elsewhere_is_not_written_to(record: Recorded, transcript: Path, tmp_path: Path) -> None:
    keep(record)
    transcript.unlink()
    transcript.parent.rmdir()
    (tmp_path / "elsewhere").mkdir()
    transcript.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NmemError, match="leads out of"):
        resume.restore(record.db, resume.plan(record.db, ID))
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_copy_from_another_machine_goes_where_its_client_looks(record: Recorded, transcript: Path) -> None:
    keep(record)
    transcript.unlink()
    record.db.execute("UPDATE transcript_copies SET path = '/home/her/.claude/projects/-src-shop/x.jsonl'")
    assert resume.restore(record.db, resume.plan(record.db, ID)) == str(transcript)


@pytest.mark.parametrize(
    ("state_", "why"), [("large", "larger than"), ("purged", "it was purged"), ("dropped", "past its lifetime")]
)
def test_why_there_is_no_copy_is_said(record: Recorded, transcript: Path, state_: str, why: str) -> None:
    keep(record)
    record.db.execute("UPDATE transcript_copies SET packed = NULL, state = ?", (state_,))
    transcript.unlink()
    with pytest.raises(NmemError, match=why):
        resume.restore(record.db, resume.plan(record.db, ID))
