"""What a compaction dropped, and what came again after it: told from the rows of a session."""

from __future__ import annotations

import json
import time
from pathlib import Path

from capture.storage import store
from nmem.context import dropped
from nmem.evaluate.compactions import evaluate
from nmem.read import compactions
from nmem.read import store as reading
from nmem.read.compactions import COMMAND, DECISION, FILE, OPEN, Compaction
from tests.nmem.command_line import run
from tests.nmem.conftest import Recorded

SUMMARY = """\
1. Primary Request: the invoice total is doubled when a coupon is used.
2. Files: `src/invoice.py` applies the coupon.
3. Errors: `pytest tests/test_tax.py` still fails.
"""


def compacted(record: Recorded, summary: str = SUMMARY) -> Recorded:
    """A session with a decision, three files, commands of both sorts and a to-do, up to its compaction."""
    record.begin("long").user("The invoice total is doubled when a coupon is used, fix it")
    record.act("question", "Which currency shall invoices round to? -> Round invoices to whole cents of the euro")
    for path in ("src/invoice.py", "src/coupon.py"):
        record.edit(path)
    record.act("file_read", "rates", "src/rates.py")
    record.act("lint", "ruff check src 2>&1 | tail -3").act("test", "pytest tests/test_invoice.py", outcome="failed")
    record.act("test", "pytest tests/test_invoice.py")
    record.act("test", "pytest tests/test_tax.py", outcome="failed", response="E   assert 1 == 2")
    record.act("build", "docker compose build", outcome="failed", response="no space left on device")
    record.act("todo", "[x] apply the coupon once\n[ ] migrate the stored invoices")
    record.act("session_compact", "compact")
    return record.agent(summary, "summary") if summary else record


def only(record: Recorded) -> Compaction:
    (one,) = compactions.of_session(record.db, "long")
    return one


def texts(one: Compaction, kind: str, *, named: bool) -> list[str]:
    return [each.text for each in one.known if each.kind == kind and each.named is named]


def test_what_the_summary_names_and_what_it_drops(record: Recorded) -> None:
    one = only(compacted(record))
    assert (texts(one, FILE, named=True), texts(one, FILE, named=False)) == (["src/invoice.py"], ["src/coupon.py"])
    assert texts(one, COMMAND, named=False) == ["ruff check src", "pytest tests/test_invoice.py"]
    assert texts(one, OPEN, named=True) == ["fails: pytest tests/test_tax.py"]
    assert texts(one, OPEN, named=False) == ["fails: docker compose build", "to do: migrate the stored invoices"]
    assert len(texts(one, DECISION, named=False)) == 1 and "whole cents" in texts(one, DECISION, named=False)[0]
    assert {each.text for each in one.dropped} == {each.text for each in one.known if not each.named}
    assert one.summary.startswith("prompt/") and one.tokens == len(SUMMARY) // 4


def test_a_name_that_is_only_a_part_of_another_is_not_named(record: Recorded) -> None:
    one = only(compacted(record, "Changed old-invoice.py and src/invoice.py.bak; `ruff check src` passes."))
    assert texts(one, FILE, named=True) == []
    assert texts(one, COMMAND, named=True) == ["ruff check src"]


def test_what_is_done_again_names_both_rows_and_whether_it_was_dropped(record: Recorded) -> None:
    compacted(record)
    record.act("file_read", "x", "src/coupon.py").act("file_read", "x", "src/coupon.py").act(
        "file_read", "x", "src/invoice.py"
    )
    record.act("file_read", "new", "src/new.py")
    record.act("build", "docker compose build", outcome="failed", response="no space left on device")
    record.act("test", "pytest tests/test_tax.py", outcome="failed", response="TypeError: another error")
    record.agent("Which currency shall invoices round to: whole cents of the euro?")
    found = {(each.kind, each.text): each for each in only(record).again}
    assert set(found) >= {("read again", "src/coupon.py"), ("read again", "src/invoice.py")}
    assert found["read again", "src/coupon.py"].dropped and not found["read again", "src/invoice.py"].dropped
    failed = [each for each in found.values() if each.kind == "failed again"]
    assert [each.text.partition(":")[0] for each in failed] == ["docker compose build"] and failed[0].dropped
    asked = [each for each in found.values() if each.kind == "asked again"]
    assert len(asked) == 1 and asked[0].dropped and asked[0].before.startswith("obs/")
    assert len(found) == 4, "a new file, a second reading and another error are nothing again"


def test_an_edited_file_is_not_read_again_and_helpers_have_their_own_window(record: Recorded) -> None:
    compacted(record)
    record.edit("src/coupon.py").act("file_read", "x", "src/coupon.py").act("file_read", "x", "src/rates.py")
    record.db.execute("UPDATE observations SET agent_id = 'helper' WHERE seq = (SELECT max(seq) FROM observations)")
    assert only(record).again == ()


def test_what_an_earlier_summary_dropped_is_not_known_to_the_next_one(record: Recorded) -> None:
    compacted(record)
    record.user("Go on").edit("src/tax.py").act("test", "pytest tests/test_tax.py")
    record.act("session_compact", "compact").agent("Changed `src/tax.py`.", "summary")
    first, second = compactions.of_session(record.db, "long")
    assert texts(first, FILE, named=False) == ["src/coupon.py"]
    assert [each.text for each in second.known if each.kind == FILE] == ["src/tax.py", "src/invoice.py"]
    assert not [each for each in second.known if each.kind == OPEN], "the test passes now"
    assert first.again == (), "what comes after the second compaction is not the first one's"


def test_a_summary_is_that_of_one_compaction_alone(record: Recorded) -> None:
    compacted(record)
    record.user("Go on").edit("src/tax.py").act("session_compact", "compact")
    first, second = compactions.of_session(record.db, "long")
    assert first.summary and texts(first, FILE, named=False) == ["src/coupon.py"]
    assert second.summary == "" and second.dropped == (), "its own summary is not known"
    early, late = (int(row[0]) for row in record.db.execute(
        "SELECT at FROM observations WHERE obs_type = 'session_compact' ORDER BY at"))  # fmt: skip
    assert late - early < dropped.NEAR
    assert (dropped.summary_at(record.db, "long", early), dropped.summary_at(record.db, "long", late)) == (SUMMARY, "")


def test_without_a_summary_nothing_is_said_to_be_dropped(record: Recorded) -> None:
    compacted(record, "").act("file_read", "x", "src/coupon.py")
    one = only(record)
    assert one.summary == "" and one.dropped == () and not one.again[0].dropped
    assert compactions.of_session(record.begin("other").user("hello").db, "other") == ()


def test_the_command_tells_a_session_and_all_of_them(record: Recorded) -> None:
    compacted(record).act("file_read", "x", "src/coupon.py")
    shown = run("compactions", "long").stdout
    assert (
        "dropped file\tsrc/coupon.py (obs/" in shown and "read again\tsrc/coupon.py" in shown and ", dropped)" in shown
    )
    assert "dropped\t1 of 1 decision, 2 of 3 open ends, 1 of 2 files, 2 of 2 commands" in shown
    assert (
        "named file\tsrc/invoice.py" not in shown
        and "named file\tsrc/invoice.py" in run("compactions", "long", "--all").stdout
    )
    told = json.loads(run("compactions", "--json", "--project", "shop").stdout)
    assert told["totals"]["dropped"] == {"decision": 1, "open end": 2, "file": 1, "command": 2, "file read": 1}
    assert [each["text"] for each in told["sessions"][0]["compactions"][0]["dropped"] if each["kind"] == "file"] == [
        "src/coupon.py"
    ]
    assert run("compactions").stdout.splitlines()[1:] == [
        "# session\tproject\tcompactions\twith_summary\tknown_with_summary\tdropped\tagain",
        "long\tshop\t1\t1\t9\t7\t1", "total\t\t1\t1\t9\t7\t1",
    ]  # fmt: skip


def test_totals_count_what_is_not_listed(record: Recorded) -> None:
    compacted(record)
    record.begin("later").user("hello").act("session_compact", "compact")
    done = run("compactions", "--limit", "1")
    assert [row.split("\t")[:3] for row in done.stdout.splitlines()[2:]] == [["later", "shop", "1"], ["total", "", "2"]]
    assert "1 of 2 sessions listed, all counted" in done.stderr
    told = json.loads(run("compactions", "--limit", "1", "--json").stdout)
    assert (len(told["sessions"]), told["known"], told["totals"]["compactions"]) == (1, 2, 2)


def test_no_compaction_is_one_line_and_exit_code_1(record: Recorded) -> None:
    record.begin("short").user("hello").act("test", "pytest")
    for words in (("compactions",), ("compactions", "short"), ("compactions", "nowhere")):
        done = run(*words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert run("compactions", "short", "--project", "shop").returncode == 2


def test_real_compactions_are_read_within_a_fifth_of_a_second(shared: Path, db_path: str) -> None:
    folder = shared / "data/transcripts/claude-code/entireio__cli"
    files = [next(folder.glob(f"{name}*.jsonl")) for name in ("0276a600", "6113e919")]
    assert run("import", *map(str, files)).returncode == 0
    db = store.connect(db_path)
    took: list[float] = []
    found: list[Compaction] = []
    for session, _, many in reading.compacted(db):
        begin = time.process_time()
        some = compactions.of_session(db, session)
        took.append(time.process_time() - begin)
        assert len(some) == many and all(one.summary and one.tokens > 1_000 for one in some)
        found += some
    assert len(found) == 5 and min(took) < 0.2
    known = [each for one in found for each in one.known if each.kind == FILE]
    assert len(known) >= 35 and 5 <= sum(not each.named for each in known) < len(known) / 2
    missing = [each for one in found for each in one.dropped if each.needed]
    assert {each.kind for each in missing} == {COMMAND, FILE} and "mise run test" in {each.text for each in missing}
    db.close()
    by = evaluate(db_path)
    assert by["by"]["kind"]["command"] == {"known": 14, "named": 2, "dropped": 12, "needed": 4, "told": 4}
    assert (by["baseline"]["by"]["kind"]["command"], by["with_summary"]) == (0, 5)
