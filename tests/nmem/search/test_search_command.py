"""`nmem search`: options are filters, a pipe gets plain lines, JSON an index, a terminal what it can show."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from click.testing import CliRunner

from nmem.commands import main, terminal
from nmem.commands.main import nmem
from nmem.search import refresh, search
from nmem.search.query import typed_words
from nmem.search.rank import Related
from tests.nmem.conftest import START, Recorded

HOSTILE = "\x1b[31mwipe\u202e it \x9b2J [bold]coupon[/bold] 優惠券"


@pytest.fixture
def recorded(record: Recorded, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """Two projects with coupons in them, taken in by settling."""
    monkeypatch.setattr(terminal, "now", lambda: START + 86_400_000)
    record.coupon()
    record.db.execute("INSERT INTO projects VALUES (2, 'blog', 'my blog', '/src/blog', NULL, 0)")
    record.begin("blog").user(HOSTILE).act("git_commit", "git commit -m 'coupon banner'")
    record.db.execute("UPDATE sessions SET project_id = 2, client = 'codex' WHERE id = 'blog'")
    refresh.refresh(record.db)
    return record


def run(*args: str) -> Any:
    return CliRunner().invoke(nmem, ["search", *args])


def found(*args: str) -> list[str]:
    result = run("--json", *args)
    assert result.exit_code == 0, result.output
    return [hit["id"] for hit in json.loads(result.output)["hits"]]


def test_options_narrow_as_filters_in_the_query_do(recorded: Recorded) -> None:
    everything = found("coupon")
    blog = found("coupon", "--project", "my blog")
    assert 0 < len(blog) < len(everything)
    assert blog == found('coupon project:"my blog"') == found("coupon", "project:my blog")
    assert blog == found("--client=codex", "coupon")
    commits = found("--type", "git_commit", "coupon")
    assert commits == found("coupon type:git") != blog
    assert found("--type=test", "--type=git_commit") == found("type:test,git_commit")
    assert found("--since", "2030-01-01", "coupon") == []
    assert found("--limit", "1", "coupon") == everything[:1]


def test_that_no_row_has_the_word_is_said_first(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    near = Related({1: 1.0}, {1: START})
    recorded.db.execute("INSERT INTO work_units (id, session_id, first_prompt_id, last_prompt_id, started_at,"
                        " last_at, intent) VALUES (1, 'coupon', 1, 1, ?, ?, 'the coupon')", (START, START))  # fmt: skip
    monkeypatch.setattr(search, "related", lambda *_: near)
    told = run("hunter2-coupon").output.splitlines()
    assert told[2] == "# no row has all of these words; these come nearest"
    assert told[3].startswith("episode/1")
    assert "no row has" not in run("coupon").output


def test_pages_go_on_where_they_ended(recorded: Recorded) -> None:
    first = json.loads(run("--json", "--newest", "--limit=2", "type:obs").output)
    second = json.loads(run("--json", "--newest", "--limit=2", "--cursor", first["next"], "type:obs").output)
    both = [hit["id"] for page in (first, second) for hit in page["hits"]]
    assert both == found("--newest", "--limit=4", "type:obs")


def test_a_pipe_gets_a_line_a_hit_and_no_control(recorded: Recorded) -> None:
    result = run("coupon")
    assert result.exit_code == 0, result.output
    heading, *rows = result.output.splitlines()
    assert heading == "# coupon"
    cells = [row.split("\t") for row in rows if not row.startswith("#")]
    assert {len(row) for row in cells} == {7}
    assert [row[0] for row in cells] == found("coupon")
    answers = [row.split("\t") for row in run("--newest", "expected 24").output.splitlines()[2:]]
    assert answers[0][2:5] == ["test", "shop", "failed"], "what a failing call answered is found"
    assert not any(char < " " and char not in "\n\t" for char in result.output)
    assert "\x9b" not in result.output
    assert "\u202e" not in result.output


def test_a_filter_that_is_none_and_a_search_that_finds_nothing_say_so(recorded: Recorded) -> None:
    lines = run("coupon is:broken").output.splitlines()
    assert "# is:broken is not a filter, so it was taken as a word; there is is:failed or is:pinned" in lines
    assert "# nothing found" in run("zzyyxx").output.splitlines()
    assert "there are more" not in run("zzyyxx").output


def test_an_empty_search_says_which_filter_leaves_nothing(recorded: Recorded) -> None:
    everything = len(found("type:test is:failed", "--limit=200"))
    assert everything
    lines = run("type:test is:failed since:1h").output.splitlines()
    assert f"# a filter leaves nothing: without since:1h: {everything} found" in lines
    none = run("coupon type:task since:1h").output
    assert "# to leave out any one filter finds nothing either" in none.splitlines()
    assert "filter" not in run("coupon").output, "only where nothing is found"
    assert "leaves nothing" not in run("since:1h").output, "all there is stands behind one filter alone"


def test_that_no_filter_is_to_blame_is_said_only_after_each_was_tried(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, tried = search._search, list[str]()

    def slow(*args: Any, **named: Any) -> Any:
        tried.append(args[1].text)
        found = real(*args, **named)
        if not named.get("tried", True):
            in_time = iter([False])  # the first filter was
            monkeypatch.setattr(args[4], "over", lambda: next(in_time, True))
        return found

    monkeypatch.setattr(search, "_search", slow)
    assert "leave out any one" not in run("coupon type:task since:1h").output
    assert len(tried) == 2


def test_until_ends_what_is_found(recorded: Recorded) -> None:
    ats = [each["at"] for each in json.loads(run("coupon", "--newest", "--json").output)["hits"]]
    assert len(set(ats)) > 1
    middle = datetime.strptime(max(ats), "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC).astimezone().strftime("%Y-%m-%dT%H:%M")
    earlier = [each["at"] for each in json.loads(run(f"coupon until:{middle}", "--json").output)["hits"]]
    assert earlier and max(earlier) < max(ats)


def test_a_terminal_gets_ids_snippets_and_where_they_are_from(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    output = run("coupon").output
    assert "[bold]coupon[/bold]" in output, "what is stored is text, not markup"
    assert "my blog" in output
    assert "project:shop" in output, "facets are filters to add"
    assert max(map(len, output.splitlines())) <= 80
    assert run("zzzyyyxxx").output.startswith("nothing found")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "no query"),
        (("--since", "soon", "x"), "--since: invalid value 'soon'"),
        (("--type", "nothing", "x"), "--type: invalid value 'nothing'"),
        (("--project", 'a"b', "x"), """--project: invalid value 'a"b'"""),
        (("--cursor", "x", "coupon"), "cursor: pass the `next`"),
        (("--limit", "0", "x"), "0 is not in the range"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], args: Any, said: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["nmem", "search", *args])
    with pytest.raises(SystemExit) as stop:
        main.main()
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert said in error
    assert error.count("\n") == 1


def test_shells_take_quotation_marks_away_and_they_come_back() -> None:
    assert typed_words(["fix login type:git"]) == "fix login type:git"
    assert typed_words(["fix", "login"]) == "fix login"
    assert typed_words(["fix the login", "type:git"]) == '"fix the login" type:git'
    assert typed_words(["x", "project:my shop", "!not this"]) == 'x project:"my shop" "!not this"'
