"""The cockpit beside the real Claude Code in one tmux window: all is seen at once, neither harms the other by dying."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

import pytest

from nmem.episodes.unit import shown
from nmem_tui.model.stream import WORDS
from tests.clients.test_real_clients import (
    as_called,
    expected,
    played,
    socket_of,
    tmux,
    together,
    tool_rows,
    user_prompts,
)

if TYPE_CHECKING:
    from tests.clients.conftest import Stage

pytestmark = [pytest.mark.client, pytest.mark.slow]
SOON_S = 1.0
"""From a row's commit until it is on the screen, as a rule; a look at either takes some hundredths of a second."""
LOOK_S = 0.04
Fact = tuple[str, str, str]
"""What kind, its key, and what of it stands on the screen (a pattern)."""

NEWEST = "session_id = (SELECT id FROM sessions ORDER BY started_at DESC LIMIT 1)"
PROMPTS = f"SELECT id, content FROM prompts WHERE source = 'user' AND {NEWEST} ORDER BY at, id"
CALLS = f"""SELECT id, obs_type, outcome, coalesce(file_path, content) FROM observations
            WHERE obs_type NOT LIKE 'session_%' AND {NEWEST} ORDER BY at, seq"""
EPISODES = f"""SELECT id, coalesce(title, agent_title), heading, intent FROM work_units
               WHERE {NEWEST} ORDER BY started_at DESC LIMIT 1"""


def facts(db: sqlite3.Connection) -> list[Fact]:
    """All that is recorded of the newest session, and how each shows; of calls that look alike, one more row each."""
    found: list[Fact] = []
    for key, text in db.execute(PROMPTS):
        found.append(("prompt", str(key), rf"\d\d:\d\d:\d\d you +{re.escape(text[:30])}"))
    alike: Counter[str] = Counter()
    for key, kind, outcome, text in db.execute(CALLS):
        ending = {"failed": "✗", "ok": "✓"}.get(outcome, "")
        row = rf"\d\d:\d\d:\d\d {WORDS[kind][0]} +{re.escape(text[:25])}[^\n]*{ending}"
        alike[row] += 1
        found.append((f"call {outcome}", f"{key}", rf"(?s)(?:{row}.*){{{alike[row]}}}"))
    for key, given, heading, intent in db.execute(EPISODES):
        called = re.escape(shown(given, heading, intent)[:30])
        found.append(("episode", str(key), rf"Work unit[^\n]*\n[^\n]{{0,3}}{called}"))
    return found


class Beside:
    """A client in the one pane, the cockpit in the other; `took` are seconds from commit to screen, by fact."""

    def __init__(self, stage: Stage, player: subprocess.Popen[str]) -> None:
        self.stage, self.server = stage, socket_of(player)
        self.database = str(stage.folder / "nmem.db")
        tmux(self.server, "resize-window", "-t", "c", "-x", "200", "-y", "100")
        self.client = tmux(self.server, "list-panes", "-t", "c", "-F", "#{pane_id}").split()[0]
        self.seen: dict[tuple[str, str], float] = {}
        self.took: dict[tuple[str, str], float] = {}
        self.passed: set[tuple[str, str]] = set()
        """What may have been on the screen and left it while the machine let nobody look."""
        self.looked = time.monotonic()
        self.pane = ""

    def open(self) -> None:
        """The cockpit in a pane of its own; the keyboard stays with the client."""
        words = ["env", "-u", "NO_COLOR", "-u", "COLUMNS", "-u", "LINES", f"HOME={self.stage.home}",
                 sys.executable, "-m", "nmem", "tui", "--db", self.database]  # fmt: skip
        how = ("split-window", "-v", "-l", "70", "-P", "-F", "#{pane_id}", "-t", self.client)
        self.pane = tmux(self.server, *how, *words).strip()
        tmux(self.server, "select-pane", "-t", self.client)

    def pid(self, pane: str) -> int:
        """The process in a pane."""
        return int(tmux(self.server, "display-message", "-p", "-t", pane, "#{pane_pid}"))

    def screen(self) -> str:
        """What the cockpit shows."""
        return tmux(self.server, "capture-pane", "-p", "-t", self.pane)

    def look(self) -> None:
        """Note what was committed, and what is on the screen by now."""
        try:
            with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as db:
                found = facts(db)
            db.close()
        except sqlite3.Error:
            found = []
        now = time.monotonic()
        for kind, key, _ in found:
            self.seen.setdefault((kind, key), now)
        for past in (
            {fact for fact in self.seen if fact[0] == "episode"} - {fact[:2] for fact in found} if found else ()
        ):
            del self.seen[past]  # only the newest one is the work unit that is shown
        missing = [fact for fact in found if fact[:2] not in self.took]
        shown = self.screen() if missing else ""
        for kind, key, pattern in missing:
            if re.search(pattern, shown):
                self.took[kind, key] = time.monotonic() - self.seen[kind, key]
        if now - self.looked > SOON_S:
            self.passed |= {(kind, key) for kind, key, _ in missing} - self.took.keys()
        self.looked = now

    def until(self, done: Callable[[], bool], seconds: float = 240) -> None:
        """Look again and again until something is so, and everything that is recorded is shown."""
        end = time.monotonic() + seconds
        while not (done() and self.seen.keys() <= self.took.keys() | self.passed):
            self.stage.database().close()
            self.look()
            missing = self.seen.keys() - self.took.keys()
            assert time.monotonic() < end, (missing, self.screen())
            time.sleep(LOOK_S)

    def prompts(self) -> int:
        """How many prompts are recorded."""
        return sum(kind == "prompt" for kind, _ in self.seen)

    def calls(self) -> int:
        """How many calls are recorded."""
        return sum(kind.startswith("call") for kind, _ in self.seen)


def tell(beside: Beside, part: str) -> None:
    """The slowest and the median of each kind, for `pytest -s`."""
    for kind in sorted({kind for kind, _ in beside.took}):
        times = sorted(took for (each, _), took in beside.took.items() if each == kind)
        print(f"{part}: {kind} x{len(times)}, median {times[len(times) // 2]:.2f} s, slowest {times[-1]:.2f} s")  # noqa: T201


def test_all_is_seen_within_a_second_and_neither_harms_the_other(stage: Stage) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is absent")
    stage.connect("claude")
    turns = json.loads(stage.script("beside").read_text())
    want = [len(expected([turn])) for turn in turns[:2]]
    with subprocess.Popen([*stage.player("claude", "beside"), "--tmux"], stderr=subprocess.PIPE, text=True) as player:
        beside = Beside(stage, player)
        try:
            beside.open()
            beside.until(lambda: beside.calls() >= sum(want) or player.poll() is not None)
            if player.poll() is not None:
                played(player)
            tell(beside, "first session")
            kinds = {kind for kind, _ in beside.took}
            assert kinds == {"prompt", "call ok", "call failed", "episode"} or stage.met_a_lock()
            assert median(beside.took.values()) < SOON_S, beside.took  # a machine that stands still delays some

            os.kill(beside.pid(beside.pane), signal.SIGKILL)
            beside.took.update(dict.fromkeys(beside.seen, 0.0))
            count = len(turns[2]["replies"]) - 1
            alone_until(beside, sum(want) + count)
            beside.open()
            beside.took.clear()
            beside.until(lambda: beside.prompts() == len(turns) and "● working" in beside.screen())
            with stage.database() as db:
                assert user_prompts(db) == [turn["prompt"] for turn in turns]
                assert as_called(tool_rows(db)[: sum(want)], together(turns[:2])) == expected(turns[:2])

            os.kill(beside.pid(beside.client), signal.SIGKILL)
            player.kill()
            assert "● working" in beside.screen().partition("\n")[0]
            cockpit = beside.pid(beside.pane)
            another(stage, beside)
            assert beside.pid(beside.pane) == cockpit
            tell(beside, "second session")
            assert median(beside.took.values()) < SOON_S, beside.took  # a machine that stands still delays some
            tmux(beside.server, "send-keys", "-t", beside.pane, "q")
        finally:
            player.kill()
            tmux(beside.server, "kill-server")
    stage.unharmed("input is empty")  # of a hook that the client had no time to write to before it was killed


def alone_until(beside: Beside, calls: int) -> None:
    """The client works on while nobody looks."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        with beside.stage.database() as db:
            if len(tool_rows(db)) >= calls:
                return
        time.sleep(0.1)
    raise AssertionError("the client did not go on")


def another(stage: Stage, beside: Beside) -> None:
    """A new session of the client, headless: the cockpit says so, does not jump there by itself, goes when asked."""
    second = json.loads(stage.script("context-same").read_text())
    beside.seen.clear()
    beside.took.clear()
    with subprocess.Popen(stage.player("claude", "context-same"), stderr=subprocess.DEVNULL) as player:
        shows(beside, "+1 other live session")
        while not beside.prompts():
            beside.look()
        tmux(beside.server, "send-keys", "-t", beside.pane, "s")
        shows(beside, "follow the newest session", "▸●")
        tmux(beside.server, "send-keys", "-t", beside.pane, second[0]["prompt"].split()[1])
        shows(beside, "╭─ Sessions", gone="▸●")
        tmux(beside.server, "send-keys", "-t", beside.pane, "Enter")
        shows(beside, gone="╭─ Sessions")
        beside.look()
        before = {*beside.seen}
        beside.until(lambda: beside.prompts() >= len(second) and player.poll() is not None)
        assert player.returncode == 0
    beside.took = {key: took for key, took in beside.took.items() if key not in before} or {("prompt", "none"): 0.0}


def shows(beside: Beside, *words: str, gone: str = "\0") -> None:
    """Wait until the cockpit shows words, and others no more."""
    end = time.monotonic() + 300
    while not all(word in beside.screen() for word in words) or gone in beside.screen():
        assert time.monotonic() < end, beside.screen()
        time.sleep(LOOK_S)
