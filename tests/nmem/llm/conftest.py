"""A scripted model server on loopback that validates what it is asked, a ledger in memory, and desks over both."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from nmem.llm import Redacted, Request
from nmem.llm.ask import Desk
from nmem.llm.config import Settings
from nmem.llm.endpoint import Endpoint
from nmem.llm.shape import Record, Text, Texts
from nmem.llm.wire import Limits

SHAPE = Record({"intent": Text(120, required=True), "learned": Texts(3, 120)})
SECRET = "hunter2-hunter2"


@dataclass
class Play:
    """One answer: a status with the content of a message, or a raw body."""

    text: str = ""
    status: int = 200
    finish: str = "stop"
    raw: bytes | None = None
    wait: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    usage: Any = None
    message: Any = None


Player = Callable[[dict[str, Any]], Play]


@dataclass
class Scripted:
    """Plays answers in order, the last one for ever, or asks `player`; keeps every request that passed its checks."""

    plays: list[Play] = field(default_factory=list)
    player: Player | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    models: Any = None
    url: str = ""

    def next(self, body: dict[str, Any]) -> Play:
        self.requests.append(body)
        if self.player:
            return self.player(body)
        return self.plays.pop(0) if len(self.plays) > 1 else self.plays[0]

    def formats(self) -> list[str]:
        """The rung of each request, as a server sees it."""
        forms = [request.get("response_format") for request in self.requests]
        return ["plain" if not form else form["type"] + ("+schema" if "schema" in form else "") for form in forms]


def faults_of(body: Any) -> list[str]:
    """What a strict server would object to in a request."""
    wrong = []
    messages = body.get("messages")
    if not isinstance(messages, list) or [m.get("role") for m in messages[:2]] != ["system", "user"]:
        wrong.append("messages")
    if any(set(m) != {"role", "content"} or not isinstance(m["content"], str) for m in messages or []):
        wrong.append("message fields")
    limit = body.get("max_tokens", body.get("max_completion_tokens"))
    if not isinstance(limit, int) or limit < 1:
        wrong.append("limit")
    form = body.get("response_format")
    if form and form["type"] == "json_schema":
        schema = form["json_schema"]["schema"]
        if schema["additionalProperties"] is not False or schema["required"] != list(schema["properties"]):
            wrong.append("not a strict schema")
        if "maxLength" in json.dumps(schema):
            wrong.append("maxLength is refused by hosted endpoints")
    return wrong


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    scripted: Scripted

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""

    def do_GET(self) -> None:
        self._send(Play(raw=json.dumps(self.scripted.models).encode()))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.scripted.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.scripted.faults += faults_of(body)
        try:
            self._send(self.scripted.next(body))
        except OSError:
            self.close_connection = True  # the asker hung up, which is what some tests want

    def _send(self, play: Play) -> None:
        time.sleep(play.wait)
        raw = play.raw
        if raw is None:
            message = {"role": "assistant", "content": play.text} if play.message is None else play.message
            told = {"prompt_tokens": 50, "completion_tokens": 20} if play.usage is None else play.usage
            choice = {"index": 0, "message": message, "finish_reason": play.finish}
            answer = {"choices": [choice], "usage": told, "model": "scripted-1"}
            raw = json.dumps(answer if play.status == 200 else {"error": {"message": play.text}}).encode()
        self.send_response(play.status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(raw)),
            **play.headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on this machine is waited for, however busy that is."""
    monkeypatch.setattr("nmem.llm.endpoint._QUICK", Limits(connect=60.0, call=60.0, size=256 * 1024))


@pytest.fixture
def server() -> Iterator[Scripted]:
    """The scripted server; every request that it was sent must have been well formed."""
    scripted = Scripted()
    http = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"scripted": scripted}))
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    scripted.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    yield scripted
    http.shutdown()
    http.server_close()
    assert not scripted.faults


@dataclass
class Book:
    """A ledger in memory."""

    spent: int = 0
    rows: list[tuple[str, str, int, str]] = field(default_factory=list)

    def spent_today(self) -> int:
        return self.spent

    def record(self, *, purpose: str, label: str, tokens: int, outcome: str) -> None:
        self.spent += tokens
        self.rows.append((purpose, label, tokens, outcome))


@pytest.fixture
def book() -> Book:
    return Book()


def redact(text: str) -> str:
    """A redactor that knows one secret."""
    return text.replace(SECRET, "[REDACTED:password]")


@pytest.fixture
def desk(server: Scripted, book: Book) -> Callable[..., Desk]:
    """Makes a desk over the scripted server, with settings of the test's own."""

    def make(**own: Any) -> Desk:
        settings = Settings(
            **{"base_url": server.url, "model": "m", "call_seconds": 60.0, "connect_seconds": 60.0, **own}
        )
        return Desk(Endpoint(settings, redact, {}), settings, book, redact)

    return make


@pytest.fixture
def question() -> Request:
    """A small question."""
    return Request("Answer in JSON.", Redacted("what was wanted?"), SHAPE.schema(), "small", 200)


@pytest.fixture
def shape() -> Record:
    """The shape of the small question's answer."""
    return SHAPE


@pytest.fixture
def play() -> type[Play]:
    """Makes an answer."""
    return Play
