"""Reads a session's present state (on the hook's path): prompt, branch, files, failures, items told before."""

from __future__ import annotations

from nmem.context import store
from nmem.episodes import open_ends
from nmem.episodes.store import observed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.context.unsaid import Unsaid
    from nmem.retrieval.engine import Found
    from nmem.threads.arrival import Arrived

HOT_FILES = 8
FAILURES = 4
_COMMAND = 200


class Present:
    """A session as it stands at a moment; everything but the first four may be unknown."""

    __slots__ = (
        "arrived", "at", "branch", "client", "cwd", "failures", "folded", "found", "given", "given_files", "hot_files",
        "indexed", "moved", "named", "over", "project", "project_id", "prompt", "session_id", "source", "thread_id",
        "unit_id", "unsaid", "until",
    )  # fmt: skip

    def __init__(self, project_id: int, session_id: str, at: int, prompt: str = "") -> None:
        self.project_id = project_id
        self.session_id = session_id
        self.at = at
        self.prompt = prompt
        """What the person asks; empty when the session starts."""
        self.project = ""
        """Its name."""
        self.cwd = ""
        self.client = ""
        self.source = ""
        """Why the session started: startup resume clear compact fork."""
        self.branch = ""
        self.unit_id: int | None = None
        """The episode it is in."""
        self.thread_id: int | None = None
        self.hot_files: tuple[str, ...] = ()
        """What this session worked on, the newest first."""
        self.failures: tuple[str, ...] = ()
        """Commands of this session that failed last and have not passed since."""
        self.given: frozenset[str] = frozenset()
        """Items that this session has been told already."""
        self.given_files: frozenset[str] = frozenset()
        """Files that these have named."""
        self.folded = 0
        """When its conversation was compacted last, in ms; 0: it was not, or is not known to be."""
        self.until = 0
        """When it must be told what is told, by the machine's clock in ns; 0: nobody waits."""
        self.over = False
        """Whether the moment is over: what lies on the disk now says nothing about it."""
        self.unsaid: Unsaid | None = None
        """What a person excluded, once it was looked up; None: nothing."""
        self.found: list[Found] | None = None
        """The episodes that the engine found for the prompt, once it was asked."""
        self.indexed: int | None = None
        """How many episodes of the project the engine knows, once they were counted."""
        self.named: dict[str, float] = {}
        """Files of the project that the prompt names -> how much an edit of each says (nmem.context.rank)."""
        self.moved: dict[str, str] = {}
        """What files that are to be told are called now, by the names that are recorded."""
        self.arrived: list[Arrived] = []
        """The earlier threads beside the one that this prompt begins, once they were compared."""


def read(db: Connection, session_id: str, at: int, prompt: str = "") -> Present | None:
    """The present of a session at a moment; None when the session is not known. Raises sqlite3.Error."""
    row = store.session(db, session_id)
    if row is None:
        return None
    out = Present(row[0], session_id, at, prompt)
    out.client, out.source, out.branch, out.cwd = row[1], row[2] or "", row[3] or "", row[4]
    out.project, out.thread_id = row[5], row[6]
    out.unit_id = store.newest_episode(db, session_id)
    _work(db, out)
    since, out.folded = store.folded(db, session_id)
    out.given, out.given_files = store.given(db, session_id, since)
    return out


def _work(db: Connection, out: Present) -> None:
    """Files worked on and commands that failed, from the session's newest observations."""
    rows = observed(db, out.session_id, most=60)
    out.hot_files = tuple(open_ends.touched(rows))[::-1][:HOT_FILES]
    out.failures = tuple(dict.fromkeys(rows[place][3][:_COMMAND] for place in open_ends.failures(rows)))[:FAILURES]
