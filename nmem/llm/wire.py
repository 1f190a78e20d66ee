"""One HTTP exchange with limits on total time, size and redirects; can be cancelled.

httpx is imported when a call is made. Bodies are read uncompressed, so that no small answer unfolds into a large one.
It blocks its thread and runs a loop of its own there: call it from a worker, never from a running loop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urljoin, urlsplit

from nmem.llm import Cancel, Cancelled, Failure
from nmem.llm.config import loopback

if TYPE_CHECKING:
    import httpx

MOST_BYTES = 1 << 20
_REDIRECTS = 3
_POLL = 0.05
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and body of one exchange."""

    status: int
    body: bytes

    def json(self) -> object:
        """The body as JSON, None when it is not."""
        try:
            return json.loads(self.body.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds to connect, seconds in all, bytes."""

    connect: float
    call: float
    size: int = MOST_BYTES


def exchange(method: str, url: str, headers: Mapping[str, str], body: object, limits: Limits, cancel: Cancel) -> Answer:
    """One request and its answer; raises `Failure` (kinds: unreachable, timeout, redirect, size, cancelled)."""
    cancel.check()
    return asyncio.run(_bounded(_exchange(method, url, headers, body, limits), limits.call, cancel))


async def _bounded(work: Awaitable[T], seconds: float, cancel: Cancel) -> T:
    """The work's result, unless time runs out or nobody waits for it any more."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    try:
        while not task.done():
            if cancel.is_set():
                raise Cancelled
            if loop.time() >= until:
                raise Failure("timeout", f"the model did not answer within {seconds:g} seconds")
            await asyncio.wait({task}, timeout=_POLL)
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _exchange(method: str, url: str, headers: Mapping[str, str], body: object, limits: Limits) -> Answer:
    import httpx  # on use: start-up stays short

    timeout = httpx.Timeout(limits.call, connect=limits.connect)
    try:
        # A proxy of the environment serves hosts outside only: what stays on this machine never goes through one.
        async with httpx.AsyncClient(timeout=timeout, trust_env=not loopback(url), follow_redirects=False) as client:
            for _ in range(_REDIRECTS + 1):
                answer = await _send(
                    client, client.build_request(method, url, headers=_plain(headers), json=body), limits
                )
                if isinstance(answer, Answer):
                    return answer
                url = _same_origin(url, answer)
        raise Failure("redirect", f"{_host(url)} redirects in circles")
    except httpx.TimeoutException:
        raise Failure("timeout", f"{_host(url)} did not answer in time") from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
        raise Failure("unreachable", f"no answer from {_host(url)} ({type(error).__name__})") from None
    except (ImportError, ValueError) as error:
        raise Failure("unreachable", f"{_host(url)} cannot be asked ({type(error).__name__})") from None


async def _send(client: httpx.AsyncClient, request: httpx.Request, limits: Limits) -> Answer | str:
    """The answer, or where it redirects to."""
    response = await client.send(request, stream=True)
    try:
        if response.is_redirect:
            if response.status_code not in (307, 308):
                raise Failure("redirect", f"{request.url.host} redirects; set its final address")
            return str(response.headers.get("location", ""))
        if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
            raise Failure("size", f"{request.url.host} answers compressed although it was asked not to")
        chunks, size = [], 0
        async for chunk in response.aiter_raw():
            size += len(chunk)
            if size > limits.size:
                raise Failure("size", f"{request.url.host} answered more than {limits.size} bytes")
            chunks.append(chunk)
        return Answer(response.status_code, b"".join(chunks))
    finally:
        await response.aclose()


def _plain(headers: Mapping[str, str]) -> dict[str, str]:
    return {"Accept": "application/json", "Accept-Encoding": "identity", **headers}


def _same_origin(url: str, location: str) -> str:
    """The redirect's address when it stays where the person pointed us; the key and the text go nowhere else."""
    target = urljoin(url, location)
    old, new = urlsplit(url), urlsplit(target)
    if (old.scheme, old.netloc.lower()) != (new.scheme, new.netloc.lower()):
        raise Failure("redirect", f"{old.hostname} redirects to another place; that is refused")
    return target


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc or "the endpoint"
    except ValueError:
        return "the endpoint"
