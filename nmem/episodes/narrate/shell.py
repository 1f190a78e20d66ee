"""What the commands of an episode did to the working tree: git's ways of undoing, rm, mv, staging."""

from __future__ import annotations

from collections.abc import Callable

from capture.shell import Step, parse
from nmem.episodes.narrate.ledger import SOFT, Ledger


def apply(ledger: Ledger, command: str) -> None:
    """Follow one command line that succeeded."""
    if not ("git " in command or "rm " in command or "mv " in command or "Remove-Item" in command):
        return
    for step in parse(command).steps:
        argv = step.argv
        if len(argv) < 2 or step.simple.nested:
            continue
        name = argv[0].rsplit("/", 1)[-1]
        if name == "git":
            _git(ledger, step)
        elif name in ("rm", "unlink", "trash", "Remove-Item"):
            _removed(ledger, _plain(argv[1:]), "removed")
        elif name == "mv" and len(paths := _plain(argv[1:])) >= 2:
            for old in paths[:-1]:
                ledger.move(old, paths[-1])


def git_words(argv: list[str]) -> list[str]:
    """The words of a git call from its verb on."""
    rest = argv[1:]
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in ("-C", "-c", "--git-dir", "--work-tree") else rest[1:]
    return rest


def _git(ledger: Ledger, step: Step) -> None:
    rest = git_words(step.argv)
    handler = _VERBS.get(rest[0]) if rest else None
    if handler:
        handler(ledger, rest[1:])


def _plain(argv: list[str]) -> list[str]:
    return [word for word in argv if not word.startswith("-")]


def _removed(ledger: Ledger, paths: list[str], how: str) -> None:
    for path in paths:
        for change in ledger.matching(path) if path not in (".", "*", "/") else []:
            if change.live:
                ledger.remove(change, how)


def _after_dashes(argv: list[str]) -> list[str] | None:
    return argv[argv.index("--") + 1 :] if "--" in argv else None


def _checkout(ledger: Ledger, argv: list[str]) -> None:
    if any(word in ("-b", "-B", "--orphan", "--track", "-t") for word in argv):
        return
    paths = _after_dashes(argv)
    if paths is None:
        # without "--": a word is a path when it covers a file that the episode changed
        paths = [word for word in _plain(argv) if word == "." or "/" in word or "." in word]
    for path in paths:
        ledger.take_back(ledger.matching(path), "git checkout", new_too=False)


def _restore(ledger: Ledger, argv: list[str]) -> None:
    staged = any(word in ("--staged", "-S") for word in argv)
    if staged and not any(word in ("--worktree", "-W") for word in argv):
        return
    for path in _after_dashes(argv) or _plain(argv):
        ledger.take_back(ledger.matching(path), "git restore", new_too=False)


def _reset(ledger: Ledger, argv: list[str]) -> None:
    hard = "--hard" in argv
    target = next(iter(_plain(argv)), "HEAD")
    back = _steps_back(target)
    if back:
        ledger.uncommit(back, "git reset --hard" if hard else SOFT, keep_files=not hard)
    elif target != "HEAD" and hard:
        _reset_to(ledger, target)
    elif target != "HEAD" and "--soft" in argv:
        _squash(ledger, target)
    if hard:
        ledger.take_back(list(ledger.changes.values()), "git reset --hard", new_too=ledger.staged is None)


def _reset_to(ledger: Ledger, target: str) -> None:
    """Hard to a branch or a commit: what came after it in this episode is gone."""
    hashes = [one.hash for one in ledger.commits]
    for number, known in enumerate(hashes):
        if known and (target.startswith(known) or known.startswith(target)):
            ledger.uncommit(len(hashes) - number - 1, "git reset --hard", keep_files=False)
            return
    if target.startswith(("origin/", "upstream/", "@{u")):
        ledger.uncommit(sum(not one.pushed and not one.undone for one in ledger.commits), "git reset --hard",
                        keep_files=False)  # fmt: skip


def _squash(ledger: Ledger, target: str) -> None:
    """Softly back to a commit: what came after it waits for the commit that takes its place; all of the episode where
    the commit is older.
    """
    standing = [one for one in ledger.commits if not one.undone]
    later = next((at for at, one in enumerate(standing) if one.hash and _same(one.hash, target)), -1)
    ledger.uncommit(len(standing) - later - 1, SOFT, keep_files=True)


def _same(one: str, other: str) -> bool:
    """Whether two hashes, either of them cut, name one commit."""
    return one.startswith(other) or other.startswith(one)


def _steps_back(target: str) -> int:
    """HEAD~2, HEAD^^, @~1 as a number; 0 for anything else."""
    for head in ("HEAD", "@"):
        rest = target.removeprefix(head)
        if rest != target and rest[:1] in ("~", "^"):
            return int(rest[1:]) if rest[1:].isdigit() else rest.count("^") + rest.count("~")
    return 0


def _stash(ledger: Ledger, argv: list[str]) -> None:
    verb = argv[0] if argv and not argv[0].startswith("-") else "push"
    if verb in ("push", "save"):
        untracked = any(word in ("-u", "--include-untracked", "-a", "--all") for word in argv)
        paths = _after_dashes(argv)
        found = [one for path in paths or ["."] for one in ledger.matching(path)]
        ledger.stashed.append(ledger.take_back(found, "git stash", new_too=untracked))
    elif verb in ("pop", "apply") and ledger.stashed:
        for change in ledger.stashed.pop():
            if change.undone == "git stash":
                change.live, change.undone = True, ""
            elif change.commit >= 0:
                change.commit = -1


def _clean(ledger: Ledger, argv: list[str]) -> None:
    if any(word.startswith("-") and "n" in word.lstrip("-") and not word.startswith("--") for word in argv):
        return
    for path in _after_dashes(argv) or _plain(argv) or ["."]:
        new = [change for change in ledger.matching(path) if change.created and change.commit < 0]
        ledger.take_back(new, "git clean")


def _revert(ledger: Ledger, argv: list[str]) -> None:
    for name in _plain(argv):
        back = _steps_back(name)
        if back:
            alive = [one.hash for one in ledger.commits if not one.undone]
            name = alive[-1 - back] if back < len(alive) else "?"  # noqa: PLW2901
        ledger.revert(name, "git revert")


def _rebase(ledger: Ledger, argv: list[str]) -> None:
    """After a rebase commits have other hashes, and a fixup is part of another commit."""
    if any(word in ("--abort", "--skip", "--quit") for word in argv):
        return
    for made in ledger.kept_commits():
        head, _, rest = made.subject.partition("! ")
        if "--autosquash" in argv and head in ("fixup", "squash"):
            made.hash, made.subject = "", f"{rest} (fixup, squashed into it)"


def _add(ledger: Ledger, argv: list[str]) -> None:
    paths = _plain(argv)
    if not paths or "." in paths or any(word in ("-A", "--all", "-u") for word in argv):
        ledger.staged = None
    elif ledger.staged is not None:
        ledger.staged.update(paths)


def _rm(ledger: Ledger, argv: list[str]) -> None:
    if "--cached" not in argv:
        _removed(ledger, _plain(argv), "git rm")


def _mv(ledger: Ledger, argv: list[str]) -> None:
    paths = _plain(argv)
    if len(paths) >= 2:
        for old in paths[:-1]:
            ledger.move(old, paths[-1])


def _commit(ledger: Ledger, argv: list[str]) -> None:
    if any(word == "--all" or (word[:1] == "-" and word[:2] != "--" and "a" in word) for word in argv):
        ledger.staged = None


_VERBS: dict[str, Callable[[Ledger, list[str]], None]] = {
    "checkout": _checkout, "restore": _restore, "reset": _reset, "stash": _stash, "clean": _clean, "revert": _revert,
    "add": _add, "rm": _rm, "mv": _mv, "commit": _commit, "stage": _add, "rebase": _rebase,
}  # fmt: skip
