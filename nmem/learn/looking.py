"""Detects commands that only inspect, wait or clean up (ps, git status, sleep): their failure means nothing."""

from __future__ import annotations

from capture.shell import Step
from capture.shell.families import git, positionals
from capture.shell.tables import words
from capture.shell.wrappers import program, unwrap

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
