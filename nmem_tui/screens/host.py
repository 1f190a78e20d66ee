"""The app as screens and dialogs see it: shared state; toasts, database changes, exports, background work.

Screens import this module instead of the app, so that the app alone knows every screen; `nmem_tui.app.Cockpit` is one.
It is the cockpit's worker boundary: whatever goes wrong in such work becomes one line on screen.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import App, SuspendNotSupported
from textual.dom import DOMNode
from textual.screen import Screen

from capture.text import clean
from nmem import database
from nmem.errors import NmemError
from nmem.text import fit, printable, width
from nmem_tui.messages import Changed, Finished, Progress
from nmem_tui.model import actions
from nmem_tui.model.line import wrap
from nmem_tui.operations.jobs import Do, Job, Stopped
from nmem_tui.store.access import Change, Writes, beside

if TYPE_CHECKING:
    from nmem.read.views import SessionRow
    from nmem_tui.model.actions import Keys
    from nmem_tui.model.locations import Asked
    from nmem_tui.model.now_queries import Home
    from nmem_tui.model.task_form import Draft
    from nmem_tui.store.feed import Feed

NO_TERMINAL = "an editor needs a terminal of its own, and a browser has none; {copy} copies the text"
_LINES = 2
_FRAME = 3
"""Cells of its edge and blanks."""
_BACK = " · "
"""What stands behind it says what can be done now."""


def toast_lines(text: str, cells: int) -> str:
    """So much of a text as stands in at most two lines of a screen of so many cells, without what a terminal obeys."""
    room = max(8, cells - _FRAME)
    whole = printable(text)
    if len(wrap(whole, room, _LINES + 1)) <= _LINES:
        return "\n".join(wrap(whole, room, _LINES))
    head, sign, tail = whole.rpartition(_BACK)
    if not sign or width(sign + tail) >= room:
        return "\n".join(wrap(whole, room, _LINES))
    first, *rest = wrap(head, room, _LINES)
    last = fit(f"{rest[0]}…" if rest else "…", room - width(sign + tail))
    return f"{first}\n{last}{sign}{tail}"


class Host(App[None]):
    """State that all screens share, and the services of the app."""

    db_path: str
    clock: Callable[[], int]
    """Milliseconds since 1970."""
    zone: tzinfo | None
    feed: Feed
    generation = 0
    """Counts the commits that were noticed."""
    connected = False
    """Whether a coding client is known to report here; looked up only where nothing is recorded."""
    gone: str | None = None
    """Why the database cannot be read; empty: nothing is recorded; None: it can be."""
    read_only: bool
    """Whether actions that the registry marks as writing are refused."""
    demo: bool
    leaving = False
    """Whether the person has left: later keys are ignored."""
    posed = False
    """Whether a picture is taken: settings of this machine are ignored."""
    keys: Keys
    """The person's own keys."""
    environ: Mapping[str, str] = os.environ
    writes: Writes

    project: str
    """The project that the cockpit is limited to; empty: all."""
    home: Home
    chosen: str
    """The session that the person chose; empty: the newest is followed."""
    session: SessionRow | None = None
    """The session on screen."""
    wanted_episode: int
    wanted_learning: int
    wanted_task: int
    wanted_query: str | None
    wanted_row: tuple[int, int] | None
    asked: list[str]
    """Recent search queries, the newest first."""
    listed = ""
    """Whose learnings are listed: see model.learnings."""
    hot = 0
    """Open learnings that are hot."""
    live = (0, 0)
    """How many tasks run, and how many wait for a person."""
    draft: Draft | None = None
    """A task form that was left unfinished."""

    job: Job | None = None
    """The running background job."""
    failed = ""
    """Why the last job failed; until the next one, or until somebody has seen it."""
    _then: Callable[[Any], None] | None = None
    narrating = False
    """Whether a narrative is being written."""

    # Saying and changing

    def say(self, text: str, *, severity: str = "information") -> None:
        """A toast; its text is data. What was said before is over: two that contradict each other help nobody."""
        self.clear_notifications()
        for screen in self.screen_stack:
            screen.query("ToastHolder").remove()  # else the place of the one before stays empty, and this goes below
        told = toast_lines(text, self.size.width)
        self.notify(told, severity=severity, timeout=4, markup=False)  # type: ignore[arg-type]

    def change(self, change: Change) -> None:
        """Change the database off the event loop, and say how it went."""
        beside(self, self.writes.begin(self.db_path, change, self.clock()), "change")

    def aside(self, work: Callable[[], str | Changed]) -> None:
        """Do what takes a while in a thread of its own, and say how it went, an error too; no other change waits."""

        def told() -> None:
            try:
                done = work()
            except (NmemError, OSError) as error:
                done = Changed(str(error), failed=True)
            self.post_message(Changed(done, failed=False) if isinstance(done, str) else done)

        self.run_worker(told, group="aside", thread=True, exit_on_error=False)

    # What goes out

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

    def write_out(self, sequence: str) -> None:
        """Write to the person's terminal what draws nothing; a page has none."""
        if sequence and self._driver is not None and not self.is_web:
            self._driver.write(sequence)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Lend the terminal; it is taken back where what has it fails, which the library leaves out."""
        failed: Exception | None = None
        with super().suspend():
            try:
                yield
            except Exception as error:  # noqa: BLE001 -- raised again below
                failed = error
        if failed is not None:
            raise failed

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
        """A whole view: its form and where it goes, as the dialog Export offers them."""
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

    # Long work in the background, one at a time

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
        self.show_job()

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
        self.show_job()

    @on(Finished)
    def tell_end(self, message: Finished) -> None:
        """It is done, or could not be; an app that is leaving has no screen to say so on."""
        if self._exit:
            return
        stopped = self.job is not None and self.job.stopped()
        then, self._then, self.job = self._then, None, None
        self.failed = message.text if message.failed and not stopped else ""
        self.show_job()
        if then is not None and not message.failed:
            then(message.value)
        self.post_message(Changed(message.text, failed=message.failed))

    def show_job(self) -> None:
        """The numbered screen shows how far the work is."""
        raise NotImplementedError

    # What the app knows

    def wears(self, screen: Screen[Any]) -> bool:
        """Whether the styles of a screen are current."""
        raise NotImplementedError

    def restyle(self, node: DOMNode, classes: Iterable[str]) -> None:
        """A node has got or lost classes."""
        raise NotImplementedError

    def narrate(self, unit_id: int) -> None:
        """Write the narrative of an episode in a process of its own."""
        raise NotImplementedError

    def look_connected(self) -> None:
        """Look up in a thread whether a coding client reports here."""
        raise NotImplementedError

    def forget_asked(self) -> None:
        """Forget recent search queries, after a purge."""
        raise NotImplementedError

    # Actions and navigation

    def why_not(self, action_id: str) -> str | None:
        """Why an action does not apply now; None when it does."""
        raise NotImplementedError

    def action_act(self, action_id: str) -> None:
        """Carry out an action, or say why it does not apply."""
        raise NotImplementedError

    def shown(self, session: SessionRow) -> None:
        """A screen shows this session now."""
        raise NotImplementedError

    def leave(self) -> None:
        """Remember the current location for the way back."""
        raise NotImplementedError

    def look_again(self) -> None:
        """The numbered screen on top reads its data again, if it can."""
        raise NotImplementedError

    def read_for(self, asked: Asked, go: Callable[[], None]) -> None:
        """Go to the subject of a review question; the way back leads to the question."""
        raise NotImplementedError

    def choose(self, session_id: str | None) -> None:
        """Show another session; an empty id follows the newest, None changes nothing."""
        raise NotImplementedError

    def show_session(self, session_id: str) -> None:
        """Open the screen Now with a session."""
        raise NotImplementedError

    def show_moment(self, session_id: str, at: int, key: int) -> None:
        """Open the screen Now with a row of a session selected."""
        raise NotImplementedError

    def show_row(self, at: int, key: int) -> None:
        """Open the screen Now with a row of the session on screen selected."""
        raise NotImplementedError

    def show_episode(self, unit_id: int) -> None:
        """Open the screen Episodes with the story of an episode."""
        raise NotImplementedError

    def show_learning(self, learning_id: int) -> None:
        """Open the screen Learnings with a learning."""
        raise NotImplementedError

    def show_task(self, task_id: int) -> None:
        """Open the screen Tasks with a task selected."""
        raise NotImplementedError
