"""Finds what a prompt points at: issue, branch, last commit, review; a span of time. On the hook's path."""

from __future__ import annotations

from nmem.context import selection_store
from nmem.episodes.text import words
from nmem.retrieval import engine
from nmem.threads.config import TRUNKS

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
_COMMITS = ("last commit", "latest commit", "previous commit", "letzten commit", "dernier commit", "último commit")
_REVIEWS = (
    "pr comment", "pr review", "pr feedback", "comments on the pr", "comment on the pr", "comments in the pr",
    "pull request comment", "pull request review", "comments on the pull request", "comment on the pull request",
    "review comment", "reviewer comment", "review feedback", "pr-kommentar", "comentarios del pr",
)  # fmt: skip
_SENT = ("git push", "gh pr create", "gh pr edit", "glab mr create")
"""Commands by which work is sent to a review."""
_RECENT, _ON_TRUNK, _ON_A_BRANCH = 48 * _HOUR, 2 * _HOUR, 30 * 24 * _HOUR
"""How long ago the last commit or what is reviewed may lie on the session's own branch, and on a trunk, where others
commit as well; and the work on a branch that the prompt names."""
_NEWEST, _BRANCHES = 12, 16
"""Sessions among which the commit or the push is looked for; words that may be names of branches."""
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


def pointed(db: Connection, present: Present) -> tuple[int, str] | None:
    """The episode that a prompt points at outright, and how: of a branch that it names, of the last commit, of what was
    sent to a review last. Raises sqlite3.Error."""
    low = " ".join(present.prompt.lower().split())
    if found := _on_a_branch(db, present):
        return found
    if len(low.split(" ")) > _LONGEST:
        return None
    if said := next((part for part in _COMMITS if part in low), ""):
        return _newest(db, present, (), f"the prompt points at the last commit (“{said}”)")
    if said := next((part for part in _REVIEWS if part in low), ""):
        return _newest(db, present, _SENT, f"the prompt points at what was sent to a review (“{said}”)")
    return None


def _on_a_branch(db: Connection, present: Present) -> tuple[int, str] | None:
    """The latest episode on a branch that the prompt gives by its name."""
    said = (word.strip(".,;:!?()[]{}<>\"'`") for word in present.prompt[:_OPENING].split())
    names = (word for word in said if ("-" in word[1:-1] or "/" in word[1:-1]) and not _is_file(word))
    named = list(dict.fromkeys(names))[:_BRANCHES]
    if not named:
        return None
    since = present.at - _ON_A_BRANCH
    row = selection_store.latest_on(db, present.project_id, present.session_id, named, since, present.at)
    return (row[0], f"the prompt names branch {row[1]}") if row else None


def _is_file(word: str) -> bool:
    """Whether a name ends as files do: all sessions of a project would be looked through for a branch called so."""
    ending = word.rpartition(".")[2]
    return ending != word and ending.isalpha() and len(ending) <= 4


def _newest(db: Connection, present: Present, sent: tuple[str, ...], reason: str) -> tuple[int, str] | None:
    """The newest episode that pushed or ran one of `sent`, else that committed: on the branch, unless it is a trunk."""
    own = present.branch if present.branch not in TRUNKS else ""
    since = present.at - (_RECENT if own else _ON_TRUNK)
    where = present.project_id, present.session_id, own
    number = selection_store.latest_sent(db, *where, since, present.at, _NEWEST, sent)
    return (number, reason) if number is not None else None


def numbers(prompt: str) -> list[str]:
    """The numbers of issues and pull requests that a prompt names, the first ones."""
    out: dict[str, None] = {}
    before = ""
    for raw in prompt[:4_000].lower().split():
        word = raw.strip(".,;:!?()[]{}<>\"'`")
        if word.isalpha():  # nearly all words are letters alone, and name no number
            before = word
            continue
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
        sure = [one for one in found if len(number) >= _DIGITS or _says(db, one.unit_id, number)]
        if len(found) < _MANY:
            out |= {one.unit_id: one.at for one in sorted(sure, key=lambda one: -one.at)[:_EACH]}
    return list(out.items())


def _says(db: Connection, unit_id: int, number: str) -> bool:
    """Whether the person named the number in an episode."""
    return any(number in numbers(text) for text in selection_store.prompts_with(db, unit_id, number))
