"""Classifies a shell command (git, test, build, search ...) by its tokens, never by its text.

Quoted text, heredocs and comments are no commands; `bash -c '...'` is looked into; `cd` is followed.
"""

from __future__ import annotations

from capture.shell.families import families, git, positionals
from capture.shell.scan import Simple, scan
from capture.shell.tables import words
from capture.shell.wrappers import program, unwrap

WINDOW = 16_384
"""Characters of a command that are read; what follows does not change what it is."""
_KEPT = 2_048
"""Command lines that are remembered: whoever settles a session asks for each of its lines several times."""
_known: dict[tuple[str, bool], Command] = {}

RANK = ("git_commit", "git_push", "test", "build", "lint", "install", "github", "git_other")
_SHELLS = words("bash sh zsh dash ksh fish pwsh powershell cmd eval su nix-shell")
_QUIET = words("search read write edit trivial")
_GO = words("cd pushd Set-Location")
_FILTERS = words("sort uniq cut tr nl fold fmt rev paste join comm cat tee more less python python3 node base64")
_TYPES = {"search": "search", "read": "file_read", "write": "file_write", "edit": "file_edit"}
_SCRIPT_FIRST = words("sed gsed awk gawk jq yq perl")
_VALUED = {
    "head": ("-n", "-c"), "tail": ("-n", "-c"), "sed": ("-e", "-f", "-E"), "grep": ("-e", "-A", "-B", "-C", "-m"),
    "jq": ("--arg",), "awk": ("-F", "-v"), "bat": ("-r", "-l", "-p"),
}  # fmt: skip


class Step:
    """One command of the line with its wrappers off, and the folder it runs in."""

    __slots__ = ("argv", "families", "folder", "simple")

    def __init__(self, argv: list[str], simple: Simple, found: tuple[str, ...], folder: str | None) -> None:
        self.argv = argv
        self.simple = simple
        self.families = found
        self.folder = folder


class Command:
    """What a whole command line does."""

    __slots__ = ("families", "file_path", "folder", "main", "masked", "obs_type", "steps")

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        self.obs_type = "command"
        self.main: Step | None = None
        """The step that gives the command its type."""
        self.families: tuple[str, ...] = ()
        """All families of the line, sorted."""
        self.file_path: str | None = None
        """The file that is read or written, as it was typed; None when there is none or it is computed."""
        self.folder: str | None = ""
        """Where that file stands: "" the session's folder, else what `cd` said; None: not to be known."""
        self.masked = False
        """The main step's exit status is lost: it is piped on, or something else runs after it whatever it does."""


def parse(text: str, powershell: bool = False) -> Command:
    """Read a command line; any text gives a Command, which is for reading only: the same text gives the same one."""
    key = text[:WINDOW], powershell
    found = _known.get(key)
    if found is None:
        if len(_known) >= _KEPT:
            _known.clear()
        found = _known[key] = _parsed(*key)
    return found


def _parsed(text: str, powershell: bool) -> Command:
    steps = _steps(scan(text, powershell), powershell)
    command = Command(steps)
    found: set[str] = set()
    for step in steps:
        if not (step.simple.nested and _QUIET.issuperset(step.families)):
            found.update(step.families)
    found.discard("trivial")
    if found:
        command.families = tuple(sorted({"git" if f.startswith("git_") else f for f in found}))
    for rank in RANK if found else ():
        if rank in found:
            command.obs_type = rank
            command.main = next(step for step in steps if rank in step.families)
            command.masked = _masked(steps, steps.index(command.main))
            return command
    _quiet(command)
    return command


def _steps(simples: list[Simple], powershell: bool) -> list[Step]:
    out: list[Step] = []
    folders: list[tuple[int, str | None]] = [(0, "")]
    for simple in _unfold(simples, powershell, 0):
        while len(folders) > 1 and folders[-1][0] > simple.level:
            folders.pop()
        argv = simple.unwrapped
        name = program(argv[0]) if argv else ""
        found = families(argv) if argv and argv[0] else ()
        if name in _GO and not simple.nested:
            folders.append((simple.level, _moved(folders[-1][1], argv)))
        if simple.writes and found in ((), ("read",), ("trivial",)) and _kept(simple):
            found = ("write",) if name in ("cat", "echo", "printf") else found
        elif found == ("read",) and simple.body and len(argv) == 1:
            found = ("trivial",)  # it prints its own heredoc
        elif argv and argv[0] == "tee" and len(argv) > 1 and not argv[-1].startswith("/dev"):
            found = ("write",)
        out.append(Step(argv, simple, found, folders[-1][1]))
    return out


def _kept(simple: Simple) -> bool:
    return any(not target.startswith("/dev/") for target in simple.writes)


def _moved(folder: str | None, argv: list[str]) -> str | None:
    """The folder after a cd; None when it is computed."""
    target = next((word for word in argv[1:] if not word.startswith("-")), "~")
    if "$" in target or "`" in target or folder is None or "-" in argv[1:2]:
        return None
    if target.startswith(("/", "~", "\\")) or target[1:2] == ":":
        return target
    return f"{folder}/{target}" if folder else target


def _unfold(simples: list[Simple], powershell: bool, depth: int) -> list[Simple]:
    """Put the commands of `bash -c '...'` in the place of the call."""
    out: list[Simple] = []
    for simple in simples:
        simple.unwrapped = unwrap(simple.argv) if simple.argv else []
        script = _script(simple.unwrapped) if depth < 3 else None
        if script is None:
            out.append(simple)
            continue
        inner = _unfold(scan(script, powershell), powershell, depth + 1)
        for one in inner:
            one.level += simple.level + 1
            one.nested = one.nested or simple.nested
        if inner:
            inner[-1].after = simple.after
        out += inner
    return out


def _script(plain: list[str]) -> str | None:
    """The text that a shell is told to run."""
    name = program(plain[0]) if plain else ""
    if name not in _SHELLS:
        return None
    if name == "eval":
        return " ".join(plain[1:])
    for at, word in enumerate(plain[1:-1], 1):
        lower = word.lower()
        if lower in ("/c", "-command", "--run", "--command", "/s"):
            return " ".join(plain[at + 1 :]) if name in ("cmd", "pwsh", "powershell") else plain[at + 1]
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            return plain[at + 1]
        if not word.startswith("-"):
            return None
    return None


def _masked(steps: list[Step], at: int) -> bool:
    """Whether the line can succeed although this step fails."""
    if len(steps) == 1:  # as most are
        return steps[0].simple.after == "|" or steps[0].simple.nested
    if any("pipefail" in step.argv for step in steps[:at]) and steps[at].simple.after == "|":
        pass
    elif steps[at].simple.after == "|" or steps[at].simple.nested:
        return True
    if any(
        step.argv[:1] == ["set"] and any(w.startswith("-") and "e" in w for w in step.argv[1:2]) for step in steps[:at]
    ):
        return False
    while at + 1 < len(steps):
        after = steps[at].simple.after
        if after not in ("&&", "|"):
            return steps[at + 1].argv[:1] not in (["exit"], ["return"], ["false"]) and bool(after)
        at += 1
    return False


def _quiet(command: Command) -> None:
    """Type a line that neither tests, builds, nor talks to git: by what its pipelines begin with."""
    kinds: dict[str, Step] = {}
    for pipeline in _pipelines(command.steps):
        kind, step = _kind(pipeline)
        if kind != "trivial":
            kinds.setdefault(kind, step)
    for kind in ("", "edit", "write", "search", "read"):
        if kind in kinds:
            command.main = step = kinds[kind]
            command.masked = kind == "" and _masked(command.steps, command.steps.index(step))
            command.obs_type = _TYPES.get(kind, "command")
            if kind and kind != "search":
                command.file_path, command.folder = _file(step, kind), step.folder
            return
    if command.steps:
        command.main = command.steps[-1]


def _pipelines(steps: list[Step]) -> list[list[Step]]:
    out: list[list[Step]] = []
    joined = False
    for step in steps:
        if step.simple.nested:
            if not _QUIET.issuperset(step.families) or not step.families:
                out.append([step])
            continue
        if joined:
            out[-1].append(step)
        elif step.argv:
            out.append([step])
        joined = step.simple.after == "|" and bool(out)
    return out


def _kind(pipeline: list[Step]) -> tuple[str, Step]:
    """What one pipeline is: its first command decides, a grep behind a cat makes it a search."""
    first = pipeline[0]
    for step in pipeline[1:]:
        if "write" in step.families or (step.simple.writes and _kept(step.simple)):
            return (
                ("write", step)
                if first.families in (("trivial",), ("read",)) and "write" in step.families
                else ("", first)
            )
    if first.simple.nested:
        return ("trivial", first) if not first.argv or first.families == () else ("", first)
    kind = first.families[0] if first.families and first.families[0] in _QUIET else ""
    if first.simple.writes and kind in ("read", "search") and _kept(first.simple):
        return "", first
    if kind in ("read", "search"):
        for step in pipeline[1:]:
            name = program(step.argv[0]) if step.argv else ""
            if "search" in step.families:
                kind = "search"
            elif "read" not in step.families and "trivial" not in step.families and name not in _FILTERS:
                return "", first
    return kind, first


def _file(step: Step, kind: str) -> str | None:
    """The one file that a cat, sed -i or cat > is about."""
    if kind == "write":
        names = step.simple.writes or step.argv[-1:]
    else:
        name = program(step.argv[0])
        names = [word for word in positionals(step.argv, _VALUED.get(name, ())) if word]
        if name in _SCRIPT_FIRST and not {"-e", "-f"}.intersection(step.argv):
            names = names[1:]
        names = names or step.simple.reads
    for found in names:
        if found and not any(char in found for char in "$`*?[{") and not found.startswith(("/dev/", "-")):
            return found
    return None


def message(command: Command) -> str:
    """The message of a git commit as it was typed: -m (several are paragraphs), --message=, or a heredoc for -F -."""
    step = command.main
    if step is None or command.obs_type != "git_commit":
        return ""
    _, at = git(step.argv)
    parts, plain = [], step.argv[at + 1 :]
    for number, word in enumerate(plain):
        after = plain[number + 1] if number + 1 < len(plain) else ""
        if word.startswith("--message="):
            parts.append(word[10:])
        elif word == "--message" or (word.startswith("-") and not word.startswith("--") and word.endswith("m")):
            parts.append(after)
        elif word.startswith("-m"):
            parts.append(word[2:])
    return "\n\n".join(part.strip() for part in parts if part.strip()) or step.simple.body.strip()
