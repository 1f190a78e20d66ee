"""What looks stale or repeated and is not surely so: the diff leaves it alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nmem.native import records, scripts, told
from nmem.native.review import IMPORT, PATH, SCRIPT, TWICE, Report, plan
from tests.nmem.conftest import Recorded
from tests.nmem.native.conftest import at, git, put

Look = Callable[..., Report]
RULE = "- Always run the linter before you push, whatever the change is.\n"


def test_a_rule_that_another_client_reads_only_in_its_own_file_stays(look: Look, checkout: Path) -> None:
    put(checkout, **{"CLAUDE.md": f"@AGENTS.md\n\n{RULE}", "AGENTS.md": f"# Shop\n\n{RULE}"})
    (one,) = look().findings
    assert (one.kind, one.file, one.sure) == (TWICE, "AGENTS.md", False)


def test_a_rule_that_is_said_in_a_file_read_on_demand_only_stays(look: Look, checkout: Path, own_home: Path) -> None:
    memory = own_home / ".claude/projects" / "".join(c if c.isalnum() else "-" for c in str(checkout)) / "memory"
    put(checkout, **{"CLAUDE.md": "# Shop\n"})
    put(memory, **{"a.md": RULE, "b.md": RULE})
    assert [one.sure for one in look().findings] == [False]
    put(checkout, **{"CLAUDE.md": RULE})
    assert [one.sure for one in look().findings] == [True, True], "CLAUDE.md says it to each session"


def test_what_stands_in_a_comment_says_nothing(look: Look, checkout: Path) -> None:
    text = f"<!-- once\n```\nsh\n```\n{RULE}-->\n\n{RULE}\n`<!--` opens one\n\n## B\n\n{RULE}"
    put(checkout, **{"CLAUDE.md": text})
    assert [(one.line, one.sure) for one in look().findings] == [(14, True)]


def test_imports_of_what_is_a_person_s_own_are_no_findings(look: Look, checkout: Path) -> None:
    put(checkout, **{".gitignore": "/mine.md\n", "CLAUDE.md": "@CLAUDE.local.md\n@mine.md\n@~/.claude/me.md\n@no.md\n"})
    assert [(one.line, one.sure) for one in look().findings] == [(4, True)]
    put(checkout, **{"CLAUDE.md": "@../elsewhere.md\n"})
    assert [(one.kind, one.sure) for one in look().findings] == [(IMPORT, False)], "another checkout may have it"


def test_a_memory_s_files_are_looked_up_beside_it(look: Look, checkout: Path, own_home: Path, shop: Recorded) -> None:
    memory = own_home / ".claude/projects" / "".join(c if c.isalnum() else "-" for c in str(checkout)) / "memory"
    put(checkout, **{"CLAUDE.md": "# Shop\n", "testing.md": "x"})
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "a")
    git(checkout, "rm", "-q", "testing.md")
    git(checkout, "commit", "-qm", "b")
    put(memory, **{"MEMORY.md": "- `testing.md`: how\n"})
    assert [one.kind for one in look().findings] == [PATH]
    put(memory, **{"testing.md": "x\n"})
    assert look().findings == ()


def test_another_ending_is_no_evidence_and_counts_only_in_the_same_folder(look: Look, checkout: Path) -> None:
    put(checkout, **{"CLAUDE.md": "- `config.yml` holds it\n", "tests/fixtures/config.yaml": "x"})
    assert look().findings == (), "config.yml never existed"
    put(checkout, **{"config.yml": "old\n" * 9})
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "a")
    git(checkout, "rm", "-q", "config.yml")
    git(checkout, "commit", "-qm", "b")
    assert at(look(), PATH)[1].swap is None
    put(checkout, **{"config.yaml": "x"})
    assert at(look(), PATH)[1].swap == ("config.yml", "config.yaml")


def scripted(checkout: Path, text: str, *versions: dict[str, Any]) -> None:
    put(checkout, **{"CLAUDE.md": f"# Shop\n\n```bash\nls\n{text}\n```\n"})
    (checkout / "web/package.json").unlink(missing_ok=True)
    for number, version in enumerate(versions):
        put(checkout, **{"package.json": json.dumps(version, indent=1)})
        git(checkout, "add", "-A")
        git(checkout, "commit", "-qm", f"p{number}", day=f"2025-10-1{number}")


JEST = {"devDependencies": {"jest": "1"}}
TEST, BOTH = {"scripts": {"a": "b"}}, {"scripts": {"a": "b", "jest": "jest --ci"}}


@pytest.mark.parametrize(
    ("text", "versions", "sure"),
    [
        ("yarn run jest", (TEST, TEST | JEST), None),
        ("bun run jest", (TEST, TEST | JEST), None),
        ("npm run jest", (TEST, TEST | JEST), False),
        ("yarn run jest", (BOTH | JEST, TEST | JEST), False),
        ("npm run jest", (BOTH, TEST), True),
        ("npm run jest", (BOTH, TEST, TEST | JEST), True),
        ("npm run jest", (BOTH, {"scripts": {}}), True),
    ],
)
def test_a_script_is_gone_only_where_a_commit_took_it_out_of_the_scripts(
    look: Look, checkout: Path, text: str, versions: tuple[dict[str, Any], ...], sure: bool | None
) -> None:
    scripted(checkout, text, *versions)
    found = at(look(), SCRIPT)
    assert [one.sure for one in found.values()] == ([] if sure is None else [sure])
    if versions[0].get("scripts") == BOTH["scripts"]:
        assert "of 2025-10-11 took “jest” out" in found[5].evidence[1]


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("justfile", 'set shell := ["sh", "-c"]\nx := "a"\na:\n  b\ntest filter="":\n  echo\n', "just test"),
        ("justfile", "a:\n  b\n@test *args='x:y': a\n  echo\n", "just test"),
        ("Makefile", "BINS := a b\nseed:\n\techo\nall $(BINS): foo\n\techo\n", "make all"),
        ("Makefile", "seed:\n\techo\none \\\n  two: seed\n\techo\n", "make one"),
        ("mise.toml", '[tasks.build]\nrun = "x"\nalias = "b"\n', "mise run b"),
        ("mise.toml", '[tasks.build]\nrun = "x"\nalias = ["b", "c"]\n', "mise run c"),
        ("pyproject.toml", '[tool.poe]\ninclude = "more.toml"\n[tool.poe.tasks]\na = "x"\n', "poe b"),
    ],
)
def test_what_a_runner_s_file_defines_is_there(look: Look, checkout: Path, name: str, text: str, command: str) -> None:
    put(checkout, **{name: text, "CLAUDE.md": f"Run `{command}`.\n"})
    assert look().findings == ()


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("justfile", 'set shell := ["sh", "-c"]\nalias b := build\nx := "a:b"\nbuild f="":\n  echo\n', "just x"),
        ("Makefile", "PATHS := $(A):b\nX ?= $(shell a:b)\nseed:\n\techo $(X): y\n", "make fixtures"),
        ("mise.toml", '[tasks.build]\nrun = "x"\nalias = "b"\n', "mise run c"),
        ("pyproject.toml", '[tool.poetry]\ninclude = ["x"]\n[tool.poe.tasks]\na = "x"\n', "poe b"),
    ],
)
def test_what_it_does_not_define_is_still_told(
    look: Look, checkout: Path, name: str, text: str, command: str
) -> None:  # fmt: skip
    put(checkout, **{name: text, "CLAUDE.md": f"Run `{command}`.\n"})
    assert [one.kind for one in look().findings] == [SCRIPT]


def test_each_runner_of_a_file_is_asked_for_its_own_scripts(checkout: Path) -> None:
    from nmem.native.checkout import Checkout

    put(checkout, **{"pyproject.toml": '[project.scripts]\nshop = "a:b"\n[tool.poe.tasks]\nlint = "x"\n'})
    every = scripts.Scripts(Checkout(str(checkout)))
    assert every.missing("uv run shop") is None and every.missing("poe lint") is None
    missing = every.missing("poe shop")
    assert missing is not None and missing.defined == ("lint",)


def test_nothing_that_a_repository_s_configuration_names_is_run(look: Look, checkout: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for name in ("core.fsmonitor", "filter.x.clean", "filter.x.process", "diff.x.textconv"):
        git(checkout, "config", name, f"sh -c 'echo {name} >> {ran}; cat' ")
    git(checkout, "config", "log.showSignature", "true")
    (checkout / ".git/info/attributes").write_text("* filter=x diff=x\n", encoding="utf-8")
    put(checkout, **{"CLAUDE.md": (checkout / "CLAUDE.md").read_text("utf-8") + "\nmore\n"})
    report = look()
    assert {one.kind for one in report.findings} == {PATH, SCRIPT, TWICE} and not ran.exists()


def test_a_file_that_links_out_of_the_project_is_told_and_not_changed(
    look: Look, checkout: Path, tmp_path: Path
) -> None:  # fmt: skip
    (checkout / "CLAUDE.md").rename(tmp_path / "CLAUDE.md")
    (checkout / "CLAUDE.md").symlink_to(tmp_path / "CLAUDE.md")
    put(checkout, **{"GEMINI.md": f"# Shop\n\n{RULE}\n## B\n\n{RULE}"})
    report = look()
    assert at(report, PATH) and not any(one.sure for one in at(report, PATH).values())
    assert "a link out of the project, so no diff touches it" in told.heading(report.documents[0])
    (planned,) = plan(report)
    assert list(planned.files) == [str(checkout / "GEMINI.md")]


def test_only_matching_calls_are_read_with_what_they_said(shop: Recorded) -> None:
    for session in ("one", "two"):
        shop.begin(session).user("Check")
        for _ in range(2):
            shop.act("lint", "npm run lint", None, "failed", response='npm error Missing script: "lint"')
            shop.act("test", "npm run test", None, "failed", response="x")
    seen: list[str] = []
    shop.db.set_trace_callback(seen.append)
    found = records.Records(shop.db, 1).failing("npm run lint")
    shop.db.set_trace_callback(None)
    assert found is not None and found.runs == 4
    assert sum("metadata" in each for each in seen) == 4
