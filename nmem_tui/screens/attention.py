"""Calls the person from the cockpit when a session that is not shown waits or failed; names the window after it.

The feed says that something was committed; what waits is then read beside the event loop. What waited when the cockpit
began is no news, nor is the session that it shows: that one is before the person's eyes.
"""

from __future__ import annotations

import os

from nmem.attention import config, signals, waiting
from nmem.attention.config import DESKTOP, Config
from nmem.attention.waiting import Wait
from nmem_tui.screens.host import Host
from nmem_tui.store.access import Reads

TOPIC = "attention"
_TITLE = "nmem"


class Attention:
    """Whom the cockpit has seen waiting, and how it calls the person; nothing is read while that is off."""

    def __init__(self, app: Host) -> None:
        self._app = app
        self._own = Config([], "", [])
        self._seen: set[str] | None = None
        """What is no news; None: nothing was read yet."""
        self._named = False
        self.reads = Reads(app, lambda: app.db_path)

    def set_up(self) -> None:
        """Take the person's settings up, also after they changed them."""
        self._own = config.load()
        if self._own.how:
            self.look()
        else:
            self._seen = None
            self._name(0)

    def look(self) -> None:
        """Something was committed: read who waits, where anybody is called at all."""
        if self._own.how and not self._app.leaving:
            now = self._app.clock()
            self.reads.ask(TOPIC, lambda db: waiting.all_of(db, now), self._show)

    def _show(self, found: tuple[Wait, ...]) -> None:
        here = self._app.session.id if self._app.session else ""
        others = [one for one in found if one.session_id != here]
        news = [one for one in others if self._seen is not None and one.moment not in self._seen]
        self._seen = {one.moment for one in found}
        self._name(len(others))
        if news and not self._own.silent(self._app.clock()):
            path, own = self._app.db_path, self._own
            self._app.run_worker(lambda: self._call(path, own, news), group=TOPIC, thread=True, exit_on_error=False)

    def _call(self, path: str, own: Config, news: list[Wait]) -> None:
        """In a thread: what another process has called for is left out, the desktop's program is waited for.

        Where no way reaches the person, as in a browser, only the line is shown, and calling is left to others.
        """
        able = not self._app.is_web and signals.able(own.how, os.environ, terminal=True)
        mine = [one for one in news if waiting.claim(path, one)] if able else news
        if not mine:
            return
        text = mine[0].text + (f", and {len(mine) - 1} more" if len(mine) > 1 else "")
        self._app.call_from_thread(self._ring, own, text)
        if able and DESKTOP in own.how:
            signals.desktop(_TITLE, text, os.environ)

    def _ring(self, own: Config, text: str) -> None:
        self._app.write_out(signals.sequence(own.how, _TITLE, text, os.environ))
        self._app.say(text, severity="warning")

    def close(self) -> None:
        """The cockpit ends: its window is called as before."""
        self._name(0)

    def _name(self, count: int) -> None:
        """The window's title says that somebody waits, and is what it was when nobody does; a plain one at least."""
        if count:
            keep = "" if self._named else signals.KEEP_TITLE
            self._app.write_out(keep + signals.titled(f"{_TITLE}: {count} waiting"))
        elif self._named:
            self._app.write_out(signals.titled(_TITLE) + signals.GIVE_TITLE_BACK)
        self._named = bool(count)
