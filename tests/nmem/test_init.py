"""`nmem init` and `nmem uninstall` as a person meets them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from capture.install import bytecode, installed
from nmem import setup
from nmem.commands.doctor import command as doctor
from nmem.commands.init import command as init
from nmem.commands.uninstall import command as uninstall
from nmem.errors import NmemError
from nmem.mcp import registration

OWN = b'{\n  "model": "opus"\n}\n'


@pytest.fixture
def claude(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where only Claude Code is found, with settings of the user's own."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    folder = own_home / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    settings = own_home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_bytes(OWN)
    return settings


def run(command: object, *words: str, answers: str = "") -> Result:
    return CliRunner().invoke(command, list(words), input=answers, catch_exceptions=True)  # type: ignore[arg-type]


def test_init_shows_the_change_asks_and_says_what_comes_next(claude: Path, db_path: str) -> None:
    done = run(init, answers="y\ny\n")
    assert done.exit_code == 0, done.output
    assert '+  "hooks": {' in done.output and f"Write {claude}?" in done.output
    assert "nmem doctor" in done.output and db_path in done.output
    assert set(json.loads(claude.read_bytes())) == {"model", "hooks"}


def test_each_question_stands_below_its_own_change(claude: Path, own_home: Path) -> None:
    (own_home / ".codex").mkdir()
    lines = run(init, answers="n\n" * 4).output.splitlines()
    asked = [at for at, line in enumerate(lines) if line.startswith("Write ")]
    assert len(asked) > 2
    for at in asked:
        assert lines[at - 1].endswith(" lines") and lines[at - 1].partition(": +")[0] in lines[at]
    assert max(after - before for before, after in zip([0, *asked], asked, strict=False)) < 40
    run(init, "--yes")
    gone = run(uninstall, answers="n\n" * 12).output.splitlines()
    assert all(gone[at - 1].endswith(" lines") for at, line in enumerate(gone) if line.startswith("Write "))


def test_a_no_writes_nothing(claude: Path, db_path: str) -> None:
    done = run(init, answers="n\nn\n")
    assert done.exit_code == 0
    assert claude.read_bytes() == OWN
    assert "Next:" not in done.output
    assert not Path(db_path).exists()


def test_a_dry_run_leaves_the_machine_as_it_was(claude: Path, own_home: Path) -> None:
    before = sorted(own_home.rglob("*"))
    done = run(init, "--dry-run")
    assert done.exit_code == 0 and " claude Stop" in done.output
    assert sorted(own_home.rglob("*")) == before
    assert claude.read_bytes() == OWN


def test_init_makes_a_private_memory_and_compiles_the_hook(claude: Path, db_path: str) -> None:
    assert run(init, "--yes").exit_code == 0
    assert stat.S_IMODE(Path(db_path).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(db_path).parent.stat().st_mode) == 0o700
    with closing(sqlite3.connect(db_path)) as db:
        assert db.execute("SELECT count(*) FROM observations").fetchone() == (0,)
    assert list((Path(db_path).parent / "cache").iterdir())


def test_a_second_init_says_that_there_is_nothing_to_do(claude: Path) -> None:
    run(init, "--yes")
    text = claude.read_bytes()
    done = run(init, "--yes")
    assert "nothing to change" in done.output and "Write" not in done.output
    assert claude.read_bytes() == text


def test_every_client_that_is_found_is_connected_and_no_other(claude: Path, own_home: Path) -> None:
    (own_home / ".gemini").mkdir()
    (own_home / ".cursor").mkdir()
    assert run(init, "--yes").exit_code == 0
    assert (own_home / ".gemini" / "settings.json").exists()
    assert (own_home / ".cursor" / "hooks.json").exists()
    assert not (own_home / ".codex").exists()


def test_named_clients_are_connected_although_they_are_not_found(claude: Path, own_home: Path) -> None:
    done = run(init, "--client", "codex", "--client", "opencode", "--yes")
    assert done.exit_code == 0
    assert "/hooks" in done.output
    assert claude.read_bytes() == OWN
    assert (own_home / ".codex" / "hooks.json").exists()
    assert (own_home / ".config" / "opencode" / "plugins" / "nmem.js").read_bytes().startswith(b"// nmem: ")


def test_a_broken_file_is_one_line_and_the_others_are_still_connected(claude: Path, own_home: Path) -> None:
    (own_home / ".gemini").mkdir()
    claude.write_bytes(b"{broken")
    done = run(init, "--yes")
    assert isinstance(done.exception, NmemError)
    assert str(claude) in str(done.exception) and "\n" not in str(done.exception)
    assert claude.read_bytes() == b"{broken"
    assert (own_home / ".gemini" / "settings.json").exists()


def test_no_client_at_all_is_said(claude: Path, own_home: Path) -> None:
    claude.unlink()
    claude.parent.rmdir()
    done = run(init, "--yes")
    assert isinstance(done.exception, NmemError) and "--client" in str(done.exception)


def test_the_project_scope_stays_in_the_project_and_warns(claude: Path, own_home: Path) -> None:
    done = run(init, "--client", "claude", "--scope", "project", "--yes")
    assert (own_home / "project" / ".claude" / "settings.json").exists()
    assert "version control" in done.output and "--scope local" in done.output
    assert claude.read_bytes() == OWN


def test_a_double_registration_is_said(claude: Path, own_home: Path) -> None:
    run(init, "--client", "claude", "--yes")
    done = run(init, "--client", "claude", "--scope", "local", "--yes")
    assert f"has nmem's hooks in {claude} too" in done.output
    plugin = own_home / ".claude" / "plugins" / "cache" / "nmem" / "hooks" / "hooks.json"
    plugin.parent.mkdir(parents=True)
    plugin.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "nmem-hook claude Stop"}]}]}}')
    assert str(plugin) in run(init, "--client", "claude", "--yes").output


PLUGGED = '{"enabledPlugins": {"nmem@nmem": true}}'


def test_where_the_plugin_is_on_nothing_is_registered_twice(
    claude: Path, own_home: Path, db_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude.write_text(PLUGGED)
    done = run(init, "--yes")
    assert done.exit_code == 0 and "the plugin nmem@nmem brings hooks, tools and skills" in done.output
    assert claude.read_text() == PLUGGED and Path(db_path).exists()
    assert not (own_home / ".claude.json").exists() and not (own_home / ".claude" / "skills").exists()
    assert "claude plugin uninstall nmem@nmem" in run(uninstall, "--yes").output
    monkeypatch.setattr("nmem.doctor.registrations.shutil.which", lambda _name: "/bin/nmem-hook")
    assert "nothing is recorded" not in run(doctor).output
    monkeypatch.setattr("nmem.doctor.registrations.shutil.which", lambda _name: None)
    found = run(doctor)
    assert found.exit_code == 1 and "nmem-hook is not on your PATH" in found.output


def test_hooks_of_init_stay_where_the_plugin_came_later(claude: Path, own_home: Path) -> None:
    run(init, "--client", "claude", "--yes")
    claude.write_text(json.dumps({**json.loads(claude.read_text()), **json.loads(PLUGGED)}))
    hooks = own_home / ".claude" / "plugins" / "cache" / "nmem" / "nmem" / "0.1.0" / "hooks" / "hooks.json"
    hooks.parent.mkdir(parents=True)
    hooks.write_bytes((registration.plugin() / "hooks" / "hooks.json").read_bytes())
    before = claude.read_bytes()
    done = run(init, "--client", "claude", "--yes")
    assert claude.read_bytes() == before and "each event comes twice" not in done.output
    assert "claude plugin disable nmem@nmem" in done.output


def test_the_folder_of_the_plugin_is_printed(claude: Path, db_path: str) -> None:
    done = run(init, "--plugin")
    assert (Path(done.output.strip()) / ".claude-plugin" / "plugin.json").is_file()
    assert claude.read_bytes() == OWN and not Path(db_path).exists()


def test_help_names_the_experimental_clients() -> None:
    text = " ".join(run(init, "--help").output.split())
    assert "Experimental: cursor, droid" in text


def test_a_settings_file_cannot_drive_the_terminal(claude: Path) -> None:
    claude.write_bytes('{"a": "\u009b31m\u202e"}'.encode())
    done = run(init, "--dry-run")
    assert "\u009b" not in done.output and "\u202e" not in done.output


def test_uninstall_restores_the_file_keeps_the_memory_and_says_where(claude: Path, db_path: str) -> None:
    run(init, "--yes")
    done = run(uninstall, "--yes")
    assert done.exit_code == 0, done.output
    assert claude.read_bytes() == OWN
    assert Path(db_path).exists() and db_path in done.output and "rm -rf" in done.output
    assert not any(Path(installed.folder(db_path)).iterdir())


def test_uninstall_finds_projects_it_is_not_in(claude: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(init, "--client", "claude", "--scope", "project", "--yes")
    monkeypatch.chdir(own_home)
    run(uninstall, "--yes")
    assert not (own_home / "project" / ".claude").exists()


def test_uninstall_of_one_client_or_scope_leaves_the_rest(claude: Path, own_home: Path) -> None:
    run(init, "--client", "claude", "--client", "gemini", "--yes")
    run(uninstall, "--client", "gemini", "--yes")
    assert b"entry.py" in claude.read_bytes() and not (own_home / ".gemini").exists()
    run(uninstall, "--scope", "project", "--yes")
    assert b"entry.py" in claude.read_bytes()


def test_uninstall_without_hooks_says_so_and_a_dry_run_keeps_them(claude: Path) -> None:
    assert "No hooks" in run(uninstall, "--yes").output
    run(init, "--yes")
    text = claude.read_bytes()
    assert '-  "hooks": {' in run(uninstall, "--dry-run").output
    assert claude.read_bytes() == text


def test_bytecode_is_made_where_python_was_told_not_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "capture" / "one.py"
    source.parent.mkdir()
    source.write_text("x = 1\n")
    monkeypatch.setattr(bytecode, "_PACKAGES", (str(source.parent),))
    assert bytecode.missing() == [str(source)]
    assert bytecode.make() == []
    assert bytecode.missing() == []
    source.write_text("x = 1234\n")
    assert bytecode.missing() == [str(source)]


@pytest.mark.parametrize(
    ("entry", "fleeting"),
    [
        ("/home/u/.cache/uv/archive-v0/x1/lib/python3.12/site-packages/capture/entry.py", True),
        ("/home/u/.local/pipx/.cache/ab/lib/python3.12/site-packages/capture/entry.py", True),
        ("/home/u/.local/share/uv/tools/nmem/lib/python3.12/site-packages/capture/entry.py", False),
        ("/home/u/src/nmem/.venv/lib/python3.12/site-packages/capture/entry.py", False),
    ],
)
def test_an_environment_that_will_be_cleared_away_is_noticed(entry: str, fleeting: bool) -> None:
    assert setup.fleeting(entry) is fleeting


def test_a_long_diff_is_cut_when_nobody_is_asked_and_the_outcome_stands_last(claude: Path) -> None:
    """Notes, such as that of a checkout below the temporary folder, go to standard error: they are not counted."""
    asked = run(init, "--dry-run").stdout.splitlines()
    told = run(init, "--yes").stdout.splitlines()
    gone = run(uninstall, "--yes").stdout.splitlines()
    assert len(asked) > 100
    assert any("SKILL.md: +" in line and line.endswith(" lines") for line in asked[-3:])
    assert any(line.startswith(f"{claude}: +") and line.endswith(" lines") for line in asked)
    assert len(told) < 70 and len(gone) < 70
    assert "The memory stays in" in gone[-1]


def test_a_switch_that_keeps_every_hook_from_running_is_said_at_once(claude: Path) -> None:
    claude.write_text('{"disableAllHooks": true}')
    assert "says disableAllHooks: no hook of yours runs" in run(init, "--yes").output


def test_init_says_what_becomes_of_the_status_line(claude: Path) -> None:
    assert "--status-line shows a line of nmem's" in run(init, "--yes").output
    own = b'{\n  "statusLine": {"type": "command", "command": "my-line \\u00e9"}\n}\n'
    run(uninstall, "--yes")
    claude.write_bytes(own)
    done = run(init, "--yes")
    assert '-  "statusLine"' in done.output and '+  "statusLine"' in done.output
    assert "Your status line runs as before" in done.output
    run(uninstall, "--yes")
    assert claude.read_bytes() == own
    run(init, "--yes", "--no-status-line")
    run(init, "--yes")
    assert json.loads(claude.read_bytes())["statusLine"]["command"] == "my-line é"
    run(init, "--yes", "--status-line")
    assert "my-line é" in json.loads(claude.read_bytes())["statusLine"]["command"] != "my-line é"


def everything_in(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file() and "data" not in path.parts}


@pytest.mark.parametrize("leads", ["folder", "project", "link", "linked folder", "variable", "earlier release"])
def test_uninstalling_in_a_copied_home_changes_nothing_in_the_original_wherever_that_is_named(
    claude: Path, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leads: str
) -> None:
    moved = own_home / "dotfiles" / "claude"
    if leads == "linked folder":
        moved.parent.mkdir()
        claude.parent.rename(moved)
        claude.parent.symlink_to(moved)
    elif leads == "link":
        moved.mkdir(parents=True)
        claude.rename(moved / "settings.json")
        claude.symlink_to(moved / "settings.json")
    elif leads == "variable":
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(own_home / "work"))
    for scope in ("user", "project"):
        assert CliRunner().invoke(init, ["--client", "claude", "--yes", "--scope", scope]).exit_code == 0
    copy = tmp_path / "copy"
    shutil.copytree(own_home, copy, symlinks=True)
    if leads == "earlier release":
        for file in (copy / "data" / "installed").glob("*.json"):
            file.write_text(json.dumps({key: of for key, of in json.loads(file.read_text()).items() if key != "home"}))
    before = everything_in(own_home)
    assert any(b"entry.py" in data for data in before.values())
    monkeypatch.setenv("HOME", str(copy))
    monkeypatch.setenv("NMEM_DB", str(copy / "data" / "nmem.db"))
    monkeypatch.chdir({"folder": own_home, "project": own_home / "project"}.get(leads, copy))
    done = CliRunner().invoke(uninstall, ["--yes"])
    assert done.exit_code == 0, done.output
    assert everything_in(own_home) == before
    assert leads == "earlier release" or "which this one is a copy of: left unchanged" in done.output
    assert leads in ("link", "linked folder") or b"entry.py" not in (copy / ".claude" / "settings.json").read_bytes()


def test_settings_in_one_line_are_shown_broken_up(claude: Path) -> None:
    claude.write_bytes(b'{"model": "opus", "theme": "dark"}')
    shown = run(init, "--client", "claude", "--dry-run").output
    changed = [line for line in shown.splitlines() if line[:1] in "+-"]
    assert not [line for line in changed if line.startswith("-") and "model" in line], "what stays is no change"
    assert '-  "theme": "dark"' in changed and '+  "theme": "dark",' in changed
