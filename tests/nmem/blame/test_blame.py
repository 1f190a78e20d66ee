"""`nmem blame`: what made a line, told to a person; in repositories that agents, people and bots wrote."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from nmem import database
from nmem.blame import changes, git, match, reasons
from nmem.errors import NmemError
from nmem.marks import mark
from nmem.settle import settle
from tests.nmem.blame.world import HOUR, Lines, World, live
from tests.nmem.command_line import run

NAMES = ("a.py", "b.py", "src/c.py")
WHOLE = (
    "def total(lines, coupon=None):",
    "    net_amount = sum(line.price for line in lines)",
    "    discount_rate = coupon.rate if coupon else 0",
    "    return round(net_amount * (1 - discount_rate), 2)",
)


def test_a_path_with_a_drive_is_looked_for_as_it_stands(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "nmem.db")) as db:
        assert reasons.of_session(db, "none", "C:/Temp/try.py") == "C:/Temp/try.py"


def put(*texts: str) -> Any:
    """These lines are the file; those that it had already stay whose they are."""

    def change(lines: Lines, who: str) -> Lines:
        known = dict(lines)
        return [(text, known.get(text, who)) for text in texts]

    return change


def also(text: str, at: int = 0) -> Any:
    return lambda lines, who: [*lines[:at], (text, who), *lines[at:]]


def settled(world: World) -> World:
    settle(world.path, models=False, clock=lambda: world.at + HOUR)
    return world


def told(world: World, name: str, first: int = 1, last: int = 0) -> reasons.Answer:
    db = database.reader(world.path)
    try:
        return reasons.blame(db, str(world.root / name), first, last)
    finally:
        db.close()


def by_line(world: World, name: str = "invoice.py") -> list[str]:
    """Who made each line, as it is claimed; empty: nobody that is recorded."""
    out = []
    for block in told(world, name).blocks:
        who = block.reason.prompt.partition(":")[0] if block.reason else ""
        out += [who] * (block.last - block.first + 1)
    return out


@pytest.fixture
def world(tmp_path: Path, db_path: str, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path / "shop", db_path)
    monkeypatch.setenv("NMEM_DB", db_path)
    monkeypatch.chdir(made.root)
    return made


@pytest.fixture
def shop(world: World) -> World:
    """Bob writes a function, an agent mends it after a failing attempt and commits, a bot adds a header."""
    world.by_hand("invoice.py", put("def total(lines):", "    return sum(line.price for line in lines)"))
    world.commit("initial import", "Bob")
    world.begin()
    world.ask("The invoice total is wrong when a coupon is used")
    world.fails("pytest tests/test_invoice.py", "E  invoice.py:2: expected 12, got 24")
    world.edit("invoice.py", put(*WHOLE[:3], "    return net_amount * discount_rate"))
    world.fails("pytest tests/test_invoice.py", "E  invoice.py:4: expected 12, got 0")
    world.edit("invoice.py", put(*WHOLE))
    world.bash("pytest tests/test_invoice.py", "=== 3 passed in 0.1s ===")
    mark(world.path, "round the net amount after the discount", "decision", session_id=world.session, at=world.at)
    mark(world.path, "the logo is to be green", "decision", session_id=world.session, at=world.at + 1)
    world.agent_commits("fix: coupon is taken off once")
    world.by_hand("invoice.py", also("# Copyright 2025 the shop"), "bot")
    world.commit("chore: headers", "renovate-bot")
    return world


# no wrong claim


def judged(world: World) -> Counter[str]:
    """Lines, those that agents wrote and records saw committed, the claimed, and the wrongly claimed ones."""
    out: Counter[str] = Counter()
    for name in NAMES:
        if not world.files.get(name):
            continue
        for block in told(world, name).blocks:
            for text, who in world.files[name][block.first - 1 : block.last]:
                seen = block.commit is None or bool(block.seen_in or block.reason)
                out["lines"] += 1
                out["claimable"] += who.startswith("Task") and seen and match.strong(text)
                out["claimed"] += block.reason is not None and match.strong(text)
                out["wrong"] += block.reason is not None and not block.reason.prompt.startswith(f"{who}:")
    return out


def test_no_line_of_three_repositories_is_claimed_wrongly_and_most_are_claimed(tmp_path: Path, own_home: Path) -> None:
    found: Counter[str] = Counter()
    for seed in range(3):
        path = own_home / f"data{seed}"
        path.mkdir(mode=0o700)
        world = World(tmp_path / f"repo{seed}", str(path / "nmem.db"), seed)
        live(world, NAMES, 7)
        found += judged(settled(world))
        world.db.close()
    assert found["lines"] >= 200
    assert found["wrong"] == 0
    assert found["claimed"] / found["claimable"] > 0.6


def test_a_person_and_a_bot_get_no_episode(shop: World) -> None:
    assert by_line(settled(shop)) == ["", "Task 2", "Task 2", "Task 2", "Task 2"]


def test_lines_that_a_person_added_before_the_agent_committed_stay_the_persons(shop: World) -> None:
    shop.begin()
    shop.ask("log the total")
    shop.edit("invoice.py", also('    audit_trail.write("invoice total", lines)', 2))
    shop.by_hand("invoice.py", also("    taxes_abroad = lookup_taxes(country)", 3))
    shop.agent_commits("feat: audit trail")
    assert by_line(settled(shop))[2:4] == [shop.task, ""]
    assert "no recorded edit proves" in run("blame", "invoice.py:4").stdout


def test_a_line_that_was_taken_out_and_typed_again_by_hand_is_not_claimed(world: World) -> None:
    world.by_hand("invoice.py", put("tax_of_germany = 19", "tax_of_france = 20"))
    world.commit("initial import", "Bob")
    world.begin()
    world.ask("mend the taxes")
    world.edit("invoice.py", put("tax_of_germany = 19"))
    world.edit("invoice.py", put("tax_of_germany = 19", "tax_of_france = 20"))  # Bob's line comes back
    world.edit("invoice.py", also("tax_of_italy = 22", 2))
    world.edit("invoice.py", put("tax_of_germany = 19", "tax_of_france = 20"))
    world.by_hand("invoice.py", also("tax_of_italy = 22", 2))
    world.agent_commits("feat: taxes")
    assert by_line(settled(world)) == ["", "", ""]


def test_short_lines_and_those_of_two_prompts_are_claimed_only_between_others_of_their_edit(world: World) -> None:
    block = ("def first_function():", "    if ready_to_run:", "        return None", "", "    call_the_other_one()")
    world.begin()
    world.ask("write a function")
    world.edit("invoice.py", put(*block))
    world.by_hand("invoice.py", also("        return None", 5))
    world.agent_commits("feat: function")
    assert by_line(settled(world)) == [*[world.task] * 3, "", world.task, ""], "nobody knows whose a blank line is"
    world.ask("the same once more")
    world.edit("other.py", put("def first_function():", "x"))
    world.edit("invoice.py", also("def first_function():", 6))
    assert by_line(settled(world))[5:] == ["", ""]


def test_neighbours_that_nothing_explains_are_one_row_of_a_file(shop: World) -> None:
    shop.by_hand("invoice.py", also("# by Bob", 0))
    shop.commit("remarks", "Bob")
    shop.by_hand("invoice.py", also("# by Eve", 0))
    shop.commit("a remark", "Eve")
    settled(shop)
    told = run("blame", "invoice.py").stdout.splitlines()
    assert told[1].startswith("1-3\tlast changed in 3 commits by Eve, Bob, "), told
    assert told[1].endswith("nothing recorded made them") and len(told) == 3


def test_a_function_with_blank_lines_is_one_row_and_blank_lines_are_not_counted(world: World) -> None:
    texts = [text for number in range(6) for text in (f"value_of_everything_{number} = {number}", "")][:-1]
    world.begin()
    world.ask("write the values")
    world.edit("invoice.py", put(*texts))
    world.agent_commits("feat: values")
    settled(world)
    heading, *rows = run("blame", "invoice.py").stdout.splitlines()
    assert "6 of 6 lines explained" in heading
    assert [row.partition("\t")[0] for row in rows] == ["1-11"]


def test_lines_in_no_commit_around_a_committed_blank_one_are_not_committed_yet(world: World) -> None:
    world.by_hand("invoice.py", put(""))
    world.commit("initial import", "Bob")
    world.by_hand("invoice.py", put("a = 1", "", "b = 2"))
    assert run("blame", "invoice.py").stdout.splitlines()[1:] == ["1-3\tnot committed yet; nothing recorded made them"]
    world.by_hand("other.py", put("a = 1"))
    world.commit("another", "Bob")
    world.by_hand("other.py", put("a = 1", "b = 2"))
    assert "last changed in 1 commit by Bob and some not committed;" in run("blame", "other.py").stdout


LINE = "value_of_everything = 42"


def begun(world: World) -> None:
    """A file of Bob's, and a line that the agent adds to its top."""
    world.by_hand("invoice.py", put("a = 1", "b = 2"))
    world.commit("initial import", "Bob")
    world.begin()
    world.ask("add the value")
    world.edit("invoice.py", also(LINE, 1))


def test_a_copy_typed_by_hand_is_not_claimed_when_that_of_the_agent_is_gone(world: World) -> None:
    begun(world)
    world.by_hand("invoice.py", also(LINE, 3))
    world.agent_commits("feat: value")
    world.by_hand("invoice.py", put("a = 1", "b = 2", LINE))
    world.commit("remove the first", "Bob")
    assert by_line(settled(world)) == ["", "", ""]


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- invoice.py", "git checkout invoice.py", "git checkout HEAD invoice.py", "git checkout -f",
        "git checkout -- '*.py'", "git checkout -- :/invoice.py", "git checkout -- {root}/invoice.py", "git stash",
        "git stash push -m wip -- invoice.py", "git reset --hard origin/main", "git restore .", "rm invoice.py",
        "git -C {root} restore invoice.py", "git checkout -- invoice.py && git checkout -- other.py",
        "git checkout invoice.py && pytest",
    ],
)  # fmt: skip
def test_a_line_that_was_discarded_and_typed_by_hand_is_not_claimed(world: World, command: str) -> None:
    begun(world)
    world.bash(command.format(root=world.root))
    world.by_hand("invoice.py", put("a = 1", "b = 2", LINE))
    world.agent_commits("feat: value")
    assert by_line(settled(world)) == ["", "", ""]


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -b mended", "git checkout main", "git checkout -- other.py", "git stash pop", "git reset -q",
        "git rm --cached other.py", "rm -rf /tmp/trial", "git restore --staged .", "echo git stash", "git clean -n",
        "git -C /elsewhere checkout -- invoice.py.orig", "git commit -m 'git stash'",
    ],
)  # fmt: skip
def test_a_command_that_takes_nothing_of_the_file_back_leaves_its_lines_claimed(world: World, command: str) -> None:
    begun(world)
    world.bash(command)
    assert by_line(settled(world)) == ["", world.task, ""]


def test_a_secret_that_was_replaced_by_hand_is_not_claimed(world: World) -> None:
    begun(world)
    secrets = [f'github_token = "ghp_{each * 3}"' for each in ("aB3dE6gH9jK2", "zY9xW6vU3tS8")]
    world.edit("invoice.py", also(secrets[0], 3))
    world.by_hand("invoice.py", put("a = 1", LINE, "b = 2", secrets[1]))
    world.agent_commits("feat: token")
    assert by_line(settled(world)) == ["", world.task, "", ""]


def test_a_commit_of_a_bot_with_the_words_of_an_agents_is_not_the_agents(world: World) -> None:
    begun(world)
    world.agent_commits("wip")
    world.by_hand("invoice.py", put("a = 1", "b = 2", LINE))
    world.commit("wip", "dependabot[bot]")
    assert by_line(settled(world)) == ["", "", ""]


def test_what_a_person_put_back_after_a_commit_of_theirs_is_not_claimed(world: World) -> None:
    begun(world)
    world.commit("take the value", "Bob")
    world.by_hand("invoice.py", put("a = 1", "b = 2"))
    world.commit("remove the value", "Bob")
    world.by_hand("invoice.py", put("a = 1", "b = 2", LINE))
    assert by_line(settled(world)) == ["", "", ""]


def test_what_a_person_put_back_is_not_claimed_after_the_file_is_renamed(world: World) -> None:
    begun(world)
    world.commit("take the value", "Bob")
    world.by_hand("invoice.py", put("a = 1", "b = 2"))
    world.commit("remove the value", "Bob")
    world.by_hand("invoice.py", put("a = 1", "b = 2", LINE))
    world.agent_commits("feat: value")
    world.git("mv", "invoice.py", "bill.py")
    world.files["bill.py"] = world.files.pop("invoice.py")
    world.commit("rename", "Bob")
    assert by_line(settled(world), "bill.py") == ["", "", ""]


def test_secrets_are_looked_for_in_the_file_and_not_in_its_old_versions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(world)
    for number in range(9):
        world.by_hand("invoice.py", put("a = 1", f"b = {number}"))
        world.commit("more", "Bob")
    world.by_hand("invoice.py", also(LINE, 1))
    world.agent_commits("feat: value")
    redact = Mock(side_effect=str)
    monkeypatch.setattr(reasons, "redact", redact)
    lines = told(settled(world), "invoice.py").lines
    assert redact.call_count <= 3 * lines


def test_a_file_written_over_says_nothing_of_what_stood_there(world: World) -> None:
    world.by_hand("invoice.py", put("typed_by_hand_before = 1"))
    world.begin()
    world.ask("write it anew")
    world.bash("cat invoice.py")
    texts = "typed_by_hand_before = 1\nwritten_by_the_agent = 2"
    world.by_hand("invoice.py", put(*texts.split("\n")))
    world.bash(f"cat > invoice.py <<'EOF'\n{texts}\nEOF")
    world.bash("cat > new_file.py <<'EOF'\nwritten_in_a_new_file = 3\nEOF")
    world.by_hand("new_file.py", put("written_in_a_new_file = 3"))
    assert by_line(settled(world)) == ["", ""]
    assert by_line(world, "new_file.py") == [world.task]


# commits that were written anew, moved and renamed


def test_an_amended_and_a_rebased_commit_is_known_by_its_time_and_subject(shop: World) -> None:
    shop.begin()
    shop.ask("log the total")
    shop.edit("invoice.py", also('    audit_trail.write("invoice total", lines)', 2))
    shop.agent_commits("feat: audit trail")
    shop.by_hand("invoice.py", also("    added_when_amending = True", 3))
    shop.commit("", "Ada", "--amend", "-C", "HEAD")
    shop.rebase("invoice.py")
    settled(shop)
    hashes = {block.commit.hash for block in told(shop, "invoice.py").blocks if block.commit}
    recorded = str(shop.db.execute("SELECT metadata FROM observations WHERE obs_type = 'git_commit'").fetchall())
    assert len([one for one in hashes if one[:7] not in recorded]) >= 3
    claimed = dict(zip(shop.texts("invoice.py"), by_line(shop), strict=True))
    assert claimed['    audit_trail.write("invoice total", lines)'] == shop.task
    assert claimed["    added_when_amending = True"] == ""


def test_a_renamed_file_keeps_its_reasons(shop: World) -> None:
    shop.git("mv", "invoice.py", "bill.py")
    shop.files["bill.py"] = shop.files.pop("invoice.py")
    shop.commit("refactor: rename", "Bob")
    assert by_line(settled(shop), "bill.py") == ["", *["Task 2"] * 4]


def test_a_commit_of_somebody_else_with_the_same_subject_is_not_taken_for_it(shop: World) -> None:
    shop.at += HOUR
    shop.by_hand("invoice.py", also("    discount_rate = coupon.rate if coupon else 0", 1))
    shop.commit("fix: coupon is taken off once", "Bob")
    assert by_line(settled(shop))[1] == ""


# what is told


def test_a_line_tells_its_prompt_what_failed_before_how_tests_ended_and_what_was_decided(shop: World) -> None:
    settled(shop)
    found = run("blame", "./invoice.py:5")
    assert found.returncode == 0
    for part in ("The invoice total is wrong", "episode/1", "expected 12, got 0", "3 passed", "passed in the end",
                 "round the net amount", "instead of\t    return net_amount",
                 "fix: coupon is taken off once, by Ada"):  # fmt: skip
        assert part in found.stdout
    assert "green" not in found.stdout


def test_what_nobody_recorded_is_one_line_and_exit_code_1(shop: World) -> None:
    settled(shop)
    found = run("blame", "invoice.py:1")
    commit = shop.git("rev-parse", "HEAD")[:8]
    said = f"line 1 was last changed in {commit} by renovate-bot on 2025-10-09; nothing recorded made it\n"
    assert (found.returncode, found.stdout) == (1, said)


def test_an_edit_that_a_person_committed_by_hand_is_named_and_not_claimed(world: World) -> None:
    begun(world)
    world.edit("invoice.py", also("    pass", 2))
    world.edit("invoice.py", put("a = 1", *WHOLE, "b = 2"))
    world.commit("take it by hand", "Bob")
    world.by_hand("invoice.py", also("typed_by_bob_himself = 3", 0))
    world.commit("and more", "Bob")
    settled(world)
    assert by_line(world) == [""] * 7
    edit = world.db.execute("SELECT max(id) FROM observations WHERE obs_type = 'file_edit'").fetchone()[0]
    said = f"by Bob on 2025-10-09, outside a recorded session; obs/{edit} (episode/1) had added this text before"
    found = run("blame", "invoice.py:4")
    assert found.returncode == 1 and found.stdout.strip().endswith(said)
    assert "nothing recorded made it" in run("blame", "invoice.py:1").stdout
    blocks = json.loads(run("blame", "invoice.py", "--json").stdout)["blocks"]
    assert [(one["first"], one["last"], one["added_by"], one["added_in"]) for one in blocks] == [
        (1, 1, 0, 0), (2, 2, 0, 0), (3, 6, edit, 1), (7, 7, 0, 0),
    ]  # fmt: skip


def test_a_whole_file_is_a_row_a_block_and_json_has_the_same(shop: World) -> None:
    shop.by_hand("invoice.py", also("# to be continued tomorrow", 5))
    settled(shop)
    rows = [row.partition("\t")[0] for row in run("blame", "invoice.py").stdout.splitlines() if "\t" in row]
    assert rows == ["1", "2-5", "6"]
    found = json.loads(run("blame", "invoice.py", "--json").stdout)
    assert [(one["first"], one["last"], bool(one["reason"])) for one in found["blocks"]] == [
        (1, 1, False), (2, 5, True), (6, 6, False),
    ]  # fmt: skip
    assert found["blocks"][2]["commit"] is None and found["explained"] == 4


@pytest.mark.parametrize(
    ("where", "said", "code"),
    [
        ("invoice.py:9", "has 5 lines", 1), ("none.py", "there is no file", 1),
        ("invoice.py:3-2", "counted from 1", 2), ("picture", "is no text file", 1),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_in_one_line(shop: World, where: str, said: str, code: int) -> None:
    (shop.root / "picture").write_bytes(b"\0\1")
    found = run("blame", where)
    assert found.returncode == code and said in found.stderr and "Traceback" not in found.stderr


def test_odd_names_work(shop: World) -> None:
    shop.ask("and two odd files")
    shop.edit("-x:7", put("written_in_an_odd_file = 1"))
    shop.edit(":(top)y.py", put("written_in_another_odd_file = 1"))
    shop.agent_commits("feat: odd files")
    settled(shop)
    assert by_line(shop, "-x:7") == by_line(shop, ":(top)y.py") == [shop.task]
    assert run("blame", "--", "-x:7:1").returncode == 0


def test_what_no_repository_holds_is_told_of_edits_alone(tmp_path: Path, world: World) -> None:
    world.git("config", "--local", "user.name", "Ada")
    world.begin()
    world.ask("write a script")
    world.edit("script.py", put("written_before_any_commit = 1"))
    assert by_line(settled(world), "script.py") == [world.task]
    (world.root / ".git").rename(tmp_path / "away")
    assert told(world, "script.py").blocks[0].commit is None


def test_secrets_of_the_file_and_of_commits_do_not_leave(shop: World) -> None:
    secret = "ghp_" + "a8Kd03JfLq92MxZp" + "71RtYw45BnVc6sHg20Ee"
    shop.by_hand("invoice.py", also(f'token_of_the_shop = "{secret}"', 1))
    shop.commit(f"chore: {secret}", "Bob")
    settled(shop)
    for words in (("blame", "invoice.py"), ("blame", "invoice.py:2"), ("blame", "invoice.py", "--json")):
        assert secret not in run(*words).stdout


def test_nothing_that_a_repository_configures_is_run(shop: World, tmp_path: Path) -> None:
    trap, ran = tmp_path / "trap", tmp_path / "ran"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\ncat "$1" 2>/dev/null\nexit 1\n')
    trap.chmod(0o755)
    hooks = shop.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "post-checkout", "pre-commit"):
        (hooks / name).symlink_to(trap)
    settled(shop)
    for name in ("core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "filter.x.clean",
                 "filter.x.smudge", "filter.x.process", "filter.a=b.clean", "gpg.program", "core.pager", "pager.show",
                 "core.sshCommand", "core.alternateRefsCommand"):  # fmt: skip
        shop.git("config", name, str(trap))
    for name in ("log.showSignature", "filter.x.required", "core.untrackedCache"):
        shop.git("config", name, "true")
    (shop.root / ".git/info/attributes").write_text("*.py diff=x filter=x\n*.md filter=a=b\n")
    assert run("blame", "invoice.py:3").returncode == 0
    assert run("show", "1", "--diff", "--all").returncode == 0
    assert not ran.exists(), ran.read_text()
    subprocess.run(["git", "status"], cwd=shop.root, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True,
                   check=False)  # fmt: skip
    assert ran.exists()  # the trap works


@pytest.mark.parametrize("there", [True, False])
def test_commits_that_git_is_told_to_ignore_are_told_all_the_same(shop: World, there: bool) -> None:
    settled(shop)
    (shop.root / ".gitattributes").write_text("*.py text eol=crlf\n")
    shop.git("add", ".gitattributes")
    before = told(shop, "invoice.py")
    shop.git("config", "blame.ignoreRevsFile", "lists/ignored")
    if there:
        (shop.root / "lists").mkdir()
        (shop.root / "lists/ignored").write_text(shop.git("rev-parse", "HEAD~1"))
    assert told(shop, "invoice.py") == before
    assert [block.commit is None for block in before.blocks] == [False] * len(before.blocks)


def test_a_submodule_s_own_changes_are_not_shown(shop: World, tmp_path: Path) -> None:
    inner = World(tmp_path / "inner", str(tmp_path / "inner.db"))
    inner.by_hand("secret.py", put("within_the_submodule = 1"))
    inner.commit("one")
    shop.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.root), "sub")
    shop.commit("add it")
    shop.git("config", "diff.submodule", "diff")
    shown = git.shown(str(shop.root), shop.git("rev-parse", "HEAD").strip(), patch=True)
    assert shown and any(line.startswith("+Subproject commit") for line in shown)
    assert not any("within_the_submodule" in line for line in shown)


def test_a_large_commit_is_read_no_further_than_is_shown(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    settled(shop)
    monkeypatch.setattr(git, "_SHOWN", 400)
    shop.by_hand("big.txt", put(*(f"line {number}" for number in range(50_000))))
    shop.commit("big")
    shown = git.shown(str(shop.root), shop.git("rev-parse", "HEAD").strip(), patch=True)
    assert shown and shown[-1] == git.CUT and len("\n".join(shown)) < 450
    assert changes._plain(shown, 5)[-1] == f"\\ over {len(shown) - 5} more lines"
    assert git.shown(str(shop.root), "0" * 40, patch=True) is None


def test_no_more_commits_are_read_than_can_be_looked_at(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = [{"hash": shop.git("rev-parse", name).strip(), "message": name} for name in ("HEAD", "HEAD~1", "HEAD~2")]
    monkeypatch.setattr(changes, "_COMMITS", 2)
    found = list(changes._commits(str(shop.root), stored, whole=False))
    assert ["not read" in one.lines[-1] for one in found] == [False, False, True]
    monkeypatch.setattr(changes, "_SECONDS", -1.0)
    assert all("not read" in one.lines[-1] for one in changes._commits(str(shop.root), stored, whole=False))


def test_a_git_that_does_not_answer_is_one_line(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmem.store.git.SECONDS", 0.0)
    with pytest.raises(NmemError, match="git rev-parse did not answer"):
        told(shop, "invoice.py")


@pytest.mark.parametrize(
    ("where", "said", "code"),
    [
        ("", "no file is named", 2), (".", "is a folder", 2), ("/", "is a folder", 2), (".:3", "is a folder", 2),
        ("invoice.py:abc", ":12 or :12-20", 2), ("invoice.py:1,5", ":12 or :12-20", 2),
        ("invoice.py:-5", ":12 or :12-20", 2), ("invoice.py:1-2-3", ":12 or :12-20", 2),
        ("other.py:abc", "there is no file", 1), ("/etc/passwd:1", "line 1 is in no repository", 1),
    ],
)  # fmt: skip
def test_what_cannot_be_blamed_says_why(shop: World, where: str, said: str, code: int) -> None:
    found = run("blame", where)
    assert said in found.stdout + found.stderr
    assert found.returncode == code


# what an episode changed


def test_the_diff_of_an_episode_is_its_edits_and_its_commits(shop: World) -> None:
    settled(shop)
    found = run("show", "episode/1", "--diff").stdout.splitlines()
    assert found[0].startswith("1 file · ") and found[0].endswith(" · 1 commit")
    assert found[1:3] == ["--- a/invoice.py", "+++ b/invoice.py"]
    assert found[3].startswith("@@ obs/") and "+4 -2" in found[3]
    assert "-    return net_amount * discount_rate" in found and f"+{WHOLE[3]}" in found
    assert any(row.startswith("@@ commit") and "coupon is taken off once" in row for row in found)
    assert " invoice.py | 6 ++++--" in found and not any(row.startswith("diff --git") for row in found)
    assert "diff --git a/invoice.py b/invoice.py" in run("show", "1", "--diff", "--all").stdout


def test_a_commit_that_is_gone_is_named_and_other_things_have_no_diff(shop: World, tmp_path: Path) -> None:
    settled(shop)
    (shop.root / ".git").rename(tmp_path / "away")
    assert "not in a repository here" in run("show", "1", "--diff").stdout
    assert json.loads(run("show", "1", "--diff", "--json").stdout)["commits"][0]["lines"] == []
    assert run("show", "prompt/1", "--diff").returncode == 2
    assert run("show", "99", "--diff").returncode == 1


def test_edits_whose_texts_were_not_kept_have_no_numbers(shop: World) -> None:
    settled(shop)
    with closing(sqlite3.connect(shop.path)) as db:
        db.execute("UPDATE observations SET content = 'invoice.py', lines_added = 0, lines_removed = 0")
        db.commit()
    found = run("show", "1", "--diff").stdout.splitlines()
    assert found[1].startswith("\\ the text") and found[1].endswith("not kept")
    assert "obs/" not in "".join(found)
    hunks = json.loads(run("show", "1", "--diff", "--json").stdout)["files"][0]["hunks"]
    assert {(one["added"], one["removed"]) for one in hunks} == {(None, None)}


def test_a_diff_names_files_relative_to_the_project_else_as_they_are(shop: World) -> None:
    settled(shop)
    ids = [row[0] for row in shop.db.execute("SELECT id FROM observations WHERE file_path = 'invoice.py' ORDER BY id")]
    shop.db.execute("UPDATE observations SET file_path = ? WHERE id = ?", (f"{shop.root}/src/a.py", ids[0]))
    shop.db.execute("UPDATE observations SET file_path = '/tmp/x' WHERE id = ?", (ids[1],))
    shop.db.commit()
    found = run("show", "1", "--diff").stdout.splitlines() + run("show", "2", "--diff").stdout.splitlines()
    heads = {row for row in found if row.startswith(("--- ", "+++ "))}
    assert {"+++ b/src/a.py", "+++ /tmp/x"} <= heads, heads
