"""MCP prompts: slash commands that clients offer a person, such as /when and /how."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prompt:
    """A command; `takes` names what may stand after it, which goes where the request says {0}."""

    name: str
    says: str
    takes: str
    request: str
    bare: str
    """The request when nothing stands after the command."""

    def text(self, given: str) -> str:
        """The request, with what was typed after the command."""
        return self.request.replace("{0}", given.strip()) if given.strip() else self.bare


_SHORT = "Say it in a few lines, with the ids you rely on."
PROMPTS = {
    each.name: each
    for each in (
        Prompt(
            "recall", "what earlier sessions found out about something", "about",
            f"Ask nmem (search, then get the best): what did earlier sessions do, decide, learn of {{0}}? {_SHORT}",
            f"Ask nmem (session_summaries, episodes): what was worked on last in this project? What is left? {_SHORT}",
        ),
        Prompt(
            "resume", "where earlier work stopped, and what is next", "task",
            f"Ask nmem (episodes, timeline): where did the work on {{0}} stop, what failed, what is next? {_SHORT}",
            f"Ask nmem (session_summaries, timeline): where did the last session stop? What is next? {_SHORT}",
        ),
        Prompt(
            "mark", "keep a note for later sessions", "text",
            "Keep this with nmem's mark: as a decision if it says what was decided and why, as a rollback if it is a "
            "state to come back to, else as a note: {0}",
            "Keep with nmem's mark, as a decision each, what was decided in this session and why.",
        ),
    )
}  # fmt: skip
