"""A person's word about a call: kept, shown, undone, and stronger than what any model says later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from capture.event import Batch, Observation
from capture.labels import DIMENSIONS
from capture.labels import model as engine
from capture.seal import seal
from capture.storage.rows import write
from nmem import database
from nmem.commands.main import nmem
from nmem.episodes import detect
from nmem.errors import NmemError
from nmem.importing.discover import find
from nmem.importing.importer import Importer
from nmem.labels import backfill as bf
from nmem.labels import corrections, names, read
from nmem.labels.names import Origin
from nmem.undo import history, undo
from tests.nmem.labels.conftest import START, Hooks, other_model, use


def said(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(nmem, ["relabel", *words])
    error = str(done.exception) if isinstance(done.exception, NmemError) else ""
    return done.exit_code, done.output + error


@pytest.fixture
def number(hooks: Hooks) -> int:
    hooks.session()
    return hooks.call("s", "Read", "/src/shop/web/login.py")


def row(hooks: Hooks, number: int) -> tuple[object, ...]:
    return hooks.labels(f"id = {number}")[0]


def test_a_word_is_said_and_taken_back(hooks: Hooks, number: int) -> None:
    before = row(hooks, number)
    corrections.relabel_many(hooks.db, number, {"phase": "act", "scope": "diverge"}, START)
    after = row(hooks, number)
    assert after[:2] == (1.0, -1.0)
    assert after[2:5] == before[2:5]
    assert after[5] == f"{before[5]}+phase,scope"
    assert undo(hooks.db, START) == f"observation {number} is phase act, scope diverge"
    assert row(hooks, number) == before
    assert [entry.undone_at for entry in history(hooks.db)] == [START]
    with pytest.raises(NmemError, match="nothing to undo"):
        undo(hooks.db, START)


def test_words_on_words_are_undone_one_by_one(hooks: Hooks, number: int) -> None:
    stages = [row(hooks, number)]
    for words in ({"phase": "act"}, {"phase": "think", "locus": "external"}, {"phase": None}, {"phase": "act"}):
        corrections.relabel_many(hooks.db, number, words, START)
        stages.append(row(hooks, number))
    assert stages[3][0] == stages[0][0], "the model's word again, as it was"
    assert stages[3][5] == f"{stages[0][5]}+locus"
    while len(stages) > 1:
        stages.pop()
        undo(hooks.db, START)
        assert row(hooks, number) == stages[-1]


def test_undone_after_another_model_has_labelled_it_is_that_model_s(hooks: Hooks, number: int, db_path: str) -> None:
    corrections.relabel_many(hooks.db, number, {"phase": "think", "friction": "friction"}, START)
    use(db_path, other_model())
    bf.backfill(hooks.db, db_path, START)
    assert row(hooks, number)[5] == "0123456789ab+phase,friction"
    corrections.relabel(hooks.db, number, "friction", None, START)
    assert row(hooks, number)[4:] == (round(other_model().scores(())[4], 4), "0123456789ab+phase")
    undo(hooks.db, START)
    assert row(hooks, number)[4:] == (1.0, "0123456789ab+phase,friction")
    undo(hooks.db, START)
    bare = [round(score, 4) for score in other_model().scores(())]
    assert row(hooks, number) == (*bare, "0123456789ab")


def test_a_call_without_labels_takes_words_too(hooks: Hooks, number: int, db_path: str) -> None:
    labelled = row(hooks, number)
    hooks.bare()
    corrections.relabel(hooks.db, number, "scope", "diverge", START)
    assert row(hooks, number) == (None, -1.0, None, None, None, "+scope")
    undo(hooks.db, START)
    assert row(hooks, number) == (None,) * 6
    corrections.relabel(hooks.db, number, "scope", "diverge", START)
    bf.backfill(hooks.db, db_path, START)
    assert row(hooks, number) == (labelled[0], -1.0, *labelled[2:5], f"{labelled[5]}+scope")


def test_without_any_model_a_word_taken_back_leaves_none(
    hooks: Hooks, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    corrections.relabel(hooks.db, number, "phase", "act", START)
    hooks.db.execute("UPDATE observations SET label_model = 'ffffffffffff+phase'")
    monkeypatch.setattr(corrections, "current", lambda _path: None)
    corrections.relabel(hooks.db, number, "phase", None, START)
    assert row(hooks, number)[0] is None
    assert row(hooks, number)[5] == "ffffffffffff"


def test_it_outlives_being_imported_again(hooks: Hooks, db_path: str, tmp_path: Path) -> None:
    file = tmp_path / "projects" / "shop" / "s1.jsonl"
    file.parent.mkdir(parents=True)
    base = {"sessionId": "s1", "cwd": "/src/shop", "version": "2.1.0", "isSidechain": False}
    use_ = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make all"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "built"}
    records: list[dict[str, object]] = [
        {"type": "user", "promptId": "p1", "message": {"role": "user", "content": "Build it"}},
        {"type": "assistant", "message": {"role": "assistant", "id": "m1", "content": [use_]}},
        {"type": "user", "promptId": "p1", "message": {"role": "user", "content": [result]},
         "toolUseResult": {"stdout": "built"}},
    ]  # fmt: skip
    lines = [json.dumps({**base, **each, "uuid": f"u{at}", "timestamp": f"2026-02-01T00:00:0{at}.000Z"})
             for at, each in enumerate(records)]  # fmt: skip
    file.write_text("\n".join(lines) + "\n", "utf-8")

    def load() -> int:
        hooks.db.execute("DELETE FROM transcript_cursors")
        return Importer(hooks.db, workers=0).run(find([file], "claude")).observations

    assert load() == 1
    number = hooks.db.execute("SELECT id FROM observations").fetchone()[0]
    corrections.relabel(hooks.db, number, "phase", "think", START)
    before = row(hooks, number)
    assert load() == 0
    assert row(hooks, number) == before
    assert before[0] == -1.0


def test_episodes_count_the_person_s_word(hooks: Hooks, number: int) -> None:
    detect.session(hooks.db, "s", close=True)

    def kept() -> tuple[dict[str, int], dict[str, int], float]:
        found = hooks.db.execute(
            "SELECT phase_signature, obs_trace FROM work_units WHERE id = (SELECT unit_id FROM unit_prompts WHERE"
            " prompt_id = (SELECT prompt_id FROM observations WHERE id = ?))", (number,)
        ).fetchone()  # fmt: skip
        trace = {each["id"]: each.get("scores", {}) for each in json.loads(found[1])}
        signed = json.loads(hooks.db.execute("SELECT signature FROM session_signatures").fetchone()[0])
        return json.loads(found[0]), signed, trace[number].get("phase")

    before = kept()
    assert before[2] < 0
    corrections.relabel(hooks.db, number, "phase", "act", START)
    mine, signed, score = kept()
    assert score == 1.0
    assert (mine["act"], mine["think"]) == (before[0]["act"] + 1, before[0]["think"] - 1)
    assert signed["act"] == before[1]["act"] + 1
    undo(hooks.db, START)
    assert kept() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"colour": "red"}, "colour is not a dimension: phase, scope, locus, novelty, friction"),
        ({"phase": "red"}, "phase must be think or act, not red"),
        ({"phase": "act\x1b[2J"}, "phase must be think or act, not act"),
        ({}, "no label given for observation"),
        ({"locus": None}, "you have not labelled locus"),
    ],
)
def test_what_cannot_be_is_one_line_and_changes_nothing(
    hooks: Hooks, number: int, words: dict[str, str | None], message: str
) -> None:
    before = row(hooks, number)
    with pytest.raises(NmemError, match=message) as error:
        corrections.relabel_many(hooks.db, number, words, START)
    assert "\n" not in str(error.value)
    assert "\x1b" not in str(error.value)
    assert row(hooks, number) == before
    assert not history(hooks.db)


def test_the_same_word_again_a_missing_call_and_what_is_no_call(hooks: Hooks, number: int, db_path: str) -> None:
    corrections.relabel(hooks.db, number, "phase", "act", START)
    with pytest.raises(NmemError, match="phase has this label from you already"):
        corrections.relabel(hooks.db, number, "phase", "act", START)
    with pytest.raises(NmemError, match="there is no observation 99999"):
        corrections.relabel(hooks.db, 99_999, "phase", "act", START)
    batch = Batch("claude", "s", hooks.at, "/src/shop")
    batch.observations.append(Observation(hooks.at, "session_compact", "auto", dedup_key="m1"))
    write(hooks.db, seal(batch))
    marker = hooks.db.execute("SELECT max(id) FROM observations").fetchone()[0]
    with pytest.raises(NmemError, match="is not a call: it has no labels"):
        corrections.relabel(hooks.db, marker, "phase", "act", START)
    with pytest.raises(NmemError, match="is not a call"):
        read.labelled(database.reader(db_path), db_path, marker)


def test_what_the_model_says_is_said_to_be_right(hooks: Hooks, number: int) -> None:
    """Agreeing is a word, too: training counts it."""
    corrections.relabel(hooks.db, number, "phase", "think", START)
    assert row(hooks, number)[0] == -1.0
    assert names.read(str(row(hooks, number)[5])).own == {"phase"}


def test_an_observation_that_is_gone_undoes_to_a_note(hooks: Hooks, number: int) -> None:
    corrections.relabel(hooks.db, number, "phase", "act", START)
    hooks.db.execute("DELETE FROM observations WHERE id = ?", (number,))
    assert undo(hooks.db, START).endswith("(the observation is gone)")


def test_a_call_is_shown_with_its_words_and_why(hooks: Hooks, number: int, db_path: str) -> None:
    found = read.labelled(database.reader(db_path), db_path, number)
    stored = row(hooks, number)
    for word, score in zip(found.words, stored, strict=False):
        assert word.score == score
        assert (word.word == "") == (score is None)
        assert (abs(word.leaning) >= word.threshold) == (score is not None)
        assert score is None or round(word.leaning, 4) == score
        assert word.reasons == tuple(sorted(word.reasons, key=lambda each: -abs(each.weight)))
    phase = found.words[0]
    assert (phase.word, phase.thinks) == ("think", "think")
    assert any("reads a file" in each.words for each in phase.reasons if each.weight > 0)


def test_the_command(hooks: Hooks, number: int) -> None:
    code, shown = said(str(number))
    assert code == 0
    assert f"obs/{number}" in shown
    assert "phase: think" in shown
    assert "for it\t" in shown
    code, done = said(f"observation/{number}", "phase=act", "scope=diverge")
    assert done == f"observation {number} is phase act, scope diverge; `nmem undo` takes it back\n"
    code, done = said(str(number), "--clear", "phase")
    assert done == f"observation {number} is phase think (the model); `nmem undo` takes it back\n"
    assert "scope: diverge, by your word" in said(str(number))[1]
    code, listed = said("--list")
    assert f"obs/{number}\tscope diverge: file_read" in listed
    as_json = json.loads(said("--list", "--json")[1])["observations"]
    assert [(each["id"], each["words"]) for each in as_json] == [(number, {"scope": "diverge"})]
    as_json = json.loads(said(str(number), "--json")[1])
    assert [word["own"] for word in as_json["words"]] == [False, True, False, False, False]
    code, recent = said("--recent", "--limit", "3")
    assert recent.splitlines()[1].startswith(f"obs/{number}\tthink, diverge, ")
    assert len(recent.splitlines()) == 4
    hooks.db.execute("UPDATE observations SET novelty = NULL WHERE id = ?", (number - 1,))
    code, unsure = said("--unsure", "--limit", "50")
    assert f"obs/{number - 1}\t" in unsure
    assert "novelty ?" in unsure
    assert all(" ?" in line for line in unsure.splitlines()[1:])
    listed = CliRunner().invoke(nmem, ["undo", "--list"]).output
    assert f"observation {number} is phase back to the model's" in listed


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("x",), 2, "is not the number of an observation"),
        ((), 2, "name an observation"),
        (("1", "phase"), 2, "phase is not DIMENSION=WORD"),
        (("1", "phase=act", "phase=think"), 2, "phase is given twice"),
        (("1", "phase=act", "--clear", "phase"), 2, "both set and cleared"),
        (("1", "--list"), 2, "each stand alone"),
        (("1", "phase=red"), 1, "phase must be think or act, not red"),
        (("77777",), 1, "there is no observation 77777"),
    ],
)
def test_the_command_s_refusals(hooks: Hooks, number: int, words: tuple[str, ...], code: int, message: str) -> None:
    found, output = said(*words)
    assert message in output
    assert found == code


@given(st.text(alphabet="abc0:,+~ phase" + "\x00\u202e", max_size=60))
def test_any_text_in_label_model_is_read(text: str) -> None:
    origin = names.read(text)
    assert origin.own <= set(DIMENSIONS)
    again = names.read(origin.text())
    assert again.own == origin.own
    assert all(again.of(name) == origin.of(name) for name in DIMENSIONS if name not in origin.own)


@given(st.lists(st.tuples(st.sampled_from(DIMENSIONS), st.sampled_from(["aaaaaaaaaaaa", "bbbbbbbbbbbb"])), max_size=8),
       st.sets(st.sampled_from(DIMENSIONS)))  # fmt: skip
def test_every_dimension_s_model_is_kept(given_: list[tuple[str, str]], own: set[str]) -> None:
    origin = Origin("cccccccccccc", own=set(own))
    truth = dict.fromkeys(DIMENSIONS, "cccccccccccc")
    for name, model in given_:
        if name not in own:
            origin.give(name, model)
            truth[name] = model
    found = names.read(origin.text())
    assert found.own == own
    assert {name: found.of(name) for name in DIMENSIONS if name not in own} == {
        name: model for name, model in truth.items() if name not in own
    }
    assert isinstance(engine.FORMAT, int)
