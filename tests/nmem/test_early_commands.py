"""Every command of the registry before anything was settled: one line of help or an answer, never a fault of SQL."""

from __future__ import annotations

import json
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
from nmem.commands.main import nmem
from nmem.errors import NmemError

BLOCKING = {("tui",), ("mcp",), ("task", "watch"), ("task", "attach"), ("task", "run"), ("config", "edit")}
"""Commands that take a terminal, an editor or a client; their reads are those of the others."""
VALUES = {"learning": "1", "episode": "1", "prompt": "1", "thread": "1", "link": "1", "task": "1", "choice": "y"}
GIVEN: dict[tuple[str, ...], list[str]] = {
         ("config", "get"): ["llm.enabled"], ("config", "set"): ["llm.enabled", "false"],
         ("config", "unset"): ["llm.enabled"], ("learn", "snooze"): ["1", "7d"]}  # fmt: skip
MORE = [
    ["context", "--past"], ["context", "--report"], ["context", "--off"], ["context", "--explain", "--prompt", "fix"],
    ["context", "--recovery"], ["context", "--as-of", "1d"], ["context", "--include", "file/a.py"], ["undo", "--list"],
    ["threads", "continue", "new"], ["threads", "continue", "--forget"], ["threads", "tuning", "--now"],
    ["sweep", "--dry-run"], ["sweep", "--log"], ["purge", "--text", "fix", "--dry-run"], ["redact", "--history"],
    ["search", "fix", "--json"], ["import", "--json"], ["export", "--tables"],
]  # fmt: skip
PAYLOAD = {"session_id": "s", "cwd": "/tmp", "hook_event_name": "PostToolUse", "tool_name": "Bash",
           "tool_input": {"command": "pytest"}, "tool_response": {"stdout": "1 passed"}}  # fmt: skip


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from leaves(found, (*path, name))
    else:
        yield path, command


def lines(samples: Path) -> Iterator[list[str]]:
    for path, command in leaves(nmem):
        if path in BLOCKING:
            continue
        words = GIVEN.get(path)
        if words is None:
            words = []
            for each in (one for one in command.params if one.required):
                value = VALUES.get(each.type.name, "fix")
                value = str(samples / "it.jsonl") if each.type.name == "file" else value
                value = str(samples) if each.type.name == "directory" else value
                words += [each.opts[0], value] if isinstance(each, click.Option) else [value]
        yield [*path, *words]
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
    assert CliRunner().invoke(nmem, ["import", "--yes"]).exit_code in (0, 2)


def sound(result: Result, words: list[str]) -> None:
    """An answer, a refusal in words, or wrong usage."""
    said = f"{' '.join(words)}: {result.exception!r}\n{result.output}"
    assert result.exception is None or isinstance(
        result.exception, (SystemExit, NmemError, click.ClickException, click.Abort)
    ), said
    assert "no such table" not in f"{result.output}{result.exception}", said
    assert "Traceback" not in result.output, said


@pytest.mark.parametrize("begin", [None, by_a_hook, by_an_import], ids=["absent", "one hook", "imported"])
def test_every_command_answers_before_anything_was_settled(
    begin: object, samples: Path, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "true")
    if callable(begin):
        begin(db_path)
    data, kept = Path(db_path).parent, samples.parent / "kept"
    if data.exists():
        shutil.copytree(data, kept)
    runner = CliRunner()
    for words in lines(samples):
        shutil.rmtree(data, ignore_errors=True)
        if kept.exists():
            shutil.copytree(kept, data)
        sound(runner.invoke(nmem, words), words)


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
