"""Runs git in a folder and gives back what it said; nothing that the folder's own configuration names is run.

git is called by argument list, within a time, without pager, network, hooks, filters, external diffs, text converters
or checks of signatures, whatever the configuration of the repository says.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence

from nmem.errors import NmemError
from nmem.text import printable

SECONDS = 30
PLAIN = ("--no-textconv", "--no-ext-diff", "--no-color", "--submodule=short")
"""What each command that shows a change is called with."""
_SAFE = {
    "core.fsmonitor": "false", "core.hooksPath": os.devnull, "log.showSignature": "false", "color.ui": "false",
    "core.quotePath": "false", "diff.external": "", "core.pager": "cat",
}  # fmt: skip


def filters(folder: str) -> dict[str, str]:
    """The settings that switch off every program through which git would pass a file's content."""
    done = run(folder, ["config", "--null", "--name-only", "--get-regexp", r"^filter\."], missing=True)
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    ends = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return {name: ends[end] for name in names if (end := name.rpartition(".")[2]) in ends}


def run(
    folder: str, words: Sequence[str], *, settings: Mapping[str, str] | None = None, missing: bool = False,
    globs: bool = False, given: bytes = b"", seconds: float | None = None, most: int = 0,
) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
    """Run git in a folder, `given` on its input. Raises NmemError.

    `missing`: one that is not installed has failed like any other. `globs`: paths may be patterns. `most`: git is
    ended once it has printed so many bytes.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "",
            "LC_ALL": "C"}  # fmt: skip
    safe = {**_SAFE, **(settings or {})}
    env["GIT_CONFIG_COUNT"] = str(len(safe))
    for number, (name, value) in enumerate(safe.items()):
        env[f"GIT_CONFIG_KEY_{number}"], env[f"GIT_CONFIG_VALUE_{number}"] = name, value
    always = ["-c", "core.fsmonitor=false", "-c", "log.showSignature=false"]  # by an old git, too
    literal = [] if globs else ["--literal-pathspecs"]
    argv = ["git", "--no-pager", *literal, *always, "-C", folder or ".", *words]
    limit = SECONDS if seconds is None else seconds
    try:
        if most:
            return _begun(argv, env, most, limit)
        return subprocess.run(argv, capture_output=True, env=env, input=given, timeout=limit, check=False)
    except FileNotFoundError:
        if missing:
            return subprocess.CompletedProcess(argv, 127, b"", b"")
        raise NmemError("git is not installed") from None
    except (subprocess.TimeoutExpired, OSError, ValueError) as error:
        raise NmemError(f"git {words[0]} did not answer: {printable(str(error))[:200]}") from None


def _begun(
    argv: Sequence[str], env: Mapping[str, str], most: int, seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """The first bytes that a program prints; it has not failed where there are so many."""
    out, none = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(argv, stdout=out, stderr=none, stdin=none, env=env) as running:
        timer = threading.Timer(seconds, running.kill)
        timer.start()
        try:
            data = running.stdout.read(most) if running.stdout else b""
            full = len(data) >= most
            if full:
                running.kill()
            code = running.wait()
        finally:
            timer.cancel()
            running.kill()
    if code < 0 and not full:
        raise subprocess.TimeoutExpired(argv, seconds)
    return subprocess.CompletedProcess(argv, 0 if full else code, data, b"")
