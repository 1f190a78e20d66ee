"""The cockpit in a browser: only the printed address gets in, from its own page alone, and nothing stays behind."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

web = pytest.importorskip("aiohttp.web", reason="the extra `web` is not installed")
pytest.importorskip("textual_serve", reason="the extra `web` is not installed")
from aiohttp import WSMsgType, WSServerHandshakeError  # noqa: E402 -- after the check that it is there
from aiohttp.test_utils import TestClient, TestServer  # noqa: E402

from nmem.errors import NmemError  # noqa: E402
from nmem_tui import command  # noqa: E402
from nmem_tui.serve import server  # noqa: E402

TOKEN = "a-token-of-this-test"
ECHO = r"""
import os, sys, time
def packet(kind, data): os.write(1, kind + len(data).to_bytes(4, "big") + data)
os.write(1, b"__GANGLION__\n")
packet(b"D", ("size %s %s %s" % (os.environ["COLUMNS"], os.environ["ROWS"], os.environ.get("TMUX"))).encode())
while head := os.read(0, 5):
    data = os.read(0, int.from_bytes(head[1:], "big"))
    packet(b"D", head[:1] + data)
    if b"quit" in data: break
packet(b"M", b'{"type": "exit"}')
"""
"""A program that answers each packet with what was in it."""


@pytest.fixture
async def client() -> AsyncIterator[TestClient[Any, Any]]:
    """A server whose pages run a program that echoes."""
    app = server.application([sys.executable, "-c", ECHO], TOKEN)
    async with TestClient(TestServer(app)) as made:
        yield made


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (f"/{TOKEN}/", {}, 200),
        (f"/{TOKEN}", {}, 200),
        (f"/{TOKEN}/page.js", {}, 200),
        (f"/{TOKEN}/static/js/textual.js", {}, 200),
        (f"/{TOKEN}/", {"Host": "localhost:9"}, 200),
        ("/", {}, 403),
        (f"/{TOKEN}x/", {}, 403),
        (f"/{TOKEN[:-1]}/", {}, 403),
        ("/static/js/textual.js", {}, 403),
        ("/ws", {}, 403),
        ("/page.js", {}, 403),
        ("/caf\u00e9/", {}, 403),
        (f"/{TOKEN}/", {"Host": "rebound.test:9"}, 403),
        (f"/{TOKEN}/", {"Host": "127.0.0.1.rebound.test:9"}, 403),
        (f"/{TOKEN}/", {"Host": '127.0.0.1:9"'}, 403),
        (f"/{TOKEN}/", {"Host": "127.0.0.1:9", "Origin": "http://other.test"}, 403),
        (f"/{TOKEN}/", {"Host": "127.0.0.1:9", "Origin": "http://127.0.0.1:8"}, 403),
        (f"/{TOKEN}/", {"Host": "127.0.0.1:9", "Origin": "http://127.0.0.1:9"}, 200),
        (f"/{TOKEN}/static/../../../etc/passwd", {}, 403),
        (f"/{TOKEN}/static/%2e%2e/server.py", {}, 404),
    ],
)
async def test_only_the_printed_address_gets_in(
    path: str, headers: dict[str, str], status: int, client: TestClient[Any, Any]
) -> None:
    answer = await client.get(path, headers=headers)
    assert answer.status == status
    assert TOKEN not in await answer.text() or status == 200


@pytest.mark.parametrize(
    "origin", [None, "http://other.test", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}"]
)
async def test_no_other_page_opens_a_websocket(origin: str | None, client: TestClient[Any, Any]) -> None:
    headers = {"Origin": origin.format(port=client.port)} if origin else {}
    with pytest.raises(WSServerHandshakeError) as refused:
        await client.ws_connect(f"/{TOKEN}/ws", headers=headers)
    assert refused.value.status == 403


async def test_the_page_names_nothing_outside(client: TestClient[Any, Any]) -> None:
    answer = await client.get(f"/{TOKEN}/")
    text = await answer.text()
    assert set(re.findall(r"\w+://[^\s\"'<]*", text)) == {f"ws://127.0.0.1:{client.port}/{TOKEN}/ws"}
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    for name in re.findall(r"(?:src=|href=|url\()\"([^\"]+\.[a-z]+)\"", text):
        assert (await client.get(f"/{TOKEN}/{name}")).status == 200, name


async def test_keys_sizes_and_nonsense_of_a_page(client: TestClient[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "the terminal of the server")
    origin = {"Origin": f"http://127.0.0.1:{client.port}"}
    async with client.ws_connect(f"/{TOKEN}/ws?width=99999&height=x", headers=origin) as page:
        assert await page.receive_bytes() == b"size 600 24 None"
        for nonsense in ("", "{", "[]", "7", '["stdin", 7]', '["resize", 7]', '["what", {}]', '[["stdin"], 1]',
                         "[" * 100_000, '["ping", ' + '[' * 500 + ']' * 500 + ']'):  # fmt: skip
            await page.send_str(nonsense)
        await page.send_json(["stdin", "\u00e9\x1b[A"])
        assert await page.receive_bytes() == "D\u00e9\x1b[A".encode()
        await page.send_json(["resize", {"width": 100, "height": -4}])
        assert await page.receive_bytes() == b'M{"type": "resize", "width": 100, "height": 6}'
        await page.send_json(["ping", 3])
        assert await page.receive_json() == ["pong", 3]
        await page.send_json(["stdin", "quit"])
        assert await page.receive_bytes() == b"Dquit"
        assert (await page.receive()).type is WSMsgType.CLOSE


async def test_more_pages_than_there_is_room_for_are_refused(
    client: TestClient[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PAGES", 1)
    origin = {"Origin": f"http://127.0.0.1:{client.port}"}
    async with client.ws_connect(f"/{TOKEN}/ws", headers=origin) as page:
        await page.receive_bytes()
        refused = await client.get(f"/{TOKEN}/")
        assert refused.status == 503 and "Close one of them" in await refused.text()
        with pytest.raises(WSServerHandshakeError) as handshake:
            await client.ws_connect(f"/{TOKEN}/ws", headers=origin)
        assert handshake.value.status == 503
        assert (await client.get(f"/{TOKEN}/page.js")).status == 200
    for _ in range(100):
        if (await client.get(f"/{TOKEN}/")).status == 200:
            break
        await asyncio.sleep(0.05)
    else:
        pytest.fail("the room of a page that was closed stays taken")


async def test_a_process_that_will_not_leave_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_LEAVE_S", 0.1)
    stubborn = await server.Child.start([sys.executable, "-c", "import time; time.sleep(600)"], 80, 24)
    await stubborn.stop()
    assert stubborn._process.returncode == -signal.SIGKILL


async def test_what_does_not_start_says_why(client: TestClient[Any, Any], capsys: pytest.CaptureFixture[str]) -> None:
    client.app[server._WORDS][:] = [sys.executable, "-c", "raise SystemExit('no \\x1b[2J such thing')"]
    async with client.ws_connect(f"/{TOKEN}/ws", headers={"Origin": f"http://127.0.0.1:{client.port}"}) as page:
        assert (await page.receive()).type is WSMsgType.CLOSE
    told = capsys.readouterr().err
    assert told.startswith("nmem: the cockpit did not start: no ")
    assert "\x1b" not in told


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda _name: None)
    with pytest.raises(NmemError, match=r"aiohttp and textual_serve: .* `web`.*pip install"):
        command.begin([], 0)


COMMAND = [sys.executable, "-m", "nmem", "tui", "--demo", "--serve"]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The real command, with the demo behind its page; its process and the address that it printed."""
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield process, found[0]
        process.kill()


def descendants(pid: int) -> list[int]:
    done = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    return [int(each) for each in done.stdout.split()]


def gone(pid: int) -> bool:
    """Whether a process ends in time."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found by /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_however_it_ends_no_cockpit_stays_behind(
    how: signal.Signals, served: tuple[subprocess.Popen[str], str]
) -> None:
    from aiohttp import ClientSession

    process, address = served
    async with ClientSession() as session:
        origin = {"Origin": address.rpartition("/")[0].rpartition("/")[0]}
        async with session.ws_connect(f"{address}ws?width=80&height=24", headers=origin, max_msg_size=0) as page:
            drawn = b""
            async with asyncio.timeout(120):
                while b"DEMO" not in drawn:
                    drawn += await page.receive_bytes()
            pids = descendants(process.pid)
            assert len(pids) == 1
            process.send_signal(how)
            while (await page.receive()).type is WSMsgType.BINARY:
                pass
    assert process.wait(120) == (-how if how is signal.SIGKILL else 0)
    assert gone(pids[0])
    assert process.stdout is not None
    assert process.stdout.read().splitlines() == [
        "Anyone with this address can read and change your memory. ctrl+c stops it."
    ]


def test_a_port_that_is_taken_is_told_in_one_line(served: tuple[subprocess.Popen[str], str]) -> None:
    port = served[1].split(":")[2].split("/")[0]
    done = subprocess.run([*COMMAND, "--port", port], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"nmem: cannot listen on port {port}: Address already in use\n"


async def test_a_process_that_reads_nothing_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_LEAVE_S", 0.1)
    deaf = await server.Child.start([sys.executable, "-c", "import time; time.sleep(600)"], 80, 24)
    typing = asyncio.create_task(deaf.keys("x" * 3_000_000))
    await asyncio.sleep(0)
    async with asyncio.timeout(120):
        await deaf.stop()
    typing.cancel()
    assert deaf._process.returncode == -signal.SIGKILL
