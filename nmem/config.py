"""The person's config.toml, read strictly: what cannot be read is one clear error, not a default."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from capture import paths
from nmem.errors import NmemError


def table(name: str) -> Mapping[str, object]:
    """One table of the file, empty when there is no file or no such table. Raises NmemError."""
    file = Path(paths.config())
    try:
        document = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise NmemError(f"{file}: {error}") from None
    found = document.get(name, {})
    if not isinstance(found, dict):
        raise NmemError(f"{file}: [{name}] is not a table")
    return found
