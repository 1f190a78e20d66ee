"""Checks whether any coding client reports here: reads its settings, runs nothing."""

from __future__ import annotations

from capture.clients import CLIENTS
from capture.install import targets
from nmem.audit.finding import WRONG, Finding

CHECK = "hooks"


def unconnected(folder: str) -> tuple[Finding, ...]:
    """That nothing is recorded, where no client has nmem's hooks; a file that cannot be read may have some."""
    from nmem.doctor import registrations

    for client in CLIENTS:
        for target in targets.targets(client, folder):
            try:
                if registrations.entries(target):
                    return ()
            except (ValueError, OSError):
                return ()
    return (Finding(CHECK, WRONG, "nothing is being recorded: no coding client is connected", "nmem init"),)
