"""App mixins: exports to clipboard, editor and files, and one background job at a time.

This is the cockpit's worker boundary for such work: whatever goes wrong in it becomes one line on screen.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from textual import on
from textual.app import SuspendNotSupported

from capture.text import clean
from nmem import database
from nmem.errors import NmemError
from nmem_tui.dispatcher import Dispatcher
from nmem_tui.messages import Changed, Finished, Progress
from nmem_tui.model import actions
from nmem_tui.operations.jobs import Do, Job, Stopped

NO_TERMINAL = "an editor needs a terminal of its own, and a browser has none; {copy} copies the text"


class Exporter(Dispatcher):
    """An app that hands things out."""

    environ: Mapping[str, str] = os.environ

    def copy_out(self, text: str) -> None:
        """Put text on the person's clipboard, and say how it went there; nothing in it acts where it is pasted."""
        from nmem_tui import output  # on use: start-up stays short

        text = clean(text)
        if not text:
            self.say("nothing to copy", severity="warning")
        elif not self.is_web and (words := output.helper(self.environ)):
            self.aside(lambda: self._by_helper(words, text))
        else:
            self.say(self._by_terminal(text))

    def _by_helper(self, words: list[str], text: str) -> Changed:
        """In a worker: a program that does not take it leaves it to the terminal."""
        from nmem_tui import output  # on use: start-up stays short

        if output.give(words, text, self.environ):
            return Changed(output.told(text, f"with {words[0]}", cut=False), failed=False)
        return Changed(self.call_from_thread(self._by_terminal, text), failed=False)

    def _by_terminal(self, text: str) -> str:
        from nmem_tui import output  # on use: start-up stays short

        sequence, how = output.osc52(text, {} if self.is_web else self.environ)
        how = "through the page (OSC 52)" if self.is_web else how
        if self._driver is not None:
            self._driver.write(sequence)
        return output.told(text, how, cut=output.fitting(text) != text)

    def edit_out(self, text: str, take: Callable[[str], None] | None = None) -> None:
        """Open text in the person's editor; what is left there goes to `take`, else it was a copy to read."""
        from nmem_tui import output  # on use: start-up stays short

        text = clean(text)
        try:
            words = output.words(self.environ)
            with self.suspend():
                left = output.edit(text, words, self.environ, read_only=take is None)
        except SuspendNotSupported:
            self.say(actions.fill_keys(NO_TERMINAL), severity="warning")
            return
        except NmemError as error:
            self.say(str(error), severity="warning")
            return
        self.refresh(layout=True)
        if take is not None:
            take(left)
        elif left.rstrip() != text.rstrip():
            self.say("that was a copy: your changes to it are not kept", severity="warning")

    def export_out(self, view: str, content: str, form: str, place: str) -> None:
        """A whole view: its form and where it goes, as screens.exporting offers them."""
        from nmem_tui.output import write  # on use: start-up stays short

        if place == "clipboard":
            self.copy_out(content)
            return
        ending = "json" if form == "json" else "txt"

        def work() -> Changed:
            try:
                made = write(f"nmem-{view}", ending, content, self.clock())
            except NmemError as error:
                return Changed(str(error), failed=True)
            return Changed(f"written: {made}, {len(content):,} characters", failed=False)

        self.aside(work)


class JobRunner(Exporter):
    """An app with long work in its background."""

    job: Job | None = None
    """What is worked on now."""
    failed = ""
    """Why the last work could not be done; until the next one, or until somebody has seen it."""
    _then: Callable[[Any], None] | None = None

    def busy(self) -> str | None:
        """Why nothing else can begin; None when it can."""
        if self.job is None:
            return None
        return f"{self.job.name} is going on" + (f": {actions.key_of('stop')} stops it" if self.job.stops else "")

    def work(self, name: str, do: Do, then: Callable[[Any], None] | None = None, *, stops: bool = True) -> None:
        """Begin; `then` is called with what came of it, on the event loop."""
        job = self.job = Job(name, self.post_message, stops=stops)
        self._then, self.failed = then, ""
        path, now = self.db_path, self.clock()
        self.run_worker(lambda: self._do(job, do, path, now), group="job", thread=True, exit_on_error=False)
        self._show_job()

    def _do(self, job: Job, do: Do, path: str, now: int) -> None:
        try:
            said, value = do(job, path, now)
            message = Finished(said, failed=False, value=value)
        except Stopped as error:
            message = Finished(str(error), failed=True)
        except NmemError as error:
            message = Finished(str(error), failed=True)
        except (sqlite3.Error, OSError) as error:
            said = "stopped" if job.stopped() else f"{database.worded(error)}; try again"
            message = Finished(f"{job.name}: {said}", failed=True)
        except Exception as error:  # noqa: BLE001 -- the worker boundary: failed work must not end the cockpit
            message = Finished(f"{job.name}: {type(error).__name__}: {error}", failed=True)
        self.post_message(message)

    @on(Progress)
    def tell_progress(self) -> None:
        """The screen shows how far it is."""
        self._show_job()

    @on(Finished)
    def tell_end(self, message: Finished) -> None:
        """It is done, or could not be; an app that is leaving has no screen to say so on."""
        if self._exit:
            return
        stopped = self.job is not None and self.job.stopped()
        then, self._then, self.job = self._then, None, None
        self.failed = message.text if message.failed and not stopped else ""
        self._show_job()
        if then is not None and not message.failed:
            then(message.value)
        self.post_message(Changed(message.text, failed=message.failed))

    def _show_job(self) -> None:
        if screen := self.standing:
            screen.show_job()
