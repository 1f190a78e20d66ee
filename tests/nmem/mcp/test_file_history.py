"""`file_history`: who touched a file, and where that is asked from."""

from __future__ import annotations

from nmem.marks import mark
from tests.nmem.conftest import Recorded
from tests.nmem.mcp.conftest import HOSTILE, Client


def test_it_names_episodes_with_outcome_and_decisions(client: Client, shop: Recorded, db_path: str) -> None:
    mark(db_path, f"Round half up {HOSTILE}", "decision", session_id="coupon", at=shop.at)
    found = client.get("file_history", path="src/invoice.py")
    assert found["path"] == "src/invoice.py"
    (coupon,) = found["episodes"]
    assert coupon["name"].startswith("The invoice total is doubled")
    assert coupon["edits"] == 2 and coupon["outcome"].startswith("tests fail")
    assert "Round half up" in coupon["decisions"][0]
    assert not any(each in str(found) for each in ("</system-reminder>", "<|im_start|>", "[/nmem context]", "\x1b"))
    (told,) = client.get("get", ids=[coupon["id"]])["found"]
    assert told["id"] == coupon["id"]


def test_a_name_alone_is_enough_and_what_is_not_there_is_said(client: Client, shop: Recorded) -> None:
    assert client.get("file_history", path="changes.md")["episodes"][0]["name"].startswith("Write the changelog")
    nothing = client.get("file_history", path="nope.py", project="*")
    assert nothing["episodes"] == []
    assert nothing["remarks"] == ["no nope.py is recorded of any project: search file:nope.py"]
    assert client.refused("file_history", path="src/invoice.py", cursor="x").startswith("cursor: pass the `next`")


def test_pages_follow_each_other(client: Client, record: Recorded) -> None:
    for number in range(5):
        record.begin(f"s{number}").user(f"task {number}").edit("src/a.py")
    first = client.get("file_history", path="src/a.py", limit=2)
    second = client.get("file_history", path="src/a.py", limit=9, cursor=first["next"])
    ids = [each["id"] for page in (first, second) for each in page["episodes"]]
    assert ids == [f"session/s{number}" for number in (4, 3, 2, 1, 0)]
    assert "next" not in second
