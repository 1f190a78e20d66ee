"""A rule that is new finds what is stored already; nothing is gone over twice, and rules that change are noticed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from click.testing import CliRunner

from capture.redaction import settings
from capture.storage import store
from nmem.audit.redaction import sensitivity
from nmem.commands.export import command as export
from nmem.commands.purge import command as purge
from nmem.commands.redact import command
from nmem.commands.settle import summary
from nmem.commands.status import command as status
from nmem.doctor.checks.records import history as noted
from nmem.purge import history
from nmem.purge.rules import rules
from nmem.settle import settle
from tests.nmem.purge.conftest import TOKEN, WORD, dumped, holding, plant, settled

RULE = '[llm]\nenabled = false\n[redaction]\npatterns = [{ name = "planted", regex = "Zq7Planted.{0,12}Tok42" }]\n'


def never_long(looks: Iterator[int]) -> bool:
    return next(looks, None) is None


def ruled(own_home: Path) -> None:
    (own_home / "config.toml").write_text(RULE, "utf-8")
    settings._recent.clear()


def test_a_new_rule_takes_it_out_of_history(planted: str, own_home: Path) -> None:
    with closing(sqlite3.connect(planted)) as db:
        assert not history.stale(db)
        ruled(own_home)
        assert history.stale(db)
        would = history.preview(db)
        assert would.rows > 10 and would.counts["planted"] >= would.rows
    done = CliRunner().invoke(command, ["--history", "--yes", "--json"])
    told = json.loads(done.output)
    for table in ("observations", "prompts", "tasks"):  # what was made of the first two is made anew
        assert told["by_table"][table] == would.by_table[table] > 0
    settled(planted)
    with closing(sqlite3.connect(planted)) as db:
        assert not history.stale(db)
        assert history.preview(db).rows == 0
        assert db.execute("SELECT count(*) FROM prompts WHERE content LIKE '%[REDACTED:planted]%'").fetchone()[0] >= 2
        for name in ("observations_fts", "prompts_fts", "narratives_fts", "search_docs_fts"):
            db.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")
    assert [one for one in holding(planted, (WORD,)) if one.startswith("nmem.db")] == []


def test_what_held_nothing_by_other_rules_is_looked_at_anew(planted: str, own_home: Path) -> None:
    with closing(sqlite3.connect(planted)) as db:
        db.execute("UPDATE observations SET content = 'ls', metadata = ?", (json.dumps({"note": "Zq7PlantedTok42"}),))
        rows = db.execute("SELECT count(*) FROM observations").fetchone()[0]
        assert history.preview(db).by_table["observations"] == 0
        ruled(own_home)
        assert history.preview(db).by_table["observations"] == rows > 1


def test_it_goes_on_where_it_was_stopped(planted: str, own_home: Path) -> None:
    ruled(own_home)
    with closing(store.connect(planted, timeout=5)) as db:
        strings = 0
        for _ in range(400):
            part = history.over(db, 1, partial(never_long, iter(range(8))))
            strings += part.strings
            if part.done:
                break
        assert part.done
        assert not history.stale(db)
        assert history.preview(db).rows == 0
        assert db.execute("SELECT strings FROM history_redactions ORDER BY id DESC").fetchone() == (strings,)


def padded(db_path: str) -> None:
    """So much besides that the planted texts are few."""
    with closing(store.connect(db_path, timeout=5)) as db, store.transaction(db):
        db.executemany(
            "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
            " VALUES ('later', 1, 'user', 'prompt', ?, ?)",
            [(f"a prompt that holds nothing, the {number}th", f"padding{number}") for number in range(3000)],
        )


def older(db_path: str) -> None:
    """The last pass was made with other detectors, and with what the person chooses today."""
    with closing(store.connect(db_path, timeout=5)) as db:
        db.execute("UPDATE history_redactions SET rules = ?", ("older." + rules().partition(".")[2],))


def kept(db_path: str) -> bool:
    with closing(sqlite3.connect(db_path)) as db:
        return bool(db.execute("SELECT 1 FROM prompts WHERE instr(content, ?)", (TOKEN,)).fetchone())


def test_settling_does_it_by_itself_where_new_detectors_change_little(planted: str, own_home: Path) -> None:
    padded(planted)
    ruled(own_home)
    older(planted)
    report = settle(planted, 600, models=False)
    assert report is not None
    assert "secrets taken out of history" in summary(report)
    assert not kept(planted)


def test_a_preview_tells_which_rows_are_made_anew(planted: str, own_home: Path) -> None:
    ruled(own_home)
    would = CliRunner().invoke(command, ["--history", "--dry-run"]).output
    told = json.loads(CliRunner().invoke(command, ["--history", "--dry-run", "--json"]).output)
    done = json.loads(CliRunner().invoke(command, ["--history", "--yes", "--json"]).output)
    assert f"up to {told['made_of_others']} of these are made from other rows" in would
    assert told["rows"] - told["made_of_others"] <= done["rows"] < told["rows"]
    assert "made_of_others" not in done


def test_a_rule_that_removes_nothing_is_told_without_an_alarm(planted: str, own_home: Path) -> None:
    rule(own_home, "never was this said")
    note = noted()[0].evidence
    assert note.startswith("your redaction rules changed; a sample of ")
    assert note.endswith(" stored texts holds nothing they remove")


def test_a_rule_of_the_persons_goes_over_history_only_when_they_say_so(planted: str, own_home: Path) -> None:
    padded(planted)
    ruled(own_home)
    settled(planted)
    assert kept(planted)
    told = noted()
    assert told[0].mend == "nmem redact --history --dry-run"
    assert "until you run" in told[0].evidence
    assert "this export may hold what they remove" in CliRunner().invoke(export, []).stderr
    assert CliRunner().invoke(command, ["--history", "--yes"]).exit_code == 0
    assert not kept(planted)
    assert all(one.severity == "ok" for one in noted())


def rule(own_home: Path, regex: str) -> None:
    (own_home / "config.toml").write_text(
        f"[llm]\nenabled = false\n[redaction]\npatterns = [{{ name = 'x', regex = '{regex}' }}]\n", "utf-8"
    )
    settings._recent.clear()


def test_detectors_that_change_much_are_left_to_the_person(planted: str, own_home: Path) -> None:
    rule(own_home, "o")
    older(planted)
    before = dumped(planted)
    settled(planted)
    after = dumped(planted)
    assert {name: after[name] for name in ("prompts", "observations", "work_units", "corrections")} == {
        name: before[name] for name in ("prompts", "observations", "work_units", "corrections")
    }
    with closing(sqlite3.connect(planted)) as db:
        assert history.stale(db)
        assert history.left(db)
    told = noted()
    assert told[0].severity == "note"
    assert told[0].mend == "nmem redact --history --dry-run"
    done = CliRunner().invoke(status)
    assert "nmem redact --history --dry-run" in done.output


def test_it_asks_and_says_that_there_is_no_way_back(planted: str, own_home: Path) -> None:
    ruled(own_home)
    done = CliRunner().invoke(command, ["--history"], input="n\n")
    assert done.exit_code
    assert "cannot be undone" in done.output
    assert "nmem backup" in done.output
    with closing(sqlite3.connect(planted)) as db:
        assert history.preview(db).rows > 10
        assert history.stale(db)
    done = CliRunner().invoke(command, ["--history"], input="y\n")
    assert done.exit_code == 0
    with closing(sqlite3.connect(planted)) as db:
        assert not history.stale(db)


UUID = "5d7c1b9a-4b70-4c5e-9f4d-2f1a36c0aa11"


def test_ids_and_keys_are_never_touched(planted: str, own_home: Path) -> None:
    """Not by a rule of four digits, which stand in keys, nor of ids."""
    regex = "[0-9]{4}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    plant(planted, UUID, "code 4711 and " + UUID.replace("5d7c", "6d7c"))
    settled(planted)
    ids = "SELECT session_id, dedup_key, coalesce(tool_use_id, '') FROM observations ORDER BY id"
    stamps = "SELECT path, head, json_extract(state, '$.session') FROM transcript_cursors WHERE offset = 11"
    with closing(sqlite3.connect(planted)) as db, db:
        before = db.execute(ids).fetchall()
        row = (f"/t/{UUID}.jsonl", UUID, json.dumps({"session": UUID, "cwd": "/4711"}))
        db.execute("INSERT INTO transcript_cursors VALUES (?, ?, 11, '512.f5cb77828c0be4ee', ?, 1)", row)
        held = db.execute(stamps).fetchall()
    rule(own_home, regex)
    done = CliRunner().invoke(command, ["--history", "--yes", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["counts"]["x"] > 0
    settled(planted)
    plant(planted, UUID, "the session goes on under its own id")
    with closing(sqlite3.connect(planted)) as db:
        assert db.execute(ids).fetchall()[: len(before)] == before
        assert db.execute(stamps).fetchall() == held  # else the transcript would seem another, and be read again
        assert db.execute("SELECT count(*) FROM sessions WHERE id = ?", (UUID,)).fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM sessions WHERE id LIKE '~%'").fetchone() == (0,)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert not history.stale(db)
    done = CliRunner().invoke(purge, ["--text", "ordinary", "--yes", "--json"])
    assert done.exit_code == 0, done.output
    settled(planted)


def test_what_cannot_be_checked_is_left_as_it_is(planted: str, own_home: Path) -> None:
    with closing(store.connect(planted, timeout=5)) as db:
        hostile = "look at " + "a" * 60 + "!"
        db.execute("UPDATE prompts SET content = ? WHERE id = (SELECT max(id) FROM prompts)", (hostile,))
    rule(own_home, "(a+)+$")
    done = CliRunner().invoke(command, ["--history", "--yes", "--json"])
    assert json.loads(done.output)["unchecked"] >= 1
    with closing(sqlite3.connect(planted)) as db:
        assert db.execute("SELECT count(*) FROM prompts WHERE content = ?", (hostile,)).fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM prompts WHERE content LIKE '%withheld%'").fetchone() == (0,)


def test_one_project_is_gone_over_by_its_own_rules(planted: str, own_home: Path) -> None:
    with closing(store.connect(planted, timeout=5)) as db:
        db.execute("INSERT INTO projects (key, name, root, created_at) VALUES ('/blog', 'blog', '/blog', 1)")
        db.execute("UPDATE sessions SET project_id = (SELECT id FROM projects WHERE key = '/blog') WHERE id = 'other'")
        db.execute("UPDATE prompts SET content = 'look at 10.1.2.3, Zq7PlantedTok42' WHERE source = 'user'")
    (own_home / "config.toml").write_text(RULE + '[redaction.projects.blog]\nsensitivity = "strict"\n', "utf-8")
    settings._recent.clear()
    texts = "SELECT DISTINCT content FROM prompts WHERE source = 'user' AND session_id {} 'other' ORDER BY 1"
    plain, strict = "look at 10.1.2.3, [REDACTED:planted]", "look at [REDACTED:address], [REDACTED:planted]"
    told = CliRunner().invoke(command, ["--project", "blog", "--dry-run", "--json"])
    assert json.loads(told.output)["counts"]["address"] == 2
    done = CliRunner().invoke(command, ["--project", "blog", "--yes", "--json"])
    assert done.exit_code == 0, done.output
    with closing(sqlite3.connect(planted)) as db:
        assert db.execute(texts.format("=")).fetchall() == [(strict,)]
        assert db.execute(texts.format("!=")).fetchall() == [("look at 10.1.2.3, Zq7PlantedTok42",)]
        assert history.stale(db)
        said = [(one.severity, one.evidence) for one in sensitivity(db)]
        assert said == [("ok", "sensitivity is normal; blog is strict")]
    done = CliRunner().invoke(command, ["--history", "--yes", "--json"])
    assert done.exit_code == 0, done.output
    with closing(sqlite3.connect(planted)) as db:
        assert db.execute(texts.format("!=")).fetchall() == [(plain,)]
        assert not history.stale(db)
    assert CliRunner().invoke(command, ["--project", "blok", "--yes"]).exit_code != 0
    piped = CliRunner().invoke(command, ["--project", "blog", "--stdin"], input="ping 10.1.2.3")
    assert (piped.exit_code, piped.output) == (0, "ping [REDACTED:address]")
    assert CliRunner().invoke(command, ["--project", "blog"], input="").exit_code == 1, "nobody said yes"


def test_after_a_project_was_gone_over_by_its_new_rules_nothing_waits(planted: str, own_home: Path) -> None:
    settled(planted)
    with closing(sqlite3.connect(planted)) as db:
        name = db.execute("SELECT p.name FROM projects p JOIN sessions s ON s.project_id = p.id").fetchone()[0]
    own = f'[llm]\nenabled = false\n[redaction.projects."{name}"]\nwords = ["{WORD}"]\n'
    (own_home / "config.toml").write_text(own, "utf-8")
    settings._recent.clear()
    assert noted()
    done = CliRunner().invoke(command, ["--project", name, "--yes"])
    assert done.exit_code == 0, done.output
    with closing(sqlite3.connect(planted)) as db:
        assert not history.chosen_since(db) and not history.stale(db)
    assert not noted()


def test_a_rule_that_was_there_before_the_first_pass_goes_over_nothing_unasked(planted: str, own_home: Path) -> None:
    padded(planted)
    ruled(own_home)
    for before in ("DELETE FROM history_redactions", "UPDATE history_redactions SET rules = '0123456789abcdef'"):
        with closing(store.connect(planted, timeout=5)) as db:
            db.execute(before)
        settled(planted)
        assert kept(planted)


def test_rows_that_name_no_owner_are_gone_over_by_a_projects_own_rules_too(planted: str, own_home: Path) -> None:
    texts = {"corrections": "before", "episode_links": "summary", "task_events": "text", "llm_attempts": "failure",
             "tasks": "prompt"}  # fmt: skip
    with closing(store.connect(planted, timeout=5)) as db:
        project = db.execute("SELECT project_id FROM sessions WHERE id = 's1'").fetchone()[0]
        db.execute("UPDATE projects SET name = 'shop' WHERE id = ?", (project,))
        db.execute("INSERT INTO projects (key, name, root, created_at) VALUES ('/blog', 'blog', '/blog', 1)")
        db.execute("INSERT INTO threads (project_id, title, created_at, last_at) SELECT id, 'x', 1, 1 FROM projects")
        db.execute("INSERT INTO episode_links (at, earlier_thread_id, later_thread_id, algorithmic_score, components,"
                   " decision, certainty)"
                   " SELECT 1, min(id), max(id), 1, '{}', 'link', 'high' FROM threads")  # fmt: skip
        db.execute("INSERT INTO task_events (task_id, at, attempt, state, what) SELECT max(id), 1, 1, 'failed', 'x'"
                   " FROM tasks")  # fmt: skip
        db.execute("INSERT INTO llm_attempts VALUES ('episode/1', 'x', 1, 1, 'x')")
        for table, column in texts.items():
            value = '{"title": "on Falcon"}' if column == "before" else "on Falcon"
            db.execute(f"UPDATE {table} SET {column} = ?", (value,))
    plain = (own_home / "config.toml").read_text("utf-8")
    (own_home / "config.toml").write_text(plain + '[redaction.projects.shop]\nwords = ["Falcon"]\n', "utf-8")
    settings._recent.clear()
    done = CliRunner().invoke(command, ["--project", "shop", "--yes", "--json"])
    assert done.exit_code == 0, done.output
    with closing(sqlite3.connect(planted)) as db:
        for table, column in texts.items():
            rows = [row[0] for row in db.execute(f"SELECT {column} FROM {table}")]
            assert rows and not [row for row in rows if "Falcon" in row], table
