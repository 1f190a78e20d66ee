"""What a prompt points at by itself: the number of an issue, a time, the latest changes (SQL). On the hook's path."""

from __future__ import annotations

from nmem.episodes.text import words
from nmem.retrieval import engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.context.present import Present

SAYS = 1.1
"""What it says of an episode that it was when the prompt says, where its words speak of the same."""
_HOUR = 3_600_000
_YESTERDAY = frozenset(("yesterday", "gestern", "ayer", "ontem", "ieri", "gisteren", "어제", "昨日", "昨天"))
_TODAY = ("earlier today", "this morning", "heute morgen", "heute früh", "esta mañana", "ce matin")
_LATEST = (
    "last commit", "latest commit", "previous commit", "last change", "latest change", "recent change",
    "changes in this branch", "changes in the branch", "changes in the local branch", "changes on this branch",
    "changes of this branch", "in this branch", "on this branch", "updates in the branch", "branch changes",
    "last session", "previous session", "letzten commit", "letzte änderung", "dernier commit", "último commit",
)  # fmt: skip
_OPENING = 400
"""Characters of a prompt in which a word of time says when the work was."""
_LONGEST = 40
"""Words; a longer prompt says more than that."""
_DIGITS = 4
"""A shorter number stands for too much else: it must be called an issue in what the person said."""
_NUMBERS, _EACH, _MANY = 3, 2, 12
"""Numbers that are looked up, episodes that are told of each, and those beyond which it is no issue's."""
_BEFORE = ("/issues/", "/pull/", "/pulls/", "/merge_requests/", "#")
_CALLED = frozenset(("issue", "issues", "pr", "pull", "request", "ticket", "bug", "mr"))


def window(prompt: str) -> tuple[int, int] | None:
    """How long ago the work lies that a prompt points at by a word of time, from and to, in milliseconds."""
    if any(word in _YESTERDAY for word in words(prompt[:_OPENING])):
        return 4 * _HOUR, 48 * _HOUR
    low = prompt[:_OPENING].lower()
    return (0, 16 * _HOUR) if any(part in low for part in _TODAY) else None


def latest(prompt: str) -> str:
    """The words by which a prompt points at the newest work as such; empty without any."""
    low = " ".join(prompt.lower().split())
    if len(low.split(" ")) > _LONGEST:
        return ""
    return next((part for part in _LATEST if part in low), "")


def numbers(prompt: str) -> list[str]:
    """The numbers of issues and pull requests that a prompt names, the first ones."""
    out: dict[str, None] = {}
    before = ""
    for raw in prompt[:4_000].lower().split():
        word = raw.strip(".,;:!?()[]{}<>\"'`")
        number = word
        for mark in _BEFORE:
            at = word.find(mark)
            if at >= 0:
                tail = word[at + len(mark) :]
                number = tail[: next((end for end, char in enumerate(tail) if not char.isdigit()), len(tail))]
                break
        else:
            if before not in _CALLED:
                number = ""
        if number.isascii() and number.isdigit() and len(out) < _NUMBERS:
            out[number] = None
        before = word
    return list(out)


def numbered(db: Connection, present: Present) -> list[tuple[int, int]]:
    """Episodes that speak of an issue or a pull request which the prompt names: id and when. Raises sqlite3.Error."""
    out: dict[int, int] = {}
    for number in numbers(present.prompt):
        found = engine.related(db, present.project_id, number, _MANY, before=present.at)
        sure = found if len(number) >= _DIGITS else [one for one in found if _says(db, one.unit_id, number)]
        if len(found) < _MANY:
            out |= {one.unit_id: one.at for one in sorted(sure, key=lambda one: -one.at)[:_EACH]}
    return list(out.items())


def _says(db: Connection, unit_id: int, number: str) -> bool:
    """Whether the person named the number in an episode."""
    rows = db.execute(
        "SELECT substr(p.content, 1, 4000) FROM unit_prompts u JOIN prompts p ON p.id = u.prompt_id"
        " WHERE u.unit_id = ? AND instr(p.content, ?) > 0 LIMIT 8",
        (unit_id, number),
    )
    return any(number in numbers(str(text)) for (text,) in rows.fetchall())
