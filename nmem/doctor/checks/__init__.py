"""The checks of `nmem doctor`: functions that return findings, which are data."""

from __future__ import annotations

from nmem.audit.finding import NOTE, OK, WRONG, Finding

__all__ = ["NOTE", "OK", "WRONG", "Finding"]
