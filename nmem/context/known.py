"""Selects the learnings that match a session's prompt, failed commands and files. On the hook's path."""

from __future__ import annotations

from nmem.context import store
from nmem.context.items import LEARNING, Item
from nmem.sanitize import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from sqlite3 import Connection

    from nmem.context.present import Present

MOST = 3
ALIKE = 0.6
SHARED = 3
"""Words of a question that must be the same, and the share of both questions' words that they make up."""
BOUND = 320
SKILLED = 0.6
"""The score of a skill whose situation is at hand."""
OFTEN = 2
"""Sessions that something must have gone wrong in to be told without what puts it right."""
_LEAST = 4
"""Letters of a name that tells anything."""


def learnings(db: Connection, present: Present, files: Iterable[str]) -> list[Item]:
    """What is known of the commands, files and questions at hand, the hottest first; `files`: likely to be edited.

    Where nothing is asked yet, the hottest for which something is known that put them right. Raises sqlite3.Error.
    """
    rows = store.learnings(db, present.project_id)
    asked = Asked(present, files) if rows else None
    out: list[Item] = []
    said: list[str] = []
    way = 0
    for number, heat, phrases, names, words, about, told, remedied, sessions, skill in rows:
        if skill:
            reason = asked.calls_for(phrases, names, about) if asked and not way else ""
            if reason:
                way = number
                out.append(Item(f"learning/{number}", LEARNING, quoted(told, BOUND), score=SKILLED, reason=reason))
            continue
        if not remedied and sessions < OFTEN:
            continue
        reason = asked.meets(phrases, names, words, about) if asked else ""
        if not reason and not present.prompt and remedied:
            reason = "it often goes wrong here, and what puts it right is known"
        if any(told.endswith(one) or one.endswith(told) for one in said):
            continue  # the same trouble, found as a request that was made again
        if reason and len(out) < MOST + bool(way):
            said.append(told)
            score = min(1.0, 0.5 + heat / 200.0)
            out.append(Item(f"learning/{number}", LEARNING, quoted(told, BOUND), score=score, reason=reason))
    return out


def fact(title: str, sessions: int, remedy: str) -> str:
    """A learning in a sentence: what goes wrong, how often, and what put it right."""
    said = f"{title.rstrip('.')} (met in {sessions} session{'s' if sessions != 1 else ''})"
    return f"{said}; what put it right: {remedy.rstrip('.')}" if remedy else said


class Asked:
    """What learnings are compared with: the prompt's words, commands that failed, files at hand."""

    __slots__ = ("failures", "files", "line", "named", "tokens")

    def __init__(self, present: Present, files: Iterable[str]) -> None:
        from nmem.retrieval.terms import mentions, terms  # on use: start-up stays short

        words = [word.strip(".,;:!?()[]*`'\"") for word in present.prompt.lower().split()]
        self.line = f" {' '.join(words)} "
        self.tokens = set(terms(present.prompt)) if present.prompt else set()
        self.named = {*words, *(each.rpartition("/")[2] for each in mentions(present.prompt))}
        self.failures = [" ".join(each.lower().split()) for each in present.failures]
        self.files = {path.lower() for path in (*files, *present.hot_files)}

    def calls_for(self, phrases: str, steps: str, endings: str) -> str:
        """What of a skill's situation the prompt speaks of, in words, where such files were changed; else empty.

        Nothing where the prompt names a step itself: whoever types it knows it.
        """
        if any(f" {step} " in self.line for step in steps.split("\n") if " " in step):
            return ""
        some = endings.split("\n") if endings else []
        if some and not any(path.endswith(each) for path in self.files for each in some):
            return ""
        for phrase in phrases.split("\n") if phrases else ():
            if f" {phrase} " in self.line:
                return f"the prompt says `{phrase}`"
        return ""

    def meets(self, phrases: str, names: str, words: str, files: str) -> str:
        """What of a learning the present runs into, in words; empty when nothing does."""
        for phrase in phrases.split("\n") if phrases else ():
            if f" {phrase} " in self.line:
                return f"the prompt names `{phrase}`"
            if any(failure.startswith(phrase) for failure in self.failures):
                return f"`{phrase}` has failed in this session"
        for each in names.split("\n") if names else ():
            if len(each) >= _LEAST and each in self.named:
                return f"the prompt names {each}"
        theirs = set(words.split("\n")) if words else set()
        both = theirs & self.tokens
        if len(both) >= SHARED and len(both) >= ALIKE * len(theirs | self.tokens):
            return "the same is asked again"
        stuck = next((each for each in files.split("\n") if each in self.files), "") if files else ""
        return f"it was met in {stuck}" if stuck else ""
