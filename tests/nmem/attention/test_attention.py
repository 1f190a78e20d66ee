"""Calling a person: what is written and run, for what, once for each thing, and not in quiet hours."""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from pathlib import Path
from time import time_ns
from typing import Any

import pytest
from click.testing import CliRunner

from capture import paths, statusline
from capture.event import STOPPED
from nmem import database
from nmem.attention import config, ring, signals, waiting
from nmem.commands.main import nmem
from nmem.settings.declared import ATTENTION
from tests.nmem.attention.conftest import NOW

XTERM = {"TERM": "xterm-256color"}


def test_each_way_has_its_own_bytes() -> None:
    assert signals.sequence(["bell"], "nmem", "x", XTERM) == "\a"
    assert signals.sequence(["osc9"], "nmem", "shop waits", XTERM) == "\x1b]9;nmem: shop waits\a"
    assert signals.sequence(["osc777"], "nmem", "a;b", XTERM) == "\x1b]777;notify;nmem;a,b\a"
    assert signals.sequence(["desktop"], "nmem", "x", XTERM) == ""
    assert signals.titled("nmem: 2 waiting") == "\x1b]2;nmem: 2 waiting\a"


def test_tmux_hands_notices_on_and_a_plain_console_is_only_rung() -> None:
    within = signals.sequence(["bell", "osc9"], "nmem", "x", XTERM | {"TMUX": "/tmp/t,1,0"})
    assert within == "\a\x1bPtmux;\x1b\x1b]9;nmem: x\a\x1b\\"
    assert signals.sequence(["bell", "osc9", "osc777"], "nmem", "x", {"TERM": "linux"}) == "\a"


@pytest.mark.parametrize("way", ["osc9", "osc777"])
def test_no_text_ends_a_sequence_or_is_long(way: str) -> None:
    told = signals.sequence([way], "nmem", "a\x1b]52;c;eA==\a\nb\x9c" + "x" * 500, XTERM)
    assert told.count("\x1b") == 1
    assert told.count("\a") == 1
    assert "\x9c" not in told
    assert "\n" not in told
    assert len(told) < 200


def _tool(folder: Path, name: str) -> dict[str, str]:
    """A program that notes its arguments."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(
        f'#!{sys.executable}\nimport json, sys\nopen({str(folder / "told")!r}, "w").write(json.dumps(sys.argv[1:]))\n'
    )
    file.chmod(0o755)
    return {"PATH": str(folder), **XTERM}


def test_the_desktop_is_told_by_a_list_of_arguments(tmp_path: Path) -> None:
    environ = _tool(tmp_path / "bin", "notify-send")
    assert signals.desktop("nmem", '-u $(date) <b>"shop"', environ, "linux")
    told = json.loads((tmp_path / "bin/told").read_text())
    assert told == ["--app-name=nmem", "--", "nmem", '-u $(date) &lt;b&gt;"shop"']
    assert not signals.desktop("nmem", "x", {"PATH": str(tmp_path)}, "linux")


def test_on_a_mac_the_text_is_an_argument_of_the_script(tmp_path: Path) -> None:
    environ = _tool(tmp_path / "bin", "osascript")
    assert signals.desktop("nmem", 'shop" & (do shell script "x")', environ, "darwin")
    told = json.loads((tmp_path / "bin/told").read_text())
    assert told[-3:] == ["--", 'shop" & (do shell script "x")', "nmem"]
    assert all("shop" not in word for word in told[:-2])


def test_what_waits_is_told_by_its_state(sessions: Any) -> None:
    sessions.add("done")
    sessions.add("asks", "waiting", ago=2_000)
    sessions.add("broke", "failed", ago=3_000)
    sessions.add("works", "working")
    sessions.add("over", "ended")
    sessions.add("old", ago=statusline.LATELY + 1)
    sessions.add("not asked", asked="")
    sessions.add("stopped by the person")
    sessions.ask("stopped by the person", STOPPED, "machine", NOW - 40_000)
    assert [one.text for one in waiting.all_of(sessions.db, NOW)] == [
        "shop (claude) is done and waits for you",
        "shop (claude) asks for your answer",
        "shop (claude) failed: its turn broke off",
    ]


def test_one_thing_calls_once_and_the_next_one_again(sessions: Any) -> None:
    def rings(name: str) -> bool:
        found = waiting.of(sessions.db, name, NOW)
        assert found
        return waiting.claim(sessions.path, found)

    sessions.add("a")
    assert [rings("a"), rings("a")] == [True, False]
    sessions.add("a", seq=9, ago=0, asked="")
    assert not rings("a"), "the same turn's end, told later by the transcript"
    sessions.ask("a", "and now the tests", at=NOW)
    assert rings("a")
    sessions.add("a", "waiting", seq=9, asked="")
    assert [rings("a"), rings("a")] == [True, False]
    sessions.add("a", "waiting", seq=10, asked="")
    assert rings("a"), "another question"


def test_nobody_is_called_in_quiet_hours(sessions: Any, calls: Any, terminal: Any) -> None:
    sessions.add("a")
    calls('how = "bell"\nquiet = "22:00-12:30"')
    assert ring.ring(sessions.path, "a", os.getpid(), NOW, XTERM) == ()
    own = config.load()
    assert [own.silent(NOW + hour * 3_600_000) for hour in (0, 1, 9, 10, 11)] == [True, False, False, True, True]
    assert waiting.of(sessions.db, "a", NOW)


def test_a_call_goes_to_the_terminal_once(
    sessions: Any, calls: Any, terminal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.add("a")
    calls('how = ["bell", "osc9"]')
    monkeypatch.setattr(signals, "terminal_of", lambda _pid: terminal.path)
    assert ring.ring(sessions.path, "a", 1, NOW, XTERM) == ("bell", "osc9")
    assert ring.ring(sessions.path, "a", 1, NOW, XTERM) == ()
    assert terminal.read() == b"\a\x1b]9;nmem: shop (claude) is done and waits for you\a"


def test_a_hook_without_a_way_that_works_leaves_the_call_to_others(
    sessions: Any, calls: Any, terminal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.add("a")
    calls('how = ["bell", "desktop"]')
    monkeypatch.setattr(signals, "terminal_of", lambda _pid: "")
    assert ring.ring(sessions.path, "a", 1, NOW, XTERM | {"PATH": ""}) == ()
    monkeypatch.setattr(signals, "terminal_of", lambda _pid: terminal.path)
    assert ring.ring(sessions.path, "a", 1, NOW, XTERM | {"PATH": ""}) == ("bell",)


def _payload(event: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return event, {"session_id": "s", "cwd": "/", "hook_event_name": event, **more}


ASKED = _payload("UserPromptSubmit", prompt="fix the cart")
DONE = _payload("Stop", stop_hook_active=False, last_assistant_message="It is fixed.")
ASKS = _payload("Notification", notification_type="permission_prompt", message="Claude needs your permission")
IDLE = _payload("Notification", notification_type="idle_prompt", message="Claude is waiting for your input")
BROKE = _payload("StopFailure", error="api_error", last_assistant_message="API Error: 529")


def test_hooks_call_on_the_clients_terminal_once_for_one_thing(calls: Any, terminal: Any) -> None:
    calls('how = ["bell", "osc777"]')
    told = terminal.client(ASKED, DONE, DONE, IDLE, stays=ring.PAUSE_S + 1.5)
    assert told.count(b"\x1b]777;notify;nmem;") == 1
    assert b"(claude) is done and waits for you\a" in told
    assert told.count(b"\a") == 2
    told = terminal.client(ASKS, stays=ring.PAUSE_S + 1.5)
    assert b"(claude) asks for your answer\a" in told


@pytest.mark.parametrize("how", ["", 'how = "off"'])
def test_where_it_is_off_hooks_call_nobody(calls: Any, terminal: Any, how: str) -> None:
    if how:
        calls(how)
    assert terminal.client(ASKED, BROKE, stays=0.2) == b""


def test_what_goes_on_at_once_calls_nobody(calls: Any, terminal: Any) -> None:
    calls('how = "bell"')
    assert terminal.client(ASKED, DONE, _payload("SessionEnd", reason="other"), stays=ring.PAUSE_S + 1) == b""


def test_a_turn_that_broke_off_is_told_as_failed(terminal: Any, db_path: str, calls: Any) -> None:
    terminal.client(ASKED, BROKE, stays=0)
    with closing(database.reader(db_path)) as db:
        (one,) = waiting.all_of(db, time_ns() // 1_000_000)
    assert one.state == "failed"


def test_trying_it_rings_once(terminal: Any) -> None:
    words = [sys.executable, "-m", "nmem", "attention", "test", "--how", "bell", "--how", "osc9"]
    done = terminal.run(words)
    while done.poll() is None:
        terminal.read(0.05)
    told = terminal.read()
    assert done.returncode == 0, told
    assert told.startswith(b"\a\x1b]9;nmem: a session would call you so\a")
    assert told.count(b"\a") == 2
    assert b"bell: sent" in told


def test_the_list_as_json_says_who_waits_and_how_it_calls(
    sessions: Any, calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmem.commands.terminal.now", lambda: NOW)
    sessions.add("a", "waiting")
    calls('how = "bell"\nquiet = "22:00-07:00"')
    told = json.loads(CliRunner().invoke(nmem, ["attention", "--json"]).output)
    assert (told["how"], told["quiet"], told["silent"]) == (["bell"], "22:00-07:00", False)
    assert [one["state"] for one in told["waiting"]] == ["waiting"]


@pytest.mark.parametrize(
    ("text", "how", "problem"),
    [
        ('how = "off"', (), ""), ('how = ["bell", "off", "bell"]', ("bell",), ""),
        ('how = "ring"', (), "must be one of"),
        ("how = 3", (), "must be one of"), ('how = "bell"\nquiet = "late"', (), "invalid quiet hours"),
        ('how = "bell"\nloud = 1', ("bell",), "attention.loud is not known"),
    ],
)  # fmt: skip
def test_what_cannot_be_understood_calls_nobody(calls: Any, text: str, how: tuple[str, ...], problem: str) -> None:
    calls(text)
    own = config.load()
    assert own.how == how
    assert problem in " ".join(own.problems)


def test_the_setting_takes_one_way_or_several() -> None:
    assert ATTENTION[0].choices == (config.OFF, *config.WAYS)
    run = CliRunner().invoke
    assert run(nmem, ["config", "set", "attention.how", "bell", "desktop"]).exit_code == 0
    assert config.load().how == ("bell", "desktop")
    refused = run(nmem, ["config", "set", "attention.how", "gong"])
    assert refused.exit_code != 0
    assert "must be one of off, bell, osc9, osc777, desktop, or a list of them" in str(refused.exception)


def test_nmems_own_status_line_counts_the_others_that_wait(sessions: Any, calls: Any) -> None:
    sessions.add("mine")
    sessions.add("asks", "waiting")
    sessions.add("works", "working")
    sessions.db.execute("UPDATE sessions SET last_at = ?", (time_ns() // 1_000_000,))
    assert statusline.others("mine", sessions.path) == "", "where nobody wants to be called"
    calls('how = "bell"')
    config.load()
    assert statusline.others("mine", sessions.path) == "1 other session waiting"
    settings = Path(paths.config())
    kept = settings.rename(settings.with_name("kept"))
    assert statusline.others("mine", sessions.path) == "", "settings that are gone call nobody"
    kept.rename(settings)
    assert statusline.others("mine", sessions.path) == "1 other session waiting"
    sessions.db.execute("UPDATE sessions SET last_at = 5")
    assert statusline.others("mine", sessions.path) == ""
