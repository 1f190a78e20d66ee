"""A real Chromium without a window, driven over its own protocol: a page, its keys, and every address it asks for."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--window-size=1600,1000", "--remote-debugging-port=0",
)  # fmt: skip
_CATCH = """Object.defineProperty(Object.prototype, "_core", {configurable: true, set(core) {
  Object.defineProperty(this, "_core", {value: core, writable: true});
  if (this.buffer && this.loadAddon) window.terminal = this; }});"""
"""The page's script keeps its terminal to itself; its rows are the text that is on the screen, so it is caught."""
_ROWS = """(() => { const seen = window.terminal && window.terminal.buffer.active, rows = [];
  for (let y = 0; seen && y < window.terminal.rows; y++) rows.push(seen.getLine(y).translateToString(true));
  return rows.join("\\n"); })()"""

LAST_ROW = f"{_ROWS}.split('\\n').at(-1)"


class Page:
    """One page; `asked` are the addresses that it fetched or connected to, `said` the errors that its console tells."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._session = ""
        self.asked: list[str] = []
        self.said: list[str] = []

    async def listen(self) -> None:
        """Take in what the browser tells until it is closed."""
        async for message in self._socket:
            if message.type is not WSMsgType.TEXT:
                continue
            told = message.json()
            if "id" in told:
                self._answers.pop(told["id"]).set_result(told)
            elif told["method"] == "Network.requestWillBeSent":
                self.asked.append(told["params"]["request"]["url"])
            elif told["method"] == "Network.webSocketCreated":
                self.asked.append(told["params"]["url"])
            elif told["method"] == "Log.entryAdded" and told["params"]["entry"]["level"] == "error":
                self.said.append(told["params"]["entry"]["text"])
            elif told["method"] == "Runtime.exceptionThrown":
                self.said.append(str(told["params"]["exceptionDetails"]))

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One call of the protocol; its result."""
        self._number += 1
        answer = self._answers[self._number] = asyncio.get_running_loop().create_future()
        whole = {"id": self._number, "method": method, "params": params}
        await self._socket.send_json(whole | ({"sessionId": self._session} if self._session else {}))
        told: dict[str, Any] = await asyncio.wait_for(answer, 120)
        assert "error" not in told, told
        result: dict[str, Any] = told["result"]
        return result

    async def open(self, address: str) -> None:
        """Go to an address in a tab of its own; everything that it asks for is noted from the first byte on."""
        target = (await self.call("Target.createTarget", url="about:blank"))["targetId"]
        attached = await self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Network", "Page", "Runtime", "Log"):
            await self.call(f"{domain}.enable")
        await self.call("Page.addScriptToEvaluateOnNewDocument", source=_CATCH)
        await self.call("Page.navigate", url=address)

    async def evaluate(self, expression: str) -> Any:
        """What an expression is in the page."""
        told = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return told["result"].get("value")

    async def press(self, key: str) -> None:
        """Press a key that writes a character."""
        await self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def shows(self, *wanted: str) -> str:
        """The rows of the page's terminal, once all of this stands there."""
        return await self.becomes(_ROWS, *wanted)

    async def becomes(self, expression: str, *wanted: str) -> str:
        """What an expression is in the page, once all of this is in it."""
        seen = ""
        for _ in range(1200):
            seen = str(await self.evaluate(expression) or "")
            if all(each in seen for each in wanted):
                return seen
            await asyncio.sleep(0.1)
        raise AssertionError(f"{wanted} not in {seen!r}; console: {self.said}")


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Page]:
    """A browser with a profile of its own, and a page in it."""
    assert PROGRAM is not None
    null = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        PROGRAM, *_FLAGS, f"--user-data-dir={folder}", stdout=null, stderr=null
    )
    try:
        async with ClientSession() as session, session.ws_connect(await _address(folder), max_msg_size=0) as socket:
            page = Page(socket)
            listening = asyncio.create_task(page.listen())
            yield page
            await page.call("Target.getTargets")
            listening.cancel()
    finally:
        process.terminate()
        await process.wait()


async def _address(folder: Path) -> str:
    """Where the browser listens, once it has written that down."""
    port = folder / "DevToolsActivePort"
    for _ in range(1200):
        if port.exists() and len(lines := port.read_text().split()) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        await asyncio.sleep(0.1)
    raise AssertionError("the browser does not listen")
