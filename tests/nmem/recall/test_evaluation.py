"""`nmem eval recall`: what it counts, on decisions of our own; and the real corpus, where it is at hand."""

from __future__ import annotations

import json
import time
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem
from nmem.errors import NmemError
from nmem.evaluate.recall import evaluate, records
from nmem.recall import corpus, folder, grammar, kept, loaded, markdown, mend, words
from nmem.recall.rank import rank
from nmem.recall.resolve import ANSWERED, Resolver

KEYS = {"hit_at_1", "hit_at_5", "mrr", "answered", "precision_answered", "nonsense_answered", "ms_per_query", "n"}


def test_figures_are_what_was_found(project: Path) -> None:
    asked = [
        {"query": "prune roses", "operator": "how", "heading": "How to Prune Roses", "file": "garden.md",
         "kind": "name"},
        {"query": "sharpn knifes", "operator": "how", "heading": "How to Sharpen Knives", "file": "kitchen.md",
         "kind": "typo"},
        {"query": "prune roses", "operator": "when", "heading": "Elsewhere", "file": "x.md", "kind": "name",
         "also_ok": ["How to Prune Roses"]},
        {"query": "prune roses", "operator": "when", "heading": "Nowhere", "file": "x.md", "kind": "none"},
    ]  # fmt: skip
    file, nonsense = project / "q.jsonl", project / "n.jsonl"
    file.write_text("\n".join(map(json.dumps, asked)))
    nonsense.write_text('{"query": "quantum chromodynamics"}\n')
    done = CliRunner().invoke(nmem, ["eval", "recall", str(file), "--index", "docs/memory-index.md", "--decisions",
                                     "docs/decisions", "--nonsense", str(nonsense), "--json"])  # fmt: skip
    figures = json.loads(done.output)
    assert figures.keys() == KEYS | {"by", "baseline"} and figures["baseline"].keys() == KEYS | {"name"}
    assert (figures["hit_at_1"], figures["answered"], figures["n"]) == (0.75, 1.0, 4)
    assert figures["nonsense_answered"] == 0 and figures["by"]["kind"]["typo"]["hit_at_1"] == 1


def test_what_would_be_offered_unasked_is_measured_too(project: Path) -> None:
    asked = [
        {"query": "all the leaves of my tomatoes turn yellow", "operator": "", "heading": "When Leaves Turn Yellow",
         "file": "garden.md", "kind": "prompt"},
        {"query": "today we prune the old roses", "operator": "", "heading": "Elsewhere", "file": "x.md", "kind": "p"},
        {"query": "write the release notes", "operator": "", "heading": "Nowhere", "file": "x.md", "kind": "p"},
    ]  # fmt: skip
    place = folder.find(str(project))
    found = evaluate(Path(place.index), Path(place.folder), asked, [{"query": "sharpen my pencils and my mind"}])
    offered = found["by"]["unasked"]["offered"]  # type: ignore[index]
    assert (offered["answered"], offered["precision_answered"], offered["hit_at_1"]) == (0.6667, 0.5, 0.3333)
    assert offered["nonsense_answered"] == 0 and offered["n"] == 3


def test_a_place_without_entries_is_said(project: Path) -> None:
    (project / "empty.md").write_text("Nothing yet.\n")
    (project / "none").mkdir()
    with pytest.raises(NmemError, match=r"no /when entries.*right places"):
        evaluate(project / "empty.md", project / "none", [{"query": "prune roses"}])


@pytest.fixture
def real(shared: Path) -> Path:
    return shared / "data" / "recall"


def _place(real: Path, name: str) -> folder.Place:
    return folder.named(str(real / name / "agents" / "memory-index.md"), str(real / name / "agents" / "decisions"))


@pytest.mark.parametrize(("name", "count"), [("after", 156), ("grown", 374)])
def test_every_name_of_the_real_corpora_leads_to_its_decision(real: Path, name: str, count: int) -> None:
    resolver = Resolver(loaded.of(_place(real, name), keep=False))
    gold = [json.loads(line) for line in (real / name / "gold_entries.jsonl").read_text().splitlines()]
    links: set[str] = set()
    for entry in gold:
        trigger, operator = entry["trigger"], entry["operator"]
        for query in (trigger, f"/{operator} {trigger}", entry["heading"], trigger.upper(), trigger.replace("-", " ")):
            found = resolver.ask(query)
            assert (found.kind, found.heading) == (ANSWERED, entry["heading"]), query
            assert sha256(found.body.encode()).hexdigest() == entry["body_sha256"], query
        assert [resolver.ask(link).heading for link in found.broader[:-1]] == entry["ancestors"]
        assert found.related == entry["siblings"]
        links |= {*found.broader, *found.related}
    assert len(gold) == count
    assert [link for link in links if resolver.ask(link).kind != ANSWERED] == []


def test_the_real_corpora_fit_but_for_two_headings(real: Path) -> None:
    assert mend.check(corpus.read(_place(real, "after"))) == []
    assert [each.text for each in mend.check(corpus.read(_place(real, "grown")))] == [
        "When Choosing Naming Convention Format", "When Merging Worktree With Consolidated Learnings On Main",
    ]  # fmt: skip


def test_the_real_older_index_is_migrated_and_put_back(real: Path, tmp_path: Path, own_home: Path) -> None:
    import shutil

    shutil.copytree(real / "before", tmp_path / "before")
    for path in (tmp_path / "before", *(tmp_path / "before").rglob("*")):
        path.chmod(0o755)  # the material may only be read
    place = _place(tmp_path, "before")
    where = ["--index", place.index, "--decisions", place.folder]
    files = [path for path in (tmp_path / "before").rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    done = CliRunner().invoke(nmem, ["recall", "migrate", "--yes", *where])
    assert done.exit_code == 0, done.output
    assert mend.check(corpus.read(place)) == []
    for path in Path(place.folder).iterdir():
        old, new = ([line for line in markdown.lines_of(text) if not line.startswith("#")]
                    for text in (before[path].decode(), path.read_text()))  # fmt: skip
        assert old == new
    text = Path(place.index).read_text()
    index = words.normal(text)
    assert text.startswith(grammar.NEW) and "Append-only" not in text  # the older header is replaced whole
    entries = before[Path(place.index)].decode().partition("## Technical Decisions")[2]  # what is above was loaded
    for line in entries.splitlines()[1:]:
        pair = grammar.passive(line)
        assert all(words.normal(part) in index for part in pair or [line.strip()] if not line.startswith("#")), line
    assert 85 <= text.count("\n/when ") <= 105 and 47 <= text.count("\n/how ") <= 71  # people made 91 and 61
    assert CliRunner().invoke(nmem, ["undo", "--yes"]).exit_code == 0
    assert {path: path.read_bytes() for path in files} == before


@pytest.mark.parametrize("half", [0, 1])
def test_real_queries_are_found(real: Path, half: int) -> None:
    queries = [each for at, each in enumerate(records([real / "queries.grown.jsonl"])) if at // 2 % 2 == half]
    nonsense = records([real / "negatives.jsonl"])
    place = _place(real, "grown")
    found = evaluate(Path(place.index), Path(place.folder), queries, nonsense)
    by = found["by"]["kind"]  # type: ignore[index]
    least = {"abbrev": (0.9, 0.95), "typo": (0.8, 0.9), "paraphrase": (0.6, 0.8)}  # of some dozen each
    for kind, (first, five) in least.items():
        assert by[kind]["hit_at_1"] >= first and by[kind]["hit_at_5"] >= five, (kind, by[kind])
    assert found["hit_at_1"] >= 0.78 and found["hit_at_5"] >= 0.9  # type: ignore[operator]
    assert found["answered"] >= 0.6 and found["precision_answered"] >= 0.93  # type: ignore[operator]
    assert found["nonsense_answered"] <= 1 / 15 + 0.001  # type: ignore[operator]
    offered = found["by"]["unasked"]["offered"]  # type: ignore[index]
    assert offered["precision_answered"] >= 0.95 and offered["nonsense_answered"] == 0


def test_a_prompt_that_says_a_trigger_is_offered_its_entry(real: Path) -> None:
    index = loaded.of(_place(real, "grown"), keep=False).index
    names = kept.form(index)
    made = [(doc[4], [one.heading for one in kept.best(names, f"please look at {doc[1]} in this module today")])
            for doc in index.docs]  # fmt: skip
    right = sum(heading in found for heading, found in made)
    assert right >= 0.98 * len(made) and right >= 0.95 * sum(len(found) for _, found in made)


def test_keys_of_the_older_index_are_found(real: Path) -> None:
    index = loaded.of(_place(real, "after"), keep=False).index
    pairs = [json.loads(line) for line in (real / "migration_pairs.jsonl").read_text().splitlines()]
    started = time.process_time()
    hits = [index.docs[rank(index, pair["old_key"])[0][0].doc][4] == pair["new_heading"] for pair in pairs]
    assert (time.process_time() - started) / len(pairs) < 0.5  # 10 ms on a machine of its own
    assert sum(hits) / len(hits) >= 0.88
