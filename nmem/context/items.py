"""The Item class: a piece of context with id, text, score and reason. On the hook's path: plain and slotted."""

from __future__ import annotations

EPISODE, THREAD, LEARNING, FILE, PIN, MARKER, NEXT = "episode", "thread", "learning", "file", "pin", "marker", "next"
DROPPED = "dropped"
"""What a compaction dropped of the session's own work: told again once it is touched."""
RECALL = "recall"
"""A written decision: where it stands, not what it says."""
MOVED = "moved"
"""A file that has another name, or none, since the last session."""
ASK = "ask"
"""The line that says that the memory can be asked: told at the start, and not judged by what is edited."""
BESIDE = "beside"
"""The line that says who edits what at this moment: told when it is so, and not judged either."""
TEAM = "team"
"""What another member of the team said (nmem.teammates)."""
KINDS = (PIN, MOVED, DROPPED, THREAD, NEXT, EPISODE, RECALL, LEARNING, MARKER, FILE, TEAM)
"""In the order in which they are told."""
TEXT = 240
"""Characters that are told of what is quoted."""
_CHARS = 4
"""Characters of a token, as everything here counts them; clients count their own."""


class Item:
    """An id, what is said, and why: `score` is 0..1, `reason` in words, `used` is known only afterwards."""

    __slots__ = ("files", "id", "kind", "reason", "score", "text", "tokens", "used")

    def __init__(
        self, id: str, kind: str, text: str, *, files: tuple[str, ...] = (), score: float = 0.0, reason: str = ""  # noqa: A002 - an item's id is called so
    ) -> None:  # fmt: skip
        self.id = id
        """episode/12, thread/4, learning/3, file/src/a.py, pin/obs/8, marker/9, next/12, moved/src/a.py, recall/when
        adding a table, team/5f3a."""
        self.kind = kind
        self.text = text
        """Inert already, one paragraph."""
        self.files = files
        """The project's files that the text names."""
        self.score = score
        self.reason = reason
        self.tokens = tokens(text)
        self.used: bool | None = None

    def __repr__(self) -> str:
        return f"Item({self.id!r}, {self.score:.3f}, {self.text!r})"


def subject(item: str) -> str:
    """What an item stands for: a pin for what is pinned, a marker for its observation."""
    item = item.removeprefix("pin/")
    return f"obs/{item[7:]}" if item.startswith("marker/") else item


def tokens(text: str) -> int:
    """About how many tokens a text takes in a context: a quarter of its UTF-8 length, and its line break."""
    return (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) // _CHARS + 1


def file_told(item: Item) -> str:
    """A file as it is told: its name, and why it matters."""
    return f"{item.text} ({item.reason})" if item.reason else item.text
