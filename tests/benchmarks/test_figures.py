"""The table of the benchmarks: budgets, growth in units of the control, marks, and its place in the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import figures, memory, peers
from benchmarks.__main__ import main, numbers
from benchmarks.figures import Run


def run_of(values: dict[str, dict[int, tuple[float, float]]]) -> Run:
    run = Run(commit="abc", machine="2 cores")
    for key, by_size in values.items():
        for size, (value, control) in by_size.items():
            run.add(key, size, value, control)
    return run


def test_growth_is_in_units_of_the_control() -> None:
    run = run_of({"read stream": {10_000: (1.0, 1.0), 3_000_000: (2.4, 2.0), 100_000: (9.0, 1.0)}})
    assert run.growth("read stream") == pytest.approx(1.2)  # the machine was half as fast at the larger size
    assert run.missed() == []


def test_one_size_grows_nothing() -> None:
    assert run_of({"read stream": {10_000: (1.0, 1.0)}}).growth("read stream") is None
    assert run_of({"read stream": {10: (0.0, 1.0), 20: (1.0, 1.0)}}).growth("read stream") is None


def test_what_misses_its_budget_is_marked_and_said_by_how_much() -> None:
    run = run_of({
        "search p95": {10_000: (20.0, 1.0), 3_000_000: (130.0, 1.0)},
        "bytes": {10_000: (500.0, 1.0), 3_000_000: (600.0, 1.0)},
        "read context": {10_000: (10.0, 1.0), 3_000_000: (16.0, 1.0)},
    })  # fmt: skip
    lines = {line.split(" | ")[0].strip("| "): line for line in figures.table(run).splitlines()}
    assert "**!** 130 | 6.50 | 100" in lines["a search, 95th percentile, ms"]  # its growth is held to nothing
    assert "**!** 1.60" in lines["what a prompt is told, composed, ms"]
    assert "!" not in lines["an observation with all its indexes, bytes"]
    assert [each.split(":")[0] for each in run.missed()] == [
        "what a prompt is told, composed", "a search, 95th percentile",
    ]  # fmt: skip
    assert "130 ms at 3,000,000, budget 100" in figures.says(run)


def test_a_run_without_misses_says_so() -> None:
    assert "Every budget holds." in figures.says(run_of({"bytes": {10_000: (500.0, 1.0)}}))


def test_a_size_that_was_not_measured_is_an_empty_cell() -> None:
    run = run_of({"bytes": {10_000: (500.0, 1.0)}, "memory": {100_000: (90.0, 1.0)}})
    assert "| an observation with all its indexes, bytes | 500 |  |  | 700 |" in figures.table(run)


def test_json_leads_back_to_the_same_table() -> None:
    run = run_of({"read stream": {10_000: (1.0, 2.0), 100_000: (1.5, 2.5)}, "bytes": {10_000: (500.0, 1.0)}})
    kept = json.loads(json.dumps(run.to_dict()))
    assert figures.says(Run.from_dict(kept)) == figures.says(run)
    assert kept["figures"]["read stream"]["growth"] == pytest.approx(1.2)
    assert kept["sizes"] == [10_000, 100_000]


@pytest.mark.parametrize(
    ("value", "said"), [(0.1234, "0.123"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"), (12345, "12,345")]
)
def test_three_digits_are_enough(value: float, said: str) -> None:
    assert figures.number(value) == said


def test_sizes_are_short() -> None:
    assert [figures.short(each) for each in (10_000, 3_000_000, 2_500, 1234)] == ["1e4", "3e6", "2500", "1234"]
    assert numbers("1e5,1e4") == (10_000, 100_000)


def test_a_cell_holds_no_bar_and_no_line() -> None:
    assert figures.markdown(["a"], [["one | two\nthree"]]).splitlines()[-1] == "| one \\| two three |"


def test_a_block_of_the_page_is_set_anew_and_the_rest_stays() -> None:
    page = "top\n<!-- benchmarks sizes: how -->\nold\n<!-- /benchmarks sizes -->\nend\n"
    assert figures.put(page, "sizes", r"new \1") == page.replace("old", r"new \1")
    with pytest.raises(ValueError, match="no block"):
        figures.put(page, "peers", "new")


def test_the_page_has_a_block_for_each_subject() -> None:
    page = (figures.ROOT / "docs" / "figures.md").read_text("utf-8")
    for name in ("sizes", "memory", "peers"):
        assert figures.put(page, name, "x") != page


def test_kept_figures_are_printed_without_measuring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, again = tmp_path / "kept.json", tmp_path / "again.json"
    run = run_of({"bytes": {10_000: (500.0, 1.0)}})
    figures.write_json(file, run.to_dict())
    assert main(["--from", str(file), "--json", str(again)]) == 0
    assert "an observation with all its indexes" in capsys.readouterr().out
    assert json.loads(again.read_text()) == run.to_dict()


def test_the_machine_is_told_without_a_name() -> None:
    assert "cores" in figures.machine()
    assert "/" not in figures.machine()


def test_a_source_is_told_once_and_material_that_is_absent_is_said(tmp_path: Path) -> None:
    rows = [memory.row("a", "1", "2", "x .5", "the paper"), memory.row("b", "1", "2", "y .5", "the paper")]
    said = memory.says({"commit": "c", "machine": "m", "rows": rows})
    assert said.count("the paper") == 1
    assert said.count("[1]") == 3
    found = memory.measured(tmp_path / "nothing", lambda _: None)
    assert len(found["rows"]) == len(memory.PARTS)
    assert all("not measured" in each["what"] for each in found["rows"])


def test_peers_are_ranked_as_it_is_and_one_that_cannot_run_says_why() -> None:
    empty: dict[str, Any] = {**dict.fromkeys(key for _, key, _ in peers.COLUMNS), "notes": []}
    ours: dict[str, Any] = {**empty, "name": "nmem", "hit_at_1": 0.6, "disk_mb": 40.0, "memory_mb": 0.0}
    other: dict[str, Any] = {**empty, "name": "other 1.0", "hit_at_1": 0.7, "disk_mb": 20.0, "memory_mb": 300.0}
    absent: dict[str, Any] = {**empty, "name": "third 2.0", "notes": ["not measured: needs a | model"]}
    said = peers.says({"commit": "c", "machine": "m", "peers": [ours, other, absent]})
    assert "title hit@1, disk, MB: other 1.0" in said
    assert "memory, MB: nmem" in said
    assert "- third 2.0: not measured: needs a | model." in said
    assert "| other 1.0 |  |  | .700 |" in said
