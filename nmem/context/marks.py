"""Markers around every injected text, so that nmem recognizes it and never records it.

Capture strips whatever stands between the two, wherever a client repeats it; so the marks are its words.
"""

from __future__ import annotations

from capture.clients.said import BEGIN, END

__all__ = ("BEGIN", "END", "whole")


def whole(text: str) -> bool:
    """Whether a text is marked at both ends and nowhere between: only then is all of it known again."""
    return text.startswith(BEGIN) and text.endswith(END) and text.count(BEGIN) == 1 == text.count(END)
