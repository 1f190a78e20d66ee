"""`nmem redact` and `nmem eval secrets`, as a person runs them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from capture import redaction
from nmem.commands import eval_, redact
from nmem.errors import NmemError
from nmem.evaluate.secrets import evaluate, records

VALUE = "kq7Zt9wPx2" + "mVb"


def test_redact_filters_lines_and_keys_as_a_whole() -> None:
    key = "-----BEGIN RSA PRIVATE " + "KEY-----\nMq7Rz0pLw9XaMq7Rz0\n-----END RSA PRIVATE " + "KEY-----\n"
    done = CliRunner().invoke(redact.command, ["--stats"], input=f"plain\nTOKEN={VALUE}\n{key}\x1b[1mend")
    assert done.exit_code == 0
    assert done.stdout == "plain\nTOKEN=[REDACTED:token]\n[REDACTED:private-key]\nend"
    assert json.loads(done.stderr) == {"private-key": 1, "token": 1}


def test_redact_takes_any_bytes() -> None:
    done = CliRunner().invoke(redact.command, input=b"\xff\xfe ok\n")
    assert done.exit_code == 0
    assert done.stdout.endswith(" ok\n")


KEY = "".join(
    f"-----{word} RSA PRIVATE " + f"KEY-----\n{body}"
    for word, body in (("BEGIN", "Mq7Rz0pLw9XaMq7Rz0bV4cN6kJ8h\n" * 20), ("END", ""))
)
BLOCKS = (
    KEY,
    KEY.split("\n", 5)[5],
    f"- name: DB_PASSWORD\n  value: {VALUE}\n",
    f"kind: Secret\ndata:\n  dsn: {VALUE}\n---\n",
    f"password = '{VALUE}'\n",
    "an ordinary line of a log\n" * 40,
)


@pytest.mark.parametrize("block", BLOCKS[:4])
def test_redact_shows_what_a_hook_would_keep_of_more_than_a_line(block: str) -> None:
    done = CliRunner().invoke(redact.command, input=f"before\n{block}after\n")
    assert done.stdout == redaction.redact(f"before\n{block}after\n")
    assert VALUE not in done.stdout
    assert "Mq7Rz0pLw9Xa" not in done.stdout


@pytest.mark.parametrize("seed", range(6))
def test_a_long_text_comes_out_as_if_it_were_looked_at_at_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In pieces of any size, with borders anywhere, and no more held than a piece and what is around it."""
    monkeypatch.setattr(redact, "_WHOLE", 6_000)
    monkeypatch.setattr(redact, "_AROUND", 3_000)
    dice = random.Random(seed)
    text = "".join(dice.choice((*BLOCKS[:1], *BLOCKS[2:])) for _ in range(120))
    expected: dict[str, int] = {}
    whole = redaction.redact(text, expected)
    counts: dict[str, int] = {}
    through = redact.Filter(counts)
    out = ""
    at = 0
    while at < len(text):
        size = dice.randint(1, 5_000)
        out += through.add(text[at : at + size])
        assert len(through.held) <= 17_000
        at += size
    assert out + through.end() == whole
    assert counts == expected


def test_a_key_without_an_end_does_not_swallow_a_stream() -> None:
    text = KEY.split("\n-----END")[0] + "\n" + "an ordinary line\n" * 20_000
    done = CliRunner().invoke(redact.command, input=text)
    assert done.stdout.startswith("[REDACTED:private-key]")
    assert done.stdout.endswith("an ordinary line\nan ordinary line\n")
    assert "Mq7Rz0pLw9Xa" not in done.stdout


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
