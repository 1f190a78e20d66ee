"""Selects sessions that are told nothing, to measure the effect of context. On the hook's path."""

from __future__ import annotations

MOST = 0.5


def withheld(session_id: str, fraction: float) -> bool:
    """Whether a session is one of the fraction that is told nothing: always the same answer for the same session."""
    if fraction <= 0.0:
        return False
    from _blake2 import blake2b

    drawn = blake2b(session_id.encode("utf-8", "replace"), digest_size=8, person=b"nmem-holdout").digest()
    return int.from_bytes(drawn, "big") < min(fraction, MOST) * 2.0**64
