"""The manual: whole, short pages, an index of all of them, and references that say what the code says."""

from __future__ import annotations

import re
import tomllib

import pytest

from nmem.commands.main import COMMANDS
from tests.house import ROOT
from tests.reference import DOCS, GENERATED

LONGEST = 250
PAGES = sorted(file.name for file in DOCS.glob("*.md"))
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_read_in_one_go(name: str) -> None:
    assert len((DOCS / name).read_text("utf-8").splitlines()) <= LONGEST


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_page_is_current(name: str) -> None:
    page = (DOCS / name).read_text("utf-8")
    assert page == GENERATED[name](page), "`python -m tests.reference` writes it anew"


def test_the_index_leads_to_every_page_once() -> None:
    linked = [link for link in LINK.findall((DOCS / "README.md").read_text("utf-8")) if "/" not in link]
    assert sorted([*linked, "README.md"]) == PAGES


CHANGES = (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_newest_entry_of_the_changelog_is_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    newest = next(line for line in CHANGES.splitlines() if line.startswith("## "))
    assert newest.removeprefix("## ").partition(" ")[0] == project["version"]


def test_the_changelog_is_short_and_ships_with_the_source() -> None:
    assert len(CHANGES.splitlines()) <= 120
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert {"CHANGELOG.md", "README.md", "docs"} <= set(hatch["sdist"]["include"])


def test_the_changelog_names_commands_and_pages_that_exist() -> None:
    for words in re.findall(r"`nmem ([a-z]+)", CHANGES):
        assert words in COMMANDS, words
    assert [link for link in LINK.findall(CHANGES) if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    links = [link for link in LINK.findall((DOCS / name).read_text("utf-8")) if "://" not in link]
    assert [link for link in links if not (DOCS / link).exists()] == []
