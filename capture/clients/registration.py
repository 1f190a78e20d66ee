"""How one native event of a client is registered in its settings."""

from __future__ import annotations

SYNC = "sync"
ASYNC = "async"


class Registration:
    """Whether the client waits for the hook, how long, and for which tools; the timeout is in the client's own unit."""

    __slots__ = ("matcher", "mode", "timeout")

    def __init__(self, mode: str, timeout: int, matcher: str | None = None) -> None:
        self.mode = mode
        self.timeout = timeout
        self.matcher = matcher

    def __repr__(self) -> str:
        return f"Registration({self.mode!r}, {self.timeout}, {self.matcher!r})"
