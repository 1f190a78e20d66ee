"""Whether a command of git throws work away: what was reverted was not completed."""

from __future__ import annotations

_STOPS = ("&&", "||", ";", "|", "&", "\n")


def undoes(command: str) -> bool:
    """Whether a shell command contains a git checkout, restore, reset, revert, clean or stash drop that undoes work."""
    if "git" not in command:
        return False
    for stop in _STOPS:
        command = command.replace(stop, " \0 ")
    return any(_step(part.split()) for part in command.split("\0"))


def _step(words: list[str]) -> bool:
    while words and ("=" in words[0] or words[0] in ("sudo", "env", "command", "(")):
        words = words[1:]
    if not words or words[0].rpartition("/")[2] != "git":
        return False
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    rest = words[at + 1 :]
    name = words[at] if at < len(words) else ""
    if name == "restore":
        return "--staged" not in rest or "--worktree" in rest
    if name == "checkout":
        return "--" in rest or "." in rest
    if name == "clean":
        return any(word[:1] == "-" and "f" in word for word in rest) and "-n" not in rest
    return (
        name == "revert"
        or (name == "reset" and "--hard" in rest)
        or (name == "stash" and rest[:1] in (["drop"], ["clear"]))
    )
