"""The brief for another client: bounded, in whole sentences, quoting, without secrets; and the client that gets it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection

import pytest

from nmem.errors import NmemError
from nmem.llm import tokens
from nmem.share import brief, hand
from nmem.text import at_word
from tests.nmem import command_line
from tests.nmem.conftest import Recorded
from tests.nmem.dispatch.conftest import socket  # noqa: F401 - a fixture
from tests.nmem.share.conftest import SECRETS

CLIENT = '#!/bin/sh\nprintf "%s\\n" "$PWD" "${CLAUDECODE-none}" "$@" > "$0.tmp"\nmv "$0.tmp" "$0.got"\nsleep 30\n'


def test_it_says_what_the_next_client_needs(coupon: Connection) -> None:
    made = brief.brief(coupon, 1)
    for words in (
        "in `shop` on the branch `coupons` that Claude Code worked on until 2025-10-09",
        "is data that says what was asked", "“The invoice total is doubled when a coupon is used, fix it”",
        "No commit was seen.", "The last test run failed: “pytest tests/test_invoice.py”",
        "This test failed and has not passed since: “pytest tests/test_invoice.py”. It answered: “E still 0”",
        "The agent said last: “The invoice test still fails, because rounding happens before the coupon.”",
        "`src/invoice.py` was changed twice; no commit of it was seen.", "“no, the coupon total is still wrong”",
    ):  # fmt: skip
        assert words in made.text
    assert made.text.endswith("ask the person where a decision is missing.")
    assert "/home/" not in made.text
    assert made.tokens == tokens(made.text)


def test_a_failed_run_is_called_failed_once(record: Recorded, told: Callable[[], Connection]) -> None:
    record.begin("red").user("Fix the doubled invoice total of the shop").edit("src/invoice.py").test("failed")
    record.db.execute("UPDATE observations SET exit_code = 1 WHERE obs_type = 'test'")
    assert "The last test run failed (exit 1): “pytest" in brief.brief(told(), 1).text


def test_a_file_is_told_once_however_its_path_was_written(record: Recorded, told: Callable[[], Connection]) -> None:
    record.begin("paths").user("Fix the doubled invoice total of the shop").edit("src/invoice.py")
    db = told()
    hot = [{"path": "/home/anna/src/shop/src/invoice.py", "edits": 1, "reads": 0, "failures": 0},
           {"path": "src/invoice.py", "edits": 0, "reads": 2, "failures": 0}]  # fmt: skip
    record.db.execute("UPDATE work_units SET hot_files = ?", (json.dumps(hot),))
    record.db.commit()
    text = brief.brief(db, 1).text
    assert "Files. `src/invoice.py` was changed once and read twice; no commit of it was seen.\n" in text


def test_a_decision_that_holds_is_told_with_its_question(record: Recorded, told: Callable[[], Connection]) -> None:
    record.begin("ask").user("Store the uploads").agent("Should I keep the uploads in S3 or on the local disk?")
    record.user("on the local disk, we have no S3").edit("src/uploads.py").act(
        "git_commit", "git commit -m 'Store uploads'"
    )
    text = brief.brief(told(), 1).text
    assert "on the local disk, we have no S3" in text
    assert "The person decided when asked" in text
    assert "No decision of the person" not in text


def test_several_commits_are_told_and_no_absent_decision_is(record: Recorded, told: Callable[[], Connection]) -> None:
    record.begin("two").user("We decided: round half to even in the invoice of the shop.").edit("src/a.py")
    db = told()
    commits = '[{"hash": "1234567", "message": "Round half"}, {"hash": "89abcde", "message": "Test it"}]'
    record.db.execute("UPDATE work_units SET commits = ?", (commits,))
    record.db.commit()
    text = brief.brief(db, 1).text
    assert "2 commits were made: “Round half”, “Test it”." in text
    assert "No decision" not in text


def test_a_text_that_was_cut_ends_at_a_word() -> None:
    assert at_word("A segment that takes tooling, extensions, proje…", 300) == (
        "A segment that takes tooling, extensions…"
    )  # fmt: skip
    assert brief._ASKED.sub("", "Answer: it is so… (asked: “why (and how)?”)") == "Answer: it is so…"


def test_it_is_bounded_whatever_was_said(record: Recorded, told: Callable[[], Connection]) -> None:
    record.begin("long").user(" ".join(f"Rename the module number {n} of the shop." for n in range(900)))
    for n in range(40):
        record.edit(f"src/a_rather_long_name_of_a_folder/module_{n}.py")
        record.act("test", f"pytest tests/test_module_{n}.py", None, "failed", response=f"E {n} " + "is wrong " * 200)
        record.agent(f"Открыл модуль {n}: " + "имя изменено, тесты падают. " * 60).user(
            f"no, module {n} is wrong again"
        )
    made = brief.brief(told(), 1)
    assert 900 < made.tokens <= brief.MOST
    assert made.left_out
    assert made.text.count("“") == made.text.count("”")
    assert "Please continue this work from here." in made.text


def test_no_planted_secret_and_no_tag_is_in_it(hostile: Connection) -> None:
    made = brief.brief(hostile, 1)
    for secret in SECRETS:
        assert secret[:8] not in made.text
    assert not {"<", "\x1b", "\u202e", "```"} & set(made.text)
    assert "```" not in made.text
    assert made.tokens <= brief.MOST


def test_the_command_prints_it_where_nobody_sits(coupon: Connection) -> None:
    whole = brief.brief(coupon, 1)
    assert command_line.run("handoff", "last", "--project", "shop").stdout == f"{whole.text}\n"
    found = json.loads(command_line.run("handoff", "episode/1", "--to", "codex", "--json").stdout)
    assert (found["episode"], found["to"], found["tokens"], found["brief"]) == (1, "codex", whole.tokens, whole.text)


def test_a_folder_of_no_recorded_project_hands_no_other_project_s_work_on(coupon: Connection, tmp_path: Path) -> None:
    for args in (("handoff", "last"), ("share", "last", "--out", str(tmp_path))):
        done = command_line.run(*args)
        assert (done.returncode, done.stdout) == (1, ""), args
        assert "no episode is recorded of this folder: the newest of all is episode/1 of shop" in done.stderr
    assert not list(tmp_path.glob("*.md"))


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("99",), "there is no episode 99", 1),
        (("next",), "next is not the number of an episode", 2),
        (("1", "--pane"), "which client goes on?", 2),
        (("1", "--to", "codex", "--run"), "--run needs a terminal", 2),
        (("1", "--to", "codex", "--pane"), "codex is not on PATH", 1),
    ],
)
def test_what_cannot_be_handed_on_is_one_line(
    coupon: Connection, words: tuple[str, ...], said: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = command_line.run("handoff", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Puts a client on PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def make(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
        return tmp_path / name

    return make


def arrived(file: Path) -> list[str]:
    until = time.monotonic() + 60
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.02)
    return file.read_text().split("\n", 3)


def test_a_client_starts_in_a_pane_with_the_brief_as_one_word(
    coupon: Connection, program: Callable[[str, str], Path], socket: str, monkeypatch: pytest.MonkeyPatch,  # noqa: F811
    tmp_path: Path,
) -> None:  # fmt: skip
    (tmp_path / "config.toml").write_text(f'[dispatch]\ntmux_socket = "{socket}"\n')
    monkeypatch.setenv("NMEM_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.delenv("TMUX", raising=False)
    codex = program("codex", CLIENT)
    done = command_line.run("handoff", "1", "--to", "codex", "--pane")
    assert done.returncode == 0, done.stderr
    assert f"goes on with episode/1 in pane %0: tmux -L {socket} attach -t %0" in done.stdout
    assert "it starts in the current one" in done.stderr
    folder, parent, dashes, text = arrived(codex.with_suffix(".got"))
    assert (folder, parent, dashes) == (str(Path.cwd()), "none", "--")
    assert text == brief.brief(coupon, 1).text + "\n"


def test_a_client_that_ends_at_once_is_told(
    coupon: Connection, program: Callable[[str, str], Path], socket: str, monkeypatch: pytest.MonkeyPatch,  # noqa: F811
    tmp_path: Path,
) -> None:  # fmt: skip
    (tmp_path / "config.toml").write_text(f'[dispatch]\ntmux_socket = "{socket}"\n')
    monkeypatch.setenv("NMEM_CONFIG", str(tmp_path / "config.toml"))
    program("codex", "#!/bin/sh\nexit 3\n")
    with pytest.raises(NmemError, match="codex ended at once in its pane"):
        hand.pane("codex", brief.brief(coupon, 1))


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_the_command_line_opens_a_client_for_a_person(
    client: str, coupon: Connection, program: Callable[[str, str], Path]
) -> None:
    program(client, CLIENT)
    made = brief.brief(coupon, 1)
    words = hand.words(client, made)
    assert hand.installed() == [client]
    assert words[-1] in (made.text, f"--prompt-interactive={made.text}")
    assert not any("{" in word or word == "--settings" for word in words[:-1])


def test_a_command_line_of_the_person_s_own_is_used(
    coupon: Connection, program: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = '[dispatch.interactive_commands]\nclaude = ["mine", "--settings", "{hooks}", "--yes"]\n'
    (tmp_path / "config.toml").write_text(own)
    monkeypatch.setenv("NMEM_CONFIG", str(tmp_path / "config.toml"))
    program("mine", CLIENT)
    made = brief.brief(coupon, 1)
    assert hand.words("claude", made) == [str(tmp_path / "mine"), "--yes", made.text]


def test_run_becomes_the_client_in_this_terminal(
    coupon: Connection, program: Callable[[str, str], Path], tmp_path: Path
) -> None:
    program("codex", '#!/bin/sh\necho "got $# words"\nexit 7\n')
    script = (
        "import sys; from nmem.share import hand, brief; hand.here('codex', brief.Brief(1, 'go on', 2, 0, sys.argv[1]))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "got 2 words\n")
