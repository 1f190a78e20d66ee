"""Work that a git command discards: edits of files, or commits; discarded work is not completed."""

from __future__ import annotations

_STOPS = ("&&", "||", ";", "|", "&", "\n")
_TEMPORARY = ("/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/var/tmp/", "$TMP")  # noqa: S108 - names


def elsewhere(command: str) -> bool:
    """Whether a commit is made in a repository for a trial: the folder that its line goes to is a temporary one."""
    for stop in _STOPS:
        command = command.replace(stop, " \0 ")
    before, folder = command.partition(" commit ")[0], ""
    for words in (part.replace("(", " ").split() for part in before.split("\0")):
        at = 1 if words[:1] in (["cd"], ["pushd"]) else 2 if words[:2] == ["git", "-C"] else 0
        target = words[at].strip("'\"") + "/" if 0 < at < len(words) else ""
        folder = target if target[:1] in ("/", "~", "$") else folder
    return folder.startswith(_TEMPORARY) or (folder[:1] == "$" and "mktemp -d" in before)


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
    for part in command.split("\0"):
        what, paths = _step(part.split())
        if what:
            found = what, [path for path in paths if path not in (".", ":/", "*")] if "." not in paths else []
    return found


def _step(words: list[str]) -> tuple[str, list[str]]:
    nothing: tuple[str, list[str]] = "", []
    while words and ("=" in words[0] or words[0] in ("sudo", "env", "command", "(")):
        words = words[1:]
    if not words or words[0].rpartition("/")[2] != "git":
        return nothing
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    rest = words[at + 1 :]
    name = words[at] if at < len(words) else ""
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
