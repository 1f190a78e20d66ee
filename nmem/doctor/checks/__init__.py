"""What `nmem doctor` looks at. A check is a function that returns findings; a finding is data."""

from __future__ import annotations

from nmem.audit.finding import NOTE, OK, WRONG, Finding

__all__ = ["NOTE", "OK", "WRONG", "Finding"]
