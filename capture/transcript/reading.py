"""Base class of all transcript readers, with the state of a partly read file, time parsing, and new Events."""

from __future__ import annotations

from capture.clients.fields import text, whole
from capture.event import Event

_DAYS: dict[str, int] = {}
_MINUTE = 60_000


class Source:
    """One file: whose session it is, where it ran, and where it lies."""

    __slots__ = ("agent_id", "agent_type", "client", "cwd", "home", "path", "session_id", "version")

    def __init__(self, client: str, path: str, session_id: str = "", cwd: str = "") -> None:
        self.client = client
        self.path = path
        self.session_id = session_id
        self.cwd = cwd
        """The folder that the session began in: its project, wherever it went later."""
        self.home = ""
        """What ~ stands for in it; empty: the user's own home."""
        self.version = ""
        self.agent_id = ""
        self.agent_type = ""


class Reader:
    """The state of one file between its records; each client has its own `feed`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.cwd = source.cwd
        self.turn = ""
        self.model = ""
        self.branch = ""
        self.tokens: int | None = None
        self.window: int | None = None
        self.tokens_at = 0
        self.skipped: dict[str, int] = {}
        """Records that are not kept, by what they are."""
        self.called: list[str] = []
        """The ids of the tool calls, in the order in which the agent made them."""
        self.held: dict[str, int] = {}
        """What waits for a later record -> the offset of its own: reading goes on there the next time."""

    def feed(self, record: dict[str, object], offset: int) -> list[Event]:
        """The Events of one record; `offset` is where its line began."""
        raise NotImplementedError

    def finish(self, over: bool) -> list[Event]:
        """What the end of the file makes certain; `over` when nobody writes to it any more."""
        raise NotImplementedError

    def turn_end(self) -> list[Event]:
        """What is certain when the client says that a turn is over: its last text was its closing."""
        return []

    def skip(self, kind: str) -> list[Event]:
        """Count a record that is not kept."""
        self.skipped[kind] = self.skipped.get(kind, 0) + 1
        return []

    def event(self, kind: str, at: int, native: str) -> Event:
        """An Event with all that the file says about its session."""
        source = self.source
        event = Event(source.client, kind, source.session_id, at, native)
        event.cwd = self.cwd or source.cwd
        event.project_dir = source.cwd
        event.home = source.home
        event.transcript_path = source.path
        event.client_version = source.version
        event.agent_id = source.agent_id
        event.agent_type = source.agent_type
        event.turn_id = self.turn
        event.model = self.model
        return event

    def seen(self, tokens: int | None, window: int | None, at: int) -> None:
        """How full the context was after a response."""
        if tokens:
            self.tokens, self.tokens_at = tokens, at
            self.window = window or self.window

    def state(self) -> dict[str, object]:
        """What must be known to go on behind the records read so far; plain values."""
        source = self.source
        return {"session": source.session_id, "root": source.cwd, "version": source.version, "agent": source.agent_id,
                "agent_type": source.agent_type, "cwd": self.cwd, "turn": self.turn, "model": self.model,
                "branch": self.branch, "window": self.window}  # fmt: skip

    def restore(self, state: dict[str, object]) -> None:
        """Go on where an earlier reader stopped."""
        source = self.source
        source.session_id = text(state.get("session")) or source.session_id
        source.cwd = text(state.get("root")) or source.cwd
        source.version = text(state.get("version"))
        source.agent_id = text(state.get("agent")) or source.agent_id
        source.agent_type = text(state.get("agent_type")) or source.agent_type
        self.cwd, self.turn = text(state.get("cwd")), text(state.get("turn"))
        self.model, self.branch = text(state.get("model")), text(state.get("branch"))
        self.window = whole(state.get("window"))

    def resume_at(self, end: int) -> int:
        """The offset to go on from: before everything that is still open."""
        return min(self.held.values(), default=end)


class Conversation(Reader):
    """A reader of records in which calls come before their answers, and a turn's last text closes it."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.calls: dict[str, Event] = {}
        """Calls that are not answered yet, by their ids."""
        self.closing: Event | None = None

    def open(self, number: str, event: Event, offset: int) -> None:
        """A call was made: its answer may come in a later reading."""
        self.calls[number], self.held[number] = event, offset
        self._forget()

    def answered(self, number: str) -> Event | None:
        """The call that is answered now."""
        self.held.pop(number, None)
        return self.calls.pop(number, None)

    def says(self, event: Event, offset: int) -> None:
        """A text that closes the turn, unless a call follows."""
        self.closing, self.held["closing"] = event, offset

    def close(self) -> list[Event]:
        """The turn is over: its last text, and its calls that never were answered."""
        open_calls = list(self.calls.values())
        for number in list(self.calls):
            self.answered(number)
        last = [self.closing] if self.closing else []
        self._forget()
        return open_calls + last

    def finish(self, over: bool) -> list[Event]:
        """The end of the file ends the turn."""
        return self.close() if over else []

    def turn_end(self) -> list[Event]:
        """The last text so far; a call may still be answered."""
        last = [self.closing] if self.closing else []
        self._forget()
        return last

    def _forget(self) -> None:
        self.closing = None
        self.held.pop("closing", None)


def millis(stamp: object) -> int:
    """Milliseconds since the epoch of an ISO 8601 time; 0 when it is none."""
    if not isinstance(stamp, str) or len(stamp) < 19:
        return 0
    try:
        day = _DAYS.get(stamp[:10])
        if day is None:
            day = _DAYS[stamp[:10]] = _day(int(stamp[:4]), int(stamp[5:7]), int(stamp[8:10]))
        seconds = day * 86400 + int(stamp[11:13]) * 3600 + int(stamp[14:16]) * 60 + int(stamp[17:19])
        rest = stamp[19:]
        part = ""
        if rest.startswith("."):
            digits = len(rest) - len(rest[1:].lstrip("0123456789"))
            part, rest = rest[1:digits], rest[digits:]
        return seconds * 1000 + int((part + "000")[:3]) - _zone(rest)
    except ValueError:
        return 0


def _zone(rest: str) -> int:
    if rest[:1] not in {"+", "-"}:
        return 0
    minutes = int(rest[1:3]) * 60 + int(rest[-2:])
    return (minutes if rest[0] == "+" else -minutes) * _MINUTE


def _day(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date, by counting years from March."""
    if month <= 2:
        year, month = year - 1, month + 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 719469


def joined(content: object) -> str:
    """The text of a message: a string, or the texts of its blocks, whatever else is among them."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = []
    for block in content:
        value = block.get("text") if isinstance(block, dict) else block
        if isinstance(value, str) and value:
            texts.append(value)
    return "\n".join(texts)


_MILLION = 1_000_000
_OLD = 200_000

_WINDOWS = (
    ("[1m]", _MILLION), ("claude-opus-5", _MILLION), ("claude-sonnet-5", _MILLION), ("claude-opus-4", _OLD),
    ("claude-sonnet-4", _OLD), ("claude-haiku-4", _OLD), ("claude-3", _OLD), ("gemini", 1_048_576), ("gpt-5", 258_400),
)  # fmt: skip


def window(model: str, tokens: int | None = None) -> int | None:
    """Tokens that fit, never less than were already in use; None for a model that nobody told of."""
    name = model.lower()
    size = next((size for part, size in _WINDOWS if part in name), None)
    return max(size, _MILLION) if size and tokens and tokens > size else size
