"""`nmem when` and `nmem how` as they are typed, what is noted of it, and how soon an answer is there."""

from __future__ import annotations

import json
import resource
import shlex
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from capture.storage import store as storage
from nmem import tables
from nmem.commands.main import nmem
from nmem.recall import loaded, store
from nmem.recall.report import report


def run(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(nmem, list(words), input=given, standalone_mode=False)


def test_words_are_one_query_and_phrases_one_each(project: Path) -> None:
    assert "Check nitrogen" in run("when", "leaves", "turn", "yellow").output
    both = run("when", "leaves turn yellow", "how prune roses", "no such thing at all")
    assert both.output.count("\n---\n") == 2 and both.return_value == 1
    assert both.output.index("Check nitrogen") < both.output.index("outward bud") < both.output.index("no such thing")


def test_queries_are_read_from_standard_input_and_doubles_told_once(project: Path) -> None:
    done = run("when", "-", given="prune roses\nHow to Prune Roses\nnull\n")
    assert done.return_value == 0 and done.output.count("outward bud") == 1
    assert run("how", "null").output == ""


def test_nothing_asked_is_said(project: Path) -> None:
    assert "no question" in str(run("when", "-", given="\n \n").exception)


def test_a_procedure_is_named_by_what_is_to_be_done(project: Path) -> None:
    done = run("recall", "remember", "rolling back a release", "--how", "--text", "Stop it.")
    assert "“How to rolling back a release”" in str(done.exception)


def test_json_has_everything(project: Path) -> None:
    answer = json.loads(run("when", "--json", "bread does not rise").output)["answers"][0]
    assert answer["outcome"] == "answered" and answer["confidence"] == 1 and answer["file"] == "kitchen.md"
    assert answer["body"].startswith("Feed the yeast") and answer["related"] == ["/how sharpen knives"]


def test_controls_in_a_decision_reach_no_terminal(project: Path) -> None:
    garden = project / "docs" / "decisions" / "garden.md"
    garden.write_text(garden.read_text().replace("In February", "In \x1b[31mFebruary\u202e"))
    out = run("how", "prune roses").output
    assert "February" in out and "\x1b" not in out and "\u202e" not in out


def test_without_decisions_it_says_where_was_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "recall.folders" in str(
        run("when", "anything").exception or CliRunner().invoke(nmem, ["when", "x"]).exception
    )


def test_a_configured_folder_goes_first(project: Path, own_home: Path) -> None:
    config = own_home / ".config" / "nmem" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[recall]\nfolders = ["rules"]\n')
    (project / "rules").mkdir()
    (project / "rules" / "a.md").write_text("## When Only Here\n\nYes.\n")
    assert "Yes." in run("when", "only here").output


def test_the_quick_way_is_the_same_and_soon(project: Path, db_path: str) -> None:
    def timed(*words: str) -> tuple[float, str]:
        """The least of a few, of the processor's time: what else runs does not count."""
        best, out = 99.0, ""
        for _ in range(7):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=300)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            best, out = min(best, took), done.stdout + done.stderr
        return best, out

    code = "import sys; from nmem.commands.start import main; sys.argv = ['nmem', 'when', 'leaves', 'yellow']; main()"
    bare, _ = timed("-c", "pass")
    cold, out = timed("-c", code)
    assert out == run("when", "leaves", "yellow").output and "Check nitrogen" in out
    assert cold < 6 * bare + 0.02
    slow = "import sys; exec(sys.argv.pop()); print(*{'click', 'rich', 'json', 'dataclasses'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", slow, code.replace("main()", "from nmem.recall import asked")],
                          capture_output=True, text=True)  # fmt: skip
    assert done.stdout.split() == []


def test_what_is_asked_is_noted_redacted_and_reported(
    project: Path, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(storage.connect(db_path)) as db:
        tables.ensure(db)
    key = "ghp_" + "a1B2" * 9
    for name in ("CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "NMEM_TASK"):
        monkeypatch.delenv(name, raising=False)
    run("when", "bread does not rise")
    monkeypatch.setenv("CLAUDECODE", "1")
    run("when", f"zzqx {key}")
    monkeypatch.delenv("CLAUDECODE")
    with closing(sqlite3.connect(db_path)) as db:
        rows = db.execute("SELECT origin, outcome, entry, query FROM recall_calls ORDER BY id").fetchall()
        assert [row[:3] for row in rows] == [
            ("person", "answered", "/when bread does not rise"),
            ("agent", "nothing", ""),
        ]
        assert key not in rows[1][3]
        recall = loaded.here()
        db.execute("INSERT INTO projects (id, key, name, root, created_at) VALUES (1, 'k', 'n', ?, 1)", (str(project),))
        db.execute(
            "INSERT INTO sessions (id, project_id, client, cwd, started_at, last_at) VALUES ('s', 1, 'x', '/', 1, 1)"
        )
        store.offered(db, "s", recall.place.folder, [("/how prune roses", "garden.md", 0.9)], 5)
        store.used(db, "s", "/how prune roses", 6)
        assert store.before(db, "s") == {"/how prune roses"}
        db.commit()
        found = report(db, recall)
    assert (found.asked, found.offered, found.used, len(found.dead)) == (2, 1, 1, 3)
    assert found.unanswered[0][0].startswith("zzqx")
    done = json.loads(run("recall", "report", "--json").output)
    assert done["by_outcome"] == {"answered": 1, "nothing": 1}


def test_an_answer_does_not_wait_for_the_database(project: Path, db_path: str) -> None:
    with closing(storage.connect(db_path)) as db:
        tables.ensure(db)
        db.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        assert "Check nitrogen" in run("when", "leaves turn yellow").output
        assert time.monotonic() - started < 30
        db.execute("ROLLBACK")
    assert "a question was not noted" in Path(db_path).with_name("nmem.log").read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize(
    ("where", "code", "lines"), [(">/dev/full", 1, 1), (">&-", 0, 0), ("2>&-", 0, 0), ("| true", 0, 0)]
)
def test_an_output_that_takes_nothing_is_one_line_or_none(project: Path, where: str, code: int, lines: int) -> None:
    done = subprocess.run(["/bin/sh", "-c", f"{shlex.quote(sys.executable)} -m nmem when leaves turn yellow {where}"],
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, timeout=300)  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (code, lines), done.stderr


def test_null_asks_nothing_also_where_no_decisions_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("when", "null")
    assert (done.output, done.return_value) == ("", 0)
    assert run("when", "leaves turn yellow").exception
