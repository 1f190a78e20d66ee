"""Installs a systemd user timer or a crontab line that starts due tasks; previewed, removable.

Each tick starts what is due and leaves; what it started outlives it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from capture import paths
from nmem import own_process
from nmem.errors import NmemError
from nmem.text import printable

SYSTEMD, CRON = "systemd", "cron"
UNIT = "nmem-tasks"
_MARK = "# nmem: tasks that are due"
_PASSED = ("NMEM_DB", "NMEM_CONFIG", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMUX_TMPDIR")
_TIMEOUT = 30
_SAYABLE = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1440)
"""Minutes that cron can say."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written."""

    way: str
    files: Mapping[str, str] = field(default_factory=dict)
    """path -> content; of cron: none."""
    line: str = ""
    """Of cron: what is added to the crontab."""

    @property
    def shown(self) -> str:
        """For the person to look at."""
        if self.way == CRON:
            return f"# crontab\n{self.line}"
        return "\n".join(f"# {path}\n{content}" for path, content in self.files.items())


def way(chosen: str = "") -> str:
    """systemd where the user has one that answers, else cron. Raises NmemError where there is neither."""
    if chosen in ("", SYSTEMD) and _systemd():
        return SYSTEMD
    if chosen in ("", CRON) and shutil.which("crontab"):
        return CRON
    if chosen:
        raise NmemError(
            f"{chosen} is not available here" + (": the user's systemd does not answer" * (chosen == SYSTEMD))
        )
    raise NmemError(
        "neither a systemd user instance nor a crontab is available: keep `nmem task run --watch` running in a window"
    )


def plan(minutes: int, chosen: str) -> Plan:
    """What would be written for a tick every so many minutes. Raises NmemError."""
    words = own_process.words("task", "run", "--no-wait", "--quiet")
    if chosen == CRON:
        line = f"{_every(minutes)} {_assigned()}{shlex.join(words)} {_MARK}".replace("%", "\\%")
        return Plan(CRON, {}, line)
    folder = _units()
    environment = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in _environment().items())
    service = (
        "[Unit]\nDescription=nmem: start the tasks that are due\n\n[Service]\nType=oneshot\nKillMode=process\n"
        f"{environment}ExecStart={' '.join(_quoted(word) for word in words)}\n"
    )
    timer = (
        "[Unit]\nDescription=nmem: look for tasks that are due\n\n[Timer]\n"
        f"OnBootSec=1min\nOnUnitActiveSec={minutes}min\nAccuracySec=10s\n\n[Install]\nWantedBy=timers.target\n"
    )
    return Plan(SYSTEMD, {str(folder / f"{UNIT}.service"): service, str(folder / f"{UNIT}.timer"): timer})


def write(made: Plan) -> None:
    """Put a plan into force. Raises NmemError."""
    if made.way == CRON:
        kept = [each for each in _crontab() if not each.endswith(_MARK)]  # as it is now: it may have been edited since
        _install("".join(f"{each}\n" for each in (*kept, made.line)))
        return
    for path, content in made.files.items():
        target = Path(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, "utf-8")
        except OSError as error:
            raise NmemError(f"{printable(path)}: {error.strerror}") from None
    _systemctl("daemon-reload")
    _systemctl("enable", "--now", f"{UNIT}.timer")


def remove() -> list[str]:
    """Take out whatever was written; what went, in words."""
    gone = []
    units = [_units() / f"{UNIT}{suffix}" for suffix in (".timer", ".service")]
    if any(unit.exists() for unit in units):
        if _systemd():
            _systemctl("disable", "--now", f"{UNIT}.timer")
        for unit in units:
            unit.unlink(missing_ok=True)
            gone.append(str(unit))
        if _systemd():
            _systemctl("daemon-reload")
    lines = _crontab()
    kept = [line for line in lines if not line.endswith(_MARK)]
    if len(kept) < len(lines):
        _install("".join(f"{line}\n" for line in kept))
        gone.append("the line in the crontab")
    return gone


def _units() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()) / "systemd" / "user"


def _environment() -> dict[str, str]:
    """What a tick needs of this environment: where the programs are, and which database is meant."""
    found = {name: os.environ[name] for name in _PASSED if os.environ.get(name)}
    found["PATH"] = os.environ.get("PATH", os.defpath)
    if "NMEM_DB" in found:
        found["NMEM_DB"] = os.path.abspath(paths.database())  # noqa: PTH100
    if strange := [name for name, value in found.items() if not value.isprintable()]:
        raise NmemError(f"{strange[0]} has characters that neither a unit nor a crontab allows: change it first")
    return found


def _assigned() -> str:
    return "".join(f"{name}={shlex.quote(value)} " for name, value in _environment().items())


def _every(minutes: int) -> str:
    """As cron says it. Raises NmemError for a time that it cannot: it counts anew every hour and every day."""
    if minutes < 60 and 60 % minutes == 0:
        return f"*/{minutes} * * * *"
    if minutes % 60 == 0 and 1440 % minutes == 0:
        return f"0 */{minutes // 60} * * *" if minutes < 1440 else "0 0 * * *"
    near = min(_SAYABLE, key=lambda each: abs(each - minutes))
    raise NmemError(f"cron cannot run every {minutes} minutes: use a divisor of an hour or of a day, such as {near}")


def _quoted(word: str) -> str:
    """One word of a unit file: nothing in it is expanded."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$") + '"'


def _systemd() -> bool:
    if shutil.which("systemctl") is None:
        return False
    try:
        done = _run("systemctl", "--user", "show-environment")
    except NmemError:
        return False
    return done.returncode == 0


def _systemctl(*words: str) -> None:
    done = _run("systemctl", "--user", *words)
    if done.returncode:
        raise NmemError(f"systemctl --user {' '.join(words)}: {printable(done.stderr.strip())[:200]}")


def _crontab() -> list[str]:
    if shutil.which("crontab") is None:
        return []
    done = _run("crontab", "-l")
    if done.returncode and "no crontab" not in done.stderr.lower():
        raise NmemError(f"crontab -l: {printable(done.stderr.strip())[:200] or 'it failed'}")
    return done.stdout.splitlines() if done.returncode == 0 else []


def _install(text: str) -> None:
    done = _run("crontab", "-", given=text)
    if done.returncode:
        raise NmemError(f"crontab: {printable(done.stderr.strip())[:200]}")


def _run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words, input=given, capture_output=True, encoding="utf-8", errors="surrogateescape", timeout=_TIMEOUT,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NmemError(f"{words[0]}: {error}") from None
