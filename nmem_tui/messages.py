"""Messages from workers to the cockpit (file changed, read done, progress); only their handlers change state."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class StoreChanged(Message, bubble=False):
    """Another process committed; one message stands for any number of commits."""

    generation: int

    def can_replace(self, message: Message) -> bool:
        """A newer state makes a waiting one pointless."""
        return isinstance(message, StoreChanged)


@dataclass
class StoreGone(Message, bubble=False):
    """The database is not there, or cannot be read; `reason` is empty when nothing is recorded yet."""

    reason: str


@dataclass
class FileChanged(Message, bubble=False):
    """A watched file changed: `kind` is transcript, config or decision."""

    kind: str
    path: str


@dataclass
class Loaded(Message, bubble=False):
    """A read is done: what was asked, and the answer."""

    topic: str
    ticket: int
    value: object


@dataclass
class ReadFailed(Message, bubble=False):
    """A read could not be done; `reason` is one line for the person."""

    topic: str
    ticket: int
    reason: str


@dataclass
class Changed(Message, bubble=False):
    """A change that the person asked for is done, or could not be: one line for the person."""

    text: str
    failed: bool


@dataclass
class Progress(Message, bubble=False):
    """Long work went on; the app knows which, and how far it is."""

    def can_replace(self, message: Message) -> bool:
        """How far it was before interests nobody."""
        return isinstance(message, Progress)


@dataclass
class Finished(Message, bubble=False):
    """Long work is done, or could not be: one line for the person, and what came of it."""

    text: str
    failed: bool
    value: object = None
