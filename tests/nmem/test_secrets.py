"""`nmem redact` and `nmem eval secrets`, as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmem.commands import eval_, redact
from nmem.errors import NmemError
from nmem.evaluate.secrets import evaluate, records

VALUE = "kq7Zt9wPx2" + "mVb"


def test_redact_filters_line_by_line_and_keys_as_a_whole() -> None:
    key = "-----BEGIN RSA PRIVATE " + "KEY-----\nMq7Rz0pLw9XaMq7Rz0\n-----END RSA PRIVATE " + "KEY-----\n"
    done = CliRunner().invoke(redact.command, ["--stats"], input=f"plain\nTOKEN={VALUE}\n{key}\x1b[1mend")
    assert done.exit_code == 0
    assert done.stdout == "plain\nTOKEN=[REDACTED:token]\n[REDACTED:private-key]\nend"
    assert json.loads(done.stderr) == {"private-key": 1, "token": 1}


def test_redact_takes_any_bytes() -> None:
    done = CliRunner().invoke(redact.command, input=b"\xff\xfe ok\n")
    assert done.exit_code == 0
    assert done.stdout.endswith(" ok\n")


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    rows = [
        {"text": f"TOKEN={VALUE}", "is_secret": True, "value": VALUE, "kind": "Token", "source": "x -> own/one@1"},
        {"text": "TOKEN=your-token", "is_secret": False, "value": None, "kind": "Token", "source": "x -> own/one@1"},
        {"text": "id: 3f2504e0", "is_secret": True, "value": "3f2504e0", "kind": "UUID", "source": "x -> own/two@1"},
        {"text": f"token: '{VALUE}'", "is_secret": False, "value": None, "kind": "Token", "source": "own/two@1"},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    return file


def test_eval_secrets_counts_found_and_spoiled(labelled: Path) -> None:
    done = CliRunner().invoke(eval_.command, ["secrets", "--json", str(labelled)])
    figures = json.loads(done.stdout)
    assert set(figures) == {"recall", "false_alarm_rate", "secrets", "others", "baseline", "by"}
    assert (figures["recall"], figures["false_alarm_rate"]) == (0.5, 0.5)
    assert (figures["secrets"], figures["others"]) == (2, 2)
    assert figures["by"]["without_uuid"]["recall"] == 1.0
    assert set(figures["by"]["source"]) == {"own/one", "own/two"}
    assert figures["baseline"]["recall"] == 0.189


def test_eval_secrets_shows_a_table_next_to_the_baseline(labelled: Path) -> None:
    done = CliRunner().invoke(eval_.command, ["secrets", str(labelled)])
    assert "50.0%" in done.stdout
    assert "18.9%" in done.stdout
    assert "gitleaks" in done.stdout


def test_no_secrets_no_recall(tmp_path: Path) -> None:
    assert evaluate([])["recall"] is None


@pytest.mark.parametrize("line", ["{", "3", "{}", '{"text": 1, "is_secret": true}'])
def test_a_bad_record_is_one_clear_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(line)
    with pytest.raises(NmemError, match=r"bad\.jsonl:1"):
        list(records([file]))
