"""Folders that are broken, huge or meant to lead out: one clear line, and an answer from the rest."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from nmem.errors import NmemError
from nmem.recall import corpus, folder, loaded, mend
from nmem.recall.resolve import ANSWERED, SEVERAL, WRONG, Resolver


@pytest.fixture
def decisions(project: Path) -> Path:
    return project / "docs" / "decisions"


@pytest.mark.parametrize(
    "query", ["../memory-index.md", "../../secret.md", "/etc/passwd", "....//secret.md", "kitchen.md/../../secret.md",
              "leak.md", "leaks/secret.md", "..\\secret.md"],
)  # fmt: skip
def test_no_path_leads_out_of_the_folder(project: Path, decisions: Path, query: str) -> None:
    (project / "secret.md").write_text("## When Secret\n\nhunter2\n")
    (decisions / "leak.md").symlink_to(project / "secret.md")
    (decisions / "leaks").symlink_to(project)
    found = Resolver(loaded.here()).ask(f"..{query}")
    assert found.kind == WRONG and "hunter2" not in found.body
    assert any("leak.md: leads out" in warning for warning in loaded.here().warnings)


def test_a_link_inside_the_folder_is_followed_and_one_that_leads_nowhere_is_told(decisions: Path) -> None:
    (decisions / "alias.md").symlink_to(decisions / "garden.md")
    (decisions / "dead.md").symlink_to(decisions / "none.md")
    (decisions / "loop.md").symlink_to(decisions / "loop.md")
    recall = loaded.here()
    assert Resolver(recall).ask("..alias.md").kind == ANSWERED
    assert {warning.split(":")[0] for warning in recall.warnings} == {"dead.md", "loop.md"}


def test_a_decisions_folder_that_leads_out_of_the_project_is_none(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    root = tmp_path / "inner"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "decisions").symlink_to(tmp_path / "outside")
    with pytest.raises(NmemError, match="no decisions folder"):
        folder.find(str(root))


def test_huge_binary_and_odd_files_are_left_out_and_said(decisions: Path) -> None:
    with (decisions / "huge.md").open("wb") as file:
        file.truncate(folder.LARGEST + 1)
    (decisions / "binary.md").write_bytes(b"## When\0 binary\n")
    (decisions / "latin.md").write_bytes(b"## When Caf\xe9 Closes\n\nGo home.\n")
    os.mkfifo(decisions / "pipe.md")
    recall = loaded.here()
    assert {warning.split(":")[0] for warning in recall.warnings} == {"huge.md", "binary.md", "pipe.md"}
    assert Resolver(recall).ask("prune roses").kind == ANSWERED
    assert mend.UNREAD in {each.kind for each in mend.check(corpus.read(recall.place))}


def test_a_hundred_levels_and_folders_in_a_circle_end(decisions: Path) -> None:
    deep = decisions.joinpath(*(["d"] * 100))
    deep.mkdir(parents=True)
    (deep / "deep.md").write_text("## When Deep\n\nx\n")
    (decisions / "circle").symlink_to(decisions)
    (decisions / "levels.md").write_text("".join(f"{'#' * (1 + n % 9)} When Level {n}\n\ntext\n" for n in range(3000)))
    started = time.monotonic()
    recall = loaded.here()
    assert any("folders deep" in warning for warning in recall.warnings)
    assert Resolver(recall).ask("..levels.md").kind == ANSWERED
    assert time.monotonic() - started < 60


def test_crlf_and_no_final_newline(decisions: Path, project: Path) -> None:
    (decisions / "dos.md").write_bytes(b"# Dos\r\n\r\n## When Lines End Twice\r\n\r\nOne.\r\n\r\nTwo.")
    index = project / "docs" / "memory-index.md"
    index.write_bytes(index.read_bytes().replace(b"\n", b"\r\n") + b"## dos.md\r\n/when lines end twice | crlf")
    resolver = Resolver(loaded.here())
    assert resolver.ask("lines end twice").body == "One.\n\nTwo." == resolver.ask("crlf").body
    assert resolver.ask("leaves turn yellow").kind == ANSWERED


def test_an_open_fence_swallows_and_is_found(decisions: Path) -> None:
    (decisions / "open.md").write_text("## When Open\n\n```\n\n## When Swallowed\n")
    found = mend.check(corpus.read(loaded.here().place))
    assert [(each.kind, each.line) for each in found if each.file == "open.md"] == [
        (mend.NO_ENTRY, 1), (mend.FENCE, 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "query", ["a" * 100_000, "word " * 20_000, "\0\0", "..\0", ".", "..", "# | \x1b[31m", "時計 修理"]
)
def test_odd_queries_are_answered_quickly(project: Path, query: str) -> None:
    started = time.monotonic()
    assert Resolver(loaded.here()).ask(query).said
    assert time.monotonic() - started < 30


def test_thousands_of_one_name_are_a_short_choice_soon(decisions: Path, project: Path) -> None:
    (project / "docs" / "memory-index.md").unlink()
    (decisions / "same.md").write_text("## When All Is the Same\n\nx\n" * 8_000)
    started = time.monotonic()
    resolver = Resolver(loaded.here())
    for query in ("all is the same", ".When All Is the Same"):
        found = resolver.ask(query)
        assert found.kind == SEVERAL and "8000" in found.said and len(found.offers) == 10
        assert resolver.ask(found.offers[-1].link).kind == ANSWERED
    assert len(resolver.ask("..same.md:4").related) <= 40
    assert time.monotonic() - started < 60  # one second on a machine of its own


def test_a_name_as_long_as_a_text_is_told_by_its_place(decisions: Path) -> None:
    (decisions / "long.md").write_text(f"## When {'very ' * 5_000}Long\n\n### How to Cut It\n\nShort.\n")
    resolver = Resolver(loaded.here())
    found = resolver.ask(".How to Cut It")
    assert found.body == "Short." and found.broader == ["/when ..long.md:1", "/when ..long.md"]
    assert all(len(offer.link) < 300 for offer in resolver.ask(".Cutting Something").offers)


def test_two_decisions_of_one_name_are_mended_once(decisions: Path, project: Path) -> None:
    (decisions / "twice.md").write_text("## When Twice\n\nx\n\n## When Twice\n\ny\n\n## When\n\nz\n")
    index = project / "docs" / "memory-index.md"
    lines = index.read_text().split("\n")
    once = mend.mended(corpus.read(loaded.here().place), lines)
    assert once.count("/when twice") == 1
    index.write_text("\n".join(once))
    assert mend.mended(corpus.read(loaded.here().place), once) == once
