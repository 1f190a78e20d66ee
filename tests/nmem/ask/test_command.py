"""`nmem ask`: quotes with ids, dates and what superseded them; nothing where nothing is recorded; a model's answer."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nmem.ask import hits, rows
from nmem.commands.ask import command
from nmem.llm import Cancel, Failure, Reply, Request
from nmem.llm.ask import Desk
from nmem.llm.book import Book
from nmem.llm.config import Settings
from nmem.llm.connect import Connected
from tests.nmem.ask.conftest import NOW

MANY = "how many attempts does the order importer make?"


def ask(*words: str) -> tuple[int, Result]:
    done = CliRunner().invoke(command, list(words), standalone_mode=False)
    assert done.exception is None, done.exception
    return int(done.return_value or 0), done


def found(*words: str) -> dict[str, Any]:
    code, done = ask("--json", *words)
    out: dict[str, Any] = json.loads(done.stdout)
    assert out["recorded"] is (code == 0)
    return out


def test_the_newest_decision_stands_first_and_the_old_one_says_what_replaced_it(bakery: Path) -> None:
    quotes = found(MANY)["quotes"]
    assert quotes[0]["text"].startswith("Nine attempts")
    assert quotes[0]["id"].startswith("decision/")
    assert quotes[0]["row"].startswith("prompt/")
    assert not quotes[0]["superseded"]
    old = next(one for one in quotes if one["text"] == "Right, leave it at five.")
    assert "gives up after five attempts" in old["asked"], "a yes is quoted with what it says yes to"
    assert old["superseded"].startswith("decision/")


def test_a_person_reads_ids_dates_and_who_said_it(bakery: Path) -> None:
    code, done = ask("--limit", "9", MANY)
    assert code == 0
    first, *_ = done.stdout.split("\n\n")
    assert first.startswith("decision/")
    assert "  2026-03-09 " in first
    assert "    you decided: Nine attempts, and it waits 40 seconds between two of them." in first.splitlines()
    assert "  superseded by decision/" in done.stdout


def test_one_word_of_each_argument_is_one_question(bakery: Path) -> None:
    assert found(*MANY.split())["quotes"] == found(MANY)["quotes"]


def test_what_the_agent_found_out_is_quoted_and_printable(bakery: Path) -> None:
    code, done = ask("why were umlauts printed as boxes by the label printer?")
    assert code == 0
    assert "the agent said: " in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    "question", ["which oven do we bake in?", "how long may an order importer wait for the till?", "who is it?", "why?",
     "' OR 1=1 -- \" NEAR(", "NEAR OR importer zebra", "which order?"]
)  # fmt: skip
def test_what_was_not_said_is_not_answered(question: str, bakery: Path) -> None:
    code, done = ask(question)
    assert code == 1
    assert done.stdout.startswith("nothing is recorded about it")
    noise = done.stdout.splitlines()[1:]
    assert not noise or noise[1] == "Nearest, and no answer:", "what comes near is no answer"
    assert sum(line.startswith(("prompt/", "decision/", "episode/")) for line in noise) <= 2
    assert found(question)["quotes"] == []


def test_what_comes_nearest_holds_the_rarest_name_of_the_question_first(bakery: Path) -> None:
    code, done = ask("how many attempts does the importer make in Latin")
    assert (code, done.stdout.splitlines()[2]) == (1, "Nearest, and no answer:")
    said = [line for line in done.stdout.splitlines() if line.startswith("    ")]
    assert "sent Latin-1" in said[0], "it stands before a quote that says more of its common words"


def test_a_project_is_one_that_is_known(bakery: Path) -> None:
    assert found("--project", "bakery", MANY)["quotes"]
    done = CliRunner().invoke(command, ["--project", "brewery", MANY], standalone_mode=False)
    assert "brewery" in str(done.exception)


@pytest.fixture
def shop(bakery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project, in which the command runs."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def _recorded(bakery: Path, shop: Path) -> None:
    with closing(sqlite3.connect(bakery)) as db, db:
        number = db.execute(
            "INSERT INTO projects (key, name, root, created_at) VALUES (?, 'shop', ?, 0)", (f"{shop}/.git", str(shop))
        ).lastrowid
        db.execute("UPDATE sessions SET project_id = ? WHERE id LIKE '%03-04'", (number,))


def test_what_other_projects_say_stands_elsewhere(bakery: Path, shop: Path) -> None:
    _recorded(bakery, shop)
    code, done = ask(MANY)
    first, _, rest = done.stdout.partition("\n\nElsewhere:\n\n")
    assert (code, first) == (1, "nothing is recorded about it in shop")
    assert rest.startswith("decision/")
    assert "  bakery" in rest.splitlines()[0]
    said = found(MANY)
    assert (said["quotes"], said["project"], {one["project"] for one in said["elsewhere"]}) == ([], "shop", {"bakery"})
    assert found("--project", "bakery", MANY)["quotes"], "a project that is named is asked"


def test_the_box_of_a_project_lists_what_others_say_with_a_remark(bakery: Path) -> None:
    with closing(sqlite3.connect(bakery)) as db:
        nobody, own = (hits.results(db, f"? {MANY}", NOW, number) for number in (-1, 1))
        nothing = hits.results(db, "? which oven do we bake in?", NOW, -1)
    assert nobody.remarks == ("nothing is recorded about it in this project: these are of others",)
    assert {one.project for one in nobody.hits} == {"bakery"}
    assert (own.remarks, bool(own.hits)) == ((), True)
    assert (nothing.remarks, nothing.hits) == ((hits.NOTHING,), ())


def test_written_decisions_of_a_folder_without_sessions_are_asked(shop: Path) -> None:
    written = shop / "docs" / "decisions"
    written.mkdir(parents=True)
    (written / "storage.md").write_text("# Storage\n\n## When choosing a database\n\nWe use PostgreSQL 16.\n")
    code, done = ask("which database do we use?")
    assert (code, "PostgreSQL 16" in done.stdout) == (0, True)
    code, done = ask(MANY)
    assert (code, done.stdout.splitlines()[0]) == (1, "nothing is recorded about it in shop")
    assert "Elsewhere:" in done.stdout


class Model:
    """A model that answers with a text, or fails."""

    label = "scripted"

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[str] = []

    def complete(self, request: Request, cancel: Cancel) -> Reply:
        self.asked.append(request.text())
        if not self.text:
            raise Failure("network", "the model cannot be reached", 7)
        return Reply(self.text, "scripted-1", 50, 20)


@pytest.fixture
def model(bakery: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets up a model that gives an answer."""

    def set_up(recorded: bool = True, answer: str = "", *, fails: bool = False, cap: int = 100_000) -> Model:
        made = Model("" if fails else json.dumps({"recorded": recorded, "answer": answer}))
        settings = Settings(base_url="http://127.0.0.1:9/v1", model="m", daily_token_cap=cap)
        desk = Desk(made, settings, Book(str(bakery)), lambda text: text)
        monkeypatch.setattr("nmem.commands.ask.connect", lambda _path: Connected(desk))
        return made

    return set_up


def spent(path: Path) -> list[tuple[str, int]]:
    db = sqlite3.connect(path)
    rows = db.execute("SELECT purpose, tokens FROM llm_ledger").fetchall()
    db.close()
    return rows


def test_a_sentence_of_a_model_stands_where_its_quote_bears_it_out(model: Any, bakery: Path) -> None:
    asked = model(True, "The order importer makes nine attempts. [P2, S2] The till closes at 18. [P2]")
    said = found(MANY)
    assert [one["text"] for one in said["answer"]] == ["The order importer makes nine attempts."]
    assert said["answer"][0]["quotes"] == [said["quotes"][0]["id"]]
    assert spent(bakery) == [("ask", 70)], "the ledger has it"
    assert "Nine attempts" in asked.asked[0]
    code, done = ask(MANY)
    assert (code, done.stdout.splitlines()[0].partition(" [decision/")[0]) == (
        0, "The order importer makes nine attempts.",
    )  # fmt: skip


def test_a_sentence_on_what_was_superseded_is_marked_and_stands_last(model: Any) -> None:
    quotes = found("--no-model", "--limit", "8", MANY)["quotes"]
    place = next(at for at, one in enumerate(quotes) if one["superseded"])
    row = 2 * place + 2
    model(
        True, f"The order importer gives up after five attempts. [P{row}, S{row - 1}] It makes nine attempts. [P2, S2]"
    )
    assert [one["superseded"] for one in found(MANY)["answer"]] == [False, True]
    lines = ask(MANY)[1].stdout.splitlines()
    assert lines[0].startswith("It makes nine attempts.")
    assert lines[1].startswith("superseded, holds no more: The order importer gives up")


def test_what_another_episode_ended_with_is_not_what_a_prompt_answers(bakery: Path) -> None:
    with closing(sqlite3.connect(bakery)) as db, db:
        first, last = (row[0] for row in db.execute("SELECT DISTINCT session_id FROM prompts WHERE session_id LIKE"
                                                    " '%03-02' OR session_id LIKE '%03-09' ORDER BY 1"))  # fmt: skip
        db.execute("UPDATE prompts SET session_id = ? WHERE session_id = ?", (first, last))
        db.execute("UPDATE work_units SET session_id = ? WHERE session_id = ?", (first, last))
        db.execute("DELETE FROM prompts WHERE content LIKE 'Right, leave it%'")
        units = [row[0] for row in db.execute("SELECT id FROM work_units WHERE session_id = ?", (first,))]
        turns = {one.text[:10]: one.before for one in rows._turns(db, units)}
    assert len(units) == 2
    assert turns["Five."].startswith("The order importer has no limit")
    assert turns["One update"] == ""


def test_an_answer_of_which_nothing_stands_is_not_shown(model: Any) -> None:
    model(True, "The oven is at 230 degrees. [P2]")
    code, done = ask(MANY)
    assert code == 0
    assert "230" not in done.stdout
    assert "Nine attempts" in done.stdout, "the quotes stand without it"
    assert "no model answered" in done.stderr


def test_a_model_that_finds_no_answer_in_the_quotes_says_so(model: Any) -> None:
    model(False)
    code, done = ask(MANY)
    assert code == 1
    assert done.stdout.startswith("nothing is recorded about it: the model finds no answer")
    assert "Nine attempts" in done.stdout, "what came nearest can be judged"


def test_a_model_that_fails_or_may_spend_no_more_leaves_the_quotes(model: Any, bakery: Path) -> None:
    model(fails=True)
    code, done = ask(MANY)
    assert (code, "cannot be reached" in done.stderr) == (0, True)
    asked = model(True, "x", cap=100)
    code, done = ask(MANY)
    assert (code, asked.asked) == (0, []), "the day's cap holds"
    assert "tokens are used up" in done.stderr


def test_no_model_is_asked_where_none_is_wanted_or_nothing_comes_near(model: Any) -> None:
    asked = model(True, "The order importer makes nine attempts. [P2]")
    assert ask("--no-model", MANY)[0] == 0
    assert ask("who feeds the zebra?")[0] == 1
    assert asked.asked == []
