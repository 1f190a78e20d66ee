"""Runs a Python script, and the processes that it starts, by a clock that another process moves.

    SOAK_CLOCK=FILE python -I -S clocked.py SCRIPT ARGUMENT...

FILE holds eight bytes: how many nanoseconds the clock is off. Times of files are the kernel's, so whoever moves the
clock sets them, too. The time that SQLite tells is the machine's: a clock that is behind puts nothing into its future.
"""

from __future__ import annotations

import os
import sys
import time

FILE = "SOAK_CLOCK"


def install() -> None:
    """Have `time.time` and `time.time_ns` tell the moved clock, and children start through this file."""
    clock = os.open(os.environ[FILE], os.O_RDONLY)
    real, plain = time.time_ns, os.posix_spawn

    def now() -> int:
        return real() + int.from_bytes(os.pread(clock, 8, 0), "little", signed=True)

    def spawn(path: str, words: list[str], env: dict[str, str], **given: object) -> int:
        script = next((at for at, word in enumerate(words[1:], 1) if not word.startswith("-")), None)
        if path == sys.executable and script is not None:
            words = [*words[:script], __file__, *words[script:]]
        return plain(path, words, env, **given)  # type: ignore[arg-type]

    for owner, name, ours in ((time, "time_ns", now), (time, "time", lambda: now() / 1e9), (os, "posix_spawn", spawn)):
        setattr(owner, name, ours)


def main() -> None:
    """Become the script that the first word names."""
    sys.argv = sys.argv[1:]
    if not sys.flags.safe_path:
        sys.path[0] = sys.argv[0].rpartition("/")[0] or "."
    install()
    script = sys.argv[0]
    with open(script, encoding="utf-8") as file:  # noqa: PTH123 - a hook loads no pathlib, and this is its time, too
        code = compile(file.read(), script, "exec")
    exec(code, {"__name__": "__main__", "__file__": script, "__builtins__": __builtins__})


if __name__ == "__main__":
    main()
