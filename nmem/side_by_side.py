"""Jobs done side by side by processes of our own, which take one at a time by pickle over pipes and answer in parts."""

from __future__ import annotations

import pickle
import queue
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Generic, TypeVar, cast

from nmem.own_process import words

J = TypeVar("J")
A = TypeVar("A")


class _Desk(Generic[J, A]):
    """What is to be done, and what was answered; None when a process has nothing more to do."""

    def __init__(self, jobs: Iterable[J], waiting: int) -> None:
        self.todo: queue.SimpleQueue[J] = queue.SimpleQueue()
        for job in jobs:
            self.todo.put(job)
        self.done: queue.Queue[tuple[A] | None] = queue.Queue(waiting)
        self.stop = threading.Event()

    def next(self) -> tuple[J] | None:
        """A job that nobody has taken yet."""
        try:
            return None if self.stop.is_set() else (self.todo.get_nowait(),)
        except queue.Empty:
            return None


def answers(
    function: str, jobs: Iterable[J], processes: int, hear: Callable[[J, Callable[[], object]], Iterator[A]],
    broken: Callable[[J], A], waiting: int,
) -> Iterator[A]:  # fmt: skip
    """The answers to all jobs: those to one in order, jobs side by side, at most `waiting` of them not yet taken.

    Each process runs `function` (`module:name`). `hear(job, receive)` gives the answers to one job until it is over,
    calling `receive` for each part; `broken(job)` is the answer where its process has ended. When the caller stops,
    so do the processes.
    """
    desk: _Desk[J, A] = _Desk(jobs, waiting)
    command = words(function=function)
    # a session of its own: Ctrl-C is for the writer, which then closes the pipes
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        for _ in range(processes)
    ]
    try:
        for process in running:
            threading.Thread(target=_serve, args=(process, desk, hear, broken), daemon=True).start()
        ended = 0
        while ended < processes:
            answer = desk.done.get()
            if answer is None:
                ended += 1
            else:
                yield answer[0]
    finally:
        desk.stop.set()
        for process in running:
            process.kill()
            process.wait()


def _serve(
    process: subprocess.Popen[bytes], desk: _Desk[J, A], hear: Callable[[J, Callable[[], object]], Iterator[A]],
    broken: Callable[[J], A],
) -> None:  # fmt: skip
    """Give one process a job after the other and pass its answers on."""
    source, target = cast("BinaryIO", process.stdout), cast("BinaryIO", process.stdin)
    with source, target:
        while (taken := desk.next()) is not None:
            job = taken[0]
            try:
                pickle.dump(job, target, pickle.HIGHEST_PROTOCOL)
                target.flush()
                for answer in hear(job, lambda: pickle.load(source)):  # noqa: S301 - from our own child
                    desk.done.put((answer,))
            except (EOFError, OSError, pickle.UnpicklingError):
                desk.done.put((broken(job),))
                break
    desk.done.put(None)
