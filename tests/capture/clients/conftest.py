"""Reads the recorded payloads of one client."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def recorded(shared: Path) -> Callable[[str], dict[str, Any]]:
    """A recorded payload by its path under the recordings, without the suffix."""

    def read(name: str) -> dict[str, Any]:
        payload = json.loads((shared / "data" / "hook-payloads" / "recorded" / f"{name}.json").read_text())
        assert isinstance(payload, dict)
        return payload

    return read
