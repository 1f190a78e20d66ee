"""One line at the start of a session says that the memory can be asked, how and when; and nothing is judged by it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from capture import paths
from capture.clients import CLIENTS, client
from nmem import database
from nmem.context import ask, config
from nmem.context.items import tokens
from nmem.context.past import effect, past
from nmem.context.preview import Asked, of
from nmem.mcp import registration
from tests.nmem.context.conftest import HOUR, Played


@pytest.fixture(autouse=True)
def on(monkeypatch: pytest.MonkeyPatch, patience: None) -> None:
    monkeypatch.setitem(config.DEFAULTS, "ask", 1.0)


def worked(played: Played, session: str = "a") -> None:
    played.begin(session)
    played.ask("how should the voucher behave when the cart is empty?")
    played.say("It stays valid.")
    played.end()
    played.settle()


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_a_session_that_starts_is_told_once_that_it_can_ask(db_path: str, client: str) -> None:
    played = Played(db_path, client)
    assert played.begin("a") == ""  # a project without a past
    played.ask("how should the voucher behave?")
    assert played.begin("a", "resume") == ""  # nor is there one once it goes on
    told = played.begin("b")
    assert "can be searched" in told
    assert "something fails" in told
    assert "search" in told
    assert tokens(told) <= ask.MOST
    assert told.count("\n") == 2
    assert "can be searched" not in played.ask("and the cart?")
    assert bool(played.begin("b", "resume")) == (client == "gemini")  # others have it in their conversation
    assert "can be searched" in played.begin("c", "clear")
    if client == "claude":
        assert "can be searched" in played.begin("b", "compact")
        assert played.begin("d", "fork") == ""


def test_every_client_that_listens_takes_it_at_its_start() -> None:
    for name in CLIENTS:
        heard = client(name).listens
        assert not heard or any("start" in event.lower() or event == "session.created" for event in heard), name


def test_it_stands_beside_what_else_is_told(played: Played) -> None:
    played.fix()
    with closing(played.database()) as db:
        db.execute("UPDATE work_units SET pinned = 1")
    told = played.begin("b")
    assert "Pinned" in told
    assert told.splitlines()[-2].startswith("Recorded by nmem: earlier sessions here can be searched")


@pytest.mark.parametrize("said", ["ask = false", "enabled = false", "off = ['shop']"])
def test_it_can_be_switched_off(played: Played, own_home: Path, said: str) -> None:
    worked(played)
    file = own_home / ".config" / "nmem" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"[context]\n{said}\n")
    assert played.begin("b") == ""


def test_the_way_that_works_is_named(played: Played, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = own_home / "bin"
    programs.mkdir()
    (programs / "nmem").touch(mode=0o700)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("NMEM_DB", played.path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(own_home))
    worked(played)
    assert "`nmem search WORDS` finds what was said and decided, `nmem show ID` reads it." in played.begin("b")
    (own_home / ".claude.json").write_text('{"mcpServers": {"nmem": {"command": "nmem", "args": ["mcp"]}}}')
    registration.keep(played.path, [])
    told = played.begin("c")
    assert "mcp__nmem__search finds what earlier sessions said and decided." in told
    assert "When the user turns to another task: mcp__nmem__episode." in told
    assert tokens(told) <= ask.MOST
    assert "`nmem search WORDS`" in ask.line("codex")
    (own_home / ".claude.json").unlink()
    registration.keep(played.path, [])
    assert "`nmem search WORDS`" in played.begin("d")


def test_a_server_of_one_project_counts_in_that_project(own_home: Path, db_path: str) -> None:
    here = own_home / "shop"
    here.mkdir()
    (here / ".mcp.json").write_text('{"mcpServers": {"nmem": {"command": "nmem", "args": ["mcp"]}}}')
    registration.keep(db_path, [str(here)])
    assert paths.database()
    assert registration.known(db_path) == {"claude": [str(here)]}


def test_where_no_such_program_is_found_its_place_is_named(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    worked(played)
    told = played.begin("b")
    assert "nmem search WORDS`" in told
    assert tokens(told) <= ask.MOST + 20  # however long its place is


def test_its_cost_is_shown_and_its_use_is_not_judged(played: Played) -> None:
    worked(played)
    told = played.begin("b")
    played.ask("the cart")
    played.edit("shop/cart.py")
    played.end()
    played.settle()
    with closing(database.reader(played.path)) as db:
        found = past(db, 1)
        assert (found.tellings, found.items, found.used, found.unused) == (1, 0, 0, 0)
        assert found.found[0].tokens == tokens(told)
        assert effect(db, 1).told.sessions == effect(db, 1).told_before == 0
        db.row_factory = None
        shown = of(db, Asked(now=played.at + HOUR, like="a"), 1500)
    assert shown.text == told
    assert [(one.id, one.tokens > 20) for one in shown.items] == [(ask.ID, True)]
    assert shown.why_silent  # nothing else


def test_a_start_that_is_late_still_tells_it(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    worked(played)
    monkeypatch.setitem(config.DEFAULTS, "deadline_ms", 0.0)
    assert "can be searched" in played.begin("b")
