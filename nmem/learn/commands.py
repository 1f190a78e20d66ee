"""Normalizes a shell command to what stays the same between runs: program, subcommand, subject.

`cd`, assignments, redirections, pipes into `tail` and the like, and wrappers that change nothing are taken off; a
runner that may itself be what fails (`npx`, `uv run`, `docker exec`) stays. Commands that only look are none. Hooks ask
it, too: before a command is run.
"""

from __future__ import annotations

from capture import shell
from capture.shell import Step
from capture.shell.families import git, positionals
from capture.shell.tables import words
from capture.shell.wrappers import program, unwrap
from nmem.learn.numbers import name

LONGEST = 120
_TEMPORARY = ("/tmp", "/private/tmp", "/var/folders", "/dev/")  # noqa: S108 - left out of keys
_WORDS = 5
_LONGEST_WORD = 40
_STEPS = 4

_TRANSPARENT = words(
    "env timeout gtimeout time nice ionice nohup stdbuf command exec builtin caffeinate unbuffer chronic cross-env"
)
_VALUED = words("-s -k -n -i -o -e -u -C --signal --kill-after")
_KEYWORDS = words("if then elif else while until do ! { } time coproc")
_SCRIPTED = words(
    "python python3 python2 py node nodejs ruby perl php deno bash sh zsh fish osascript pwsh powershell psql sqlite3"
    " mysql redis-cli mongosh awk sed jq"
)
_QUERIED = words("psql sqlite3 mysql redis-cli mongosh duckdb")
_INLINE = words("-c -e --eval -p --print -r - -ne -pe -i -Command -command -n -Ene")
_GO = words("cd pushd Set-Location")
_SHORTEN = words("tail head cat tee grep rg less more wc Select-Object Select-String Out-String")
_IDLE = words("true :")
_NOT_KEPT = frozenset(" \n\t$`{}*?[]=;|<>\"'")
_ODD = frozenset("#@:/~^%")


class Normal:
    """A command line, normalised."""

    __slots__ = ("families", "key", "parts")

    def __init__(self, key: str, parts: tuple[str, ...], families: tuple[str, ...]) -> None:
        self.key = key
        """All of it that does something, joined by ` && `."""
        self.parts = parts
        self.families = families
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


def typed(text: str, powershell: bool = False) -> str:
    """A command line as it was typed, options and all, but without what is not the command.

    That is `cd`, assignments, wrappers that change nothing, redirections, and pipes into what only shortens the output.
    The text itself where nothing is left, or where a part of it is a script or text of its own.
    """
    shown: list[str] = []
    piped = shortens = False
    steps = shell.parse(text, powershell).steps
    for step in steps if not any(step.simple.body for step in steps) else ():
        if step.simple.nested:
            continue
        argv = _bare(step.simple.argv)
        tool = program(argv[0]) if argv else ""
        shortens = piped and (shortens or tool in _SHORTEN)
        if argv and not shortens and tool not in _GO and tool not in _IDLE:
            said = " ".join(_quoted(word) for word in argv)
            shown.append(f" | {said}" if piped and shown else f" && {said}" if shown else said)
        piped = step.simple.after == "|"
    return "".join(shown) or " ".join(text.split())


def _quoted(word: str) -> str:
    return f"'{word}'" if not word or any(char in word for char in " \t\n|&;<>()") else word


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
        tool = program(argv[0]) if argv else ""
        if tool not in _TRANSPARENT or len(argv) == 1 or "-v" in argv[1:2] or "-V" in argv[1:2]:
            return argv
        argv = _after(argv[1:], 1 if tool in ("timeout", "gtimeout") else 0)
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
    if tool in _QUERIED and any(" " in word for word in argv):
        return ""
    if "/" in argv[0] or "\\" in argv[0]:
        tool = _target(argv[0], root) or tool
    if tool == "git":
        return f"git {git(argv)[0]}"
    kept = [tool, *_kept(argv, root, tool.startswith("python"))]
    return "" if tool in _SCRIPTED and len(kept) == 1 else " ".join(kept)[:LONGEST]


def _kept(argv: list[str], root: str, modules: bool) -> list[str]:
    """The words behind the program that stay; `modules`: `-m` names what is run."""
    kept: list[str] = []
    options = False
    for word in argv[1:]:
        if len(kept) >= _WORDS - 1:
            break
        if word.startswith(("-", "+", "/")) and not _is_path(word):
            options = word != "--" and not (modules and word == "-m")
        elif shown := _word(word, options, root, argv):
            kept.append(shown)
    return kept


def _word(word: str, options: bool, root: str, argv: list[str]) -> str:
    """A word of a command as it is kept; empty when it changes from run to run."""
    if not options and word.isalpha() and len(word) <= _LONGEST_WORD:
        return name(word)  # as most are: neither a path nor odd
    if not word or len(word) > 80 or not _NOT_KEPT.isdisjoint(word):
        return ""
    if _is_path(word):
        return _target(word, root)
    if options and (not word.isidentifier() or word not in _known_after(argv)):
        return ""
    if word.isdigit() or len(word) > _LONGEST_WORD or not _ODD.isdisjoint(word):
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
    if low.startswith(_TEMPORARY) or "/temp/" in low or "scratchpad" in low:
        return ""
    if root and path.startswith(root + "/"):
        path = path[len(root) + 1 :]
    elif path.startswith(("/", "~")) or path[1:2] == ":":
        path = path.rpartition("/")[2]
    path = path.removeprefix("./") or "."
    if not path.strip("."):
        return "./" + path if len(path) > 1 else path
    return "/".join([name(part) for part in path.split("/") if part])[:80]


_LOOKS = words(
    "which type hash whereis whence command ps pgrep pkill kill killall lsof netstat ss tmux screen ping dig nslookup"
    " host nc stat du df file diff cmp readlink realpath basename dirname uname whoami id hostname env printenv history"
    " jobs top htop free uptime open xdg-open pbcopy pbpaste tput stty seq expr let wait sleep date cal man info"
    " apropos mkdir rm rmdir cp mv ln touch chmod chown tar zip unzip gunzip gzip mktemp tee xargs"
    " Get-Process Test-Path Get-Command Get-Item Remove-Item New-Item Copy-Item Move-Item Stop-Process where"
    " Where-Object Select-Object ForEach-Object Out-File Start-Process"
    " for case select function done fi esac in [[ [ test"
)
_VERBS = """
git status diff log show branch remote rev-parse rev-list config ls-files ls-tree ls-remote blame merge-base reflog
git check-ignore describe for-each-ref symbolic-ref cat-file shortlog grep name-rev show-ref tag version help
docker ps logs inspect images info version stats top port search history context
docker-compose ps logs config images top port version
podman ps logs inspect images info version stats top port
kubectl get describe logs version config top explain api-resources cluster-info
systemctl status is-active is-enabled list-units show cat
npm ls list view info show outdated why config explain root prefix bin help search whoami ping
pnpm ls list view info show outdated why config root bin help
yarn list info why config outdated help
bun pm
pip show list freeze check config index help
pip3 show list freeze check config index help
uv tree version help
cargo tree metadata search version help locate-project
go env list version doc help
brew list info search outdated deps doctor config
poetry show env config
mise ls current where which doctor tasks env
rustup show
adb devices
gcloud info
aws sts
"""
_LOOKING: dict[str, frozenset[str]] = {}
for _line in _VERBS.split("\n"):
    _tool, _, _listed = _line.partition(" ")
    _LOOKING[_tool] = _LOOKING.get(_tool, frozenset()) | words(_listed)
_FORGES = words("gh glab hub")
_FORGE_LOOKS = words("view list status checks diff api search browse auth")
_NETWORK = words(
    "curl wget http https httpie xh telnet websocat grpcurl ssh scp Invoke-WebRequest Invoke-RestMethod iwr irm"
)
_ASKS = words("--help -h --version -V version help -version")
_QUIET = words("read search trivial write edit")


def looks(argv: list[str], step: Step) -> bool:
    """Whether a command only looks; `argv` is that of the step, with its assignments off."""
    plain = argv is step.simple.argv  # as most are: what it runs without wrappers is known
    tool, inner = program(argv[0]), (step.argv if plain else unwrap(argv)) or argv
    if tool in _LOOKS or tool in _NETWORK or program(inner[0]) in _LOOKS or _ASKS.intersection(argv[1:4]):
        return True
    if _QUIET.issuperset(step.families) and step.families:
        return True
    if tool == "git":
        return _git(argv)
    if tool in _FORGES:
        return bool(_FORGE_LOOKS.intersection(argv[1:3]))
    verbs = _LOOKING.get(tool)
    return verbs is not None and not verbs.isdisjoint(positionals(argv, ("-f", "-p", "-C", "--filter", "-n"))[:1])


def _git(argv: list[str]) -> bool:
    verb, at = git(argv)
    if verb in ("stash", "worktree"):
        return argv[at + 1 : at + 2] in (["list"], ["show"])
    return verb in _LOOKING["git"] or not verb
