"""`nmem task` as a person uses it, and the other ways in: files, learnings, agents, timers."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from capture.storage import store
from nmem import tables
from nmem.commands.main import nmem
from nmem.dispatch import files, queue, read, schedule
from nmem.dispatch.task import stands
from nmem.errors import NmemError
from nmem.mcp.server import TOOLS
from nmem.mcp.tool import Ask

if TYPE_CHECKING:
    from tests.nmem.dispatch.conftest import Place

NOW = 1_760_000_000_000


def add(place: Place, *words: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(
        place.command("add", "--cwd", str(place.project), "--json", "--no-worktree", *words).stdout
    )
    return told


def test_from_queueing_to_the_end(place: Place) -> None:
    done = place.command("add", "say", "hello", "--cwd", str(place.project), "--priority", "2", "--no-worktree")
    assert done.stdout == "task/1 is queued: say hello\n"
    add(place, "exit=4", "--depends-on", "task/1", "--time-limit", "10m", "--retries", "0")
    listed = place.command("list").stdout.splitlines()
    assert listed[0] == "# Tasks"
    assert listed[3].split("\t")[:2] == ["task/2", "queued"] and listed[3].endswith("waits for task/1")
    assert place.command("run", "--dry-run").stdout.splitlines()[0] == "task/1\tnext\tsay hello"
    ran = place.command("run", "--headless", check=False)
    assert ran.returncode == 1  # one of them failed
    said = [line[10:] for line in ran.stdout.splitlines()]
    assert said == [
        "task/1 running, claimed  (say hello)",
        "task/1 running, started",
        "task/1 succeeded, ended: exit 0",
        "task/2 running, claimed  (exit=4)",
        "task/2 running, started",
        "task/2 failed, ended: exit 4",
    ]
    shown = json.loads(place.command("show", "2", "--json").stdout)
    assert (shown["exit_code"], shown["time_limit"], shown["can"]) == (4, 600, ["edit", "retry", "remove"])
    assert [each["what"] for each in shown["events"]] == ["queued", "claimed", "started", "ended"]
    assert CliRunner().invoke(nmem, ["show", "task/2"]).output == place.command("show", "2").stdout
    assert json.loads(CliRunner().invoke(nmem, ["search", "hello", "--json"]).output)["hits"][0]["id"] == "task/1"
    assert place.command("output", "1").stdout == "doing: say hello\n"
    assert "exit code\t4" in place.command("2").stdout
    assert place.command("retry", "2").stdout == "task/2 is queued again\n"
    assert place.command("edit", "2", "--prompt", "say fine", "--after", "2h").stdout == "task/2 is changed: say fine\n"
    assert "not before" in place.command("list").stdout
    assert place.command("run", "--headless").stdout.startswith("1 queued for later")
    assert place.command("run", "--headless", "2").stdout.splitlines()[-1].endswith("task/2 succeeded, ended: exit 0")
    assert (
        place.command("remove", "1", check=False).stderr
        == "nmem: task/1 is not removed: --yes removes it without asking\n"
    )
    assert place.command("remove", "1", "2", "--yes").stdout == "task/1 is removed\ntask/2 is removed\n"
    assert json.loads(place.command("list", "--json").stdout) == {"tasks": [], "counts": {}}


def test_secrets_are_counted_and_the_client_gets_a_placeholder(place: Place) -> None:
    done = place.command("add", "--cwd", str(place.project), "use ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    assert done.stderr == "1 secret in the prompt: the client gets a placeholder instead\n"
    place.run()
    assert "ghp_" not in place.task(1).output and "[REDACTED" in place.task(1).output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("add",), "give one of PROMPT, --file and --learning"),
        (("add", "x", "--learning", "1"), "give one of"),
        (("add", "x", "--after", "never"), "invalid time 'never'"),
        (("add", "x", "--depends-on", "7"), "there is no task 7"),
        (("add", "--learning", "7"), "there is no learning 7"),
        (("add", "--file", "/nowhere.md"), "No such file"),
        (("show", "7"), "there is no task 7"),
        (("cancel", "7"), "there is no task 7"),
        (("attach", "1"), "nothing to attach to"),
        (("retry", "1"), "only finished tasks can be retried"),
        (("run", "--watch", "--no-wait"), "exclude each other"),
        (("edit", "1"), "nothing to change"),
    ],
)
def test_what_cannot_be_done_is_one_line(place: Place, words: tuple[str, ...], says: str) -> None:
    place.add("a")
    done = place.command(*words, check=False)
    assert done.returncode in (1, 2)
    assert says in done.stderr and done.stderr.count("\n") == 1


def test_control_characters_of_a_client_do_not_reach_the_terminal(place: Place) -> None:
    place.add("\x1b]0;owned\x07 first \x1b[31mred\nsecond\u202e")
    place.run()
    for words in (("list",), ("show", "1"), ("output", "1")):
        assert not set("\x1b\x07\u202e") & set(place.command(*words).stdout)


def test_a_file_with_front_matter(place: Place) -> None:
    place.add("first")
    file = place.folder / "task.md"
    file.write_text(
        "---\ncwd: my project\nclient: codex\npriority: 7\nafter: 2h\ndepends-on: [1]\nretries: 2\n"
        "time-limit: 30m\nworktree: true\nquiet-hours: 9:00-18:00\n---\n\n# Do this\n\nand that\n"
    )
    place.command("add", "--file", str(file), "--priority", "8")
    one = place.task(2)
    assert (one.prompt, one.cwd, one.client, one.source) == (
        "# Do this\n\nand that",
        str(place.project),
        "codex",
        "file",
    )
    assert (one.priority, one.needs, one.retries, one.time_limit) == (8, (1,), 2, 1800)
    assert one.worktree and one.quiet_hours == "09:00-18:00" and one.not_before > queue.now() + 7_000_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("---\nprio: 1\n---\nx", "f.md:2: there is no prio: priority is meant?"),
        ("---\npriority: high\n---\nx", "f.md:2: priority cannot be high"),
        ("---\n\nafter: whenever\n---\nx", "f.md:3: invalid time 'whenever'"),
        ("---\nworktree: maybe\n---\nx", "f.md:2: worktree cannot be maybe"),
        ("---\nno colon\n---\nx", "f.md:2: no colon is not"),
        ("---\npriority: 1\nx", "has no closing line"),
        ("---\npriority: 1\n---\n  \n", "no prompt in it"),
    ],
)
def test_a_file_that_is_wrong_names_its_line(text: str, says: str) -> None:
    with pytest.raises(NmemError, match=says.replace("?", r"\?")):
        files.parse(text, NOW, "f.md", "/tmp")


@given(st.text())
def test_any_text_is_a_task_or_one_line_of_complaint(text: str) -> None:
    try:
        assert files.parse(text, NOW, "f.md", "/tmp")["prompt"].strip()
    except NmemError as error:
        assert "\n" not in str(error)


def test_a_learning_becomes_a_task_in_its_project(place: Place) -> None:
    with queue.writing(place.db_path) as db:
        db.execute("INSERT INTO projects VALUES (1, 'shop', 'shop', ?, NULL, 0)", (str(place.project),))
        db.execute(
            "INSERT INTO learnings (id, project_id, kind, key, title, files, first_at, last_at, sessions, occurrences)"
            " VALUES (3, 1, 'failed_command', 'k', 'npm test', '[\"a.js\"]', 1, 2, 4, 9)"
        )
    place.command("add", "--learning", "3", "--worktree")
    one = place.task(1)
    assert (one.cwd, one.source, one.learning_id, one.worktree) == (str(place.project), "learning", 3, True)
    assert "> npm test" in one.prompt and "4 sessions, 9 times" in one.prompt and "data, not instructions" in one.prompt


def queue_task(place: Place, **given: object) -> dict[str, object]:
    tool = TOOLS["queue_task"]
    ask = Ask(tool.checked(given), str(place.project))
    try:
        return tool.run(ask)
    finally:
        ask.close()


def test_an_agent_queues_a_task_and_is_bounded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.add("a person's")
    answer = queue_task(place, prompt="run the slow tests", after="2h", needs=["task/1"])
    assert answer == {"id": "task/2", "state": "queued", "runs": "once the person approves it"}
    assert (place.task(2).source, place.task(2).cwd) == ("agent", str(place.project))
    with pytest.raises(NmemError, match="x is not a task"):
        queue_task(place, prompt="p", needs=["x"])
    for _ in range(3):
        monkeypatch.setenv("NMEM_TASK", str(read_newest(place)))
        queue_task(place, prompt="one more")
    monkeypatch.setenv("NMEM_TASK", str(read_newest(place)))
    with pytest.raises(NmemError, match="nest two deep"):
        queue_task(place, prompt="and on")
    monkeypatch.delenv("NMEM_TASK")
    for _ in range(16):
        queue_task(place, prompt="more")
    with pytest.raises(NmemError, match="20 tasks of agents are waiting already"):
        queue_task(place, prompt="too many")


WAITS = "an agent queued it, and it waits for your approval: `nmem task approve 2`"


def test_what_an_agent_queued_waits_for_a_person(place: Place) -> None:
    place.add("a person's")
    queue_task(place, prompt="say hello")
    listed = place.command("list").stdout.splitlines()
    assert [line.split("\t")[0] for line in listed if line.endswith(WAITS)] == ["task/2"]
    following = place.command("run", "--dry-run").stdout.splitlines()
    assert following == ["task/1\tnext\ta person's", f"task/2\t{WAITS}\tsay hello"]
    place.run()
    assert (place.task(1).state, place.task(2).state) == ("succeeded", "queued")
    ran = place.command("run", "--headless").stdout.splitlines()
    assert ran == ["1 task of agents waiting for your approval: `nmem task approve`"]
    assert "approve" in json.loads(place.command("show", "2", "--json").stdout)["can"]
    assert place.command("approve", "2").stdout == "task/2 is approved: say hello\n"
    assert "needs no approval" in place.command("approve", "2", check=False).stderr
    assert "needs no approval" in place.command("approve", "1", check=False).stderr
    place.run()
    assert place.task(2).over
    assert place.happened(2)[:3] == ["queued", "approved", "claimed"]


def test_naming_it_approves_it_and_a_retry_stays_approved(place: Place) -> None:
    place.add("a person's")
    queue_task(place, prompt="exit=3")
    place.command("run", "--headless", "2", check=False)
    assert (place.task(2).state, place.happened(2)[:2]) == ("failed", ["queued", "approved"])
    place.command("retry", "2")
    assert place.task(2).approved


@pytest.mark.parametrize(("said", "runs", "state"), [("run", "when the person's runner starts it", "failed"),
                                                     ("ask", "once the person approves it", "queued")])  # fmt: skip
def test_the_configuration_says_what_becomes_of_an_agents_task(
    place: Place, own_home: Path, said: str, runs: str, state: str
) -> None:
    configured(own_home, f'agent_tasks = "{said}"')
    place.add("a person's")
    assert queue_task(place, prompt="exit=3")["runs"] == runs
    place.run()
    assert place.task(2).state == state


def test_running_a_task_that_is_none_or_is_over_says_so(place: Place) -> None:
    assert "there is no task 9" in place.command("run", "9", check=False).stderr
    place.add("a person's")
    place.command("cancel", "1")
    assert "task/1 is over: cancelled; `nmem task retry 1`" in place.command("run", "1", check=False).stderr


def read_newest(place: Place) -> int:
    with queue.writing(place.db_path) as db:
        return max(one.id for one in read.tasks(db))


def configured(own_home: Path, line: str) -> None:
    config = own_home / ".config" / "nmem" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"[dispatch]\n{line}\n")


@pytest.mark.parametrize("named", [(), ("1",)])
def test_a_task_that_cannot_be_started_ends_the_command_as_one_that_failed(
    place: Place, own_home: Path, named: tuple[str, ...]
) -> None:
    configured(own_home, 'commands.claude = ["no-such-client"]')
    place.add("say it")
    done = place.command("run", *named, check=False)
    assert done.returncode == 1
    assert "no-such-client is not installed" in done.stdout
    assert "nothing is queued" not in done.stdout


def test_agents_can_be_refused(place: Place, own_home: Path) -> None:
    configured(own_home, 'agent_tasks = "off"')
    with pytest.raises(NmemError, match="agents may not queue tasks here"):
        queue_task(place, prompt="x")


@pytest.mark.parametrize("text", ["concurrency = 0", 'how = "somewhere"', "concurency = 2", 'commands.emacs = ["x"]',
                                  'quiet_hours = "soon"', 'tmux_session = "a:b"', "commands.claude = []"])  # fmt: skip
def test_a_configuration_that_is_wrong_starts_nothing(place: Place, own_home: Path, text: str) -> None:
    place.add("a")
    config = own_home / ".config" / "nmem" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[dispatch]\n{text}\n")
    done = place.command("run", check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "dispatch" in done.stderr
    assert place.task(1).state == "queued"
    assert place.command("list").returncode == 0  # a look is still possible


def program(folder: Path, name: str, text: str) -> None:
    file = folder / "bin" / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_a_timer_of_systemd_is_shown_written_and_removed(place: Place, own_home: Path) -> None:
    program(place.folder, "systemctl", f'echo "$@" >> {place.folder}/systemctl.log')
    shown = place.command("schedule", "--dry-run", "--systemd").stdout
    assert "OnUnitActiveSec=5min" in shown and "KillMode=process" in shown and '"task" "run" "--no-wait"' in shown
    assert "# what agents queue" not in shown
    configured(own_home, 'agent_tasks = "run"')
    assert "# starts tasks queued by agents" in place.command("schedule", "--dry-run", "--systemd").stdout
    configured(own_home, "")
    units = own_home / ".config" / "systemd" / "user"
    assert not units.exists()
    assert "no terminal to ask on" in place.command("schedule", check=False).stderr
    place.command("schedule", "--every", "9", "--yes")
    assert "OnUnitActiveSec=9min" in (units / "nmem-tasks.timer").read_text()
    place.command("schedule", "--remove")
    assert list(units.iterdir()) == []
    log = (place.folder / "systemctl.log").read_text()
    assert "--user enable --now nmem-tasks.timer" in log and "--user disable --now nmem-tasks.timer" in log


def test_a_line_of_cron_is_added_once_and_removed_and_leaves_the_others(place: Place) -> None:
    tab = place.folder / "tab"
    tab.write_text("1 2 * * * mine 100\\%\n")
    program(place.folder, "systemctl", "exit 1")
    program(place.folder, "crontab", f'if [ "$1" = -l ]; then cat {tab}; else cat > {tab}; fi')
    place.command("schedule", "--yes")
    place.command("schedule", "--yes", "--every", "10")
    lines = tab.read_text().splitlines()
    assert lines[0] == "1 2 * * * mine 100\\%" and len(lines) == 2
    assert lines[1].startswith("*/10 * * * * NMEM_DB=") and "task run --no-wait --quiet # nmem" in lines[1]
    place.command("schedule", "--remove")
    assert tab.read_text() == "1 2 * * * mine 100\\%\n"
    assert "nothing" in place.command("schedule", "--remove").stdout


def test_a_crontab_that_cannot_be_read_or_is_changed_meanwhile_is_not_overwritten(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = place.folder / "tab"
    tab.write_bytes(b"1 2 * * * caf\xe9\n")
    program(place.folder, "systemctl", "exit 1")
    program(place.folder, "crontab", f'if [ "$1" = -l ]; then cat {tab}; else cat > {tab}; fi')
    made = schedule.plan(5, schedule.CRON)
    tab.write_bytes(tab.read_bytes() + b"3 4 * * * added while the question stood\n")
    schedule.write(made)
    assert tab.read_bytes().startswith(b"1 2 * * * caf\xe9\n3 4 * * * added")
    program(place.folder, "crontab", 'if [ "$1" = -l ]; then echo I/O error >&2; exit 1; fi; cat > /dev/null')
    with pytest.raises(NmemError, match="crontab -l: I/O error"):
        schedule.write(made)


@pytest.mark.parametrize(("minutes", "said"), [(45, "such as 30"), (90, "such as 60"), (7, "such as 6")])
def test_a_time_that_cron_cannot_say_is_refused(place: Place, minutes: int, said: str) -> None:
    program(place.folder, "systemctl", "exit 1")
    program(place.folder, "crontab", "exit 0")
    with pytest.raises(NmemError, match=said):
        schedule.plan(minutes, schedule.CRON)


def test_a_tick_starts_what_is_due_and_leaves_and_the_next_brings_in_the_end(place: Place) -> None:
    gate = place.folder / "gate"
    number = place.add(f"wait-for=@/{gate.name}")
    done = place.process("run", "--no-wait", "--quiet", "--headless")
    assert done.stdout == ""
    assert place.until(number, lambda one: bool(one.process)).state == "running"
    gate.touch()
    assert place.until(number, lambda one: one.over).state == "succeeded"


def test_a_session_is_linked_by_its_first_hook_and_a_nested_one_is_not(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from capture.event import Event
    from nmem.dispatch import queue
    from nmem.live import after

    number = place.add("a")
    with queue.writing(place.db_path) as db:
        queue.claim(db, "me", queue.now(), 1)
    db = store.connect(place.db_path)
    tables.ensure(db)
    db.execute("INSERT INTO projects VALUES (1, 'shop', 'shop', '/src/shop', NULL, 0)")
    for name in ("first", "nested", "cleared"):
        db.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at)"
            " VALUES (?, 'claude', 1, '/', 1, 1)",
            (name,),
        )

    def begins(name: str, source: str = "startup") -> str | None:
        event = Event("claude", "session_start", name, queue.now())
        event.source = source
        after(db, event, place.db_path)
        return place.task(number).session_id

    assert begins("nested") is None
    monkeypatch.setenv("NMEM_TASK", str(number))
    assert begins("first") == "first"
    assert begins("nested") == "first"
    assert begins("cleared", "clear") == "cleared"
    monkeypatch.setenv("NMEM_TASK", "1; DROP TABLE tasks")
    assert begins("first") == "cleared"
    with queue.writing(place.db_path) as other:
        act_finish(other, number)
    monkeypatch.setenv("NMEM_TASK", str(number))
    assert begins("first", "clear") == "cleared"  # over is over
    db.close()


def test_a_task_gets_a_worktree_where_there_is_a_repository_and_says_where_not(place: Place) -> None:
    place.command("add", "write=new.py", "--cwd", str(place.project))
    assert place.task(1).worktree
    plain = place.folder / "plain"
    plain.mkdir()
    done = place.command("add", "write=new.py", "--cwd", str(plain))
    assert not place.task(2).worktree
    assert done.stderr == f"no worktree, the task runs in the folder itself: {plain} is not in a git repository\n"
    queue_task(place, prompt="x")
    assert place.task(3).worktree
    assert (
        "is not in a git repository" in place.command("add", "x", "--worktree", "--cwd", str(plain), check=False).stderr
    )
    place.run()
    assert not (place.project / "new.py").exists() and (plain / "new.py").exists()


def act_finish(db: Any, number: int) -> None:
    from nmem.dispatch import queue
    from nmem.dispatch.task import Outcome

    queue.finish(db, number, 1, Outcome("succeeded", 0), queue.now())


def test_files_of_an_attempt_are_the_owners_alone(place: Place) -> None:
    gate = place.folder / "gate"
    number = place.add(f"wait-for=@/{gate.name}")
    place.run(once=True)
    place.until(number, lambda one: bool(one.process))
    folder = Path(place.db_path).parent / "tasks" / f"{number}-1"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(os.stat(file).st_mode) for file in folder.iterdir()} == {0o600}  # noqa: PTH116
    gate.touch()
    place.until(number, lambda one: one.over)


def test_a_shell_whose_folder_was_removed_is_told_to_name_one(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    said = CliRunner().invoke(nmem, ["task", "add", "say", "hello"])
    assert isinstance(said.exception, NmemError)
    assert "the current folder is gone: name a folder to run in, by --cwd or --project" in str(said.exception)
    assert CliRunner().invoke(nmem, ["task", "add", "say", "hello", "--cwd", str(place.project)]).exit_code == 0


def test_a_state_is_told_as_a_sentence() -> None:
    assert [stands(state) for state in ("failed", "succeeded", "timed-out", "needs-input", "queued", "cancelled")] == [
        "failed", "succeeded", "timed out", "waits for input", "is queued", "is cancelled",
    ]  # fmt: skip
