"""Where a stream of events goes: standard output, a file that is rotated, a named pipe, or an HTTP endpoint.

`send` takes records and gives how many were taken; a target that cannot take any now raises Unreachable, one that
never will raises Refused. Nothing is kept here: whoever sends tries again with what stands in the database then.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from nmem.errors import NmemError
from nmem.llm.config import loopback
from nmem.share.events import STREAMS, Record, for_loki, for_victorialogs, line
from nmem.text import printable

if TYPE_CHECKING:
    import httpx

_ANSWER = 300
"""Bytes of an answer that are read: what a refusal says."""
_AGAIN = frozenset((408, 425, 429))
"""Answers below 500 that ask to try again."""
_WRONG = frozenset((401, 402, 403, 404, 405, 407, 410, 415))
"""Answers that mean the address or the headers, not what was sent."""
_SMALLER = frozenset((400, 413, 422))
"""Answers that may mean one line of many, or how many they are."""
CONNECT_S, ANSWER_S = 3.0, 10.0
"""Seconds until a connection stands, and for which one write or read may stand still."""


class Unreachable(Exception):
    """Nobody took anything: it is tried again."""


class Refused(Exception):
    """The endpoint read it and does not take it. `smaller`: it may take less at a time."""

    def __init__(self, said: str, *, smaller: bool = False) -> None:
        super().__init__(said)
        self.smaller = smaller


class Target(Protocol):
    """One place that takes records."""

    name: str
    """What it is called, for a message; never a secret."""

    def send(self, records: Sequence[Record], still: Callable[[], bool]) -> int:
        """How many of the first records were taken. `still` says whether they may leave yet."""

    def close(self) -> None:
        """Let go of it."""


@dataclass(slots=True)
class Output:
    """Standard output. A closed one raises BrokenPipeError."""

    name: str = "standard output"

    def send(self, records: Sequence[Record], still: Callable[[], bool]) -> int:
        """Line by line; a reader that is slow is waited for."""
        return _written(sys.stdout.buffer, records, still)

    def close(self) -> None:
        """It stays open."""


@dataclass(slots=True)
class Pipe:
    """A named pipe; without a reader, or once that is gone, Unreachable."""

    name: str
    _file: BinaryIO | None = None

    def send(self, records: Sequence[Record], still: Callable[[], bool]) -> int:
        """Line by line; a reader that is slow is waited for."""
        try:
            if self._file is None:
                handle = os.open(self.name, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                os.set_blocking(handle, True)
                self._file = os.fdopen(handle, "wb", buffering=0)
            return _written(self._file, records, still)
        except OSError as error:
            self.close()
            raise Unreachable(f"nobody reads {printable(self.name)} ({error.strerror})") from None

    def close(self) -> None:
        """The reader sees the end."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _written(file: BinaryIO, records: Sequence[Record], still: Callable[[], bool]) -> int:
    """Write lines as long as they may leave; how many. A line that is begun is ended."""
    for number, record in enumerate(records):
        if not still():
            return number
        view = memoryview(line(record))
        while view:
            view = view[file.write(view) :]
        file.flush()
    return len(records)


@dataclass(slots=True)
class File:
    """A file for the owner only, appended to; above `limit` bytes it becomes FILE.1, that FILE.2, up to `keep`."""

    name: str
    limit: int
    keep: int

    def send(self, records: Sequence[Record], still: Callable[[], bool]) -> int:
        """Whole lines, on the disk before the answer; what could be written by half is taken back."""
        done = 0
        try:
            while done < len(records) and still():
                done += self._append([line(record) for record in records[done:]])
        except OSError as error:
            raise Unreachable(f"{self.name} cannot be written: {error.strerror}") from None
        return done

    def _append(self, lines: Sequence[bytes]) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self.name, flags, 0o600)
        try:
            size = os.fstat(handle).st_size
            torn = size and os.pread(handle, 1, size - 1) != b"\n"  # whoever wrote last was killed
            data, count = b"\n" if torn else b"", 0
            for each in lines:
                if count and size + len(data) + len(each) > self.limit:
                    break
                if not count and size and size + len(each) > self.limit:
                    self._rotate()
                    return 0
                data, count = data + each, count + 1
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(handle, view) :]
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, size)
                raise
            return count
        finally:
            os.close(handle)

    def _rotate(self) -> None:
        older = [Path(f"{self.name}.{number}") for number in range(self.keep, 0, -1)]
        for old, new in zip([*older[1:], Path(self.name)], older, strict=True):
            if old.exists():
                old.replace(new)

    def close(self) -> None:
        """It is open only while it is written."""


@dataclass(slots=True)
class Endpoint:
    """An HTTP endpoint that takes lines of JSON as VictoriaLogs does, or pushes as Loki does."""

    url: str
    headers: Mapping[str, str]
    loki: bool
    name: str = field(init=False)
    _client: httpx.Client | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        self.name = printable(urlunsplit((parts.scheme, parts.netloc, parts.path, "", "")))  # a query may hold a key
        if not self.loki:
            given = parse_qsl(parts.query, keep_blank_values=True)
            known = {name for name, _ in given}
            ours = {"_stream_fields": ",".join(STREAMS), "_time_field": "_time", "_msg_field": "_msg"}
            query = urlencode([*given, *((name, value) for name, value in ours.items() if name not in known)])
            self.url = urlunsplit(parts._replace(query=query))

    def send(self, records: Sequence[Record], still: Callable[[], bool]) -> int:
        """All in one request."""
        import httpx  # on use: start-up stays short

        if self._client is None:
            timeout = httpx.Timeout(ANSWER_S, connect=CONNECT_S)
            # a proxy of the environment serves hosts outside only
            self._client = httpx.Client(timeout=timeout, trust_env=not loopback(self.url), follow_redirects=False)
        body = for_loki(records) if self.loki else for_victorialogs(records)
        kind = "application/json" if self.loki else "application/stream+json"
        headers = {"Content-Type": kind, "Accept-Encoding": "identity", **self.headers}
        if not still():
            return 0
        try:
            with self._client.stream("POST", self.url, content=body, headers=headers) as answer:
                status = answer.status_code
                said = next(answer.iter_raw(_ANSWER), b"")
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            self.close()
            raise Unreachable(f"{self.name} does not answer ({type(error).__name__})") from None
        return self._judged(status, said, len(records))

    def _judged(self, status: int, said: bytes, count: int) -> int:
        if 200 <= status < 300:
            return count
        words = printable(" ".join(said.decode("utf-8", "replace").split()))[:160]
        told = f"{self.name} answers {status}{f': {words}' if words else ''}"
        if status >= 500 or status in _AGAIN:
            raise Unreachable(told)
        if status in _WRONG or 300 <= status < 400:
            raise NmemError(f"{told}; check the address and --header")
        raise Refused(told, smaller=status in _SMALLER)

    def close(self) -> None:
        """End the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None


def target(to: str, headers: Mapping[str, str], rotate: int, keep: int, *, remote: bool) -> Target:
    """What `--to` names. Raises NmemError for one that cannot be, and for another machine where that is not allowed."""
    if to in ("", "-"):
        return Output()
    loki, url = to.startswith("loki+"), to.removeprefix("loki+")
    if url.startswith(("http://", "https://")):
        return _endpoint(url, headers, loki=loki, remote=remote)
    if loki or "://" in to:
        raise NmemError(f"{printable(to)}: it is a file, a pipe, http(s)://… or loki+http(s)://…")
    path = Path(to)
    if path.is_fifo():
        return Pipe(to)
    if path.exists() and not path.is_file():
        raise NmemError(f"{printable(to)} is neither a file nor a pipe")
    if not path.absolute().parent.is_dir():
        raise NmemError(f"{printable(to)}: there is no folder {printable(str(path.absolute().parent))}")
    return File(str(path.absolute()), rotate, keep)


def _endpoint(url: str, headers: Mapping[str, str], *, loki: bool, remote: bool) -> Endpoint:
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise NmemError(f"{printable(url)} is no address: http://127.0.0.1:9428/insert/jsonline")
    if "@" in parts.netloc:
        raise NmemError("an address with a password in it may be seen by others: give it with --header")
    if not loopback(url) and not remote:
        raise NmemError(
            f"{printable(parts.hostname or '')} is another machine: --allow-remote, or"
            " `nmem config set stream.allow_remote true`, lets events leave this one"
        )
    return Endpoint(url, headers, loki)
