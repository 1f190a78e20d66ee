"""What the cockpit takes from the config file: `[tui] theme = "dark"`."""

from __future__ import annotations


def read_theme(path: str) -> tuple[str, str]:
    """The theme asked for (or nothing), and what is wrong with the file (or nothing)."""
    from nmem.settings import file

    config = file.read(path)
    faults = config.faults("tui")
    if faults:
        return "", f"line {faults[0].line}: {faults[0]}" if faults[0].line else str(faults[0]).strip()
    return str(file.value(config.document, ("tui", "theme")) or ""), ""
