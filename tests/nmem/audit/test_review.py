"""Samples of redactions are judged, counted, taken back; of what a second detector sees the secret is not shown."""

from __future__ import annotations

import json
from sqlite3 import Connection

import pytest
from click.testing import CliRunner, Result

from capture.redaction import redact
from nmem import undo
from nmem.audit import NOTE, OK, redaction, review
from nmem.commands.redact import review_
from nmem.errors import NmemError
from tests.nmem.conftest import Recorded

AWS = "AKIA" + "Q3EGRTY7UIOP2ASD"


@pytest.fixture
def filled(record: Recorded) -> Connection:
    """Texts with marks of two kinds, and one that redaction left (as an older one might have)."""
    record.begin("s").user("deploy with [REDACTED:token] please")
    for number in range(6):
        record.act("command", f"curl -H [REDACTED:token] host{number} [REDACTED:password]")
    record.act("command", f"aws configure set aws_access_key_id {AWS} && echo {AWS} done")
    return record.db


def cli(*words: str) -> Result:
    return CliRunner().invoke(review_, list(words), catch_exceptions=False)


def test_a_sample_takes_kinds_in_turn_and_nothing_twice(filled: Connection) -> None:
    assert review.draw(filled, 5, limit=4) == 4
    kinds = [one.kind for one in review.queue(filled)]
    assert sorted(kinds) == ["password", "password", "token", "token"]
    assert review.draw(filled, 6, limit=100) == 9
    assert review.draw(filled, 7, limit=100) == 0
    assert len({(one.target, one.kind, one.place) for one in review.queue(filled, 100)}) == 13


def test_what_is_shown_stands_around_the_mark(filled: Connection) -> None:
    review.draw(filled, 5, limit=100)
    one = next(one for one in review.queue(filled, 100) if one.kind == "password")
    assert (one.before, one.masked, one.after) == (
        f"curl -H [REDACTED:token] host{one.row_id - 1} ", "[REDACTED:password]", "")  # fmt: skip


def test_verdicts_are_counted_and_taken_back(filled: Connection) -> None:
    review.draw(filled, 5, limit=100)
    found = [one for one in review.queue(filled, 100) if one.kind == "token"]
    for one in found[:6]:
        review.judge(filled, one.id, "false", 9)
    (judged,) = redaction.judged(filled)
    assert (judged.kind, judged.false, judged.real) == ("token", 6, 0) and judged.wrongly[0] > 0.5
    (finding,) = redaction.findings(filled, 10)
    assert (finding.severity, finding.evidence) == (NOTE, "token: 6 of 6 you judged were false alarms")
    assert undo.undo(filled, 11) == f"redaction {found[5].id} (token) judged false"
    assert redaction.judged(filled)[0].false == 5
    with pytest.raises(NmemError, match="there is no redaction 999"):
        review.judge(filled, 999, "real", 12)
    with pytest.raises(NmemError, match="judged false already"):
        review.judge(filled, found[0].id, "false", 12)


def test_what_is_deleted_leaves_the_queue(filled: Connection) -> None:
    review.draw(filled, 5, limit=100)
    filled.execute("DELETE FROM observations")
    assert [one.source for one in review.queue(filled, 100)] == ["prompts"]


def test_a_second_detector_sees_what_was_left_and_nobody_is_shown_it(filled: Connection) -> None:
    assert AWS not in redact(AWS)  # today it would not have been left
    found = redaction.opinion(filled)
    assert (found.texts, found.redacted) == (8, 7)
    assert [(one.source, one.kind) for one in found.suspects][:1] == [("observations", "AWS Access Key")]
    (finding,) = redaction.second_opinion(filled, filled, 9)
    assert finding.severity == NOTE and "1 of 8 sampled texts" in finding.evidence and finding.examples == ("obs/7",)
    shown = cli().output + cli("--json").output + repr(finding) + repr(review.queue(filled))
    assert AWS not in shown and AWS[4:] not in shown and AWS[:8] not in shown
    assert "AK...(20 characters)" in shown and "kept by redaction" in shown


def test_a_confirmed_leak_is_told(filled: Connection) -> None:
    redaction.second_opinion(filled, filled, 9)
    (one, *_) = review.queue(filled)
    review.judge(filled, one.id, "real", 10)
    assert any("were confirmed by you (AWS Access Key)" in said.evidence for said in redaction.findings(filled, 11))


def test_ordinary_text_is_no_suspect(record: Recorded) -> None:
    record.coupon()
    record.act("command", "git show 3f786850e387550fdab836ed7e6dc881de23001b -- src/auth/password.py")
    (finding,) = redaction.second_opinion(record.db, None, 9)
    assert (finding.severity, finding.evidence[:54]) == (OK, "a second detector sees something in 0 of 10 sampled te")


def test_the_command(filled: Connection) -> None:
    assert filled
    assert cli("draw", "--limit", "3").output == "3 to judge: nmem review\n"
    first = json.loads(cli("--json").output)["reviews"][0]
    assert (
        cli(str(first["id"]), "real").output == f"redaction {first['id']} is judged real (`nmem undo` takes it back)\n"
    )
    assert "[real]" in cli("--judged").output
    assert cli("x").exit_code == 2
