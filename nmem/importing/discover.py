"""Finds the clients' transcripts, and the client that wrote a given file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from capture.extract.relative import UNKNOWN
from capture.files import read, regular
from nmem.importing import histories

CLIENTS = ("claude", "codex", "gemini", "qwen", "copilot")
"""The clients whose transcripts can be read on, record by record; histories are read as a whole."""

_PEEK = 1 << 16
_TAIL = 1 << 16
_SUFFIXES = (".jsonl", ".json")
_CODEX_TYPES = frozenset(("session_meta", "response_item", "event_msg", "turn_context", "compacted"))
_HOME = re.compile(r"(?:/(?:var/)?home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:[\\/]Users[\\/][^\\/]+)(?=[\\/]|$)")
_NOT_SESSIONS = frozenset(("history.jsonl", "logs.json", "settings.json", "package.json"))


@dataclass(slots=True)
class Transcript:
    """One file of one session, as its first records tell."""

    path: str
    client: str
    session_id: str = ""
    cwd: str = ""
    size: int = 0
    changed: float = 0.0
    first_uuid: str = ""
    agent_type: str = ""
    is_subagent: bool = False
    project_hash: str = ""
    latest: str = ""
    """The ISO time of the last record; compares as text."""
    whole: histories.Session | None = None
    """Of a history that is read as a whole: the session in it."""
    _ids: dict[str, str] = field(default_factory=dict)


def folders(client: str) -> list[Path]:
    """The folders in which a client keeps its sessions, whether or not they exist."""
    if client == "claude":
        return [Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"]
    if client == "codex":
        home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
        return [home / "sessions", home / "archived_sessions"]
    if client == "gemini":
        return sorted((Path.home() / ".gemini" / "tmp").glob("*/chats"))
    if client == "qwen":
        return sorted((Path.home() / ".qwen" / "projects").glob("*/chats"))
    if client == "copilot":
        return [Path(os.environ.get("COPILOT_HOME") or Path.home() / ".copilot") / "session-state"]
    history = histories.by_client(client)
    return history.folders() if history else []


def every() -> tuple[str, ...]:
    """The names of all whose sessions can be imported."""
    return (*CLIENTS, *(name for name in histories.clients() if name not in CLIENTS))


def find(paths: list[Path], client: str = "") -> Iterator[Transcript]:
    """Every transcript in these files and folders; with none given, in all clients' own folders."""
    if paths:
        for path in paths:
            yield from _walk(path, client)
        return
    for name in (client,) if client else every():
        for folder in folders(name):
            yield from _walk(folder, name)


def _walk(path: Path, client: str) -> Iterator[Transcript]:
    if path.is_file():
        yield from _file(path, client)
        return
    for folder, inner, names in os.walk(path):
        inner.sort()
        for name in sorted(names):
            yield from _file(Path(folder, name), client)


def _file(path: Path, client: str) -> Iterator[Transcript]:
    """The sessions of one file: a client's own, or those of a history."""
    name, found = path.name, None
    if client == "copilot" and name != "events.jsonl":
        return
    if name.endswith(_SUFFIXES) and name not in _NOT_SESSIONS and not name.endswith(".meta.json"):
        found = look(path, client)
    if found:
        yield found
    elif client not in CLIENTS:
        yield from map(_whole, histories.at(path, client))


def _whole(session: histories.Session) -> Transcript:
    """A session of a history, as a transcript."""
    latest = datetime.fromtimestamp(session.at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return Transcript(session.path, session.client, session.session_id, session.cwd, session.size, session.at / 1000,
                      is_subagent=bool(session.inner), latest=latest, whole=session)  # fmt: skip


def look(path: Path, client: str = "") -> Transcript | None:
    """What a file's first records tell; None when no client that we know wrote it."""
    try:
        stat = path.stat()
        with open(path, "rb", opener=regular) as file:
            head = file.read(_PEEK)
            file.seek(max(stat.st_size - _TAIL, 0))
            tail = file.read(_TAIL)
    except OSError:
        return None
    told = list(_objects(head))
    found = client or _client(told)
    if found not in CLIENTS:
        return None
    out = Transcript(str(path.resolve()), found, size=stat.st_size, changed=stat.st_mtime, latest=_latest(tail))
    out.is_subagent = path.parent.name == "subagents" or path.name.startswith("agent-")
    for record in told:
        _tell(out, record)
    if not out.session_id and not told:
        return None
    out.session_id = out.session_id or path.stem
    if out.is_subagent:
        out.agent_type = _agent_type(path)
    return out


def _objects(head: bytes) -> Iterator[dict[str, object]]:
    """The objects of the first lines; of a document, its head."""
    text = head.decode("utf-8", "replace")
    mark = text.find('"messages"')
    if text.lstrip().startswith("{") and (
        (mark >= 0 and "\n" not in text[:mark].strip()[:2]) or text.lstrip()[1:2] in "\r\n"
    ):
        try:
            value = json.loads(text[:mark].rstrip().rstrip(",") + "}")
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and "sessionId" in value:
            yield {**value, "messages": []}
            return
    lines = text.split("\n")
    for line in lines[:40]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            # the first line of a rollout may be longer than what was read: its head tells enough
            value = _torn(line) if line is lines[-1] else None
        if isinstance(value, dict):
            yield value


def _torn(line: str) -> dict[str, object] | None:
    """The short fields at the beginning of a line that is longer than what was read."""
    if '"type":"session_meta"' not in line[:200].replace(" ", ""):
        return None
    payload = {}
    for name in ("id", "session_id", "cwd"):
        _, mark, rest = line.replace('": "', '":"').partition(f'"{name}":"')
        if mark:
            payload[name] = rest.partition('"')[0]
    return {"type": "session_meta", "payload": payload}


def _client(told: list[dict[str, object]]) -> str:
    for record in told:
        kind = record.get("type")
        if kind in _CODEX_TYPES and "payload" in record:
            return "codex"
        message = record.get("message")
        if "parentUuid" in record and ("provenance" in record or (isinstance(message, dict) and "parts" in message)):
            return "qwen"
        if str(kind).startswith("session.") and isinstance(record.get("data"), dict):
            return "copilot"
        if "projectHash" in record or ("sessionId" in record and "messages" in record):
            return "gemini"
        if "sessionId" in record and "type" in record and ("uuid" in record or "leafUuid" in record):
            return "claude"
        if kind in ("summary", "file-history-snapshot") and ("leafUuid" in record or "messageId" in record):
            return "claude"
    return ""


def _tell(out: Transcript, record: dict[str, object]) -> None:
    payload = record.get("payload")
    if out.client == "codex" and record.get("type") == "session_meta" and isinstance(payload, dict):
        out.session_id = out.session_id or str(payload.get("session_id") or payload.get("id") or "")
        out.cwd = out.cwd or str(payload.get("cwd") or "")
    elif out.client == "copilot" and isinstance(data := record.get("data"), dict):
        place = data.get("context")
        out.session_id = out.session_id or str(data.get("sessionId") or "")
        out.cwd = out.cwd or str(place.get("cwd") or "" if isinstance(place, dict) else "")
    elif out.client != "codex":
        out.session_id = out.session_id or str(record.get("sessionId") or "")
        out.cwd = out.cwd or str(record.get("cwd") or "")
        out.first_uuid = out.first_uuid or str(record.get("uuid") or "")
        out.project_hash = out.project_hash or str(record.get("projectHash") or "")


def _latest(tail: bytes) -> str:
    """The last time stamp in the end of a file."""
    for mark in (b'"timestamp":"', b'"timestamp": "', b'"lastUpdated": "', b'"lastUpdated":"'):
        at = tail.rfind(mark)
        if at >= 0:
            return tail[at + len(mark) : at + len(mark) + 24].partition(b'"')[0].decode("ascii", "replace")
    return ""


def _agent_type(path: Path) -> str:
    try:
        value = json.loads(read(str(path.with_suffix(".meta.json")), _PEEK))
    except (OSError, ValueError, RecursionError):
        return ""
    return str(value.get("agentType") or "") if isinstance(value, dict) else ""


def home_of(transcript: Transcript, cwd: str) -> str:
    """What ~ stands for in a transcript: empty for the user's own home, UNKNOWN where nothing tells.

    The folder of the session, `cwd`, tells; that of one which lies among the user's own may also be another account's
    on this machine, where the user can enter it.
    """
    own = os.path.expanduser("~")  # noqa: PTH111 -- a string is what is compared
    if cwd == own or cwd.startswith(os.path.join(own, "")):  # noqa: PTH118
        return ""
    ours = any(Path(transcript.path).is_relative_to(each.resolve()) for each in folders(transcript.client))
    if found := _HOME.match(cwd):
        return "" if ours and os.access(found[0], os.X_OK) else found[0]
    return "" if ours else UNKNOWN


def gemini_folder(transcript: Transcript) -> str:
    """The folder of a Gemini session: named beside the chats, in the first message, or by a path of the same hash."""
    chats = Path(transcript.path).parent
    try:
        return read(str(chats.parent / ".project_root"), _PEEK).decode().strip()
    except (OSError, UnicodeDecodeError):
        pass
    return _told_folder(transcript) or str(chats)


def _told_folder(transcript: Transcript) -> str:
    try:
        with open(transcript.path, "rb", opener=regular) as file:
            text = file.read(1 << 20).decode("utf-8", "replace")
    except OSError:
        return ""
    named = re.search(r"Workspace Directories:\*\*\\n  - ([^\"\\]+)", text)
    if named:
        return named[1].strip()
    tried: set[str] = set()
    for match in re.finditer(r"/[\w.@+-]+(?:/[\w.@+-]+)+", text):
        folder = match[0]
        while folder not in ("", "/") and folder not in tried:
            tried.add(folder)
            if sha256(folder.encode()).hexdigest() == transcript.project_hash:
                return folder
            folder = folder.rpartition("/")[0]
    return ""
