"""The audit: checks whether the memory does its job, one module per subject; each returns findings with fixes."""

from __future__ import annotations

from dataclasses import dataclass

OK = "ok"
NOTE = "note"
WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str
    severity: str
    """ok, note (works, but worth knowing) or wrong (something is not recorded, or will not be)."""
    evidence: str
    """What was seen, in one line."""
    mend: str = ""
    """The command that mends it."""
    client: str = ""
    ms: float | None = None
    """How long it took, where that matters."""
    examples: tuple[str, ...] = ()
    """Ids that show it, for `nmem show`: obs/12, prompt/5; of sessions session/ID."""
