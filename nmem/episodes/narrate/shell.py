"""Applies git, rm and mv commands to the ledger of an episode's changes; finds the files that scripts write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from capture.shell import Step, parse
from capture.shell.families import git
from nmem.episodes.narrate.ledger import SOFT, Ledger
from nmem.episodes.narrate.records import FAILED, OK, UNKNOWN, Action
from nmem.episodes.undone import keeps, temporary


def apply(ledger: Ledger, command: str) -> None:
    """Follow one command line that succeeded."""
    if not ("git " in command or "rm " in command or "mv " in command or "Remove-Item" in command):
        return
    kept = False
    for step in parse(command).steps:
        argv = step.argv
        if len(argv) < 2 or step.simple.nested:
            continue
        name = argv[0].rsplit("/", 1)[-1]
        if name == "git":
            kept |= keeps(argv)
            if kept and "--hard" in argv:
                _reset(ledger, ["--hard"])
            else:
                _git(ledger, step)
        elif name in ("rm", "unlink", "trash", "Remove-Item"):
            _removed(ledger, _plain(argv[1:]), "removed")
        elif name == "mv" and len(paths := _plain(argv[1:])) >= 2:
            for old in paths[:-1]:
                ledger.move(old, paths[-1])


def _git(ledger: Ledger, step: Step) -> None:
    verb, at = git(step.argv)
    if handler := _VERBS.get(verb):
        handler(ledger, step.argv[at + 1 :])


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


_CALL = re.compile(r"[\w.-]+/(Edit|Write|MultiEdit|Read|Bash) (?:file_path|path|command|argument)=(.*)", re.DOTALL)
_ARGUMENT = re.compile(r"\s(?:old_string|new_string|content|timeout|description|edits|offset|limit|replace_all)=")
_MADE = re.compile(r"\[([^\]\n]+) ([0-9a-f]{7,40})\] (.*)")
_ENDED = re.compile(r"Exited with code (\d+)|Timed out")
_TYPES = {"Edit": "file_edit", "MultiEdit": "file_edit", "Write": "file_write", "Read": "file_read"}


def adopt(action: Action, root: str = "") -> Action:
    """The action as if the client's own tool had done it; any other action as it is. `root`: the project's folder."""
    found = _CALL.match(action.content) if action.obs_type == "mcp_call" else None
    if not found:
        return action
    tool, value = found[1], _ARGUMENT.split(found[2], maxsplit=1)[0].strip()
    if tool != "Bash":
        path = value.removeprefix(root.rstrip("/") + "/") if root else value
        return replace(action, obs_type=_TYPES[tool], tool_name=tool, file_path=path, content="")
    command = parse(value)
    told = dict(action.metadata)
    if command.obs_type == "git_commit" and (made := _MADE.search(action.response)):
        told["commit"] = {"branch": made[1], "hash": made[2], "subject": made[3]}
    ended = _ENDED.match(action.response)
    outcome = action.outcome
    if ended:
        outcome = UNKNOWN if ended[1] is None else OK if ended[1] == "0" else FAILED
    return replace(action, outcome=outcome, obs_type=command.obs_type, tool_name="Bash", content=value, metadata=told)


def written(action: Action, root: str = "") -> Iterator[Action]:
    """An action, and an edit of each file that its command writes by a script or `sed -i` without telling so."""
    yield action
    if action.file_path or action.obs_type not in _COMMANDS or action.outcome == FAILED or action.halted:
        return
    text = action.content[:_READ]
    if not any(mark in text for mark in _MARKS) or not _WRITES.search(text):
        return
    folder = found[1].rstrip("/") + "/" if (found := _FOLDER.match(text)) else ""
    named = dict(_NAMED.findall(text))
    paths = [one[0] or one[1] for one in _OPENED.findall(text)]
    paths += [named.get(one[0] or one[1], "") for one in _BY_NAME.findall(text)]
    paths += [one for line in _IN_PLACE.findall(text) for one in line.split() if _FILE.fullmatch(one)]
    for path in dict.fromkeys(paths):
        if path and not temporary(path) and not any(mark in path for mark in "$*{"):
            whole = path if path.startswith(("/", "~")) else folder + path
            whole = whole.removeprefix(root.rstrip("/") + "/") if root else whole
            yield replace(action, obs_type="file_edit", file_path=whole, content="", tool_name="", metadata={})


_COMMANDS = frozenset(("command", "file_edit", "file_write"))
_READ = 6_000
_MARKS = ("write", "open(", "sed -i")
"""Words that a command has which writes so: most have none of them."""
_WRITES = re.compile(
    r"\.write_(?:text|bytes)\(|\bwriteFileSync\(|\bopen\([^)\n]{1,200},\s*['\"][wa]\+?b?['\"]|\bsed -i"
)
_FOLDER = re.compile(r"\s*cd ([\w./~@+-]+) *(?:&&|;|\n)")
_OPENED = re.compile(
    r"\bopen\(\s*['\"]([^'\"\n]{1,200})['\"]\s*,\s*['\"][wa]"
    r"|(?:writeFileSync\(|\bPath\()\s*['\"]([^'\"\n]{1,200})['\"](?=\)\.write_|\s*,)"
)
_NAMED = re.compile(r"\b(\w+)\s*=\s*(?:[\w.]*Path\()?['\"]([^'\"\n]{1,200}\.\w{1,8})['\"]")
_BY_NAME = re.compile(r"(?:\bopen\(|writeFileSync\()\s*(\w+)\s*,\s*(?=['\"][wa]|\w)|\b(\w+)\.write_(?:text|bytes)\(")
_IN_PLACE = re.compile(r"\bsed -i[^\n]*['\"] +([^'\";&|\n]+)")
_FILE = re.compile(r"[\w./@+-]*\w\.\w{1,8}")
