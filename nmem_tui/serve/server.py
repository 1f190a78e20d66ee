"""The page and its websocket, on 127.0.0.1, until ctrl+c."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from aiohttp import WSCloseCode, WSMsgType, web

from nmem.errors import NmemError
from nmem.text import printable
from nmem_tui.serve import guard
from nmem_tui.serve.child import COLUMNS, ROWS, Child, within

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
    app = web.Application(middlewares=[guard.guard(token)])
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
    app.on_response_prepare.append(guard.seal)
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
    token = guard.new_token()
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
            raise NmemError(f"port {port} cannot be had: {os.strerror(error.errno or 0)}") from error
        click.echo(f"The cockpit is at http://127.0.0.1:{runner.addresses[0][1]}/{token}/")
        click.echo("Whoever has this address can read and steer your memory. ctrl+c ends it.")
        await over.wait()
    finally:
        await runner.cleanup()


def run(words: list[str], port: int) -> None:
    """Serve until ctrl+c; `words` is the command behind each page, port 0 takes any that is free."""
    asyncio.run(_serve(words, port))
