"""Tasks that really run, without a terminal: exit codes, output, worktrees, limits, and runners that are killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nmem import own_process
from nmem.dispatch import act, processes, queue, read, runner, store
from nmem.dispatch.folder import Folder, Spec
from nmem.dispatch.task import Outcome
from nmem.errors import NmemError
from tests.nmem.dispatch.conftest import git

if TYPE_CHECKING:
    from tests.nmem.dispatch.conftest import Place


def test_exit_codes_and_output_are_kept(place: Place) -> None:
    good, bad, killed = place.add("say hello env=NMEM_TASK"), place.add("exit=3"), place.add("kill=9")
    left = place.run()
    assert left.started == (good, bad, killed)
    one = place.task(good)
    assert (one.state, one.exit_code, one.how) == ("succeeded", 0, "headless")
    assert one.output == f"doing: say hello env=NMEM_TASK\nNMEM_TASK {good}"
    assert (place.task(bad).state, place.task(bad).exit_code) == ("failed", 3)
    assert (place.task(killed).exit_code, place.task(killed).reason) == (137, "its client was ended by SIGKILL")
    assert place.happened(good) == ["queued", "claimed", "started", "ended"]
    assert not any(Path(place.db_path).parent.joinpath("tasks").iterdir())


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_hostile_prompts_reach_the_client_as_they_are(place: Place, client: str) -> None:
    prompt = "$(touch pwned) `touch pwned` ; touch pwned && 'x' \"y\" \\ %s -p --help\n#{pane_id} !! ~"
    number = place.add(prompt, client=client)
    config = {"codex": ("codex", "-p"), "gemini": ("gemini", "-p")}
    place.config = replace(place.config, commands={k: v for k, v in config.items() if k == client})
    place.run()
    assert place.task(number).output == f"doing: {prompt}"
    assert sorted(path.name for path in place.project.iterdir()) == [".git", "app.py"]


def test_a_command_of_the_configuration_is_given_the_prompt_as_one_word(place: Place) -> None:
    words = (sys.executable, "-c", "import sys; print(len(sys.argv), sys.argv[1])", "{prompt}")
    place.config = replace(place.config, commands={"claude": words})
    number = place.add("two words; $HOME")
    place.run()
    assert place.task(number).output == "2 two words; $HOME"


def test_output_is_bounded_cleaned_and_redacted(place: Place) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    words = (
        sys.executable,
        "-c",
        f"import sys; print('\\x1b[31mred\\x1b[0m'); print('line\\n' * 90000); print({secret!r})",
    )
    place.config = replace(place.config, commands={"claude": words})
    number = place.add("print")
    place.run()
    shown = place.task(number).output
    assert len(shown) <= 16_100 and shown.startswith("…\nline\n")
    assert shown.endswith("[REDACTED:github-token]") or "[REDACTED" in shown.splitlines()[-1]
    for file in Path(place.db_path).parent.rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes()


def test_a_worktree_of_its_own_is_kept_with_work_in_it_and_removed_without(place: Place) -> None:
    (place.project / "app.py").write_text("x = 2  # mine\n")
    worked, idle = place.add("write=new.py", worktree=True), place.add("nothing", worktree=True)
    place.run()
    one = place.task(worked)
    assert one.branch == "nmem/task-1" and (Path(one.worktree_path) / "new.py").exists()
    assert (Path(one.worktree_path) / "app.py").read_text() == "x = 1\n"
    assert place.task(idle).branch == place.task(idle).worktree_path == ""
    assert git(place.project, "branch", "--format=%(refname:short)").split() == ["main", "nmem/task-1"]
    assert git(place.project, "status", "--porcelain").split() == ["M", "app.py"]
    place.command("remove", "--yes", "--worktree", str(worked))
    assert git(place.project, "branch", "--format=%(refname:short)").split() == ["main"]
    assert not Path(one.worktree_path).exists()


def test_a_runner_waits_for_its_retries_and_fails_with_them(place: Place) -> None:
    waited = []

    def wait(_: float) -> bool:
        """Half a minute goes by at once where a retry waits for it."""
        with queue.writing(place.db_path) as db:
            for one in read.tasks(db):
                if one.state == "queued" and one.not_before > queue.now():
                    waited.append(round((one.not_before - one.changed_at) / 1000))
                    act.edit(db, one.id, {"not_before": 0}, queue.now())
        time.sleep(0.05)
        return False

    number = place.add("exit=3", retries=1)
    left = runner.run(runner.Runner(place.db_path, place.config), wait)
    assert (left.started, place.task(number).state) == ((number, number), "failed")
    named = place.add("exit=3", retries=1)
    worker = runner.Runner(place.db_path, place.config)
    worker.only(named)
    runner.run(worker, wait, only=True)
    assert waited == [30, 30]
    assert (place.task(named).tries, place.task(named).state) == (2, "failed")


def test_a_backup_does_not_bring_done_tasks_back_into_the_queue(place: Place) -> None:
    from nmem.backup.restore import restore
    from nmem.backup.take import backup

    done = place.add("once")
    kept = str(place.folder / "then.db")
    backup(place.db_path, kept)
    place.run()
    later = place.add("later")
    found = restore(place.db_path, kept)
    assert any("queued in the backup" in note for note in found.notes)
    assert place.task(done).state == "cancelled"
    with queue.writing(place.db_path) as db:
        assert read.task(db, later) is None
        assert act.retry(db, done, queue.now()) == (done,)


def test_what_git_ignores_is_fruit_too_and_what_tools_leave_is_not(place: Place) -> None:
    (place.project / ".gitignore").write_text("reports/\n__pycache__/\n")
    git(place.project, "add", ".gitignore")
    git(place.project, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "ignore")
    make = "mkdir -p {0} && echo found > {0}/findings.md"
    for folder in ("reports", "__pycache__"):
        place.config = replace(place.config, commands={"claude": ("sh", "-c", make.format(folder))})
        place.add("look", worktree=True)
        place.run()
    kept, clean = place.task(1), place.task(2)
    with queue.writing(place.db_path) as db:
        told = " ".join(each.text for each in read.events(db, 1))
    assert (Path(kept.worktree_path) / "reports" / "findings.md").read_text() == "found\n"
    assert "that git ignores" in told
    assert clean.worktree_path == ""


def test_what_tools_leave_is_no_work_where_git_does_not_ignore_it_either(place: Place) -> None:
    made = "mkdir -p src/__pycache__ && echo x > src/__pycache__/a.cpython-311.pyc && echo x > src/b.pyc"
    place.config = replace(place.config, commands={"claude": ("sh", "-c", made)})
    place.add("look", worktree=True)
    place.run()
    one = place.task(1)
    assert (one.state, one.worktree_path) == ("failed", "")
    assert "it changed nothing" in (one.reason or "")
    place.config = replace(
        place.config, commands={"claude": ("sh", "-c", f"{made} && mkdir build && echo x > build/b")}
    )
    place.add("write", worktree=True)
    place.run()
    two = place.task(2)
    assert two.state == "succeeded"
    assert "1 file changed" in (two.reason or "")
    assert (Path(two.worktree_path) / "build" / "b").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to an ancestor that asks for them")
def test_what_a_client_leaves_behind_is_buried(place: Place) -> None:
    there = "ps -o pid= --ppid $PPID | wc -l"
    orphans = (
        "for n in 1 2 3 4 5; do (until [ -e go ]; do sleep 0.05; done &) ; done;"
        f" {there} > adopted; touch go; for n in $(seq 300); do [ $({there}) -gt 1 ] || break; sleep 0.1; done;"
        f" {there} > left; exit 0"
    )
    place.config = replace(place.config, commands={"claude": ("sh", "-c", orphans)})
    place.add("look")
    place.run()
    assert int((place.project / "adopted").read_text()) == 6  # those and the client
    assert int((place.project / "left").read_text()) == 1


def test_what_needs_a_task_begins_where_that_ended(place: Place) -> None:
    commit = ("sh", "-c", "cat > prompt.txt && git add . && git -c user.name=a -c user.email=a@b commit -qm done")
    place.config = replace(place.config, commands={"claude": commit})
    first = place.add("one", worktree=True)
    second = place.add("two", worktree=True, needs=(first,))
    place.run()
    assert git(place.project, "log", "--format=%s", place.task(second).branch).split() == ["done", "done", "begin"]
    assert git(place.project, "rev-list", "--count", "main").strip() == "1"


def test_a_retry_keeps_the_work_of_the_try_before(place: Place) -> None:
    number = place.add("write=half.py exit=1", worktree=True)
    place.run()
    with queue.writing(place.db_path) as db:
        act.retry(db, number, queue.now())
    place.run()
    assert place.task(number).branch == "nmem/task-1-2"
    assert git(place.project, "branch", "--format=%(refname:short)").split() == ["main", "nmem/task-1", "nmem/task-1-2"]


def gone(pid_file: Path) -> bool:
    """Whether the process of this number has ended."""
    return processes.name(int(pid_file.read_text())).endswith("@")


def test_the_time_limit_ends_it_and_all_that_it_started(place: Place) -> None:
    pid_file = place.folder / "pid"
    for limit in (2, 20, 45):  # a busy machine needs longer until the client has started anything
        number = place.add(f"child=@/{pid_file.name} stubborn sleep=60", time_limit=limit)
        place.run()
        one = place.task(number)
        assert (one.state, one.reason) == ("timed-out", f"it did not end within {limit} s")
        if pid_file.exists() and pid_file.read_text():
            break
    assert gone(pid_file)


def test_cancelling_midway_ends_everything_and_cancels_what_needs_it(place: Place) -> None:
    pid_file = place.folder / "pid"
    number = place.add(f"child=@/{pid_file.name} sleep=60")
    after = place.add("later", needs=(number,))
    place.run(once=True)
    place.until(number, lambda one: bool(one.process) and pid_file.exists() and pid_file.read_text() != "")
    done = place.command("cancel", str(number))
    assert done.stdout == "task/1 is cancelled\n"
    assert (place.task(number).state, place.task(number).reason) == ("cancelled", "by a person")
    assert place.task(after).state == "cancelled"
    assert gone(pid_file)
    with pytest.raises(NmemError, match="is already over: it was cancelled"):
        act.cancel(place.db_path, number, queue.now())


RUNNER = """
import sys, time
from dataclasses import replace
from nmem.dispatch import runner
from nmem.dispatch.config import Dispatch
runner.run(runner.Runner(sys.argv[1], Dispatch(how=sys.argv[2], tmux_socket=sys.argv[3])), lambda s: time.sleep(s) or False, watch=True)
"""  # noqa: E501


def test_a_killed_runner_loses_nothing_and_the_next_one_goes_on(place: Place) -> None:
    gate = place.folder / "gate"
    first, second = place.add(f"wait-for=@/{gate.name} exit=7"), place.add("say more")
    words = [sys.executable, "-c", RUNNER, place.db_path, "headless", ""]
    with subprocess.Popen(words) as process:
        place_at_work = place.until(first, lambda one: bool(one.process))
        process.send_signal(signal.SIGKILL)
    assert not processes.alive(place_at_work.runner)
    gate.touch()
    place.until(first, lambda one: one.over)  # nobody runs the queue: the process beside the client says it
    assert (place.task(first).state, place.task(first).exit_code) == ("failed", 7)
    assert place.task(second).state == "queued"
    place.run()
    assert place.task(second).state == "succeeded"
    assert place.task(first).attempt == place.task(second).attempt == 1


def test_one_that_ends_between_two_looks_ends_no_runner(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = place.add("a"), place.add("b")
    claim = queue.claim
    ended: list[object] = []

    def busy(db: Any, *words: Any) -> Any:
        """Another runner has the first; it ends right after that was seen."""
        found = claim(db, *words)
        if found is None and not ended:
            ended.append(queue.finish(db, first, 1, Outcome("succeeded", 0), queue.now()))
        return found

    claimed(place, first, processes.me())
    monkeypatch.setattr(queue, "claim", busy)
    assert runner.Runner(place.db_path, place.config).turn()
    assert ended == [True] and place.until(second, lambda one: one.over).state == "succeeded"


def claimed(place: Place, number: int, by: str) -> None:
    with queue.writing(place.db_path) as db:
        assert queue.claim(db, by, queue.now(), 9, only=number)


def dead() -> str:
    """The name of a process that is no more."""
    with subprocess.Popen(["sleep", "60"]) as process:
        name = processes.name(process.pid)
        process.kill()
    return name


def test_a_claim_of_a_dead_runner_is_taken_back_and_does_not_count(place: Place) -> None:
    number = place.add("say it")
    claimed(place, number, dead())
    place.run()
    one = place.task(number)
    assert (one.state, one.attempt, one.tries) == ("succeeded", 2, 1)
    assert place.happened(number) == ["queued", "claimed", "returned", "claimed", "started", "ended"]


def test_a_pane_whose_runner_has_left_is_given_time_to_begin_and_then_never_begins(place: Place) -> None:
    number = place.add("write=twice")
    claimed(place, number, dead())
    folder = Folder(place.db_path, number, 1)
    folder.make(Spec(place.db_path, number, 1, ("claude", "-p"), str(place.project), True, False, True, 0, 5, ""), "x")
    with queue.writing(place.db_path) as db:
        runner.take_up(db, place.db_path, queue.now())
        assert place.task(number).state == "running"
        runner.take_up(db, place.db_path, queue.now() + 16_000)
    assert place.task(number).state == "queued"
    assert not folder.path.exists()
    words = own_process.words(str(folder.path), function="nmem.dispatch.pane:main")
    assert subprocess.run(words, timeout=120).returncode == 0  # it comes too late, and knows it
    assert not (place.project / "twice").exists()


def test_a_claim_of_a_living_runner_is_left_alone_until_it_is_late(place: Place) -> None:
    number = place.add("say it")
    claimed(place, number, processes.me())
    with queue.writing(place.db_path) as db:
        runner.take_up(db, place.db_path, queue.now())
        assert place.task(number).state == "running"
        runner.take_up(db, place.db_path, queue.now() + 61_000)
    assert (place.task(number).state, place.task(number).reason) == ("failed", "its pane did not begin within a minute")


def test_a_process_that_is_killed_beside_its_client_is_noticed_and_the_client_ended(place: Place) -> None:
    number = place.add("sleep=60")
    place.run(once=True)
    one = place.until(number, lambda one: bool(one.process) and bool(Folder(place.db_path, number, 1).client()))
    client = Folder(place.db_path, number, 1).client()
    os.kill(processes.pid(one.process), signal.SIGKILL)
    one = place.until(number, lambda one: one.over)
    assert (one.state, one.exit_code) == ("failed", None)
    assert one.reason.startswith("it went away without an exit code")
    assert not processes.alive(client)


def test_an_end_written_while_the_database_is_locked_is_brought_in_later(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = place.folder / "gate"
    number = place.add(f"wait-for=@/{gate.name} exit=4")
    place.run(once=True)
    one = place.until(number, lambda one: bool(one.process))
    with queue.writing(place.db_path):
        pass
    locker = sqlite3.connect(place.db_path, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    gate.touch()
    until = time.monotonic() + 120
    while processes.alive(one.process) and time.monotonic() < until:
        time.sleep(0.1)
    assert place.folder.exists() and Folder(place.db_path, number, 1).ended() is not None
    locker.execute("ROLLBACK")
    locker.close()
    one = place.until(number, lambda one: one.over)
    assert (one.state, one.exit_code) == ("failed", 4)


def test_a_client_that_is_missing_is_said_at_once_and_not_tried_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.config = replace(place.config, commands={"claude": ("no-such-client", "-p")})
    number = place.add("say it", retries=3)
    place.run()
    one = place.task(number)
    assert (one.state, one.tries) == ("failed", 1)
    assert "no-such-client is not installed" in one.reason


def test_a_folder_that_went_away_fails_the_task_in_words(place: Place) -> None:
    folder = place.folder / "gone"
    folder.mkdir()
    number = place.add("say it", cwd=str(folder))
    folder.rmdir()
    place.run()
    assert place.task(number).reason.endswith("is no longer a folder")


def test_cancelled_between_claim_and_start_never_starts(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    number = place.add("write=never")
    claimed(place, number, processes.me())
    act.cancel(place.db_path, number, queue.now())
    assert place.task(number).state == "cancelled"
    worker = runner.Runner(place.db_path, place.config)
    begun: list[list[str]] = []
    monkeypatch.setattr(processes, "open_process", begun.append)
    with queue.writing(place.db_path) as db:
        one = place.task(number)._replace(state="running")
        worker._start(db, one)
    (words,) = begun
    assert subprocess.run(words, timeout=120).returncode == 0
    assert place.task(number).state == "cancelled" and not (place.project / "never").exists()


def test_two_tasks_run_side_by_side_where_it_is_allowed(place: Place) -> None:
    gate, other = place.folder / "gate", place.folder / "other"
    place.config = replace(place.config, concurrency=2)
    first = place.add(f"write=a.py write=@/{other.name} wait-for=@/{gate.name}", worktree=True)
    second = place.add(f"write=b.py wait-for=@/{other.name} write=@/{gate.name}", worktree=True)
    place.run()
    assert place.task(first).exit_code == place.task(second).exit_code == 0
    with queue.writing(place.db_path) as db:
        assert store.counts(db) == {"succeeded": 2}
