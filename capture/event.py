"""Classes for a client's message (Event) and for the records kept of it (Prompt, Observation, Project, Batch).

Plain slotted classes: dataclasses would cost a hook twice the bare interpreter.
All times are integer milliseconds since the epoch.
"""

from __future__ import annotations

# What an Event can be; the names are nmem's own, whatever the client calls them.
SESSION_START = "session_start"
PROMPT = "prompt"
TOOL_CALL = "tool_call"
"""A tool is about to be called: nothing is stored of it, only asked what is known."""
TOOL_RESULT = "tool_result"
TOOL_ERROR = "tool_error"
TURN_END = "turn_end"
SUBAGENT_END = "subagent_end"
PRE_COMPACT = "pre_compact"
POST_COMPACT = "post_compact"
SESSION_END = "session_end"
STATUS = "status"
THINKING = "thinking"

OBS_TYPES = frozenset(
    [
        "file_read", "file_write", "file_edit", "search", "command", "test", "build", "lint", "install",
        "git_commit", "git_push", "git_other", "github", "task_spawn", "skill", "web_fetch", "web_search",
        "mcp_call", "question", "plan", "todo", "session_start", "session_resume", "session_clear",
        "session_compact", "marker", "tool_other",
    ]
)  # fmt: skip

OK = "ok"
FAILED = "failed"
UNKNOWN = "unknown"

# Who said a prompt, and what kind of saying it is.
USER = "user"
AGENT = "agent"
MACHINE = "machine"
STOPPED = "[Request interrupted by user]"
"""Stands, as a notification, where a person broke a turn off: its closing is no answer, nothing was completed."""


class Event:
    """One thing that a client reported, in nmem's own words. Nothing in it is redacted yet."""

    __slots__ = (
        "agent_id", "agent_type", "at", "client", "client_version", "context_tokens", "context_window", "cwd", "drift",
        "duration_ms", "exit_code", "home", "interrupted", "kind", "model", "native", "ok", "output", "output_text",
        "permission_mode", "project_dir", "reason", "refused", "session_id", "source", "text", "tool", "tool_input",
        "tool_name", "tool_use_id", "transcript_path", "turn_id",
    )  # fmt: skip

    def __init__(self, client: str, kind: str, session_id: str, at: int, native: str = "") -> None:
        self.client = client
        self.kind = kind
        self.session_id = session_id
        self.at = at
        self.native = native
        """The client's own name of the event."""
        self.cwd = ""
        self.project_dir = ""
        self.home = ""
        """What ~ stands for; empty: the user's own home. A transcript may come from another machine."""
        self.transcript_path = ""
        self.client_version = ""
        self.model = ""
        self.permission_mode = ""
        self.agent_id = ""
        """Set only inside a subagent."""
        self.agent_type = ""
        self.turn_id = ""
        """The client's id of the user's turn (prompt_id, turn_id, generation_id); not unique per prompt."""
        self.tool_use_id = ""
        self.tool_name = ""
        """The client's own name of the tool."""
        self.tool = ""
        """Canonical tool: shell edit write read search web_fetch web_search agent todo ask plan skill mcp other."""
        self.tool_input: dict[str, object] = {}
        """Arguments under canonical keys: see capture/clients/__init__.py."""
        self.output: object = None
        """The client's structured response, as it came."""
        self.output_text = ""
        """What the tool printed or answered, as text."""
        self.ok: bool | None = None
        self.exit_code: int | None = None
        self.duration_ms: int | None = None
        self.interrupted = False
        self.refused = ""
        """Why a call never ran: `user` did not let it, or a `sibling` called beside it failed."""
        self.text = ""
        """The prompt, the agent's closing text, a compact summary or a notification."""
        self.source = ""
        """Why the session started (startup resume clear compact fork), or who sent the prompt (user, machine)."""
        self.reason = ""
        self.context_tokens: int | None = None
        self.context_window: int | None = None
        self.drift: tuple[str, ...] = ()
        """Payload fields that the adapter does not know."""


def names_episode(event: Event) -> bool:
    """Whether the agent just said, by the tool of nmem's own server, which task the user turned to."""
    given = event.tool_input
    return (
        event.kind == TOOL_RESULT and event.tool == "mcp" and given.get("tool") == "episode"
        and str(given.get("server")).endswith("nmem") and isinstance(given.get("arguments"), dict)
    )  # fmt: skip


class Prompt:
    """Something said: by the user, by the agent (thinking, closing text) or by a machine."""

    __slots__ = ("agent_id", "at", "content", "dedup_key", "kind", "native_id", "source")

    def __init__(self, at: int, source: str, kind: str, content: str, *, dedup_key: str, native_id: str = "",
                 agent_id: str = "") -> None:  # fmt: skip
        self.at = at
        self.source = source
        self.kind = kind
        """prompt late command | thinking closing summary subagent title | notification."""
        self.content = content
        self.dedup_key = dedup_key
        """Unique within the session: the same saying from a hook and from the transcript has the same key."""
        self.native_id = native_id
        self.agent_id = agent_id


class Observation:
    """One thing done: a tool call with its outcome, a session event, a marker."""

    __slots__ = (
        "agent_id", "at", "content", "dedup_key", "duration_ms", "exit_code", "file_path", "lines_added",
        "lines_removed", "metadata", "obs_type", "outcome", "tool_name", "tool_use_id", "turn_id",
    )  # fmt: skip

    def __init__(self, at: int, obs_type: str, content: str, *, dedup_key: str) -> None:
        self.at = at
        self.obs_type = obs_type
        self.content = content
        self.dedup_key = dedup_key
        self.outcome = UNKNOWN
        self.tool_name = ""
        self.tool_use_id = ""
        self.agent_id = ""
        self.turn_id = ""
        self.file_path: str | None = None
        """Relative to the project's root (worktree root in a worktree) with forward slashes; absolute outside it."""
        self.exit_code: int | None = None
        self.duration_ms: int | None = None
        self.lines_added: int | None = None
        self.lines_removed: int | None = None
        self.metadata: dict[str, object] = {}


class Project:
    """Which project a folder belongs to; worktrees and clones of one remote are one project."""

    __slots__ = ("branch", "key", "name", "remote", "root")

    def __init__(self, key: str, name: str, root: str, remote: str = "", branch: str = "") -> None:
        self.key = key
        self.name = name
        self.root = root
        self.remote = remote
        self.branch = branch


class Batch:
    """All rows of one event, or of a stretch of one transcript; stored in one transaction."""

    __slots__ = (
        "at", "client", "cwd", "drift", "observations", "origin", "project", "prompts", "redactions", "session",
        "session_id",
    )  # fmt: skip

    def __init__(self, client: str, session_id: str, at: int, cwd: str, origin: str = "hook") -> None:
        self.client = client
        self.session_id = session_id
        self.at = at
        self.cwd = cwd
        self.origin = origin
        """hook, import or demo."""
        self.project: Project | None = None
        """None: the store looks the folder up, and resolves it once if it is new."""
        self.session: dict[str, object] = {}
        """Columns of the session row that this batch knows; None never overwrites."""
        self.prompts: list[Prompt] = []
        self.observations: list[Observation] = []
        self.redactions: dict[str, int] = {}
        """How many secrets of each kind were taken out."""
        self.drift: tuple[str, ...] = ()
