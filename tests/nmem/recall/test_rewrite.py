"""References that follow a heading's new name, and lines made to take long."""

from __future__ import annotations

import time

from nmem.recall.rewrite import Names, rewrite


class _Renamed(Names):
    """Two files, one heading of each renamed."""

    def __init__(self) -> None:
        self.files, self.folder = ["garden.md", "kitchen.md"], "docs/decisions"
        self.anchors = {(0, "watering"): "when-watering-tomatoes", (1, "baking"): "how-to-bake"}
        self.texts = {(0, "Watering"): "When Watering Tomatoes", (1, "Baking"): "How to Bake"}
        self.alone = {"Watering": "When Watering Tomatoes"}


def after(line: str) -> str:
    """A line of the first file as it becomes."""
    return dict(rewrite(_Renamed(), 0, [line])).get(0, line)


def test_links_anchors_and_wiki_names_follow() -> None:
    assert after("see [it](#watering)") == "see [it](#when-watering-tomatoes)"
    assert after("see [it](kitchen.md#baking)") == "see [it](kitchen.md#how-to-bake)"
    assert after("[1]: kitchen.md#baking") == "[1]: kitchen.md#how-to-bake"
    assert after("see [[Watering]] and [[Watering|this]]") == (
        "see [[When Watering Tomatoes]] and [[When Watering Tomatoes|this]]"
    )
    assert after("see [[kitchen#Baking]]") == "see [[kitchen#How to Bake]]"
    assert after("see [[[Watering]]]") == "see [[[When Watering Tomatoes]]]"


def test_all_else_stays() -> None:
    for line in ("see [[Other]]", "Watering the garden", "[it](elsewhere.md#watering)", "# Watering"):
        assert after(line) == line
    assert not list(rewrite(_Renamed(), 0, ["```", "[[Watering]]", "```"]))


def test_a_line_of_brackets_takes_time_by_its_length_and_not_its_square() -> None:
    def took(count: int) -> float:
        """The least of a few, of processor time: what else runs does not count."""
        times = []
        for _ in range(5):
            begin = time.process_time()
            after("[[" * count)
            times.append(time.process_time() - begin)
        return min(times)

    assert took(16_000) < 16 * took(2_000) + 0.05  # eight times as long; by the square sixty-four times
