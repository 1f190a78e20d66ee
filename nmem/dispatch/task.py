"""The Task record: request, state, result. Frozen, and independent of the database."""

from __future__ import annotations

from typing import NamedTuple

QUEUED, RUNNING, NEEDS_INPUT = "queued", "running", "needs-input"
SUCCEEDED, FAILED, CANCELLED, TIMED_OUT = "succeeded", "failed", "cancelled", "timed-out"
_STANDS = {SUCCEEDED: "succeeded", FAILED: "failed", TIMED_OUT: "timed out", NEEDS_INPUT: "waits for input"}
LIVE = (RUNNING, NEEDS_INPUT)
"""There is a client at work, or one that waits for a person."""
OVER = (SUCCEEDED, FAILED, CANCELLED, TIMED_OUT)
CLIENTS = ("claude", "codex", "gemini")
PERSON, FILE, LEARNING, AGENT = "person", "file", "learning", "agent"
TMUX, HEADLESS = "tmux", "headless"

LONGEST = 100_000
"""Characters of a prompt: a client takes it as one argument."""
MOST_RETRIES = 20
LONGEST_LIMIT = 7 * 86_400
"""Seconds."""


def stands(state: str) -> str:
    """A state as the verb of a sentence: "failed", "is queued"."""
    return _STANDS.get(state, f"is {state}")


class NewTask(NamedTuple):
    """What a person, a file, a learning or an agent asks for."""

    prompt: str
    cwd: str
    project: str = ""
    client: str = CLIENTS[0]
    interactive: bool = False
    """The client stays open in its pane after its turn, for a person to go on."""
    priority: int = 0
    not_before: int = 0
    """Milliseconds since 1970."""
    quiet_hours: str | None = None
    """HH:MM-HH:MM in which it is not started; None: those of the configuration; empty: none."""
    needs: tuple[int, ...] = ()
    """Tasks that have to succeed before."""
    retries: int = 0
    time_limit: int = 0
    """Seconds; 0: that of the configuration."""
    worktree: bool | None = None
    """In a checkout of its own; None: where its folder lies in a git repository."""
    target: str = ""
    """A pane of tmux to run in, once it is idle: %3 or session:window.pane."""
    source: str = PERSON
    learning_id: int | None = None
    parent_id: int | None = None


class Task(NamedTuple):
    """A task as it is stored; times are milliseconds since 1970."""

    id: int
    created_at: int
    changed_at: int
    prompt: str
    project: str
    cwd: str
    client: str
    interactive: bool
    priority: int
    not_before: int
    quiet_hours: str | None
    retries: int
    time_limit: int
    worktree: bool
    target: str
    source: str
    learning_id: int | None
    parent_id: int | None
    state: str
    reason: str
    """Why it stands so, in words; empty where there is nothing to say."""
    cancelled_for: int | None
    attempt: int
    tries: int
    runner: str
    process: str
    how: str
    """tmux or headless, once it was started."""
    socket: str
    pane: str
    worktree_path: str
    branch: str
    claimed_at: int | None
    started_at: int | None
    ended_at: int | None
    exit_code: int | None
    output: str
    """The last lines, cleaned and redacted; of a running one what its pane brought in last."""
    session_id: str | None
    needs: tuple[int, ...] = ()
    waits_for: tuple[int, ...] = ()
    """Those of `needs` that have not succeeded yet."""
    approved: bool = True
    """False for one that an agent queued, until a person lets it run."""

    @property
    def title(self) -> str:
        """The first line of what is asked."""
        return next((line.strip() for line in self.prompt.splitlines() if line.strip()), "")

    @property
    def asks(self) -> bool:
        """Whether it waits for a person to let it run."""
        return self.state == QUEUED and not self.approved

    @property
    def live(self) -> bool:
        """Whether its client is there."""
        return self.state in LIVE

    @property
    def over(self) -> bool:
        """Whether nothing will become of it by itself any more."""
        return self.state in OVER


class TaskEvent(NamedTuple):
    """One thing that happened to a task."""

    at: int
    attempt: int
    state: str
    """The one it was in from then on."""
    what: str
    """queued approved edited claimed started asked answered ended retried returned cancelled revived note."""
    text: str


class Outcome(NamedTuple):
    """How an attempt ended."""

    state: str
    exit_code: int | None = None
    reason: str = ""
    output: str = ""
    at: int = 0
    final: bool = False
    """Another try would end the same way."""
