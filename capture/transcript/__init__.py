"""What the clients write down themselves: read incrementally, turned into the same Events as the hooks give.

cursor.py                       how far a file was read; whole new lines only
records.py                      the records of a file, one at a time
claude.py codex.py gemini.py    a client's records -> Events
batches.py                      Events -> Batches, equal to those of the hook
mend.py                         what a transcript knows better than a hook
missed.py                       what the hooks missed, at the end of a turn
titles.py                       what the client calls a session: records of one file about another
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.transcript.reading import Reader, Source

SECONDS = 0.05
"""How long a hook reads on at most; a single record may take longer."""
READABLE = ("claude", "codex", "gemini")
"""The clients whose files there is a reader for."""


def catch_up(db: Connection, client: str, path: str, session_id: str, seconds: float = SECONDS) -> bool:
    """Store what a transcript has since the last time and no hook told of: thinking, late prompts, usage, lost calls.

    Whether something is left after `seconds`: it is for `catch_up_rest`. With nothing new it costs one query and one
    stat. Raises sqlite3.Error or OSError.
    """
    from capture.transcript.missed import catch_up as store_missed

    return store_missed(db, client, path, session_id, seconds)


def catch_up_rest(db: Connection) -> None:
    """What hooks had no time for or pass over, in the background. Raises sqlite3.Error or OSError."""
    from capture.transcript import titles
    from capture.transcript.missed import rest

    files = rest(db)
    for client, path, session_id in files:
        catch_up(db, client, path, session_id, float("inf"))
    titles.keep(db, [(path, session_id) for client, path, session_id in files if client == "claude"])


def reader(source: Source) -> Reader:
    """The reader of a client's files. Raises KeyError for a client without one."""
    if source.client == "claude":
        from capture.transcript.claude import ClaudeReader

        return ClaudeReader(source)
    if source.client == "codex":
        from capture.transcript.codex import CodexReader

        return CodexReader(source)
    if source.client == "gemini":
        from capture.transcript.gemini import GeminiReader

        return GeminiReader(source)
    raise KeyError(source.client)
