"""Fitting the classifiers: the same corpus gives the same table, and hooks reckon as scikit-learn does."""

from __future__ import annotations

import json
import marshal
from pathlib import Path

import pytest

from capture.labels import DIMENSIONS, model
from capture.labels.features import features
from nmem.errors import NmemError
from nmem.labels import corpus
from nmem.training import labels

pytest.importorskip("sklearn")
import numpy as np

from nmem.training import label_fit as lf

Corpus = list[corpus.Example]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def examples() -> Corpus:
    return list(corpus.examples(corpus.files()))


@pytest.fixture(scope="module")
def fitted(examples: Corpus) -> labels.Fitted:
    return labels.train(examples)


def test_the_shipped_table_is_what_the_corpus_gives(fitted: labels.Fitted, examples: Corpus) -> None:
    again, shipped = model.made(marshal.loads(fitted.data)), model.shipped()
    assert again is not None
    assert shipped is not None
    assert again.weights.keys() == shipped.weights.keys(), "fit again: python -m nmem.training.labels"
    for one in examples[::7]:
        words = features(one.seen)
        assert again.scores(words) == pytest.approx(shipped.scores(words), abs=1e-6)
    assert again.thresholds == shipped.thresholds


def test_the_card_belongs_to_the_table() -> None:
    card = json.loads(labels.CARD.read_text("utf-8"))
    shipped = model.shipped()
    assert shipped is not None
    assert card["name"] == shipped.name
    assert list(card["dimensions"]) == list(DIMENSIONS)
    for at, one in enumerate(card["dimensions"].values()):
        assert one["threshold"] == shipped.thresholds[at]
        assert one["folds"]["macro_f1"] > one["rules"]["macro_f1"]


def test_hooks_reckon_as_scikit_learn_does(examples: Corpus, fitted: labels.Fitted) -> None:
    """The probability of each word, by sklearn's own regression and Platt's, and by the packed table."""
    table = lf.Table(examples)
    packed = model.made(marshal.loads(fitted.data))
    assert packed is not None
    ours = np.array([packed.scores(words) for words in table.words])
    for at, name in enumerate(DIMENSIONS):
        gold = table.gold(at)
        calibration = lf.calibrate(lf.unseen(table, at), gold)
        regression = lf.fit(table.x[gold >= 0], gold[gold >= 0], name)
        regression.coef_ *= calibration.slope
        regression.intercept_ = regression.intercept_ * calibration.slope + calibration.shift
        theirs = 2 * regression.predict_proba(table.x)[:, 1] - 1
        assert np.abs(ours[:, at] - theirs).max() < 1e-6


def test_sessions_are_never_divided_between_folds(examples: Corpus) -> None:
    groups = np.array([one.group for one in examples])
    for held in lf.folds(groups):
        assert not set(groups[held]) & set(groups[~held])


def test_the_corpus_is_varied_and_says_what_it_means(examples: Corpus) -> None:
    assert len(examples) > 1500
    tools = {one.title.partition(" ")[0] for one in examples}
    assert {"Bash", "PowerShell", "shell", "apply_patch", "run_shell_command", "replace"} <= tools
    assert len({one.language for one in examples}) >= 6
    where = [one.where for one in examples]
    assert len(where) == len(set(where))


def test_the_corpus_keeps_to_what_it_calls_friction(examples: Corpus) -> None:
    """From the third call after a failure on nothing is friction any more; right after one, most is."""
    far: Corpus = []
    near: Corpus = []
    for one in examples:
        failures = [call.failed for call in one.seen.previous]
        if one.seen.call.failed or not one.seen.previous:
            continue
        (near if failures[0] else far if not any(failures[:2]) else []).append(one)
    assert [one.where for one in far if one.labels[4] == "friction"] == []
    assert sum(one.labels[4] == "friction" for one in near) > 0.7 * len(near)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"tool": "Bash", "labels": "act converge internal routine smooth"}'], "before any session"),
        (['{"session": "a"}', '{"tool": "Bash", "labels": "act converge"}'], "five labels"),
        (['{"session": "a"}', '{"tool": "Bash", "labels": "do converge internal routine smooth"}'], "five labels"),
        (["[1]"], "neither a session"),
        (["{"], "not JSON"),
    ],
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, lines: list[str], said: str) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(lines))
    with pytest.raises(NmemError, match=said) as raised:
        list(corpus.examples([file]))
    assert f"own.jsonl:{len(lines)}" in str(raised.value)


def test_a_record_goes_the_way_of_a_real_call() -> None:
    patched = corpus.observation("apply_patch", "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** End Patch")
    assert (patched.obs_type, patched.file_path) == ("file_edit", "src/a.rs")
    failed = corpus.observation("Bash", "pytest -q", "Exit code 1\n1 failed")
    assert (failed.obs_type, failed.outcome, failed.exit_code) == ("test", "failed", 1)
    empty = corpus.observation("Bash", "grep -rn nothing .", "Exit code 1\n")
    assert empty.outcome == "ok"
    refused = corpus.observed("ExitPlanMode", "", "The user doesn't want to proceed with this tool use.")
    assert refused.failed
