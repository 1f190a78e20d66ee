"""The hooks of the Claude Code plugin stand back where `nmem init` has registered the same event."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from capture import paths
from capture.clients import claude, plugged
from nmem.commands.init import command as init
from tests.reference import HOOKS, plugin_hooks


@pytest.fixture
def settings(own_home: Path) -> Path:
    """Claude Code's settings of the user, with the hooks of `nmem init`."""
    (own_home / ".claude").mkdir()
    assert CliRunner().invoke(init, ["--client", "claude", "--yes"]).exit_code == 0
    return own_home / ".claude" / "settings.json"


def hook(*words: str) -> None:
    """A prompt through the hook, as the plugin starts it."""
    payload = {"session_id": "s", "cwd": "/src/shop", "hook_event_name": "UserPromptSubmit", "prompt": "round half up"}
    done = subprocess.run(
        [sys.executable, "-I", "-S", paths.entry(), "claude", "UserPromptSubmit", *words],
        input=json.dumps(payload), capture_output=True, text=True, env=dict(os.environ), timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def runs(db_path: str) -> int:
    """How many hooks have run on the database."""
    import sqlite3

    with sqlite3.connect(db_path) as db:
        return int(db.execute("SELECT count(*) FROM hook_runs").fetchone()[0])


def test_the_plugin_has_the_hooks_that_init_registers() -> None:
    assert HOOKS.read_text("utf-8") == plugin_hooks(), "`python -m tests.reference` writes it anew"
    assert list(json.loads(HOOKS.read_text("utf-8"))["hooks"]) == list(claude.EVENTS)


def test_beside_the_hooks_of_init_only_those_run(settings: Path, db_path: str) -> None:
    assert all(plugged.stands_back(event, os.environ) for event in claude.EVENTS)
    hook(plugged.WORD)
    assert runs(db_path) == 0
    hook()
    assert runs(db_path) == 1


def test_alone_the_plugin_records(own_home: Path, db_path: str) -> None:
    assert not plugged.stands_back("UserPromptSubmit", os.environ)
    hook(plugged.WORD)
    assert runs(db_path) == 1


def test_for_an_event_that_settings_lack_it_runs(settings: Path) -> None:
    have = json.loads(settings.read_text())
    del have["hooks"]["Stop"]
    settings.write_text(json.dumps(have))
    assert not plugged.stands_back("Stop", os.environ)
    assert plugged.stands_back("StopFailure", os.environ)


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_settings_of_the_project_count(settings: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "shop" / ".claude").mkdir(parents=True)
    settings.rename(tmp_path / "shop" / ".claude" / name)
    assert not plugged.stands_back("Stop", {})
    assert plugged.stands_back("Stop", {"CLAUDE_PROJECT_DIR": str(tmp_path / "shop")})


@pytest.mark.parametrize("gone", [paths.entry(), sys.executable])
def test_hooks_of_an_environment_that_is_gone_count_for_nothing(settings: Path, gone: str) -> None:
    settings.write_text(settings.read_text().replace(gone, f"/gone{gone}"))
    assert not plugged.stands_back("Stop", os.environ)


@pytest.mark.parametrize("text", ["", "{", '{"hooks": {}}', '{"a": "nmem/entry.py claude Stop "}', "\udcff" * 9])
def test_settings_without_our_hooks(settings: Path, text: str) -> None:
    settings.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert not plugged.stands_back("Stop", os.environ)


def test_a_folder_with_a_blank_and_windows_without_tests(settings: Path, tmp_path: Path) -> None:
    entry = tmp_path / "my tools" / "nmem" / "entry.py"
    entry.parent.mkdir(parents=True)
    entry.touch()
    for line in (f"[ -x /bin/sh ] && [ -f '{entry}' ] && exec /bin/sh -I -S '{entry}' claude Stop || exit 0",
                 f'C:/Python/python.exe -I -S "{entry}" claude Stop'):  # fmt: skip
        settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line}]}]}}))
        assert plugged.stands_back("Stop", os.environ), line
