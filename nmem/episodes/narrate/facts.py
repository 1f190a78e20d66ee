"""Replays an episode's actions into a ledger of the file changes, commits and pushes that stand at its end."""

from __future__ import annotations

import contextlib
import re
from bisect import bisect_right
from datetime import datetime
from itertools import pairwise, takewhile

from capture.shell import parse
from capture.shell.families import git
from nmem.episodes.narrate import cues, shell
from nmem.episodes.narrate.ledger import REPLACED, Commit, Ledger
from nmem.episodes.narrate.prose import clip, plain, short, uncut
from nmem.episodes.narrate.records import FAILED, OK, Action, Episode
from nmem.episodes.undone import elsewhere, temporary
from nmem.text import whole

_CHANGES = frozenset(("file_edit", "file_write"))
_ADDRESS = re.compile(r"https?://[^\s\"'<>)]+")
MADE = re.compile(r"\bgh\s+(pr|issue|release|repo|gist)\s+(create|merge|close|comment|review|edit|reopen)\b")
_MESSAGE = re.compile(r"-[a-z]*m\s+(?:\"\$\(cat <<-?\s*['\"]?\w+['\"]?\n\s*|@['\"]\s*\n\s*)?[\"']?([^\n\"']+)")
_VERBS = {
    "create": "Opened", "merge": "Merged", "close": "Closed", "comment": "Commented on", "review": "Reviewed",
    "edit": "Edited", "reopen": "Reopened",
}  # fmt: skip
_NOUNS = {"pr": "pull request", "issue": "issue", "release": "release", "repo": "repository", "gist": "gist"}


def ledger(episode: Episode) -> Ledger:
    """Follow all actions that succeeded."""
    out = Ledger(episode.root)
    seen: set[str] = set()
    asked = [one.at for one in episode.prompts]
    for action in episode.actions:
        if action.halted:
            continue
        out.turn = bisect_right(asked, action.at)
        if action.outcome == FAILED:
            if action.obs_type == "git_commit" and action.told("commit").get("hash"):
                _commit(out, action)  # the commit was made, something after it failed
            if action.obs_type == "git_push":
                out.push_failed = bool(out.pushes)
            continue
        _follow(out, action, seen)
        if action.file_path:
            seen.add(action.file_path)
    out.settle()
    for bare, then in pairwise(out.commits):
        if not (bare.hash or bare.subject) and then.subject:
            bare.undone = REPLACED  # tried, and made with the next call
    return out


def worded_commit(episode: Episode) -> str:
    """The hash of a commit whose call was not seen to pass, where the agent's answer to that request has it."""
    tried = [one for one in episode.actions if one.obs_type == "git_commit" and not one.halted and one.outcome != OK]
    last = tried[-1] if tried else None
    if last is None or last.told("commit").get("hash"):
        return ""
    end = next((one.at for one in episode.prompts if one.at > last.at), 1 << 62)
    said = next((one.text for one in reversed(episode.closings()) if last.at <= one.at <= end), "")
    found = _COMMITTED_AS.search(said)
    return found[1] if found else ""


_COMMITTED_AS = re.compile(r"\bcommit(?:ted)?\b[^\n]{0,80}?`?\b((?=[a-f]*\d)[0-9a-f]{7,12})\b", re.IGNORECASE)


def said_commits(episode: Episode) -> int:
    """How many commits the agent's last words tell of: the number in all, 1 for a bare "committed"; 0 for none."""
    said = _said_last(episode)
    if found := _COMMITS_IN_ALL.search(said):
        return int(found[1]) if found[1].isdigit() else _NUMBERS.index(found[1].lower()) + 2
    return int(bool(_COMMIT_MADE.search(said)))


def said_pushed(episode: Episode) -> bool:
    """Whether the agent's last words tell of a push."""
    said = re.split(r"[.!?;] ", _said_last(episode))
    return any((made := _PUSH_MADE.search(one)) and not _UNPUSHED.search(one[: made.start()]) for one in said)


def _said_last(episode: Episode) -> str:
    closings = episode.closings()
    return " ".join(plain(closings[-1].text[:_OPENS]).split()) if closings else ""


_OPENS = 400
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COMMITS_IN_ALL = re.compile(
    rf"\b(\d{{1,2}}|{'|'.join(_NUMBERS)}) (?:\w+ )?commits (?:in total|in all|total|overall|across|on(?! top))\b",
    re.IGNORECASE,
)
_COMMIT_MADE = re.compile(
    r"(?:^|[.!:] )(?:(?:the |your )?commit (?:succeeded|successful|created|is in|went through|landed)"
    r"|(?:all |everything )?committed\b(?=[.:!,;]|$| (?:as|in|and|to|on|with|all|the)\b))"
    r"|\bcommitted (?:as|in) (?=[a-f]*\d)[0-9a-f]{7,}",
    re.IGNORECASE,
)
_PUSH_MADE = re.compile(r"\bpushed\b(?! (?:yet|until|manually|back))|푸시했|プッシュしました", re.IGNORECASE)
_UNPUSHED = re.compile(r"n[’']t\b|\b(?:not|never|nothing|yet|be|been|will|waiting|ready)\b", re.IGNORECASE)


def makes(command: str) -> bool:
    """Whether a command makes something on the forge."""
    return "gh" in command and MADE.search(command) is not None


def _fresh(out: Ledger, action: Action, seen: set[str]) -> bool:
    """A file written whole that nobody had read or edited before: clients that do not say so made it."""
    whole = action.obs_type == "file_write" and not any(line.startswith("- ") for line in action.content.split("\n"))
    return (
        whole
        and "created" not in action.metadata
        and action.file_path not in seen
        and action.file_path not in out.changes
    )


def _follow(out: Ledger, action: Action, seen: set[str]) -> None:
    if action.obs_type in _CHANGES and _PLANS.search(action.file_path):
        out.plans[action.file_path] = None
        return
    if action.obs_type in _CHANGES and temporary(action.file_path):
        out.scratch[action.file_path] = None
    elif action.obs_type in _CHANGES and action.file_path:
        told = action.metadata
        deleted = told.get("deleted") is True
        moved = told.get("moved_from")
        if isinstance(moved, str) and moved:
            out.move(moved, action.file_path)
        shown = action.content if action.tool_name not in _SHELLS else ""
        created = told.get("created") is True or _fresh(out, action, seen)
        out.edit(action.file_path, shown, action.at, created=created, deleted=deleted)
    if action.tool_name in _SHELLS or action.obs_type.startswith("git_"):
        shell.apply(out, action.content)
    if "git status" in action.content and action.response:
        _look(out, action)
    if action.obs_type == "git_commit" or (action.metadata and action.told("commit").get("hash")):
        _commit(out, action)
    if action.obs_type == "git_push" or (action.metadata and action.told("push")):
        _push(out, action)
    if action.obs_type == "github" or "gh " in action.content[:4000]:
        _forge(out, action)


_PLANS = re.compile(r"[\\/]\.(?:claude|codex|gemini|cursor)[\\/]plans[\\/]")
_SHELLS = frozenset(("Bash", "PowerShell", "shell", "exec_command", "run_shell_command", "local_shell"))


def _look(out: Ledger, action: Action) -> None:
    """`git status` tells what somebody else has committed meanwhile."""
    said = action.response
    if "working tree clean" in said or "nothing to commit" in said:
        out.clean(None)
        return
    if not _SHORT_STATUS.search(action.content):
        return
    dirty: list[str] = []
    lines = said.split("\n")
    whole = "…" not in said[:2000]
    for line in lines:
        if found := _STATUS_LINE.match(line):
            dirty.append(found[1].strip('"').rsplit(" -> ", 1)[-1].replace("../", ""))
        elif not line.startswith("## "):
            whole |= "…" not in line  # what another command printed follows
            break
    if whole and (dirty or lines[0].startswith("## ")):
        out.clean(dirty)


_SHORT_STATUS = re.compile(r"git status(?: (?:-s|-sb|-b|--short|--porcelain|--branch))+\s*(?:$|[;&|\n])")
_STATUS_LINE = re.compile(r"^[ MADRCU?!T]{2} (\S.*)$")


def _commit(out: Ledger, action: Action) -> None:
    told = action.told("commit")
    made = Commit(
        str(told.get("hash") or ""), subject(action), str(told.get("branch") or ""), action.at, whole(told.get("files"))
    )
    out.tried |= not made.hash and action.outcome != OK
    if elsewhere(action.content):
        return
    if not made.hash and (action.outcome != OK or "--dry-run" in action.content):
        return
    if out.kept_commits() and (again := _into_last(action.content)):
        last = out.kept_commits()[-1]
        if again == "amend":
            last.hash, last.subject = made.hash or last.hash, made.subject or last.subject
        out.commits.append(out.commits.pop())
        for change in out.standing():
            if change.commit < 0:
                change.commit = change.kept = out.commits.index(last)
        return
    out.commit(made)


def _into_last(command: str) -> str:
    """The option that puts a commit into an earlier one: amend, fixup or squash; else ""."""
    if "--" not in command:
        return ""
    for step in parse(command).steps:
        verb, at = git(step.argv) if step.argv[:1] == ["git"] else ("", 0)
        if verb == "commit" and (how := next(filter(None, map(_INTO_LAST.match, step.argv[at + 1 :])), None)):
            return how[1]
    return ""


_INTO_LAST = re.compile(r"--(amend|fixup|squash)(?:=|$)")


def subject(action: Action) -> str:
    """The first line of a commit's message, from git's answer or else from the command."""
    told = action.told("commit")
    for key in ("subject", "message"):
        value = told.get(key)
        first = _HERE.sub("", uncut(value).strip()).split("\n", 1)[0] if isinstance(value, str) else ""
        if first and not _STUB.match(first):
            return first
    found = _MESSAGE.search(action.content[:4000])
    return found[1].strip() if found and not found[1].startswith("$(") else ""


_HERE = re.compile(r"^@['\"]?\s*\n")
"""How PowerShell begins a text of several lines."""
_STUB = re.compile(r"^.{0,11}…$")
"""A subject of which next to nothing was kept."""


def _push(out: Ledger, action: Action) -> None:
    told = action.told("push")
    if action.outcome != OK and not told:
        return
    if "--dry-run" in action.content:
        return
    for made in out.commits:
        made.pushed = True
    out.pushes.append(str(told.get("branch") or ""))
    out.push_failed = False


def _forge(out: Ledger, action: Action) -> None:
    if action.outcome != OK:
        return
    for noun, verb in MADE.findall(action.content[:4000]):
        address = _ADDRESS.search(action.response)
        said = f"{_VERBS[verb]} {'a ' if verb == 'create' else 'the '}{_NOUNS[noun]}"
        out.published.append((said, clip(address[0], 120) if address else ""))


def committed_by_user(episode: Episode) -> bool:
    """Whether commits were made that no action of the episode made: the user says so, or git shows newer ones."""
    if any(cues.USER_COMMIT.search(one.text[:2000]) for one in episode.prompts):
        return True
    if not episode.prompts:
        return False
    start, end = episode.prompts[0].at, max((one.at for one in episode.actions), default=0)
    own = sum(one.obs_type == "git_commit" and one.outcome != FAILED for one in episode.actions)
    dates = {
        when
        for one in episode.actions
        if one.obs_type == "git_other" and _SHOWS.search(one.content[:2000])
        for when in _dates(one.response[:6000])
        if start <= when <= end
    }
    return len(dates) > own


_SHOWS = re.compile(r"\bgit (?:-C \S+ )?(?:--no-pager )?(?:log|show)\b")
_DATE = re.compile(r"^\s*(?:Author|Commit)?Date:\s+(.{16,34})$", re.MULTILINE)


def _dates(text: str) -> list[int]:
    out = []
    for found in _DATE.findall(text):
        for form in ("%a %b %d %H:%M:%S %Y %z", "%Y-%m-%d %H:%M:%S %z", "%Y-%m-%dT%H:%M:%S%z"):
            with contextlib.suppress(ValueError, OverflowError):
                out.append(int(datetime.strptime(found.strip(), form).astimezone().timestamp() * 1000))
                break
    return out


def files_read(episode: Episode) -> list[str]:
    """Every file that was read, in the order of the first reading."""
    found = (one.file_path for one in episode.actions if one.obs_type == "file_read" and one.outcome != FAILED)
    return list(dict.fromkeys(path for path in found if path))


def deleted_clone(episode: Episode) -> str:
    """The clone that files were edited in, where it was deleted after the last edit."""
    clones: set[str] = set()
    edited: set[str] = set()
    gone = ""
    for one in episode.actions:
        if one.outcome == OK and one.obs_type in ("file_edit", "file_write") and one.file_path:
            edited.add(f"/{one.file_path}")
            gone = ""
        if one.tool_name not in _SHELLS:
            continue
        clones -= {name for pair in _NOT_THERE.findall(one.response) for name in pair}  # the shell stood in the clone
        for found in _REMOVES.finditer(one.content) if one.outcome == OK else ():
            gone = next((name for each in found[1].split() if (name := each.rstrip("/")) in clones), gone)
        for found in _CLONES.finditer(one.content) if one.outcome == OK else ():
            name = (found[2] or found[1].rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")).rstrip("/")
            clones.add(name)
            gone = "" if gone == name else gone
    return short(gone) if gone and any(f"/{gone}/" in path for path in edited) else ""


_CLONES = re.compile(
    r"\bgit clone (?:(?:-b|--branch|--depth|-o|--origin|-c) \S+ |-\S+ )*([^\s;&|]+)(?: (?![-2>&|;])([\w./~-]+))?"
)
_NOT_THERE = re.compile(r"no such file or directory: ([\w.-][\w./-]*)|cd: ([\w.-][\w./-]*): No such file or directory")
_REMOVES = re.compile(r"(?<![\w-])(?<!git )rm (?:-\w+ )+((?:[\w./~-]+(?=[\s;&|)]|$) ?)+)")


def brought_nothing(sent: Action) -> bool:
    """Whether a subagent ended by an error or a limit of the client."""
    return sent.outcome == FAILED or bool(cues.LIMIT.match(sent.response))


def handed_last(episode: Episode) -> str:
    """What came of the subagents that an episode ends with."""
    ended = takewhile(lambda one: one.obs_type == "task_spawn", reversed(episode.actions))
    sent = [one for one in ended if not one.halted]
    lost = list(filter(brought_nothing, sent))
    told = [one for one in sent if one.response.strip() and not _STARTED.search(one.response)]
    brought = [one for one in told if one not in lost]
    said = f": {clip(' '.join((brought or told)[0].response.split()), 120)}" if told else ""
    if len(sent) > 1 and (brought or lost):
        some = f"{len(brought)} of them brought a result{said if brought else ''}"
        return f"work was handed to {len(sent)} subagents last, {some}"
    came = f"this came of it{said}" if said else "its result was not seen"
    return f"work was handed to a subagent last, {came}"


_STARTED = re.compile(r"launched|in the background|agent_?id|^ok$", re.IGNORECASE)
