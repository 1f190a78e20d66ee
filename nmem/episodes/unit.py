"""Record classes of episodes, of their prompts and of the boundary decisions; light enough for hooks to import."""

from __future__ import annotations

from capture.event import STOPPED

NEW, SUB, CONT, ACK = "new", "sub", "cont", "ack"
FIRST, ONLINE, REVISED, LLM, AGENT, PERSON = "first", "online", "revised", "llm", "agent", "person"
OPEN, CLOSED = "open", "closed"
INTENT = 2_000
"""Characters of the opening prompt that are kept as the intent."""
BROKEN_OFF = f"(source = 'machine' AND content = '{STOPPED}')"
"""SQL, of a row of `prompts`: the mark that stands where a person broke a turn off."""
TITLED = """coalesce(
  (SELECT coalesce(u.title, u.agent_title, u.heading) FROM work_units u WHERE u.session_id = s.id
     AND coalesce(u.title, u.agent_title, u.heading) IS NOT NULL
     ORDER BY u.turn_count DESC, u.started_at, u.id LIMIT 1),
  (SELECT content FROM prompts WHERE session_id = s.id AND source = 'agent' AND kind = 'title'
     ORDER BY at DESC, id DESC LIMIT 1))
"""
"""The title of a session `s` (SQL): of its longest episode that has one, or what its client calls it."""
NAMED = """coalesce(
  (SELECT substr(content, 1, 400) FROM prompts WHERE session_id = s.id AND source = 'user'
     AND length(content) >= 16 AND content NOT GLOB '[<>/]*' ORDER BY at, id LIMIT 1),
  (SELECT substr(content, 1, 400) FROM prompts WHERE session_id = s.id AND source = 'user' ORDER BY at, id LIMIT 1))
"""
"""What a session `s` begins with (SQL): its first prompt that is no command, notice or mere word (`yes` could be any of
them), else its first."""

COLUMNS = (
    "id", "session_id", "thread_id", "first_prompt_id", "last_prompt_id", "started_at", "ended_at", "last_at",
    "active_ms", "active_at", "state", "intent", "title", "resumes", "cut_reason", "cut_confidence", "cut_by",
    "turn_count",
    "obs_count", "hot_files", "phase_signature", "fingerprint", "outcomes", "commits", "friction", "obs_trace",
    "annotated_seq", "annotated_prompt", "traced_seq", "checkpoint", "client_summary", "summary", "learned",
    "completed", "next_steps", "notes", "files_read", "files_edited", "narrator", "narrated_at", "pinned",
    "agent_title",
    "heading",
)  # fmt: skip


class Unit:
    """One episode, as its row says; the columns are described in nmem.store.schema. JSON columns are still text."""

    __slots__ = COLUMNS
    id: int
    session_id: str
    thread_id: int | None
    first_prompt_id: int
    last_prompt_id: int
    started_at: int
    ended_at: int | None
    last_at: int
    active_ms: int
    active_at: int
    state: str
    intent: str
    title: str | None
    resumes: int | None
    cut_reason: str
    cut_confidence: float
    cut_by: str
    turn_count: int
    obs_count: int
    hot_files: str
    phase_signature: str
    fingerprint: str
    outcomes: str
    commits: str
    friction: float | None
    obs_trace: str
    annotated_seq: int
    annotated_prompt: int
    traced_seq: int
    checkpoint: str | None
    client_summary: str | None
    summary: str | None
    learned: str | None
    completed: str | None
    next_steps: str | None
    notes: str | None
    files_read: str | None
    files_edited: str | None
    narrator: str | None
    narrated_at: int | None
    pinned: int
    agent_title: str | None
    heading: str | None

    def __init__(self, row: tuple[object, ...]) -> None:
        for name, value in zip(COLUMNS, row, strict=True):
            setattr(self, name, value)


class Verdict:
    """What was decided about one prompt: its label, how sure, why, by whom, and whether to ask the person."""

    __slots__ = ("by", "label", "offered", "reason", "score")

    def __init__(
        self, label: str, by: str, score: float | None = None, reason: str = "", offered: bool = False
    ) -> None:
        self.label = label
        self.by = by
        self.score = score
        """Probability of `new`; None when nothing was computed."""
        self.reason = reason
        self.offered = offered

    def same(self, other: Verdict) -> bool:
        """Whether both say the same."""
        return self._said() == other._said()

    def _said(self) -> tuple[object, ...]:
        return self.label, self.by, self.score, self.reason, self.offered


class UnitPrompt:
    """A user prompt in its episode."""

    __slots__ = ("at", "id", "unit_id", "verdict")

    def __init__(self, row: tuple[int, int, int, str, float | None, str, str, int]) -> None:
        self.id, self.at, self.unit_id = row[:3]
        label, score, reason, by, offered = row[3:]
        self.verdict = Verdict(label, by, score, reason, bool(offered))


def shown(given: str | None, heading: str | None, intent: str) -> str:
    """What an episode is called: a given name, the title that was made, and where there is none yet, its prompt's."""
    if given or heading or not intent:
        return given or heading or ""
    from nmem.episodes.titles import of_prompt  # on use: start-up stays short

    return of_prompt(intent)
