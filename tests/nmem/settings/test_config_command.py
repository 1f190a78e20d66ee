"""`nmem config`: what is wrong is named with the nearest match and its line; what is set keeps the person's file."""

from __future__ import annotations

import json
import shlex
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from capture import paths
from capture.storage import store
from nmem import tables
from nmem.commands.main import nmem
from nmem.doctor.checks.records import config as doctor_says
from nmem.errors import NmemError
from nmem.settings import file

MINE = """# mine
[context]
# not too much
start_tokens = 900   # half
off = [
  "shop",  # too many
]

[threads.clients]
codex = 60
"""


@pytest.fixture
def mine(own_home: Path) -> Path:
    path = Path(paths.config())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MINE)
    return path


def run(*args: str, **more: Any) -> Any:
    return CliRunner().invoke(nmem, ["config", *args], **more)


def ok(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, (result.output, result.exception)
    return str(result.stdout)


def refused(*args: str) -> str:
    result = run(*args)
    assert isinstance(result.exception, NmemError), result.output
    assert "\n" not in str(result.exception)
    return str(result.exception)


def test_a_file_is_made_for_the_owner_alone(own_home: Path) -> None:
    assert ok("get", "context.start_tokens") == "1500\n"
    assert "all defaults" in ok("check")
    assert ok("set", "context.start_tokens", "900") == "context.start_tokens is 900\n"
    made = Path(ok("path").strip())
    assert made.read_text() == "[context]\nstart_tokens = 900\n"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700
    assert ok("get", "context.start_tokens") == "900\n"


def test_set_and_unset_keep_comments_and_order(mine: Path) -> None:
    ok("set", "context.start_tokens", "800")
    ok("set", "threads.clients.gemini", "7.5")
    ok("set", "llm.command", "claude", "-p")
    ok("unset", "threads.clients.codex")
    text = mine.read_text()
    assert text.startswith(MINE.partition("[threads")[0].replace("900   #", "800   #"))
    assert "gemini = 7.5" in text
    assert 'command = ["claude", "-p"]' in text
    assert "codex" not in text
    ok("unset", "threads.clients.gemini")
    assert "threads" not in mine.read_text()
    assert stat.S_IMODE(mine.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("context.start_tokens", "9000"), "context.start_tokens must be a number of tokens from 0 to 2400"),
        (("context.start_tokens", "many"), "context.start_tokens must be a number of tokens from 0 to 2400"),
        (("context.enabled", "maybe"), "context.enabled must be true or false"),
        (("context.holdot", "0.1"), "context.holdot is not known: did you mean holdout?"),
        (("attention", "1"), "attention is not known: it is a table of attention."),
        (("contxt.holdout", "0.1"), "contxt.holdout is not known: did you mean context.holdout?"),
        (("foo.bar", "1"), "foo.bar is not known; `nmem config list` shows all"),
        (("llm.timeout_minutes", "1"), "llm.timeout_minutes is not known: did you mean threads.timeout_minutes?"),
        (("threads.clients.clade", "5"), "threads.clients.clade is not known: did you mean claude?"),
        (("threads.method", "best"), "threads.method must be one of fitted, seed"),
        (
            ("redaction.patterns", '[{name = "t", regex = "("}]'),
            "redaction.patterns[0] is not a regular expression: missing",
        ),
        (("redaction.allow", "[1]"), "redaction.allow[0] needs a regex"),
        (("llm.base_url", "http://u:pw@host/v1"), "llm.base_url must look like"),
        (("a b", "1"), "a b is not a setting"),
        (("context.off", "[x"), "context.off: not a list in TOML"),
        (("tui.theme", "dark", "light"), "tui.theme takes one value"),
    ],
)
def test_what_cannot_be_set_is_one_line_and_changes_nothing(mine: Path, words: tuple[str, ...], said: str) -> None:
    assert said in refused("set", *words)
    assert mine.read_text() == MINE


def test_an_unknown_name_in_an_unknown_table_does_not_list_every_setting(mine: Path) -> None:
    said = refused("set", "foo.bar", "1")
    assert said.rstrip().endswith("; `nmem config list` shows all")
    assert len(said) < 120


BAD = """[contxt]
x = 1
[threads]
methd = "x" # say
method = "no"
list = [
 1,
 2]
[threads.clients]
clade = 3
claude = -1
[[redaction.patterns]]
name = "a"
regex = "("
"""


def test_every_fault_is_named_with_its_line(mine: Path) -> None:
    mine.write_text(BAD)
    result = run("check")
    assert result.exit_code == 1
    assert [line.removeprefix(str(mine)) for line in result.stdout.splitlines()] == [
        ":1: contxt is not known: did you mean context?",
        ":4: threads.methd is not known: did you mean method?",
        ":5: threads.method must be one of fitted, seed",
        ":6: threads.list is not known: did you mean clients?",
        ":10: threads.clients.clade is not known: did you mean claude?",
        ":11: threads.clients.claude must be a number of minutes above 0, at most 10080",
        ":12: redaction.patterns[0] is not a regular expression: missing ), unterminated subpattern at position 0",
    ]
    told = json.loads(run("check", "--json").stdout)
    assert (told["ok"], [one["line"] for one in told["faults"]]) == (False, [1, 4, 5, 6, 10, 11, 12])
    assert [one.severity for one in doctor_says()] == ["wrong"] * 7


def test_a_fault_elsewhere_is_told_and_does_not_stand_in_the_way(mine: Path) -> None:
    mine.write_text(BAD)
    result = run("set", "threads.method", "seed")
    assert result.exit_code == 0
    assert "contxt is not known" in result.stderr
    assert 'method = "seed"' in mine.read_text()
    ok("unset", "contxt.x")
    assert "contxt" not in mine.read_text()


def test_a_file_that_is_no_toml_is_said_and_never_overwritten(mine: Path) -> None:
    mine.write_text("[context\nx = 1\n")
    assert ":1: Expected" in refused("set", "tui.theme", "dark")
    assert ":1: Expected" in run("check").stdout
    assert mine.read_text() == "[context\nx = 1\n"
    result = run("get", "context.start_tokens")
    assert (result.stdout, result.exit_code) == ("1500\n", 0)
    assert "using the default" in result.stderr


def test_the_list_says_whose_a_value_is_and_shows_no_key(mine: Path) -> None:
    ok("set", "llm.key", "sk-planted-key")
    rows = {line.split("\t")[0]: line.split("\t")[1:3] for line in ok("list").splitlines()}
    assert rows["context.start_tokens"] == ["900", "yours"]
    assert rows["context.prompt_tokens"] == ["800", "default"]
    assert rows["threads.clients.codex"] == ["60", "yours"]
    assert rows["llm.key"] == ["(hidden)", "yours"]
    assert ok("get", "llm.key") == "(hidden)\n"
    assert "sk-planted-key" not in ok("list", "--json") + ok() + ok("get", "llm.key", "--json")
    assert {row["name"] for row in json.loads(ok("list", "--yours", "--json"))["settings"]} == {
        "context.start_tokens", "context.off", "threads.clients.codex", "llm.key",
    }  # fmt: skip


def test_edit_checks_what_was_written(mine: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf '[context]\\nenabled = 3\\n' > \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", shlex.quote(str(editor)))
    result = run("edit")
    assert "context.enabled must be true or false" in result.stdout
    assert isinstance(result.exception, NmemError)
    editor.write_text("#!/bin/sh\nprintf '[context]\\nenabled = false\\n' > \"$1\"\n")
    assert "no errors" in ok("edit")
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    assert "cannot be started" in refused("edit")


def test_lines_are_found_in_whatever_form_a_document_is_written() -> None:
    text = 'a.b = 1\n\n[c]\n"d.e" = """\nx = 1\n"""\nf = { g = [1,\n2] }\n[[h]]\ni = 1\n[[h]]\nj = 2\n'
    assert file.lines(text) == {
        ("a",): 1, ("a", "b"): 1, ("c",): 3, ("c", "d.e"): 4, ("c", "f"): 7, ("c", "f", "g"): 7, ("h",): 9,
        ("h", "i"): 10, ("h", "j"): 12,
    }  # fmt: skip


def test_what_somebody_else_wrote_meanwhile_is_not_overwritten(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumps = __import__("tomlkit").dumps

    def meanwhile(document: Any) -> str:
        mine.write_text("[tui]\ntheme = 'light'\n")
        return str(dumps(document))

    monkeypatch.setattr("tomlkit.dumps", meanwhile)
    with pytest.raises(NmemError, match="changed in the meantime"):
        file.put(("tui", "theme"), "dark")
    assert mine.read_text() == "[tui]\ntheme = 'light'\n"


WHAT_READERS_REFUSE = (
    ("dispatch.quiet_hours", ["99-100"], "09:00-18:00"),
    ("dispatch.commands.claude", [""], "none of them empty"),
    ("dispatch.interactive_commands.codex", ["codex", ""], "none of them empty"),
    ("dispatch.tmux_session", ["a:b"], "without : . and /"),
    ("retention.days.file_read", ["3"], "at least 7 days"),
    ("retention.projects.shop.al", ["0"], "did you mean all?"),
    ("retention.projects.shop.file_raed", ["30"], "did you mean file_read?"),
    ("retention.projects.shop.all", ["2"], "at least 7 days"),
    ("backup.recipients", ["age1bogus"], "not a public key"),
)


@pytest.mark.parametrize(("name", "words", "said"), WHAT_READERS_REFUSE, ids=lambda each: str(each)[:30])
def test_what_a_command_would_refuse_is_refused_when_it_is_set(
    mine: Path, name: str, words: list[str], said: str
) -> None:
    assert said in refused("set", name, *words)
    assert mine.read_text() == MINE
    table, _, key = name.rpartition(".")
    value = words[0] if words[0].isdigit() else f'"{words[0]}"' if name.endswith(("hours", "session")) else words
    mine.write_text(f"[{table}]\n{key} = {value}\n".replace("'", '"'))
    checked = run("check")
    assert checked.exit_code == 1
    assert name in checked.output
    assert said in checked.output


def test_what_commands_take_is_taken(mine: Path) -> None:
    ok("set", "dispatch.quiet_hours", "22:00-07:00")
    ok("set", "dispatch.commands.claude", "claude", "-p")
    ok("set", "retention.days.file_read", "0")
    ok("set", "retention.projects.shop.all", "30.5")
    ok("set", "retention.projects.shop.command", "7")
    assert "no errors" in ok("check")


def test_undo_takes_back_what_was_set_and_unset(mine: Path, db_path: str) -> None:
    with closing(store.connect(db_path)) as db:
        tables.ensure(db)

    def undone() -> str:
        return str(CliRunner().invoke(nmem, ["undo"]).stdout)

    ok("set", "context.start_tokens", "1200")
    ok("unset", "context.off")
    ok("set", "context.ask", "false")
    assert undone() == "undone: config.toml: context.ask = false\n"
    assert undone() == "undone: config.toml: context.off is unset\n"
    assert json.loads(ok("get", "context.off", "--json"))["value"] == ["shop"]
    assert undone() == "undone: config.toml: context.start_tokens = 1200\n"
    assert (ok("get", "context.start_tokens"), ok("get", "context.ask")) == ("900\n", "true\n")
    assert "# not too much" in mine.read_text()

    ok("set", "context.start_tokens", "1200")
    mine.write_text(mine.read_text().replace("1200", "700"))
    assert "changed later" in undone()
    assert ok("get", "context.start_tokens") == "700\n"


def test_a_key_is_kept_in_the_file_alone(mine: Path, db_path: str) -> None:
    with closing(store.connect(db_path)) as db:
        tables.ensure(db)
    assert "`nmem undo` does not take this back" in run("set", "llm.key", "swordfish").stderr
    assert "undo" not in run("set", "context.start_tokens", "1200").stderr
    ok("set", "redaction.allow", "swordfish")
    ok("set", "llm.model", "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36])
    with closing(store.connect(db_path)) as db:
        assert db.execute("SELECT count(*) FROM corrections").fetchone()[0] == 1  # of the tokens


def test_where_nothing_is_recorded_a_setting_is_not_called_a_secret(mine: Path) -> None:
    assert run("set", "context.start_tokens", "1200").stderr == ""
