"""Every command of the registry on a database that is absent, begun, older or none: one line or an answer, no fault."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from capture import paths
from capture.storage import store
from capture.storage.schema import MIGRATIONS
from nmem import tables
from nmem.commands.main import nmem
from nmem.errors import NmemError
from tests.nmem.test_migrations import at_version

BLOCKING = {("mcp",), ("task", "watch")}
"""Commands that go on until their client or the person ends them; their reads are those of the others."""
QUIET = {"redact", "settle --quiet", "stream", "task run --quiet"}
"""Commands that may say nothing: what they read is empty, or silence is what they were asked for."""
VALUES = {"learning": "1", "episode": "1", "prompt": "1", "thread": "1", "link": "1", "task": "1", "choice": "y"}
GIVEN: dict[tuple[str, ...], list[str]] = {
         ("config", "get"): ["llm.enabled"], ("config", "set"): ["llm.enabled", "false"],
         ("config", "unset"): ["llm.enabled"], ("learn", "snooze"): ["1", "--for", "7d"]}  # fmt: skip
MORE = [
    ["context", "--past"], ["context", "--report"], ["context", "--off"], ["context", "--explain", "--prompt", "fix"],
    ["context", "--recovery"], ["context", "--as-of", "1d"], ["context", "--include", "file/a.py"], ["undo", "--list"],
    ["threads", "continue", "new"], ["threads", "continue", "--forget"], ["threads", "tuning", "--now"],
    ["sweep", "--dry-run"], ["sweep", "--journal"], ["purge", "--text", "fix", "--dry-run"], ["redact", "--history"],
    ["search", "fix", "--json"], ["import", "--json"], ["export", "--format", "tables"], ["purge", "--empty", "--json"],
    ["purge", "--list"], ["purge", "--text", "fix", "--yes"], ["task", "watch", "1"], ["config", "list", "--yours"],
    ["settle", "--quiet"], ["task", "run", "--quiet"], ["show", "episode/1"], ["show", "file", "a.py"],
]  # fmt: skip
PAYLOAD = {"session_id": "s", "cwd": "/tmp", "hook_event_name": "PostToolUse", "tool_name": "Bash",
           "tool_input": {"command": "pytest"}, "tool_response": {"stdout": "1 passed"}}  # fmt: skip


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command and every group, with the words that lead to it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))


def needed(path: tuple[str, ...], command: click.Command, samples: Path) -> list[str]:
    """What a command does not go without."""
    words: list[str] = []
    for each in (one for one in command.params if one.required):
        value = VALUES.get(each.type.name, "fix")
        value = str(samples / "it.jsonl") if each.type.name == "file" else value
        value = str(samples) if each.type.name == "directory" else value
        words += [each.opts[0], value] if isinstance(each, click.Option) else [value]
    return GIVEN.get(path, words)


def lines(samples: Path, forms: str) -> Iterator[list[str]]:
    """Each command without anything, with what it needs, or with that as JSON, as asked for; and what only some can
    do. A command that has no JSON is always among them."""
    for path, command in commands(nmem):
        if path in BLOCKING:
            continue
        words, speaks = needed(path, command, samples), any("--json" in each.opts for each in command.params)
        if words and "bare" in forms:
            yield [*path]
        if "text" in forms or not speaks:
            yield [*path, *words]
        if "json" in forms and speaks:
            yield [*path, *words, "--json"]
    yield from MORE


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place to stand in, with a file for evaluations."""
    folder = tmp_path / "samples"
    folder.mkdir()
    (folder / "it.jsonl").write_text(json.dumps({"prompts": [{"text": "a"}, {"text": "b"}], "labels": ["new", "cont"]}))
    monkeypatch.chdir(folder)
    return folder


def by_a_hook(db_path: str) -> None:
    words = [sys.executable, "-I", "-S", paths.entry(), "claude", "PostToolUse"]
    subprocess.run(words, input=json.dumps(PAYLOAD).encode(), check=True, capture_output=True)
    with closing(sqlite3.connect(db_path)) as db:
        assert db.execute("SELECT count(*) FROM observations").fetchone()[0] == 1
        assert not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'nmem_schema'").fetchone()


def by_an_import(_db_path: str) -> None:
    folder = Path.home() / ".claude" / "projects" / "-tmp"
    folder.mkdir(parents=True)
    said = {"type": "user", "sessionId": "s", "uuid": "u", "cwd": "/tmp", "timestamp": "2025-10-09T08:53:20.000Z",
            "message": {"role": "user", "content": "fix the parser of invoices, please"}}  # fmt: skip
    (folder / "s.jsonl").write_text(json.dumps(said) + "\n")
    assert CliRunner().invoke(nmem, ["import"]).exit_code == 0


def initialised(db_path: str) -> None:
    with closing(store.connect(db_path)) as db:
        tables.ensure(db)


def of_an_older_meaning(db_path: str) -> None:
    at_version(db_path, 3).close()


def of_older_facts(db_path: str) -> None:
    initialised(db_path)
    with closing(sqlite3.connect(db_path)) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) - 1}")


def of_another_program(db_path: str, version: int = len(MIGRATIONS)) -> None:
    Path(db_path).parent.mkdir(mode=0o700)
    with closing(sqlite3.connect(db_path)) as db:
        db.execute("CREATE TABLE notes (text)")
        db.execute(f"PRAGMA user_version = {version}")
    Path(db_path).chmod(0o600)


def of_one_without_versions(db_path: str) -> None:
    of_another_program(db_path, 0)


def no_database(db_path: str) -> None:
    Path(db_path).parent.mkdir(mode=0o700)
    Path(db_path).write_bytes(b"this is no database\n" * 500)
    Path(db_path).chmod(0o600)


def without_a_byte(db_path: str) -> None:
    Path(db_path).parent.mkdir(mode=0o700)
    Path(db_path).touch(mode=0o600)


def cut_in_half(db_path: str) -> None:
    initialised(db_path)
    with closing(sqlite3.connect(db_path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    os.truncate(db_path, Path(db_path).stat().st_size // 2)


STATES = {"absent": (None, "bare text"), "initialised": (initialised, "bare text json"),
          "one hook": (by_a_hook, "json"), "imported": (by_an_import, "text"),
          "older meaning": (of_an_older_meaning, "text"), "older facts": (of_older_facts, "json"),
          "another program's": (of_another_program, "json"), "without a version": (of_one_without_versions, "text"),
          "no database": (no_database, "json"), "no byte": (without_a_byte, "text"),
          "half": (cut_in_half, "json")}  # fmt: skip
"""How it comes about, and in which forms a command is given: what it reads is the same in each."""


def sound(result: Result, words: list[str]) -> None:
    """An answer, a refusal in one line, or wrong usage."""
    line, error = " ".join(words), result.exception
    said = f"{line}: {error!r}\n{result.output}"
    assert error is None or isinstance(error, (SystemExit, NmemError, click.ClickException, click.Abort)), said
    shown = f"{result.output}{'' if error is None else error}"
    assert not any(word in shown for word in ("no such table", "no such column", "Traceback")), said
    assert not isinstance(error, NmemError) or "\n" not in str(error), said
    if error is None:
        assert result.output.strip() or line.removesuffix(" --json") in QUIET, said
        if words[-1:] == ["--json"] and line not in ("export --json", "settle --quiet --json"):
            json.loads(result.stdout)


@pytest.mark.parametrize("state", STATES)
def test_every_command_answers_whatever_lies_where_the_database_should(
    state: str, samples: Path, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setattr("os.nice", lambda _by: 0)  # settling steps back for others: here, it is all that is done
    begin, forms = STATES[state]
    if begin:
        begin(db_path)
    data, kept = Path(db_path).parent, samples.parent / "kept"
    if data.exists():
        shutil.copytree(data, kept)
    runner = CliRunner()
    for words in lines(samples, forms):
        shutil.rmtree(data, ignore_errors=True)
        if kept.exists():
            shutil.copytree(kept, data)
        sound(runner.invoke(nmem, words, standalone_mode=False), words)
        if begin in (of_another_program, of_one_without_versions):
            assert Path(db_path).read_bytes() == (kept / Path(db_path).name).read_bytes(), words


@pytest.mark.parametrize("words", [["now"], ["settle"], ["undo"], ["mark", "a"], ["status"], ["init", "--yes"]])
def test_another_programs_database_is_refused_in_one_line(words: list[str], samples: Path, db_path: str) -> None:
    of_one_without_versions(db_path)
    Path(db_path).chmod(0o644)
    was = Path(db_path).read_bytes()
    (Path.home() / ".claude").mkdir()
    done = CliRunner().invoke(nmem, words)
    assert "another program's database" in f"{done.output}{done.exception}"
    assert (Path(db_path).read_bytes(), Path(db_path).stat().st_mode & 0o777) == (was, 0o644)


def test_a_model_judges_boundaries_before_anything_was_settled(
    samples: Path, db_path: str, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = own_home / "config.toml"
    file.write_text('[llm]\ncommand = ["/bin/cat"]\n', "utf-8")
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    by_a_hook(db_path)
    words = ["eval", "boundaries", "--method", "llm", str(samples / "it.jsonl"), "--json"]
    result = CliRunner().invoke(nmem, words)
    sound(result, words)
    assert json.loads(result.stdout)["sessions"] == 1
    with closing(store.connect(db_path)) as db:
        assert db.execute("SELECT count(*) FROM llm_ledger").fetchone()[0]


@pytest.mark.parametrize(
    ("agent", "code"),
    [("I fixed it", 0), ({"tools": {"Edit": 1}}, 0), (["x"], 1), ({"tools": "Edit"}, 1), ({"files": "a"}, 1), (7, 1)],
)
def test_an_agent_of_another_form_is_no_fault(agent: object, code: int, samples: Path) -> None:
    prompts = [{"text": "a", "agent": agent}, {"text": "b", "agent": agent}]
    (samples / "it.jsonl").write_text(json.dumps({"prompts": prompts, "labels": ["new", "cont"]}))
    result = CliRunner().invoke(nmem, ["eval", "boundaries", str(samples / "it.jsonl"), "--json"])
    assert (isinstance(result.exception, NmemError), result.exit_code) == (bool(code), code)
    assert not code or "it.jsonl:1" in str(result.exception)
