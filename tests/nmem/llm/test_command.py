"""Commands: invented clients that answer, sleep, crash, flood, leak and leave children behind; and real ones."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nmem.llm import Cancel, Cancelled, Failure, Rejected, Request, command
from nmem.llm.ask import Desk
from nmem.llm.command import FOLDER_PREFIX, Command, unwrap
from nmem.llm.config import Settings
from tests.nmem.command_line import BY_THIS

if TYPE_CHECKING:
    from nmem.llm.shape import Record
    from tests.nmem.llm.conftest import Book

Write = Callable[..., tuple[str, ...]]
GOLD = '{"intent": "fix the token", "learned": []}'


@pytest.fixture
def client(tmp_path: Path) -> Write:
    """Writes a small client of the given name and code, and gives the command that runs it."""

    def write(code: str, name: str = "asker") -> tuple[str, ...]:
        path = tmp_path / name
        path.write_text(f"{BY_THIS}import json, os, sys, time\n{code}\n")
        path.chmod(0o700)
        return (str(path),)

    return write


def desk_of(command: tuple[str, ...], book: Book, seconds: float = 120.0) -> Desk:
    def redact(text: str) -> str:
        return text.replace("hunter2", "[REDACTED:password]")

    settings = Settings(command=command, call_seconds=seconds)
    return Desk(Command(settings, redact), settings, book, redact)


def test_a_client_answers_in_an_empty_folder_with_our_mark_in_its_environment(
    client: Write, question: Request, book: Book, shape: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen.json"
    monkeypatch.setenv("CLAUDECODE", "1")
    command = client(
        "told = dict(env=dict(os.environ), cwd=os.getcwd(), files=os.listdir(), argv=sys.argv[1:])\n"
        "told['text'] = sys.stdin.read()\n"
        f"open({str(seen)!r}, 'w').write(json.dumps(told))\nprint('Sure:', {GOLD!r})"
    )
    asked = desk_of((*command, "--fast; touch x"), book).ask(question, shape.read, Cancel())
    assert asked.value == {"intent": "fix the token", "learned": []}
    told = json.loads(seen.read_text())
    assert told["env"]["NMEM_SKIP_HOOKS"] == "1"
    assert "CLAUDECODE" not in told["env"]
    assert told["files"] == []
    assert Path(told["cwd"]).name.startswith(FOLDER_PREFIX)
    assert not Path(told["cwd"]).exists()
    assert told["argv"] == ["--fast; touch x"]
    assert told["text"] == question.text()
    assert book.rows[0][2] == asked.spent > 0


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("sys.exit(3)", "command"),
        ("os.abort()", "command"),
        ("print('no JSON here')", "rejected"),
        ("", "rejected"),
        ("sys.stdout.buffer.write(bytes(range(256)) * 2)", "rejected"),
        ("print('[' * 100000)", "length"),
        ("os.close(0); print('{\"intent\": 5}')", "rejected"),
        ("while True: sys.stdout.write('x' * 65536)", "size"),
        ("while True: sys.stderr.write('x' * 65536)", "size"),
        ("time.sleep(600)", "timeout"),
        ("os.close(1); os.close(2); time.sleep(600)", "timeout"),
    ],
)
def test_a_client_that_misbehaves_is_a_failure_in_good_time(
    client: Write, question: Request, book: Book, shape: Record, code: str, kind: str
) -> None:
    started = time.monotonic()
    with pytest.raises(Failure) as failed:
        desk_of(client(code), book, 2.0 if kind == "timeout" else 120.0).ask(question, shape.read, Cancel())
    assert failed.value.kind == kind
    assert time.monotonic() - started < 300
    assert book.rows[-1][3] in (kind, "ok")


def test_the_limit_ends_its_children_too(
    client: Write, question: Request, book: Book, shape: Record, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    code = f"child = os.fork()\nif child: open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child}}')\ntime.sleep(600)"
    for seconds in (2.0, 30.0, 120.0):  # a busy machine needs longer until there are children
        with pytest.raises(Failure, match="in time"):
            desk_of(client(code), book, seconds).ask(question, shape.read, Cancel())
        if pids.exists() and pids.read_text():
            break
    for pid in map(int, pids.read_text().split()):
        assert _gone(pid)


def test_a_child_that_holds_the_pipe_does_not_hold_us(
    client: Write, question: Request, book: Book, shape: Record, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    code = f"print({GOLD!r}, flush=True)\nchild = os.fork()\nif child == 0: time.sleep(600)\n"
    code += f"open({str(pid)!r}, 'w').write(str(child))"
    started = time.monotonic()
    assert desk_of(client(code), book).ask(question, shape.read, Cancel()).value["intent"] == "fix the token"
    assert time.monotonic() - started < 300
    assert _gone(int(pid.read_text()))


def test_what_was_written_is_read_however_late_one_looks(
    client: Write, question: Request, book: Book, shape: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[bool] = []

    def late(*_: object) -> None:
        """A busy machine lets nobody look before the client has ended."""
        until = time.monotonic() + 60
        with contextlib.suppress(ChildProcessError):
            while not ended and time.monotonic() < until:  # this process may have other children, which live on
                ended.extend([True] * bool(os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)))
                time.sleep(0.01)

    monkeypatch.setattr("nmem.llm.command._GRACE", 0.0)
    monkeypatch.setattr("nmem.llm.command._in_time", late)
    asked = desk_of(client(f"print({GOLD!r})"), book).ask(question, shape.read, Cancel())
    assert asked.value["intent"] == "fix the token"


def test_it_can_be_cancelled(client: Write, question: Request, book: Book, shape: Record) -> None:
    cancel = Cancel()
    threading.Timer(0.5, cancel.set).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        desk_of(client("time.sleep(600)"), book, 500.0).ask(question, shape.read, cancel)
    assert time.monotonic() - started < 300


def test_secrets_it_prints_are_neither_stored_nor_shown(
    client: Write, question: Request, book: Book, shape: Record
) -> None:
    asked = desk_of(client("print(json.dumps({'intent': 'log in with hunter2'}))"), book).ask(
        question, shape.read, Cancel()
    )
    assert asked.value["intent"] == "log in with [REDACTED:password]"
    crash = client("sys.stderr.write('\\x1b[31mlogin hunter2 <system-reminder>\\n'); sys.exit(1)")
    with pytest.raises(Failure, match="exited with 1: login") as failed:
        desk_of(crash, book).ask(question, shape.read, Cancel())
    assert not any(bad in str(failed.value) for bad in ("hunter2", "\x1b", "<system"))


def test_a_long_question_is_written_while_the_answer_is_read(
    client: Write, book: Book, shape: Record, question: Request
) -> None:
    import dataclasses

    from nmem.llm import Redacted

    long = dataclasses.replace(question, user=Redacted("word " * 60_000))
    code = "sys.stdout.write(' ' * 300); sys.stdout.flush(); n = len(sys.stdin.read())\n"
    code += f"print({GOLD!r} if n > 300000 else n)"
    assert desk_of(client(code), book).ask(long, shape.read, Cancel()).value["intent"] == "fix the token"


def test_a_command_that_is_not_there_costs_nothing(question: Request, book: Book, shape: Record) -> None:
    with pytest.raises(Failure, match="cannot be run") as failed:
        desk_of(("/nowhere/asker",), book).ask(question, shape.read, Cancel())
    assert (failed.value.kind, book.spent) == ("command", 0)


def test_each_client_is_told_to_keep_its_hooks_asleep(question: Request, tmp_path: Path) -> None:
    claude = command.invocation(("claude", "-p", "--model", "haiku"), question, "", tmp_path)
    assert claude.words[:2] == ("claude", "-p")
    assert json.loads(claude.words[claude.words.index("--settings") + 1]) == {"disableAllHooks": True}
    assert claude.words[claude.words.index("--model") :][:2] == ("--model", "haiku")
    assert claude.words.count("-p") == 1
    codex = command.invocation(("/opt/codex", "exec"), question, "o9", tmp_path)
    assert "features.hooks=false" in codex.words
    assert "--ephemeral" in codex.words
    assert codex.words[-1] == "-"
    gemini = command.invocation(("gemini",), question, "", tmp_path)
    assert json.loads((tmp_path / ".gemini" / "settings.json").read_text())["hooksConfig"] == {"enabled": False}
    assert all(FOLDER_PREFIX in path or tmp_path.name in path for path in gemini.leftovers)
    llm = command.invocation(("llm",), question, "", tmp_path)
    assert "--no-log" in llm.words
    for call in (claude, codex, gemini, llm):
        assert question.user in call.text
        assert question.user not in " ".join(call.words)
        assert command.environment({"CLAUDECODE": "1"}, call)["NMEM_SKIP_HOOKS"] == "1"


@pytest.mark.parametrize(
    ("form", "out", "text", "usage"),
    [
        (
            "claude",
            {"result": "hi", "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 3}},
            "hi",
            (12, 3),
        ),
        ("claude", {"result": "hi", "is_error": True}, "", None),
        ("claude", {"result": 5, "usage": []}, "", None),
        (
            "gemini",
            {"response": "hi", "stats": {"models": {"a": {"tokens": {"prompt": 9, "total": 11}}}}},
            "hi",
            (9, 2),
        ),
        ("gemini", {"response": None, "stats": {"models": [1]}}, "", None),
        ("codex", {"type": "turn.completed", "usage": {"input_tokens": 8, "output_tokens": 2}}, "", (8, 2)),
        ("codex", {"type": "turn.completed", "usage": {"input_tokens": -8, "output_tokens": True}}, "", None),
        ("text", {"a": 1}, '{"a": 1}', None),
    ],
)
def test_answers_are_taken_out_of_what_clients_write(form: str, out: Any, text: str, usage: Any) -> None:
    assert unwrap(form, json.dumps(out)) == (text, usage)


@pytest.mark.parametrize("out", ["", "null", "[1]", "{", '"x"', "\x00", "[" * 10_000])
@pytest.mark.parametrize("form", ["claude", "codex", "gemini"])
def test_anything_else_they_write_is_no_answer(form: str, out: str) -> None:
    assert unwrap(form, out) == ("", None)


def test_an_answer_that_is_no_ordinary_file_is_not_followed(
    client: Write, question: Request, book: Book, shape: Record, tmp_path: Path
) -> None:
    (tmp_path / "private").write_text(GOLD)
    code = f"os.symlink({str(tmp_path / 'private')!r}, sys.argv[sys.argv.index('--output-last-message') + 1])"
    with pytest.raises(Rejected, match="printed nothing"):
        desk_of(client(code, "codex"), book).ask(question, shape.read, Cancel())


def _gone(pid: int) -> bool:
    """Whether a process is no more, or only waits to be buried."""
    for _ in range(2400):
        try:
            os.kill(pid, 0)
            stat = Path(f"/proc/{pid}/stat")
            if stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] in "ZX":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False
