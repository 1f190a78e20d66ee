"""The gate: the cheap figures hold wide limits, as ratios in one run."""

from __future__ import annotations

from benchmarks import gate
from benchmarks.figures import Run


def test_the_cheap_figures_hold() -> None:
    run = gate.measured(lambda _: None)
    assert set(gate.held(run)) == set(gate.LIMITS)
    assert gate.missed(run) == [], gate.says(run)


def test_the_gate_says_what_is_over_a_limit() -> None:
    run = Run()
    for key in gate.LIMITS:
        run.add(key, gate.LARGE, 1.0)
    run.add("read context", gate.SMALL, 1.0)
    run.add("read context", gate.LARGE, 4.0)
    assert gate.missed(run) == ["read context"]
    assert "**!** 4.00 | 3.00" in gate.says(run)
