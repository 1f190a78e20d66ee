"""Re-fitting on outcomes: when, what is adopted, what is kept."""

from __future__ import annotations

import random
from typing import Any

import pytest

from capture.jsonio import dumps
from nmem.threads import formula, link, links_store, tuning
from nmem.threads.formula import NAMES, Example, Likeness, fit, raw

World = Any


def outcomes_of(world: World, count: int, truth: Any, *, seed: int = 1, model: Any = None, by: str = "person") -> None:
    """Decisions of the shipped formula about random pairs, with outcomes by a truth of our own."""
    draw = random.Random(seed)
    project = world.project()
    shipped = formula.shipped()
    start = world.all("SELECT coalesce(max(id), 0) FROM threads")[0][0]
    for number in range(start, start + 2 * count, 2):
        for each in (number + 1, number + 2):
            world.db.execute(
                "INSERT INTO threads (id, project_id, created_at, last_at) VALUES (?, ?, 1, 1)", (each, project)
            )
        like = Likeness(*(draw.random() for _ in NAMES))
        said = shipped.links(like)
        related = truth(like)
        asked = model(like) if model else None
        decided = links_store.write_decision(world.db, {
            "at": number, "earlier_thread_id": number + 1, "later_thread_id": number + 2,
            "algorithmic_score": shipped.score(like), "components": dumps(like.rounded()),
            "llm_related": None if asked is None else int(asked), "llm_confidence": None if asked is None else 0.9,
            "decision": "link" if said else "dont_link", "certainty": "high",
        })  # fmt: skip
        links_store.set_outcome(world.db, decided, "correct" if said == related else "incorrect", by, number)


def by_topic(like: Likeness) -> bool:
    return like.topic > 0.5


def spread(world: World) -> None:
    """Later threads of all remainders, so that a quarter is held out."""
    world.db.execute("PRAGMA foreign_keys = OFF")
    world.db.execute(
        "UPDATE episode_links SET later_thread_id = later_thread_id + 1000000 + (id % 4) - later_thread_id % 4"
    )


def test_ninety_nine_outcomes_are_too_few(world: World) -> None:
    outcomes_of(world, 99, by_topic)
    assert not tuning.due(world.db)
    assert tuning.tune(world.db, 5) is None
    outcomes_of(world, 1, by_topic, seed=2)
    assert tuning.due(world.db)


def test_a_better_formula_is_adopted_and_used(world: World) -> None:
    outcomes_of(world, 400, by_topic)
    spread(world)
    before = link.current(world.db)
    kept = tuning.tune(world.db, 77)
    assert kept is not None
    assert kept.adopted
    after = link.current(world.db)
    assert after.to_dict() == kept.after != before.to_dict() == kept.before
    share = {each: one.weights["topic"] / sum(one.weights.values()) for each, one in (("b", before), ("a", after))}
    assert share["a"] > share["b"]
    for name in ("accuracy", "false_positive_rate", "false_negative_rate", "f1"):
        assert {f"{name}_before", f"{name}_after"} <= set(kept.metrics)
    assert kept.metrics["accuracy_after"] > kept.metrics["accuracy_before"]
    assert (kept.metrics["outcomes"], kept.at) == (400, 77)
    assert "held out" in kept.reason
    assert not tuning.due(world.db)


def test_a_formula_that_is_no_better_is_not_adopted_but_the_attempt_is_kept(world: World) -> None:
    outcomes_of(world, 200, formula.shipped().links)
    spread(world)
    kept = tuning.tune(world.db, 7)
    assert kept is not None
    assert not kept.adopted
    assert kept.reason.startswith("kept")
    assert kept.before == kept.after
    assert link.current(world.db) == formula.shipped()
    assert not tuning.due(world.db)  # the next hundred first


def test_tuning_is_deterministic(world: World) -> None:
    outcomes_of(world, 200, by_topic)
    spread(world)
    found = tuning.cases(links_store.with_outcome(world.db))
    assert tuning.refit(formula.shipped(), found) == tuning.refit(formula.shipped(), found)
    backwards = tuning.refit(formula.shipped(), found[::-1])[0]
    assert tuning.refit(formula.shipped(), found)[0].to_dict() == backwards.to_dict()


def test_too_few_held_out_adopts_nothing(world: World) -> None:
    outcomes_of(world, 12, by_topic)
    kept = tuning.tune(world.db, 7, force=True)
    assert kept is not None
    assert not kept.adopted


def test_whoever_is_right_in_disagreements_is_believed(world: World) -> None:
    outcomes_of(world, 300, by_topic, model=by_topic)
    found = tuning.cases(links_store.with_outcome(world.db))
    _, metrics, _ = tuning.refit(formula.shipped(), found)
    told = metrics["disagreements"]
    assert told["n"] == told["model_right"] > 20
    trust = tuning._trust(found, formula.shipped())
    assert trust["model"] > 1.5 > 0.6 > trust["algorithm"]
    believed = formula.from_dict({**formula.shipped().to_dict(), "trust": trust})
    assert not link.decide(0.9, believed, link.Assessment(False, 0.6)).linked
    assert link.decide(0.9, formula.shipped(), link.Assessment(False, 0.6)).linked


def test_what_the_model_overlooks_becomes_a_hint(world: World) -> None:
    outcomes_of(world, 200, lambda like: like.files > 0.5, model=lambda like: False)
    hints = tuning._hints(tuning.cases(links_store.with_outcome(world.db)))
    assert hints[0] == "words of the file names that were touched"


def test_outcomes_by_files_count_half(world: World) -> None:
    outcomes_of(world, 3, by_topic, by="files")
    assert {case.weight for case in tuning.cases(links_store.with_outcome(world.db))} == {0.5}


def test_fit_against_a_reference() -> None:
    """The optimum has no slope, weights are never negative, and no data leaves the prior."""
    draw = random.Random(3)
    examples = [Example((draw.random(), draw.random()), draw.random() < 0.5) for _ in range(60)]
    centre, width, prior = [0.5, 0.5], [0.3, 0.3], [0.0, 1.0, 1.0]
    found = fit(examples, centre, width, prior, 2.0)
    np = pytest.importorskip("numpy")
    optimize = pytest.importorskip("scipy.optimize")
    z = (np.array([each.values for each in examples]) - 0.5) / 0.3
    y = np.array([float(each.related) for each in examples])

    def loss(b: Any) -> Any:
        s = z @ b[1:] + b[0]
        return (np.logaddexp(0, s) - y * s).sum() + ((b - np.array(prior)) ** 2).sum()

    best = optimize.minimize(loss, prior, bounds=[(None, None), (0, None), (0, None)]).x
    assert found == pytest.approx(list(best), abs=1e-3)
    assert fit([], centre, width, prior, 2.0) == pytest.approx(prior)
    bias, weights = raw(found, centre, width)
    assert bias + sum(w * 0.5 for w in weights) == pytest.approx(found[0])


def test_a_weight_that_wants_below_zero_stays_at_zero() -> None:
    examples = [Example((value / 20,), value < 10) for value in range(20)]
    assert fit(examples, [0.5], [0.3], [0.0, 0.5], 0.5)[1] == 0.0
