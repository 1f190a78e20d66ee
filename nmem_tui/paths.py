"""Where the style sheets are: inside the installed package, or at the top of a checkout."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def style(name: str) -> Path:
    """The style sheet `name`."""
    installed = _HERE / "styles" / f"{name}.tcss"
    return installed if installed.exists() else _HERE.parent / "styles" / f"{name}.tcss"
