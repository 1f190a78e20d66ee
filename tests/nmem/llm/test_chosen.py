"""Which way stories are told: said, chosen, switched off, and offered at `nmem init`."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from capture.storage import store
from nmem import tables
from nmem.audit import labels
from nmem.commands.init import command as init
from nmem.commands.model import command as model
from nmem.commands.undo import command as undo
from nmem.errors import NmemError
from nmem.llm import chosen
from nmem.llm.book import Book


@pytest.fixture
def haiku(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which claude alone is installed."""
    program = own_home / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.delenv("NMEM_CONFIG", raising=False)


def _standing(db_path: str) -> chosen.Standing:
    with closing(store.connect(db_path)) as db:
        tables.ensure(db)
        return chosen.standing(db)


def test_without_a_model_it_says_so_and_names_the_client(db_path: str, haiku: None) -> None:
    assert _standing(db_path).sentence() == "without a model"
    with closing(store.connect(db_path)) as db:
        (told,) = labels.model_findings(db)
    assert "without a model" in told.evidence and "`nmem model` offers" in told.evidence
    assert "nmem model use claude" in CliRunner().invoke(model, []).output


def test_a_chosen_client_is_named_with_what_a_session_costs(db_path: str, haiku: None) -> None:
    done = CliRunner().invoke(model, ["use", "claude"])
    assert done.exit_code == 0 and "claude -p haiku" in done.output
    assert _standing(db_path).sentence() == "claude -p haiku, about 3,400 tokens a session, 0 of 200,000 tokens today"
    for _ in range(5):
        Book(db_path).record(purpose="session_judgement", label="claude haiku", tokens=2_000, outcome="ok")
    Book(db_path).record(purpose="thread_linking", label="claude haiku", tokens=500, outcome="ok")
    assert _standing(db_path).sentence() == "claude -p haiku, 2,000 tokens a session, 10,500 of 200,000 tokens today"


def test_one_command_turns_it_off_and_on_again(db_path: str, haiku: None) -> None:
    chosen.use(None, 0, one=chosen.offer("claude"))
    assert CliRunner().invoke(model, ["off"]).exit_code == 0
    assert not _standing(db_path).used and _standing(db_path).sentence() == "without a model"
    assert CliRunner().invoke(model, ["on"]).exit_code == 0
    assert _standing(db_path).used


def test_what_the_command_chose_is_undone_as_what_the_cockpit_chose_is(db_path: str, haiku: None) -> None:
    from nmem.settings import file

    _standing(db_path)  # there is a database: what is changed can be undone
    assert CliRunner().invoke(model, ["use", "claude"]).exit_code == 0
    assert CliRunner().invoke(model, ["off"]).exit_code == 0
    assert not _standing(db_path).used
    undone = CliRunner().invoke(undo, [])
    assert "llm.enabled = false" in undone.output and _standing(db_path).used
    assert CliRunner().invoke(undo, []).exit_code == 0
    assert not file.read().document  # command, model and enabled were one change


def test_a_model_is_switched_off_also_where_nothing_can_be_kept_for_undo(db_path: str, haiku: None) -> None:
    off = CliRunner().invoke(model, ["off"])
    assert off.exit_code == 0 and "note:" not in off.stderr and not Path(db_path).exists()
    Path(db_path).parent.mkdir(exist_ok=True)
    Path(db_path).write_text("no database at all", "utf-8")
    on = CliRunner().invoke(model, ["on"])
    assert on.exit_code == 0 and "note: `nmem undo` cannot undo this" in on.stderr


def test_a_client_that_is_not_there_cannot_be_chosen(haiku: None) -> None:
    with pytest.raises(NmemError, match="gemini cannot be asked"):
        chosen.offer("gemini")


def test_a_cap_that_a_busy_day_exceeds_is_told(db_path: str, haiku: None) -> None:
    from nmem.settings import file

    chosen.use(None, 0, one=chosen.offer("claude"))
    file.put(("llm", "daily_token_cap"), 20_000)
    with closing(store.connect(db_path)) as db:
        tables.ensure(db)
        (told,) = labels.model_findings(db)
    assert "covers 5 sessions" in told.evidence


def test_init_offers_the_client_with_its_price_and_takes_no_for_an_answer(
    own_home: Path, db_path: str, haiku: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own_home)
    (own_home / ".claude").mkdir()
    refused = CliRunner().invoke(init, ["--no-mcp"], input="y\n\n")
    assert "Ask claude for stories?" in refused.output and "about 3,400 tokens a session" in refused.output
    assert not _standing(db_path).used
    (own_home / ".claude" / "settings.json").unlink()
    CliRunner().invoke(init, ["--no-mcp"], input="y\ny\n")
    assert _standing(db_path).backend == "claude -p haiku"
    again = CliRunner().invoke(model, ["--json"])
    assert json.loads(again.output)["used"] is True


def test_the_finding_of_a_model_at_work_names_the_command_that_ends_it(db_path: str, haiku: None) -> None:
    chosen.use(None, 0, one=chosen.offer("claude"))
    with closing(store.connect(db_path)) as db:
        tables.ensure(db)
        (told,) = labels.model_findings(db)
    assert (told.severity, told.mend) == ("ok", "nmem model off")
