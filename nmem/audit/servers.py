"""Checks the MCP server: whether each connected client has it, and whether it starts and lists its tools."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from capture.hook import SKIP
from capture.install import beside, servers
from capture.install.beside import TOML, Beside
from capture.install.targets import SCOPES, targets, title
from nmem.audit import NOTE, OK, WRONG, Finding
from nmem.mcp import registration

_SECONDS = 20.0
_LIST = 2
_ASK = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "nmem doctor", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": _LIST, "method": "tools/list"},
)  # fmt: skip


def findings(clients: list[str], folder: str) -> list[Finding]:
    """For each of these clients, which have nmem's hooks; a server that several start is started once."""
    out: list[Finding] = []
    tried: dict[str, tuple[int, str, float]] = {}
    for client in clients:
        if client not in beside.CLIENTS:
            continue
        entries = [(path, entry) for path, entry in _registered(client, folder) if entry is not None]
        if not entries:
            said = f"{title(client)} records, but its agent cannot ask: the server is not registered"
            out.append(Finding("mcp", NOTE, said, f"nmem init --client {client}", client))
        for path, entry in entries:
            key = json.dumps(entry, sort_keys=True)
            if key not in tried:
                tried[key] = _tools(entry)
            out.append(_finding(client, path, tried[key]))
    return out


def _finding(client: str, path: str, outcome: tuple[int, str, float]) -> Finding:
    tools, fault, ms = outcome
    if fault:
        said = f"the server in {path} does not answer: {fault}"
        return Finding("mcp", WRONG, said, f"nmem init --client {client}", client, ms)
    return Finding("mcp", OK, f"the server in {path} starts and lists {tools} tools", "", client, ms)


def _registered(client: str, folder: str) -> list[tuple[str, dict[str, object] | None]]:
    """Each file in which a client's servers may stand, with nmem's entry."""
    found = [each for each in beside.everywhere(client, folder) if each.holds == "server"]
    paths = [(each.path, each.form == TOML) for each in found if isinstance(each, Beside)]
    if client in servers.SHARED:
        paths += [(each.path, False) for each in targets(client, folder) if each.scope in SCOPES]
    return [(path, _entry(path, toml)) for path, toml in dict.fromkeys(paths)]


def _entry(path: str, toml: bool) -> dict[str, object] | None:
    """nmem's server in a file; None where there is none, or the file cannot be read (another check says that)."""
    found = registration.entry(path, toml)
    return found if found is not None and servers.is_ours(found) else None


def _tools(entry: dict[str, object]) -> tuple[int, str, float]:
    """Start a server as a client does: how many tools it lists, what went wrong, and the milliseconds."""
    given, env = entry.get("args"), entry.get("env")
    words = [str(entry["command"]), *(str(word) for word in given)] if isinstance(given, list) else []
    values = {str(key): str(value) for key, value in env.items()} if isinstance(env, dict) else {}
    started = time.perf_counter()
    try:
        tools, said = _asked(words, {**os.environ, **values, SKIP: "1"})
    except OSError as error:
        tools, said = 0, f"{words[0]}: {error.strerror}"
    return tools, "" if tools else said, (time.perf_counter() - started) * 1000


def _asked(words: list[str], env: dict[str, str]) -> tuple[int, str]:
    """The number of tools, or why there is none; the pipe stays open until the answer is there. Raises OSError."""
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                 env=env, cwd=Path.home())  # fmt: skip
        late = threading.Timer(_SECONDS, child.kill)
        late.start()
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            with suppress(BrokenPipeError):
                child.stdin.write("".join(json.dumps(one) + "\n" for one in _ASK).encode())
                child.stdin.flush()
            tools = next((found for line in child.stdout if (found := _listed(line)) is not None), 0)
        finally:
            expired = not late.is_alive()
            late.cancel()
            child.kill()
            child.communicate()
        errors.seek(0)
        last = errors.read().decode("utf-8", "replace").strip().splitlines()
    if expired:
        return tools, f"no answer within {_SECONDS:.0f} s"
    return tools, last[-1][:200] if last else "the server exited without a message"


def _listed(line: bytes) -> int | None:
    """How many tools an answer lists; None where it is another answer."""
    try:
        reply = json.loads(line)
    except ValueError:
        return None
    if not isinstance(reply, dict) or reply.get("id") != _LIST:
        return None
    result = reply.get("result")
    tools = result.get("tools") if isinstance(result, dict) else None
    return len(tools) if isinstance(tools, list) else 0
