"""One step of a shell command: its program and subcommand, what that does, and whether it leaves the machine."""

from __future__ import annotations

from capture.labels.programs import FETCHERS, NETWORKED, REMOTE, ROLES, SEVERAL

LOCAL_HOSTS = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]", "host.docker.internal")  # noqa: S104 - looked for
_OPTION_VALUES = ("-C", "-c", "--git-dir", "--work-tree", "-n", "--namespace", "--context", "--kube-context",
                  "--prefix", "--filter", "-F", "-w", "--repo", "-R", "--cwd", "--dir")  # fmt: skip
_STAYING = ("helm", "kubectl", "ansible-playbook", "npm", "twine")
_HERE = ("lint", "template", "unittest", "--syntax-check", "--offline", "--context kind", "kind-", "minikube",
         "--dry-run=client")  # fmt: skip
"""Words behind which these stay on the machine."""
_LISTS = ("list", "-v", "show", "get-url", "--get", "--list")
_ASKS = ("--merged", "--no-merged", "--contains", "--list", "-l", "--show-current", "--points-at")
_ASKED = ("--version", "--help", "-h", "version", "-V")
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
    if head in ("gh", "glab"):
        if rest and rest[0][:1] != "-" and sub != "api":
            sub = rest[0]
    elif sub in ("run", "compose", "container", "image", "x") and head not in ("cargo", "go"):
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
    if words[-1] in _ASKED and found in ("", "script"):
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


def leaves(head: str, name: str, words: list[str], text: str) -> bool:
    """Whether a step reaches outside the machine; `text` is the whole command."""
    if head in FETCHERS:
        return not any(host in text for host in LOCAL_HOSTS)
    if head == "rsync":
        return any(":" in word for word in words[1:])
    if head == "go" and "mod" in words:
        return "download" in words or "tidy" in words
    if name == "git remote":
        return "update" in words or "show" in words or "prune" in words
    if len(words) > 1 and (words[1] in NETWORKED if head not in SEVERAL else "deploy" in name or "publish" in name):
        return head not in ROLES
    if name not in REMOTE and head not in REMOTE:
        return False
    if name == "git submodule":
        return "status" not in words
    return not (head in _STAYING and any(word in text for word in _HERE)) and name != "npm init"


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
