"""Classifies one step of a shell command: program, subcommand, its effect, other signs."""

from __future__ import annotations

from capture.labels.programs import ROLES, SEVERAL
from capture.labels.reach import ASKED, LOCAL_HOSTS

_OPTION_VALUES = ("-C", "-c", "--git-dir", "--work-tree", "-n", "--namespace", "--context", "--kube-context",
                  "--prefix", "--filter", "-F", "-w", "--repo", "-R", "--cwd", "--dir")  # fmt: skip
_LISTS = ("list", "-v", "show", "get-url", "--get", "--list")
_ASKS = ("--merged", "--no-merged", "--contains", "--list", "-l", "--show-current", "--points-at")
_LONG = 180
_CHAIN = 3
_IN_TEXT = (
    ("<<", "heredoc"), (" -c ", "inline"), (" -e ", "inline"), ("/tmp/", "tmp"), ("--version", "version"),  # noqa: S108
    ("--help", "version"), ("uvx ", "fetched"), ("npx -y", "fetched"), ("@latest", "fetched"), (" dlx ", "fetched"),
    ("--fix", "fix"), ("--write", "fix"),
)  # fmt: skip


def named(words: list[str]) -> tuple[str, str]:
    """The program and, of one that does several kinds of work, its subcommand."""
    head = words[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe") or words[0]
    if head in ("python", "python3", "py") and words[1:2] == ["-m"] and len(words) > 2:
        head, words = words[2], words[2:]
    if head not in SEVERAL:
        return head[:24], ""
    at = 1
    while at < len(words) and words[at][:1] == "-":
        at += 2 if words[at] in _OPTION_VALUES else 1
    sub, rest = "".join(words[at : at + 1]), words[at + 1 :]
    if head in ("gh", "glab") or (head == "supabase" and sub in ("db", "functions", "migration")):
        if rest and rest[0][:1] != "-" and sub != "api":
            sub = rest[0]
    elif sub in ("run", "compose", "container", "image", "x") and head not in ("cargo", "go", "esphome"):
        plain = [word for word in rest if word[:1] != "-"]
        if plain and (head, sub) != ("docker", "run"):
            sub = plain[0]
    return head, sub[:20]


def role(head: str, sub: str, words: list[str]) -> str:
    """What a step does, in one word; `run` when nothing is known of it."""
    found = ROLES.get(f"{head} {sub}" if sub else head, "")
    if not found and (head not in SEVERAL or not sub or "." in sub or "/" in sub):
        found = ROLES.get(head, "")
    if found == "branch":
        return _branch(sub, words)
    if found == "read" and head == "sed" and any(word.startswith(("-i", "--in-place")) for word in words):
        return "change"
    if words[-1] in ASKED and found in ("", "script"):
        return "see"
    return found or "run"


def _branch(sub: str, words: list[str]) -> str:
    """Whether a git command about branches shows or changes."""
    rest = words[words.index(sub) + 1 :] if sub in words else []
    if sub in ("stash", "worktree", "remote", "config"):
        shows = (rest[:1] and rest[0] in _LISTS) or (sub == "remote" and not rest)
    else:
        shows = sub in ("branch", "tag") and (
            any(word in _ASKS for word in rest) or all(word in ("-a", "-r", "-v", "-vv", "-n") for word in rest)
        )
    return "see" if shows else "branch"


def marks(text: str, bare: str) -> tuple[str, ...]:
    """What else is to be seen of a command: `bare` is the same without quoted texts, a step a line."""
    found = [name for sign, name in _IN_TEXT if sign in text]
    if any(mark in bare and "/dev/null" not in bare.partition(mark)[2][:12] for mark in (" > ", " >> ")):
        found.append("redirect")
    if "\ndo" in bare or " do " in bare:
        found.append("loop")
    if len(text) > _LONG:
        found.append("long")
    if "://" in text and not any(host in text for host in LOCAL_HOSTS):
        found.append("url")
    steps, pipes = bare.count("\n"), bare.count("\n|")
    if pipes:
        found.append("piped")
    if steps - pipes > _CHAIN:
        found.append("chain")
    return tuple(dict.fromkeys(found))
