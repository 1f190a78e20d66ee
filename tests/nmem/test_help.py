"""Each command's help says what it is for and ends with examples that the command line takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from nmem.commands import examples
from nmem.commands.main import nmem
from tests.nmem.command_line import parse

WIDTH = 80


def every(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words that lead to each command and each group."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if (own := command.get_command(context, name)) and not own.hidden:
                yield from every(own, (*path, name))


PATHS = sorted(every(nmem))
LINES = [line for block in examples.blocks() for line in block]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the files that examples name."""
    monkeypatch.chdir(tmp_path)
    for line in LINES:
        for word in line.split():
            if word.endswith((".jsonl", ".md", ".db")) and "://" not in word and word[0] not in ".~":
                (tmp_path / word).parent.mkdir(exist_ok=True)
                (tmp_path / word).touch()
    (tmp_path / "decisions").mkdir()


def test_there_are_as_many_as_there_should_be() -> None:
    assert len(PATHS) > 130 and len(LINES) > 180


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_says_what_a_command_is_for_and_shows_it(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(nmem, [*path, "--help"], prog_name="nmem", terminal_width=WIDTH)
    assert done.exit_code == 0, done.output
    usage, _, rest = done.stdout.partition("\n\n")
    assert usage.startswith(" ".join(["Usage: nmem", *path]))
    assert rest.startswith("  ") and len(rest.split("\n\n")[0].split()) > 3, "nothing says what it is for"
    before, heading, block = rest.partition(f"\n\n  {examples.HEADING}\n")
    assert heading, f"no examples: add a line to {examples.FILE.name}"
    assert "Options:" in before, "examples come last"
    shown = block.rstrip("\n").split("\n")
    assert all(line.startswith("    ") and "nmem" in line for line in shown)
    assert f"nmem {' '.join(path)}".strip() in block
    assert max(map(len, shown)) <= WIDTH


@pytest.mark.parametrize("line", LINES)
def test_an_example_is_taken_by_the_command_line(line: str, files: None) -> None:
    parse(line)


@pytest.mark.parametrize("line", [line for line in LINES if not line.startswith("  ")])
def test_no_example_stands_for_nothing(line: str) -> None:
    """Each is in the help of some command: a renamed command takes its examples along."""
    found = examples.run_by(line)
    assert found and any(tuple(found[: len(path)]) == path for path in PATHS if path)


def test_help_without_a_word_has_examples_as_well() -> None:
    done = CliRunner().invoke(nmem, ["train"], prog_name="nmem")
    assert "nmem train labels --dry-run" in done.output


def test_without_help_no_examples_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "FILE", Path("absent"))
    assert CliRunner().invoke(nmem, ["config", "path"]).exit_code == 0
