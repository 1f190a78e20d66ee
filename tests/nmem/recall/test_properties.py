"""Whatever stands in the files: nothing raises, links lead where they say, nothing is lost, and all is taken back."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from nmem.errors import NmemError
from nmem.recall import corpus, folder, loaded, markdown, mend, migrate
from nmem.recall.asked import told
from nmem.recall.folder import Place
from nmem.recall.resolve import ANSWERED, Resolver

LINE = st.one_of(
    st.sampled_from([
        "## When Roses Bloom", "## when roses bloom", "### How to Prune", "## .Roses", "# Garden", "# Garden #", "```",
        "~~~", "####### deep", "##", "## ", "## When", "## How to", "text | with — dash", "- Roses Bloom — in June",
        "[a](b.md#when-roses-bloom)", "[[Garden]]", "", "  ", "/when roses bloom | june, rain", "/how prune", "/when",
        "/what is", "## a.md", "## b", "## 時計 修理", "## When " + "very " * 60 + "long", "\t## Tab", "## Roses\u202e",
    ]),
    st.text(alphabet=st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=25),
)  # fmt: skip
FILE = st.builds(
    lambda lines, end, final: end.join(lines) + (end if final else ""),
    st.lists(LINE, max_size=14), st.sampled_from(["\n", "\r\n"]), st.booleans(),
)  # fmt: skip


@contextmanager
def placed(files: list[str], index: str | None) -> Iterator[Place]:
    """A checkout with these decision files."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / ".git").mkdir()
        (root / "docs" / "decisions").mkdir(parents=True)
        for file, text in zip(("a.md", "b.md", "c.md"), files, strict=False):
            (root / "docs" / "decisions" / file).write_bytes(text.encode())
        if index is not None:
            (root / "docs" / "memory-index.md").write_bytes(index.encode())
        yield folder.find(name)


@settings(max_examples=40, deadline=None)
@given(st.lists(FILE, min_size=1, max_size=3), st.one_of(st.none(), FILE), st.lists(LINE, max_size=4))
def test_every_link_leads_somewhere_and_every_body_stands_in_its_file(
    files: list[str], index: str | None, queries: list[str]
) -> None:
    with placed(files, index) as place:
        recall = loaded.of(place, keep=False)
        resolver = Resolver(recall)
        asked = [*queries, *(f"/{doc[0]} {doc[1]}" for doc in recall.index.docs), "..a.md", ".Roses", "roses"]
        seen: set[str] = set()
        while asked and len(seen) < 60:
            query = asked.pop()
            if query in seen:
                continue
            seen.add(query)
            answer = resolver.ask(query)
            assert (told(answer) != "") == (answer.kind != "silent")
            links = [*answer.broader, *answer.related]
            assert all(resolver.ask(link).kind == ANSWERED for link in links), links
            if answer.kind == ANSWERED:
                text = (Path(place.folder) / answer.file).read_bytes().decode().replace("\r\n", "\n")
                assert answer.body in text.replace("\r", "") or answer.body in text
            asked += links


@settings(max_examples=40, deadline=None)
@given(st.lists(FILE, min_size=1, max_size=3), FILE)
def test_mending_loses_no_line_and_needs_no_second_time(files: list[str], index: str) -> None:
    with placed(files, index) as place:
        found = corpus.read(place)
        mend.check(found)
        if not found.index_lines:
            return
        before = index.split("\n")
        after = mend.mended(found, before)
        was, now = (Counter(line.strip() for line in lines if line.strip()) for lines in (before, after))
        assert not was - now
        Path(place.index).write_bytes("\n".join(after).encode())
        assert mend.mended(corpus.read(place), after) == after


@settings(max_examples=40, deadline=None)
@given(st.lists(FILE, min_size=1, max_size=3), FILE)
def test_a_migration_leaves_prose_alone(files: list[str], index: str) -> None:
    with placed(files, f"# Index\n\n## a.md\n\nRoses Bloom — in June\n{index}") as place:
        try:
            plan = migrate.plan(corpus.read(place))
        except NmemError:
            return  # it has entries already
        follow = {(one.file, one.line) for one in plan.rewritten}
        for path, (before, after) in plan.change.files.items():
            if path == place.index:
                continue
            old, new = ((data or b"").decode().split("\n") for data in (before, after))
            heads = {each.line for each in markdown.headings(old)}
            name = Path(path).name
            assert len(old) == len(new)
            assert all(
                one == other or at in heads or (name, at + 1) in follow
                for at, (one, other) in enumerate(zip(old, new, strict=True))
            )
