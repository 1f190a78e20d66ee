"""Orders a client's versions: by number where there is one, else by first appearance."""

from __future__ import annotations

import re

_NUMBERS = re.compile(r"\d+")


def order(version: str, first_at: int) -> tuple[tuple[int, ...], int]:
    """A key to sort by; a version that nobody told comes where its first session was."""
    return tuple(int(one) for one in _NUMBERS.findall(version)[:4]), first_at


def told(client: str, version: str) -> str:
    """A client and its version, in words."""
    from capture.install.targets import title

    return f"{title(client)} {version or '(version unknown)'}"
