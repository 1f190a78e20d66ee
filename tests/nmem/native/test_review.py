"""What is found in a project's instructions, on what evidence, and what is left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nmem.learn.instructions import put as put_rule
from nmem.native.review import FAILS, IMPORT, PATH, REPLACED, SAYS, SCRIPT, TWICE, Report
from nmem.settle import settle
from tests.nmem.conftest import Recorded
from tests.nmem.native.conftest import CLAUDE, at

Look = Callable[..., Report]


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(CLAUDE.split("\n"), 1) if text in line)


def test_a_path_that_a_commit_took_out_is_stale_with_that_commit(look: Look) -> None:
    found = at(look(), PATH)
    queue = found[line_of("src/queue.ts")]
    assert queue.why == "src/queue.ts does not exist any more" and queue.sure and queue.swap is None
    assert queue.evidence[0].startswith("commit ") and "of 2025-10-05" in queue.evidence[0]
    assert found[line_of("├── jobs/")].why == "src/jobs/ does not exist any more"


def test_a_renamed_path_is_changed_to_its_new_name(look: Look) -> None:
    found = at(look(), PATH)
    assert found[line_of("src/cash.ts")].swap == ("src/cash.ts", "src/money2.ts")
    assert found[line_of("tests/setup.yml")].swap == ("tests/setup.yml", "tests/setup.yaml")


def test_what_is_there_ignored_or_an_example_is_no_finding(look: Look) -> None:
    report = look()
    lines = {one.line for one in report.findings if one.kind in (PATH, SCRIPT)}
    for text in ("src/api/`: the routes", "orders.ts ", "pricing.ts", "dist/app.js", "src/routes/example.ts",
                 "feature/orders",
                 "npm run lint  ", "css:build", "npm run <name>"):  # fmt: skip
        assert line_of(text) not in lines, text
    assert len(lines) == 7


def test_a_script_that_no_file_defines_is_stale_with_what_they_define(look: Look) -> None:
    found = at(look(), SCRIPT)
    migrate = found[line_of("db:migrate")]
    assert migrate.sure and "package.json and 1 more define" in migrate.evidence[0]
    assert "took “db:migrate” out" in migrate.evidence[1]
    legacy = found[line_of("test:legacy")]
    assert legacy.why == "no script test:legacy: npm run test:legacy" and not legacy.sure, "its line says more"
    assert not found[line_of("make fixtures")].sure, "no commit says that it was there"


def test_a_makefile_that_includes_others_says_nothing_of_what_is_not_there(look: Look, checkout: Path) -> None:
    (checkout / "Makefile").write_text("include more.mk\nseed:\n\techo\n", encoding="utf-8")
    assert line_of("make fixtures") not in at(look(), SCRIPT)


def test_a_rule_said_twice_names_the_first(look: Look) -> None:
    twice = at(look(), TWICE)
    assert list(twice) == [len(CLAUDE.split("\n")) - 1]
    assert twice[len(CLAUDE.split("\n")) - 1].why == f"CLAUDE.md:{line_of('Always run')} says the same"


def test_a_short_line_that_stands_twice_in_one_file_is_said_twice(look: Look, checkout: Path) -> None:
    (checkout / "CLAUDE.md").write_text("# A\n\n- Use pnpm.\n- Tabs, no spaces.\n- Use pnpm.\n", encoding="utf-8")
    twice = at(look(), TWICE)
    assert {line: one.why for line, one in twice.items()} == {5: "CLAUDE.md:3 says the same"}


def test_lines_with_another_subject_number_or_reader_are_not_said_twice(look: Look, checkout: Path) -> None:
    text = (
        "# A\n\n**Manual**\n- Sessions are pushed along with the branch of the user\n\n"
        "**Automatic**\n- Sessions are pushed along with the branch of the user\n\n"
        "- Always keep at most 5 retries for calls of the bank\n- Always keep at most 9 retries for calls of the bank\n"
        "- Always commit the lock file with what changed it\n- Never commit the lock file with what changed it\n"
    )
    (checkout / "CLAUDE.md").write_text(text, encoding="utf-8")
    (checkout / "AGENTS.md").write_text(text, encoding="utf-8")
    assert [one for one in look().findings if one.kind == TWICE] == []
    (checkout / "CLAUDE.md").write_text(f"@AGENTS.md\n\n{text}", encoding="utf-8")
    assert {one.file for one in look().findings} == {"AGENTS.md"}, "now one client reads both"


def test_a_command_that_never_ran_is_told_with_its_newest_failure(look: Look, shop: Recorded) -> None:
    for session in ("one", "two"):
        shop.begin(session).user("Check the style")
        for _ in range(2):
            shop.act("lint", "npm run lint", None, "failed", response='npm error Missing script: "lint"')
            shop.act("test", "npm run test", None, "failed", response="AssertionError: expected 12, got 24")
    found = at(look(shop), FAILS)
    assert list(found) == [line_of("npm run lint  ")], "a test that fails is no command that cannot run"
    assert "failed in all 4 runs, in 2 sessions" in found[line_of("npm run lint  ")].why
    assert found[line_of("npm run lint  ")].evidence[0].startswith("obs/")
    shop.begin("three").user("Again").act("lint", "npm run lint")
    assert not at(look(shop), FAILS), "it passed once"


def decided(shop: Recorded, text: str, db_path: str) -> None:
    shop.begin(f"s{shop.at}").user("The tests of the orders need a database, how do we start the database?")
    shop.agent("I propose to start the database of the tests with docker. **Shall I use docker** for the database?")
    shop.user(text).agent("Done, the tests start the database so.")
    settle(db_path, models=False)


def test_a_newer_decision_contradicts_a_line_and_is_quoted(look: Look, shop: Recorded, db_path: str) -> None:
    decided(shop, "No, use podman instead of docker for the database.", db_path)
    found = at(look(shop), SAYS)
    assert list(found) == [line_of("Use docker")]
    one = found[line_of("Use docker")]
    assert one.why == "you turned down “docker” for “podman”" and not one.sure
    assert "No, use podman instead of docker for the database." in one.evidence[0] and "decision/" in one.evidence[0]


def test_a_line_that_was_written_after_the_decision_stands(
    look: Look, shop: Recorded, db_path: str, checkout: Path
) -> None:  # fmt: skip
    decided(shop, "No, use podman instead of docker for the database.", db_path)
    text = CLAUDE.replace("Use docker to", "Use docker again to")
    (checkout / "CLAUDE.md").write_text(text, encoding="utf-8")
    assert not at(look(shop), SAYS)


@pytest.mark.parametrize(
    ("said", "line", "kind"),
    [
        ("Cap the backoff of the bank client at 30 seconds, always.",
         "- Cap the backoff of the bank client at 60 seconds, always", SAYS),
        ("Cap the backoff of the bank client at 60 seconds, always.",
         "- Cap the backoff of the bank client at 60 seconds, always", ""),
        ("Do not mock the bank client in integration tests.", "- Mock the bank client in integration tests", SAYS),
        ("Do not mock the bank client in integration tests.", "- Log the mail client in nightly runs", ""),
    ],
)  # fmt: skip
def test_nearly_the_same_words_with_another_number_or_without_the_not(
    said: str, line: str, kind: str, look: Look, shop: Recorded, checkout: Path
) -> None:
    from tests.nmem.native.conftest import git

    shop.begin("said").user(said)
    prompt = shop.prompt
    shop.db.execute(
        "INSERT INTO said_decisions (prompt_id, said_from, said_to, said_size, session_id, at, kind, confidence,"
        " revises)"
        " VALUES (?, 0, ?, ?, 'said', ?, 'rule', 0.9, 0)",
        (prompt, len(said), len(said), shop.at),
    )
    (checkout / "CLAUDE.md").write_text(f"# Bank\n\n{line}\n", encoding="utf-8")
    git(checkout, "commit", "-qam", "bank", day="2025-10-06")
    assert [one.kind for one in look(shop).findings] == ([kind] if kind else [])


def test_a_line_that_says_what_was_replaced_names_what_holds(look: Look, shop: Recorded, checkout: Path) -> None:
    from tests.nmem.native.conftest import git

    said = [
        "Retry calls of the bank four times with backoff.",
        "Retry calls of the bank twice, no longer with backoff.",
    ]
    ids = []
    for number, text in enumerate(said):
        shop.begin(f"b{number}").user(text)
        ids.append(shop.db.execute(
            "INSERT INTO said_decisions (prompt_id, said_from, said_to, said_size, session_id, at, kind, confidence,"
        " revises)"
            " VALUES (?, 0, ?, ?, ?, ?, 'rule', 0.9, 0)",
            (shop.prompt, len(text), len(text), f"b{number}", shop.at),
        ).lastrowid)  # fmt: skip
    shop.db.execute("UPDATE said_decisions SET superseded_by = ? WHERE id = ?", (ids[1], ids[0]))
    (checkout / "CLAUDE.md").write_text("- Retry calls of the bank four times with backoff\n", encoding="utf-8")
    git(checkout, "commit", "-qam", "bank", day="2025-10-06")
    found = at(look(shop), REPLACED)[1]
    assert said[0] in found.evidence[0] and said[1] in found.evidence[1] and f"decision/{ids[1]}" in found.evidence[1]


def test_a_rule_that_nmem_wrote_is_known_and_left_to_reopening(look: Look, shop: Recorded, checkout: Path) -> None:
    rule = "Look into `src/queue.ts` before the worker is changed"
    (checkout / "CLAUDE.md").write_bytes(put_rule(b"# Shop\n", rule).data)
    number = shop.db.execute(
        "INSERT INTO learnings (project_id, kind, key, title, first_at, last_at, sessions, occurrences, state, rule)"
        " VALUES (1, 'failed_command', 'k', 'it fails', 0, 0, 3, 3, 'accepted', ?)", (rule,),
    ).lastrowid  # fmt: skip
    (one,) = look(shop).findings
    assert (one.kind, one.learning, one.sure) == (PATH, number, False)


def test_an_import_that_leads_nowhere_is_told(look: Look, checkout: Path) -> None:
    (checkout / "CLAUDE.md").write_text(
        "# Shop\n\n@docs/gone.md\n\nAsk @someone, see `@docs/code.md`.\n", encoding="utf-8"
    )
    (one,) = look().findings
    assert (one.kind, one.line, one.sure) == (IMPORT, 3, True)


def test_without_git_the_files_are_still_looked_at(look: Look, checkout: Path, shop: Recorded) -> None:
    import shutil

    shutil.rmtree(checkout / ".git")
    shop.begin("read").user("Look").act("file_read", "the queue", "src/queue.ts")
    found = at(look(shop), PATH)
    assert found[line_of("src/queue.ts")].evidence[0].startswith("obs/") and not found[line_of("src/queue.ts")].sure
