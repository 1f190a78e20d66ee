"""Turns a shell call into an observation: the command's type, and tests and commits from its output."""

from __future__ import annotations

from capture.event import FAILED, OK, UNKNOWN, Event, Observation
from capture.extract.outcome import exit_code, outcome, window
from capture.shell import RANK, Command, Step, message, parse
from capture.shell.tables import words
from capture.shell.wrappers import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.event import Project

_TEXT = 24_000
_JUDGED = frozenset(("build", "lint", "install"))


_EMPTY = words("grep egrep fgrep zgrep rg ripgrep ag ack findstr pgrep Select-String")
"""Programs that exit with 1 when they found nothing."""
_PATIENT = words("search read trivial")


def describe(event: Event, project: Project) -> list[Observation]:
    """The observation of a command; its outcome is the client's unless the exit status was lost on the way.

    A line that failed after it had committed is two: the commit, and what failed.
    """
    given = event.tool_input
    line = given.get("command")
    line = line if isinstance(line, str) else ""
    command = parse(line, event.tool_name == "PowerShell")
    seen = Observation(event.at, command.obs_type, line.strip()[:_TEXT] or event.tool_name, dedup_key="")
    if command.families:
        seen.metadata["families"] = list(command.families)
    seen.file_path = _file(event, project, command)
    for key in ("description", "cwd"):
        value = given.get(key)
        if isinstance(value, str) and value and value != event.cwd:
            seen.metadata[key] = value
    if given.get("background") is True:
        seen.metadata["background"] = True
    _facts(event, command, seen)
    seen.exit_code = exit_code(event)
    seen.outcome = UNKNOWN if event.refused else _settled(event, seen, command.masked)
    if seen.outcome == FAILED and not event.interrupted:
        if _found_nothing(event, seen, command):
            seen.outcome = OK
            seen.metadata["nothing_found"] = True
        elif rest := _after_commit(command, seen):
            return [seen, _failed_rest(event, seen, rest)]
    return [seen]


def _found_nothing(event: Event, seen: Observation, command: Command) -> bool:
    """Whether a search came out empty: exit code 1, not a word, and a grep whose status is the line's."""
    if seen.exit_code != 1 or event.output_text.strip() or not command.steps:
        return False
    last = command.steps[-1]
    argv = last.argv[1:] if last.argv[:2] == ["git", "grep"] else last.argv
    if last.simple.nested or not argv or program(argv[0]) not in _EMPTY:
        return False
    steps = command.steps[:-1]
    while steps and steps[-1].simple.after in ("&&", "|"):
        step = steps.pop()
        if step.simple.after == "&&" and not _PATIENT.issuperset(step.families):
            return False  # it may be this one that failed
    return True


def _after_commit(command: Command, seen: Observation) -> list[Step]:
    """What a line did after a commit that succeeded."""
    if seen.obs_type != "git_commit" or command.main is None or not _has(seen.metadata.get("commit"), "hash"):
        return []
    after = command.steps[command.steps.index(command.main) + 1 :]
    return [step for step in after if step.argv and step.families != ("trivial",)]


def _failed_rest(event: Event, seen: Observation, steps: list[Step]) -> Observation:
    """The part of a line that failed after its commit; the commit itself is well."""
    found = {family for step in steps for family in step.families}
    kind = next((rank for rank in RANK if rank in found), "command")
    rest = Observation(event.at, kind, " && ".join(" ".join(step.argv) for step in steps)[:_TEXT], dedup_key="")
    rest.outcome, rest.exit_code = FAILED, seen.exit_code
    seen.outcome, seen.exit_code = OK, 0
    rest.metadata["families"] = sorted({"git" if f.startswith("git_") else f for f in found})
    for key in ("push", "tests"):
        if key in seen.metadata:
            rest.metadata[key] = seen.metadata.pop(key)
    return rest


def _file(event: Event, project: Project, command: Command) -> str | None:
    """The file of a cat or a sed, from the folder that the command had gone to."""
    path, folder = command.file_path, command.folder
    if path is None or (folder is None and not path.startswith(("/", "~"))):
        return None
    from capture.extract.relative import relative  # on use: start-up stays short

    where = event.tool_input.get("cwd")
    base = relative(where, "", event.cwd, event.home) if isinstance(where, str) and where else event.cwd
    base = (relative(folder, "", base or "", event.home) if folder else base) or ""
    return relative(path, project.root, base, event.home)


def _facts(event: Event, command: Command, seen: Observation) -> None:
    """What the output tells of tests, commits and pushes."""
    done = {family for step in command.steps for family in step.families}
    if "git_commit" in done or "git_push" in done:
        from capture.extract.git_output import commit, push  # on use: start-up stays short

        out = window(event.output_text)
        if "git_commit" in done and (found := commit(out, event.output, message(command))):
            seen.metadata["commit"] = found
        if "git_push" in done and (pushed := push(out, event.output)):
            seen.metadata["push"] = pushed
    if "test" in done:
        from capture.extract.test_output import summary  # on use: start-up stays short

        if tests := summary(window(event.output_text)):
            seen.metadata["tests"] = tests


def _settled(event: Event, seen: Observation, masked: bool) -> str:
    """The outcome, where an ok may only mean that something after the command succeeded."""
    said = outcome(event, seen.exit_code)
    if said == FAILED or (said == OK and not masked):
        return said
    kind = seen.obs_type
    if kind == "test":
        found = _tested(seen.metadata.get("tests"))
    elif kind == "git_commit":
        found = OK if _has(seen.metadata.get("commit"), "hash") else UNKNOWN
    elif kind == "git_push":
        found = _pushed(seen.metadata.get("push"))
    elif kind in _JUDGED:
        found = UNKNOWN
    else:
        return said
    if found != UNKNOWN:
        return found
    from capture.extract.closing_output import verdict  # on use: start-up stays short

    return verdict(event.output_text, seen.content)


def _pushed(push: object) -> str:
    if _has(push, "rejected"):
        return FAILED
    return OK if _has(push, "range") or _has(push, "new_branch") or _has(push, "up_to_date") else UNKNOWN


def _tested(tests: object) -> str:
    if _has(tests, "failed") or _has(tests, "errors") or _has(tests, "packages_failed") or _has(tests, "failing"):
        return FAILED
    return OK if _has(tests, "passed") or _has(tests, "packages") else UNKNOWN


def _has(found: object, key: str) -> bool:
    return isinstance(found, dict) and bool(found.get(key))
