"""`nmem stream`: what receivers get, that a slow, refusing or dying one loses nothing, and what never leaves.

VictoriaLogs and Loki are not on this machine: a server in this process takes what their documentation describes.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from nmem.errors import NmemError
from nmem.purge import run as purging
from nmem.purge.selection import Selection
from nmem.read.stream import Wanted
from nmem.share import events, streaming, targets
from nmem.share.streaming import Cursor, Run
from tests.nmem.command_line import run
from tests.nmem.conftest import Recorded

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HANG, DIE = -1, -2
ALL = 10
"""Events of the session that is recorded."""


class Receiver:
    """What was posted, and how the next requests are answered: a status, nothing at all, or a broken connection."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = outer.answers.pop(0) if outer.answers else 204
                if answer == HANG:
                    time.sleep(0.4)
                if answer < 0:
                    self.close_connection = True
                    return
                if 200 <= answer < 300:
                    outer.got.append((self.path, dict(self.headers), body))
                self.send_response(answer)
                self.send_header("Content-Length", "3")
                self.end_headers()
                self.wfile.write(b"no\n")

            def log_message(self, *_: object) -> None:
                """Nobody reads it."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/insert/jsonline"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for *_, body in self.got for line in body.splitlines()]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def coupon(record: Recorded) -> Recorded:
    """A session of ten events, one with a secret that was stored as it was."""
    record.coupon()
    return record.act("command", f"curl -H 'Authorization: Bearer {SECRET}' /home/ann/src", None)


@pytest.fixture
def streamed(db_path: str, receiver: Receiver) -> Callable[..., Run]:
    """A run to the receiver, with a pause in which a test does something."""

    def go(cursor: Cursor, pause: Callable[[float], object], *, follow: bool = False, target: Any = None) -> Run:
        place = target or targets.target(receiver.url, {}, 1, 1, remote=False)
        one = Run(db_path, place, Wanted(), cursor, said.append, follow, pause)
        try:
            one.go()
        finally:
            place.close()
        return one

    said: list[str] = []
    return go


def test_victorialogs_gets_each_event_once_as_documented(coupon: Recorded, receiver: Receiver) -> None:
    done = run("stream", "--to", f"{receiver.url}?debug=1", "--header", "AccountID: 7", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) | {"target": ""} == {
        "target": "", "sent": ALL, "failed_tries": 0, "refused": 0, "replaced_now": 1, "waiting": False, "trouble": "",
    }  # fmt: skip
    path, headers, body = receiver.got[0]
    assert parse_qs(urlsplit(path).query) == {
        "debug": ["1"], "_stream_fields": ["project,client"], "_time_field": ["_time"], "_msg_field": ["_msg"],
    }  # fmt: skip
    assert headers["Content-Type"] == "application/stream+json"
    assert headers["AccountID"] == "7"
    assert SECRET.encode() not in body
    assert b"/home/ann" not in body
    got = receiver.events
    assert [one["_msg"][:12] for one in got[:2]] == ["The invoice ", "pytest tests"]
    assert all(one["_msg"] and datetime.fromisoformat(one["_time"]).tzinfo for one in got)
    assert {one["client"] for one in got} == {"claude"}
    edit = next(one for one in got if one["type"] == "file_edit")
    assert (edit["file"], edit["outcome"], edit["project"]) == ("src/invoice.py", "ok", "shop")
    coupon.user("now the tax")
    run("stream", "--to", f"{receiver.url}?debug=1")
    assert [one["_msg"] for one in receiver.events[ALL:]] == ["now the tax"]
    listed = json.loads(run("stream", "--list", "--json").stdout)["targets"]
    assert [(one["sent"], "debug" in one["target"]) for one in listed] == [(ALL + 1, False)]


@pytest.mark.parametrize(("at", "shown"), [
    (2**62, "9999-01-01T00:00:00.000Z"), (-(2**62), "1970-01-02T00:00:00.000Z"),
    (86_400_001, "1970-01-02T00:00:00.001Z"),
])  # fmt: skip
def test_a_time_that_cannot_be_is_the_nearest_that_can(at: int, shown: str) -> None:
    assert events.moment(at) == shown
    assert events.for_loki([{"time": shown, "type": "test"}])


def test_loki_gets_streams_of_nanoseconds_and_lines(coupon: Recorded, receiver: Receiver) -> None:
    url = receiver.url.replace("/insert/jsonline", "/loki/api/v1/push")
    assert run("stream", "--to", f"loki+{url}", "--types", "test,user").returncode == 0
    path, headers, body = receiver.got[0]
    assert (path, headers["Content-Type"]) == ("/loki/api/v1/push", "application/json")
    (stream,) = json.loads(body)["streams"]
    assert stream["stream"] == {"job": "nmem", "project": "shop", "client": "claude"}
    values = [(int(at), json.loads(line)["type"]) for at, line in stream["values"]]
    assert [kind for _, kind in values] == ["user/prompt", "test", "test", "user/prompt", "test"]
    assert values[0][0] == coupon.db.execute("SELECT min(at) FROM prompts").fetchone()[0] * 1_000_000


def test_what_a_slow_refusing_or_dying_receiver_did_not_take_is_sent_again_but_for_what_was_purged(
    coupon: Recorded, receiver: Receiver, db_path: str, streamed: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "ANSWER_S", 0.1)
    coupon.begin("other").user("a word that is purged: quince")
    receiver.answers = [503, DIE, HANG, 429]
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:  # nothing of the stream's stands in the way of whoever writes
            assert coupon.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
            purging.purge(db_path, Selection(sessions=("other",)), coupon.at, window=0)

    done = streamed(Cursor(), pause)
    assert (done.sent, done.failed, done.waiting) == (ALL, 4, False)
    assert pauses == [0.5, 1.0, 2.0, 4.0]
    assert len(receiver.events) == ALL
    assert not any("quince" in one["_msg"] for one in receiver.events)


def test_rules_that_a_project_made_later_hold_for_its_events_alone(
    record: Recorded, receiver: Receiver, streamed: Callable[..., Run], shop_rules: Callable[[], None]
) -> None:
    record.begin("s").user("Falkenstein, jane.doe@bigcorp.io")
    record.db.execute("INSERT INTO projects (id, key, root, name, created_at) VALUES (2, 'blog', '/b', 'blog', 1)")
    record.begin("other").user("Falkenstein, blog")
    record.db.execute("UPDATE sessions SET project_id = 2 WHERE id = 'other'")
    shop_rules()
    assert streamed(Cursor(), pytest.fail).replaced == 2
    assert [one["_msg"] for one in receiver.events] == ["[REDACTED:word], [REDACTED:email]", "Falkenstein, blog"]


def test_a_receiver_that_dies_midway_took_no_more(
    coupon: Recorded, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "TRIES", 2)
    monkeypatch.setattr(streaming, "_FIRST_S", 0.01)
    monkeypatch.setattr(streaming, "BATCH", 2)
    receiver.answers = [204, DIE, DIE]
    done = run("stream", "--to", receiver.url)
    assert done.returncode == 1 and "2 events sent" in done.stdout
    assert "took no more: the events wait" in done.stderr


def test_a_dead_receiver_leaves_the_events_for_the_next_run(
    coupon: Recorded, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "TRIES", 2)
    monkeypatch.setattr(streaming, "_FIRST_S", 0.01)
    receiver.answers = [DIE, DIE]
    done = run("stream", "--to", receiver.url)
    assert done.returncode == 1
    assert "took nothing: the events wait" in done.stderr
    assert "2 tries failed, last" in run("stream", "--list").stdout
    assert f"{ALL} events sent" in run("stream", "--to", receiver.url).stdout
    assert len(receiver.events) == ALL


def test_what_is_refused_is_counted_and_what_is_too_much_is_halved(
    coupon: Recorded, receiver: Receiver, streamed: Callable[..., Run]
) -> None:
    receiver.answers = [413, 413]
    cursor = Cursor()
    assert streamed(cursor, pytest.fail).sent == ALL
    assert [len(body.splitlines()) for *_, body in receiver.got] == [2, 4, 4]
    coupon.user("older than the receiver takes")
    receiver.answers = [400]
    assert (streamed(cursor, pytest.fail).refused, cursor.refused) == (1, 1)
    assert cursor.trouble.endswith("answers 400")  # `--list` tells it until something is taken
    receiver.answers = [404]
    coupon.user("another")
    with pytest.raises(NmemError, match="answers 404: no; check the address"):
        streamed(cursor, pytest.fail)


@pytest.mark.parametrize("status", [400, 422])
def test_one_bad_event_is_passed_over_alone_and_many_are_not_searched_for_one_by_one(
    coupon: Recorded, streamed: Callable[..., Run], status: int
) -> None:
    sizes: list[int] = []
    sent: list[str] = []
    bad = {"prompt/2"}

    class Picky(targets.Endpoint):
        def send(self, records: Any, still: Callable[[], bool]) -> int:
            sizes.append(len(records))
            taken = self._judged(status if bad & {one["id"] for one in records} else 200, b"no", len(records))
            sent.extend(one["id"] for one in records)
            return taken

    done = streamed(Cursor(), pytest.fail, target=Picky("http://127.0.0.1:1/x", {}, loki=False))
    assert (done.refused, done.sent, len(set(sent))) == (1, ALL - 1, ALL - 1)
    bad |= set(sent)
    sizes.clear()
    done = streamed(Cursor(), pytest.fail, target=Picky("http://127.0.0.1:1/x", {}, loki=False))
    assert (done.refused, sizes) == (ALL, [ALL, 5, 2] + [1] * ALL)


def test_what_is_purged_while_a_reader_is_slow_is_not_written(
    coupon: Recorded, db_path: str, streamed: Callable[..., Run]
) -> None:
    coupon.begin("other").user("quince")
    lines: list[bytes] = []

    class Reader:
        def write(self, view: memoryview) -> int:
            lines.append(bytes(view))
            if len(lines) == 3:
                purging.purge(db_path, Selection(sessions=("other",)), coupon.at, window=0)
            return len(view)

        def flush(self) -> None:
            """It holds nothing back."""

        close = flush

    pipe = targets.Pipe("pipe", Reader())  # type: ignore[arg-type]
    streamed(Cursor(), pytest.fail, target=pipe)
    assert len(lines) == ALL
    assert not any(b"quince" in each for each in lines)


def test_who_writes_meanwhile_stops_nothing_and_what_was_taken_out_is_read_again_fewer_at_a_time(
    coupon: Recorded, db_path: str, streamed: Callable[..., Run]
) -> None:
    coupon.begin("other").user("quince")
    pauses: list[float] = []
    sizes: list[int] = []
    sent: list[dict[str, Any]] = []

    class Slow(targets.Output):
        def send(self, records: Any, still: Callable[[], bool]) -> int:
            sizes.append(len(records))
            if meanwhile:
                meanwhile.pop(0)()
            sent.extend(records if (leave := still()) else ())
            return len(records) if leave else 0

    meanwhile: list[Callable[[], object]] = [
        lambda: purging.purge(db_path, Selection(sessions=("other",)), coupon.at, window=0),
        lambda: run("redact", "--history", "--yes"),
        lambda: coupon.db.execute("UPDATE sessions SET branch = 'main'"),
    ]
    done = streamed(Cursor(), pauses.append, target=Slow())
    assert sizes[:3] == [ALL + 1, (ALL + 1) // 2, 2]
    assert pauses == [streaming._POLL_S] * 2
    assert (done.sent, len(sent), done.failed) == (ALL, ALL, 0)
    assert not any("quince" in one["content"] for one in sent)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_without_a_reader_waits_and_then_gets_all(
    coupon: Recorded, streamed: Callable[..., Run], tmp_path: Path
) -> None:
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    got: list[bytes] = []
    readers: list[threading.Thread] = []

    def pause(_: float) -> None:
        readers.append(threading.Thread(target=lambda: got.extend(Path(path).read_bytes().splitlines())))
        readers[-1].start()
        time.sleep(0.05)

    done = streamed(Cursor(), pause, target=targets.target(path, {}, 1, 1, remote=False))
    readers[0].join(10)
    assert (done.failed >= 1, len(got)) == (True, ALL)


def test_following_sends_what_comes_until_it_is_interrupted(
    coupon: Recorded, receiver: Receiver, streamed: Callable[..., Run]
) -> None:
    looks = iter((lambda: coupon.user("what comes"), lambda: None))

    def pause(_: float) -> None:
        step = next(looks, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    with pytest.raises(KeyboardInterrupt):
        streamed(Cursor(), pause, follow=True)
    assert receiver.events[-1]["_msg"] == "what comes"
    assert len(receiver.events) == ALL + 1


def test_a_file_is_rotated_mended_and_the_owners_alone(coupon: Recorded, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"torn": ')
    path.chmod(0o600)
    place = targets.File(str(path), 1_500, 2)
    records = [{"id": f"obs/{number}", "content": "x" * 200} for number in range(20)]
    assert place.send(records, lambda: True) == 20
    kept = [path.with_name(f"{path.name}{end}") for end in (".2", ".1", "")]
    ids = [json.loads(line)["id"] for each in kept for line in each.read_text().splitlines()]
    assert ids == [f"obs/{number}" for number in range(20)][-len(ids) :]
    assert all(each.stat().st_size <= 1_500 and each.stat().st_mode & 0o077 == 0 for each in kept)
    path.write_text('{"torn": ')
    place.send(records[:1], lambda: True)
    assert path.read_text().splitlines()[0] == '{"torn": '
    done = run("stream", "--to", str(tmp_path / "all.jsonl"))
    assert f"{ALL} events sent" in done.stdout
    assert run("stream", "--to", str(tmp_path / "all.jsonl"), "--again").stdout == done.stdout
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 2 * ALL


def test_standard_output_has_a_cursor_only_by_name(coupon: Recorded) -> None:
    assert len(run("stream").stdout.splitlines()) == len(run("stream").stdout.splitlines()) == ALL
    named = [run("stream", "--name", "pipe", "--types", "user").stdout.splitlines() for _ in range(2)]
    assert [len(each) for each in named] == [2, 0]
    assert run("stream", "--since", "0h").stdout == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--to", "http://logs.example.org/insert/jsonline"), "is another machine: --allow-remote"),
        (("--to", "http://me:secret@127.0.0.1/x"), "password"),
        (("--to", "ftp://127.0.0.1/x"), "it is a file, a pipe"),
        (("--to", "/nowhere/at/all"), "there is no folder"),
        (("--types", "tests"), "is no type"),
        (("--to", "http://127.0.0.1:1/x", "--header", "X-Key: $NMEM_NOT_SET"), "not set in the environment"),
        (("--json",), "--json needs --to"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_line(coupon: Recorded, words: tuple[str, ...], said: str) -> None:
    done = run("stream", *words)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "secret@" not in done.stderr


def test_an_earlier_state_of_the_database_is_gone_on_from_its_end(
    coupon: Recorded, db_path: str, receiver: Receiver, streamed: Callable[..., Run], tmp_path: Path
) -> None:
    coupon.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(db_path, tmp_path / "backup.db")
    coupon.user("lost by the restore")
    cursor = Cursor()
    streamed(cursor, pytest.fail)
    with sqlite3.connect(tmp_path / "backup.db") as backup:
        backup.backup(coupon.db)
    coupon.user("after the restore")
    streamed(cursor, pytest.fail)
    assert cursor.marks.prompt == coupon.db.execute("SELECT max(id) FROM prompts").fetchone()[0]
