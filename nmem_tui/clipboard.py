"""The OSC 52 sequence that puts text on the clipboard of the terminal the person sits at."""

from __future__ import annotations

import base64
from collections.abc import Mapping

_LIMIT = 74_000
"""Bytes of text; more is dropped by common terminals without a word."""


def osc52(text: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """The bytes to write, and in words how the text travels; tmux and screen need it wrapped."""
    data = base64.b64encode(text.encode("utf-8", "replace")[:_LIMIT]).decode("ascii")
    plain = f"\x1b]52;c;{data}\x07"
    if environ.get("TMUX"):
        inner = plain.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{inner}\x1b\\{plain}", "OSC 52 via tmux"
    if environ.get("TERM", "").startswith("screen"):
        return f"\x1bP{plain}\x1b\\", "OSC 52 via screen"
    return plain, "OSC 52"
