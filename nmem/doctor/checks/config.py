"""Checks config.toml: unknown names, wrong types, values out of range."""

from __future__ import annotations

import shlex

from nmem.doctor.checks import NOTE, OK, WRONG, Finding
from nmem.retention import policy
from nmem.settings import file


def config() -> list[Finding]:
    """A finding for each fault; redaction goes on whatever stands there, by built-in rules and good own ones."""
    found = file.read()
    if not found.exists:
        return [Finding("config", OK, f"{found.path} does not exist: all defaults")]
    faults = found.faults()
    strange = policy.recorded()
    faults += [one.fault for one in strange if one.nearest]
    said = [Finding("config", NOTE, found.told(one.fault), "nmem config edit") for one in strange if not one.nearest]
    if not faults:
        return said or [Finding("config", OK, f"{found.path} has no errors")]
    mend = f"nmem config edit, or: nmem config unset {shlex.quote(faults[0].name)}" if faults[0].name else ""
    return said + [Finding("config", WRONG, found.told(one), mend or "nmem config edit") for one in faults]
