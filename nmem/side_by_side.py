"""Runs jobs in parallel worker processes, which receive jobs and return answers as pickles over pipes.

`answers` is for one list of jobs that are answered in parts; a Crew stays, and is asked for one thing after another.
"""

from __future__ import annotations

import gc
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO, Generic, TypeVar, cast

from nmem.own_process import words

J = TypeVar("J")
A = TypeVar("A")
_OBJECTS = 100_000
"""Objects that come and stay between two looks."""


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
        while (left := desk.next()) is not None:  # every process has ended before its time
            yield broken(left[0])
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
    try:
        with suppress(BrokenPipeError), source, target:  # closing sends what is left, to a process that has ended
            while (taken := desk.next()) is not None:
                job = taken[0]
                try:
                    pickle.dump(job, target, pickle.HIGHEST_PROTOCOL)
                    target.flush()
                    for answer in hear(job, lambda: pickle.load(source)):  # noqa: S301 - from our own child
                        desk.done.put((answer,))
                except Exception:  # noqa: BLE001 - whatever half an answer is read as: the job was not done
                    desk.done.put((broken(job),))
                    break
    finally:
        desk.done.put(None)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look for circles of dead objects seldom: reading rows by the thousand makes none, and looking costs a tenth."""
    usual = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


class Gone(Exception):
    """The process that had a job has ended, or could not do it: the caller does it, and meets the reason itself."""


class Crew(Generic[J, A]):
    """Processes that go on answering jobs while their caller does something else.

    Each runs `function` (`module:name`), which calls `attend`. Close it: the processes end with it, and with us.
    """

    def __init__(self, function: str, processes: int) -> None:
        command = words(function=function)
        self._hands = [
            _Hand(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True))
            for _ in range(processes)
        ]

    def each(self, jobs: Iterable[J], ahead: int) -> Callable[[], A]:
        """What gives the answers, one a call and in the order of the jobs; for each process `ahead` are under way.

        A call raises Gone where its job was not done. Ask no crew for two things at once; what nobody takes is dropped.
        """
        for hand in self._hands:
            hand.drop()
        waiting, given = iter(jobs), deque[_Hand]()
        hands = [hand for _ in range(ahead) for hand in self._hands]

        def more(hand: _Hand) -> None:
            for job in waiting:
                hand.give(job)
                given.append(hand)
                return

        for hand in hands:
            more(hand)

        def answer() -> A:
            hand = given.popleft()
            try:
                return cast("A", hand.take())
            finally:
                more(hand)

        return answer

    def answers(self, jobs: Sequence[J], ahead: int) -> Iterator[A | None]:
        """The answers to all jobs, as `each`; None where one was not done."""
        answer = self.each(jobs, ahead)
        for _ in jobs:
            try:
                yield answer()
            except Gone:
                yield None

    def close(self) -> None:
        """End the processes."""
        for hand in self._hands:
            hand.end()


class _Hand:
    """One process of a crew; jobs are so small that the pipe takes all that are under way."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.source, self.target = cast("BinaryIO", process.stdout), cast("BinaryIO", process.stdin)
        self.open = 0
        """Jobs given whose answers were not taken."""

    def give(self, job: object) -> None:
        self.open += 1
        with suppress(OSError, ValueError):  # it has ended: whoever takes the answer hears so
            pickle.dump(job, self.target, pickle.HIGHEST_PROTOCOL)
            self.target.flush()

    def take(self) -> object:
        self.open -= 1
        try:
            done, answer = pickle.load(self.source)  # noqa: S301 - from our own child
        except (EOFError, OSError, pickle.UnpicklingError, ValueError):
            raise Gone from None
        if not done:
            raise Gone
        return answer

    def drop(self) -> None:
        """Leave what nobody has taken."""
        while self.open:
            with suppress(Gone):
                self.take()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.source, self.target):
            with suppress(OSError):
                pipe.close()


def attend(do: Callable[[J], object]) -> None:
    """Answer each job on standard input until the input ends; one that fails is answered by saying so."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            job: J = pickle.load(source)  # noqa: S301 - from our own parent, over a pipe
        except EOFError:
            return
        try:
            answer = True, do(job)
        except Exception:  # noqa: BLE001 - a boundary: the parent does the job, and tells what is wrong with it
            answer = False, None
        try:
            pickle.dump(answer, target, pickle.HIGHEST_PROTOCOL)
            target.flush()
        except BrokenPipeError:
            return
