"""`nmem context` and `nmem eval context` as a person runs them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from capture.clients.said import BEGIN, END
from nmem.commands import main as cli
from nmem.settle import settle
from tests.nmem.conftest import MINUTE

if TYPE_CHECKING:
    from tests.nmem.conftest import Recorded

PROMPT = "the voucher rounding in src/voucher.py is wrong again in the basket"


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
    record.once("context command", lambda: _record(record, db_path))
    return Nmem(monkeypatch, capsys)


def _record(record: Recorded, db_path: str) -> None:
    for number, part in enumerate(("voucher", "chart", "voucher", "chart")):
        record.begin(f"s{number}").user(f"the {part} rounding on the basket page is wrong, step {number}")
        record.edit(f"src/{part}.py").test().agent(f"Rounding of the {part} is half up now, see `src/{part}.py`.")
        record.db.execute("UPDATE sessions SET state = 'ended' WHERE id = ?", (f"s{number}",))
    assert settle(db_path, models=False, clock=lambda: record.at + 60 * MINUTE) is not None


def test_the_exact_text_of_a_prompt(nmem: Nmem) -> None:
    code, out, _ = nmem("context", "--project", "shop", "--preview", "--prompt", PROMPT)
    assert code == 0
    assert out.startswith(BEGIN)
    assert out.strip().endswith(END)
    assert "src/voucher.py" in out
    found = nmem.json("context", "--project", "shop", "--prompt", PROMPT)
    assert found["text"] == out.removesuffix("\n")
    keys = {"project", "session", "prompt", "at", "budget", "tokens", "text", "why_silent", "items", "left_out",
            "before", "occasion", "choices", "excluded", "held"}  # fmt: skip
    assert set(found) == keys
    assert found["tokens"] <= found["budget"] == 800
    assert set(found["items"][0]) == {"id", "kind", "score", "reason", "tokens", "files", "text"}
    for item in found["items"]:
        assert item["text"] in out


def test_why(nmem: Nmem) -> None:
    code, out, _ = nmem("context", "--project", "shop", "--prompt", PROMPT, "--explain")
    assert code == 0
    assert "# context of shop, at a prompt:" in out
    assert "## Told" in out
    assert "of what the prompt says" in out
    code, out, _ = nmem("context", "--project", "shop", "--prompt", PROMPT, "--explain", "--budget", "70")
    assert "## Left out" in out


def test_silence_says_why(nmem: Nmem) -> None:
    code, out, err = nmem("context", "--project", "shop", "--prompt", "bake sourdough bread in an iron pot")
    assert (code, out) == (0, "")
    assert "says enough of what the prompt asks" in err
    found = nmem.json("context", "--project", "shop")
    assert found["text"] == ""
    assert "first prompt" in found["why_silent"]


def test_as_of_is_as_of(nmem: Nmem, record: Recorded) -> None:
    from datetime import UTC, datetime

    at = record.db.execute("SELECT started_at FROM sessions WHERE id = 's1'").fetchone()[0]
    then = datetime.fromtimestamp(at / 1000, UTC).isoformat()
    found = nmem.json("context", "--project", "shop", "--prompt", "rounding of src/voucher.py", "--as-of", then)
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
        (("context", "--project", "shop", "--as-of", "soon"), 2, "--as-of: invalid time 'soon'"),
        (("context", "--project", "shop", "--as-of", "2999-01-01"), 2, "must not lie in the future"),
        (("eval", "context", "--project", "nowhere"), 1, "nothing is recorded of project nowhere"),
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


def test_an_item_is_never_told_always_told_and_neither(nmem: Nmem) -> None:
    of_shop = ("context", "--project", "shop")
    before = nmem.json(*of_shop, "--prompt", PROMPT)
    item = before["items"][0]["id"]
    code, out, _ = nmem(*of_shop, "--exclude", item)
    promised = "never told, nor what quotes it"
    assert code == 0 and out == f"{item} is {promised} (`nmem undo` takes it back)\n"
    found = nmem.json(*of_shop, "--prompt", PROMPT)
    assert item not in {each["id"] for each in found["items"] + found["left_out"]}
    assert [each["id"] for each in found["excluded"]] == [item] and found["choices"] == {item: "exclude"}
    code, out, _ = nmem(*of_shop, "--prompt", PROMPT, "--explain")
    assert f"## Never told: you excluded it\n{item}\t" in out
    code, _, err = nmem(*of_shop, "--exclude", item)
    assert code == 1 and f"{item} is never told already" in err
    code, out, _ = nmem("undo")
    assert code == 0 and f"{item} never told" in out
    assert nmem.json(*of_shop, "--prompt", PROMPT) | {"at": 0} == before | {"at": 0}

    other = nmem.json(*of_shop, "--prompt", "the chart rounding is wrong")
    code, _, _ = nmem(*of_shop, "--include", "file/src/chart.py")
    assert code == 0
    assert "src/chart.py" in nmem.json(*of_shop)["text"]
    asked = nmem.json(*of_shop, "--prompt", PROMPT)
    assert "src/chart.py" not in asked["text"] and "src/chart.py" in str(asked["before"]), "its start has told it"
    assert "## Told before, at its start\nfile/src/chart.py" in nmem(*of_shop, "--prompt", PROMPT, "--explain")[1]
    nmem(*of_shop, "--neither", "file/src/chart.py")
    assert nmem.json(*of_shop, "--prompt", "the chart rounding is wrong") | {"at": 0} == other | {"at": 0}
    for wrong in ("nonsense", "episode/x", "*", "file/", "episode/" + "9" * 30):
        code, _, err = nmem(*of_shop, "--exclude", wrong)
        assert code == 1 and "is not an item of a context" in err


def test_what_comes_after_a_reset(nmem: Nmem) -> None:
    found = nmem.json("context", "--project", "shop", "--recovery")
    assert found["session"] == "s3" and "Interrupted:" in found["text"] and "src/chart.py" in found["text"]
    code, out, _ = nmem("context", "--session", "s2", "--recovery", "--explain")
    assert code == 0 and "after a reset" in out and "the goal that was interrupted" in out
    code, out, _ = nmem("context", "--session", "s2", "--recovery")
    assert "the voucher rounding" in out
    code, _, err = nmem("context", "--project", "elsewhere", "--recovery")
    assert code == 1 and "nothing is recorded of project elsewhere" in err


def test_what_was_told_and_what_became_of_it(nmem: Nmem, record: Recorded, db_path: str) -> None:
    from nmem.context.items import Item
    from nmem.context.store import Injection, remember

    record.begin("s9").user(PROMPT)
    one = Injection("s9", record.at, "prompt", "claude")
    one.prompt_id = record.db.execute("SELECT max(id) FROM prompts WHERE session_id = 's9'").fetchone()[0]
    one.text, one.reason = f"{BEGIN}\nsrc/voucher.py src/chart.py\n{END}", "the first prompt"
    one.items = [Item(f"file/src/{each}.py", "file", f"src/{each}.py", files=(f"src/{each}.py",), score=0.6,
                      reason="edited lately") for each in ("voucher", "chart")]  # fmt: skip
    assert remember(record.db, one)
    found = nmem.json("context", "--project", "shop", "--past")
    assert (found["tellings"], found["sessions"], found["items"], found["used"]) == (1, 1, 2, 0)
    assert found["told"][0]["undecided"] == 2 and found["told"][0]["text"] == one.text
    record.edit("src/voucher.py")
    record.db.execute("UPDATE sessions SET state = 'ended' WHERE id = 's9'")
    assert settle(db_path, models=False, clock=lambda: record.at + 60 * MINUTE) is not None
    found = nmem.json("context", "--project", "shop", "--past")
    assert [(each["id"], each["used"], each["how"]) for each in found["told"][0]["items"]] == [
        ("file/src/voucher.py", True, "edited src/voucher.py"), ("file/src/chart.py", False, ""),
    ]  # fmt: skip
    code, out, _ = nmem("context", "--project", "shop", "--past", "--limit", "1")
    assert code == 0 and "1 text told in 1 session: 1 of 2 things of use" in out
    assert "of use: edited src/voucher.py" in out and "not of use  (edited lately)" in out


def test_where_nothing_is_told_the_preview_says_so(nmem: Nmem) -> None:
    assert nmem("context", "--project", "shop", "--off")[0] == 0
    found = nmem.json("context", "--project", "shop", "--prompt", PROMPT)
    assert not found["text"] and "this project is told nothing" in found["why_silent"] and found["left_out"]
    assert "this project is told nothing" in nmem.json("context", "--project", "shop", "--recovery")["why_silent"]


def test_pinning_says_what_finds_no_room(nmem: Nmem, record: Recorded) -> None:
    numbers = [row[0] for row in record.db.execute("SELECT id FROM observations ORDER BY id DESC").fetchall()]
    assert nmem("pin", f"obs/{numbers[0]}")[1].count("\n") == 1
    long = "a long note of many words " * 20
    record.db.execute("UPDATE observations SET pinned = 1, content = ?", (long,))
    for number in range(30):
        record.act("marker", f"{number} {long}")
    record.db.execute("UPDATE observations SET pinned = 1 WHERE obs_type = 'marker'")
    record.db.execute("UPDATE observations SET pinned = 0 WHERE id = ?", (numbers[-1],))
    code, out, _ = nmem("pin", f"obs/{numbers[-1]}")
    assert code == 0
    assert "no room for all pins" in out and "`nmem unpin` makes room" in out
    found = nmem.json("context", "--project", "shop")
    assert "Pinned" in found["text"]
    assert found["left_out"]


def test_a_chosen_thread_counts_for_the_session_that_is_not_there_yet(nmem: Nmem, record: Recorded) -> None:
    from nmem.threads import steering

    assert not nmem.json("context", "--project", "shop")["text"]
    thread = record.db.execute("SELECT max(id) FROM threads").fetchone()[0]
    from nmem.commands import terminal

    steering.continue_next(record.db, thread, terminal.now())
    found = nmem.json("context", "--project", "shop")
    assert found["occasion"] == "the thread was chosen" and f"thread/{thread}" in {one["id"] for one in found["items"]}
