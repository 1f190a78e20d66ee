"""Where nmem keeps its files is where the platform keeps such files."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from capture import paths


@pytest.mark.parametrize("data", ["", "/somewhere/data"])
def test_folders_are_the_platform_s(data: str, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NMEM_DB")
    if data:
        monkeypatch.setenv("XDG_DATA_HOME", data)
    assert Path(paths.database()).parent == Path(platformdirs.user_data_dir("nmem", appauthor=False))
    assert Path(paths.config()).parent == Path(platformdirs.user_config_dir("nmem", appauthor=False))
