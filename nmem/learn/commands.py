"""A command without what changes from run to run: the program, its subcommand and what it is about.

`cd`, assignments, redirections, pipes into `tail` and the like, and wrappers that change nothing are taken off; a runner
that may itself be what fails (`npx`, `uv run`, `docker exec`) stays. Commands that only look are none.
"""

from __future__ import annotations

from dataclasses import dataclass

from capture import shell
from capture.shell import Step
from capture.shell.families import git, positionals
from capture.shell.tables import words
from capture.shell.wrappers import program, unwrap
from nmem.learn.errors.normal import name

LONGEST = 120
_WORDS = 5
_STEPS = 4

_TRANSPARENT = {"env": 0, "timeout": 1, "gtimeout": 1, "time": 0, "nice": 0, "ionice": 0, "nohup": 0, "stdbuf": 0,
                "command": 0, "exec": 0, "builtin": 0, "caffeinate": 0, "unbuffer": 0, "chronic": 0, "cross-env": 0}  # fmt: skip
_VALUED = words("-s -k -n -i -o -e -u -C --signal --kill-after")
_KEYWORDS = words("if then elif else while until do ! { } time coproc")
_LOOKS = words(
    "which type hash whereis whence command ps pgrep pkill kill killall lsof netstat ss tmux screen ping dig nslookup host"
    " nc stat du df file diff cmp readlink realpath basename dirname uname whoami id hostname env printenv history jobs"
    " top htop free uptime open xdg-open pbcopy pbpaste tput stty seq expr let wait sleep date cal man info apropos"
    " mkdir rm rmdir cp mv ln touch chmod chown tar zip unzip gunzip gzip mktemp install tee xargs sudo su"
    " Get-Process Test-Path Get-Command Get-Item Remove-Item New-Item Copy-Item Move-Item Stop-Process where Where-Object"
    " Select-Object ForEach-Object Out-File Start-Process for case select function done fi esac in [[ [ test"
)
_LOOKING = {
    "git": "status diff log show branch remote rev-parse rev-list config ls-files ls-tree ls-remote blame stash merge-base"
           " check-ignore describe for-each-ref symbolic-ref cat-file reflog shortlog grep name-rev show-ref tag worktree"
           " version help",
    "docker": "ps logs inspect images info version stats top port search history context",
    "docker-compose": "ps logs config images top port version",
    "kubectl": "get describe logs version config top explain api-resources cluster-info",
    "systemctl": "status is-active is-enabled list-units show cat",
    "npm": "ls list view info show outdated why config explain root prefix bin help search whoami ping",
    "pnpm": "ls list view info show outdated why config root bin help", "yarn": "list info why config outdated help",
    "bun": "pm --version", "pip": "show list freeze check config index help", "pip3": "show list freeze check config",
    "uv": "tree version help", "cargo": "tree metadata search version help locate-project --list", "brew": "list info search"
    " outdated --prefix deps doctor config", "go": "env list version doc help", "poetry": "show env config", "mise":
    "ls current where which doctor tasks env --version", "rustup": "show", "gcloud": "info", "aws": "sts", "adb": "devices",
}  # fmt: skip
_LOOKING_SETS = {tool: words(verbs) for tool, verbs in _LOOKING.items()}
_FORGE_LOOKS = words("view list status checks diff api search browse auth")
_SCRIPTED = words("python python3 python2 py node nodejs ruby perl php deno bash sh zsh fish osascript pwsh powershell psql"
                  " sqlite3 mysql redis-cli mongosh awk sed jq")  # fmt: skip
_INLINE = words("-c -e --eval -p --print -r - -ne -pe -i -Command -command -n -Ene")
_NETWORK = words(
    "curl wget http https httpie xh telnet websocat grpcurl Invoke-WebRequest Invoke-RestMethod iwr irm ssh scp"
)
_GO = words("cd pushd Set-Location")
_ASKS = words("--help -h --version -V version help -version")
_QUIET = words("read search trivial write edit")


@dataclass(frozen=True, slots=True)
class Normal:
    """A command line, normalised."""

    key: str
    """All of it that does something, joined by ` && `."""
    parts: tuple[str, ...]
    families: tuple[str, ...]
    """Of its steps: test build lint install git_push ..."""


def normalise(text: str, root: str = "", powershell: bool = False) -> Normal | None:
    """A command line without what changes from run to run; None when it only looks, or is not the same twice.

    `root`: the project's folder, taken off the paths in it.
    """
    found: dict[str, None] = {}
    families: dict[str, None] = {}
    for step in _pipeline_heads(shell.parse(text, powershell).steps):
        argv = _bare(step.simple.argv)
        if not argv or looks(argv, step):
            continue
        if "$" in argv[0] or not (key := _key(argv, root)):
            return None
        found[key] = None
        families.update(dict.fromkeys(step.families))
    if not found or len(found) > _STEPS:
        return None
    return Normal(" && ".join(found)[: 2 * LONGEST], tuple(found), tuple(families))


def only_looks(text: str, powershell: bool = False) -> bool:
    """Whether no step of a command line does more than look."""
    heads = _pipeline_heads(shell.parse(text, powershell).steps)
    return all(not argv or looks(argv, step) for step in heads for argv in (_bare(step.simple.argv),))


def program_of(text: str, powershell: bool = False) -> str:
    """The first program of a command line that does something, else the first one."""
    heads = [(step, _bare(step.simple.argv)) for step in _pipeline_heads(shell.parse(text, powershell).steps)]
    doing = [argv for step, argv in heads if argv and not looks(argv, step)]
    plain = doing or [argv for _, argv in heads if argv and program(argv[0]) not in ("cd", "export", "set", "source")]
    return program(plain[0][0]) if plain else ""


def folders(text: str, powershell: bool = False) -> list[str]:
    """Where a command line goes with `cd`, as it was typed."""
    steps = shell.parse(text, powershell).steps
    return [step.argv[1] for step in steps if len(step.argv) > 1 and program(step.argv[0]) in _GO]


def looks(argv: list[str], step: Step) -> bool:
    """Whether a command only looks, waits or tidies, so that its failing says nothing."""
    tool = program(argv[0])
    inner = unwrap(argv) or argv
    if tool in _LOOKS or program(inner[0]) in _LOOKS or _ASKS.intersection(argv[1:4]):
        return True
    if _QUIET.issuperset(step.families) and step.families:
        return True
    if tool in ("git", "gh", "glab", "hub"):
        return _forge(tool, argv)
    if tool in _NETWORK:
        return True
    plain = positionals(argv, ("-f", "-p", "-C", "--filter", "-n"))
    return bool(plain) and plain[0] in _LOOKING_SETS.get(tool, ())


def _forge(tool: str, argv: list[str]) -> bool:
    if tool == "git":
        verb, at = git(argv)
        if verb in ("stash", "tag", "branch", "worktree", "remote", "config"):
            rest = [word for word in argv[at + 1 :] if not word.startswith("-")]
            return not rest or rest[0] in ("list", "show", "get-url", "-v") or verb in ("branch", "config", "tag")
        return verb in _LOOKING_SETS["git"] or not verb
    return bool(_FORGE_LOOKS.intersection(argv[1:3]))


def _pipeline_heads(steps: list[Step]) -> list[Step]:
    """The steps that a line consists of: what stands behind a pipe only reads on; what is nested serves another."""
    out: list[Step] = []
    piped = False
    for step in steps:
        if step.simple.nested:
            continue
        if not piped and step.simple.argv:
            out.append(step)
        piped = step.simple.after == "|"
    return out


def _bare(argv: list[str]) -> list[str]:
    """Without keywords, assignments and wrappers that change nothing."""
    for _ in range(8):
        while argv and (argv[0] in _KEYWORDS or _assigns(argv[0])):
            argv = argv[1:]
        skip = _TRANSPARENT.get(program(argv[0])) if argv else None
        if skip is None or len(argv) == 1 or "-v" in argv[1:2] or "-V" in argv[1:2]:
            return argv
        argv = _after(argv[1:], skip)
    return argv


def _after(given: list[str], skip: int) -> list[str]:
    at = 0
    while at < len(given):
        word = given[at]
        if word.startswith("-"):
            at += 2 if word in _VALUED else 1
        elif _assigns(word):
            at += 1
        elif skip:
            skip -= 1
            at += 1
        else:
            break
    return given[at:]


def _assigns(word: str) -> bool:
    variable, equals, _ = word.partition("=")
    return bool(equals) and variable.isidentifier()


def _key(argv: list[str], root: str) -> str:
    """Program, subcommands and stable targets; empty for a script that is given in the command itself."""
    tool = program(argv[0])
    if tool in _SCRIPTED and (len(argv) == 1 or _INLINE.intersection(argv[1:3])):
        return ""
    if "/" in argv[0] or "\\" in argv[0]:
        tool = _target(argv[0], root) or tool
    if tool == "git":
        return f"git {git(argv)[0]}"
    kept = [tool]
    options = False
    for at, word in enumerate(argv[1:], 1):
        if len(kept) >= _WORDS:
            break
        if word == "--":
            continue
        if word.startswith(("-", "+", "/")) and not _is_path(word):
            options = True
            if word == "-m" and tool.startswith("python") and at + 1 < len(argv):
                options = False
            continue
        shown = _word(word, options, root, argv)
        if shown:
            kept.append(shown)
    return "" if tool in _SCRIPTED and len(kept) == 1 else " ".join(kept)[:LONGEST]


def _word(word: str, options: bool, root: str, argv: list[str]) -> str:
    """A word of a command as it is kept; empty when it changes from run to run."""
    if not word or len(word) > 80 or any(char in word for char in " \n\t$`{}*?[]=;|<>\"'"):
        return ""
    if _is_path(word):
        return _target(word, root)
    if options and (not word.isidentifier() or word not in _known_after(argv)):
        return ""
    if word.isdigit() or len(word) > 40 or any(char in word for char in "#@:/~^%"):
        return word if ":" in word and word.replace(":", "").replace("-", "").replace("_", "").isalpha() else ""
    return name(word)


_RUN = words("run test build lint start dev install add exec check fmt format typecheck push commit up sync")


def _known_after(argv: list[str]) -> frozenset[str]:
    """Behind an option only words that name what is done are believed; others may be the option's value."""
    return _RUN.intersection(argv)


def _is_path(word: str) -> bool:
    return (
        word.startswith(("./", "../", "/", "~/", "D:", "C:")) and len(word) > 2 and "/" in word.strip("/") + "/"
        and word.count("/") > 0
    ) or ("/" in word and "://" not in word and not word.startswith(("-", "@"))) or (
        "." in word and word.rpartition(".")[2].isalpha() and 1 <= len(word.rpartition(".")[2]) <= 5 and "/" not in word
        and not word.startswith("-") and word.rpartition(".")[0] != ""
    )  # fmt: skip


def _target(word: str, root: str) -> str:
    """A path relative to the project; one for temporary files says nothing, and one elsewhere only its name."""
    path = word.replace("\\", "/").rstrip("/")
    root = root.replace("\\", "/").rstrip("/")
    low = path.lower()
    if low.startswith(("/tmp", "/private/tmp", "/var/folders", "/dev/")) or "/temp/" in low or "scratchpad" in low:
        return ""
    if root and path.startswith(root + "/"):
        path = path[len(root) + 1 :]
    elif path.startswith(("/", "~")) or path[1:2] == ":":
        path = path.rpartition("/")[2]
    path = path.removeprefix("./") or "."
    if set(path) == {"."}:
        return "./" + path if len(path) > 1 else path
    return "/".join(name(part) for part in path.split("/") if part)[:80]
