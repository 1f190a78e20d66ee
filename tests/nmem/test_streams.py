"""Output that is closed, full or no longer read: silence or one line from every command, never a traceback."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from nmem.commands.main import COMMANDS
from tests.nmem import command_line
from tests.nmem.conftest import Recorded

NMEM = f"{shlex.quote(sys.executable)} -m nmem"
READING = (
    "status",
    "episodes",
    "threads",
    "learn --all-projects",
    "stance --project shop",
    "relabel --recent",
    "undo --list",
    "--help",
)
HAS_FULL = Path("/dev/full").exists()


def shell(command: str) -> tuple[int, str]:
    done = subprocess.run(["/bin/sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False, timeout=300)
    assert "Traceback" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
    return done.returncode, done.stderr


@pytest.fixture
def recorded(record: Recorded) -> Recorded:
    record.coupon()
    return record


@pytest.mark.skipif(os.name == "nt", reason="a shell's redirections")
@pytest.mark.parametrize("command", ["status", "learn --all-projects", "--help"])
def test_into_a_closed_output_it_is_silent(recorded: Recorded, command: str) -> None:
    code, said = shell(f"{NMEM} {command} >&-")
    assert (code, said) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="a shell's redirections")
@pytest.mark.parametrize("command", ["sessions", "stream", "export"])
def test_a_reader_who_has_enough_is_no_failure(recorded: Recorded, command: str) -> None:
    code, said = shell(f"{{ {NMEM} {command}; echo $? >&2; }} | :")
    assert (code, said) == (0, "0\n")


@pytest.mark.skipif(not HAS_FULL, reason="no full device here")
@pytest.mark.parametrize("command", [each for each in READING if each != "threads"])  # which has nothing to say
def test_onto_a_full_disk_it_is_one_line(recorded: Recorded, command: str) -> None:
    code, said = shell(f"{NMEM} {command} >/dev/full")
    assert code == 1
    assert said.count("\n") == 1
    assert "No space left on device" in said


@pytest.mark.skipif(os.name == "nt", reason="a shell's redirections")
def test_all_three_closed_leave_the_database_alone(recorded: Recorded, db_path: str) -> None:
    before = Path(db_path).read_bytes()[:100]
    code, _ = shell(f"{NMEM} status <&- >&- 2>&-")
    assert code == 0
    assert Path(db_path).read_bytes()[:100] == before


@pytest.mark.skipif(not HAS_FULL, reason="no full device here")
def test_an_error_that_cannot_be_told_still_has_its_code(recorded: Recorded) -> None:
    assert shell(f"{NMEM} stance nobody 2>/dev/full")[0] == 1
    assert shell(f"{NMEM} stance --limit x 2>&-")[0] == 2


@pytest.mark.parametrize("command", ["stance --project shop", "episodes"])
def test_what_an_output_cannot_spell_becomes_a_question_mark(recorded: Recorded, command: str) -> None:
    code, said = shell(f"PYTHONIOENCODING=ascii {NMEM} {command} >/dev/null")
    assert (code, said) == (0, "")


@pytest.mark.parametrize(
    "words",
    ["stance s --limit {}", "relabel --recent --limit {}", "relabel --list --limit {}", "undo --list --limit {}",
     "episodes --limit {}", "threads --limit {}", "learn --limit {}", "status --limit {}", "relabel {}",
     "backfill --limit {}", "stance --episode {}", "threads show {}"],
)  # fmt: skip
def test_a_number_of_twenty_digits_is_one_line(recorded: Recorded, words: str) -> None:
    done = command_line.run(*words.format("9" * 20).split())
    assert done.returncode in (1, 2)
    assert done.stderr.count("\n") == 1


def test_every_command_is_known() -> None:
    assert {word.partition(" ")[0] for word in READING} - {"--help"} <= set(COMMANDS)


@pytest.mark.parametrize(
    ("words", "way"),
    [
        ("serch x", "No such command 'serch'. Did you mean 'search'?"),
        ("episodes splti 2", "Did you mean 'split'?"),
        ("qqqzzz", "No such command 'qqqzzz': see `nmem --help`"),
        ("--bogus", "see `nmem --help`"),
        ("search --bogus", "see `nmem search --help`"),
        ("episodes rename 24", "see `nmem episodes rename --help`"),
    ],
)
def test_a_mistyped_word_is_answered_with_a_way_out(words: str, way: str) -> None:
    done = command_line.run(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert way in done.stderr and done.stderr.count("\n") == 1
