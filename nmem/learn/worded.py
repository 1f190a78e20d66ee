"""Reads which command a rule forbids or asks for from its words: a sentence goes in, a Worded or None comes out. Pure.

Only forms that name a command say something that records can bear out: never run X, use Y instead of X, run X before Y.
Whether the words are a command is said by the code span around them, or by the records: see nmem.read.lessons.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from capture import shell
from capture.shell.wrappers import program

Words = tuple[str, ...]

_RUN = r"(?:ever )?(?:run(?:ning)?|us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|execut(?:e|ing)|typ(?:e|ing)) "
_NOT = r"(?:never|do not|don[’']?t|avoid|stop)"
_RATHER = r"instead of|rather than|(?:and )?(?<!do )not|over"
_FORMS = tuple(
    re.compile(rf"^(?:please )?{each}", re.IGNORECASE)
    for each in (
        rf"(?:always |use |prefer |{_RUN})*(?P<good>.+?),? (?:{_RATHER}) (?:{_RUN})?(?P<bad>.+)$",
        rf"{_NOT} {_RUN}(?P<due>.+?) without (?:first )?(?:{_RUN})?(?P<first>.+)$",
        rf"{_NOT} (?P<due>commit(?:ting)?|push(?:ing)?)(?: \w+)* without (?:first )?(?:{_RUN})?(?P<first>.+)$",
        rf"(?:always )?{_RUN}(?P<first>.+?) before (?:you |each |every |a |any |{_RUN})*(?P<due>.+)$",
        rf"before (?:you |each |every |a |any |{_RUN})*(?P<due>.+?),? (?:always )?{_RUN}(?P<first>.+)$",
        rf"{_NOT} {_RUN}(?P<bad>.+)$",
    )
)
"""What is used instead of what; what is due only after what; what is never run."""
_SPAN = re.compile(r"`([^`]+)`")
_ENDS = re.compile(
    r"[,;:.!?](?=\s|$)|\s(?:for|in|on|when|whenever|because|if|to|and|or|as|while|since|so|but|that|which|before|after|"
    r"until|unless|every|each|directly|here|there|again)\b",
    re.IGNORECASE,
)
_PLAIN = frozenset(("test", "tests", "time", "type"))
"""Programs whose names are plain words: without a code span they are none."""
_FILLERS = frozenset("the a an command commands tool proper itself please plain any ever my our your".split())  # noqa: SIM905
_ACTS = {"commit": ("git", "commit"), "committing": ("git", "commit"), "commits": ("git", "commit"),
         "push": ("git", "push"), "pushing": ("git", "push")}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Worded:
    """What a rule says of commands, each as its words; empty where it says nothing of that."""

    bad: Words = ()
    """Not to be run."""
    good: Words = ()
    """To be run instead."""
    due: Words = ()
    """To be run only when `first` passed in the session before it."""
    first: Words = ()
    quoted: bool = False
    """The rule itself marks them as code."""

    @property
    def programs(self) -> set[str]:
        """The programs that the records must know for the rule to be about commands."""
        return {each[0] for each in (self.bad, self.due, self.first) if each}


def of(rule: str) -> Worded | None:
    """What a rule says; None where it names no command in a form that is known."""
    said = " ".join(rule.split())
    for form in _FORMS:
        if found := form.match(said):
            parts = {name: _words(text or "") for name, text in found.groupdict().items()}
            if parts.get("bad") or (parts.get("due") and parts.get("first")):
                return Worded(**parts, quoted="`" in said)
            return None
    return None


def _words(text: str) -> Words:
    """The words of a command as they begin a phrase."""
    span = _SPAN.search(text)
    plain = span[1] if span else _ENDS.split(text.strip(), maxsplit=1)[0]
    words = tuple(each.strip("\"'“”") for each in plain.split())
    words = words if span else tuple(each for each in words if each.lower() not in _FILLERS)
    if not words or span:
        return words
    first = words[0].lower()
    return _ACTS.get(first) or (() if first in _PLAIN else words)


def ran(words: Words, command: str, powershell: bool = False) -> bool:
    """Whether a command line runs this: the program, and all other words among its arguments in their order."""
    return any(_holds(words, step.argv) for step in shell.parse(command, powershell).steps)


def heads(command: str, powershell: bool = False) -> set[str]:
    """The programs of a command line."""
    return {program(step.argv[0]) for step in shell.parse(command, powershell).steps if step.argv}


def _holds(words: Words, argv: Sequence[str]) -> bool:
    if not words or not argv or program(argv[0]) != words[0]:
        return False
    rest = iter(argv[1:])
    return all(word in rest for word in words[1:])


def situation(words: Words) -> Words:
    """What is run where a forbidden option might have been given; empty where the command itself is forbidden."""
    plain = tuple(each for each in words if not each.startswith("-"))
    return plain if len(plain) < len(words) and plain else ()
