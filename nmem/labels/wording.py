"""The classifiers' features in a person's words. One that is not known here is shown as it is."""

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
    "why": "why something is so", "ask": "a question", "wrong": "something broken", "survey": "an overview",
    "fix": "a repair", "make": "something made", "ship": "a commit, release or deploy", "check": "a check",
    "go": "to go on", "plan": "a plan", "none": "nothing in particular", "still": "what still does not work",
    "?": "an answer",
}  # fmt: skip
_PLAIN = {
    "failed": "the call failed", "external": "it reaches outside", "several": "several steps in one command",
    "hidden": "a hidden file", "calm": "no failure just before", "changed": "files were changed just before",
    "unchanged": "nothing was changed just before", "away": "it was outside just before",
    "failures": "several failures just before", "same>failed": "the file of the call that failed",
    "again>failed": "the command that failed, again", "like>failed": "much like the command that failed",
    "role>failed": "the same kind of call as the one that failed",
    "role>failed1": "the same kind of call as the last, which failed", "again": "the same command as before",
    "again2": "the same command as two calls ago", "again3": "the same command as three calls ago",
    "looking": "only looked so far", "retry": "another try", "unrepaired": "nothing was changed since it failed",
    "like": "the same program as before", "unlike": "no program used just before",
    "wide:**": "a pattern over all folders",
    "wide:*": "a pattern with a wildcard", "wide:|": "a pattern with alternatives", "wide:symbol": "searches one name",
    "wide:names": "searches names of files", "doing": "it does something", "broad": "it asks what there is",
    "near": "one of the two calls after it", "same>failed+near": "the file of a call that just failed",
    "kin>failed+near": "what just failed, run again", "mark:asks": "a server's tool that asks",
    "mark:does": "a server's tool that does something", "mark:afar sure": "about the world outside",
    "mark:afar maybe": "perhaps about the world outside", "asked afar": "the prompt is about the world outside",
    "asked afar sure": "the prompt is about the world outside",
    "asked afar maybe": "the prompt is perhaps about the world outside",
}  # fmt: skip
_SORTS = {"test": "a test", "plan": "a plan", "doc": "a document", "config": "configuration", "code": "code",
          "front": "a project's front page"}  # fmt: skip


_MARKS = {
    "chain": "of many steps", "fetched": "fetches something", "fix": "mends by itself", "heredoc": "text in it",
    "inline": "code within it", "long": "long", "loop": "a loop", "odd": "of an unusual program", "piped": "piped on",
    "redirect": "written to a file", "tmp": "in a temporary folder", "url": "an address in it",
    "version": "asks for a version or help",
}  # fmt: skip


def _failed(rest: str) -> str:
    role, _, more = rest.partition("+")
    return f"after a failed call: {_was(role)}" + (f"; {in_words(more)}" if more else "")


def _role(name: str) -> str:
    return _ROLES.get(name, name)


def _was(name: str) -> str:
    return f"“{_role(name)}”"


_BY_PREFIX: dict[str, Callable[[str], str]] = {
    "role:": _role,
    "does:": lambda rest: f"one step {_role(rest)}",
    "kind:": lambda rest: f"a call of the kind {rest.replace('_', ' ')}",
    "tool:": lambda rest: f"the tool {rest}",
    "head:": lambda rest: f"runs {rest}",
    "mark:": lambda rest: f"its command: {_MARKS.get(rest, rest)}",
    "failed:": _failed,
    "ext:": lambda rest: "a file without ending" if rest == "none" else f"a .{rest} file",
    "file:": lambda rest: f"its file is {_SORTS.get(rest, rest)}",
    "says:": lambda rest: f"it says “{rest}”",
    "word:": lambda rest: f"the prompt says “{rest}”",
    "wish:": lambda rest: f"the prompt wants {_WISHES.get(rest, rest)}",
    "first:": lambda rest: f"the prompt first wants {_WISHES.get(rest, rest)}",
    "size:": lambda rest: "no prompt" if rest == "none" else f"a {rest} prompt",
    "before:": lambda rest: "the first call of the session" if rest == "0" else f"only {rest} calls before it",
    "after:": lambda rest: "the last call failed" if rest == "1" else f"a call failed {rest} calls ago",
    "last:": lambda rest: f"just before: {_was(rest)}",
    "last2:": lambda rest: f"the call before the last: {_was(rest)}",
    "had:": lambda rest: f"among the last calls: {_was(rest)}",
    "last+": lambda rest: f"just before: {rest.replace('_', ' ')}",
    "opens+": lambda rest: f"opens the session, whose prompt wants {_WISHES.get(rest, rest)}",
    "named+": lambda rest: f"{_role(rest)} that the prompt names",
    "failed+": lambda rest: f"failed: {_was(rest)}",
    "run:": lambda rest: f"{rest[-1:]} calls in a row: {_was(rest[:-1])}",
    "same>": lambda rest: f"the file of an earlier call: {_was(rest)}",
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
    for mark, words in (("<<", "the call before the last: {}"), ("<", "after: {}")):
        role, found, other = feature.partition(mark)
        if found and role in _ROLES:
            return f"{_role(role)}; {words.format(_was(other))}"
    role, found, other = feature.partition(">")
    if found and role in _ROLES:
        place = {"new": "a file not touched just before", "near": "in the folder of an earlier call",
                 "far": "in another folder than before"}  # fmt: skip
        return f"{_role(role)}; {place.get(other) or ('a file touched just before' if other[:4] == 'same' else f'its file before: {_was(other)}')}"  # noqa: E501
    role, found, other = feature.partition("+")
    if found and role in _ROLES:
        return f"{_role(role)}; {_SORTS.get(other) or in_words(other)}"
    return ""


def list_of(features: Iterable[str]) -> tuple[str, ...]:
    """Features in words, none twice, in their order."""
    return tuple(dict.fromkeys(in_words(each) for each in features))
