"""Parses a git command for the edits or commits that it discards: reset, checkout, revert. On the hook's path."""

from __future__ import annotations

from capture.shell.families import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.shell import Step

_STOPS = ("&&", "||", ";", "|", "&", "\n")
_TEMPORARY = ("/tmp/", "/var/folders/", "/var/tmp/", "$TMP")  # noqa: S108 -- named, not used
_COMPUTED = ("$", "`")
_ROOTED = ("/", "~", *_COMPUTED)


def temporary(path: str) -> bool:
    """Whether a path lies in a folder for temporary files."""
    unix = path.removeprefix("/private") if path.startswith("/private/") else path
    return unix.startswith(_TEMPORARY) or "/AppData/Local/Temp/" in path.replace("\\", "/")


def elsewhere(command: str) -> bool:
    """Whether a commit is made in a repository for a trial: it is made in a folder for temporary files."""
    from capture.shell import parse  # on use: hooks ask only for what was undone

    found = parse(command)
    made = found.main
    if made is None or "git_commit" not in made.families:
        return False
    folder = _folder(found.steps, made)
    made_anew = any(step.argv[:2] == ["mktemp", "-d"] for step in found.steps)
    return temporary(f"{folder}/") or (folder.startswith(_COMPUTED) and made_anew)


def _folder(steps: list[Step], made: Step) -> str:
    """The folder that a git command works in; of a computed one the word that computes it."""
    options = made.argv[: git(made.argv)[1]]
    named = options[options.index("-C") + 1] if "-C" in options else ""
    if made.folder is not None and not named.startswith(_ROOTED):
        return made.folder
    before = [step.argv for step in steps[: steps.index(made)]]
    went = [argv[1] for argv in before if argv[:1] in (["cd"], ["pushd"]) and argv[1:]]
    return next((word for word in [named, *reversed(went)] if word.startswith(_ROOTED)), "")


def undoes(command: str) -> bool:
    """Whether a shell command contains a git checkout, restore, reset, revert, clean or stash drop that undoes work."""
    return bool(undone(command)[0])


def undone(command: str) -> tuple[str, list[str]]:
    """("work", "commits" or "", the paths that it is narrowed to; none: all there is) of the last step that undoes."""
    if "git" not in command:
        return "", []
    for stop in _STOPS:
        command = command.replace(stop, " \0 ")
    found: tuple[str, list[str]] = "", []
    kept = False
    for part in command.split("\0"):
        words = part.split()
        kept |= keeps(words)
        what, paths = _step(words)
        if what and not (kept and what == "commits" and "--hard" in words):
            found = what, [path for path in paths if path not in (".", ":/", "*")] if "." not in paths else []
    return found


def keeps(argv: list[str]) -> bool:
    """Whether a git command puts a second branch on the current commits: a later reset of this one loses none."""
    if argv[:1] != ["git"]:
        return False
    name, at = git(argv)
    rest = argv[at + 1 :]
    return name == "branch" and len(rest) == 1 and not rest[0].startswith("-")


def _step(words: list[str]) -> tuple[str, list[str]]:
    nothing: tuple[str, list[str]] = "", []
    while words and ("=" in words[0] or words[0] in ("sudo", "env", "command", "(")):
        words = words[1:]
    if not words or words[0].rpartition("/")[2] != "git":
        return nothing
    name, at = git(words)
    rest = words[at + 1 :]
    paths = [word.strip("'\"").removeprefix("./").rstrip("/") or "." for word in rest if not word.startswith("-")]
    if name == "restore":
        return ("work", paths) if "--staged" not in rest or "--worktree" in rest else nothing
    if name == "checkout":
        after = paths[1:] if "--" in rest and rest[0] != "--" else paths
        return ("work", after) if "--" in rest or "." in rest else nothing
    if name == "clean":
        return (
            ("work", paths) if any(word[:1] == "-" and "f" in word for word in rest) and "-n" not in rest else nothing
        )
    if name == "reset" and "--hard" in rest:
        return ("work", []) if all(path == "HEAD" for path in paths) else ("commits", [])
    if name == "revert" and not {"--abort", "--quit"}.intersection(rest):
        return "commits", []
    return ("work", []) if name == "stash" and rest[:1] in (["drop"], ["clear"]) else nothing
