"""Finds the earlier goal that a new episode resumes, by shared words and files. A rule set by hand, not fitted."""

from __future__ import annotations

from nmem.episodes import lexicon as lx
from nmem.episodes import text as tx
from nmem.episodes.features import INTENT_CHARS, covered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nmem.episodes.features import Agent

MENTION = 0.35
"""A file that the goal touched is named in the prompt."""
TOUCH = 0.35
"""Share of the turn's files that the goal touched."""
BACK_BONUS = 0.15
"""The prompt says that it goes back."""
FLOOR = 0.55
"""Below this nothing is resumed: a wrong link costs more than a missed one."""
_SAID = 0.7


class Goal:
    """One goal's turns, files and opening prompt; of the words only those are looked up that are asked for."""

    __slots__ = ("_turns", "files", "opened")

    def __init__(self, opened: int) -> None:
        self.opened = opened
        self.files: set[str] = set()
        self._turns: list[_Said] = []

    def learn(self, text: str, agent: Agent) -> None:
        """Take in one turn."""
        self._turns += (_Said(str(agent.get("said") or ""), _SAID), _Said(text, 1.0))
        self.files |= {tx.path_key(path) for path in agent.get("files") or ()}

    def words(self, wanted: set[str]) -> dict[str, float]:
        """What the wanted words weigh here: the person's count whole, and whoever said one last decides."""
        left = set(wanted)
        found: dict[str, float] = {}
        for said in reversed(self._turns):
            for word in said.among(left):
                found[word] = said.weight
            left -= found.keys()
            if not left:
                break
        return found


class _Said:
    """A text and its weight; it becomes words only when a wanted one may be in it."""

    __slots__ = ("_known", "_lower", "_text", "weight")

    def __init__(self, text: str, weight: float) -> None:
        self._text = text[: tx.MAX_CHARS]
        self.weight = weight
        self._lower = ""
        self._known: frozenset[str] | None = None

    def among(self, wanted: set[str]) -> frozenset[str] | set[str]:
        """Which of the wanted words it says."""
        if self._known is None:
            lower = self._lower = self._lower or self._text.lower()
            # a token is a piece of its lower-case text, but for letters that change with their neighbours
            if lower.isascii() and not any(word in lower for word in wanted):
                return frozenset()
            self._known = frozenset(tx.tokens(self._text))
        return self._known & wanted


class Goals:
    """The session's goals; a resumed one is continued, not copied."""

    __slots__ = ("common", "current", "goals")

    def __init__(self, common: frozenset[str] = frozenset()) -> None:
        self.common = common
        self.goals: list[Goal] = []
        self.current: Goal | None = None

    def add(self, index: int, text: str, agent: Agent, cut: bool, resumes: int | None) -> None:
        """Put a finished turn in the current, a resumed or a new goal."""
        if cut or self.current is None:
            self.follow(index if resumes is None else resumes, text, agent)
        else:
            self.current.learn(text, agent)

    def follow(self, opened: int, text: str, agent: Agent) -> None:
        """Put a finished turn in the goal that this prompt or episode opened."""
        self.current = next((goal for goal in self.goals if goal.opened == opened), None)
        if self.current is None:
            self.current = Goal(opened)
            self.goals.append(self.current)
        self.current.learn(text, agent)

    def nearness(self, goal: Goal, text: str, agent: Agent) -> float:
        """Shared words, named files, and (once the turn has ended) files touched."""
        head = text[:INTENT_CHARS]
        wanted = set(tx.tokens(head))
        score = covered(wanted, goal.words(wanted), self.common)
        names = {path.rsplit("/", 1)[-1] for path in goal.files}
        score += MENTION * bool(tx.file_mentions(head) & names)
        files = {tx.path_key(path) for path in agent.get("files") or ()}
        if files:
            score += TOUCH * len(files & goal.files) / len(files)
        return score

    def resumed(self, text: str, agent: Agent) -> int | None:
        """The opening prompt of the goal that this one returns to, or None."""
        older = [goal for goal in self.goals if goal is not self.current]
        if not older:
            return None
        back = any(word in text[:160].lower() for word in lx.BACK)
        best = max(older, key=lambda goal: self.nearness(goal, text, agent))
        score = self.nearness(best, text, agent) + BACK_BONUS * back
        here = self.nearness(self.current, text, agent) if self.current else 0.0
        return best.opened if score >= FLOOR and score >= here else None
