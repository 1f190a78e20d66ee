"""Reads the clients' own transcripts incrementally, into the same Events as the hooks give.

cursor.py                       how far a file was read, whole new lines only; what is asked and mended of stored rows
records.py                      the records of a file, one at a time
claude.py codex.py gemini.py qwen.py copilot.py    a client's records -> Events; each has READER
batches.py                      Events -> Batches, equal to those of the hook
missed.py                       what hooks missed or could not know, at the end of a turn
titles.py                       what the client calls a session: records of one file about another
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.transcript.reading import Reader, Source

READABLE = ("claude", "codex", "gemini", "qwen", "copilot")
"""The clients whose files there is a reader for: a module of this package with their name."""


def reader(source: Source) -> Reader:
    """The reader of a client's files. Raises KeyError for a client without one."""
    if source.client not in READABLE:
        raise KeyError(source.client)
    module = __import__(f"capture.transcript.{source.client}", fromlist=["READER"])
    found: Reader = module.READER(source)
    return found
