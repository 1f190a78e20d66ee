"""The Textual driver of a cockpit served to a browser: ends the process when the web server is gone."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from textual import messages
from textual.drivers.web_driver import WebDriver


class Served(WebDriver):
    """Textual's driver for pages, which alone would stay for ever behind a server that was killed."""

    def start_application_mode(self) -> None:
        """Begin to draw and to listen."""
        self._loop = asyncio.get_running_loop()
        super().start_application_mode()

    def run_input_thread(self) -> None:
        """Listen until the pipe is closed: by us, or because nobody holds its other end."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            leave: Any = self._app._post_message(messages.ExitApp())
            asyncio.run_coroutine_threadsafe(leave, self._loop)

    def write(self, data: str) -> None:
        """What is drawn for nobody is no error."""
        with contextlib.suppress(BrokenPipeError):
            super().write(data)

    def write_meta(self, data: dict[str, object]) -> None:
        """The last word, `exit`, may come after the reader has left."""
        with contextlib.suppress(BrokenPipeError):
            super().write_meta(data)
