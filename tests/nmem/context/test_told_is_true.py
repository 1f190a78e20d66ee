"""Real sessions replayed: whatever is told is true by the rows as of that moment.

At the first prompt of sessions, at a prompt that only goes on, at the start on a branch, and in the middle of sessions
whose conversation is compacted: each sentence is held against the rows, by rules of the test's own.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

import pytest

from capture.storage import store
from nmem import database, tables
from nmem.context import preview, recovery, review_store
from nmem.context.items import Item
from nmem.importing import discover
from nmem.importing.importer import Importer
from nmem.purge import history as rules
from nmem.settle import settle

TIMELINES = ("moredip__session-share", "obra__episodic-memory", "ujuc__agent-stuff", "marot__spotter",
             "PackmindHub__context-evaluator")  # fmt: skip
TRANSCRIPTS = ("obra__episodic-memory", "Johannes0501__openshrooly", "applab-nl__dmux")
_SESSIONS = 6
"""Of a project: the first, by name."""
_MOMENTS = 12
_QUOTE = re.compile(r"“([^”]*)”")
_CUT_TITLE = re.compile(r"“[^“”]{20,60}…”")
_LOOSE = re.compile(r"\b(?:[\w.-]+/)*[\w-]+\.(?:py|ts|tsx|js|md|ex|exs|sh|json|yml|yaml|toml|css|html)\b")
_DONE = re.compile(
    r"\((?:[^()]*; )?((?:tests (?:passed|failed))?(?:, )?(?:reverted|thrown away|abandoned|pushed|committed)?)\)"
)


@dataclass(frozen=True)
class Told:
    """What is told at a moment to a session of a project."""

    project_id: int
    at: int
    session_id: str
    item: Item


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database of real sessions, settled; skipped where there are none."""
    real = Path(__file__).resolve().parents[4] / "shared"
    if not (real / "data" / "timelines").is_dir():
        pytest.skip("../shared is absent: no real sessions to replay")
    folder = tmp_path_factory.mktemp("true")
    chosen = folder / "timelines"
    chosen.mkdir()
    for name in TIMELINES:
        lines = (real / "data" / "timelines" / f"{name}.jsonl").read_text("utf-8").splitlines(keepends=True)
        (chosen / f"{name}.jsonl").write_text("".join(lines[:_SESSIONS]), "utf-8")
    tool = real / "tools" / "timelines_to_transcripts.py"
    subprocess.run([sys.executable, str(tool), str(chosen), str(folder / "out")], check=True, capture_output=True)
    sources = [folder / "out", *(real / "data" / "transcripts" / "claude-code" / name for name in TRANSCRIPTS)]
    path = str(folder / "data" / "nmem.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("NMEM_DB", path)
        patch.setenv("NMEM_SKIP_SETTLE", "1")
        with closing(store.connect(path)) as db:
            tables.ensure(db)
            rules.begin(db, 0)
            Importer(db, workers=1).run(discover.find(sources, "claude"))
        settle(path, models=False)
        yield path


@pytest.fixture(scope="module")
def everything(history: str) -> list[Told]:
    """All that is told at the moments of the sample."""
    out: list[Told] = []
    with closing(database.reader(history)) as db:
        db.row_factory = None
        firsts = db.execute(
            "SELECT s.id, s.project_id, j.key, coalesce(s.branch, ''), p.at, p.content, s.last_at FROM sessions s"
            " JOIN projects j ON j.id = s.project_id JOIN prompts p ON p.id = (SELECT q.id FROM prompts q WHERE"
            " q.session_id = s.id AND q.source = 'user' AND q.agent_id IS NULL ORDER BY q.at, q.id LIMIT 1)"
            " ORDER BY s.project_id, p.at"
        ).fetchall()
    step = max(1, len(firsts) // _MOMENTS)
    for session_id, project_id, key, branch, at, prompt, last_at in firsts[::step]:
        for asked in (prompt[:3000], "continue where we left off", ""):
            given = preview.Asked(project=key, prompt=asked, branch=branch, now=at, as_of=at)
            out += [Told(project_id, at, "", item) for item in preview.preview(history, given, 1500).every]
        for moment in {(at + last_at) // 2, last_at + 1}:
            with review_store.as_of(history, moment) as then:
                out += [Told(project_id, moment, session_id, item) for item in recovery.recover(then, session_id, 900)]
    assert len(out) > 10 * len(firsts[::step]) // 2, "the sample says too little"
    return out


@pytest.fixture
def facts(history: str) -> Iterator[Connection]:
    """The rows as they are; each check says up to when they count."""
    with closing(database.reader(history)) as db:
        db.row_factory = None
        yield db


def report(wrong: list[str]) -> None:
    assert not wrong, f"{len(wrong)} untrue:\n" + "\n".join(sorted(set(wrong))[:12])


def test_each_file_was_read_or_changed_with_success(everything: list[Told], facts: Connection) -> None:
    touched: dict[int, list[tuple[int, str]]] = {}
    for project_id, at, path in facts.execute(
        "SELECT s.project_id, o.at, o.file_path FROM observations o JOIN sessions s ON s.id = o.session_id"
        " WHERE o.file_path IS NOT NULL AND o.outcome != 'failed'"
        " AND coalesce(o.metadata, '') NOT LIKE '%\"refused\":%'"
        " AND o.obs_type IN ('file_read', 'file_edit', 'file_write')"
    ).fetchall():
        touched.setdefault(project_id, []).append((at, "/" + path.lstrip("/")))
    wrong = []
    for told in everything:
        for path in told.item.files:
            if not any(
                at < told.at and known.endswith("/" + path.lstrip("/")) for at, known in touched[told.project_id]
            ):
                wrong.append(f"{told.item.id} at {told.at}: {path} was never touched")
            if "worktrees/" in path:
                wrong.append(f"{told.item.id}: {path} lies in another worktree")
    report(wrong)


def left_open(item: Item) -> list[str]:
    """The open ends that an item tells."""
    text = item.text
    if item.kind == "open":
        return [] if text.startswith("Failed last") else _QUOTE.findall(text)
    if item.kind == "next":
        return _QUOTE.findall(text.rpartition(". (episode ")[0])
    return _QUOTE.findall(text.partition("Left open: ")[2])


def origin(facts: Connection, told: Told) -> tuple[str, int]:
    """The session that left it, and when that was."""
    if told.item.id.startswith("obs/"):
        found = facts.execute("SELECT session_id, at FROM observations WHERE id = ?", (told.item.id[4:],)).fetchone()
    else:
        number = re.search(r"\d+$", told.item.id)
        assert number
        found = facts.execute("SELECT session_id, last_at FROM work_units WHERE id = ?", (number[0],)).fetchone()
    return str(found[0]), int(found[1])


def test_each_open_end_was_closed_by_nothing(everything: list[Told], facts: Connection) -> None:
    wrong = []
    for told in everything:
        for end in left_open(told.item):
            session_id, since = origin(facts, told)
            later = facts.execute(
                "SELECT o.obs_type, coalesce(o.file_path, ''), o.content, o.session_id FROM observations o"
                " JOIN sessions s ON s.id = o.session_id WHERE s.project_id = ? AND o.at > ? AND o.at < ?"
                " AND o.outcome = 'ok'",
                (told.project_id, since, told.at),
            ).fetchall()
            names = {name.rpartition("/")[2].lower() for name in _LOOSE.findall(end)}
            for kind, path, content, session in later:
                if kind in ("file_edit", "file_write") and path.rpartition("/")[2].lower() in names:
                    wrong.append(f"{told.item.id}: “{end}” names {path}, which was edited since")
                if kind == "git_commit" and (told.item.id.startswith("obs/") and session == session_id):
                    wrong.append(f"{told.item.id}: “{end}” was committed since: {content[:80]}")
                if kind == "git_commit" and "unstaged" in end:
                    wrong.append(f"{told.item.id}: “{end}” is of an older working tree")
                if kind == "test" and " still fails" in end and "/" not in content and ".py" not in content:
                    wrong.append(f"{told.item.id}: “{end}” passed since: {content[:80]}")
            if end.startswith(("Asked last", "Open question")) and told.session_id != session_id:
                again = facts.execute(
                    "SELECT count(*) FROM prompts WHERE session_id = ? AND source = 'user' AND agent_id IS NULL"
                    " AND at > ? AND at < ?", (session_id, since, told.at),
                ).fetchone()[0]  # fmt: skip
                if again:
                    wrong.append(f"{told.item.id}: “{end}” was answered by a later prompt")
    report(wrong)


def test_each_failure_has_not_passed_and_is_not_committed(everything: list[Told], facts: Connection) -> None:
    wrong = []
    for told in everything:
        if not told.item.text.startswith("Failed last"):
            continue
        number = told.item.id.removeprefix("obs/")
        session, at, kind, command, outcome = facts.execute(
            "SELECT session_id, at, obs_type, content, outcome FROM observations WHERE id = ?", (number,)
        ).fetchone()
        assert outcome == "failed"
        for other, content in facts.execute(
            "SELECT obs_type, content FROM observations WHERE session_id = ? AND at > ? AND at < ? AND outcome = 'ok'",
            (session, at, told.at),
        ).fetchall():
            whole = other == kind == "test" and "/" not in content and ".py" not in content
            if other == "git_commit" or whole or (other == kind and content == command):
                wrong.append(f"{command[:80]} is open after {content[:80]}")
    report(wrong)


def test_each_outcome_is_the_last_state(everything: list[Told], facts: Connection) -> None:
    wrong = []
    checked = 0
    for told in everything:
        number = re.search(r"\bepisode (\d+)", told.item.text, re.IGNORECASE)
        found = _DONE.search(told.item.text.partition(". The agent")[0].partition(". The person")[0])
        if number is None or found is None or not found[1]:
            continue
        checked += 1
        rows = facts.execute(
            "SELECT o.obs_type, o.outcome, o.content, coalesce(o.metadata, '') FROM observations o"
            " WHERE o.prompt_id IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = ?) AND o.at < ?"
            " ORDER BY o.at, o.id",
            (number[1], told.at),
        ).fetchall()
        tests = [outcome for kind, outcome, _, _ in rows if kind == "test" and outcome != "unknown"]
        commits = [
            place for place, row in enumerate(rows) if (row[0], row[1]) == ("git_commit", "ok") or '"commit":' in row[3]
        ]
        undone = [
            place
            for place, row in enumerate(rows)
            if re.search(r"git (checkout --|restore|reset --hard|revert)", row[2])
        ]
        words = f"{told.item.id}: {found[1]}"
        if "tests passed" in words and tests[-1:] != ["ok"]:
            wrong.append(f"{words}, but the last tests: {tests[-1:]}")
        if "tests failed" in words and tests[-1:] != ["failed"]:
            wrong.append(f"{words}, but the last tests: {tests[-1:]}")
        if "committed" in words and not commits:
            wrong.append(f"{words}, but nothing was")
        if "reverted" in words and (not undone or any(place > undone[-1] for place in commits)):
            wrong.append(f"{words}, but it was committed after")
    assert checked > 10
    report(wrong)


def test_each_sentence_is_whole_and_no_chat(everything: list[Told]) -> None:
    wrong = []
    for told in everything:
        text = told.item.text
        by_person = told.item.text.startswith(("Asked:", "The person said:", "Failed last:", "Todo:"))
        if "…" in text and not by_person and told.item.kind != "file":
            wrong.append(f"cut: {text[:300]}")
        for quote in _QUOTE.findall(text):
            if re.fullmatch(
                r"(?:please )?(?:implement|execute) (?:the |this )?(?:following )?plan:?", quote.strip(), re.IGNORECASE
            ):
                wrong.append(f"no goal: {text[:200]}")
            if re.search(r"['\"]\w+['\"] ?: ?[\[{\d'\"]", quote) and not by_person:
                wrong.append(f"data: {quote[:200]}")
        if "The agent reported" in text or "Left open" in text:
            chat = re.search(r"(?:this|the) branch is (?:behind|ahead)|“I won't|\. I won't", text, re.IGNORECASE)
            if chat:
                wrong.append(f"chat: {text[:300]}")
    report(wrong)
