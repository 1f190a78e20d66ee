"""Words the classifiers' features for people. An unknown feature is shown as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
