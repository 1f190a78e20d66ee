"""The wheel, installed elsewhere, is whole: styles, demo and weights inside, and it runs without the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib.metadata import version
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


@pytest.fixture(scope="module")
def tool(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as `pipx install` and `uv tool install` put it: an environment of its own, and links in a folder.

    Its dependencies are those of this interpreter, so that nothing is fetched.
    """
    home = tmp_path_factory.mktemp("pipx")
    environment = home / "venvs" / "nmem"
    venv.create(environment, symlinks=True)
    words = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
    subprocess.run([*words, "install", "-q", "--no-deps", "--no-index", str(wheel)], check=True, timeout=300)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (home / "bin").mkdir()
    for name in ("nmem", "nmem-hook"):
        (home / "bin" / name).symlink_to(environment / "bin" / name)
    return home


def installed(tool: Path, folder: Path, *words: str, given: str = "") -> str:
    """What a program of the tool says, called by its name alone, in a home and a folder with nothing else."""
    env = {"PATH": f"{tool / 'bin'}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8", "NMEM_SKIP_SETTLE": "1"}
    done = subprocess.run(
        ["/usr/bin/env", *words], env=env, cwd=folder, capture_output=True, text=True, input=given, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_both_programs_have_the_names_that_pipx_and_uvx_look_for(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith("entry_points.txt"))
        lines = archive.read(name).decode().split()
    assert lines[0] == "[console_scripts]" and {each for each in lines if "nmem" in each and ":" not in each} == {
        "nmem", "nmem-hook"
    }  # fmt: skip


def test_it_works_as_a_tool_of_pipx(tool: Path, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    assert installed(tool, tmp_path, "nmem", "--version") == f"nmem {version('nmem')}\n"
    assert "Examples:" in installed(tool, tmp_path, "nmem", "sessions", "--help")
    assert "_nmem_completion" in installed(tool, tmp_path, "nmem", "completion", "bash")
    installed(tool, tmp_path, "nmem", "init", "--client", "claude", "--yes")
    registered = (tmp_path / ".claude" / "settings.json").read_text()
    assert str(tool / "venvs" / "nmem" / "lib") in registered, "hooks name the environment, which stays, not a checkout"
    assert "Everything works" in installed(tool, tmp_path, "nmem", "doctor")


def test_its_hook_and_its_plugin_work_by_name(tool: Path, tmp_path: Path) -> None:
    payload = {
        "session_id": "3f2a",
        "cwd": "/src/shop",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "round half up",
    }
    words = ("nmem-hook", "claude", "UserPromptSubmit", "--plugin")
    installed(tool, tmp_path, *words, given=json.dumps(payload))
    assert "round half up" in installed(tool, tmp_path, "nmem", "search", "round")
    folder = Path(installed(tool, tmp_path, "nmem", "init", "--plugin").strip())
    assert folder.is_relative_to(tool) and (folder / "hooks" / "hooks.json").is_file()


def test_the_wheel_carries_the_plugin_with_its_hidden_files(wheel: Path) -> None:
    plugin = [file for file in (ROOT / "plugin").rglob("*") if file.is_file()]
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    assert len(plugin) >= 4
    assert {f"nmem/{file.relative_to(ROOT)}" for file in plugin} <= inside
