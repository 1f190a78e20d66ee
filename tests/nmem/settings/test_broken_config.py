"""A config that is broken, seen from a hook: it redacts by the built-in rules and the good own ones all the same."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from capture import paths
from capture.hook import SKIP
from nmem.commands.main import nmem
from nmem.errors import NmemError
from nmem.settle import settle
from tests.nmem.conftest import Recorded

GOOD = '[redaction]\npatterns = [{ name = "ticket", regex = "TCK-[0-9]{6}" }]\n'
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
BROKEN = {
    "no TOML": "[redaction\npatterns = [",
    "no text": "\x00\udcff",
    "unknown keys": GOOD + "patern = 1\n[redacton]\nenabled = false\n[context]\nstrat_tokens = 5\n",
    "one bad pattern": GOOD.replace("[{", '[{ name = "bad", regex = "(" }, {'),
    "wrong type": "redaction = false\n",
    "list of nothing": "[redaction]\npatterns = [3, {}, { name = 'x' }]\nallow = 'everything'\n",
    "allows everything": "[redaction]\nallow = [{ regex = '.*' }]\n",
}
KEEPS_OWN = {"no TOML", "no text", "unknown keys", "one bad pattern"}


def hook(db_path: str, number: int) -> None:
    payload = {"session_id": "s", "cwd": "/tmp", "prompt": f"{number}: use {TOKEN} for TCK-123456",
               "hook_event_name": "UserPromptSubmit", "prompt_id": f"p{number}"}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-I", "-S", paths.entry(), "claude", "UserPromptSubmit", "--db", db_path],
        input=json.dumps(payload), capture_output=True, text=True, timeout=300, env=dict(os.environ),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def prompts(db_path: str) -> list[str]:
    with closing(sqlite3.connect(db_path)) as db:
        return [row[0] for row in db.execute("SELECT content FROM prompts ORDER BY id")]


@pytest.mark.parametrize("how", BROKEN)
def test_a_hook_redacts_whatever_the_config_says(own_home: Path, db_path: str, how: str) -> None:
    config = Path(paths.config())
    config.parent.mkdir(parents=True)
    config.write_text(GOOD)
    hook(db_path, 1)
    config.write_text(BROKEN[how], errors="surrogateescape")
    hook(db_path, 2)
    hook(db_path, 3)
    told = prompts(db_path)
    assert len(told) == 3
    assert not any(TOKEN in text for text in told)
    assert "[REDACTED:ticket]" in told[0]
    if how in KEEPS_OWN:
        assert all("[REDACTED:ticket]" in text for text in told)
    assert Path(paths.log(db_path)).read_text().count("config") >= 1
    assert TOKEN.encode() not in b"".join(each.read_bytes() for each in own_home.rglob("*") if each.is_file())


COMMANDS = (
    ("status",), ("search", "coupon"), ("episodes",), ("threads",), ("learn", "list", "--all-projects"),
    ("context", "--project", "shop"), ("stance", "--project", "shop"), ("show", "episode/1"), ("settle", "--no-model"),
    ("config",), ("export",), ("undo", "--list"), ("pin", "episode/1"),
)  # fmt: skip


@pytest.mark.parametrize("how", BROKEN)
def test_every_command_works_or_says_in_one_line_what_is_wrong(
    record: Recorded, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not need the file goes on; what does names it. A settling does its work."""
    monkeypatch.setenv(SKIP, "")
    config = Path(paths.config())
    config.parent.mkdir(parents=True)
    config.write_text(BROKEN[how], errors="surrogateescape")
    record.coupon()
    settle(paths.database(), models=False)
    assert record.db.execute("SELECT count(*) FROM session_summaries").fetchone() == (1,)
    for words in COMMANDS:
        result = CliRunner().invoke(nmem, words)
        assert result.exception is None, (words, result.exception)
    result = CliRunner().invoke(nmem, ["backup"])
    assert result.exception is None or (isinstance(result.exception, NmemError) and "\n" not in str(result.exception))
    assert CliRunner().invoke(nmem, ["config", "check"]).exit_code == 1


@pytest.mark.parametrize(("text", "said"), [
    (b"[tui]\ntheme = 'a\xff'\n", "is not UTF-8 (at line 2, byte 17): save it as UTF-8"),
    (b"tui = 5\n", "tui is a table, not a value: its settings are under [tui]"),
])  # fmt: skip
def test_what_is_wrong_is_said_in_words(own_home: Path, text: bytes, said: str) -> None:
    config = Path(paths.config())
    config.parent.mkdir(parents=True)
    config.write_bytes(text)
    done = CliRunner().invoke(nmem, ["config", "check"])
    assert said in " ".join(done.output.split())
    assert "codec" not in done.output
