"""What the screen Health takes out of itself when it is exported: all of its views."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from sqlite3 import Connection

from nmem_tui.model.exported import CELLS, Exported, Gather, all_lines, heading


def health(path: str, at: int, zone: tzinfo | None, stopped: Callable[[], bool]) -> Gather:
    """Findings, hooks, redactions, storage, what is kept; every row is counted, unless nobody waits for it."""

    def gather(db: Connection) -> Exported:
        from nmem.read.health import health as signs
        from nmem_tui.model import health as drawn
        from nmem_tui.model import health_reading as reading
        from nmem_tui.model import health_storage, vitals

        view, found = signs(db, path), reading.worst_first(reading.findings(db, path, at))
        secrets, stored, kept = reading.secrets(db, at), reading.stored(db, at, stopped), reading.kept(db, path)
        parts = (
            (drawn.findings_title(found), drawn.findings(found, 0, at, zone)),
            ("Redactions", drawn.secrets(secrets, None, CELLS)),
            ("Storage by type", health_storage.items(stored, at, zone)),
            ("Backups and purges", drawn.kept(kept, at, zone)),
        )
        cards = (
            ("Hooks", vitals.hooks(view, CELLS)), ("Events", vitals.events(view, CELLS)),
            ("Rows by table", vitals.storage(view, CELLS)), ("Clients", vitals.clients(view, at, CELLS)),
            ("Fields nobody knew", vitals.drift(view, CELLS)), ("Log", vitals.log(view, CELLS)),
        )  # fmt: skip
        lines = all_lines(
            *((*heading(name), *(item.draw(CELLS) for item in items)) for name, items in parts),
            *((*heading(name), *card) for name, card in cards),
        )
        values = {"findings": found, "health": view, "redactions": secrets, "storage": stored, "kept": kept}
        return Exported("health", "Health", lines, values)

    return gather
