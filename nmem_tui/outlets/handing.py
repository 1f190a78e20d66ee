"""What goes out of the cockpit, and comes back: text to the clipboard, into an editor, whole views into files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from textual.app import SuspendNotSupported

from nmem.errors import NmemError
from nmem_tui.acting import Acting
from nmem_tui.messages import Changed
from nmem_tui.model import keyed

NO_TERMINAL = "an editor needs the terminal for itself: there is none here, as in a browser; {copy} copies the text"


class Handing(Acting):
    """An app that hands things out."""

    environ: Mapping[str, str] = os.environ

    def copy_out(self, text: str) -> None:
        """Put text on the person's clipboard, and say how it went there."""
        from nmem_tui.outlets import clipboard

        if not text:
            self.say("there is nothing to copy", severity="warning")
        elif not self.is_web and (words := clipboard.helper(self.environ)):
            self.aside(lambda: self._by_helper(words, text))
        else:
            self.say(self._by_terminal(text))

    def _by_helper(self, words: list[str], text: str) -> Changed:
        """In a worker: a program that does not take it leaves it to the terminal."""
        from nmem_tui.outlets import clipboard

        if clipboard.give(words, text, self.environ):
            return Changed(clipboard.told(text, f"with {words[0]}", cut=False), failed=False)
        return Changed(self.call_from_thread(self._by_terminal, text), failed=False)

    def _by_terminal(self, text: str) -> str:
        from nmem_tui.outlets import clipboard

        sequence, how = clipboard.osc52(text, {} if self.is_web else self.environ)
        how = "through the page (OSC 52)" if self.is_web else how
        if self._driver is not None:
            self._driver.write(sequence)
        return clipboard.told(text, how, cut=clipboard.fitting(text) != text)

    def edit_out(self, text: str, take: Callable[[str], None] | None = None) -> None:
        """Open text in the person's editor; what is left there goes to `take`, else it was a copy to read."""
        from nmem_tui.outlets import editor

        try:
            words = editor.words(self.environ)
            with self.suspend():
                left = editor.edit(text, words, self.environ, read_only=take is None)
        except SuspendNotSupported:
            self.say(keyed.filled(NO_TERMINAL), severity="warning")
            return
        except NmemError as error:
            self.say(str(error), severity="warning")
            return
        self.refresh(layout=True)
        if take is not None:
            take(left)
        elif left.rstrip() != text.rstrip():
            self.say("it was a copy: what you changed there is not kept", severity="warning")

    def export_out(self, view: str, content: str, form: str, place: str) -> None:
        """A whole view: its form and where it goes, as screens.exporting offers them."""
        from nmem_tui.outlets.files import write

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
