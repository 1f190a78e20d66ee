"""`nmem import` finds history by itself, says in one line what it did, and what is wrong."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from capture.storage import store
from nmem.commands import main as cli
from nmem.commands import terminal
from nmem.importing import discover
from nmem.purge import history as past
from nmem.retention import read as retention
from nmem.retention import sweep
from nmem.retention.plan import DAY
from nmem.retention.policy import Policy
from nmem.settle import settle


def nmem(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `nmem import ...`."""
    monkeypatch.setattr(sys, "argv", ["nmem", "import", *words])
    code = 0
    try:
        cli.main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


def claude_line(session: str, text: str, day: str = "2026-02-01") -> str:
    record = {"type": "user", "uuid": f"u-{session}", "sessionId": session, "cwd": "/home/dev/src/shop", "promptId": "p1",  # noqa: E501
              "timestamp": f"{day}T10:00:00.000Z", "message": {"role": "user", "content": text}}  # fmt: skip
    return json.dumps(record) + "\n"


@pytest.fixture
def history(own_home: Path) -> Path:
    """One session of each client, where the clients keep them."""
    claude = own_home / ".claude" / "projects" / "-home-dev-src-shop" / "s1.jsonl"
    codex = own_home / ".codex" / "sessions" / "2026" / "02" / "01" / "rollout-2026-02-01T10-00-00-c1.jsonl"
    gemini = own_home / ".gemini" / "tmp" / "shop" / "chats" / "session-2026-02-01T10-00-g1.json"
    for path in (claude, codex, gemini):
        path.parent.mkdir(parents=True)
    claude.write_text(claude_line("s1", "Fix the total"), "utf-8")
    codex.write_text("".join(
        json.dumps({"timestamp": "2026-02-01T11:00:00Z", "type": kind, "payload": payload}) + "\n"
        for kind, payload in [
            ("session_meta", {"id": "c1", "cwd": "/home/dev/src/shop", "cli_version": "0.1", "base_instructions": "x" * 90_000}),  # noqa: E501
            ("event_msg", {"type": "user_message", "message": "Run the tests"}),
        ]
    ), "utf-8")  # fmt: skip
    gemini.write_text(json.dumps({
        "sessionId": "g1", "projectHash": "0" * 64, "startTime": "2026-02-01T12:00:00.000Z",
        "messages": [{"id": "m1", "timestamp": "2026-02-01T12:00:00.000Z", "type": "user", "content": "Explain it"}],
    }, indent=2), "utf-8")  # fmt: skip
    (gemini.parent.parent / ".project_root").write_text("/home/dev/src/shop", "utf-8")
    return own_home


def test_what_is_redacted_as_it_comes_is_not_gone_over_again(
    history: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], db_path: str
) -> None:
    nmem(monkeypatch, capsys, "--client", "gemini")
    with closing(store.connect(db_path)) as db:
        assert not past.stale(db)
        db.execute("DELETE FROM history_redactions")
        past.begin(db, 1)
        assert past.stale(db), "what is stored already came under rules that nobody knows"


def test_what_was_just_taken_in_is_not_forgotten_at_once(
    history: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], db_path: str
) -> None:
    _, said, _ = nmem(monkeypatch, capsys, "--client", "gemini")
    assert "go by themselves" not in said, "no call is older than it is kept"
    day, now = 86_400_000, time.time_ns() // 1_000_000
    with closing(store.connect(db_path)) as db:
        db.execute("UPDATE upkeep SET at = ? WHERE name = ?", (now - 30 * day, sweep.NOTICED))
        assert sweep.due(db, now)
        nmem(monkeypatch, capsys, "--client", "claude")
        assert not sweep.due(db, now)
        db.execute("UPDATE upkeep SET at = ? WHERE name = ?", (now - 30 * day, sweep.NOTICED))
        nmem(monkeypatch, capsys, "--client", "claude")
        assert sweep.due(db, now), "nothing came, so nothing waits"


def test_old_calls_live_from_their_import_on_and_it_is_said_how_many_and_until_when(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], db_path: str
) -> None:
    file = own_home / "s1.jsonl"
    base = {"sessionId": "s1", "cwd": "/home/dev/src/shop", "promptId": "p1", "timestamp": "2023-02-01T10:00:01.000Z"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make all"}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "built"}
    rows = [{"type": "assistant", "uuid": "a1", "message": {"role": "assistant", "id": "m1", "content": [call]}},
            {"type": "user", "uuid": "u1", "message": {"role": "user", "content": [answer]}}]  # fmt: skip
    text = claude_line("s1", "Build it", "2023-02-01") + "".join(json.dumps({**base, **row}) + "\n" for row in rows)
    file.write_text(text, "utf-8")
    os.utime(file, (time.time() - 3600,) * 2)
    _, said, _ = nmem(monkeypatch, capsys, str(file))
    assert "1 of 1 imported observations are older" in said
    assert "nmem config set retention.enabled false" in said
    now = time.time_ns() // 1_000_000
    monkeypatch.setattr(sys, "argv", ["nmem", "sweep", "--dry-run"])
    cli.main()
    assert "1\timported: their time counts from then" in capsys.readouterr().out
    assert settle(db_path, 600, models=False) is not None
    with closing(store.connect(db_path)) as db:
        due = {one.type: one for one in retention.forecast(db, now=now).rows}
        assert (due["command"].now, due["command"].month) == (0, 0)
        assert sweep.sweep(db, Policy(mediation=False), now + 100 * DAY, dry=True).counts[("shop", "command")] == 0
        assert sweep.sweep(db, Policy(mediation=False), now + 181 * DAY, dry=True).counts[("shop", "command")] == 1
        due = {one.type: one for one in retention.forecast(db, now=now + 182 * DAY).rows}
        assert (due["command"].total, due["command"].now) == (1, 1)


def test_hints_break_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    said = "Stories, threads and learnings follow in the background; `nmem settle` waits for them"
    lines = terminal.wrapped(said).split("\n")
    assert " ".join(lines) == said
    assert max(map(len, lines)) < 40


def test_history_is_found_without_a_path(
    history: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], db_path: str
) -> None:
    code, out, _ = nmem(monkeypatch, capsys, "--json")
    report = json.loads(out)
    assert (code, report["sessions"], report["prompts"], report["failed"]) == (0, 3, 3, [])
    import sqlite3

    db = sqlite3.connect(db_path)
    rows = db.execute(
        "SELECT s.client, s.id, s.cwd, p.content FROM sessions s JOIN prompts p ON p.session_id = s.id ORDER BY p.at"
    )
    assert rows.fetchall() == [
        ("claude", "s1", "/home/dev/src/shop", "Fix the total"),
        ("codex", "c1", "/home/dev/src/shop", "Run the tests"),
        ("gemini", "g1", "/home/dev/src/shop", "Explain it"),
    ]
    assert db.execute("SELECT key FROM projects").fetchall() == [("/home/dev/src/shop",)]
    db.close()
    assert json.loads(nmem(monkeypatch, capsys, "--json")[1])["records"] == 0


def test_the_client_s_own_settings_say_where_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "elsewhere" / "projects" / "x"
    folder.mkdir(parents=True)
    (folder / "s1.jsonl").write_text(claude_line("s1", "Fix it"), "utf-8")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    code, out, _ = nmem(monkeypatch, capsys)
    assert code == 0
    assert out.startswith("New: 1 session, 1 prompt, 0 texts of agents, 0 observations;")


def test_one_client_and_a_limit_and_a_date(
    history: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert json.loads(nmem(monkeypatch, capsys, "--json", "--client", "codex")[1])["sessions"] == 1
    folder = history / ".claude" / "projects" / "-home-dev-src-shop"
    (folder / "s2.jsonl").write_text(claude_line("s2", "Later", "2026-03-01"), "utf-8")
    (folder / "s3.jsonl").write_text(claude_line("s3", "Latest", "2026-04-01"), "utf-8")
    assert json.loads(nmem(monkeypatch, capsys, "--json", "--limit", "1", str(folder))[1])["sessions"] == 1
    assert json.loads(nmem(monkeypatch, capsys, "--json", "--since", "2026-02-15", str(folder))[1])["sessions"] == 1
    assert json.loads(nmem(monkeypatch, capsys, "--json", str(folder))[1])["sessions"] == 1


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ((), 1, "no transcripts were found where coding clients keep them: nmem import PATH takes a file or folder"),
        (("--client", "cline"), 1, "no transcripts were found where cline keeps them: nmem import PATH takes"),
        (("/no/such/path",), 2, "/no/such/path does not exist"),
        (("--since", "soon", "."), 2, "invalid time 'soon'"),
        (("--since", "1.5d", "."), 1, "no sessions since 1.5d"),
        (("--since", "-1e300d", "."), 2, "-1e300d"),
        (("--client", "emacs"), 2, "emacs"),
    ],
)
def test_what_is_wrong_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: tuple[str, ...],
    code: int,
    says: str,
) -> None:
    (tmp_path / "s1.jsonl").write_text(claude_line("s1", "Fix it"), "utf-8")
    given = [str(tmp_path) if word == "." else word for word in words]
    done, out, err = nmem(monkeypatch, capsys, *given)
    assert (done, out) == (code, "")
    assert says in err
    assert err.count("\n") == 1
    assert len(err) < 400, "no list of every folder"


def test_files_of_nobody_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "data.json").write_text('{"a": 1}', "utf-8")
    (tmp_path / "rows.jsonl").write_text('{"id": 1}\n{"id": 2}\n', "utf-8")
    (tmp_path / "empty.jsonl").write_text("", "utf-8")
    (tmp_path / "noise.jsonl").write_bytes(bytes(range(256)) * 40)
    assert nmem(monkeypatch, capsys, str(tmp_path))[0] == 1


def test_the_report_explains_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_text(claude_line("s1", "Fix it") + '{"type": "brand-new"}\n{"torn\n', "utf-8")
    _, out, _ = nmem(monkeypatch, capsys, str(file), "--client", "claude")
    assert "1 records that tell nothing of the work (brand-new 1)" in out
    assert f"1 lines that are no JSON, in {file}" in out
    assert nmem(monkeypatch, capsys, str(file), "--client", "claude")[1].startswith("Nothing new in 1 files;")


def test_nothing_to_import_is_json_all_the_same(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = nmem(monkeypatch, capsys, "--json")
    assert (code, json.loads(out)["sessions"], err) == (0, 0, "")


def test_the_log_is_folded_back_though_somebody_has_the_database_open(
    history: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], db_path: str
) -> None:
    import sqlite3

    nmem(monkeypatch, capsys, "--client", "claude")
    cockpit = sqlite3.connect(db_path, isolation_level=None)
    assert cockpit.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
    monkeypatch.setattr("nmem.commands.import_.start", lambda _db: None)
    assert nmem(monkeypatch, capsys)[0] == 0
    assert Path(db_path + "-wal").stat().st_size == 0
    cockpit.close()


def test_what_is_no_regular_file_among_the_transcripts_is_passed_over(
    history: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = history / ".claude" / "projects" / "-home-dev-src-shop"
    os.mkfifo(folder / "fifo.jsonl")
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    (folder / "folder.jsonl").mkdir()
    os.mkfifo(folder / "agent-1.meta.json")
    (folder / "agent-1.jsonl").write_text(claude_line("s2", "Look around"), "utf-8")
    root = history / ".gemini" / "tmp" / "shop" / ".project_root"
    root.unlink(missing_ok=True)
    os.mkfifo(root)
    code, out, _ = nmem(monkeypatch, capsys, "--json")
    assert code == 0
    assert json.loads(out)["files"] == 4


@pytest.mark.parametrize(
    ("cwd", "where", "kept"),
    [
        ("/home/ada/src/shop", "theirs", "/home/ada/.zshrc"),
        ("/Users/ada/shop", "theirs", "/Users/ada/.zshrc"),
        ("/root/shop", "theirs", "/root/.zshrc"),
        ("/srv/shop", "theirs", "~/.zshrc"),
        ("HOME/shop", "theirs", "HOME/.zshrc"),
        ("/srv/shop", ".claude/projects/shop", "HOME/.zshrc"),
        ("/Users/me/shop", ".claude/projects/shop", "/Users/me/.zshrc"),
    ],
)
def test_a_home_in_a_transcript_is_that_of_its_machine(
    cwd: str, where: str, kept: str, own_home: Path, db_path: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    cwd, kept = cwd.replace("HOME", str(own_home)), kept.replace("HOME", str(own_home))
    begin = {"sessionId": "s1", "cwd": cwd, "timestamp": "2026-02-01T10:00:00.000Z"}
    calls = [("Read", {"file_path": "~/.zshrc"}), ("Bash", {"command": "cd ~ && cat .zshrc"})]
    lines = [json.loads(claude_line("s1", "Look at it")) | {"cwd": cwd}]
    for number, (name, given) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
        lines.append({**begin, "type": "assistant", "uuid": f"a{number}",
                      "message": {"role": "assistant", "id": f"m{number}", "content": [use]}})  # fmt: skip
        answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x"}
        lines.append({**begin, "type": "user", "uuid": f"r{number}", "message": {"role": "user", "content": [answer]}})
    file = own_home / where / "s1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert nmem(monkeypatch, capsys, str(file))[0] == 0
    with closing(store.connect(db_path)) as db:
        found = [row[0] for row in db.execute("SELECT file_path FROM observations ORDER BY id")]
    assert found == [kept.replace(f"{cwd}/", "")] * 2


@pytest.mark.parametrize(
    ("folder", "where", "kept"),
    [
        ("/home/ada/shop", "theirs", "/home/ada/.zshrc"),
        ("/Users/me/shop", ".gemini/tmp", "/Users/me/.zshrc"),
        ("/srv/shop", ".gemini/tmp", "HOME/.zshrc"),
        ("/srv/shop", "theirs", "~/.zshrc"),
    ],
)
def test_a_home_in_a_session_of_gemini_is_that_of_its_folder_which_is_named_beside_it(
    folder: str, where: str, kept: str, own_home: Path, db_path: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    calls = [{"id": "g1", "name": "read_file", "args": {"absolute_path": "~/.zshrc"}, "status": "success",
              "timestamp": "2026-02-01T12:00:02.000Z", "result": []},
             {"id": "g2", "name": "run_shell_command", "args": {"command": "cat ~/.zshrc"}, "status": "success",
              "timestamp": "2026-02-01T12:00:03.000Z", "result": []}]  # fmt: skip
    file = own_home / where / "shop" / "chats" / "session-2026-02-01T10-00-g1.json"
    file.parent.mkdir(parents=True)
    (file.parent.parent / ".project_root").write_text(folder, "utf-8")
    file.write_text(json.dumps({
        "sessionId": "g1", "projectHash": "0" * 64, "startTime": "2026-02-01T12:00:00.000Z", "messages": [
            {"id": "m1", "timestamp": "2026-02-01T12:00:00.000Z", "type": "user", "content": "Explain it"},
            {"id": "m2", "timestamp": "2026-02-01T12:00:02.000Z", "type": "gemini", "content": "", "toolCalls": calls},
        ],
    }, indent=2), "utf-8")  # fmt: skip
    assert nmem(monkeypatch, capsys, str(file))[0] == 0
    with closing(store.connect(db_path)) as db:
        found = [row[0] for row in db.execute("SELECT file_path FROM observations ORDER BY id")]
    assert found == [kept.replace("HOME", str(own_home))] * 2


def test_a_home_that_the_user_cannot_enter_is_another_machine_s(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = own_home / ".claude" / "projects" / "app" / "s1.jsonl"
    there = discover.Transcript(str(path), "claude")
    assert discover.home_of(there, "/root/app") == ("" if os.access("/root", os.X_OK) else "/root")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert discover.home_of(there, "/root/app") == "/root", "it is there on every Linux, and in every container"
