"""The tools over a recorded project: indexes, details, pages, and what is said where there is nothing."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nmem.context.choosing import switched
from nmem.mcp import reply
from nmem.mcp.server import TOOLS, answered
from nmem.mcp.tool import asking
from nmem.settle import settle
from tests.nmem.conftest import Recorded
from tests.nmem.mcp.conftest import HOSTILE, Client


def test_an_index_leads_to_details_and_these_to_what_led_there(client: Client, shop: Recorded) -> None:
    listed = client.get("episodes")
    assert listed["project"] == "shop"
    names = [each["name"] for each in listed["episodes"]]
    assert names[0].startswith("Write the changelog") and names[1].startswith("The invoice total is doubled")
    coupon = listed["episodes"][1]
    assert coupon["outcome"].startswith("tests fail")
    (told,) = client.get("get", ids=[coupon["id"]])["found"]
    assert "invoice.py" in " ".join(told["files"]) and told["session"] == "session/coupon"
    (prompt,) = client.get("get", ids=[told["asked"][0]])["found"]
    assert prompt["text"].startswith("The invoice total is doubled") and prompt["episode"] == coupon["id"]
    around = client.get("timeline", around=prompt["done"][0]["id"], before=1, after=1)
    assert [row["what"] for row in around["rows"]] == ["user prompt", "test", "file_edit"]
    assert around["rows"][1]["failed"] == "failed"


def test_what_the_work_is_about_leads_to_its_episodes(client: Client, shop: Recorded) -> None:
    assert client.get("episodes", by="themes") == {"project": "shop", "themes": []}
    shop.db.execute(
        "INSERT INTO unit_themes SELECT u.id, s.project_id, u.id % 2 + 1, 'rounding <b>coupons</b>' FROM work_units u"
        " JOIN sessions s ON s.id = u.session_id"
    )
    shown = client.get("episodes", by="themes")["themes"]
    assert sum(each["episodes"] for each in shown) == len(client.get("episodes")["episodes"])
    assert all("rounding" in each["about"] and "<b>" not in each["about"] for each in shown)
    listed = client.get("episodes", query=shown[0]["id"])["episodes"]
    assert len(listed) == shown[0]["episodes"]
    assert len(client.get("episodes", by="themes", limit=1)["themes"]) == 1
    assert client.get("episodes", by="themes", project="*")["project"] == "all"


def test_a_task_is_found_by_its_words_and_given_in_full(client: Client, shop: Recorded) -> None:
    shop.db.execute(
        "INSERT INTO tasks (created_at, changed_at, prompt, project, cwd, session_id, state, output)"
        " VALUES (1, 1, 'publish the release', 'shop', '/src/shop', 'coupon', 'failed', 'no tag')"
    )
    (hit,) = client.get("search", query="publish type:task")["hits"]
    assert (hit["id"], hit["what"], hit["failed"]) == ("task/1", "task", True)
    (told,) = client.get("get", ids=[hit["id"]])["found"]
    assert (told["state"], told["prompt"], told["said_last"]) == ("failed", "publish the release", "no tag")
    assert told["session"] == "session/coupon"
    assert "get task/1 names its session" in client.refused("timeline", around="task/1")
    assert "there is no task/9" in client.refused("get", ids="task/9")


def test_details_of_every_kind(client: Client, shop: Recorded) -> None:
    thread = client.get("episodes")["episodes"][0]["thread"]
    found = client.get("get", ids=["obs/1", "session/coup", thread])["found"]
    assert found[0]["answer"] == "E AssertionError: expected 12, got 24" and found[0]["prompt"] == "prompt/1"
    assert found[1]["id"] == "session/coupon" and found[1]["episodes"]
    assert found[2]["id"] == thread and any("session/" in each for each in found[2]["sessions"])


def test_a_command_can_be_called_again_as_it_is_told(client: Client, shop: Recorded) -> None:
    rows = client.get("timeline")["rows"]
    assert {"make docs 2>&1 | tail -3"} == {row["text"] for row in rows if row["what"] == "command"}


def test_pages_follow_each_other_without_gap_or_double(client: Client, record: Recorded) -> None:
    for number in range(7):
        record.begin(f"s{number}").user(f"task {number}")
    for tool, key in (("session_summaries", "sessions"),):
        seen: list[str] = []
        cursor = ""
        for _ in range(9):
            page = client.get(tool, limit=3, **({"cursor": cursor} if cursor else {}))
            seen += [each["id"] for each in page[key]]
            cursor = page.get("next", "")
            if not cursor:
                break
        assert seen == [f"session/s{number}" for number in reversed(range(7))]
    assert client.refused("session_summaries", cursor="3.x").startswith("cursor: pass the `next`")


def test_episodes_page_too_and_can_be_filtered(client: Client, shop: Recorded) -> None:
    first = client.get("episodes", limit=1)
    second = client.get("episodes", limit=1, cursor=first["next"])
    assert first["episodes"][0]["id"] != second["episodes"][0]["id"] and "next" not in second
    assert [each["name"][:10] for each in client.get("episodes", query="invoice")["episodes"]] == ["The invoic"]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("obs/999", "there is no obs/999: they are obs/1 to obs/"),
        ("prompt/999", "there is no prompt/999: they are prompt/1 to"),
        ("episode/999", "there is no episode/999: they are episode/1 to episode/2"),
        ("learning/9", "there is no learning/9: "),
        ("session/nope", "there is no session/nope: the newest are session/change-log, session/coupon"),
        ("session/c", "session/c matches several sessions: session/change-log, session/coupon"),
        ("12", "12 is not an id: obs/12, prompt/5, episode/3, session/abc, thread/4, learning/2, task/7 or decision/4"),
        ("obs/x", "obs/x is not an id: obs/ and a number"),
        ("file/src/a.py", "file/src/a.py is a file: use file_history"),
        ("", "nothing is not an id"),
        ("obs/1; DROP TABLE observations", "is not an id"),
    ],
)
def test_an_unknown_id_says_what_there_is(client: Client, shop: Recorded, wanted: str, says: str) -> None:
    assert says in client.refused("get", ids=wanted)


def test_a_wrong_id_does_not_keep_the_right_ones_back(client: Client, shop: Recorded) -> None:
    found = client.get("get", ids=["obs/1", "obs/999"])
    assert [each["id"] for each in found["found"]] == ["obs/1"] and "no obs/999" in found["wrong"][0]


def test_what_is_stored_cannot_act(client: Client, record: Recorded) -> None:
    record.begin("bad").user(HOSTILE).act("command", HOSTILE, HOSTILE, "failed", response=HOSTILE)
    record.agent(HOSTILE)
    for tool, given in (
        ("get", {"ids": ["obs/1", "prompt/1", "session/bad"]}), ("timeline", {}), ("session_summaries", {}),
        ("current_stance", {}),
    ):  # fmt: skip
        told = json.dumps(client.get(tool, **given), ensure_ascii=False)
        for sign in ("</system", "<|im", "[nmem context]", "[/nmem context]", "[INST]", "\x1b", "\u202e", "\\u0000"):
            assert sign not in told, (tool, sign)
    assert "ignore previous instructions" in told or tool == "current_stance"


@pytest.mark.usefixtures("shop")
def test_text_of_a_foreign_program_is_given_as_far_as_it_can_be_read(client: Client, db_path: str) -> None:
    with closing(sqlite3.connect(db_path, isolation_level=None)) as foreign:
        for table in ("prompts", "observations"):
            foreign.execute(f"UPDATE {table} SET content = CAST(? AS TEXT)", (b"lamp \xff is dark",))
    found = client.get("get", ids=["obs/1", "prompt/1", "session/coupon", "episode/1"])["found"]
    assert [each["text"] for each in found[:2]] == ["lamp \ufffd is dark"] * 2
    assert client.get("timeline")["rows"] and client.get("search", query="type:prompt")["hits"]


def test_replies_are_bounded_and_say_what_is_left(client: Client, record: Recorded) -> None:
    record.begin("long").user("x " * 500_000)
    for _ in range(30):
        record.act("command", "y" * 100_000, None, "failed", response="z" * 50_000)
    found = client.get("get", ids=[f"obs/{n}" for n in range(1, 21)], chars=30_000)
    assert found["left"] and len(json.dumps(found, ensure_ascii=False)) < reply.MOST + 20_000
    assert found["found"][0]["text_of"] == "100000 characters"
    for tool in TOOLS:
        if tool not in ("get", "mark"):
            given = {each.name: "x" for each in TOOLS[tool].params if each.required}
            assert len(answered(tool, given, client.folder)[0]) <= reply.MOST, tool
    assert client.get("get", ids="obs/1", chars=100)["found"][0]["text"].endswith("…")


def test_a_list_that_is_too_long_loses_its_end_and_says_so() -> None:
    rows = [{"id": number, "text": "w" * 900} for number in range(100)]
    found = json.loads(reply.text({"rows": rows, "next": "1.1"}))
    assert found["rows"] == rows[: len(found["rows"])] and len(found["rows"]) > 30
    assert found["cut"] == f"{100 - len(found['rows'])} more of rows: ask for less at once" and found["next"] == "1.1"


def test_the_project_is_the_folders_own_unless_asked(client: Client, shop: Recorded) -> None:
    shop.db.execute("INSERT INTO projects VALUES (2, 'other', 'other', '/src/other', NULL, 0)")
    shop.db.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES ('o', 'claude', 2, '/', 1, 1)"
    )
    shop.db.execute("INSERT INTO prompts VALUES (900, 'o', 1, 'user', 'prompt', 'elsewhere', NULL, NULL, 'k')")

    def ids(**given: str) -> list[str]:
        return [each["id"] for each in client.get("session_summaries", **given)["sessions"]]

    assert "session/o" not in ids() and ids(project="other") == ["session/o"] and "session/o" in ids(project="*")
    client.folder = "/somewhere/else"
    assert client.refused("episodes") == "nothing is recorded of else: project may be shop, other or * for all"


def test_no_database_and_one_of_another_version_are_answers(client: Client, db_path: str) -> None:
    assert client.refused("episodes").startswith(f"nothing is recorded yet at {db_path}: run `nmem init`")
    assert client.refused("mark", text="x").startswith("nothing is recorded yet")


def test_a_newer_database_says_to_upgrade(client: Client, record: Recorded, db_path: str) -> None:
    with closing(sqlite3.connect(db_path)) as db:
        db.execute("PRAGMA user_version = 99")
        db.commit()
    for tool in TOOLS.keys() - {"recall", "episode"}:  # which read the project's own files, and nothing
        given = {each.name: "obs/1" for each in TOOLS[tool].params if each.required}
        assert "upgrade nmem" in client.refused(tool, **given), tool


def test_a_database_that_breaks_meanwhile_is_one_line(client: Client, record: Recorded) -> None:
    record.begin("s").user("hello")
    record.db.execute("DROP TABLE unit_prompts")
    record.db.execute("DROP TABLE session_summaries")
    assert "cannot be read: no such table" in client.refused("session_summaries")


def test_what_takes_too_long_is_stopped(client: Client, record: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    record.begin("s")
    for number in range(3000):
        record.user(f"word {number}")
    monkeypatch.setattr("nmem.mcp.tool.SECONDS", 0.0)
    monkeypatch.setattr("nmem.mcp.tool.OUTER_STEPS", 10)
    assert "took too long" in client.refused("timeline")


def test_an_unforeseen_failure_is_one_line_and_its_place_is_logged(
    client: Client, record: Recorded, monkeypatch: pytest.MonkeyPatch, db_path: str
) -> None:
    from capture import paths

    record.begin("s").user("secret words")
    monkeypatch.setattr("nmem.read.store.summary_page", lambda *_: 1 // 0)
    assert (
        client.refused("session_summaries")
        == "session_summaries failed: ZeroDivisionError; the log of nmem has the rest"
    )
    assert "mcp session_summaries: ZeroDivisionError at" in Path(paths.log(db_path)).read_text()


def test_there_is_no_such_tool(client: Client) -> None:
    assert client.refused("recollect").startswith("there is no tool recollect: ")


def test_the_stance_of_the_newest_session(client: Client, shop: Recorded) -> None:
    found = client.get("current_stance")
    assert found["session"] == "session/change-log" and found["calls"] == 2
    assert client.get("current_stance", session="coupon")["session"] == "session/coupon"
    assert "is not a session" in client.refused("current_stance", session="obs/1")


def test_context_names_items_that_get_knows(client: Client, shop: Recorded) -> None:
    found = client.get("context", about="the coupon total in src/invoice.py is still wrong")
    ids = [each["id"] for each in found["items"]]
    assert ids and all(each["why"] and each["text"] for each in found["items"])
    for each in ids:
        if not each.startswith("file/"):
            assert client.get("get", ids=[each])["found"], each


def test_a_project_that_is_to_be_told_nothing_is_told_nothing_here_either(client: Client, shop: Recorded) -> None:
    switched(shop.db, 1, shop.at, off=True)
    found = client.get("context", about="the coupon total in src/invoice.py is still wrong")
    assert found["items"] == []
    assert "nmem context --on" in found["note"]


def test_search_leads_to_what_was_said_and_done(client: Client, shop: Recorded) -> None:
    found = client.get("search", query="coupon invoice")
    assert found["hits"][0]["id"].startswith(("prompt/", "episode/")) and int(found["found"].rstrip("+")) >= 3
    for hit in found["hits"]:
        assert client.get("get", ids=[hit["id"]])["found"], hit
    failed = client.get("search", query="is:failed type:test")["hits"]
    assert {hit["what"] for hit in failed} == {"test"} and all(hit["failed"] for hit in failed)


@pytest.mark.parametrize(
    "query", ["what's wrong", "C++", 'login, "bug', "AND OR NOT (", "😀", "日本語", "project:", "x" * 5_000]
)
def test_whatever_is_typed_is_searched_for(client: Client, shop: Recorded, query: str) -> None:
    assert "found" in client.get("search", query=query)


def test_search_pages_and_keeps_to_its_project(client: Client, shop: Recorded) -> None:
    first = client.get("search", query="invoice", limit=2)
    second = client.get("search", query="invoice", limit=2, cursor=first["next"])
    assert not {hit["id"] for hit in first["hits"]} & {hit["id"] for hit in second["hits"]}
    shop.db.execute("INSERT INTO projects VALUES (2, 'shop/api', 'shop-api', '/src/api', NULL, 0)")
    shop.db.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES ('o', 'x', 2, '/', 1, 1)"
    )
    shop.db.execute("INSERT INTO prompts VALUES (900, 'o', 1, 'user', 'prompt', 'xylophone', NULL, NULL, 'k')")
    assert "hits" not in client.get("search", query="xylophone")
    assert client.get("search", query="xylophone", project="*")["hits"][0]["project"] == "shop-api"
    assert client.refused("search", query="x", cursor="1.2").startswith("cursor: pass the `next`")


def test_a_files_history_by_whatever_name_it_is_asked_for(client: Client, shop: Recorded) -> None:
    found = client.get("file_history", path="src/invoice.py")
    (touched,) = found["episodes"]
    assert touched["edits"] == 2 and touched["outcome"].startswith("tests fail")
    assert client.get("get", ids=[touched["id"]])["found"][0]["session"] == "session/coupon"
    for name in ("invoice.py", "/src/shop/src/invoice.py", "file/src/invoice.py", "./src/invoice.py"):
        assert client.get("file_history", path=name)["episodes"] == [touched], name


def test_a_search_leaves_the_stop_of_its_call_in_place(client: Client, shop: Recorded) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with asking(TOOLS["search"].checked({"query": "coupon"}), client.folder) as ask:
        assert TOOLS["search"].run(ask)["hits"]
        ask._until = 0.0
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            ask.db.execute(endless).fetchone()


def test_a_decision_that_is_asked_for_counts_in_the_session_that_goes_on(
    shop: Recorded, tmp_path: Path, db_path: str
) -> None:
    folder = tmp_path / "shop"
    (folder / "docs" / "decisions").mkdir(parents=True)
    (folder / ".git").mkdir()
    shop.db.execute("UPDATE projects SET root = ?", (str(folder),))
    shop.db.commit()
    (folder / "docs" / "decisions" / "shop.md").write_text("## How to Round Totals\n\nOnce, at the end.\n")
    here = Client(str(folder))
    assert here.get("recall", queries=["/how round totals"])["answers"][0]["text"] == "Once, at the end."
    with closing(sqlite3.connect(db_path)) as db:
        asked = db.execute("SELECT session_id, entry, outcome FROM recall_calls").fetchall()
        newest = db.execute("SELECT id FROM sessions ORDER BY last_at DESC, rowid DESC").fetchone()[0]
    assert asked == [(newest, "/how Round Totals", "answered")]
    Path(db_path).write_bytes(b"no database at all, but decisions are files")
    assert here.get("recall", queries=["round totals"])["answers"][0]["decision"] == "How to Round Totals"


def test_an_agent_reads_what_was_decided_and_what_replaced_it(client: Client, record: Recorded, db_path: str) -> None:
    record.begin("policy").user("The retry client locked accounts: we need a retry policy with a backoff.")
    record.agent("How many attempts, and what backoff ceiling should the retry policy have?")
    record.user("Four attempts in all, and cap the backoff at 60 seconds.").agent(
        "Settled: backoff capped at 60 seconds."
    )
    record.begin("amended").user("The retry backoff of the client dies mid-wait behind the balancer.")
    record.agent("Which ceiling should the retry backoff of the policy have then?")
    record.user("Cap the retry backoff at 30 seconds instead of the old 60.")
    record.agent("Amending the retry policy, superseding the old cap: backoff capped at 30 seconds.")
    settle(db_path, models=False)
    hits = client.get("search", query="four attempts backoff")["hits"]
    old = next(hit for hit in hits if hit["id"].startswith("episode/") and "superseded_by" in hit)
    (decision,) = client.get("get", ids=[old["id"]])["found"][0]["decided"]
    assert decision["decided"] == "Four attempts in all, and cap the backoff at 60 seconds."
    assert decision["superseded_by"] == old["superseded_by"]
    later = decision["superseded_by"].split()[0]
    (new,) = client.get("get", ids=[later])["found"]
    assert new["decided"].startswith("Cap the retry backoff at 30 seconds") and "superseded_by" not in new
    assert old["holds_now"] == new["decided"], "no second call is needed to know what holds"
    said = next(hit for hit in hits if hit["id"] == decision["said_in"])
    assert said["holds_now"] == new["decided"] and said["superseded_by"] == old["superseded_by"]
    assert client.get("get", ids=[said["id"]])["found"][0]["superseded_by"] == old["superseded_by"]
    assert not any("holds_now" in hit for hit in hits if "superseded_by" not in hit)


@pytest.mark.parametrize("rules", ["[redaction]", "[redaction.projects.shop]"])
def test_replies_are_redacted_by_rules_that_are_newer_than_what_is_stored(
    client: Client, shop: Recorded, own_home: Path, monkeypatch: pytest.MonkeyPatch, rules: str
) -> None:
    monkeypatch.setattr("capture.redaction.settings.RECHECK", 0)
    file = own_home / ".config" / "nmem" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'{rules}\nwords = ["invoice", "doubled"]\n')
    prompt = client.get("search", query="total kind:prompt")
    listed = client.get("episodes")
    full = client.get("get", ids=[each["id"] for each in listed["episodes"]])
    said = client.get("get", ids=[full["found"][1]["asked"][0]])
    for told in (prompt, listed, full, said, client.get("session_summaries"), client.get("timeline", project="*")):
        assert "doubled" not in json.dumps(told)
        assert "invoice " not in json.dumps(told)
    assert "[REDACTED:word]" in json.dumps(said)
