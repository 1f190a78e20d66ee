"""`nmem context` and `nmem eval context` as a person runs them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from nmem.commands import main as cli
from nmem.context.marks import BEGIN, END
from nmem.settle import settle
from tests.nmem.conftest import MINUTE

if TYPE_CHECKING:
    from tests.nmem.conftest import Recorded

PROMPT = "the voucher rounding is wrong again in the basket"


class Nmem:
    """Runs the command line in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        self.monkeypatch.setattr(sys, "argv", ["nmem", *words])
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = self.capsys.readouterr()
        return code, out, err

    def json(self, *words: str) -> Any:
        code, out, err = self(*words, "--json")
        assert code == 0, err
        return json.loads(out)


@pytest.fixture
def nmem(record: Recorded, db_path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Nmem:
    """A settled history of two parts."""
    for number, part in enumerate(("voucher", "chart", "voucher", "chart")):
        record.begin(f"s{number}").user(f"the {part} rounding on the basket page is wrong, step {number}")
        record.edit(f"src/{part}.py").test().agent(f"Rounding of the {part} is half up now, see `src/{part}.py`.")
        record.db.execute("UPDATE sessions SET state = 'ended' WHERE id = ?", (f"s{number}",))
    assert settle(db_path, models=False, clock=lambda: record.at + 60 * MINUTE) is not None
    return Nmem(monkeypatch, capsys)


def test_the_exact_text_of_a_prompt(nmem: Nmem) -> None:
    code, out, _ = nmem("context", "--project", "shop", "--preview", "--prompt", PROMPT)
    assert code == 0
    assert out.startswith(BEGIN)
    assert out.strip().endswith(END)
    assert "src/voucher.py" in out
    found = nmem.json("context", "--project", "shop", "--prompt", PROMPT)
    assert found["text"] == out.removesuffix("\n")
    keys = {"project", "session", "prompt", "at", "budget", "tokens", "text", "why_silent", "items", "left_out"}
    assert set(found) == keys
    assert found["tokens"] <= found["budget"] == 400
    assert set(found["items"][0]) == {"id", "kind", "score", "reason", "tokens", "files", "text"}
    for item in found["items"]:
        assert item["text"] in out


def test_why(nmem: Nmem) -> None:
    code, out, _ = nmem("context", "--project", "shop", "--prompt", PROMPT, "--explain")
    assert code == 0
    assert "# context of shop, at a prompt:" in out
    assert "## Told" in out
    assert "it edited src/voucher.py" in out
    code, out, _ = nmem("context", "--project", "shop", "--prompt", PROMPT, "--explain", "--budget", "70")
    assert "## Left out" in out


def test_silence_says_why(nmem: Nmem) -> None:
    code, out, err = nmem("context", "--project", "shop", "--prompt", "bake sourdough bread in an iron pot")
    assert (code, out) == (0, "")
    assert "about something else" in err
    found = nmem.json("context", "--project", "shop")
    assert found["text"] == ""
    assert "first prompt" in found["why_silent"]
    assert found["left_out"], "what was weighed is shown"


def test_as_of_is_as_of(nmem: Nmem, record: Recorded) -> None:
    from datetime import UTC, datetime

    at = record.db.execute("SELECT started_at FROM sessions WHERE id = 's1'").fetchone()[0]
    then = datetime.fromtimestamp(at / 1000, UTC).isoformat()
    found = nmem.json("context", "--project", "shop", "--prompt", "rounding on the basket page", "--as-of", then)
    assert found["at"] == at
    assert "src/voucher.py" in found["text"]
    assert "chart" not in json.dumps(found)


def test_of_a_session(nmem: Nmem, record: Recorded) -> None:
    record.begin("now").user(PROMPT)
    found = nmem.json("context", "--session", "now", "--prompt", PROMPT)
    assert found["session"] == "now"
    item = found["items"][0]
    record.db.execute(
        "INSERT INTO injections (id, at, session_id, event, client, text, tokens)"
        " VALUES (1, ?, 'now', 'prompt', 'claude', 'x', 1)",
        (record.at,),
    )
    record.db.execute(
        "INSERT INTO injection_items (injection_id, position, item, kind, score, reason, text, files, tokens)"
        " VALUES (1, 0, ?, ?, 1, '', 'x', ?, 1)",
        (item["id"], item["kind"], json.dumps(item["files"])),
    )
    again = nmem.json("context", "--session", "now", "--prompt", PROMPT)
    assert item["id"] not in {one["id"] for one in again["items"]}


def test_what_is_wrong_is_one_line(nmem: Nmem) -> None:
    for words, code, said in (
        (("context", "--project", "nowhere"), 1, "nothing is recorded of project nowhere"),
        (("context", "--session", "nobody"), 1, "there is no session nobody"),
        (("context", "--preview"), 2, "--prompt TEXT"),
        (("context", "--project", "shop", "--as-of", "soon"), 2, "soon is no time"),
        (("eval", "context", "--project", "nowhere"), 1, "no session is left to replay"),
    ):
        got, _, err = nmem(*words)
        assert got == code
        assert said in err
        assert err.count("\n") == 1


def test_the_evaluation(nmem: Nmem) -> None:
    found = nmem.json("eval", "context")
    assert {"hit_rate", "precision", "tokens", "sessions", "baseline", "by"} == set(found)
    assert found["sessions"] == 3
    code, out, _ = nmem("eval", "context", "--budget", "300")
    assert code == 0
    assert "newest five sessions" in out
