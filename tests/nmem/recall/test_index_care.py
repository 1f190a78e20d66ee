"""An index is checked, mended, migrated and written into; no line is lost, all is taken back byte for byte."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nmem.commands.main import nmem
from nmem.errors import NmemError
from nmem.llm import Cancel, Reply, Request
from nmem.llm.ask import Desk
from nmem.llm.book import Book
from nmem.llm.config import Settings
from nmem.recall import compress, corpus, folder, kept, loaded, mend, migrate, situations
from nmem.search import decisions
from tests.nmem.conftest import Recorded


def run(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(nmem, list(words), input=given, standalone_mode=False)


def kinds(project: Path) -> Counter[str]:
    return Counter(each.kind for each in mend.check(corpus.read(folder.find(str(project)))))


def image(project: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(project.rglob("*.md"))}


def test_what_fits_has_no_findings(project: Path) -> None:
    assert not kinds(project)
    done = run("recall", "check")
    assert done.return_value == 0 and "5 entries, 2 files, 0 findings" in done.output


BROKEN = """# Index

## docs/decisions/kitchen.md

a remark that is no entry
/how sharpen knives
/when prune roses | in the wrong section
/when bread does not rise
/when watering tomatoes
/what is this

## garden
/when leaves turn yellow
/when moon is full
/when leaves turn yellow
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("final", [True, False])
def test_what_does_not_fit_is_found_and_mended_without_losing_a_line(project: Path, end: str, final: bool) -> None:
    index = project / "docs" / "memory-index.md"
    garden = project / "docs" / "decisions" / "garden.md"
    garden.write_text(garden.read_text() + "\n## When Frost Comes\n\nCover.\n")
    text = BROKEN if final else BROKEN.removesuffix("\n")
    index.write_bytes(text.replace("\n", end).encode())
    assert kinds(project) == {"form": 2, "twice": 1, "elsewhere": 2, "no-heading": 1, "order": 1, "no-entry": 1}
    before = image(project)

    done = run("recall", "check", "--fix", "--json")
    assert done.return_value == 1, done.output
    found = Counter(each["kind"] for each in json.loads(done.output)["findings"])
    assert found == {"form": 2, "twice": 1, "no-heading": 1}
    after = index.read_bytes()
    kept, now = (
        Counter(line.strip() for line in data.split(b"\n") if line.strip()) for data in (before[str(index)], after)
    )
    assert not kept - now and list((now - kept).elements()) == [b"/when frost comes"]
    assert (b"\r\n" in after) == (end == "\r\n") and b"\r\n" * after.count(b"\n") == b"\r\n" * after.count(end.encode())

    run("recall", "check", "--fix")
    assert index.read_bytes() == after
    assert run("undo").exit_code == 0
    assert image(project) == before


def test_a_mended_index_needs_no_mending(project: Path) -> None:
    found = corpus.read(folder.find(str(project)))
    lines = (project / "docs" / "memory-index.md").read_text().split("\n")
    assert mend.mended(found, lines) == lines


def test_doubles_and_structure_are_told(project: Path) -> None:
    index = project / "docs" / "memory-index.md"
    index.write_text(index.read_text() + "/when baking\n## nowhere.md\n/when nothing stands here\n")
    (project / "docs" / "decisions" / "more.md").write_text("## When Watering Tomatoes\n\nAt noon.\n")
    assert kinds(project) == {"structure": 1, "no-file": 1, "no-heading": 1, "no-entry": 1, "same-heading": 1}


OLD = """# Memory Index

Prefer retrieval-led reasoning.

## Behaviour (always loaded)

Speak plainly — no jargon, ever

## docs/decisions/shop.md

Basket totals — rounding happens once, at the end | not per line
Retry payments - three times, then a person is asked
- Path of exports — under var, never tmp
a line of prose
"""
SHOP = """# Shop

## Money

### Basket Totals

Round once.

### Retrying Payments

Three times.

## Storage

Intro.

### Path of Exports

Under var.

#### Details

As agreed.
"""


@pytest.fixture
def old(project: Path) -> Path:
    for path in project.rglob("*.md"):
        path.unlink()
    (project / "docs" / "memory-index.md").write_text(OLD)
    (project / "docs" / "decisions" / "shop.md").write_text(SHOP)
    (project / "README.md").write_text("See [totals](docs/decisions/shop.md#basket-totals).\n")
    return project


def test_an_older_index_is_migrated_and_loses_nothing(old: Path) -> None:
    before = image(old)
    dry = run("recall", "migrate", "--dry-run")
    assert dry.exit_code == 0 and image(old) == before
    assert "Basket Totals  ->  When working on basket totals" in dry.output and "mentioned in README.md:1" in dry.output

    assert run("recall", "migrate", "--yes").exit_code == 0
    assert run("recall", "check").return_value == 0
    index = (old / "docs" / "memory-index.md").read_text()
    assert "/when working on basket totals | Basket Totals, rounding happens once, at the end | not per line\n" in index
    assert "Prefer retrieval-led reasoning." not in index and "Prefer retrieval-led reasoning." in dry.output
    for words in ("Speak plainly — no jargon, ever", "a line of prose",
                  "Retry payments — three times, then a person is asked"):  # fmt: skip
        assert words in index
    shop = (old / "docs" / "decisions" / "shop.md").read_text()
    assert "## .Money" in shop and "### When retrying payments" in shop and "#### Details" in shop
    assert [line for line in shop.split("\n") if not line.startswith("#")] == [
        line for line in SHOP.split("\n") if not line.startswith("#")
    ]
    assert "Round once." in run("when", "rounding of basket totals").output
    assert run("recall", "migrate", "--yes").exception is not None

    assert run("undo").exit_code == 0
    assert image(old) == before


TALK = """\
# Talk\r
\r
## Notes of the Shop\r
\r
See [totals](shop.md#basket-totals), [the same](./shop.md#Basket-Totals "title"), [[Basket Totals]].\r
As in [[shop#Path of Exports|p]] and [there](shop.md#money), [there](docs/decisions/shop.md#basket-totals).\r
- Basket Totals — as the shop has them\r
Basket Totals are spoken of, [elsewhere](other/shop.md#basket-totals) and [outside](https://a.example/#basket-totals).\r
[later]: <shop.md#retrying-payments>\r
```\r
[code](shop.md#basket-totals)\r
```\r
"""


def test_references_among_the_decisions_follow_their_headings(old: Path) -> None:
    talk = old / "docs" / "decisions" / "talk.md"
    talk.write_bytes(TALK.encode())
    before = image(old)
    dry = run("recall", "migrate", "--dry-run").output
    assert "references to update:" in dry and "-> - When working on basket totals — as the shop has them" in " ".join(
        dry.split()
    )
    assert "mentioned in docs/decisions/talk.md:8" in dry and "mentioned in docs/decisions/talk.md:5" not in dry

    assert run("recall", "migrate", "--yes").exit_code == 0
    assert run("recall", "check").return_value == 0
    after = talk.read_bytes().decode()
    assert after == (
        TALK.replace("## Notes of the Shop", "## When working on notes of the shop")
        .replace("](shop.md#basket-totals), ", "](shop.md#when-working-on-basket-totals), ")
        .replace("decisions/shop.md#basket-totals", "decisions/shop.md#when-working-on-basket-totals")
        .replace("./shop.md#Basket-Totals", "./shop.md#when-working-on-basket-totals")
        .replace("[[Basket Totals]]", "[[When working on basket totals]]")
        .replace("[[shop#Path of Exports", "[[shop#When working on path of exports")
        .replace("- Basket Totals —", "- When working on basket totals —")
        .replace("<shop.md#retrying-payments>", "<shop.md#when-retrying-payments>")
    )
    assert run("undo").exit_code == 0
    assert image(old) == before


def test_undo_leaves_alone_what_changed_since(old: Path) -> None:
    run("recall", "migrate", "--yes")
    shop = old / "docs" / "decisions" / "shop.md"
    shop.write_text(shop.read_text() + "mine\n")
    done = run("undo")
    assert "shop.md" in done.output and shop.read_text().endswith("mine\n")
    assert (old / "docs" / "memory-index.md").read_text() == OLD


def test_a_migration_needs_something_to_migrate(project: Path) -> None:
    with pytest.raises(NmemError, match="/when entries already"):
        migrate.plan(corpus.read(folder.find(str(project))))


def test_a_decision_is_remembered_and_found(project: Path) -> None:
    before = image(project)
    done = run("recall", "remember", "mend a bent fork", "--how", "--file", "kitchen", "--under", "Baking",
               "--text", "# Steps\n\nHeat it until it glows and then hammer it softly on the anvil.",
               "--extra", "cutlery, repair", "--yes")  # fmt: skip
    assert done.exit_code == 0, done.output
    found = run("how", "mend a bent fork")
    assert "hammer it softly" in found.output and "/when .Baking" in found.output and "#### Steps" in found.output
    assert run("recall", "check").return_value == 0
    assert run("undo").exit_code == 0
    assert image(project) == before


def test_what_an_episode_learned_becomes_a_decision(project: Path, record: Recorded) -> None:
    record.coupon().db.commit()
    assert run("settle").exit_code == 0
    before = image(project)
    done = run("recall", "remember", "rounding a coupon", "--episode", "1", "--file", "garden", "--yes")
    assert done.exit_code == 0, done.exception
    told = run("when", "rounding a coupon").output
    assert "- The invoice test still fails, because rounding happens before the coupon.\n" in told
    assert "Source: garden.md" in told
    assert run("recall", "check").return_value == 0
    assert "is too vague" in str(run("recall", "remember", "coupon", "--episode", "1", "--yes").exception)
    assert run("undo").exit_code == 0
    assert image(project) == before


@pytest.mark.parametrize(
    ("where", "named"),
    [
        (".", "garden"),
        (".", "docs/decisions/garden.md"),
        ("docs", "decisions/garden.md"),
        ("docs/decisions", "garden.md"),
    ],
)
def test_a_file_is_named_from_the_folder_the_project_or_where_one_stands(
    project: Path, monkeypatch: pytest.MonkeyPatch, where: str, named: str
) -> None:
    monkeypatch.chdir(project / where)
    text = "Green, twice, and never in the rain, or it comes off again within the year."
    done = run("recall", "remember", "painting the garden fence", "--text", text, "--file", named, "--yes")
    assert done.exit_code == 0, done.exception
    assert "never in the rain" in (project / "docs" / "decisions" / "garden.md").read_text()


def test_an_episode_that_learned_nothing_says_so(project: Path, record: Recorded) -> None:
    record.coupon().db.commit()
    assert run("settle").exit_code == 0
    record.db.execute("UPDATE work_units SET learned = '[]', notes = '[]'")
    record.db.commit()
    assert "learned and noted nothing" in str(
        run("recall", "remember", "greeting a stranger", "--episode", "1", "--yes").exception
    )
    record.db.execute("UPDATE work_units SET narrator = NULL")
    record.db.commit()
    assert "nmem settle" in str(
        run("recall", "remember", "greeting a stranger", "--episode", "episode/1", "--yes").exception
    )
    assert "no episode/99" in str(
        run("recall", "remember", "greeting a stranger", "--episode", "99", "--yes").exception
    )


def test_what_costs_no_more_than_its_entry_is_better_always_read(project: Path, record: Recorded) -> None:
    garden = project / "docs" / "decisions" / "garden.md"
    garden.write_text(garden.read_text().replace("In February, above an outward bud.", "In late February."))
    done = json.loads(run("recall", "report", "--json").output)
    assert done["better_always_read"] == ["/when leaves turn yellow", "/how prune roses"]
    assert "CLAUDE.md or AGENTS.md" in run("recall", "report").output
    short = run("recall", "remember", "painting the garden fence", "--text", "Green, twice.", "--dry-run").output
    assert "note: its text is hardly longer than its entry" in short


def test_the_first_decision_begins_folder_and_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    text = "Freeze the branch an hour before, and tell everybody in the room about it."
    assert run("recall", "remember", "cutting a release", "--yes", given=text).exit_code == 0
    assert "Freeze the branch" in run("when", "cutting a release").output
    assert run("recall", "check").return_value == 0
    run("undo")
    assert not list(tmp_path.rglob("*.md"))


@pytest.mark.parametrize(
    ("trigger", "text", "says"),
    [
        ("roses", "x", "is too vague"),
        ("prune roses", "x", "exists already"),
        ("when " + "word " * 9 + "other", "x", "at most 8 words"),
        ("storing bulbs", "", "text is empty"),
        ("a | b c", "x", "plain words"),
    ],
)
def test_names_are_checked(project: Path, trigger: str, text: str, says: str) -> None:
    before = image(project)
    done = run("recall", "remember", trigger, "--text", text, "--yes")
    assert done.exit_code and says in str(done.exception)
    assert image(project) == before


def test_nothing_is_written_outside_of_the_decisions_folder(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    (project / "docs" / "decisions" / "leak.md").symlink_to(outside)
    for file in ("../../outside.md", str(outside), "leak.md"):
        done = run("recall", "remember", "storing tulip bulbs", "--text", "x", "--file", file, "--yes")
        assert done.exit_code and outside.read_text() == "mine\n", file


def test_a_short_name_leads_home_with_a_margin(project: Path) -> None:
    index = loaded.here().index
    found = compress.candidates(index, "When Leaves Turn Yellow")
    best = next(each for each in found if each.good)
    assert best.trigger in ("leaves turn", "leaves yellow", "turn yellow") and best.margin >= compress.MARGIN
    done = run("recall", "compress", "How to prune roses", "--json")
    assert done.return_value == 0 and json.loads(done.output)["trigger"] == "prune roses"


def test_what_loaded_the_index_into_every_session_goes_with_it(old: Path) -> None:
    guide = "# Shop\n\n@docs/memory-index.md\nBe kind, see @docs/memory-index.md for more, and @README.md.\n"
    (old / "CLAUDE.md").write_text(guide)
    (old / "AGENTS.md").symlink_to("CLAUDE.md")
    before = image(old)
    dry = run("recall", "migrate", "--rules", "--dry-run").output
    assert "CLAUDE.md:3  @docs/memory-index.md" in dry and "-@docs/memory-index.md" in dry
    assert run("recall", "migrate", "--rules", "--yes").exit_code == 0
    assert (old / "CLAUDE.md").read_text().splitlines()[2:] == [
        "Decisions are written down: ask `nmem when <words>` or `nmem how <words>` before you decide anew.",
        "Be kind, see docs/memory-index.md for more, and @README.md.",
    ]
    assert (old / "AGENTS.md").is_symlink()
    assert run("undo").exit_code == 0
    assert image(old) == before


@pytest.mark.parametrize(
    ("title", "operator", "trigger"),
    [
        ("Path Encoding Algorithm", "how", "encode path"),
        ("Token output format", "how", "format token output"),
        ("Model selection for design reviews", "how", "select model for design reviews"),
        ("Run the linter first", "how", "run the linter first"),
        ("Rule Budget", "when", "working on rule budget"),
        ("Never commit secrets", "when", "before committing secrets"),
        ("Docker vs. Podman", "when", "choosing docker or podman"),
        ("SessionStart hook limitation", "when", "running into SessionStart hook limitation"),
        ("Commits are sync points", "when", "commits are sync points"),
        ("Writing mock tests", "when", "writing mock tests"),
    ],
)
def test_titles_become_situations_and_procedures(title: str, operator: str, trigger: str) -> None:
    assert situations.of(title) == (operator, trigger)


class Told:
    """A model that answers with what it is given, and keeps what it was asked."""

    label = "told"

    def __init__(self, answer: object) -> None:
        self.answer, self.asked = json.dumps(answer), ""

    def complete(self, request: Request, cancel: Cancel) -> Reply:
        self.asked = request.text()
        return Reply(self.answer, "told", 10, 5)


def test_a_model_names_what_it_can_and_rules_name_the_rest(old: Path, own_home: Path) -> None:
    titles = [("Basket Totals", "rounding happens once"), ("Path Encoding", "slash to dash"), ("Rule Budget", "")]
    answers = [
        {"id": "0", "operator": "when", "trigger": "rounding basket totals"},
        {"id": "1", "operator": "how", "trigger": "make coffee strong and hot"},  # about something else
        {"id": "2", "operator": "how", "trigger": "working on rule budget"},  # no procedure
        {"id": "7", "operator": "when", "trigger": "nobody asked this"},
    ]
    chosen = Settings(daily_token_cap=100_000)
    desk = Desk(Told({"entries": answers}), chosen, Book(str(old / "n.db")), lambda text: text)
    assert situations.asked(desk, titles, Cancel()) == ({0: ("when", "rounding basket totals")}, "")
    plan = migrate.plan(corpus.read(folder.find(str(old))), desk)
    assert plan.by_model and plan.when + plan.how == 4
    broken = Desk(Told({"entries": "none"}), chosen, Book(str(old / "n.db")), lambda text: text)
    found, why = situations.asked(broken, titles, Cancel())
    assert found == {} and "no usable answer" in why
    plan = migrate.plan(corpus.read(folder.find(str(old))), broken)
    assert not plan.by_model and "no usable answer" in plan.problem and plan.when + plan.how == 4


def test_lines_that_are_no_entries_are_warned_of_where_they_are_met(project: Path) -> None:
    index = project / "docs" / "memory-index.md"
    assert run("when", "watering tomatoes").stderr == ""
    index.write_text(index.read_text() + "- a stray line\n/when \n/when the moon is full\n")
    line = index.read_text().splitlines().index("- a stray line") + 1
    said = f"memory-index.md:{line}: an entry begins with /when or /how: not searched (2 more: `nmem recall check`)"
    done = run("when", "watering tomatoes")
    assert done.return_value == 0 and done.stderr == f"note: {said}\n" and "stray" not in done.stdout
    assert json.loads(run("how", "sharpen knives", "--json").stdout)["warnings"] == [said]
    found = decisions.Decisions()
    assert found.of(str(project)) is not None and found.unsearched() == (said,)
    names = kept.read(folder.find(str(project)))
    assert names is not None and names[-1] == said  # what a hook tells beside its offers


@pytest.mark.parametrize("name", ["index.md", "INDEX.md"])
def test_a_plain_list_is_an_older_index(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    folder_ = tmp_path / "docs" / "decisions"
    folder_.mkdir(parents=True)
    (folder_ / "database.md").write_text("# Database\n\n## When choosing a database\n\nPostgres.\n")
    (folder_ / "money.md").write_text("# Money\n\n## When rounding\n\nHalf even.\n")
    lines = "- database — which one\n- [Money](money.md) - how we round\n- gone — no file has it\n* strange line\n"
    (folder_ / name).write_text(f"# Decisions\n\n{lines}")
    monkeypatch.chdir(tmp_path)
    assert name not in run("recall", "list").output, "a list of decisions is none"
    told = run("recall", "migrate", "--rules", "--yes").output
    assert told.startswith("2 lines become entries")
    assert "1 line has no known form, and will be kept:\n  * strange line\n" in told
    written = (folder_ / name).read_text()
    assert "- gone — no file has it\n* strange line\n" in written
    assert "/when rounding | [Money](money.md) — how we round" in written
    assert "2 entries, 2 files, 0 findings" in run("recall", "check").output
    assert "index.md" in run("recall", "migrate", "--help").output
