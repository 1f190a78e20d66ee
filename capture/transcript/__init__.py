"""Reads the clients' own transcripts incrementally, into the same Events as the hooks give.

cursor.py                       how far a file was read; whole new lines only
records.py                      the records of a file, one at a time
claude.py codex.py gemini.py    a client's records -> Events
batches.py                      Events -> Batches, equal to those of the hook
missed.py                       what hooks missed or could not know, at the end of a turn
titles.py                       what the client calls a session: records of one file about another
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.transcript.reading import Reader, Source

READABLE = ("claude", "codex", "gemini")
"""The clients whose files there is a reader for."""


def reader(source: Source) -> Reader:
    """The reader of a client's files. Raises KeyError for a client without one."""
    if source.client == "claude":
        from capture.transcript.claude import ClaudeReader  # on use: start-up stays short

        return ClaudeReader(source)
    if source.client == "codex":
        from capture.transcript.codex import CodexReader  # on use: start-up stays short

        return CodexReader(source)
    if source.client == "gemini":
        from capture.transcript.gemini import GeminiReader  # on use: start-up stays short

        return GeminiReader(source)
    raise KeyError(source.client)
