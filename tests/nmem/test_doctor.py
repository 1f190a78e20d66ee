"""`nmem doctor` runs the real registered commands; what it says is true, and it leaves nothing behind."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from capture import install, paths, stdin
from capture.clients import CLIENTS
from capture.install import hook_entries, registered, targets
from capture.storage import spool, store
from nmem.commands.doctor import command as doctor_command
from nmem.commands.init import command as init
from nmem.context.inject import LATE
from nmem.doctor import examine, probe, registrations
from nmem.doctor.checks import hooks, storage, switches

TABLES = ("observations", "prompts", "sessions", "projects", "project_folders", "hook_runs", "transcript_cursors",
          "payload_drift", "redactions", "counters")  # fmt: skip


@pytest.fixture
def claude(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which Claude Code is found and connected."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("nmem.audit.servers._tools", lambda _: (8, "", 1.0))  # tests of the audit start it
    monkeypatch.setattr(probe, "_LIMIT", 600)  # however busy the machine is
    folder = own_home / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (own_home / ".claude").mkdir()
    connect("claude")
    config = Path(paths.config())
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[context]\ndeadline_ms = 2000\n")  # on a busy machine the probe's context is not late either
    return own_home / ".claude" / "settings.json"


@pytest.fixture
def arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks are taken for sound, in tests of other checks: nothing is sent through them."""
    monkeypatch.setattr(probe, "send", lambda *_: probe.Outcome(arrived=True, ms=30.0))
    monkeypatch.setattr(probe, "bare", lambda _: 20.0)


def connect(client: str) -> None:
    done = CliRunner().invoke(init, ["--client", client, "--yes"])
    assert done.exit_code == 0, done.output


def run(*words: str) -> Result:
    return CliRunner().invoke(doctor_command, list(words))


def findings(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("--json", *words).output)["findings"]
    return found


def wrong(*words: str) -> list[tuple[str, str, str]]:
    return [(f["check"], f["evidence"], f["mend"]) for f in findings(*words) if f["severity"] == "wrong"]


def rows(db_path: str) -> dict[str, int]:
    with closing(sqlite3.connect(db_path)) as db:
        return {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}


def test_every_event_of_every_client_arrives_and_leaves_nothing(claude: Path, db_path: str) -> None:
    for client in CLIENTS:
        connect(client)
    before = rows(db_path)
    found = {f["client"]: f for f in findings() if f["check"] == "round trip"}
    assert found.keys() == {*CLIENTS}
    for client, told in found.items():
        events = len(hook_entries.events(client))
        assert told["severity"] in ("ok", "note"), told  # a note: the machine is busy, and hooks slow
        assert f"{events} of {events} events arrived" in told["evidence"] and "limit 3x" in told["evidence"]
        assert told["ms"] > 0
    assert rows(db_path) == before
    assert not Path(paths.log(db_path)).exists()


def test_a_probe_that_was_told_nothing_in_time_is_not_counted_among_the_sessions(claude: Path, db_path: str) -> None:
    config = Path(paths.config())
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[context]\ndeadline_ms = 0.001\n", "utf-8")
    for known in (0, 3):
        with closing(store.connect(db_path)) as db:
            db.execute("INSERT OR REPLACE INTO counters VALUES (?, ?)", (LATE, known))
            db.execute("DELETE FROM counters WHERE value = 0")
        before = rows(db_path)
        assert [f["severity"] for f in findings() if f["check"] == "round trip"] in (["ok"], ["note"])
        assert rows(db_path) == before
    with closing(store.connect(db_path)) as db:
        assert db.execute("SELECT value FROM counters WHERE name = ?", (LATE,)).fetchone() == (3,)


def test_a_hook_has_its_input_however_late_doctor_comes_to_run_again(
    claude: Path, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    communicate = subprocess.Popen.communicate

    def late(*words: Any, **options: Any) -> Any:
        time.sleep(stdin.QUIET + 0.5)
        return communicate(*words, **options)

    _, entries = next(registrations.all_of("claude", str(Path.cwd())))
    monkeypatch.setattr(subprocess.Popen, "communicate", late)
    outcome = probe.send(entries[0], "nmem-doctor-late")
    assert (outcome.arrived, outcome.fault, outcome.logged) == (True, "", "")


def test_all_well_is_exit_0_and_plain_when_piped_and_the_probe_is_really_written(
    claude: Path, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "_clean", lambda *_: None)
    done = run()
    assert done.exit_code == 0, done.output
    assert "Everything works" in done.output
    assert "\x1b" not in done.output
    with closing(sqlite3.connect(db_path)) as db:
        assert db.execute("SELECT DISTINCT content FROM prompts WHERE source = 'user'").fetchall() == [(probe.TEXT,)]
        assert db.execute("SELECT count(*) FROM observations WHERE outcome = 'failed'").fetchone()[0] >= 1


@pytest.mark.usefixtures("arrives")
def test_at_home_each_client_is_judged_once(claude: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There the settings of a project are the user's own."""
    monkeypatch.chdir(own_home)
    for name in ("hooks", "round trip"):
        found = [each for each in findings() if each["check"] == name and each["client"] == "claude"]
        assert len(found) <= 1, found


def test_a_lost_interpreter_is_found_once_and_fix_mends_it(claude: Path) -> None:
    text = claude.read_text()
    claude.write_text(text.replace(registered.interpreter(), "/gone/python"))
    said = f"the interpreter /gone/python is gone: no hook in {claude} runs"
    assert wrong() == [("command", said, "nmem init --client claude")]
    assert run().exit_code == 1
    assert run("--fix").exit_code == 0
    assert claude.read_text() == text


def test_a_lost_environment_is_one_cause(claude: Path) -> None:
    text = claude.read_text().replace(registered.interpreter(), "/gone/python")
    claude.write_text(text.replace(registered.entry(), "/gone/nmem/entry.py"))
    said = f"the interpreter /gone/python and /gone/nmem/entry.py are gone: no hook in {claude} runs"
    assert wrong() == [("command", said, "nmem init --client claude")]


def test_a_lost_entry_file_and_a_missing_event_are_found(claude: Path) -> None:
    settings = json.loads(claude.read_text())
    del settings["hooks"]["PostToolUseFailure"]
    claude.write_text(json.dumps(settings, ensure_ascii=False).replace(registered.entry(), "/gone/capture/entry.py"))
    said = [evidence for _, evidence, _ in wrong()]
    assert f"/gone/capture/entry.py is gone: no hook in {claude} runs" in said
    assert f"{claude} lacks PostToolUseFailure" in said


@pytest.mark.parametrize("hooks_are", ["[]", "null", '"none"'])
def test_settings_that_init_refuses_are_not_answered_with_init(claude: Path, hooks_are: str) -> None:
    claude.write_text(f'{{"hooks": {hooks_are}}}')
    found = findings()
    told = {(f["check"], f["mend"]) for f in found if f["severity"] == "wrong"}
    assert ("settings", "fix the file by hand, then nmem init --client claude") in told
    assert not any(f["mend"] == "nmem init --client claude" for f in found)


def test_a_folder_in_the_databases_place_is_called_that(claude: Path, db_path: str) -> None:
    for name in (db_path, db_path + "-wal", db_path + "-shm"):
        Path(name).unlink(missing_ok=True)
    Path(db_path).mkdir()
    told = wrong()
    found = {check: (said, mend) for check, said, mend in told}
    assert "is a folder" in found["database"][0] and "nmem init" not in found["database"][1]
    assert "privacy" not in found
    assert sum(check == "round trip" for check, _, _ in told) == 1


def test_a_folder_that_cannot_be_written_is_no_damage(
    claude: Path, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, access = str(Path(db_path).parent), os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode, **more: not str(path).startswith(folder) and access(path, mode, **more)
    )
    assert next(f.evidence for f in storage.database() if f.severity == "wrong").startswith(
        f"{db_path} can be read but"
    )
    assert not any("recover" in f.mend for f in storage.database())
    Path(db_path).unlink()
    assert [(f.severity, f.mend == "nmem init") for f in storage.database()] == [("wrong", False)]


def test_a_database_in_a_folder_that_cannot_be_written_is_still_read(
    claude: Path, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nmem import database

    with closing(sqlite3.connect(db_path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for suffix in ("-wal", "-shm"):
        Path(db_path + suffix).unlink(missing_ok=True)
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    db = database.reader(db_path)
    assert db.execute("SELECT count(*) FROM sessions").fetchone()[0] == 0
    db.close()
    assert not Path(db_path + "-shm").exists()


@pytest.mark.usefixtures("arrives")
def test_a_database_that_this_shell_does_not_read_is_found(
    claude: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NMEM_DB", str(own_home / "other" / "nmem.db"))
    assert any(check == "database" and "the hooks write to" in said for check, said, _ in wrong())


@pytest.mark.usefixtures("arrives")
def test_a_damaged_database_is_found(claude: Path, db_path: str) -> None:
    db = sqlite3.connect(db_path, isolation_level=None)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    data = bytearray(Path(db_path).read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    Path(db_path).write_bytes(data)
    assert any(check in ("integrity", "database") and "--rescue" in mend for check, _, mend in wrong())


def test_what_the_probe_left_in_the_spool_of_a_damaged_database_is_no_session_later(
    claude: Path, db_path: str, tmp_path: Path
) -> None:
    whole = tmp_path / "whole.db"
    Path(db_path).rename(whole)
    Path(db_path).write_bytes(b"no database at all, and longer than a header of one" * 200)
    assert wrong()
    Path(db_path).unlink()
    whole.rename(db_path)
    before = rows(db_path)
    assert spool.waiting(db_path) == 0
    run("--fix")
    assert rows(db_path) == before


def test_a_full_disk_is_no_damage(claude: Path, db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(db_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * 9000)
    assert "restore --rescue" in storage.database()[0].mend
    monkeypatch.setattr("nmem.doctor.checks.storage.shutil.disk_usage", lambda _: SimpleNamespace(free=4096))
    assert "its disk is full" in storage.database()[0].evidence
    assert "free some space" in storage.database()[0].mend


def test_no_database_and_no_hooks_are_said_with_the_command_that_mends(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(own_home)
    assert [(check, mend) for check, _, mend in wrong()] == [("database", "nmem init"), ("hooks", "nmem init")]


@pytest.mark.usefixtures("arrives")
def test_settings_that_are_not_json_are_said(claude: Path) -> None:
    claude.write_text('{"a": 1,}')
    assert any(check == "settings" and "line 1, column 8" in said for check, said, _ in wrong())


@pytest.mark.usefixtures("arrives")
@pytest.mark.parametrize("key", ["disableAllHooks", "allowManagedHooksOnly"])
def test_switches_of_claude_code_are_found(key: str, claude: Path) -> None:
    local = claude.parents[1] / "project" / ".claude" / "settings.local.json"
    local.parent.mkdir()
    local.write_text(json.dumps({key: True}))
    assert [said for check, said, _ in wrong() if check == "switch"] == [f"{local} says {key}: no hook of yours runs"]


@pytest.mark.usefixtures("arrives")
def test_switches_of_gemini_are_found(claude: Path, own_home: Path) -> None:
    connect("gemini")
    path = own_home / ".gemini" / "settings.json"
    text = path.read_text().rstrip().removesuffix("}").rstrip()
    path.write_text(text + ', // off for now\n  "hooksConfig": {"enabled": false, "disabled": ["nmem"]}}')
    assert sum(check == "switch" for check, _, _ in wrong()) == 2


def test_nmems_own_switch_is_found(claude: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NMEM_SKIP_HOOKS", "1")
    found = wrong()
    assert (
        "switch",
        "NMEM_SKIP_HOOKS is set: hooks started from here record nothing",
        "unset NMEM_SKIP_HOOKS",
    ) in found
    assert sum(check == "round trip" for check, _, _ in found) == 1


def test_codex_trust_is_read_from_its_config(claude: Path, own_home: Path) -> None:
    connect("codex")
    target = targets.target("codex", "user", "/")
    entries = hook_entries.entries(Path(target.path).read_text(), target)
    assert switches.codex("/")[0].severity == "wrong"
    config = own_home / ".codex" / "config.toml"
    lines = []
    for entry in entries:
        matcher = {"PreToolUse": "Bash|apply_patch", "PostToolUse": "*"}.get(entry.event)
        snake = switches._snake(entry.event)
        lines += [
            f'[hooks.state."{target.path}:{snake}:0:0"]',
            f'trusted_hash = "{switches.trust_hash(entry, matcher)}"',
        ]
    config.write_text("\n".join(lines))
    assert [f.severity for f in switches.codex("/")] == ["ok"]
    config.write_text("\n".join(lines).replace("sha256:", "sha256:0", 1))
    assert "Codex trusted another version of: SessionStart" in switches.codex("/")[0].evidence
    config.write_text("\n".join([*lines, "enabled = false"]))
    assert switches.codex("/")[0].severity == "wrong"
    config.write_text("[features]\nhooks = false\n")
    assert any("features.hooks" in f.evidence for f in switches.codex("/"))


def test_the_trust_hash_is_the_one_codex_computes() -> None:
    value = {"type": "command", "command": "/bin/true", "timeout": 5}
    command = registered.recognise("/p -I -S /x/capture/entry.py codex SessionEnd")
    assert command is not None
    entry = hook_entries.Entry(("hooks", "SessionEnd", 0, "hooks", 0), "SessionEnd", command, dict(value))
    # what codex 0.169 said of this very hook
    assert switches.trust_hash(entry, None) == "sha256:42ea3855d592a4e9c9d8c7640bc680f9508c7a4a844ad948af96679e7c62eebe"
    whole = '{"event_name":"session_end","hooks":[{"async":false,"command":"/bin/true","timeout":3,"type":"command"}]}'
    assert switches.trust_hash(entry, None) == "sha256:" + hashlib.sha256(whole.encode()).hexdigest()


@pytest.mark.usefixtures("arrives")
def test_a_memory_that_others_can_read_is_wrong_and_fix_closes_it(claude: Path, db_path: str) -> None:
    Path(db_path).chmod(0o644)
    assert ("privacy", f"others can reach {db_path} (mode 0644)", f"chmod 600 {shlex.quote(db_path)}") in wrong()
    assert run("--fix").exit_code == 0
    assert Path(db_path).stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("arrives")
def test_what_another_put_among_our_files_is_said_and_left_alone(claude: Path, db_path: str, own_home: Path) -> None:
    precious = own_home / "precious"
    precious.write_text("mine")
    precious.chmod(0o640)
    places = [Path(paths.log(db_path)), Path(db_path).with_name("settle.wanted"), Path(db_path).with_name("trash")]
    for place in places:
        place.unlink(missing_ok=True)
        place.symlink_to(precious)
    assert run("--fix").exit_code == 1
    assert {said for check, said, _ in wrong() if check == "privacy"} == {f"{place} is a link" for place in places}
    assert precious.stat().st_mode & 0o777 == 0o640
    assert precious.read_text() == "mine"


@pytest.mark.usefixtures("arrives")
def test_a_database_that_is_a_link_is_said_and_not_opened(claude: Path, db_path: str, own_home: Path) -> None:
    Path(db_path).rename(own_home / "elsewhere.db")
    Path(db_path).symlink_to(own_home / "elsewhere.db")
    before = (own_home / "elsewhere.db").read_bytes()
    assert ("privacy", f"{db_path} is a link") in {found[:2] for found in wrong()}
    assert (own_home / "elsewhere.db").read_bytes() == before


def test_torn_spool_files_are_said(claude: Path, db_path: str) -> None:
    torn = Path(paths.spool(db_path)) / "torn"
    torn.mkdir(parents=True, mode=0o700)
    Path(paths.spool(db_path)).chmod(0o700)
    (torn / "1.json").write_text("half")
    assert any("set aside" in finding.evidence for finding in storage.waiting())


def test_a_hook_that_talks_is_wrong(claude: Path, own_home: Path) -> None:
    fake = own_home / "fake" / "capture"
    fake.mkdir(parents=True)
    (fake / "entry.py").write_text("print('hello model')")
    claude.write_text(claude.read_text().replace(registered.entry(), str(fake / "entry.py")))
    assert any("would take for context" in said for check, said, _ in wrong() if check == "round trip")


@pytest.mark.usefixtures("arrives")
def test_two_registrations_are_noted(claude: Path) -> None:
    done = CliRunner().invoke(init, ["--client", "claude", "--scope", "local", "--yes"])
    assert done.exit_code == 0
    notes = [f for f in findings() if f["check"] == "double"]
    assert len(notes) == 1 and notes[0]["severity"] == "note"
    assert run().exit_code == 0


@pytest.mark.usefixtures("arrives")
def test_a_client_without_hooks_is_a_note_not_a_fault(claude: Path, own_home: Path) -> None:
    (own_home / ".gemini").mkdir()
    found = [f for f in findings() if f["client"] == "gemini"]
    assert [(f["severity"], f["mend"]) for f in found] == [("note", "nmem init --client gemini")]
    assert examine.healthy(hooks.registered_hooks("/"))


def test_paths_with_spaces_and_quotes_make_the_round_trip(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = own_home / 'it\'s "my" $HOME'
    odd.mkdir()
    monkeypatch.setattr("nmem.audit.servers._tools", lambda _: (8, "", 1.0))
    monkeypatch.setenv("NMEM_DB", str(odd / "the memory.db"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(odd / "claude"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(odd)
    connect("claude")
    assert run().exit_code == 0, run().output
    target = targets.target("claude", "user", "/")
    install.uninstall(install.plan_uninstall(target, os.environ["NMEM_DB"]), os.environ["NMEM_DB"])
    assert not Path(target.path).exists()


@pytest.mark.usefixtures("arrives")
def test_a_status_line_that_is_read_along_is_tried_and_one_that_is_not_is_said(claude: Path) -> None:
    settings = json.loads(claude.read_text())
    settings["statusLine"] = {"type": "command", "command": "touch ran-by-doctor; echo mine"}
    claude.write_text(json.dumps(settings))
    assert [(f["severity"], f["mend"]) for f in findings() if f["check"] == "status line"] == [
        ("note", "nmem init --client claude")
    ]
    assert run("--fix").exit_code == 0
    assert json.loads(claude.read_text())["statusLine"] == settings["statusLine"]
    connect("claude")
    found = [f for f in findings() if f["check"] == "status line"]
    assert [f["severity"] for f in found] == ["ok"] and "runs your own line" in found[0]["evidence"]
    assert not list(claude.parents[1].rglob("ran-by-doctor"))
    claude.write_text(claude.read_text().replace("nmem/statusline.py", "gone/nmem/statusline.py"))
    found = [f for f in findings() if f["check"] == "status line"]
    assert found[0]["severity"] == "note" and "your own line still runs" in found[0]["evidence"]


def test_a_folder_that_everybody_writes_to_is_no_place_for_a_memory(
    claude: Path, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NMEM_DB", db_path)
    folder = Path(db_path).parent
    folder.chmod(0o777)
    said = " ".join(str(one) for one in storage.private())
    assert f"everybody can write to {folder}" in said
    folder.chmod(0o1777)
    assert "everybody" not in " ".join(str(one) for one in storage.private())
