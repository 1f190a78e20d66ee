"""Endpoints: the ladder, every kind of bad answer, the bounds, and where text and key may go."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from nmem.llm import Cancel, Cancelled, CapReached, Failure, Rejected, Request, endpoint
from nmem.llm.ask import Desk
from nmem.llm.config import Settings
from nmem.llm.endpoint import STEPS

if TYPE_CHECKING:
    from nmem.llm.shape import Record
    from tests.nmem.llm.conftest import Book, Scripted

Make = Callable[..., Desk]
GOLD = '{"intent": "fix the token", "learned": ["it was stale"]}'
VALUE = {"intent": "fix the token", "learned": ["it was stale"]}


def test_a_good_answer_is_read_and_entered_in_the_ledger(
    server: Scripted, desk: Make, question: Request, shape: Record, book: Book, play: Any
) -> None:
    server.plays = [play(GOLD)]
    asked = desk(key="k-1").ask(question, shape.read, Cancel())
    assert (asked.value, asked.model, asked.spent, asked.repaired, asked.step) == (
        VALUE,
        "scripted-1",
        70,
        False,
        STEPS[0],
    )
    assert book.rows == [("small", "m at 127.0.0.1", 70, "ok")]
    assert server.headers[0]["authorization"] == "Bearer k-1"
    assert server.headers[0]["accept-encoding"] == "identity"
    assert server.requests[0]["max_tokens"] == 200


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOLD}\n```",
        f"Here it is:\n```\n{GOLD}\n```\nAnything else?",
        f"<think>the user wants {{json}}</think>\n{GOLD}",
        f"Sure! {GOLD} I hope that helps.",
        '{"intent": "fix the\ntoken", "learned": "it was stale", "extra": {"deep": [1]}}',
        "\ufeff" + GOLD,
    ],
)
def test_wrapped_answers_are_unwrapped(
    server: Scripted, desk: Make, question: Request, shape: Record, text: str, play: Any
) -> None:
    server.plays = [play(text)]
    asked = desk().ask(question, shape.read, Cancel())
    assert asked.value == VALUE
    assert not asked.repaired


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize("refused", [1, 2, 3])
def test_it_steps_down_and_remembers(
    server: Scripted, desk: Make, question: Request, shape: Record, status: int, refused: int, play: Any
) -> None:
    server.plays = [*[play("unknown response_format", status=status)] * refused, play(GOLD)]
    asking = desk()
    assert asking.ask(question, shape.read, Cancel()).step == STEPS[refused]
    assert server.formats() == ["json_schema", "json_object+schema", "json_object", "plain"][: refused + 1]
    assert asking.ask(question, shape.read, Cancel()).step == STEPS[refused]
    assert len(server.requests) == refused + 2


def test_nothing_is_remembered_of_an_endpoint_that_takes_nothing(
    server: Scripted, desk: Make, question: Request, shape: Record, play: Any
) -> None:
    server.plays = [play("out of order", status=500)]
    asking = desk()
    with pytest.raises(Failure, match=r"127.0.0.1 answered 500: out of order"):
        asking.ask(question, shape.read, Cancel())
    assert server.formats() == ["json_schema", "json_object+schema", "json_object", "plain"]
    server.plays = [play(GOLD)]
    assert asking.ask(question, shape.read, Cancel()).step == STEPS[0]


def test_newer_names_of_parameters_are_learned(
    server: Scripted, desk: Make, question: Request, shape: Record, play: Any
) -> None:
    def strict(body: dict[str, Any]) -> Any:
        if "max_tokens" in body:
            return play("Unsupported parameter: use 'max_completion_tokens' instead", status=400)
        return play("Unsupported value: 'temperature'", status=400) if "temperature" in body else play(GOLD)

    server.player = strict
    asked = desk().ask(question, shape.read, Cancel())
    assert asked.step == STEPS[0]
    assert server.requests[-1]["max_completion_tokens"] == 200


@pytest.mark.parametrize(
    ("status", "words"), [(401, "refuses the key"), (404, "no such model"), (429, "slow down"), (503, "503")]
)
def test_other_refusals_are_said_once_and_hold_no_secret(
    server: Scripted, desk: Make, question: Request, shape: Record, status: int, words: str, book: Book, play: Any
) -> None:
    server.plays = [play("bad key sk-mine with hunter2-hunter2 \x1b[31m<system-reminder>", status=status)]
    with pytest.raises(Failure, match=words) as failed:
        desk(key="sk-mine").ask(question, shape.read, Cancel())
    text = str(failed.value)
    assert not any(bad in text for bad in ("sk-mine", "hunter2", "\x1b", "<system"))
    assert len(server.requests) == 1
    assert book.rows[0][3] == "status"


def test_a_question_that_is_too_long_does_not_step_down(
    server: Scripted, desk: Make, question: Request, shape: Record, play: Any
) -> None:
    server.plays = [play("request exceeds the available context size", status=400)]
    with pytest.raises(Failure, match="too long") as failed:
        desk().ask(question, shape.read, Cancel())
    assert failed.value.kind == "too_long"
    assert len(server.requests) == 1


def test_a_truncated_answer_is_a_failure_even_when_it_parses(
    server: Scripted, desk: Make, question: Request, shape: Record, book: Book, play: Any
) -> None:
    server.plays = [play(GOLD, finish="length")]
    with pytest.raises(Failure, match="cut off") as failed:
        desk().ask(question, shape.read, Cancel())
    assert failed.value.kind == "length"
    assert book.rows == [("small", "m at 127.0.0.1", 70, "length")]


WRONG = [
    "", "not json at all", "{", "[]", "null", "[1, 2]", '"text"', "{}", '{"intent": 5}', '{"intent": null}',
    '{"intent": ["a"]}', '{"intent": "a", "learned": {"b": 1}}', '{"intent": "a", "learned": [1]}', '{"intent": ""}',
    '{"intent": NaN}', '{"intent": "\\u202e\\u200b"}', '{"a":' * 5000, "[" * 100_000, '{"intent": ' + "9" * 6000 + "}",
]  # fmt: skip


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_wrong_answers_get_one_repair_and_then_a_refusal(
    server: Scripted, desk: Make, question: Request, shape: Record, text: str, play: Any
) -> None:
    server.plays = [play(text)]
    with pytest.raises(Rejected):
        desk().ask(question, shape.read, Cancel())
    assert len(server.requests) == (2 if text else 1)
    server.requests.clear()
    server.plays = [play(text or "x"), play(GOLD)]
    asked = desk().ask(question, shape.read, Cancel())
    assert asked.repaired
    assert asked.value == VALUE
    roles = [message["role"] for message in server.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert "not usable" in server.requests[-1]["messages"][-1]["content"]


BODIES: list[bytes] = [
    b"", b"<html>nginx</html>", b"{}", b"[]", b"null", b'{"choices": []}', b'{"choices": 5}', b'{"choices": [null]}',
    b'{"choices": [{"message": "text"}]}', b'{"choices": [{"message": {"content": null}}]}',
    b'{"choices": [{"message": {"content": {"a": 1}}}]}', b'{"choices": [{"message": {"content": [1, {"text": 2}]}}]}',
    b'\xff\xfe{"choices"', b"[" * 200_000,
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_bodies_of_the_wrong_kind_are_refused(
    server: Scripted, desk: Make, question: Request, shape: Record, body: bytes, play: Any
) -> None:
    server.plays = [play(raw=body)]
    with pytest.raises(Failure):
        desk().ask(question, shape.read, Cancel())


def test_content_in_parts_is_joined(server: Scripted, desk: Make, question: Request, shape: Record, play: Any) -> None:
    parts = [{"type": "text", "text": GOLD[:20]}, {"type": "image"}, {"type": "text", "text": GOLD[20:]}]
    server.plays = [play(message={"content": parts})]
    assert desk().ask(question, shape.read, Cancel()).value == VALUE


@pytest.mark.parametrize("usage", [{}, [], {"prompt_tokens": -5, "completion_tokens": True}, {"prompt_tokens": 10**12}])
def test_implausible_usage_is_estimated(
    server: Scripted, desk: Make, question: Request, shape: Record, usage: Any, book: Book, play: Any
) -> None:
    server.plays = [play(GOLD, usage=usage)]
    desk().ask(question, shape.read, Cancel())
    assert 30 < book.spent < 400


def test_a_huge_answer_is_not_read_to_its_end(
    server: Scripted, desk: Make, question: Request, shape: Record, play: Any
) -> None:
    server.plays = [play(raw=b" " * (64 << 20))]
    started = time.monotonic()
    with pytest.raises(Failure, match="more than") as failed:
        desk().ask(question, shape.read, Cancel())
    assert failed.value.kind == "size"
    assert time.monotonic() - started < 60


def test_a_compressed_answer_is_refused(
    server: Scripted, desk: Make, question: Request, shape: Record, play: Any
) -> None:
    server.plays = [play(raw=b"x", headers={"Content-Encoding": "gzip"})]
    with pytest.raises(Failure, match="compressed"):
        desk().ask(question, shape.read, Cancel())


def test_a_slow_answer_ends_at_the_limit(
    server: Scripted, desk: Make, question: Request, shape: Record, book: Book, play: Any
) -> None:
    server.plays = [play(GOLD, wait=60)]
    with pytest.raises(Failure) as failed:  # one that waited would have its answer
        desk(call_seconds=1.0).ask(question, shape.read, Cancel())
    assert failed.value.kind == "timeout"
    assert book.spent >= 200  # what it may have cost counts


def test_a_dripping_answer_ends_at_the_limit(question: Request, shape: Record, book: Book, desk: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        stop = threading.Event()

        def drip() -> None:
            peer, _ = listening.accept()
            with peer:
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n")
                while not stop.wait(0.1):
                    peer.sendall(b" ")

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        started = time.monotonic()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        with pytest.raises(Failure) as failed:
            desk(base_url=url, call_seconds=1.0).ask(question, shape.read, Cancel())
        assert failed.value.kind == "timeout"
        assert time.monotonic() - started < 60
        stop.set()
        thread.join(30)


def test_a_refused_connection_costs_nothing(desk: Make, question: Request, shape: Record, book: Book) -> None:
    with pytest.raises(Failure, match=r"no answer from 127.0.0.1:9") as failed:
        desk(base_url="http://127.0.0.1:9/v1").ask(question, shape.read, Cancel())
    assert failed.value.kind == "unreachable"
    assert book.spent == 0


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_to_another_place_is_refused(
    server: Scripted, desk: Make, question: Request, shape: Record, status: int, play: Any
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.setblocking(False)
        target = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/v1/chat/completions"
        server.plays = [play(raw=b"", status=status, headers={"Location": target})]
        with pytest.raises(Failure) as failed:
            desk(key="k").ask(question, shape.read, Cancel())
        assert failed.value.kind == "redirect"
        with pytest.raises(BlockingIOError):
            elsewhere.accept()


def test_a_redirect_within_the_endpoint_is_followed_but_not_in_circles(
    server: Scripted, desk: Make, question: Request, shape: Record, play: Any
) -> None:
    moved = play(raw=b"", status=308, headers={"Location": "/v2/chat/completions"})
    server.plays = [moved, play(GOLD)]
    assert desk().ask(question, shape.read, Cancel()).value == VALUE
    server.plays = [moved]
    with pytest.raises(Failure, match="circles"):
        desk().ask(question, shape.read, Cancel())


def test_it_can_be_cancelled_from_another_thread(
    server: Scripted, desk: Make, question: Request, shape: Record, book: Book, play: Any
) -> None:
    cancel = Cancel()

    def asked(_body: object) -> Any:
        cancel.set()
        return play(GOLD, wait=60)

    server.player = asked
    with pytest.raises(Cancelled):  # one that waited would have its answer
        desk().ask(question, shape.read, cancel)
    assert book.rows[0][3] == "cancelled"
    with pytest.raises(Cancelled):
        desk().ask(question, shape.read, cancel)
    assert len(server.requests) == 1


def test_the_cap_shortens_the_answer_and_then_forbids_the_question(
    server: Scripted, desk: Make, question: Request, shape: Record, book: Book, play: Any
) -> None:
    server.plays = [play(GOLD, usage={})]
    book.spent = 10_000 - question.cost - 100
    desk(daily_token_cap=10_000).ask(question, shape.read, Cancel())
    assert server.requests[0]["max_tokens"] == 100
    assert book.spent <= 10_000
    book.spent = 10_000 - question.cost - 10
    with pytest.raises(CapReached, match="10000 tokens are used up"):
        desk(daily_token_cap=10_000).ask(question, shape.read, Cancel())
    assert len(server.requests) == 1


def test_what_a_model_says_is_redacted_before_it_is_read_or_sent_back(
    server: Scripted, desk: Make, question: Request, shape: Record, play: Any
) -> None:
    server.plays = [
        play("password hunter2-hun\u200bter2"),
        play('{"intent": "use hunter2-hunter2 <system-reminder>x"}'),
    ]
    asked = desk().ask(question, shape.read, Cancel())
    assert asked.value["intent"] == "use [REDACTED:password] ‹system-reminder>x"
    assert "hunter2" not in json.dumps(server.requests)


def test_discovery_looks_at_loopback_only_and_takes_models_for_text(server: Scripted, play: Any) -> None:
    port = int(server.url.rsplit(":", 1)[1].split("/")[0])
    server.models = {"data": [{"id": "nomic-embed"}, {"id": "qwen"}, {"id": 5}, "x", {"id": "a\x1b[31m"}]}
    ports = (("Closed", 9), ("Here", port))
    found = endpoint.servers(ports=ports)
    assert [(one.name, one.models) for one in found] == [("Here", ("qwen", "nomic-embed"))]
    settled = endpoint.settle(Settings(key="mine"), ports=ports)
    assert settled
    assert (settled.base_url, settled.model, settled.key) == (server.url, "qwen", "")
    assert endpoint.settle(Settings(model="absent"), ports=ports) is None
    assert endpoint.settle(Settings(enabled=False), ports=ports) is None
    assert [one.base_url for one in found] == [server.url]


@pytest.mark.parametrize("models", [None, [], {"data": 5}, {"data": [[]]}, {"data": {}}, {"error": "no"}])
def test_what_does_not_list_models_is_no_server(server: Scripted, models: Any) -> None:
    port = int(server.url.rsplit(":", 1)[1].split("/")[0])
    server.models = models
    assert endpoint.servers(ports=(("Here", port),)) == []


def test_discovery_without_servers_is_quick() -> None:
    started = time.monotonic()
    assert endpoint.servers(ports=(("a", 9), ("b", 10), ("c", 11))) == []
    assert time.monotonic() - started < 20


def test_a_configured_endpoint_is_never_replaced_by_one_that_listens(server: Scripted) -> None:
    server.models = {"data": [{"id": "qwen"}]}
    port = int(server.url.rsplit(":", 1)[1].split("/")[0])
    mine = Settings(base_url="http://127.0.0.1:9/v1", model="mine")
    assert endpoint.settle(mine, ports=(("Here", port),)) == mine
