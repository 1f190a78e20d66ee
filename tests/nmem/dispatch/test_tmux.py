"""Tasks in panes of a real tmux: their own windows, a chosen pane, a server that goes away, a person who is asked."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nmem.dispatch import act, processes, queue, tmux
from nmem.dispatch.config import Dispatch
from nmem.errors import NmemError

if TYPE_CHECKING:
    from tests.nmem.dispatch.conftest import Place


@pytest.fixture
def panes(place: Place, socket: str) -> Place:
    """A place whose tasks run in a tmux of the test's own."""
    place.config = Dispatch(how="tmux", tmux_socket=socket, concurrency=4, idle_seconds=5)
    return place


def run(socket: str, *words: str) -> str:
    return subprocess.run(["tmux", "-L", socket, *words], capture_output=True, text=True, check=True).stdout.strip()


def runs(socket: str, pane: str, program: str) -> None:
    """Wait until a program runs in a pane."""
    end = time.monotonic() + 120
    while (now := run(socket, "display-message", "-p", "-t", pane, "#{pane_current_command}")) != program:
        assert time.monotonic() < end, now
        time.sleep(0.05)


def test_a_task_has_its_own_window_and_its_output_is_kept(panes: Place, socket: str) -> None:
    gate = panes.folder / "gate"
    number = panes.add(f"env=NMEM_TASK wait-for=@/{gate.name} exit=5")
    panes.run(once=True)
    one = panes.until(number, lambda one: bool(one.process))
    assert run(socket, "list-windows", "-t", "nmem", "-F", "#{window_name} #{pane_id}") == f"task-1 {one.pane}"
    panes.until(number, lambda one: f"NMEM_TASK {number}" in act.output(one))
    assert act.attach_words(one)[:3] == ["tmux", "-L", socket]
    gate.touch()
    one = panes.until(number, lambda one: one.over)
    assert (one.state, one.exit_code) == ("failed", 5)
    assert one.output.startswith("doing: env=NMEM_TASK") and one.output.endswith("NMEM_TASK 1")


def test_hostile_prompts_and_folders_reach_no_shell(panes: Place) -> None:
    folder = panes.folder / "a 'b' $(touch pwned) `x` ; #{pane_id} #(touch \"$HOME-format\")"
    folder.mkdir()
    prompt = "$(touch pwned); `touch pwned` #{pane_id} 'a' \"b\" \\ C-c Enter"
    number = panes.add(prompt, cwd=str(folder))
    panes.run()
    assert panes.task(number).output == f"doing: {prompt}"
    assert not any(panes.folder.rglob("pwned"))
    assert not Path(f"{os.environ['HOME']}-format").exists()


def test_the_whole_server_gone_midway_is_a_failure_that_is_told(panes: Place, socket: str) -> None:
    pid_file = panes.folder / "pid"
    number = panes.add(f"child=@/{pid_file.name} sleep=60")
    after = panes.add("write=next", worktree=True)
    panes.config = replace(panes.config, concurrency=1)
    panes.run(once=True)
    panes.until(number, lambda one: pid_file.exists() and pid_file.read_text() != "" and "doing" in act.output(one))
    run(socket, "kill-server")
    one = panes.until(number, lambda one: one.over)
    assert (one.state, one.exit_code) == ("failed", None)
    assert one.reason == "its pane was closed" or one.reason.startswith("its pane went away without an exit code")
    end = time.monotonic() + 120
    while not processes.name(int(pid_file.read_text())).endswith("@") and time.monotonic() < end:
        time.sleep(0.1)
    assert processes.name(int(pid_file.read_text())).endswith("@")
    panes.run()  # a new server is started for what comes next
    assert panes.task(after).state == "succeeded"


def test_a_pane_that_is_closed_ends_its_task(panes: Place, socket: str) -> None:
    number = panes.add("sleep=60")
    panes.run(once=True)
    one = panes.until(number, lambda one: bool(one.process) and "doing" in act.output(one))
    run(socket, "kill-pane", "-t", one.pane)
    one = panes.until(number, lambda one: one.over)
    assert one.state == "failed" and "pane" in one.reason


def test_a_chosen_pane_is_used_only_when_it_is_idle(panes: Place, socket: str) -> None:
    run(socket, "new-session", "-d", "-s", "mine", "-x", "120", "-y", "30", "sh")
    pane = run(socket, "list-panes", "-t", "mine", "-F", "#{pane_id}")
    runs(socket, pane, "sh")
    run(socket, "send-keys", "-t", pane, "sleep 60", "Enter")
    runs(socket, pane, "sleep")
    number = panes.add("say it in there", target=pane)
    panes.run(once=True)
    one = panes.task(number)
    assert (one.state, one.reason, one.tries) == ("queued", f"pane {pane} is busy: sleep runs in it", 0)
    assert one.not_before - one.changed_at > 50_000
    run(socket, "send-keys", "-t", pane, "C-c")
    runs(socket, pane, "sh")
    run(socket, "send-keys", "-t", pane, "half a line that nobody meant")
    with queue.writing(panes.db_path) as db:
        act.edit(db, number, {"not_before": 0}, queue.now())
    panes.run()
    one = panes.task(number)
    assert (one.state, one.exit_code, one.pane) == ("succeeded", 0, pane)
    assert one.output.endswith("doing: say it in there")
    runs(socket, pane, "sh")


def test_a_script_run_by_a_shell_is_no_idle_shell(socket: str, tmp_path: Path) -> None:
    script = tmp_path / "long.sh"
    begun = tmp_path / "begun"
    script.write_text(f"touch {shlex.quote(str(begun))}; while :; do sleep 0.1; done\n")
    run(socket, "new-session", "-d", "-s", "mine", "sh")
    runs(socket, "mine", "sh")
    run(socket, "send-keys", "-t", "mine", f"sh {shlex.quote(str(script))}", "Enter")
    end = time.monotonic() + 120
    while not begun.exists() and time.monotonic() < end:
        time.sleep(0.05)
    with pytest.raises(tmux.Busy, match="is busy"):
        tmux.idle(socket, "mine")
    with pytest.raises(tmux.Busy, match="has no pane"):
        tmux.idle(socket, "nobody")
    assert tmux.pane(socket, "mine; kill-server") is None


def test_an_interactive_client_that_stands_still_needs_a_person_and_goes_on(panes: Place, socket: str) -> None:
    words = (sys.executable, "-c", "print('begin'); print('got', input('which one? ')); import time; time.sleep(1)")
    panes.config = replace(panes.config, commands={"claude interactive": words})
    number = panes.add("ask me", interactive=True)
    panes.run(once=True)
    one = panes.until(number, lambda one: one.state == "needs-input" and "which one?" in act.output(one))
    assert one.reason == "its screen has not changed for 5 s: check its pane"
    left = panes.run()  # a runner does not wait for a person
    assert (left.running, left.needs_input) == (0, 1)
    run(socket, "send-keys", "-t", one.pane, "this", "Enter")
    one = panes.until(number, lambda one: one.over)
    assert (one.state, one.exit_code) == ("succeeded", 0)
    assert one.output.endswith("got this")
    assert "asked" in panes.happened(number)


def test_cancelling_in_a_pane_closes_its_window(panes: Place, socket: str) -> None:
    number, other = panes.add("sleep=60"), panes.add("sleep=60", worktree=True)
    panes.run(once=True)
    for each in (number, other):
        panes.until(each, lambda one: bool(one.process))
    act.cancel(panes.db_path, number, queue.now())
    assert panes.task(number).state == "cancelled"
    end = time.monotonic() + 120
    while run(socket, "list-windows", "-t", "nmem", "-F", "#{window_name}") != "task-2" and time.monotonic() < end:
        time.sleep(0.1)
    assert run(socket, "list-windows", "-t", "nmem", "-F", "#{window_name}") == "task-2"
    act.cancel(panes.db_path, other, queue.now())


def test_without_tmux_it_is_headless_and_what_needs_a_pane_says_so(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program in ("git", "ps"):
        found = next(
            Path(folder, program) for folder in os.environ["PATH"].split(":") if Path(folder, program).exists()
        )
        (place.folder / "bin" / program).symlink_to(found)
    monkeypatch.setenv("PATH", str(place.folder / "bin"))
    place.config = Dispatch()
    number, pane = place.add("say it"), place.add("say it", interactive=True, worktree=True)
    place.run()
    assert (place.task(number).state, place.task(number).how) == ("succeeded", "headless")
    assert (
        place.task(pane).reason == "an interactive task needs a pane of tmux: install tmux, or leave out --interactive"
    )
    with pytest.raises(NmemError, match="tmux is not installed"):
        tmux.server("")
