"""`nmem cost`: the screenful by day, model, project, thread, episode and session; nmem's own share; budgets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection

import click
import pytest

from nmem.cost import prices, read, screenful, store, usage
from tests.nmem.command_line import run
from tests.nmem.cost.conftest import answer

NOW = 1_769_990_400_000
"""2026-02-02 00:00 UTC."""
HOUR = 3_600_000


@pytest.fixture
def spent(db: Connection, session: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connection:
    """Two days, two projects, three models of which one has no price, two episodes in one session."""
    monkeypatch.setattr("nmem.commands.terminal.now", lambda: NOW)
    million = 1_000_000
    session(
        "s1", tmp_path / "s1.jsonl",
        answer("m1", million, at="2026-02-01T10:00:00.000Z", given=0),  # 25 dollars
        answer("m2", 0, at="2026-02-01T12:00:00.000Z", given=0, cached=2 * million),  # 1 dollar
        answer("m3", 0, at="2026-02-01T12:30:00.000Z", given=0, minutes=million, isSidechain=True),  # 6.25 dollars
    )  # fmt: skip
    session("s2", tmp_path / "s2.jsonl",
            answer("m4", million, at="2026-01-20T10:00:00.000Z", given=0, model="claude-haiku-4-5", session="s2"),
            answer("m5", 7, at="2026-01-20T10:00:00.000Z", given=0, model="home-made", session="s2"))  # fmt: skip
    db.execute("INSERT INTO projects VALUES (2, 'blog', 'blog', '/src/blog', NULL, 0)")
    db.execute("UPDATE sessions SET project_id = 2 WHERE id = 's2'")
    db.execute("INSERT INTO prompts (id, session_id, at, source, kind, content, dedup_key)"
               " VALUES (1, 's1', 0, 'user', 'prompt', 'x', 'x')")  # fmt: skip
    db.execute("INSERT INTO threads (id, project_id, title, created_at, last_at) VALUES (4, 1, 'Cart', 0, 0)")
    for number, at, title in ((1, 1_769_936_400_000, "Round prices"), (2, 1_769_943_600_000, "Total \x1b[2J sums")):
        db.execute("INSERT INTO work_units (id, session_id, thread_id, first_prompt_id, last_prompt_id, started_at,"
                   " last_at, intent, title) VALUES (?, 's1', 4, 1, 1, ?, ?, 'x', ?)",
                   (number, at, at, title))  # fmt: skip
    usage.take_in(db)
    return db


def table(*words: str) -> dict[str, str]:
    """The first word of each line, and its last."""
    lines = read_by_a_person(*words)
    rows = lines[2 : 1 + next(place for place, line in enumerate(lines) if line.startswith("total"))]
    return {line.split()[0]: line.split()[-1] for line in rows}


def read_by_a_person(*words: str) -> list[str]:
    """The lines that a terminal shows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nmem.commands.terminal.is_terminal", lambda: True)
        patch.setenv("COLUMNS", "100")
        return [click.unstyle(line) for line in run("cost", *words).stdout.splitlines()]


def test_days_stand_with_a_heading_and_totals_in_one_screenful(spent: Connection) -> None:
    lines = read_by_a_person()
    assert lines[0] == "$37.25+: 5.00M tokens, 5 answers in 2 sessions"
    assert lines[1].split() == ["day", "answers", "input", "output", "written", "cached", "USD"]
    assert lines[2].split() == ["2026-02-01", "3", "0", "1.00M", "1.00M", "2.00M", "$32.25"]
    assert lines[3].split() == ["2026-01-20", "2", "0", "1.00M", "0", "0", "$5.00+"]
    assert lines[4].split() == ["total", "5", "0", "2.00M", "1.00M", "2.00M", "$37.25+"]
    assert "no price known, counted in tokens only: home-made 7" in lines[5]
    assert "subagents: $6.25 of it" in lines


def test_a_pipe_gets_columns_and_every_digit(spent: Connection) -> None:
    done = run("cost", "--limit", "1")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0] == "# $37.25+: 5.00M tokens, 5 answers in 2 sessions"
    assert lines[1].split("\t") == [
        "# day", "answers", "input", "output", "cache_read", "cache_write", "cache_write_1h", "unpriced", "USD"
    ]  # fmt: skip
    assert lines[2].split("\t") == ["2026-02-01", "3", "0", "1000000", "2000000", "1000000", "0", "0", "32.2500"]
    assert [line.split("\t")[0] for line in lines[3:5]] == ["1 more day", "total"]
    assert all(line.startswith("# ") for line in lines[5:])


def test_nothing_found_says_why_and_what_to_do(spent: Connection, tmp_path: Path) -> None:
    done = run("cost", "--since", "1h")
    assert (done.returncode, done.stdout) == (
        1,
        "no usage since 1h: `nmem cost` shows what is known of all projects and all times\n",
    )
    for when, said in (("-3d", "invalid time"), ("2099-01-01", "2099-01-01 has not come yet")):
        done = run("cost", "--since", when)
        assert (done.returncode, said in done.stderr) == (2, True)


def test_imported_transcripts_without_usage_are_counted(
    db: Connection, session: Callable[..., Path], tmp_path: Path
) -> None:
    assert "`nmem import` reads those of earlier sessions" in " ".join(run("cost").stdout.split())
    for name, said in (("s1", "the imported transcript holds none;"), ("s2", "the 2 imported transcripts hold none;")):
        session(name, tmp_path / f"{name}.jsonl", {"type": "user", "sessionId": name})
        db.execute("UPDATE sessions SET origin = 'import'")
        done = run("cost")
        assert (done.returncode, done.stdout.startswith(f"no usage: {said}")) == (1, True)
        assert "`nmem import`" not in done.stdout


@pytest.mark.parametrize(("by", "rows"), [
    ("model", {"claude-opus-4-6": "$32.25", "claude-haiku-4-5": "$5.00", "home-made": "unpriced"}),
    ("project", {"shop": "$32.25", "blog": "$5.00+"}),
    ("thread", {"thread/4": "$32.25", "no": "$5.00+"}),
    ("episode", {"episode/1": "$25.00", "episode/2": "$7.25", "no": "$5.00+"}),
    ("session", {"s1": "$32.25", "s2": "$5.00+"}),
])  # fmt: skip
def test_the_same_money_by_other_rows(spent: Connection, by: str, rows: dict[str, str]) -> None:
    found = table("--by", by)
    assert {name: found[name] for name in rows} == rows
    assert found["total"] == "$37.25+"
    assert "\x1b" not in run("cost", "--by", by).stdout


def test_an_episode_without_a_thread_gives_its_cost_to_no_other_thread(spent: Connection) -> None:
    spent.execute("UPDATE work_units SET thread_id = NULL WHERE id = 2")
    found = table("--by", "thread")
    assert (found["thread/4"], found["no"]) == ("$25.00", "$12.25+")


def test_since_project_and_limit_choose(spent: Connection) -> None:
    assert table("--since", "7d")["total"] == "$32.25"
    assert table("--project", "blog")["total"] == "$5.00+"
    assert table("--by", "session", "--limit", "1")["1"] == "$5.00+"
    assert run("cost", "--since", "7d").stdout.startswith("# $32.25 since 7d:")
    assert run("cost", "--project", "blog").stdout.startswith("# $5.00+ in blog:")
    assert run("cost", "--project", "nowhere").returncode == 1


def test_json_has_every_row_to_the_token(spent: Connection) -> None:
    found = json.loads(run("cost", "--by", "model", "--limit", "1", "--json").stdout)
    assert [row["key"] for row in found["rows"]] == ["claude-opus-4-6", "claude-haiku-4-5", "home-made"]
    assert found["rows"][0]["cache_read"] == 2_000_000
    assert found["total"]["tokens"] == sum(row["tokens"] for row in found["rows"]) == 5_000_007
    assert (found["currency"], found["sessions"]) == ("USD", 2)
    assert found["unpriced"] == [{"model": "home-made", "tokens": 7}]


def test_a_passed_budget_warns_and_shows_in_the_exit_code(spent: Connection, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[cost]\nbudget_month = 40\n")
    spent.execute("UPDATE model_usage SET at = at + ?", (24 * HOUR,))
    done = run("cost")
    assert (done.returncode, "this month $32.25 of $40.00" in done.stdout) == (0, True)
    (tmp_path / "config.toml").write_text("[cost]\nbudget_day = 30.5\nbudget_month = 20\n")
    done = run("cost", "--project", "blog")
    assert done.returncode == 3
    assert "! today $32.25 of $30.50: over budget (cost.budget_day)" in done.stdout
    assert "! this month $32.25 of $20.00: over budget (cost.budget_month)" in done.stdout
    assert [one["passed"] for one in json.loads(run("cost", "--json").stdout)["budgets"]] == [True, True]


def test_what_nmem_told_is_written_once_and_read_by_each_later_answer(spent: Connection) -> None:
    for at, tokens, withheld in ((1_769_930_000_000, 1_000_000, 0), (1_769_930_000_000, 9_000_000, 1)):
        spent.execute("INSERT INTO injections (at, session_id, event, client, text, tokens, withheld)"
                      " VALUES (?, 's1', 'session_start', 'claude', 'x', ?, ?)", (at, tokens, withheld))  # fmt: skip
    spent.execute("INSERT INTO llm_ledger (at, day, backend, purpose, tokens, ms, result)"
                  " VALUES (?, '2026-02-01', 'claude -p claude-haiku-4-5', 'narrate', 500000, 9, 'ok')",
                  (NOW,))  # fmt: skip
    said = run("cost").stdout
    # written at 6.25, read by one later answer of the session itself at 0.50; the subagent never saw it
    assert "nmem's context, in the above: 1.00M tokens told 1 time, read again 1.00M; at most $6.75" in said
    assert "nmem's own questions to models: 1, 500k tokens, at least $0.50" in said
    assert "questions" not in run("cost", "--project", "shop").stdout


@pytest.mark.parametrize("cells", [40, 60, 76, 100, 160])
def test_no_line_is_wider_than_the_screen(spent: Connection, cells: int) -> None:
    spent.row_factory = None
    for by in store.BY:
        found = read.report(spent, prices.load(), NOW, by=by)
        lines = screenful.lines(found, cells, 10)
        assert all(len(text) <= cells for text, _ in lines)
        assert lines[1][0].endswith("USD")


@pytest.mark.parametrize(("count", "said"), [
    (0, "0"), (999, "999"), (1_000, "1.00k"), (12_345, "12.3k"), (999_600, "1.00M"), (1_234_567, "1.23M"),
    (186_750_648, "187M"), (3_000_000_000, "3.00G"),
])  # fmt: skip
def test_figures_take_six_cells_at_most(count: int, said: str) -> None:
    assert screenful.figure(count) == said
    assert len(said) <= 6


def test_money_names_its_currency(spent: Connection) -> None:
    assert [screenful.amount(*one) for one in ((1234.5, "USD"), (0, "USD"), (0.001, "USD"), (2, "EUR"))] == [
        "$1,234.50", "$0.00", "<$0.01", "2.00 EUR"]  # fmt: skip


def test_what_is_not_stored_yet_is_read_first(
    db: Connection, session: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session("s1", tmp_path / "s1.jsonl", answer("m1", 1_000_000, given=0))
    assert run("cost").stdout.startswith("# $25.00:")
    monkeypatch.setenv("NMEM_DB", str(tmp_path / "none.db"))
    nothing = run("cost")
    assert nothing.returncode == 1
    assert "nothing is recorded yet" in nothing.stderr
    assert not (tmp_path / "none.db").exists()


def test_projects_of_one_name_are_told_apart_by_their_folders(spent: Connection) -> None:
    assert "/src/blog" not in run("cost", "--by", "project").stdout
    spent.execute("UPDATE projects SET name = (SELECT name FROM projects WHERE id = 1)")
    spent.commit()
    assert " (/src/blog)" in run("cost", "--by", "project").stdout
