"""What the cockpit takes from the config file: `[tui] theme = "dark"`."""

from __future__ import annotations

from pathlib import Path


def read_theme(path: str) -> tuple[str, str]:
    """The theme asked for (or nothing), and what is wrong with the file (or nothing)."""
    import tomllib

    try:
        config = tomllib.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        return "", ""
    except (OSError, ValueError) as error:
        return "", str(error)
    section = config.get("tui", {})
    theme = section.get("theme", "") if isinstance(section, dict) else ""
    return (theme, "") if isinstance(theme, str) else ("", "tui.theme must be a name in quotes")
