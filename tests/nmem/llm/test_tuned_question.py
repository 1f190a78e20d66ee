"""Examples from a person's corrections in the question: adopted where held-out sessions gain, and only there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from capture.storage import store
from nmem import tables
from nmem.commands.main import nmem
from nmem.episodes import corrections, units
from nmem.errors import NmemError
from nmem.llm import tokens
from nmem.llm.ask import Desk
from nmem.training import examples, question
from tests.nmem.test_train import START, taught

if TYPE_CHECKING:
    from tests.nmem.llm.conftest import Play, Scripted

SHOWN = "How this person divides work"


@pytest.fixture
def db(db_path: str) -> Iterator[Connection]:
    """Six sessions in which each second request is a thing of its own to the person."""
    made = store.connect(db_path)
    tables.ensure(made)
    made.execute("INSERT INTO projects VALUES (1, 'a', 'a', '/a', NULL, ?)", (START,))
    taught(made)
    yield made
    made.close()


def answers(
    play: type[Play], *, bare: set[int], shown: set[int], title: Callable[[str, bool], str] | None = None
) -> Any:
    """A model that starts units at other turns once it is shown examples."""

    def player(body: dict[str, Any]) -> Play:
        text = body["messages"][1]["content"]
        sees = SHOWN in text
        starts = sorted(shown if sees else bare)
        topic = text.partition("P1: ")[2].partition("rework the ")[2].partition("\n")[0] if title else ""
        goal = f"The user wants to rework the {topic}. [P1]"
        told = {"n": 1, "title": title(topic, sees), "goal": goal} if title else None
        rows = [{"n": n, "sure": 0.9, "resumes": None} for n in starts]
        return play(json.dumps({"starts": rows, "stories": [told] if told else []}))

    return player


def subjects(db: Connection) -> list[str]:
    return [subject for (subject,) in db.execute("SELECT subject FROM tuning_history")]


def test_examples_that_help_on_sessions_not_shown_are_adopted_and_shown(
    db: Connection, server: Scripted, desk: Callable[..., Desk], play: type[Play]
) -> None:
    server.player = answers(play, bare={1}, shown={1, 3, 5, 7})
    dry = question.tune(db, desk(), START, dry=True)
    assert dry.adopted == ("boundaries",) and not subjects(db) and not examples.in_force(db)
    done = question.tune(db, desk(), START)
    assert done.before and done.after
    assert (done.before.f1, done.after.f1, done.after.missed) == (0.0, 1.0, 0)
    assert done.questions == 12 and done.tokens > 0
    assert subjects(db) == ["question"]
    lines = examples.in_force(db)
    assert lines == done.lines
    assert sum(line.endswith("another unit") for line in lines) == examples.MOST
    assert sum(line.endswith("the same unit") for line in lines) == examples.MOST
    assert question.reset(db, START) and not examples.in_force(db)
    assert not question.reset(db, START)


def test_a_session_is_never_asked_about_with_its_own_corrections(
    db: Connection, server: Scripted, desk: Callable[..., Desk], play: type[Play]
) -> None:
    server.player = answers(play, bare={1}, shown={1})
    question.tune(db, desk(), START, dry=True)
    own: dict[str, set[str]] = {}
    for one in examples.pool(db):
        own.setdefault(one.session_id, set()).add(one.line)
    asked = [text for body in server.requests if SHOWN in (text := body["messages"][1]["content"])]
    assert len(asked) == 6
    alone = 0
    for text in asked:
        prompts = set(re.findall(r"P\d+: (.+)", text))
        (mine,) = [
            name for name in own
            if prompts == {row for (row,) in db.execute("SELECT content FROM prompts WHERE session_id = ?", (name,))}
        ]  # fmt: skip
        others = {line for name, lines in own.items() for line in lines if name != mine}
        assert any(line in text for line in others)
        alone += len(own[mine] - others)
        assert not any(line in text for line in own[mine] - others)
    assert alone, "some lines are of one session alone"


def test_examples_that_do_not_help_are_not_shown_and_what_was_shown_goes(
    db: Connection, server: Scripted, desk: Callable[..., Desk], play: type[Play]
) -> None:
    server.player = answers(play, bare={1}, shown={1, 3, 5, 7})
    question.tune(db, desk(), START)
    server.player = answers(play, bare={1, 3, 5, 7}, shown={1, 2, 4})
    done = question.tune(db, desk(), START)
    assert not done.adopted and not done.lines and not examples.in_force(db)
    assert "boundaries: not shown, F1 1.00 to" in question.said(done)
    assert subjects(db) == ["question", "question"], "that it was tried is kept as well"


def test_titles_are_adopted_apart(
    db: Connection, server: Scripted, desk: Callable[..., Desk], play: type[Play]
) -> None:
    for number in range(6):
        unit = units.of_session(db, f"s{number}")[0]
        said = db.execute("SELECT content FROM prompts WHERE id = ?", (unit.first_prompt_id,)).fetchone()[0]
        corrections.rename(db, unit.id, f"Rework {said.rpartition(' the ')[2]}", START)

    def title(topic: str, sees: bool) -> str:
        return f"Rework the {topic}" if sees else f"Rework the {topic.split(maxsplit=1)[0]}"

    server.player = answers(play, bare={1, 3, 5, 7}, shown={1, 3, 5, 7}, title=title)
    done = question.tune(db, desk(), START)
    assert done.titles and done.title_after > done.title_before
    assert done.adopted == ("titles",)
    assert all("is called" in line for line in examples.in_force(db))
    assert len(examples.in_force(db)) == examples.MOST


def test_what_no_longer_holds_is_no_longer_shown(
    db: Connection, server: Scripted, desk: Callable[..., Desk], play: type[Play]
) -> None:
    server.player = answers(play, bare={1}, shown={1, 3, 5, 7})
    question.tune(db, desk(), START)
    kept = examples.adopted(db)[examples.NEW]
    db.execute("UPDATE unit_prompts SET decided_by = 'online' WHERE prompt_id = ?", (kept[0],))
    assert len(examples.in_force(db)) == 2 * examples.MOST - 1


def test_examples_are_few_and_short_and_their_text_is_in_no_history(db: Connection) -> None:
    db.execute("UPDATE prompts SET content = 'zebra ' || content || char(10) || printf('%.*c', 9000, 'x')")
    shown = examples.lines(examples.chosen(examples.pool(db)))
    assert 0 < len(shown) <= 2 * examples.MOST
    assert tokens("\n".join(shown)) < 400
    assert not any("\n" in line for line in shown)
    examples.note(db, START, {"new": [1]}, "tried", {})
    assert "zebra" not in "".join(str(row) for row in db.execute("SELECT * FROM tuning_history").fetchall())


def test_a_model_that_does_not_answer_changes_nothing(
    db: Connection, server: Scripted, desk: Callable[..., Desk], play: type[Play]
) -> None:
    server.plays = [play(status=503)]
    with pytest.raises(NmemError, match="nothing adopted"):
        question.tune(db, desk(), START)
    assert not subjects(db)


def test_too_few_decisions_ask_nobody(
    db: Connection, server: Scripted, desk: Callable[..., Desk], play: type[Play]
) -> None:
    db.execute("UPDATE unit_prompts SET decided_by = 'online' WHERE prompt_id > 10")
    done = question.tune(db, desk(), START)
    assert not done.enough and "it takes 12 in 4" in question.said(done)
    assert not server.requests


def test_the_command_says_who_is_missing(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    from nmem.llm.connect import Connected

    monkeypatch.setattr("nmem.llm.connect.connect", lambda *_args, **_more: Connected(None))
    done = CliRunner().invoke(nmem, ["train", "question"])
    assert "nmem model" in str(done.exception)
    done = CliRunner().invoke(nmem, ["train", "question", "--reset"])
    assert done.exit_code == 0 and "was shown no examples" in done.output
