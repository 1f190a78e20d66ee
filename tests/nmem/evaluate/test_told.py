"""The automatic figures of what sessions are told: who is replayed, and what counts as right, repeated and closed."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from sqlite3 import Connection

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem
from nmem.context import review_store
from nmem.context.items import EPISODE, FILE, NEXT, THREAD, Item
from nmem.errors import NmemError
from nmem.evaluate import context, told
from nmem.evaluate.store import Moment
from nmem.settle import settle

ROOT = "/home/dev/src/shop"
SUBJECTS = ("coupon", "invoice", "login", "avatar", "export", "coupon", "coupon", "invoice")
SESSIONS = len(SUBJECTS)


def transcript(folder: Path, number: int, subject: str) -> None:
    """A session a day, each on the file of its subject."""
    base = {"sessionId": f"s{number}", "cwd": ROOT, "version": "2.1.330", "isSidechain": False}

    def record(place: int, kind: str, **more: object) -> dict[str, object]:
        at = f"2026-03-{number + 1:02d}T10:0{place}:00.000Z"
        return {**base, "type": kind, "uuid": f"{number}-{place}", "promptId": "p", "timestamp": at, **more}

    edit = {"file_path": f"{ROOT}/src/{subject}.py", "old_string": f"{number}", "new_string": f"{number + 1}"}
    call = {"type": "tool_use", "id": f"t{number}", "name": "Edit", "input": edit}
    answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "edited"}
    asked = f"The {subject} page fails in {subject}_handler for order {number}."
    closing = f"The cause was {subject}_handler: {subject} pages of old orders had no {subject}_owner. Fixed."
    records = [
        record(0, "user", message={"role": "user", "content": asked}),
        record(1, "assistant", message={"role": "assistant", "model": "m", "content": [call]}),
        record(2, "user", message={"role": "user", "content": [answer]}, toolUseResult={"filePath": edit["file_path"]}),
        record(3, "assistant", message={"role": "assistant", "model": "m", "stop_reason": "end_turn",
                                        "content": [{"type": "text", "text": closing}]}),
    ]  # fmt: skip
    Path(folder, f"s{number}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    folder = tmp_path_factory.mktemp("transcripts")
    for number, subject in enumerate(SUBJECTS):
        transcript(folder, number, subject)
    with told.imported(folder, partial(settle, models=False)) as path:
        yield folder, path


@pytest.fixture
def db(shop: tuple[Path, str]) -> Iterator[Connection]:
    with review_store.as_of(shop[1]) as db:
        yield db


def test_sessions_with_five_earlier_ones_are_replayed_beside_a_baseline(shop: tuple[Path, str]) -> None:
    found = told.evaluate(shop[1])
    assert found["moments"] == SESSIONS - 5
    assert found["told_rate"] == found["told_work_rate"] == found["episodes_shared"] == 1.0
    assert 0 < found["tokens"] < 800
    assert 0 < found["repeats"] < 1, "two of the three go on with the same work"
    assert (found["silences"], found["silences_missed"]) == (0, 0)
    assert found["baseline"]["names_edited"] == 0.2, "one of five files"
    assert found["by"]["project"]["shop"]["moments"] == found["moments"]


def test_the_sample_is_the_same_for_the_same_seed(db: Connection) -> None:
    assert told.moments(db, count=2) == told.moments(db, count=2)
    assert len(told.moments(db, count=2)) == 2
    assert told.moments(db, project="elsewhere") == []


def test_a_history_without_a_moment_is_said_to_be_one(shop: tuple[Path, str]) -> None:
    with pytest.raises(NmemError, match="no session is left to replay"):
        told.evaluate(shop[1], project="elsewhere")


def test_a_folder_of_transcripts_is_replayed_by_the_command(shop: tuple[Path, str]) -> None:
    done = CliRunner().invoke(nmem, ["eval", "told", str(shop[0]), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["moments"] == SESSIONS - 5


def test_damaged_rows_and_transcripts_stop_no_replay(shop: tuple[Path, str], tmp_path: Path) -> None:
    path, folder = str(tmp_path / "damaged.db"), tmp_path / "transcripts"
    with closing(sqlite3.connect(shop[1])) as whole, closing(sqlite3.connect(path)) as db:
        whole.backup(db)
        db.execute("UPDATE observations SET metadata = '{torn', outcome = 'failed'")
        db.execute(
            "INSERT INTO learnings (project_id, kind, key, title, sessions, occurrences, first_at, last_at, remedy)"
            " SELECT id, 'command', 'make shop', 'make shop fails', 2, 2, 1, 2, '{torn' FROM projects"
        )
        db.commit()
    assert told.evaluate(path)["moments"] == SESSIONS - 5
    assert context.evaluate(path)["sessions"] == SESSIONS - 1
    settle(path, models=False)

    shutil.copytree(shop[0], folder)
    whole_text = (folder / "s0.jsonl").read_text("utf-8")
    (folder / "s0.jsonl").write_text(f"{'[' * 5_000}\n{{torn\n{whole_text}", "utf-8")
    done = CliRunner().invoke(nmem, ["eval", "told", str(folder), "--json"])
    assert json.loads(done.stdout)["moments"] == SESSIONS - 5
    assert done.stderr == f"nmem: left out: 2 lines that are no JSON, in {folder / 's0.jsonl'}\n"


def test_open_ends_are_read_out_of_what_is_told() -> None:
    going_on = Item("episode/3", THREAD, "You were working on “x” (episode 3). Left open: Add a test; Tell the docs.")
    step = Item("next/3", NEXT, "Add a test; Tell the docs. (episode 3, 2 hours ago: “x”)")
    assert told._open_ends(going_on) == told._open_ends(step) == ["Add a test", "Tell the docs"]
    assert told._open_ends(Item("episode/3", EPISODE, "Episode 3: “x”.")) == []


@pytest.mark.parametrize(
    ("end", "closed"),
    [
        ("Round the totals in src/invoice.py as well", True),
        ("Round the totals in src/totals.py as well", False),
        ("Ask whether invoices are rounded", False),
    ],
)
def test_an_open_end_is_closed_by_a_later_edit_of_the_file_it_names(db: Connection, end: str, closed: bool) -> None:
    moment = told.moments(db)[0]
    review_store.move(db, moment.at)
    assert told._closed(db, 1, end, moment) == closed
    first = Moment(moment.project_id, moment.project, "", 0, "", frozenset())
    review_store.move(db, 0)
    assert not told._closed(db, 1, end, first), "as of that moment nothing had come later"


def test_ages_and_names_of_files_make_no_repetition() -> None:
    items = [Item("episode/3", EPISODE, "Episode 3, 2 hours ago: “coupon rounding went the wrong way”."),
             Item("file/a", FILE, "`src/coupons.py`", files=("src/coupons.py",))]  # fmt: skip
    older = [Item("episode/3", EPISODE, "Episode 3, 4 days ago: “coupon rounding went the wrong way”.")]
    assert list(told._sentences(items)) == list(told._sentences(older)) != []
