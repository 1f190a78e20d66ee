"""A status line with nmem beside it: the person's own command cannot tell, and the figures arrive."""

from __future__ import annotations

import json
import os
import select
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture import statusline
from capture.install import status_line
from capture.storage import store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no line is wrapped on Windows")

NUMBERS = {
    "session_id": "s1",
    "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"},
    "cost": {"total_cost_usd": 0.42},
    "context_window": {
        "context_window_size": 1_000_000,
        "current_usage": {
            "input_tokens": 1000, "output_tokens": 77, "cache_creation_input_tokens": 200,
            "cache_read_input_tokens": 30_000,
        },
    },
}  # fmt: skip
GIVEN = json.dumps(NUMBERS).encode()
ROW = ("claude-opus-5-5", 1_000_000, 31_200, 0.42)


@pytest.fixture
def db(db_path: str) -> sqlite3.Connection:
    """A database that knows the session."""
    made: sqlite3.Connection = store.connect(db_path)
    made.execute("INSERT INTO projects VALUES (1, 'k', 'n', '/r', NULL, 1)")
    made.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES ('s1', 'claude', 1, '/r', 1, 1)"
    )
    return made


@contextmanager
def watched() -> Iterator[int]:
    """A file for processes to inherit; ends when the last of them is gone, whoever's child it was."""
    reading, writing = os.pipe()
    try:
        yield writing
        os.close(writing)
        assert select.select([reading], [], [], 60)[0], "a process apart is still there"
    finally:
        os.close(reading)


def run(
    command: str, given: bytes = GIVEN, shell: str = "/bin/sh", held: tuple[int, ...] = (), **env: str
) -> subprocess.CompletedProcess[bytes]:
    """A command as the client runs one: in a shell, in a group of its own."""
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("LC_")} | env
    return subprocess.run([shell, "-c", command], input=given, capture_output=True, timeout=300, env=surroundings,
                          start_new_session=True, pass_fds=held)  # fmt: skip


def beside_nmem(
    command: str, db_path: str, given: bytes = GIVEN, shell: str = "/bin/sh", **env: str
) -> subprocess.CompletedProcess[bytes]:
    """A command with nmem beside it, which has stored what it will when this returns."""
    with watched() as held:
        return run(status_line.wrapped(command, db_path), given, shell, (held,), **env)


def both(command: str, db_path: str, given: bytes = GIVEN, shell: str = "/bin/sh", **env: str) -> None:
    """Assert that a command beside nmem does what it does alone, to the byte."""
    alone = run(command, given, shell, (), **env)
    beside = beside_nmem(command, db_path, given, shell, **env)
    assert (beside.stdout, beside.stderr, beside.returncode) == (alone.stdout, alone.stderr, alone.returncode)


def rows(db: sqlite3.Connection) -> list[tuple[object, ...]]:
    return db.execute("SELECT model, window_size, tokens, cost_usd FROM status_lines").fetchall()


def stored(db: sqlite3.Connection, want: list[tuple[object, ...]]) -> None:
    """Wait until the process apart has stored what is wanted."""
    until = time.monotonic() + 60
    while rows(db) != want and time.monotonic() < until:
        time.sleep(0.02)
    assert rows(db) == want


COMMANDS = {
    "plain": "echo hello",
    "what it is given": "cat",
    "colours and bytes": r"printf '\033[1;31mred\033[0m\n\000\377 two\n'",
    "both streams and a failure": "echo out; echo err >&2; exit 3",
    "nothing": "true",
    "missing": "no-such-command-anywhere --now",
    "killed by itself": "echo a; kill -9 $$",
    "half of the input": "head -c 20",
    "no look at the input": "exec 0<&-; echo done",
    "quotes": """echo "it's" 'a "line"' \\$HOME `echo x` $(echo y) é""",
    "lines": "for i in 1 2\ndo\n echo $i # comment\ndone",
    "arguments": 'echo "$#" "$0" "$*"',
    "surroundings": "env | grep -v ^_= | sort; pwd; umask",
    "a broken pipe": "yes | head -1; (trap '' PIPE; true); sh -c 'kill -PIPE $$'; echo $?",
    "children": "wait; ps -o pid= --ppid $$ | wc -l",
    "a syntax error": "echo (",
    "slow": "echo a; sleep 0.3; cat",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_own_line_is_untouched(name: str, db: sqlite3.Connection, db_path: str) -> None:
    both(COMMANDS[name], db_path)
    stored(db, [ROW])


@pytest.mark.parametrize("shell", ["/bin/bash", "bash", "zsh", "dash"])
def test_it_runs_in_the_client_s_own_shell(shell: str, db: sqlite3.Connection, db_path: str) -> None:
    if not any((Path(folder) / shell).exists() for folder in ("/", "/bin", "/usr/bin")):
        pytest.skip(f"{shell} is absent")
    both('echo "$0"; [ -n "$BASH_VERSION" ] && [[ a == a ]] && echo "bash ${0##*/}"; cat', db_path, shell=shell)


@pytest.mark.parametrize("env", [{}, {"LC_CTYPE": "C"}, {"LC_CTYPE": ""}, {"LC_ALL": "C"}, {"LANG": "C.UTF-8"}],
                         ids=str)  # fmt: skip
def test_the_locale_is_the_client_s(env: dict[str, str], db: sqlite3.Connection, db_path: str) -> None:
    """Python sets LC_CTYPE where it finds a locale of ASCII alone."""
    both("env | grep ^L | sort", db_path, GIVEN, "/bin/sh", **env)


def test_input_larger_than_any_pipe_passes_whole(db: sqlite3.Connection, db_path: str) -> None:
    given = json.dumps({**NUMBERS, "padding": "x" * 3_000_000}).encode()
    both("sleep 0.2; wc -c; cat", db_path, given)
    given = json.dumps({"padding": "x" * 300_000, **NUMBERS}).encode()
    both("head -c 5", db_path, given)
    stored(db, [ROW])


@pytest.mark.parametrize("given", [b"", b"{", b"[1]", b"\xff\x00", b'{"session_id": 3}', b'{"session_id": "other"}'])
def test_odd_input_is_passed_on_and_nothing_is_kept(given: bytes, db: sqlite3.Connection, db_path: str) -> None:
    both("cat", db_path, given)
    assert rows(db) == []
    assert not Path(db_path).with_name("nmem.log").exists()


def _took(command: str, db_path: str) -> float:
    """How many seconds a line takes with nmem beside it: the least of a few, because others work as well."""
    took = []
    for _ in range(3):
        with watched() as held:
            before = time.monotonic()
            run(status_line.wrapped(command, db_path), held=(held,))
            took.append(time.monotonic() - before)
    return min(took)


def test_nobody_waits_for_a_locked_database_and_the_write_is_left_out(db: sqlite3.Connection, db_path: str) -> None:
    usual = _took("echo usual", db_path + ".none")
    db.execute("BEGIN EXCLUSIVE")
    done = beside_nmem("echo quick", db_path)
    assert (done.stdout, done.returncode) == (b"quick\n", 0)
    assert _took("echo quick", db_path) < 10 * usual + 1
    db.execute("ROLLBACK")
    assert rows(db) == []
    run(status_line.wrapped("true", db_path))
    stored(db, [ROW])
    assert not Path(db_path).with_name("nmem.log").exists()


def test_without_a_database_none_is_made(db_path: str) -> None:
    both("cat", db_path)
    assert not Path(db_path).exists()


def test_an_input_that_never_ends_holds_nobody_up(db: sqlite3.Connection, db_path: str) -> None:
    """The client would see the line at once, as it does without nmem."""
    words = ["/bin/sh", "-c", status_line.wrapped("head -c 4; echo", db_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as line:
        assert line.stdin
        assert line.stdout
        line.stdin.write(GIVEN)
        line.stdin.flush()
        assert line.stdout.read() == GIVEN[:4] + b"\n"
        assert line.wait(60) == 0
        stored(db, [ROW])


def test_a_line_that_the_client_gives_up_is_gone_and_its_figures_are_kept(db: sqlite3.Connection, db_path: str) -> None:
    words = ["/bin/sh", "-c", status_line.wrapped("cat >/dev/null; echo here; sleep 300", db_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as line:
        assert line.stdin
        assert line.stdout
        line.stdin.write(GIVEN)
        line.stdin.close()
        assert line.stdout.readline() == b"here\n"
        os.killpg(line.pid, signal.SIGTERM)
        assert line.wait(60) == -signal.SIGTERM
        assert line.stdout.read() == b""
    stored(db, [ROW])


def test_when_nmem_is_gone_the_own_line_runs(db_path: str) -> None:
    line = status_line.wrapped('echo "it\'s mine"; cat', db_path)
    for gone in (status_line.file(), status_line.words(db_path)[0]):
        done = run(line.replace(gone, gone + ".gone"))
        assert (done.stdout, done.stderr, done.returncode) == (b"it's mine\n" + GIVEN, b"", 0)
    done = run(status_line.alone(db_path).replace("statusline.py", "gone.py"))
    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)


def test_questions_of_nmem_s_own_are_not_stored(db: sqlite3.Connection, db_path: str) -> None:
    done = beside_nmem("cat", db_path, NMEM_SKIP_HOOKS="1")
    assert done.stdout == GIVEN
    assert rows(db) == []


def given_(**more: object) -> bytes:
    return json.dumps({**NUMBERS, **more}).encode()


def test_the_same_is_written_once_and_the_cost_alone_not_at_once(db: sqlite3.Connection, db_path: str) -> None:
    assert statusline.store(GIVEN, db_path)
    assert not statusline.store(GIVEN, db_path)
    dearer = given_(cost={"total_cost_usd": 0.5})
    assert not statusline.store(dearer, db_path)
    db.execute("UPDATE status_lines SET at = at - 6000")
    assert statusline.store(dearer, db_path)
    assert statusline.store(given_(model={"id": "claude-haiku-4-5"}), db_path)
    assert rows(db) == [("claude-haiku-4-5", 1_000_000, 31_200, 0.42)]


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": "many"}, {"input_tokens": -4}, {"input_tokens": True}])
def test_no_answer_yet_is_no_figure(usage: object, db: sqlite3.Connection, db_path: str) -> None:
    window = {"context_window_size": 200_000, "current_usage": usage}
    assert statusline.store(given_(context_window=window, cost={"total_cost_usd": float("inf")}), db_path)
    assert rows(db) == [("claude-opus-5-5", 200_000, None, None)]
    assert db.execute("SELECT * FROM context_readings").fetchall() == []


def test_a_model_s_name_that_is_none_is_not_kept(db: sqlite3.Connection, db_path: str) -> None:
    told = statusline.read(given_(model={"id": "rm -rf /; \x1b[31m"}))
    assert told is not None and told.model is None
    secret = "ghp_" + "Zq4Lm8Rt2Vx6Bn0Kd3Hs7Jf1Wc5Yp9Ga1Te2"
    told = statusline.read(given_(model={"id": secret}))
    assert told is not None and secret not in str(told.model)


def test_nmem_s_own_line_is_one_plain_line(db: sqlite3.Connection, db_path: str) -> None:
    done = run(status_line.alone(db_path))
    assert (done.stdout, done.stderr, done.returncode) == (b"Opus 5.5 | window 3% of 1M | $0.42\n", b"", 0)
    stored(db, [ROW])
    hostile = given_(model={"id": "x", "display_name": "a\x1b[31m\nb\u202e"}, cost={}, context_window={})
    assert run(status_line.alone(db_path), hostile).stdout == b"a b\n"
    assert run(status_line.alone(db_path), b"nonsense").stdout == b""


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=60))
@settings(max_examples=75, deadline=None)
def test_any_command_can_be_read_back(own: str) -> None:
    found = status_line.recognise(status_line.wrapped(own, "/some where/n'm.db"))
    assert found is not None
    assert (found.own, found.db) == (own, "/some where/n'm.db")
    assert status_line.recognise(own) is None


def test_what_the_wrapper_loads_before_the_command_is_little(db_path: str) -> None:
    code = (
        "import sys, os; from capture import statusline; statusline._apart = lambda *a: os._exit(0);\n"
        "os.execvp = lambda *a: (print(*sorted(sys.modules)), sys.stdout.flush(), os._exit(0));\n"
        f"statusline.main(['--db', {db_path!r}, '/bin/sh', '', 'true'])"
    )
    done = subprocess.run(["python3", "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\n{code}"],
                          input=b"", capture_output=True, timeout=300)  # fmt: skip
    names = set(done.stdout.decode().split())
    assert "capture.statusline" in names, done.stderr
    assert not names & {"_sqlite3", "_json", "capture.storage", "re", "json", "subprocess", "signal", "enum"}


def test_a_database_of_the_first_version_keeps_every_row(tmp_path: Path) -> None:
    from capture.storage import schema

    path = str(tmp_path / "old.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        for statement in schema.statements(schema.MIGRATIONS[0]):
            old.execute(statement)
        old.execute("PRAGMA user_version = 1")
        old.execute("INSERT INTO projects VALUES (1, 'k', 'n', '/r', NULL, 1)")
        old.execute(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, context_tokens, context_window)"
            " VALUES ('s1', 'claude', 1, '/r', 1, 2, 82000, 200000)"
        )
        old.execute(
            "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
            " VALUES ('s1', 1, 'user', 'prompt', 'hi', 'p')"
        )
        old.execute(
            "INSERT INTO observations (session_id, at, seq, obs_type, content, dedup_key)"
            " VALUES ('s1', 2, 1, 'test', 'x', 'o')"
        )
        names = [name for (name,) in old.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        before = {name: old.execute(f"SELECT * FROM {name}").fetchall() for name in names if "_fts" not in name}
    db = store.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (store.VERSION,)
    assert {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in before} == before
    assert statusline.store(GIVEN, path)
    shape = "SELECT name, sql FROM sqlite_master ORDER BY name"
    fresh = store.connect(str(tmp_path / "fresh.db"))
    assert db.execute(shape).fetchall() == fresh.execute(shape).fetchall()
    db.execute("DELETE FROM observations")
    db.execute("DELETE FROM prompts")
    db.execute("DELETE FROM sessions")
    assert rows(db) == [] and db.execute("SELECT * FROM context_readings").fetchall() == []
