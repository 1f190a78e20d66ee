"""Parses which model or person gave each label (`label_model`), and words the classifiers' features.

`3b86f8ce6e20` is the model of all five dimensions. `~scope:77ab01c2d3e4` behind it: another model gave that one.
`+phase,scope` at the end: a person decided these, and nothing but the person changes them. Empty: nobody gave any;
nothing before the `~`: nobody gave the others yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from capture.labels import DIMENSIONS


@dataclass(slots=True)
class Origin:
    """Who gave each dimension; `own` are the person's."""

    base: str = ""
    others: dict[str, str] = field(default_factory=dict)
    """Dimension -> model, where it is not `base`."""
    own: set[str] = field(default_factory=set)

    def of(self, dimension: str) -> str:
        """The model behind a dimension; where a person decided, the one that would speak otherwise."""
        return self.others.get(dimension, self.base)

    def give(self, dimension: str, model: str) -> None:
        """A model has given this dimension now."""
        self.others[dimension] = model
        left = {name: self.of(name) for name in DIMENSIONS if name not in self.own}
        givers = set(left.values())
        if len(givers) == 1:
            self.base, self.others = givers.pop(), {}
        elif not self.base and "" not in givers:
            self.base, self.others = model, {name: giver for name, giver in left.items() if giver != model}

    def text(self) -> str | None:
        """As it is stored."""
        others = [f"{name}:{self.others[name]}" for name in DIMENSIONS
                  if name in self.others and name not in self.own and self.others[name] != self.base]  # fmt: skip
        own = [name for name in DIMENSIONS if name in self.own]
        said = self.base + ("~" + ",".join(others) if others else "") + ("+" + ",".join(own) if own else "")
        return said or None


def read(text: str | None) -> Origin:
    """What a row says; what is no dimension is passed over."""
    models, _, own = (text or "").partition("+")
    base, _, others = models.partition("~")
    pairs = (each.partition(":") for each in others.split(",") if others)
    known = {name: model for name, _, model in pairs if name in DIMENSIONS}
    return Origin(base, known, {name for name in own.split(",") if name in DIMENSIONS})


_ROLES = {
    "read": "reads a file", "write": "writes a file", "edit": "edits a file", "check": "runs a check",
    "install": "installs", "commit": "commits", "push": "pushes", "delegate": "hands work to a subagent",
    "explore": "sends a subagent to look", "skill": "uses a skill", "web": "goes to the web", "mcp": "calls a server",
    "ask": "asks the user", "plan": "writes a plan", "todo": "keeps its list of tasks", "other": "uses another tool",
    "see": "looks at the state of things", "search": "searches", "stage": "stages changes", "sync": "pulls or fetches",
    "branch": "moves branches or history", "change": "changes files by a command", "stop": "stops a process",
    "script": "runs a script", "serve": "starts a service", "run": "runs a command", "hub": "acts on a code host",
}  # fmt: skip
_WISHES = {
    "why": "asks why something is so", "ask": "asks a question", "wrong": "says that something is broken",
    "survey": "asks for an overview", "fix": "asks for a repair", "make": "asks to make something",
    "ship": "asks for a commit, release or deploy", "check": "asks for a check", "go": "says to go on",
    "plan": "asks for a plan", "none": "asks for nothing in particular", "still": "says that something still fails",
    "?": "has a question mark",
}  # fmt: skip
_PLAIN = {
    "failed": "the call failed", "external": "reaches outside", "several": "several steps in one command",
    "hidden": "a hidden file", "calm": "no failure just before", "changed": "files were changed just before",
    "unchanged": "nothing was changed just before", "away": "it was outside just before",
    "failures": "several failures just before", "same>failed": "the file of the call that failed",
    "again>failed": "the command that failed, again", "like>failed": "much like the command that failed",
    "role>failed": "the same kind of call as the one that failed",
    "role>failed1": "the same kind of call as the last, which failed", "again": "the same command as before",
    "again2": "the same command as two calls ago", "again3": "the same command as three calls ago",
    "looking": "nothing but looking before", "retry": "another try",
    "unrepaired": "nothing was changed since a failure",
    "like": "the program of a call just before", "unlike": "another program than just before",
    "unchanged long": "nothing was changed for a long time",
    "wide:**": "a pattern over all folders",
    "wide:*": "a pattern with a wildcard", "wide:|": "a pattern with alternatives", "wide:symbol": "searches one name",
    "wide:names": "searches names of files", "doing": "does more than look", "broad": "asks what there is",
    "near": "one of the two calls after a failure", "same>failed+near": "the file of a call that just failed",
    "kin>failed+near": "what just failed, run again", "mark:asks": "a server's tool that asks",
    "mark:does": "a server's tool that does something", "mark:afar sure": "about the world outside",
    "mark:afar maybe": "perhaps about the world outside", "asked afar": "the prompt is about the world outside",
    "asked afar sure": "the prompt is about the world outside",
    "asked afar maybe": "the prompt is perhaps about the world outside",
}  # fmt: skip
_SORTS = {"test": "a test", "plan": "a plan", "doc": "a document", "config": "configuration", "code": "code",
          "front": "a project's front page"}  # fmt: skip


_MARKS = {
    "chain": "has many steps", "fetched": "fetches something", "fix": "mends by itself", "heredoc": "holds a text",
    "inline": "holds code", "long": "is long", "loop": "is a loop", "odd": "is an unusual program",
    "piped": "hands its output on", "redirect": "writes to a file", "tmp": "is about a temporary folder",
    "url": "names an address", "version": "asks for a version or help",
}  # fmt: skip


def _failed(rest: str) -> str:
    role, _, more = rest.partition("+")
    return f"{_role(role)} after a failed call" + (f", {in_words(more)}" if more else "")


def _role(name: str) -> str:
    return _ROLES.get(name, name)


_BY_PREFIX: dict[str, Callable[[str], str]] = {
    "role:": _role,
    "does:": lambda rest: f"one of its steps {_role(rest)}",
    "kind:": lambda rest: f"recorded as {rest.replace('_', ' ')}",
    "tool:": lambda rest: f"the tool {rest}",
    "head:": lambda rest: f"runs {rest}",
    "mark:": lambda rest: f"its command {_MARKS.get(rest, rest)}",
    "failed:": _failed,
    "ext:": lambda rest: "a file without ending" if rest == "none" else f"a .{rest} file",
    "file:": lambda rest: f"its file is {_SORTS.get(rest, rest)}",
    "says:": lambda rest: f"says “{rest}”",
    "word:": lambda rest: f"the prompt says “{rest}”",
    "wish:": lambda rest: f"the prompt {_WISHES.get(rest, rest)}",
    "first:": lambda rest: f"the prompt first {_WISHES.get(rest, rest)}",
    "size:": lambda rest: "no prompt" if rest == "none" else f"a {rest} prompt",
    "before:": lambda rest: f"only {rest} call{'s' * (rest > '1')} before" if rest > "0" else "the session's first",
    "after:": lambda rest: "the last call failed" if rest == "1" else f"a call failed {rest} calls ago",
    "last:": lambda rest: f"the call before {_role(rest)}",
    "last2:": lambda rest: f"two calls before: {_role(rest)}",
    "had:": lambda rest: f"one of the last four calls {_role(rest)}",
    "last+": lambda rest: f"the call before was recorded as {rest.replace('_', ' ')}",
    "opens+": lambda rest: f"the first call, and the prompt {_WISHES.get(rest, rest)}",
    "named+": lambda rest: f"{_role(rest)}, which the prompt names",
    "failed+": lambda rest: f"{_role(rest)}, and that failed",
    "run:": lambda rest: f"{rest[-1:]} calls in a row, each {_role(rest[:-1])}",
    "same>": lambda rest: f"the file of an earlier call, which {_role(rest)}",
}  # fmt: skip


def in_words(feature: str) -> str:
    """One feature as a person reads it."""
    if feature in _PLAIN:
        return _PLAIN[feature]
    for prefix, said in _BY_PREFIX.items():
        if feature.startswith(prefix):
            return said(feature[len(prefix) :])
    return _joined(feature) or feature


def _joined(feature: str) -> str:
    """Two facts in one: what the call does, and what goes with it."""
    for mark, words in (("<<", "two calls before: {}"), ("<", "the call before {}")):
        role, found, other = feature.partition(mark)
        if found and role in _ROLES:
            return f"{_role(role)}; {words.format(_role(other))}"
    role, found, other = feature.partition(">")
    if found and role in _ROLES:
        place = {"new": "a file not touched just before", "near": "in the folder of an earlier call",
                 "far": "in another folder than before"}  # fmt: skip
        return f"{_role(role)}; {place.get(other) or ('a file touched just before' if other[:4] == 'same' else f'its file before: {_role(other)}')}"  # noqa: E501
    role, found, other = feature.partition("+")
    if found and role in _ROLES:
        return f"{_role(role)}; {_SORTS.get(other) or in_words(other)}"
    return ""


def list_of(features: Iterable[str]) -> tuple[str, ...]:
    """Features in words, none twice, in their order."""
    return tuple(dict.fromkeys(in_words(each) for each in features))
