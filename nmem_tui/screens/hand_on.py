"""Hands an episode on from the cockpit: files to share, or a client that goes on with a brief of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import SuspendNotSupported

from nmem.dispatch import tmux
from nmem.errors import NmemError
from nmem.share import brief, document, files, hand
from nmem.text import pad, printable
from nmem_tui import output
from nmem_tui.screens.modal import Choice, Dialog

if TYPE_CHECKING:
    from nmem.share.brief import Brief
    from nmem.share.document import Document
    from nmem_tui.screens.host import Host
    from nmem_tui.store.access import Reads

_PANE, _HERE, _COPY = "pane", "here", "copy"
_NO_TERMINAL = "a client needs a terminal of its own, and a browser has none: choose tmux, or copy the brief"


class HandOn(Dialog):
    """Gives back the client and where it starts: `codex pane`; or `- copy`."""

    HINT: ClassVar[str] = "enter takes · esc leaves"

    def __init__(self, unit_id: int) -> None:
        self.TITLE_TEXT = f"Hand on ─ episode {unit_id}"  # type: ignore[misc]
        super().__init__()

    def on_mount(self) -> None:
        """The clients that are installed here, each in tmux and in this terminal; and the brief alone."""
        super().on_mount()
        try:
            clients = hand.installed()
        except NmemError as error:
            self.refuse(printable(str(error)))
            return
        places = [(_PANE, "goes on in a window of tmux")] if tmux.installed() else []
        places.append((_HERE, "goes on in this terminal; the cockpit comes back when it ends"))
        choices = [_choice(client, place, what) for client in clients for place, what in places]
        self.offer([*choices, _choice("-", _COPY, "copy the brief to the clipboard")])


def _choice(client: str, place: str, what: str) -> Choice:
    return Choice([(pad(client, 8), "key"), (what, "text")], f"{client} {place} {what}", f"{client} {place}")


def ask(app: Host, unit_id: int, reads: Reads) -> None:
    """Ask which client goes on with an episode, and where; then do it."""

    def take(how: str | None) -> None:
        if how:
            client, _, place = how.partition(" ")
            reads.ask("brief", lambda db: brief.brief(db, unit_id), partial(_hand, app, client, place))

    app.push_screen(HandOn(unit_id), take)


def share(app: Host, unit_id: int, reads: Reads) -> None:
    """Write an episode as Markdown and HTML into new files of the current folder, and say where they are."""

    def written(found: Document) -> str:
        made = files.write_new(found)
        return f"written: {' and '.join(map(printable, made))}"

    reads.ask("share", lambda db: document.of_episode(db, unit_id), lambda found: app.aside(lambda: written(found)))


def _hand(app: Host, client: str, place: str, made: Brief) -> None:
    if place == _COPY:
        app.copy_out(made.text)
    elif place == _PANE:
        app.aside(lambda: _in_pane(client, made))
    else:
        _here(app, client, made)


def _in_pane(client: str, made: Brief) -> str:
    started = hand.pane(client, made)
    return f"{client} goes on with episode {made.episode} in tmux · {started.command}"


def _here(app: Host, client: str, made: Brief) -> None:
    try:
        with app.suspend(), output.uninterrupted():
            code = hand.wait(client, made)
    except SuspendNotSupported:
        app.say(_NO_TERMINAL, severity="warning")
        return
    except NmemError as error:
        app.say(str(error), severity="warning")
        return
    app.refresh(layout=True)
    app.say(f"{client} ended with {code}" if code else f"{client} ended", severity="warning" if code else "information")
