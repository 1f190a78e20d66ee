"""A pattern that backtracks, or that finds something in anything, is refused when it is set or checked."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmem.commands.config import command
from nmem.settings import trial


@pytest.mark.parametrize(
    "source",
    ["(a+)+$", "(a|aa)+b", "([a-z]+)*!", "KEY-(?:[0-9]+-?)+X", r"(\w+\s?)+:", "(?:x+x+)+y", "(.*)*=", "(ab|a|b)*c",
     "a{1,50}a{1,50}a{1,50}a{1,50}a{1,50}b", r"^(\d+,?)+$", "(?i)(tok_[a-z_]+)+-", ".*.*.*=z"],
)  # fmt: skip
def test_what_backtracks_is_found_in_bounded_time(source: str) -> None:
    begun = time.process_time()
    assert "takes too long" in trial.slow(source)
    assert time.process_time() - begun < 30


GOOD = ["TCK-[0-9]{6}", r"door code (\d+)", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[0-9]{4}",
        r"acme_[A-Za-z0-9]{20,}", r"(?i)internal-(?:key|tok)=(\S+)", r"\bE\d{7}\b", "Zq7Planted.{0,12}Tok42",
        r"[\w.]+@corp\.example", "(?:AB|CD)-[0-9]+-[0-9]+"]  # fmt: skip


@pytest.mark.parametrize("source", GOOD)
def test_what_people_write_is_taken(source: str) -> None:
    assert trial.slow(source) == ""
    assert trial.broad(source) == ""


@pytest.mark.parametrize("source", ["o", ".", "[a-z]+", r"\w{4,}", "[A-Za-z]{5}", " ", "the", r"\S+", "e|i", "[0-9]"])
def test_what_finds_something_in_ordinary_lines_is_too_broad(source: str) -> None:
    assert "is too broad" in trial.broad(source)


@pytest.mark.parametrize(("source", "said"), [("o", "is too broad"), ("(a+)+$", "takes too long")])
def test_set_and_check_refuse_it(own_home: Path, monkeypatch: pytest.MonkeyPatch, source: str, said: str) -> None:
    file = own_home / "config.toml"
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    text = f'[{{name="x", regex="{source}"}}]'
    done = CliRunner().invoke(command, ["set", "redaction.patterns", text])
    assert done.exit_code
    assert said in str(done.exception)
    assert not file.exists()
    file.write_text(f"[redaction]\npatterns = {text}\n")
    done = CliRunner().invoke(command, ["check"])
    assert done.exit_code == 1
    assert said in done.output
