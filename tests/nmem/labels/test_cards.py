"""What is known of the models and how history is labelled, where a person looks for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from capture.labels import DIMENSIONS, WORDS
from capture.labels import model as engine
from nmem import database
from nmem.audit import NOTE, OK, WRONG
from nmem.commands.main import nmem
from nmem.doctor.checks import records
from nmem.labels import cards, corrections, names, read, store
from tests.nmem.labels.conftest import START, Hooks, other_model, use


def test_there_is_a_card_of_each_dimension(db_path: str) -> None:
    found = cards.cards(db_path)
    shipped = engine.shipped()
    assert shipped
    assert [card.dimension for card in found] == list(DIMENSIONS)
    for at, card in enumerate(found):
        assert (card.model, card.source, card.own) == (shipped.name, "shipped", 0)
        assert card.words == WORDS[at]
        assert card.threshold == shipped.thresholds[at]
        assert sum(number for _, number in card.classes) == card.calls > 1000
        assert card.folds.macro_f1 > card.rules.macro_f1 - 0.005, "not below twenty lines of rules"
        assert card.folds.accuracy_answered >= card.folds.accuracy > 0.8
        assert all(len(some) >= 1 for some in card.strongest)
        assert card.missed
        assert all(each.truth in card.words for each in card.missed)


def test_every_strong_feature_is_told_in_words(db_path: str) -> None:
    raw = json.loads(Path(engine.SHIPPED).with_name("card.json").read_text())
    told = [
        names.in_words(name)
        for one in raw["dimensions"].values()
        for some in one["strongest"].values()
        for name in some
    ]
    plain = [
        words for words in told if any(mark in words for mark in ("<", ">", "+")) or words[:5] in ("role:", "rule:")
    ]
    assert len(plain) <= len(told) * 0.05, plain


@given(st.text(max_size=40))
def test_any_feature_has_words(feature: str) -> None:
    assert isinstance(names.in_words(feature), str)


def test_without_a_table_there_are_no_cards(db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "current", lambda _path: None)
    assert cards.cards(db_path) == ()


def test_a_model_used_here_keeps_its_card(hooks: Hooks, db_path: str) -> None:
    model = engine.current(db_path)
    assert model
    store.met(hooks.db, db_path, model, START)
    store.met(hooks.db, db_path, model, START + 5)
    at, source, card = store.known(hooks.db)[model.name]
    assert (at, source) == (START, "shipped")
    assert card["dimensions"]["phase"]["folds"]["n"] > 1000
    store.looked(hooks.db, model, 77)
    assert store.looked_to(hooks.db) == 77
    assert store.known(hooks.db)[model.name][2]["dimensions"] == card["dimensions"]


def standing(db_path: str) -> read.Standing:
    db = database.reader(db_path)
    try:
        return read.standing(db, db_path)
    finally:
        db.close()


def test_how_history_is_labelled(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    number = hooks.call("s", "Bash", "ls")
    model = engine.current(db_path)
    assert model
    found = standing(db_path)
    assert (found.model, found.source, found.calls, found.by_it, found.due) == (model.name, "shipped", 11, 11, 0)
    corrections.relabel(hooks.db, number, "phase", "act", START)
    hooks.db.execute("UPDATE observations SET label_model = NULL WHERE seq <= 2")
    hooks.db.execute("UPDATE observations SET label_model = 'eeeeeeeeeeee~scope:dddddddddddd' WHERE seq = 3")
    hooks.db.execute("UPDATE observations SET obs_type = 'marker', label_model = NULL WHERE seq = 4")
    found = standing(db_path)
    assert (found.calls, found.by_it, found.bare, found.by_others, found.own, found.due) == (10, 7, 2, 1, 1, 3)
    assert found.others == (("eeeeeeeeeeee and others", 1),)


def test_doctor_and_status_say_it_and_what_mends_it(hooks: Hooks, db_path: str) -> None:
    assert [finding.severity for finding in records.labels()] == [OK]
    hooks.session()
    (finding,) = records.labels()
    assert finding.severity == OK
    assert "has labelled 10 of 10 calls" in finding.evidence
    hooks.db.execute("UPDATE observations SET label_model = NULL WHERE seq <= 2")
    use(db_path, other_model())
    finding, about = records.labels()
    assert (finding.severity, finding.mend) == (NOTE, "nmem backfill")
    assert "2 carry no labels, 8 carry another model's" in finding.evidence
    assert (about.severity, about.mend) == (NOTE, "nmem train labels")
    shown = CliRunner().invoke(nmem, ["status"]).output
    assert "model\t0123456789ab (personal)" in shown
    assert "calls without labels\t2: nmem backfill labels them" in shown
    assert json.loads(CliRunner().invoke(nmem, ["status", "--json"]).output)["labels"]["by_others"] == 8


def test_a_model_of_one_s_own_that_is_older_than_nmem_is_told(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    model, base = other_model(), engine.shipped()
    assert base
    use(db_path, model)
    card = {**json.loads(Path(engine.SHIPPED).with_name("card.json").read_text()), "name": model.name, "beside": "aaaa"}
    cards.personal_file(db_path).write_text(json.dumps(card))
    assert "beside an older model" in records.labels()[1].evidence
    cards.personal_file(db_path).write_text(json.dumps({**card, "beside": base.name}))
    assert len(records.labels()) == 1


def test_a_missing_table_is_wrong(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.session()
    monkeypatch.setattr(read, "current", lambda _path: None)
    (finding,) = records.labels()
    assert (finding.severity, finding.mend) == (WRONG, "install nmem again")


def test_before_anything_is_recorded_doctor_has_nothing_to_say() -> None:
    assert records.labels() == []
