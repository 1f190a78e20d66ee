"""The cockpit's web server on 127.0.0.1: token check, page, websocket, one cockpit process per browser tab.

Any page on the web may send a browser to 127.0.0.1, and may point a name of its own there (DNS rebinding). So the
token stands in the path, the Host must be a loopback name, and a page that asks must be the cockpit's own.

Packets, both ways: one byte of type ("D" data, "M" meta as JSON, "P" packed), four bytes of length, the payload.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import signal
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.typedefs import Handler, Middleware

from nmem.errors import NmemError
from nmem.text import printable

LOOPBACK = ("127.0.0.1", "localhost")
REFUSED = "403: not the address that `nmem tui --serve` printed\n"


def new_token() -> str:
    """A secret for one run of the server; nothing of it is kept."""
    return secrets.token_urlsafe(24)


def allowed(request: web.Request, token: str) -> bool:
    """Whether this request has the token, names this machine as itself, and comes from no other page."""
    given = request.path.split("/")[1]
    if not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
        return False
    host = request.headers.get("Host", "")
    name, _, port = host.partition(":")
    if name not in LOOPBACK or not (port.isdecimal() and port.isascii()):
        return False
    origin = request.headers.get("Origin")
    if origin is None:  # a page that is opened has none; a websocket always has, when a browser opens it
        return "Upgrade" not in request.headers
    return origin == f"http://{host}"


def guard(token: str) -> Middleware:
    """The check before every request, those for paths that do not exist included."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not allowed(request, token):
            return web.Response(status=403, text=REFUSED)
        return await handler(request)

    return check


async def seal(request: web.Request, response: web.StreamResponse) -> None:
    """What the browser is told with every answer: nothing from outside, in no other page's frame, kept nowhere."""
    own = f"'self' ws://{request.headers.get('Host', '')}" if response.status != 403 else "'self'"
    response.headers.update(
        {
            "Content-Security-Policy": "default-src 'none'; script-src 'self'; font-src 'self'; img-src 'self' data:; "
            f"style-src 'self' 'unsafe-inline'; connect-src {own}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
    )


DRIVER = "nmem_tui.serve.driver:Served"
"""What draws in such a process; TEXTUAL_DRIVER tells it."""
_HELLO = b"__GANGLION__\n"
_LEAVE_S = 3.0
_OUTER = ("TMUX", "TMUX_PANE", "STY", "TERM", "TERM_PROGRAM", "COLORTERM", "LINES")
"""What tells of the terminal that the server was started in; the page is another one."""
_LONGEST = 64_000_000
COLUMNS, ROWS = (20, 600), (6, 300)


def within(value: object, bounds: tuple[int, int], default: int) -> int:
    """A number of cells that a page asks for; what is none is the default."""
    try:
        return max(bounds[0], min(bounds[1], int(str(value))))
    except ValueError:
        return default


def environment(columns: int, rows: int) -> dict[str, str]:
    """What the process is told about the page."""
    outer = {name: value for name, value in os.environ.items() if name not in _OUTER}
    return outer | {
        "TEXTUAL_DRIVER": DRIVER,
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM": "xterm-256color",
        "COLUMNS": str(columns),
        "ROWS": str(rows),
    }


class Child:
    """The process; `pump` runs until it ends, `stop` ends it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, words: list[str], columns: int, rows: int) -> Child:
        """Start it; ctrl+c in the server's terminal does not reach it, `stop` does."""
        pipe = asyncio.subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(
                *words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment(columns, rows), start_new_session=True
            )
        )

    async def pump(self, draw: Callable[[bytes], Awaitable[None]]) -> None:
        """Pass on what it draws until it leaves; raises NmemError with its last words when it never began."""
        out = self._process.stdout
        assert out is not None
        last_words = asyncio.create_task(self._last_words())
        try:
            if await out.readline() != _HELLO:
                raise NmemError(f"the cockpit did not start: {await last_words}")
            while True:
                kind, size = await out.readexactly(1), int.from_bytes(await out.readexactly(4), "big")
                if size > _LONGEST:
                    return
                payload = await out.readexactly(size)
                if kind == b"D":
                    await draw(payload)
                elif kind == b"M" and json.loads(payload).get("type") == "exit":
                    return
        except asyncio.IncompleteReadError:
            return
        finally:
            last_words.cancel()

    async def _last_words(self) -> str:
        """The last line that it said on stderr; read all the while, so that it never waits for a reader."""
        said, stream = b"", self._process.stderr
        assert stream is not None
        while more := await stream.read(4096):
            said = (said + more)[-4096:]
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {await self._process.wait()}"

    async def keys(self, data: str) -> None:
        """What the person typed or did with the mouse."""
        await self._send(b"D", data.encode("utf-8", "replace"))

    async def meta(self, **told: object) -> None:
        """Another size, focus, or that it shall quit."""
        await self._send(b"M", json.dumps(told).encode())

    async def _send(self, kind: bytes, payload: bytes) -> None:
        into = self._process.stdin
        if into is None or into.is_closing():
            return
        try:
            into.write(kind + len(payload).to_bytes(4, "big") + payload)
            await into.drain()
        except (ConnectionError, RuntimeError):
            return  # it has left; `pump` ends too

    async def stop(self) -> None:
        """Ask it to leave, and see to it that it has."""
        if self._process.returncode is not None:
            return
        drained = asyncio.create_task(self._drain())
        try:
            async with asyncio.timeout(_LEAVE_S):  # also round asking: one that does not read takes no question
                await self.meta(type="quit")
                await self._process.wait()
        except (TimeoutError, asyncio.CancelledError):
            self._process.kill()
            await self._process.wait()
        finally:
            drained.cancel()

    async def _drain(self) -> None:
        """Read what nobody wants any more: a process that waits for its reader does not leave."""
        out = self._process.stdout
        while out is not None and await out.read(65_536):
            pass


_PAGE = Path(__file__).with_name("page.html")
PAGES = 8
"""Pages at once: each has a cockpit of its own, of some 90 MB."""
FULL = (
    f"503: {PAGES} pages of this cockpit are open, and more would fill the machine's memory.\n"
    "Close one of them, then load this page again.\n"
)
_OPEN = web.AppKey("open", set[web.WebSocketResponse])
_WORDS = web.AppKey("words", list[str])


def application(words: list[str], token: str) -> web.Application:
    """The server's routes, all of them behind the token; `words` is the command that each page runs."""
    app = web.Application(middlewares=[guard(token)])
    app[_OPEN], app[_WORDS] = set(), words
    found = find_spec("textual_serve")
    assert found is not None
    assert found.origin is not None
    app.add_routes(
        [
            web.get(f"/{token}/", _page),
            web.get(f"/{token}", _slash),
            web.get(f"/{token}/page.js", _script),
            web.get(f"/{token}/ws", _socket),
            web.static(f"/{token}/static", Path(found.origin).parent / "static"),
        ]
    )
    app.on_response_prepare.append(seal)
    app.on_shutdown.append(_close)
    return app


async def _page(request: web.Request) -> web.Response:
    """Everything that it names stands beside it; only the websocket's address has to be whole."""
    _room(request)
    socket = f"ws://{request.headers['Host']}{request.path}ws"
    return web.Response(text=_PAGE.read_text("utf-8").replace("{socket}", socket), content_type="text/html")


def _room(request: web.Request) -> None:
    """Refuses a page for which there is no room. Raises HTTPServiceUnavailable."""
    if len(request.app[_OPEN]) >= PAGES:
        raise web.HTTPServiceUnavailable(text=FULL)


async def _slash(request: web.Request) -> web.Response:
    """A last slash is easily lost when an address is copied."""
    raise web.HTTPPermanentRedirect(f"{request.path}/")


async def _script(_request: web.Request) -> web.FileResponse:
    return web.FileResponse(_PAGE.with_suffix(".js"))


async def _socket(request: web.Request) -> web.WebSocketResponse:
    """One cockpit, from the page's opening to its closing; whichever side ends first ends the other."""
    _room(request)
    socket = web.WebSocketResponse(heartbeat=15)
    request.app[_OPEN].add(socket)
    try:
        await socket.prepare(request)
        await _cockpit(request, socket)
    finally:
        request.app[_OPEN].discard(socket)
    return socket


async def _cockpit(request: web.Request, socket: web.WebSocketResponse) -> None:
    """A process of its own for one page."""
    columns, rows = within(request.query.get("width"), COLUMNS, 80), within(request.query.get("height"), ROWS, 24)
    child = await Child.start(request.app[_WORDS], columns, rows)
    drawing = asyncio.create_task(_draw(child, socket))
    try:
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                await _take(message.data, child, socket)
    finally:
        drawing.cancel()
        await asyncio.gather(drawing, return_exceptions=True)
        await child.stop()


async def _draw(child: Child, socket: web.WebSocketResponse) -> None:
    """From the process into the page; the page is closed when it leaves."""
    try:
        await child.pump(socket.send_bytes)
    except NmemError as error:
        click.echo(f"nmem: {printable(str(error))}", err=True)
    except (ConnectionError, RuntimeError):
        return  # the page has gone
    await socket.close()


async def _take(text: str, child: Child, socket: web.WebSocketResponse) -> None:
    """What a page tells; what is none of its words is passed over."""
    try:
        told: Any = json.loads(text)
        kind, data = told[0], told[1] if len(told) > 1 else None
    except (ValueError, LookupError, TypeError, RecursionError):
        return
    if kind == "stdin" and isinstance(data, str):
        await child.keys(data)
    elif kind == "resize" and isinstance(data, dict):
        columns, rows = within(data.get("width"), COLUMNS, 80), within(data.get("height"), ROWS, 24)
        await child.meta(type="resize", width=columns, height=rows)
    elif kind in ("focus", "blur"):
        await child.meta(type=kind)
    elif kind == "ping" and not isinstance(data, (list, dict)):
        await socket.send_json(["pong", data])


async def _close(app: web.Application) -> None:
    """Every page is told that it is over; its process ends with it."""
    pages = app[_OPEN].copy()
    await asyncio.gather(*(each.close(code=WSCloseCode.GOING_AWAY) for each in pages), return_exceptions=True)


async def _serve(words: list[str], port: int) -> None:
    token = new_token()
    runner = web.AppRunner(application(words, token), access_log=None)  # a log of addresses would keep the token
    await runner.setup()
    over = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        try:
            await site.start()
        except OSError as error:
            raise NmemError(f"cannot listen on port {port}: {os.strerror(error.errno or 0)}") from error
        click.echo(f"The cockpit is at http://127.0.0.1:{runner.addresses[0][1]}/{token}/")
        click.echo("Anyone with this address can read and change your memory. ctrl+c stops it.")
        await over.wait()
    finally:
        await runner.cleanup()


def run(words: list[str], port: int) -> None:
    """Serve until ctrl+c; `words` is the command behind each page, port 0 takes any that is free."""
    asyncio.run(_serve(words, port))
