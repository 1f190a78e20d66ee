"""In which order a client's versions came: by their numbers where they have any, else by when they were first seen."""

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
