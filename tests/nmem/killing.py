"""Processes that work and are killed, forked from one that has imported all of it: an interpreter takes a second to."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

FORKED = multiprocessing.get_context("forkserver")
"""Of a process without threads or databases, so that nothing of this one is shared with its children."""
FORKED.set_forkserver_preload([__name__, "pytest", "nmem.settle", "nmem.dispatch.queue", "nmem.purge.run",
                               "nmem.importing.importer", "nmem.commands.main", "nmem.labels.backfill"])  # fmt: skip


def begun(modules: str, work: Callable[..., object], *given: Any) -> BaseProcess:
    """A process that is about to call `work`, in this environment and folder, with these modules imported."""
    here, there = FORKED.Pipe(duplex=False)
    place = dict(os.environ), str(Path.cwd())
    process = FORKED.Process(target=_worker, args=(there, *place, modules.split(), work, given))
    process.start()
    there.close()
    with here:
        here.recv()
    return process


def _worker(
    ready: Connection, environ: dict[str, str], folder: str, modules: list[str], work: Callable[..., object], given: Any
) -> None:
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    for name in modules:
        importlib.import_module(name)
    ready.send(True)
    ready.close()
    work(*given)


def _command(words: list[str]) -> None:
    from nmem.commands.start import main

    sys.argv = ["nmem", *words]
    main()


def killed(modules: str, words: list[str], after: float | None) -> tuple[bool, float]:
    """Whether `nmem words` was still at it `after` so many seconds, and how long it worked; None: it is let end."""
    process = begun(modules, _command, words)
    began = time.monotonic()
    process.join(after)
    if process.is_alive():
        process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL, time.monotonic() - began
