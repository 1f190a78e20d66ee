"""Sends a synthetic event through a registered command as the client would; verifies and removes the stored row."""

from __future__ import annotations

import importlib
import json
import os
import shlex
import sqlite3
import statistics
import subprocess
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capture import clients, paths
from capture import event as words
from capture.files import opened, own
from capture.install.hook_entries import Entry
from capture.install.registered import Command
from capture.settle import OFF
from capture.storage import spool
from nmem import database as of_database
from nmem.audit.store import counter, forget_probe, hook_ran
from nmem.context.inject import LATE
from nmem.errors import NmemError
from nmem.tables import holds

_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one command did with its event."""

    arrived: bool
    ms: float
    fault: str = ""
    """What was wrong, in one line; empty when nothing was."""
    logged: str = ""
    """What the hook wrote into the log, if it did."""


def run(
    command: Command, text: bytes, env: dict[str, str], folder: str
) -> tuple[float, subprocess.CompletedProcess[bytes]]:
    """Start a registered command as the client does; milliseconds and what came of it. `text`: at most 4 kB.

    Raises subprocess.TimeoutExpired.
    """
    line: list[str] | str = ["sh", "-c", command.line] if os.name != "nt" else command.line
    given, giving = os.pipe()
    try:
        os.write(giving, text)  # before it starts: a busy machine keeps no hook waiting for its input
    finally:
        os.close(giving)
    try:
        start = time.perf_counter()
        done = subprocess.run(line, stdin=given, env=env, cwd=folder, capture_output=True, timeout=_LIMIT, check=False)
        return (time.perf_counter() - start) * 1000, done
    finally:
        os.close(given)


def database(command: Command) -> str:
    """The file that a command writes to when it is started from here."""
    return command.db or paths.database()


def send(entry: Entry, session: str) -> Outcome:
    """One event through one command; its rows are looked for and taken away again."""
    command = entry.command
    with tempfile.TemporaryDirectory(prefix="nmem-doctor-", ignore_cleanup_errors=True) as made:
        folder = str(Path(made).resolve())
        text = json.dumps(payload(command.client, command.event, session, folder)).encode()
        log = _size(paths.log(database(command)))
        since, late = time.time_ns() // 1_000_000, _late(database(command))
        try:
            env = {**environment(command.client, session, folder), OFF: "1"}
            ms, done = run(command, text, env, folder)
        except subprocess.TimeoutExpired:
            return Outcome(False, _LIMIT * 1000, f"no end after {_LIMIT} s")
        except OSError as error:
            return Outcome(False, 0, f"cannot be started: {error.strerror}")
        fault = _spoken(done)
        try:
            arrived = _arrived(database(command), command, session, since)
            _clean(database(command), session, folder, since, late)
        except sqlite3.Error as error:
            return Outcome(False, ms, fault or f"the database cannot be read: {error}")
        finally:
            _unspool(database(command), session, since)
    logged = _last_line(paths.log(database(command)), log)
    if not arrived and not fault:
        fault = logged or "nothing arrived in the database"
    return Outcome(arrived, ms, fault, logged)


def _spoken(done: subprocess.CompletedProcess[bytes]) -> str:
    """What a hook must not do: fail, or say anything but one JSON object."""
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [""]
        return f"exit code {done.returncode}: {said[-1]}"
    if done.stdout.strip() and not done.stdout.lstrip().startswith(b"{"):
        return "it prints text, which the client would take for context"
    return ""


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _last_line(path: str, since: int) -> str:
    """The newest line of the log that came after `since` bytes."""
    try:
        with open(path, "rb", opener=opened) as file:
            file.seek(since)
            lines = file.read(20_000).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


def _wanted(command: Command) -> str:
    """The table in which an event of this kind must show; none for one that is only asked about."""
    parsed = adapter(command.client).parse(command.event, payload(command.client, command.event, "probe", "/"), 0)
    if parsed is None:
        return "hook_runs"
    if parsed.kind == words.TOOL_CALL:
        return ""
    kinds = {words.PROMPT: "prompts", words.TOOL_RESULT: "observations", words.TOOL_ERROR: "observations"}
    return kinds.get(parsed.kind, "hook_runs")


def _usable(path: str) -> bool:
    with suppress(NmemError):
        of_database.own(path)
        return Path(path).is_file()
    return False


def _arrived(path: str, command: Command, session: str, since: int) -> bool:
    if not (table := _wanted(command)):
        return True  # it only reads: that it ended well, and said nothing, is all there is to see
    if not _usable(path):
        return False
    db = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        if table != "hook_runs":
            return holds(db, table, session)
        return hook_ran(db, command.client, command.event[:60], session, since - 1000)
    finally:
        db.close()


def _late(path: str) -> int:
    """How many sessions were told nothing because that took too long; 0 where nothing can be read."""
    with suppress(NmemError, sqlite3.Error), closing(of_database.reader(path)) as db:
        return counter(db, LATE) or 0
    return 0


def _clean(path: str, session: str, folder: str, since: int, late: int) -> None:
    """Take every row of a probe away, the project that its temporary folder became, and that it was `late`."""
    if not _usable(path):
        return
    db = sqlite3.connect(path, timeout=5, isolation_level=None)
    try:
        forget_probe(db, session, folder, since, late)
    finally:
        db.close()


def _unspool(path: str, session: str, since: int) -> None:
    """Take a probe out of the spool, where it waits when the database is not to be had."""
    for folder in spool.folders(path):
        for file in Path(folder).glob(f"*{paths.BATCH}"):
            with suppress(OSError):
                if file.stat().st_mtime_ns // 1_000_000 >= since - 1000 and session.encode() in own(str(file)):
                    file.unlink()
    _uncount(path, since)


def _uncount(path: str, since: int) -> None:
    """Take back the one error that a probe counts when the database is not to be had: nobody's event was lost."""
    for folder in spool.folders(path):
        for file in Path(folder).glob(f"{paths.COUNTS}.*.1.errors"):
            made = file.name.split(".")[1].partition("-")[0]
            if made.isdecimal() and int(made) // 1_000_000 >= since:
                with suppress(OSError):
                    file.unlink()
                    return


def bare(interpreter: str, rounds: int = 5) -> float:
    """Milliseconds that the same interpreter takes to do nothing: the median of a few rounds.

    Raises OSError or subprocess.SubprocessError.
    """
    command = Command(shlex.join([interpreter, "-I", "-S", "-c", "pass"]), [interpreter, "", ""], 0)
    times = [run(command, b"{}", dict(os.environ), tempfile.gettempdir())[0] for _ in range(rounds)]
    return statistics.median(times)


TEXT = "nmem doctor asks whether this prompt arrives"
SAID = "nmem doctor was here"
_MARKS = ("CLAUDE", "CURSOR_", "GEMINI_", "QWEN_", "CODEX_", "FACTORY_", "DROID_", "COPILOT_", "OPENCODE")
"""Variables by which an adapter may take one client for another; doctor may itself run inside a client."""


def payload(client: str, event: str, session: str, folder: str) -> dict[str, object]:
    """An event as the client would send it, small, harmless and of fields that its adapter knows."""
    made = _payload(client, event, session, folder)
    parsed = adapter(client).parse(event, made, 0)
    strange = parsed.drift if parsed is not None else ()
    return {key: value for key, value in made.items() if key not in strange}


def adapter(client: str) -> Any:  # noqa: ANN401 - a module
    """The module that reads a client's payloads."""
    return importlib.import_module(f"capture.clients.{client}")


def _payload(client: str, event: str, session: str, folder: str) -> dict[str, object]:
    shell: dict[str, object] = {"command": "true"}
    said = SAID
    camel = client == "copilot"
    base: dict[str, object] = {("sessionId" if camel else "session_id"): session, "cwd": folder}
    if camel:
        return {**base, "timestamp": time.time_ns() // 1_000_000, **_copilot(event, shell, said)}
    base["hook_event_name"] = event
    if client == "cursor":
        base |= {"conversation_id": session, "generation_id": "g1", "workspace_roots": [folder], "cursor_version": "1"}
    if client == "gemini":
        base["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    return {**base, **_own(client, event.lower(), shell, said)}


def _own(client: str, event: str, shell: dict[str, object], said: str) -> dict[str, object]:
    """The fields of one event, by what its name says."""
    name = clients.client(client).shell_tool
    tool: dict[str, object] = {"tool_name": name, "tool_input": shell, "tool_use_id": "doctor-1"}
    if ("fail" in event and "tool" in event) or event.endswith(".error"):
        return {**tool, ("error_message" if client == "cursor" else "error"): "Exit code 1", "is_interrupt": False}
    if event in ("pretooluse", "posttooluse", "aftertool", "tool.execute.after"):
        return {**tool, **_RESPONSES.get(client, {"tool_response": {"stdout": "", "stderr": "", "interrupted": False}})}
    if event in ("userpromptsubmit", "beforeagent", "beforesubmitprompt", "chat.message"):
        return {"prompt": TEXT}
    if event in _FIXED:
        return _FIXED[event]
    if event in ("afteragentresponse", "session.idle", "subagent.idle"):
        return {"text": said}
    if "subagent" in event:
        return {"agent_id": "a1", "agent_type": "general-purpose", "last_assistant_message": said}
    if "start" in event or event == "session.created":
        return {"source": "startup"}
    if "end" in event or event in ("session.deleted", "dispose"):
        return {"reason": "other"}
    if "compact" in event:
        return {
            "trigger": "manual",
            **({"compact_summary": said} if client == "claude" and event[:4] == "post" else {}),
        }
    return {"last_assistant_message": said, "stop_hook_active": False}


_FIXED: dict[str, dict[str, object]] = {
    "afteragent": {"prompt": TEXT, "prompt_response": SAID, "stop_hook_active": False},
    "notification": {"notification_type": "permission_prompt", "message": SAID},
}
_RESPONSES: dict[str, dict[str, object]] = {
    "codex": {"tool_response": "ok"},
    "gemini": {"tool_response": {"llmContent": "Output: ok", "returnDisplay": "ok"}},
    "qwen": {"tool_response": {"llmContent": "Output: ok", "returnDisplay": "ok"}},
    "cursor": {"tool_output": '{"output": "ok"}', "duration": 1},
    "opencode": {"tool_response": {"title": "true", "output": "ok", "metadata": {"exit": 0}}},
}


def _copilot(event: str, shell: dict[str, object], said: str) -> dict[str, object]:
    known: dict[str, dict[str, object]] = {
        "sessionStart": {"source": "startup"},
        "userPromptSubmitted": {"prompt": TEXT},
        "postToolUse": {"toolName": "bash", "toolArgs": shell,
                        "toolResult": {"resultType": "success", "textResultForLlm": "ok"}},
        "postToolUseFailure": {"toolName": "bash", "toolArgs": shell, "error": "failed"},
        "subagentStop": {"agentId": "a1", "agentType": "general-purpose", "response": said},
        "preCompact": {"trigger": "manual"},
        "sessionEnd": {"reason": "complete"},
    }  # fmt: skip
    return known.get(event, {})


def environment(client: str, session: str, folder: str) -> dict[str, str]:
    """What the client would put into a hook's environment, and nothing of another client's."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(_MARKS)}
    kept = {name: os.environ[name] for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME") if name in os.environ}
    own = {
        "claude": {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session, "CLAUDE_PROJECT_DIR": folder},
        "gemini": {"GEMINI_SESSION_ID": session, "GEMINI_PROJECT_DIR": folder, "CLAUDE_PROJECT_DIR": folder},
        "qwen": {"QWEN_PROJECT_DIR": folder, "GEMINI_PROJECT_DIR": folder, "CLAUDE_PROJECT_DIR": folder},
        "cursor": {"CURSOR_VERSION": "1", "CURSOR_PROJECT_DIR": folder, "CLAUDE_PROJECT_DIR": folder},
        "droid": {"FACTORY_PROJECT_DIR": folder, "CLAUDE_PROJECT_DIR": folder},
    }
    return env | kept | own.get(client, {})
