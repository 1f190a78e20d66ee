"""One cockpit behind one websocket: a process that draws into a pipe, and is gone when its page is.

Packets, both ways: one byte of type ("D" data, "M" meta as JSON, "P" packed), four bytes of length, the payload.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable

from nmem.errors import NmemError

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
