"""One box: what a person would type finds what a person would mean, at any time and in any script."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capture.storage import store
from nmem.search import gather
from nmem.search.clock import Clock
from nmem.search.index_store import blocks
from nmem.search.rank import NEWEST, RELEVANCE
from nmem.search.search import Results, search
from nmem.search.store import quoted
from tests.nmem.search.conftest import MINUTE, NOW, Stored

SLOW = 30.0


def ids(found: Results) -> list[str]:
    return [hit.id for hit in found.hits]


def find(stored: Stored, text: str, order: str = RELEVANCE, **options: object) -> Results:
    return search(stored.db, text, NOW, order=order, seconds=SLOW, **options)  # type: ignore[arg-type]


HARD = [
    "what's wrong",
    "C++",
    "login, bug",
    '"',
    '"unbalanced',
    "🚀",
    "!!",
    "...",
    "AND OR NOT",
    "NEAR(a b)",
    "a*",
    "^x",
    "-x",
    "content: x",
    "{a b}: c",
    "(",
    "\\",
    "%",
    "_",
    "\0",
    "\ud800",
    "登录",
    "x" * 10_000,
    "登" * 10_000,
    "word " * 2_000,
    "'; DROP TABLE prompts; --",
    "é",
    "İstanbul",
    "",
    "   ",
    "\n",
    "type:",
    "is:failed is:pinned",
]


@pytest.mark.parametrize("settled", [True, False])
def test_nothing_typed_is_an_error(stored: Stored, settled: bool) -> None:
    stored.say("the login page breaks, what's wrong?")
    stored.do("g++ -O2 main.cpp", outcome="failed", metadata=json.dumps({"response": "main.cpp:1: error: C++17"}))
    if settled:
        stored.settle()
    for text in HARD:
        for order in (RELEVANCE, NEWEST):
            assert find(stored, text, order).seconds >= 0, text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(text=st.text(max_size=80))
def test_no_text_is_an_error(stored: Stored, text: str) -> None:
    if not stored.db.execute("SELECT count(*) FROM prompts").fetchone()[0]:
        stored.say("the login page 登录页面 breaks 🚀")
        stored.settle()
    find(stored, text)
    find(stored, text, NEWEST)


def test_every_kind_is_found_and_has_its_id(stored: Stored) -> None:
    wanted = [
        stored.say("fix the frobnicator"),
        stored.say("the frobnicator is fixed", "agent"),
        stored.do("pytest -k frobnicator", "test"),
        stored.do("frobnicator decided", "marker"),
        stored.do("src/frobnicator.py", "file_edit", path="src/frobnicator.py"),
    ]
    stored.db.execute(
        "INSERT INTO work_units (session_id, first_prompt_id, last_prompt_id, started_at, last_at, intent)"
        " VALUES ('shop', 1, 1, ?, ?, 'mend the frobnicator')",
        (NOW, NOW),
    )
    stored.db.execute(
        "INSERT INTO session_summaries (session_id, intent, learned, completed, next_steps, files_read, files_edited,"
        " narrator, at) VALUES ('shop', 'frobnicator work', '[]', '[\"it runs\"]', '[]', '[]', '[]', 'extractive', ?)",
        (NOW,),
    )
    stored.db.execute(
        "INSERT INTO learnings (project_id, kind, key, title, first_at, last_at, sessions, occurrences)"
        " VALUES (1, 'recurring_error', 'k', 'frobnicator jams', 0, 0, 2, 2)"
    )
    wanted.append(stored.queue("oil the frobnicator"))
    stored.settle()
    for order in (RELEVANCE, NEWEST):
        found = find(stored, "frobnicator", order)
        assert set(ids(found)) == {*wanted, "episode/1", "session/shop", "learning/1"}
        assert {facet.value for facet in found.facets.kinds} == {
            "prompt",
            "reasoning",
            "obs",
            "marker",
            "episode",
            "session",
            "learning",
            "task",
        }


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("call getUserId here", "userid"),
        ("call getUserId here", "getUserId"),
        ("call getUserId here", "user id"),
        ("call getUserId here", "getU"),
        ("see get_user_id", "getUserId"),
        ("src/auth/login_form.py", "auth/login"),
        ("src/auth/login_form.py", "form.py"),
        ("src/auth/login_form.py", "uth/logi"),
        ("修复登录页面崩溃", "登录"),
        ("修复登录页面崩溃", "页面崩溃"),
        ("修复登录页面崩溃", "崩溃"),
        ("修复登录页面崩溃", "修"),
        ("ログインの画面が落ちる", "画面"),
        ("로그인 화면이 멈추는", "화면"),
        ("crashes often", "crash"),
        ("crash often", "crashes"),
        ("Größe wählen", "grosse"),
        ("déjà vu", "deja"),
        ("use C++ here", "C++"),
        ("it is 🚀 fast", "🚀"),
        ("weird => arrow", "=>"),
    ],
)
def test_found_by_a_part(stored: Stored, text: str, typed: str, settled: bool) -> None:
    if typed in ("grosse", "uth/logi") or (not settled and typed == "user id"):
        pytest.skip("not promised")
    wanted = {stored.say(text), stored.do(text)}
    stored.say("nothing of the kind")
    stored.do("else")
    if settled:
        stored.settle()
    assert wanted <= set(ids(find(stored, typed)))
    assert wanted <= set(ids(find(stored, typed, NEWEST)))


def test_the_answer_of_a_failing_call_is_found(stored: Stored) -> None:
    wanted = stored.do(
        "make", "build", outcome="failed", metadata=json.dumps({"response": "undefined reference to zlib"})
    )
    stored.settle()
    hit = find(stored, "undefined reference").hits[0]
    assert hit.id == wanted
    assert "undefined reference" in hit.snippet.text
    assert [hit.snippet.text[a:b] for a, b in hit.snippet.marks] == ["undefined", "reference"]


def test_filters_narrow(stored: Stored) -> None:
    mine = stored.do("pytest login", "test", outcome="failed")
    stored.do("pytest login", "test")
    stored.do("make login", "build", outcome="failed")
    other = stored.do("pytest login", "test", "blog", outcome="failed", pinned=1)
    file = stored.do("src/login.py", "file_edit", path="src/login.py")
    old = stored.say("login", at=NOW - 10**10)
    stored.settle()
    assert ids(find(stored, "login type:test is:failed project:shop")) == [mine]
    assert ids(find(stored, "login client:codex")) == [other]
    assert ids(find(stored, "login is:pinned")) == [other]
    assert ids(find(stored, "is:pinned")) == [other]
    assert ids(find(stored, "login file:src/log")) == [file]
    assert ids(find(stored, "file:login.py")) == [file]
    assert ids(find(stored, "login type:prompt")) == [old]
    assert old not in ids(find(stored, "login since:30d"))
    assert find(stored, "login !pytest type:obs").found == 2
    nobody = find(stored, "login project:nobody")
    assert not nobody.hits
    assert nobody.remarks == ("nothing stored matches project:nobody",)


def test_an_index_of_time_orders_what_was_imported_late(stored: Stored) -> None:
    new = [stored.do(f"widget {n}", at=NOW - n * MINUTE) for n in range(30)]
    for n in range(6_000):
        stored.do(f"widget old {n}", at=NOW - 10**10 + n)
    stored.settle()
    assert ids(find(stored, "widget", NEWEST, limit=30)) == new


@pytest.mark.parametrize("rare", [True, False])
def test_the_newest_are_the_newest_wherever_they_are_stored(
    stored: Stored, monkeypatch: pytest.MonkeyPatch, rare: bool
) -> None:
    """Two stretches of ids that were written side by side, as an import beside a session."""
    monkeypatch.setattr(gather, "_RARE", 60_000 if rare else 0)
    made = {
        stored.do(f"xylophone {n}", at=NOW - n * MINUTE - half): (n, half) for half in (0, 1) for n in range(300, 0, -1)
    }
    stored.settle()
    with store.transaction(stored.db):
        stored.db.execute("DELETE FROM search_blocks WHERE source = 'observations'")
        stored.db.execute(
            "INSERT INTO search_blocks SELECT 'observations', min(id), max(id), min(at), max(at), ' 1 ', ' claude '"
            " FROM observations GROUP BY (id - 1) / 10"
        )
    found = search(stored.db, "xylophone", NOW, order=NEWEST, limit=50)
    assert [hit.id for hit in found.hits] == sorted(made, key=made.__getitem__)[:50]


def test_pages_neither_repeat_nor_leave_out_while_rows_come_in(stored: Stored) -> None:
    expected = {stored.do(f"widget {n % 7} number{n}", at=NOW - (n // 5) * MINUTE) for n in range(137)}
    stored.settle()
    for order in (RELEVANCE, NEWEST):
        seen, cursor = list[str](), ""
        while True:
            page = find(stored, "widget", order, limit=20, cursor=cursor)
            seen += ids(page)
            stored.do("widget late", at=NOW + 10**6)
            cursor = page.next
            if not cursor:
                break
        assert len(seen) == len(set(seen))
        assert set(seen) >= expected


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("text", ["widget", "type:command,prompt", "project:shop", "登录"])
def test_pages_by_time_lose_nothing_of_one_millisecond(stored: Stored, text: str, settled: bool) -> None:
    expected = {stored.do(f"widget 登录 {n}", at=NOW - MINUTE) for n in range(90)}
    expected |= {stored.say(f"widget 登录 {n}", at=NOW - MINUTE) for n in range(70)}
    expected |= {stored.do(f"widget 登录 old {n}", at=NOW - 2 * MINUTE) for n in range(30)}
    if settled:
        stored.settle()
    seen, cursor = list[str](), ""
    while True:
        page = find(stored, text, NEWEST, limit=20, cursor=cursor)
        seen += ids(page)
        cursor = page.next
        if not cursor:
            break
    assert len(seen) == len(set(seen))
    assert set(seen) == expected


def test_a_wrong_cursor_is_told(stored: Stored) -> None:
    with pytest.raises(ValueError, match="cursor"):
        find(stored, "x", cursor="nonsense")
    with pytest.raises(ValueError, match="order"):
        find(stored, "x", order="best")


def test_a_mistyped_word_names_the_one_that_may_be_meant(stored: Stored) -> None:
    for text in ("the checkpoint of the harbour", "a checkpoint again", "chapel", "chapel two"):
        stored.say(text)
    stored.settle()

    def meant(text: str) -> list[str]:
        return [one.partition("; ")[2] for one in find(stored, text).remarks if "did you mean" in one]

    assert meant("ceckpoint") == meant("chekcpoint") == meant("checkpiont harbour") == ["did you mean: checkpoint?"]
    assert meant("cxyzzyz") == meant("chape") == meant("checkpoint") == []


def test_the_time_limit_also_ends_the_look_for_a_word_that_may_be_meant(stored: Stored) -> None:
    stored.say("the checkpoint of the harbour " + " ".join(f"c{number:x}q" for number in range(5_000, 9_000)))
    stored.say("a checkpoint again")
    stored.settle()
    looked: list[str] = []
    stored.db.set_trace_callback(lambda sql: looked.append(sql) if "length(term) BETWEEN" in sql else None)
    found = search(stored.db, "ceckpoint", NOW, stopped=lambda: bool(looked))
    assert looked and not any("did you mean" in remark for remark in found.remarks)


def test_words_without_a_part_in_what_was_found_are_named(stored: Stored) -> None:
    stored.say("the token cache of 1234567 expired")
    stored.settle()
    stored.say("something fresh")

    def told(text: str) -> tuple[str, ...]:
        return tuple(one for one in find(stored, text).remarks if "contains" in one or "too common" in one)

    assert told("zebra token gnu cache") == ("no record contains: zebra, gnu",)
    assert told("gnu the") == ("no record contains: gnu", "too common to search for: the")
    assert told("tokens") == told("cach") == told("oken") == (), "forms, beginnings and parts are there"
    assert told("fresh token") == told("1234567 token") == (), "what no vocabulary counts is in the indexes"
    assert told("the") == ()
    assert told("project:nobody gnu") == (), "nothing was looked through"


def test_ranking_prefers_all_words_the_rare_the_new_and_the_pinned(stored: Stored) -> None:
    half = stored.say("token things")
    whole = stored.say("the token cache expired")
    stored.settle()
    assert ids(find(stored, "token cache"))[0] == whole
    assert find(stored, "token cache zebra").remarks
    assert ids(find(stored, "token cache zebra"))[0] == whole
    assert half in ids(find(stored, "token"))
    old = stored.do("deploy now", at=NOW - 10**11)
    new = stored.do("deploy now!", at=NOW)
    pinned = stored.do("deploy now?", at=NOW - 10**11, pinned=1)
    stored.settle()
    assert ids(find(stored, "deploy")) == [pinned, new, old]


def test_the_same_said_often_is_one_hit(stored: Stored) -> None:
    for _ in range(5):
        stored.do("src/a.py", "file_read", path="src/a.py")
    stored.settle()
    found = find(stored, "a.py")
    assert [hit.times for hit in found.hits] == [5]
    assert len(find(stored, "a.py", NEWEST).hits) == 5


def test_what_is_deleted_is_found_no_more_nor_its_words_offered(stored: Stored) -> None:
    secret = stored.say("the zanzibarsecret 登录页面 plan")
    failed = stored.do("make", outcome="failed", metadata=json.dumps({"response": "zanzibarsecret leaked"}))
    stored.say("another plan")
    stored.settle()
    assert set(ids(find(stored, "zanzibarsec"))) == {secret, failed}
    stored.db.execute("DELETE FROM prompts WHERE id = ?", (secret.split("/")[1],))
    stored.db.execute("UPDATE observations SET metadata = NULL WHERE id = ?", (failed.split("/")[1],))
    assert not find(stored, "zanzibarsecret").hits
    assert not find(stored, "登录").hits
    stored.settle()
    assert not stored.db.execute("SELECT 1 FROM search_terms WHERE term LIKE 'zanz%'").fetchone()
    assert not stored.db.execute("SELECT 1 FROM search_parts WHERE search_parts MATCH '\"zan\"'").fetchone()
    assert find(stored, "anoth").hits
    for index in ("search_unspaced_fts", "search_outputs_fts", "search_docs_fts", "search_parts"):
        stored.db.execute(f"INSERT INTO {index}({index}) VALUES ('integrity-check')")


def test_a_rewritten_text_is_found_by_its_new_words(stored: Stored) -> None:
    number = stored.say("the oldword stands 登录").split("/")[1]
    stored.settle()
    stored.db.execute("UPDATE prompts SET content = 'the newword stands 缓存' WHERE id = ?", (number,))
    assert find(stored, "缓存").hits
    assert not find(stored, "登录").hits
    stored.settle()
    assert find(stored, "newwo").hits
    assert not find(stored, "oldwo").hits


def test_settling_twice_changes_nothing_and_blocks_cover_all_ids(stored: Stored) -> None:
    for n in range(5_000):
        stored.do(f"row {n}")
        if n % 1_500 == 0:
            stored.settle()
    stored.settle()
    before = stored.db.execute("SELECT term, n FROM search_terms ORDER BY term").fetchall()
    stored.settle()
    assert stored.db.execute("SELECT term, n FROM search_terms ORDER BY term").fetchall() == before
    assert dict(before)["row"] == 5_000
    spans = sorted((one.first, one.last) for one in blocks(stored.db, "observations"))
    assert spans[0][0] <= 1
    assert all(left[1] + 1 == right[0] for left, right in pairwise(spans))


def test_time_that_is_over_is_said_and_what_was_found_is_shown(stored: Stored) -> None:
    for n in range(3_000):
        stored.do(f"widget {n}")
    stored.settle()
    found = search(stored.db, "widget", NOW, seconds=0.0)
    assert any("the time limit" in remark for remark in found.remarks)
    stopped = search(stored.db, "widget", NOW, stopped=lambda: True)
    assert any("the time limit" in remark for remark in stopped.remarks)
    clock = Clock(0.0)
    with clock.watching(stored.db), pytest.raises(sqlite3.OperationalError, match="interrupted"):
        stored.db.execute(
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
        ).fetchone()
    assert stored.db.execute("SELECT 1").fetchone()


def test_searching_works_on_a_connection_that_names_its_rows(stored: Stored) -> None:
    stored.say("hello there")
    stored.settle()
    stored.db.row_factory = sqlite3.Row
    assert find(stored, "hello").hits
    assert stored.db.row_factory is sqlite3.Row


def test_snippets_are_printable_and_marked(stored: Stored) -> None:
    stored.say("x " * 500 + "the \x01 login\u202e form\n\tbreaks " + "y " * 500)
    stored.settle()
    shown = find(stored, "login breaks").hits[0].snippet
    assert shown.text.isprintable()
    assert [shown.text[a:b] for a, b in shown.marks] == ["login", "breaks"]
    assert len(shown.text) < 170


def test_quotation_is_safe() -> None:
    assert quoted('a" OR "b') == '"a  OR  b"'


def test_a_database_grows_no_insert_trigger_for_hooks(new_store: Callable[[], Stored]) -> None:
    found = new_store().db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'search%' AND tbl_name IN"
        " ('prompts', 'observations') AND sql LIKE '%AFTER INSERT%'"
    )
    assert found.fetchall() == []


def test_projects_of_one_name_are_two(stored: Stored) -> None:
    stored.db.execute("INSERT INTO projects VALUES (9, 'two/shop', 'shop', '/two/shop', NULL, 0)")
    stored.db.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES ('two','claude',9,'/',0,0)"
    )
    one, two = stored.do("make widget"), stored.do("make widget", session="two")
    stored.settle()
    assert {(hit.id, hit.times) for hit in find(stored, "widget").hits} == {(one, 1), (two, 1)}
    for text in ("widget", "myproject:x widget", ""):
        found = search(stored.db, text or "type:command", NOW, seconds=30, projects=(9,))
        assert ids(found) == [two]
    assert ids(search(stored.db, "widget project:blog", NOW, seconds=30, projects=(9,))) == []


def test_a_name_in_quotation_marks_is_one_name(stored: Stored) -> None:
    stored.db.execute("UPDATE projects SET name = 'a,b' WHERE id = 1")
    stored.db.execute("UPDATE projects SET name = 'xbx' WHERE id = 2")
    mine, other = stored.do("make widget"), stored.do("make widget", session="blog")
    stored.settle()
    assert ids(find(stored, 'widget project:"a,b"')) == [mine]
    assert ids(find(stored, "widget project:xbx")) == [other]
