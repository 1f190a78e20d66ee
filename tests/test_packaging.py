"""The wheel, installed elsewhere, is whole: styles, demo and weights inside, and it runs without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if done.returncode and "Could not find a version" in done.stderr:
        pytest.skip("the build backend cannot be had here")
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_carries_what_the_checkout_shows(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    for style in (ROOT / "styles").glob("*.tcss"):
        assert f"nmem_tui/styles/{style.name}" in inside
    for package in ("capture", "nmem", "nmem_tui"):
        for file in (ROOT / package).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                assert str(file.relative_to(ROOT)) in inside


def test_it_works_when_installed_elsewhere(wheel: Path, tmp_path: Path) -> None:
    target, home = tmp_path / "it's a folder", tmp_path / "somebody"
    home.mkdir()
    words = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--target", str(target)]
    subprocess.run([*words, str(wheel)], check=True, timeout=300)
    env = {**os.environ, "PYTHONPATH": str(target), "HOME": str(home)}
    env.pop("NMEM_DB", None)

    def nmem(*more: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "nmem", *more], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    (home / ".claude").mkdir()
    nmem("init", "--client", "claude", "--scope", "user", "--yes")
    assert "claude" in nmem("doctor").lower()
    assert (target / "nmem_tui" / "styles").is_dir()


def test_the_wheel_carries_the_plugin_with_its_hidden_files(wheel: Path) -> None:
    plugin = [file for file in (ROOT / "plugin").rglob("*") if file.is_file()]
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    assert len(plugin) >= 4
    assert {f"nmem/{file.relative_to(ROOT)}" for file in plugin} <= inside
