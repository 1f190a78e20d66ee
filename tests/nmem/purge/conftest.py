"""A memory with something in it that must be forgotten: put through real hooks, in every field there is."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from capture import paths
from capture.storage import store
from nmem import marks, tables
from nmem.context import pins
from nmem.learn.findings_store import more
from nmem.purge import journal
from nmem.purge.needles import Needles, fold
from nmem.settle import settle

TOKEN = 'Zq7Planted "Wéb" Tok42'
"""Holds quotes, a letter that JSON escapes, capitals and blanks."""
WORD = "zq7planted"
"""What of it no index may have as a word."""
Dump = dict[str, list[tuple[Any, ...]]]
VOLATILE = (
    "purges", "history_redactions", "counters", "context_projects", "retrieval_projects",
    "retrieval_docs", "retrieval_postings", "unit_themes", "search_terms", "search_state", "search_blocks",
    "hook_runs", "learned_projects", "upkeep",
)  # fmt: skip
"""Counters, the history of purges, and what is made of facts and numbered as it comes."""


def hook(db_path: str, event: str, **fields: Any) -> None:
    """One event, as the client sends it."""
    payload = {"hook_event_name": event, "session_id": "s1", "cwd": str(Path(db_path).parent), **fields}
    subprocess.run([sys.executable, "-I", "-S", paths.entry(), "claude", event, "--db", db_path],
                   input=json.dumps(payload).encode(), check=True, timeout=300, env={**os.environ})  # fmt: skip


def tool(db_path: str, name: str, number: int, given: dict[str, Any], answer: Any = "", **fields: Any) -> None:
    hook(
        db_path,
        "PostToolUse",
        tool_name=name,
        tool_use_id=f"t{number}",
        tool_input=given,
        tool_response=answer,
        **fields,
    )


def plant(db_path: str, session: str = "s1", token: str = TOKEN) -> None:
    """The token in each field of a session, and a turn that has nothing to do with it."""
    own = {"session_id": session}
    src = f"{Path(db_path).parent}/src"
    hook(db_path, "SessionStart", source="startup", **own)
    hook(db_path, "UserPromptSubmit", prompt=f"deploy with {token} to the staging server now please", **own)
    tool(db_path, "Bash", 1, {"command": f"deploy --key '{token}'", "description": f"uses {token}"},
         {"stdout": f"ok {token}", "stderr": ""}, **own)  # fmt: skip
    tool(db_path, "Edit", 2, {"file_path": f"{src}/{token}.py", "old_string": "a", "new_string": token},
         {"structuredPatch": [{"lines": ["-a", f"+{token}"]}]}, **own)  # fmt: skip
    hook(db_path, "PostToolUseFailure", tool_name="Bash", tool_use_id="t3", tool_input={"command": f"check {token}"},
         error=f"Exit code 2\nError: cannot reach {token}", **own)  # fmt: skip
    tool(
        db_path, "mcp__vault__read", 4, {"path": token, "nested": {"deep": [token, {"k": f"a\\{token}"}]}}, token, **own
    )
    tool(db_path, "WebFetch", 5, {"url": "https://example.org/a", "prompt": token}, {"result": token}, **own)
    hook(db_path, "Stop", last_assistant_message=f"Deployed with {token}.", **own)
    hook(db_path, "UserPromptSubmit", prompt="now write the readme of the invoice module", **own)
    tool(db_path, "Edit", 6, {"file_path": f"{src}/invoice.py", "old_string": "a", "new_string": "b"},
         {"structuredPatch": [{"lines": ["-a", "+b"]}]}, **own)  # fmt: skip
    tool(db_path, "Bash", 7, {"command": "pytest tests"}, {"stdout": "3 passed", "stderr": ""}, **own)
    hook(db_path, "Stop", last_assistant_message="The readme is written.", **own)
    hook(db_path, "SessionEnd", reason="exit", **own)


@pytest.fixture(autouse=True)
def no_models(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing on this machine's ports is asked."""
    file = own_home / "config.toml"
    file.write_text("[llm]\nenabled = false\n", "utf-8")
    monkeypatch.setenv("NMEM_CONFIG", str(file))


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the memory with the token lies for one test after the other, and a copy of it as it was made."""
    return tmp_path_factory.mktemp("planted")


@pytest.fixture
def planted(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A memory of three sessions, settled, with the token wherever it can get to."""
    made, folder = shelf / "made", shelf / "data"
    db_path = str(folder / "nmem.db")
    monkeypatch.setenv("NMEM_DB", db_path)
    shutil.rmtree(folder, ignore_errors=True)
    if not made.exists():
        _plant_everywhere(db_path)
        folder.rename(made)
    shutil.copytree(made, folder)
    return db_path


def _plant_everywhere(db_path: str) -> None:
    plant(db_path, "other", "an ordinary value")
    plant(db_path)
    with closing(store.connect(db_path, timeout=5)) as db:
        tables.ensure(db)
    settled(db_path)
    everywhere(db_path)
    plant(db_path, "later", "something else")
    settled(db_path)


def everywhere(db_path: str) -> None:
    """What people, agents and other parts of the house write themselves."""
    mark = marks.mark(db_path, f"decided on {TOKEN}", marks.DECISION, session_id="s1")
    with closing(store.connect(db_path, timeout=5)) as db:
        tables.ensure(db)
        pins.marked(db, mark, mark.at)
        pins.pin(db, "obs", mark.id, True, mark.at)
        unit = db.execute("SELECT id FROM work_units WHERE session_id = 's1' LIMIT 1").fetchone()[0]
        db.execute("UPDATE work_units SET title = ?, client_summary = ?, narrated_at = narrated_at + 1 WHERE id = ?",
                   (TOKEN, f"summary {TOKEN}", unit))  # fmt: skip
        db.execute("UPDATE threads SET micro = ?, macro = ?", (TOKEN, TOKEN))
        db.execute("INSERT INTO tasks (created_at, changed_at, prompt, cwd, output, state)"
                   " VALUES (1, 1, ?, '/x', ?, 'failed')", (f"deploy {TOKEN}", f"out {TOKEN}"))  # fmt: skip
        db.execute(
            "INSERT INTO tasks (created_at, changed_at, prompt, cwd, output) VALUES (1, 1, 'another', '/x', ?)",
            (TOKEN,),
        )
        made = db.execute("INSERT INTO injections (at, session_id, event, client, text, tokens) VALUES"
                          " (1, 'other', 'prompt', 'claude', ?, 5)", (f"told {TOKEN}",)).lastrowid  # fmt: skip
        db.execute(
            "INSERT INTO injection_items (injection_id, position, item, kind, score, reason, text, tokens, files)"
            " VALUES (?, 0, 'thread/1', 'thread', 1, ?, ?, 5, ?)",
            (made, TOKEN, TOKEN, json.dumps([TOKEN])),
        )
        db.execute(
            "INSERT INTO corrections (at, kind, target, payload, before) VALUES (1, 'rename', ?, ?, ?)",
            (f"episode/{unit}", json.dumps({"title": TOKEN, "session": "s1"}), json.dumps({"a": TOKEN})),
        )
        db.execute(
            "INSERT INTO learnings (project_id, kind, key, title, files, first_at, last_at, sessions, occurrences)"
            " SELECT project_id, 'failed_command', ?, ?, ?, 1, 1, 1, 1 FROM sessions LIMIT 1",
            (TOKEN, TOKEN, json.dumps([TOKEN])),
        )
        db.execute(
            "INSERT INTO transcript_cursors VALUES (?, 's1', 10, 'h', ?, 1)", ("/t/s1.jsonl", json.dumps({"x": TOKEN}))
        )
        for (project,) in db.execute("SELECT id FROM projects").fetchall():
            more(db, project)
    folder = Path(db_path).parent
    for name in ("tasks/1-1/prompt", "spool/torn/1.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(TOKEN), "utf-8")
    with (folder / "nmem.log").open("a", encoding="utf-8") as log:
        log.write(f"2025 1 a line\n2025 1 about {TOKEN}\n2025 1 another\n")


def settled(db_path: str) -> None:
    assert settle(db_path, 600, models=False) is not None


@pytest.fixture
def dump() -> Callable[[str], Dump]:
    return dumped


def dumped(db_path: str) -> Dump:
    """Every row of every table, also of those that text indexes consist of, but for what is volatile."""
    with closing(sqlite3.connect(db_path)) as db:
        out: Dump = {}
        for table in journal.tables(db, VOLATILE):
            rows = db.execute(f"SELECT * FROM {table.name}").fetchall()
            out[table.name] = sorted((row for row in rows if "purge" not in row), key=repr)
        out["narratives_fts"] = db.execute("SELECT rowid, * FROM narratives_fts ORDER BY rowid").fetchall()
        out["vocabulary"] = db.execute("SELECT term, n FROM search_terms ORDER BY term").fetchall()
        for name in ("observations_fts", "prompts_fts", "narratives_fts", "search_docs_fts", "search_unspaced_fts",
                     "search_outputs_fts"):  # fmt: skip
            db.execute(f"CREATE VIRTUAL TABLE temp.v_{name} USING fts5vocab(main, {name}, instance)")
            out[f"words of {name}"] = db.execute(f"SELECT * FROM temp.v_{name} ORDER BY 1, 2, 3, 4").fetchall()
            if name != "search_unspaced_fts":
                db.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")
        return out


def holding(db_path: str, words: tuple[str, ...] = (TOKEN, WORD)) -> list[str]:
    """Every file of ours, whatever its name, that holds the token in any form."""
    needles = Needles(map(fold, words))
    top = Path(db_path).parent
    return sorted(str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()
                  and needles.within(path.read_bytes()))  # fmt: skip
