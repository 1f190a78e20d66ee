"""Fixtures every package's tests share: a database of one's own, the shared material, a fixed clock."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.readymade import migrations

sys.path.append(str(Path(__file__).parent.parent))  # benchmarks are no part of what is installed; behind what is

# How fast examples come says something of the machine alone: no test fails by it. Each run tries the same examples;
# `--hypothesis-profile=search` tries many others.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("house", unhurried, max_examples=25, derandomize=True)
settings.register_profile("search", unhurried, max_examples=1000)
settings.load_profile("house")

HERE = Path(__file__).resolve().parent
NOW = 1_760_000_000_000
"""The fixed clock: 2025-10-09 08:53:20 UTC, in milliseconds."""
MEMORY, ROOM = Path("/dev/shm"), 4 << 30
"""Where Linux keeps files in memory, and how many bytes have to be free."""

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # the workers share the processors: threads that spin beside them take from all

# Hundreds of tests start `python -m nmem` on the sources here: compiled once, these take half the time in each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_xdist_auto_num_workers() -> int | None:
    """With `-n auto`: two more than there are processors, because many a test waits for a process or a terminal."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else (os.cpu_count() or 1) + 2


def pytest_collection(session: pytest.Session) -> None:
    """Each worker imports the test modules from another place on: compiled by one of them, a module is read by the
    others."""
    worker: dict[str, Any] = getattr(session.config, "workerinput", {})
    if not worker or worker["workercount"] == 1:
        return
    asked = {session.config.invocation_params.dir / arg.partition("::")[0] for arg in session.config.args}
    files = [file for file in sorted(HERE.rglob("test_*.py")) if asked & {file, *file.parents}]
    names = [".".join(file.relative_to(HERE.parent).with_suffix("").parts) for file in files]
    first = int(worker["workerid"].removeprefix("gw")) * len(names) // worker["workercount"]
    for name in names[first:] + names[:first]:
        with suppress(Exception, pytest.skip.Exception):  # the collection tells it
            import_module(name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The slow ones begin first, some in each worker, which gets a stretch of all tests: none runs alone at the end."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    slow = [item for item in items if item.get_closest_marker("slow")]
    quick = [item for item in items if not item.get_closest_marker("slow")]
    items.clear()
    for at in range(workers):
        items += slow[at::workers] + quick[len(quick) * at // workers : len(quick) * (at + 1) // workers]


def pytest_configure(config: pytest.Config) -> None:
    """Databases of tests lie in memory, where that is to be had: a disk is waited for at each commit of thousands."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_collection_finish() -> None:
    """Thousands of tests and what they import are no garbage: no collection looks through them again."""
    gc.set_threshold(5_000, 20, 5)
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was skipped and why, a line a reason: a suite that passes says what it did not look at."""
    files: dict[str, Counter[str]] = defaultdict(Counter)
    for report in terminalreporter.stats.get("skipped", []):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple | list) else str(report.longrepr)
        files[" ".join(why.removeprefix("Skipped: ").split())[:160]][report.nodeid.partition("::")[0]] += 1
    if files:
        terminalreporter.section("skipped, and why")
    for why, where in sorted(files.items(), key=lambda each: (-each[1].total(), each[0])):
        terminalreporter.write_line(f"{where.total():4}  {why}  ({', '.join(sorted(where))})")


@pytest.fixture
def shared() -> Path:
    """The folder of real material beside the project; a test that needs it is skipped where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("../shared is absent: no real material to test on")
    return folder


@pytest.fixture(scope="session", autouse=True)
def migrated() -> Iterator[None]:
    """A new database is a copy of one that was migrated."""
    facts, meaning = migrations()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("capture.storage.schema.migrate", facts)
        patch.setattr("nmem.tables.migrate", meaning)
        yield


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test sees the developer's home, config or database, nor their time zone, locale, umask or checkout."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    os.umask(0o022)
    for name in ("NMEM_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "NO_COLOR",
                 "CURSOR_VERSION", "CLAUDE_PROJECT_DIR", "CLAUDECODE", "GIT_CONFIG_GLOBAL", "GIT_DIR", "GIT_WORK_TREE",
                 "GIT_INDEX_FILE", "LC_ALL", "LC_CTYPE"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("NMEM_SKIP_HOOKS", "")  # a command sets it for its children: noted here, it is put back
    monkeypatch.delenv("NMEM_SKIP_HOOKS")
    monkeypatch.setenv("NMEM_SKIP_SETTLE", "1")  # no test leaves a process behind
    monkeypatch.setenv("NMEM_DB", str(home / "data" / "nmem.db"))
    return home


@pytest.fixture
def db_path(own_home: Path) -> str:
    """Where the test's database is, or will be."""
    return str(own_home / "data" / "nmem.db")
