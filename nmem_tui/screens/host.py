"""The interface of the app that screens and dialogs rely on; `nmem_tui.app.Cockpit` implements all of it.

Screens import this module instead of the app, so that the app alone knows every screen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

if TYPE_CHECKING:
    from nmem.read.views import SessionRow
    from nmem_tui.messages import Changed
    from nmem_tui.model.actions import Keys
    from nmem_tui.model.locations import Asked
    from nmem_tui.model.now_queries import Home
    from nmem_tui.model.task_form import Draft
    from nmem_tui.operations.jobs import Do, Job
    from nmem_tui.store.access import Change
    from nmem_tui.store.feed import Feed


class Host(App[None]):
    """State that all screens share, and the services of the app."""

    db_path: str
    clock: Callable[[], int]
    """Milliseconds since 1970."""
    zone: tzinfo | None
    feed: Feed
    generation: int
    """Counts the commits that were noticed."""
    connected: bool
    """Whether a coding client is known to report here."""
    gone: str | None
    """Why the database cannot be read; None: it can be."""
    read_only: bool
    """Whether actions that the registry marks as writing are refused."""
    demo: bool
    leaving: bool
    """Whether the person has left: later keys are ignored."""
    posed: bool
    """Whether a picture is taken: settings of this machine are ignored."""
    keys: Keys
    """The person's own keys."""
    environ: Mapping[str, str]

    project: str
    """The project that the cockpit is limited to; empty: all."""
    home: Home
    chosen: str
    """The session that the person chose; empty: the newest is followed."""
    session: SessionRow | None
    """The session on screen."""
    wanted_episode: int
    wanted_learning: int
    wanted_task: int
    wanted_query: str | None
    wanted_row: tuple[int, int] | None
    asked: list[str]
    """Recent search queries, the newest first."""
    listed: str
    """Whose learnings are listed: see model.learnings."""
    hot: int
    """Open learnings that are hot."""
    live: tuple[int, int]
    """How many tasks run, and how many wait for a person."""
    draft: Draft | None
    """A task form that was left unfinished."""

    job: Job | None
    """The running background job."""
    failed: str
    """Why the last job failed; until the next one."""
    narrating: bool
    """Whether a narrative is being written."""

    # Saying and changing

    def say(self, text: str, *, severity: str = "information") -> None:
        """Show a toast; its text is data."""
        raise NotImplementedError

    def change(self, change: Change) -> None:
        """Change the database off the event loop, and say how it went."""
        raise NotImplementedError

    def aside(self, work: Callable[[], Changed]) -> None:
        """Run slow work in a thread of its own, and say how it went."""
        raise NotImplementedError

    def busy(self) -> str | None:
        """Why no job can begin; None when one can."""
        raise NotImplementedError

    def work(self, name: str, do: Do, then: Callable[[Any], None] | None = None, *, stops: bool = True) -> None:
        """Begin a job; `then` gets its result on the event loop."""
        raise NotImplementedError

    def wears(self, screen: Screen[Any]) -> bool:
        """Whether the styles of a screen are current."""
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

    # Exports

    def copy_out(self, text: str) -> None:
        """Copy text to the clipboard."""
        raise NotImplementedError

    def edit_out(self, text: str, take: Callable[[str], None] | None = None) -> None:
        """Open text in the person's editor; `take` gets the edited text."""
        raise NotImplementedError

    def export_out(self, view: str, content: str, form: str, place: str) -> None:
        """Write an exported view to a file or the clipboard."""
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
