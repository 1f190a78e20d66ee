"""A PostgreSQL server of the tests' own: in a temporary folder, on a Unix socket alone, gone with the tests."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=", "shared_buffers=64MB",
        "max_connections=40", "autovacuum=off", "unix_socket_permissions=0777")  # fmt: skip
WAITS = 60.0


def binaries() -> Path | None:
    """The folder with initdb and postgres; None where no PostgreSQL is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: -int(each.parent.name.split(".")[0]))
    on_path = shutil.which("postgres")
    folders = [*found, *([Path(on_path).parent] if on_path else [])]
    return next((each for each in folders if (each / "initdb").exists() and (each / "postgres").exists()), None)


def account() -> str | None:
    """Who runs the server: postgres refuses to be root. "" is this user, None means there is nobody."""
    if os.getuid():
        return ""
    known = {each.pw_name for each in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in known and shutil.which("setpriv")), None)


def missing() -> str:
    """Why there can be no server; "" where there can."""
    if binaries() is None:
        return "no PostgreSQL is installed"
    if account() is None:
        return "PostgreSQL does not run as root, and there is no other account with setpriv"
    return ""


class Postgres:
    """The server: `start`, `stop`, `sql`."""

    def __init__(self, *settings: str, folder: str | None = None) -> None:
        self.folder = Path(
            tempfile.mkdtemp(prefix="nmem-pg-", dir=folder or ("/dev/shm" if Path("/dev/shm").is_dir() else None))
        )
        self.settings = (*FAST, *settings)
        self.process: subprocess.Popen[bytes] | None = None
        bin_, who = binaries(), account()
        assert bin_ is not None and who is not None
        group = "nogroup" if who == "nobody" else who
        self.bin = bin_
        self.as_ = ["setpriv", f"--reuid={who}", f"--regid={group}", "--clear-groups"] if who else []
        if who:
            shutil.chown(self.folder, who)
        self.folder.chmod(0o755)
        words = [*self.as_, str(self.bin / "initdb"), "-D", str(self.data), "-A", "trust", "-U", "postgres",
                 "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]  # fmt: skip
        subprocess.run(words, check=True, capture_output=True, cwd="/", timeout=WAITS)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, login: str = "postgres", database: str = "postgres") -> str:
        return f"postgresql://{login}@/{database}?host={self.folder}"

    def start(self) -> None:
        words = [*self.as_, str(self.bin / "postgres"), "-D", str(self.data), "-k", str(self.folder)]
        for each in self.settings:
            words += ["-c", each]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        until = time.monotonic() + WAITS
        while not self._answers():
            assert self.process.poll() is None, "the server has ended"
            assert time.monotonic() < until, "the server does not come up"
            time.sleep(0.02)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url(), connect_timeout=5).close()
        except psycopg.Error:
            return False
        return True

    def stop(self, mode: str = "immediate") -> None:
        """`immediate` is a crash: what was not written goes back to the last checkpoint and the log."""
        if self.process is None:
            return
        words = [*self.as_, str(self.bin / "pg_ctl"), "-D", str(self.data), "-m", mode, "-w", "stop"]
        subprocess.run(words, capture_output=True, cwd="/", timeout=WAITS, check=False)
        self.process.wait(WAITS)
        self.process = None

    def sql(
        self, statement: str, *given: Any, database: str = "postgres", login: str = "postgres"
    ) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(self.url(login, database), autocommit=True) as db:
            done = db.execute(statement, given or None)
            return list(done.fetchall()) if done.description else []

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
