"""Registry of the kinds of learnings (failing command, repeated request, skill): modules, order and wording.

A module lists its kinds as KINDS; nothing else names it. The words of those that nmem brings along stand here, so that
a screen that shows learnings need not load what finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from nmem.learn.learning import (
    CORRECTION,
    FAILED_COMMAND,
    RECURRING_ERROR,
    REPEATED_INTENT,
    SKILL,
    STUCK_LOOP,
    UNRESOLVED_READ,
    Learning,
)
from nmem.text import printable

if TYPE_CHECKING:
    from nmem.learn.find import Finding
    from nmem.learn.patterns import Pattern, Project
    from nmem.learn.rows import Row, Said


@dataclass(frozen=True, slots=True)
class Words:
    """How a kind is worded, wherever it is shown."""

    label: str
    """What it is: `failing command`."""
    short: str
    """The same in a few cells: `fails`."""
    tone: str
    """The tone of its short word, a name of nmem_tui.model.line."""
    before: str
    """What an episode that runs into it again is told: `failed before`."""
    sentence: str
    """What it says, with {often} for `4 times in 3 sessions`."""


_KNOWN = {
    STUCK_LOOP: Words("stuck loop", "stuck", "bad", "stuck before", "Work went round in circles on it {often}."),
    FAILED_COMMAND: Words("failing command", "fails", "run", "failed before", "The command failed {often}."),
    RECURRING_ERROR: Words("recurring error", "error", "warn", "error seen before", "The same error came {often}."),
    CORRECTION: Words("your rule", "rule", "user", "ruled before", "You said so {often}."),
    REPEATED_INTENT: Words(
        "asked again", "asked", "user", "asked before", "It was asked for {often}, in words that mean the same."
    ),
    UNRESOLVED_READ: Words(
        "still unsettled", "open", "look", "unsettled before",
        "It was looked into or reported {often}, and nothing settled it.",
    ),
    SKILL: Words("skill", "skill", "good", "done before", "These commands were run in this order {often}."),
}  # fmt: skip
"""In the order in which learnings of equal heat are listed; a skill is what goes well, and is listed apart."""
_MODULES = ("failing", "asking", "said", "skills", "stuck")
"""The modules of those, in the order in which they conclude: what is stuck is seen in what the others found."""


@dataclass(frozen=True)
class Kind:
    """What sessions say of one kind of learning, and what is made of it. Its functions are pure."""

    name: str
    """As it stands in the database."""
    words: Words | None = None
    """Needed where nmem does not bring the kind along."""
    find: Callable[[Sequence[Row], Sequence[Said]], Iterable[Finding]] = lambda _rows, _said: ()
    """What one session says, from its calls and the person's prompts in their order."""
    conclude: Callable[[Project, Sequence[Pattern]], list[Pattern]] = lambda _project, _found: []
    """What the sessions of a project say together, beside what the kinds before this one found.

    A pattern with `fixes` is resolved once it stays away, and open again when it comes back; `remedy` is what helped.
    """
    rule: Callable[[Learning], str] = lambda _learning: ""
    """The line that it becomes in a project's instructions; empty: a general one."""


@cache
def _others() -> tuple[Kind, ...]:
    """The kinds of modules that nmem does not bring along."""
    names = sorted(each.name for each in iter_modules(__path__) if each.name not in _MODULES)
    return tuple(kind for name in names for kind in _kinds(name))


def _kinds(module: str) -> tuple[Kind, ...]:
    found: tuple[Kind, ...] = import_module(f"{__name__}.{module}").KINDS
    return found


def every() -> list[Kind]:
    """All kinds, in the order in which they conclude."""
    return [*(kind for module in _MODULES for kind in _kinds(module)), *_others()]


def names() -> tuple[str, ...]:
    """All kinds by name, in the order in which they are listed at equal heat."""
    return (*_KNOWN, *(kind.name for kind in _others()))


def problems() -> tuple[str, ...]:
    """All but skills: what goes wrong, is asked again or was put right by the person."""
    return tuple(name for name in names() if name != SKILL)


def words(name: str) -> Words:
    """How a kind is worded; one whose module is gone is called by its name."""
    found = _KNOWN.get(name) or next((kind.words for kind in _others() if kind.name == name), None)
    said = printable(name)
    return found or Words(said, said[:6], "quiet", "met before", "It was met {often}.")


def rule(learning: Learning) -> str:
    """What a kind that nmem does not bring along makes of a learning; empty for all others."""
    return next((kind.rule(learning) for kind in _others() if kind.name == learning.kind), "")


def patterns(project: Project) -> list[Pattern]:
    """All patterns of a project, in a stable order."""
    from nmem.learn.patterns import settle  # on use: start-up stays short

    found: list[Pattern] = []
    for kind in every():
        found += kind.conclude(project, found)
    for one in found:
        if not one.weak:
            settle(one, project)
    unique: dict[tuple[str, str], Pattern] = {}
    for one in sorted(found, key=lambda one: (one.kind, one.key, one.weak)):
        unique.setdefault((one.kind, one.key), one)
    return list(unique.values())
