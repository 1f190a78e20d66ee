"""What is asked is answered: by name, by words, by heading, by file; and else what to ask instead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nmem.recall import loaded
from nmem.recall.asked import told
from nmem.recall.kept import best, form
from nmem.recall.resolve import ANSWERED, NOTHING, SEVERAL, SILENT, UNSURE, WRONG, Resolver


@pytest.fixture
def ask(project: Path) -> Resolver:
    return Resolver(loaded.here())


@pytest.mark.parametrize(
    "query",
    ["bread does not rise", "/when bread does not rise", "WHEN Bread-does-not-rise", "When Bread Does Not Rise",
     "how to bread does not rise", "yeast", "bread dosn't rize", "bread not rising"],
)  # fmt: skip
def test_a_decision_is_found_by_its_names_and_words(ask: Resolver, query: str) -> None:
    found = ask.ask(query)
    assert (found.kind, found.heading) == (ANSWERED, "When Bread Does Not Rise")


def test_the_body_is_whole_fences_and_all(ask: Resolver) -> None:
    found = ask.ask("bread does not rise")
    assert found.body.startswith("Feed the yeast") and found.body.endswith("After the fence.")
    assert "## When Nothing Is One" in found.body
    assert ask.ask("watering tomatoes").body.endswith("Never in frost.")


def test_every_link_leads_to_what_it_names(ask: Resolver) -> None:
    found = ask.ask("sharpen knives", "how")
    assert found.broader == ["/when .Baking", "/when ..kitchen.md"]
    assert found.related == ["/when bread does not rise"]
    for link in found.broader + found.related:
        assert ask.ask(link).kind == ANSWERED, link
    assert ask.ask(".Baking").heading == ".Baking"
    assert ask.ask("..garden").body.startswith("# Garden")
    assert ask.ask("..garden.md#Exceptions").body == "Never in frost."


def test_it_is_told_with_its_links_and_its_place(ask: Resolver) -> None:
    assert told(ask.ask("sharpen knives")) == (
        "# How to Sharpen Knives\n\nHold the blade at fifteen degrees on the whetstone.\n\n"
        "Broader:\n/when .Baking\n/when ..kitchen.md\n\nRelated:\n/when bread does not rise\n\nSource: kitchen.md:16\n"
    )


def test_what_is_not_sure_has_no_body_but_names(ask: Resolver) -> None:
    found = ask.ask("which knives for the garden party")
    assert (found.kind, found.body) == (UNSURE, "") and 0 < len(found.offers) <= 5
    assert ask.ask("zzqxj").kind == NOTHING


def test_errors_tell_the_next_step(ask: Resolver) -> None:
    assert [offer.link for offer in ask.ask("..gardn.md").offers] == ["/when ..garden.md", "/when ..kitchen.md"]
    assert ask.ask(".Exeptions").offers[0].link == "/when .Exceptions"
    assert ask.ask("  ").kind == WRONG and "empty" in ask.ask("").said
    assert ask.ask("null").kind == SILENT == ask.ask("when null").kind and told(ask.ask("null")) == ""


def test_two_of_one_name_are_a_choice_that_can_be_made(project: Path) -> None:
    folder = project / "docs" / "decisions"
    (folder / "second.md").write_text("## Notes\n\nfirst\n\n## Notes\n\nsecond\n")
    (folder / "third.md").write_text("## Notes\n\nthird\n")
    resolver = Resolver(loaded.here())
    found = resolver.ask(".notes")
    assert found.kind == SEVERAL
    assert [offer.link for offer in found.offers] == [
        "/when ..second.md:1", "/when ..second.md:5", "/when ..third.md#Notes",
    ]  # fmt: skip
    assert [resolver.ask(offer.link).body for offer in found.offers] == ["first", "second", "third"]


def test_the_operator_decides_between_two_of_one_trigger_and_never_hides(project: Path) -> None:
    garden = project / "docs" / "decisions" / "garden.md"
    garden.write_text(garden.read_text() + "\n## How to Watering Tomatoes\n\nWith a can.\n")
    index = project / "docs" / "memory-index.md"
    index.write_text(index.read_text() + "/how watering tomatoes | with a can of water\n")
    resolver = Resolver(loaded.here())
    assert resolver.ask("watering tomatoes", "when").heading == resolver.ask("watering tomatoes", "how").heading
    index.write_text(index.read_text().replace("/when watering tomatoes\n", ""))
    assert Resolver(loaded.here()).ask("/when watering tomatoes").kind == ANSWERED


def test_an_entry_without_its_heading_says_so(project: Path) -> None:
    index = project / "docs" / "memory-index.md"
    index.write_text(index.read_text() + "/when moon is full\n")
    found = Resolver(loaded.here()).ask("moon is full")
    assert found.kind == WRONG and "nmem recall check" in found.said


def test_without_an_index_headings_that_ask_are_entries(project: Path) -> None:
    (project / "docs" / "memory-index.md").unlink()
    (project / "docs" / "decisions" / "0001-queue.md").write_text(
        "# Use a queue for mail\n\n## Context\n\nSlow SMTP.\n"
    )
    resolver = Resolver(loaded.here())
    assert resolver.ask("leaves turn yellow").heading == "When Leaves Turn Yellow"
    assert resolver.ask("queue for mail").body.endswith("Slow SMTP.")


def test_a_changed_file_is_read_anew(project: Path) -> None:
    assert Resolver(loaded.here()).ask("prune roses").body == "In February, above an outward bud."
    garden = project / "docs" / "decisions" / "garden.md"
    garden.write_text(garden.read_text().replace("In February", "In late March"))
    os.utime(garden, ns=(1, 1))
    assert Resolver(loaded.here()).ask("prune roses").body == "In late March, above an outward bud."


def test_a_kept_index_is_the_same(project: Path) -> None:
    first, again = loaded.here(), loaded.here()
    assert first.index.form == again.index.form


def test_what_a_prompt_names_is_offered_and_mostly_nothing(project: Path) -> None:
    index = form(loaded.here().index)
    found = best(index, "the leaves of my tomatoes turn yellow since last week, what is wrong with them?")
    assert [one.link for one in found] == ["/when leaves turn yellow"] and found[0].confidence >= 0.8
    assert best(index, "go on") == [] == best(index, "commit") == best(index, "write the release notes for the shop")
