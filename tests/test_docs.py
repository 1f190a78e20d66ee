"""The manual: whole, short pages, an index of all of them, and references that say what the code says."""

from __future__ import annotations

import re

import pytest

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


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    links = [link for link in LINK.findall((DOCS / name).read_text("utf-8")) if "://" not in link]
    assert [link for link in links if not (DOCS / link).exists()] == []
