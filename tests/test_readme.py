"""Every command that the readme shows does what it says."""

from __future__ import annotations

import os
import pty
import re
import select
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmem.commands.main import nmem
from tests.nmem.command_line import parse

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
VERBS = sorted({verb for block in BLOCKS for verb in re.findall(r"nmem ([a-z]+)", block)} | set(
    re.findall(r"`nmem ([a-z]+)", README)))  # fmt: skip


def test_every_verb_exists() -> None:
    assert len(VERBS) > 30
    for verb in VERBS:
        done = CliRunner().invoke(nmem, [verb, "--help"], prog_name="nmem")
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith(f"Usage: nmem {verb} "), verb


def test_every_line_is_taken_by_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its options and arguments: parsed as it would be, up to what would run it."""
    monkeypatch.chdir(tmp_path)
    commands = [line.partition(" #")[0] for block in BLOCKS for line in block.splitlines() if "nmem " in line]
    assert len(commands) > 30
    for each in commands:
        parse(each)


def test_the_module_answers_as_the_command_does() -> None:
    words = [sys.executable, "-m", "nmem", VERBS[0], "--help"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: ") and f"nmem {VERBS[0]} " in done.stdout


def test_links_and_pictures_exist() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_the_test_command_is_what_runs_on_a_fresh_machine() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert "<!-- test -->" in script
    assert "pytest" in README.partition("<!-- test -->")[2].partition("<!-- /test -->")[0]


def frame(words: list[str], size: tuple[int, int], markers: tuple[bytes, ...], seconds: float) -> bytes:
    """What a program has drawn on a terminal when all markers have appeared, or when time is up."""
    import fcntl
    import termios

    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", PYTHONWARNINGS="ignore")
        os.execv(words[0], words)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    seen, until = b"", time.monotonic() + seconds
    try:
        while not all(each in seen.upper() for each in markers) and time.monotonic() < until:
            if select.select([terminal], [], [], 0.2)[0]:
                seen += os.read(terminal, 65536)
    except OSError:
        pass
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)
    return seen


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_newcomer_sees_the_demo() -> None:
    seen = frame([sys.executable, "-m", "nmem", "tui", "--or-demo"], (160, 45), (b"TIDEWATCH", b"DEMO"), 300)
    assert b"tidewatch" in seen
    assert b"DEMO" in seen.upper()
