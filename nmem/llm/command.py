"""A model behind a command: the person's own client, run once with limits in an empty folder; its answer and cost.

Beside the client's own switch, `NMEM_SKIP_HOOKS` stands in the environment: our hook records nothing then.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from capture.hook import SKIP
from nmem.llm import Cancel, Cancelled, Failure, Json, Rejected, Reply, Request, tokens
from nmem.llm.config import Settings
from nmem.llm.outgoing import Redact, untagged

MOST_BYTES = 1 << 20
FOLDER_PREFIX = "nmem-llm-"
"""Of the folder a client runs in: whatever it records there is no work of the person's."""


@dataclass
class Command:
    """`complete` runs the command once; raises nothing but `Failure`."""

    settings: Settings
    redact: Redact

    @property
    def label(self) -> str:
        return untagged(f"{Path(self.settings.command[0]).name} {self.settings.model}")

    def complete(self, request: Request, cancel: Cancel) -> Reply:
        with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, ignore_cleanup_errors=True) as name:
            call = invocation(self.settings.command, request, self.settings.model, Path(name))
            env = environment(dict(os.environ), call)
            try:
                text = call.text.encode("utf-8", "replace")
                done = run(call.words, text, env, name, self.settings.call_seconds, MOST_BYTES, cancel)
            except Failure as failure:
                failure.spent = 0 if failure.kind in ("command", "cancelled") else request.cost + request.max_tokens
                raise
            finally:
                for leftover in call.leftovers:
                    shutil.rmtree(leftover, ignore_errors=True)
            return self._reply(request, call, done)

    def _reply(self, request: Request, call: Call, done: Done) -> Reply:
        if done.status:
            raise Failure("command", f"{self.label} exited with {done.status}{self._last(done)}", request.cost)
        text, usage = unwrap(call.form, done.out.decode("utf-8", "replace"))
        if call.answer:
            text = _file(call.answer).decode("utf-8", "replace")
        asked, told = usage or (request.cost, tokens(text))
        if not text.strip():
            raise Rejected(f"{self.label} printed nothing", asked + told)
        if tokens(text) > request.max_tokens * 4:
            raise Failure("length", f"{self.label} answered at much greater length than asked", asked + told)
        return Reply(text, self.label, asked, told, step="command")

    def _last(self, done: Done) -> str:
        """The last line of what the command complained about, without secrets and fit to be shown."""
        lines = (done.err or done.out).decode("utf-8", "replace").strip()[-4000:]
        line = untagged(self.redact(lines).splitlines()[-1])[:160] if lines else ""
        return f": {line}" if line else ""


def _file(path: str) -> bytes:
    """What the command left as its answer, bounded; nothing when it is no ordinary file."""
    try:
        place = Path(path)
        if place.is_symlink() or not place.is_file() or place.stat().st_size > MOST_BYTES:
            return b""
        return place.read_bytes()
    except OSError:
        return b""


Usage = tuple[int, int] | None
"""Tokens of the question and of the answer as the client tells them, None when it does not."""
_MOST = 10**7


def unwrap(form: str, out: str) -> tuple[str, Usage]:
    """The text of the answer (empty when it is elsewhere or there is none) and what it cost."""
    if form == "codex":
        return "", _last_usage(out)
    if form == "text":
        return out, None
    value = _object(out)
    if value is None or value.get("is_error") is True:
        return "", None
    text = value.get("result" if form == "claude" else "response")
    usage = _claude_usage(value) if form == "claude" else _gemini_usage(value)
    return text if isinstance(text, str) else "", usage


def _object(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _claude_usage(value: dict[str, object]) -> Usage:
    told = value.get("usage")
    if not isinstance(told, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return _pair(sum(_whole(told.get(name)) for name in names), _whole(told.get("output_tokens")))


def _gemini_usage(value: dict[str, object]) -> Usage:
    asked = answered = 0
    for model in _children(_child(_child(value, "stats"), "models")):
        told = _child(model, "tokens")
        prompt, total = _whole(told.get("prompt")), _whole(told.get("total"))
        asked, answered = asked + prompt, answered + max(0, total - prompt)
    return _pair(asked, answered)


def _last_usage(out: str) -> Usage:
    usage: Usage = None
    for line in out.splitlines():
        if '"turn.completed"' in line and (value := _object(line)):
            told = _child(value, "usage")
            usage = _pair(_whole(told.get("input_tokens")), _whole(told.get("output_tokens"))) or usage
    return usage


def _child(value: dict[str, object], name: str) -> dict[str, object]:
    child = value.get(name)
    return child if isinstance(child, dict) else {}


def _children(value: dict[str, object]) -> Iterator[dict[str, object]]:
    return (child for child in value.values() if isinstance(child, dict))


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else 0


def _pair(asked: int, answered: int) -> Usage:
    return (asked, answered) if asked and answered else None


_POLL = 0.05
_GRACE = 0.5
"""Seconds that output may still come after the process itself ended, from a child that holds the pipe."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a process ended and what it wrote."""

    status: int
    out: bytes
    err: bytes


@dataclass
class _Pipes:
    """What is still to be written and what was read."""

    text: bytes
    most: int
    read: dict[int, bytearray] = field(default_factory=dict)


def run(
    words: Sequence[str], text: bytes, env: Mapping[str, str], folder: str, seconds: float, most: int, cancel: Cancel
) -> Done:
    """Run a list of words with `text` on its standard input; raises `Failure` (command, timeout, size, cancelled)."""
    cancel.check()
    try:
        process = subprocess.Popen(
            list(words), cwd=folder, env=dict(env), start_new_session=True, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise Failure("command", f"{words[0]} cannot be run ({type(error).__name__})") from None
    try:
        return _talk(process, text, time.monotonic() + seconds, most, cancel)
    finally:
        _end(process)


def _talk(process: subprocess.Popen[bytes], text: bytes, until: float, most: int, cancel: Cancel) -> Done:
    assert process.stdin and process.stdout and process.stderr
    out, err = process.stdout.fileno(), process.stderr.fileno()
    pipes = _Pipes(text, most, {out: bytearray(), err: bytearray()})
    left = float("inf")
    with selectors.DefaultSelector() as ready:
        os.set_blocking(process.stdin.fileno(), False)
        ready.register(process.stdin, selectors.EVENT_WRITE)
        ready.register(process.stdout, selectors.EVENT_READ)
        ready.register(process.stderr, selectors.EVENT_READ)
        while any(key.fileobj is not process.stdin for key in ready.get_map().values()):
            now = time.monotonic()
            _in_time(now, until, cancel)
            if process.poll() is not None:
                left = min(left, now + _GRACE)
            moved = ready.select(_POLL)
            for key, _ in moved:
                _step(key, ready, pipes)
            if now >= left and all(key.fileobj is process.stdin for key, _ in moved):
                break  # what it wrote is read, however late: the pipe is held by a child that says nothing
    while process.poll() is None:  # it closed its output and runs on
        _in_time(time.monotonic(), until, cancel)
        time.sleep(_POLL)
    return Done(process.returncode, bytes(pipes.read[out]), bytes(pipes.read[err]))


def _in_time(now: float, until: float, cancel: Cancel) -> None:
    if cancel.is_set():
        raise Cancelled
    if now >= until:
        raise Failure("timeout", "the command did not answer in time")


def _step(key: selectors.SelectorKey, ready: selectors.BaseSelector, pipes: _Pipes) -> None:
    """Write or read once."""
    if key.events & selectors.EVENT_WRITE:
        try:
            pipes.text = pipes.text[os.write(key.fd, pipes.text[:65536]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            pipes.text = b""
        if pipes.text:
            return
    elif data := os.read(key.fd, 65536):
        pipes.read[key.fd] += data
        if len(pipes.read[key.fd]) > pipes.most:
            raise Failure("size", f"the command wrote more than {pipes.most} bytes")
        return
    ready.unregister(key.fileobj)
    key.fileobj.close()  # type: ignore[union-attr]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing of its group lives on, and its pipes are closed."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()


_NESTED = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE")
"""Marks of a session around us: with them a client thinks it was started from inside itself."""


@dataclass(frozen=True, slots=True)
class Call:
    """The words to run and what goes to standard input; where the answer and the usage are is the client's way."""

    words: tuple[str, ...]
    text: str
    form: str = "text"
    """`text`, `claude`, `codex` or `gemini`: how standard output is to be read."""
    answer: str = ""
    """The file that holds the answer, when it is not on standard output."""
    env: tuple[tuple[str, str], ...] = ()
    leftovers: tuple[str, ...] = ()
    """Folders that the client leaves behind for this one question; removed afterwards."""


_CODEX_OFF = (
    "hooks", "shell_tool", "unified_exec", "apps", "plugins", "multi_agent", "goals", "image_generation",
    "browser_use",
)  # fmt: skip
Recipe = Callable[[tuple[str, ...], Request, str, Path], Call]


def environment(env: dict[str, str], call: Call) -> dict[str, str]:
    """The environment that the client runs in: the person's, so that it finds its login, and our mark."""
    return {name: value for name, value in env.items() if name not in _NESTED} | {SKIP: "1"} | dict(call.env)


def invocation(command: tuple[str, ...], request: Request, model: str, folder: Path) -> Call:
    """The recipe of the client that the command names; an unknown one reads standard input and writes the answer."""
    return _RECIPES.get(Path(command[0]).stem, _plain)(command, request, model, folder)


def _claude(command: tuple[str, ...], request: Request, model: str, _folder: Path) -> Call:
    words = (
        command[0], "-p", "--output-format", "json", "--no-session-persistence", "--tools", "", "--strict-mcp-config",
        "--system-prompt", request.system, *_own(command, "-p", "--print"), *(("--model", model) if model else ()),
        "--settings", json.dumps({"disableAllHooks": True}),
    )  # fmt: skip
    return Call(words, _after_system(request), form="claude")


def _codex(command: tuple[str, ...], request: Request, model: str, folder: Path) -> Call:
    schema, answer = folder / "schema.json", folder / "answer.txt"
    schema.write_text(json.dumps(dict(request.schema)), encoding="utf-8")
    off = [word for name in _CODEX_OFF for word in ("--config", f"features.{name}=false")]
    words = (
        command[0], "exec", *_own(command, "exec", "e", "-"), *(("--model", model) if model else ()),
        *off, "--config", "mcp_servers={}", "--config", 'web_search="disabled"', "--ephemeral", "--skip-git-repo-check",
        "--sandbox", "read-only", "--color", "never", "--json",
        "--output-schema", str(schema), "--output-last-message", str(answer), "-",
    )  # fmt: skip
    return Call(words, request.text(), "codex", answer=str(answer))


def _gemini(command: tuple[str, ...], request: Request, model: str, folder: Path) -> Call:
    # The workspace's settings rule over the person's; the folder is ours and empty, so it may be trusted.
    settings: Json = {
        "hooksConfig": {"enabled": False},
        "tools": {"core": ["none"]},
        "mcp": {"allowed": ["none"]},
        "skills": {"enabled": False},
    }
    (folder / ".gemini").mkdir()
    (folder / ".gemini" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    system = folder / ".gemini" / "system.md"
    system.write_text(request.system, encoding="utf-8")
    words = (
        command[0], *_own(command, "-p", "--prompt"), *(("--model", model) if model else ()),
        "--output-format", "json", "--skip-trust", "--extensions", "none",
    )  # fmt: skip
    # It keeps a chat file of every question under the name of the folder it ran in, and has no switch against that.
    home = Path(os.environ.get("GEMINI_CLI_HOME") or Path.home())
    leftovers = tuple(str(home / ".gemini" / kind / folder.name) for kind in ("tmp", "history"))
    env = (("GEMINI_SYSTEM_MD", str(system)),)
    return Call(words, _after_system(request), "gemini", env=env, leftovers=leftovers)


def _llm(command: tuple[str, ...], request: Request, model: str, _folder: Path) -> Call:
    words = (
        command[0],
        "prompt",
        "--no-log",
        "--no-stream",
        *_own(command, "prompt"),
        *(("-m", model) if model else ()),
    )
    return Call((*words, "--system", request.system), _after_system(request))


def _plain(command: tuple[str, ...], request: Request, model: str, _folder: Path) -> Call:
    return Call((*command, *(("--model", model) if model else ())), request.text())


def _own(command: tuple[str, ...], *ours: str) -> tuple[str, ...]:
    """The person's own words of the command, without those that the recipe gives."""
    return tuple(word for word in command[1:] if word not in ours)


def _after_system(request: Request) -> str:
    """The question without its system part, which such a client takes as an option: it holds nothing of anybody's."""
    return request.text()[len(request.system) :].lstrip()


_RECIPES: dict[str, Recipe] = {"claude": _claude, "codex": _codex, "gemini": _gemini, "llm": _llm}
