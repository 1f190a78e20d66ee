"""Every command that README and docs show runs on a prepared home, or a line here says why it cannot."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from capture.storage import store
from nmem.demo.player import Player
from nmem.settle import settle
from tests.house import ROOT
from tests.nmem.command_line import parse, run
from tests.shown import PAGES, commands, piped

NOT_RUN = {
    "python3 -m venv": "installs from an index; `.ci/run` and benchmarks/first_minutes.py run these lines",
    "pip install": "installs from an index",
    "export PATH": "a shell's own",
    "npx ": "fetches another program; tests/clients/test_real_mcp.py asks the server",
    "claude plugin": "a client's own; tests/clients/test_real_plugin.py runs it where the client is",
    "python -m nmem.training": "fits on material that the project does not ship",
    "python benchmarks/": "measures for minutes; tests/test_agent_protocol.py and tests/test_soak.py run them in short",
    "nmem tui": "the cockpit has a terminal in tests/test_readme.py and tests/nmem_tui",
    "nmem task run": "starts clients: tests/nmem/dispatch",
    "nmem task attach": "wants a terminal: tests/nmem/dispatch/test_tmux.py",
    "nmem config edit": "opens an editor: tests/nmem/settings",
    "nmem resume 3f2a --": "starts a client: tests/nmem/sessions/test_resume.py",
    "nmem handoff 12 --to": "starts a client: tests/nmem/share",
    "nmem handoff last --to": "starts a client: tests/nmem/share",
    "nmem sync init": "wants a server: tests/nmem/team",
    "nmem sync now": "wants a server: tests/nmem/team",
    "nmem stream --to http": "wants a server: tests/nmem/share/test_streaming.py",
    "nmem stream --to loki": "wants a server: tests/nmem/share/test_streaming.py",
    "nmem stream --to events.jsonl --follow": "runs until it is stopped: tests/nmem/share/test_streaming.py",
    "nmem backup /media/stick": "encrypts to a key: tests/nmem/backup",
    "nmem restore --rescue": "wants a damaged database: tests/nmem/backup/test_rescue.py",
    "nmem model use": "wants a client that is installed: tests/nmem/llm",
    "nmem train": "fits for seconds: tests/nmem/training",
}
"""How commands begin that are only parsed here, and why."""
NOTHING = {
    "nmem ask": "nothing is recorded about that",
    "nmem fix": "nothing is known of that error",
    "nmem recall check": "something is wrong with an index",
    "nmem doctor": "something is wrong: here, no client has hooks",
    "nmem native": "something is stale",
    "nmem attention test": "no terminal is there that could ring",
    "nmem compactions": "no session was compacted",
    "nmem eval compactions": "no session was compacted",
    "nmem blame": "nothing recorded made the line",
    "nmem when": "nothing is called so",
    "nmem how": "nothing is called so",
}
"""How commands begin whose exit code 1 is an answer."""
SAID = {
    "nmem fix": "no known fix of this error",
    "nmem recall check": "is an older index: `nmem recall migrate",
    "nmem doctor": "Reading everything",
    "nmem attention test": "it is quiet now",  # by night: the page sets quiet hours from 22:00 to 07:00
    "nmem compactions": "no compaction of",
    "nmem eval compactions": "no compaction is recorded",
}
"""What those of them say beside it; all others say nothing there."""
EPISODE = "SELECT min(unit_id) FROM (SELECT unit_id FROM unit_prompts GROUP BY unit_id HAVING count(*) > 1)"
BESIDE = (f"SELECT max(id) FROM work_units WHERE id != ({EPISODE})"
          f" AND session_id = (SELECT session_id FROM work_units WHERE id = ({EPISODE}))")  # fmt: skip
FILLED: dict[str, dict[str, str]] = {
    "episodes": {"12": EPISODE, "13": BESIDE, "15": "SELECT max(id) FROM work_units",
                 "345": f"SELECT max(prompt_id) FROM unit_prompts WHERE unit_id = ({EPISODE})"},
    "episodes move": {"12": BESIDE},
    "learn": {"12": "SELECT min(id) FROM learnings WHERE state = 'open' AND kind != 'skill'"},
    "skills": {"12": "SELECT min(id) FROM learnings WHERE kind = 'skill'"},
    "threads": {"12": "SELECT min(id) FROM threads", "9": "SELECT max(id) FROM threads",
                "LINK": "SELECT min(id) FROM episode_links", "y|n": "SELECT 'y'"},
    "themes": {"12": "SELECT min(theme) FROM unit_themes"},
    "relabel": {"4711": "SELECT min(id) FROM observations WHERE phase IS NOT NULL"},
    "task": {"3": "SELECT max(id) FROM tasks WHERE source = 'agent'"},
    "eval": {"FILE...": "SELECT 'titles.jsonl'"},
    "restore": {"FILE": "SELECT 'shop.backup'"},
    "native": {"~/src/shop": "SELECT 'shop'"},
    "narrate": {"15": "SELECT max(id) FROM work_units"},
    "": {"FILE": "SELECT 'labelled.jsonl'", "FILE...": "SELECT 'labelled.jsonl'", "PAIRS.jsonl": "SELECT 'pairs.jsonl'",
         "PATH...": "SELECT '~/.claude/projects'", "ID": "SELECT max(id) FROM sessions", "NAME": "SELECT 'shop'",
         "ITEM": "SELECT 'file/src/a.py'", "...": "SELECT 'rounding'"},
}  # fmt: skip
"""What a number or a word in capitals is in the prepared memory, by the first words of the command."""
GIVEN: dict[str, list[dict[str, object]]] = {
    ".claude/projects/shop/7f3c.jsonl": [
        {"type": "user", "sessionId": "7f3c", "cwd": "{root}", "uuid": "a", "timestamp": "{now}",
         "message": {"role": "user", "content": "round half up"}},
    ],
    ".codex/sessions/rollout-2026-01-31T10-00-00-8a.jsonl": [
        {"timestamp": "{now}", "type": "session_meta", "payload": {"id": "8a", "cwd": "{root}"}},
        {"timestamp": "{now}", "type": "event_msg",
         "payload": {"type": "user_message", "message": "round half up"}},
    ],
    "labelled.jsonl": [{"text": "key = 1", "is_secret": False, "value": "", "kind": "x", "before": "", "after": ""}],
    "titles.jsonl": [{"session_id": "s", "prompts": [{"text": "round the totals half up"}], "labels": ["new"],
                      "titles": {"0": "Round totals half up"}}],
    "pairs.jsonl": [{"linked": linked, "gap_minutes": 30.0, "earlier": {"prompts": ["round up"], "files": ["a.py"]},
                     "later": {"first_prompt": "round up again"}} for linked in (True, False)],
}  # fmt: skip
"""Transcripts and labelled files, by name: below the home, or in the project."""
SESSION = re.compile(r"(?<![-\w])(3f2a|4f2c|6113e919|6b6f4218)(?!\w)")


class Home(NamedTuple):
    """A home with a memory, and the project that was worked in."""

    home: Path
    project: Path


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The demo's history in a project called shop, with files under git, decisions, and what the pages name."""
    home = tmp_path_factory.mktemp("shown") / "home"
    path = str(home / "data" / "nmem.db")
    (home / "data").mkdir(parents=True, mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("NMEM_DB", path)
        patch.setenv("NMEM_SKIP_SETTLE", "1")
        player = Player(path)
        player.prepare()
        player._past()
        player.opening()
        _named(path)
        settle(path, models=False)
        project = _files(home)
        patch.chdir(project)
        assert run("backup", "shop.backup").returncode == 0
    return Home(home, project)


def _named(path: str) -> None:
    """Rows under the names that pages use; the history is of a project called shop."""
    with closing(store.connect(path)) as db:
        db.execute("UPDATE projects SET name = 'shop'")
        db.execute("UPDATE tasks SET state = 'queued', source = 'agent' WHERE id = (SELECT max(id) FROM tasks)")
        prompt = db.execute("SELECT id FROM prompts WHERE source = 'user'").fetchone()[0]
        db.execute("UPDATE prompts SET content = content || ' hunter2' WHERE id = ?", (prompt,))
        db.execute(
            "INSERT INTO said_decisions"
            " (id, prompt_id, said_from, said_to, said_size, session_id, at, kind, confidence)"
            " SELECT 12, id, 0, length(content), length(content), session_id, at, 'rule', .9 FROM prompts WHERE id = ?",
            (prompt,),
        )


def _files(home: Path) -> Path:
    project = home / "data" / "tidewatch"
    lines = "".join(f"line {number}\n" for number in range(1, 31))
    for name in ("src/a.py", "src/invoice.py", "tests/test_a.py", "nightly.md"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(lines, "utf-8")
    for name in (".claude/projects/shop", ".codex/sessions", "reports"):
        (home / name).mkdir(parents=True)
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    for path, rows in GIVEN.items():
        file = (home if path.startswith(".") else project) / path
        file.write_text(
            "".join(f"{json.dumps(row)}\n" for row in rows).replace("{root}", str(project)).replace("{now}", now),
            "utf-8",
        )
    (project / "memory-index.md").write_text("Half up \u2014 totals are rounded half up\n", "utf-8")
    (project / "docs" / "decisions").mkdir(parents=True)
    (project / "docs" / "decisions" / "testing.md").write_text("# Testing Conventions\n\nMocks are small.\n", "utf-8")
    for words in (["init", "-q"], ["add", "-A"],
                  ["-c", "user.name=you", "-c", "user.email=you@example.org", "commit", "-qm", "start"]):  # fmt: skip
        subprocess.run(["git", "-C", str(project), *words], check=True, capture_output=True)
    return project


@pytest.fixture
def there(prepared: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """The prepared home as it was at first, under the same paths; this process is in its project."""
    for name, value in (("HOME", prepared.home), ("NMEM_DB", prepared.home / "data" / "nmem.db")):
        monkeypatch.setenv(name, str(value))
    kept = prepared.home.with_name("kept")
    if not kept.exists():
        shutil.copytree(prepared.home, kept, symlinks=True)
    anew(prepared)
    return prepared


def anew(there: Home) -> None:
    """Put everything back as it was."""
    os.chdir("/")
    shutil.rmtree(there.home)
    shutil.copytree(there.home.with_name("kept"), there.home, symlinks=True)
    os.chdir(there.project)


def filled(words: list[str], memory: Path) -> list[str]:
    """The words, with what there was at first in the place of what they stand for."""
    own = FILLED[""] | FILLED.get(words[1] if len(words) > 1 else "", {}) | FILLED.get(" ".join(words[1:3]), {})
    with closing(sqlite3.connect(memory)) as db:

        def there(word: str) -> str:
            if word in own:
                found = db.execute(own[word]).fetchone()
                return str(found[0]) if found and found[0] is not None else word
            return SESSION.sub(db.execute("SELECT max(id) FROM sessions").fetchone()[0], word)

        return [words[0], *map(there, words[1:])]


def listed(command: str, those: dict[str, str]) -> str:
    """The beginning under which a command is listed; "" when it is not."""
    return next((begin for begin in those if command.startswith(begin)), "")


@pytest.mark.parametrize("page", [page for page in PAGES if list(commands((ROOT / page).read_text("utf-8")))])
def test_what_is_shown_runs(page: str, there: Home) -> None:
    faults = []
    kept = there.home.with_name("kept") / "data" / "nmem.db"
    for command in commands((ROOT / page).read_text("utf-8")):
        if listed(command, NOT_RUN):
            if command.startswith("nmem "):
                parse(command)
            continue
        if fault := tried(command, kept):
            anew(there)  # an example of its own, or one that those before it are in the way of
            fault = tried(command, kept)
        faults += [fault] if fault else []
    assert faults == [], "mend the page, or list the command above with the reason why it cannot run"


def tried(command: str, memory: Path) -> str:
    """Run a command with yes to what it asks; what went wrong, or nothing."""
    given = "ImportError: no such module\n" if "|" in command else "y\n" * 20
    words = [os.path.expanduser(word) for word in filled(piped(command), memory)]  # noqa: PTH111 - as a shell does
    done = run(*words[1:], given=given)
    if done.returncode and "--yes" in done.stderr:  # nobody is there who could be asked
        done = run(*words[1:], "--yes")
    begin = done.returncode == 1 and listed(shlex.join(piped(command)), NOTHING)
    answer = begin and (not done.stderr or (begin in SAID and SAID[begin] in done.stderr))
    if (done.returncode and not answer) or "Traceback" in done.stderr:
        return f"{command}: {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}"
    return ""


def test_an_error_is_no_answer(there: Home) -> None:
    kept = there.home.with_name("kept") / "data" / "nmem.db"
    assert tried("nmem blame src/a.py:12", kept) == "", "nothing recorded made the line"
    assert tried("nmem blame nowhere.py:1", kept).startswith("nmem blame nowhere.py:1: 1: ")


def test_no_exception_is_for_nothing() -> None:
    shown = [command for page in PAGES for command in commands((ROOT / page).read_text("utf-8"))]
    for begin in [*NOT_RUN, *NOTHING]:
        assert any(command.startswith(begin) for command in shown), begin
    assert set(SAID) <= set(NOTHING)
