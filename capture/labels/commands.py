"""Classifies each step of a shell command by its first words: program, subcommand, effect on the project.

`capture.shell` reads a command properly and gives a row its type. This is a second look at rows that have one: which
programs run, with which subcommands, what that does to the project, and whether it reaches outside the machine.
"""

from __future__ import annotations

from capture.labels.programs import FILTERS, ROLES, RUNNERS, SEVERAL, SKIPPED, WRAPPERS
from capture.labels.reach import ASKED, LOCAL_HOSTS, leaves

HEAD, TAIL = 800, 400
"""Characters of a command that are read: what it begins with, and what follows a long text inside it."""
_STEPS = 14
_KEPT = 4_096
_JOINTS = (("&", "&&"), ("|", "||"), (";", ";"), ("$", "$("), ("<", "<("), ("`", "`"))
"""What stands between steps, each behind a sign that it has."""
_SHELLS = ("bash", "sh", "zsh", "pwsh", "powershell", "cmd")
_VALUED = ("--with", "--extra", "--group", "--python", "-p")


class Shell:
    """A command's steps: programs with their subcommands, what each does, and whether any leaves the machine."""

    __slots__ = ("heads", "marks", "remote", "roles")

    def __init__(self, heads: tuple[str, ...], roles: tuple[str, ...], remote: bool, marks: tuple[str, ...]) -> None:
        self.heads = heads
        self.roles = roles
        self.remote = remote
        self.marks = marks
        """What else is to be seen: see `capture.labels.commands.marks`."""


_known: dict[str, Shell] = {}


def clipped(text: str) -> str:
    """The head and the tail of a long text."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"


def look(command: str) -> Shell:
    """A command's steps; texts met before are not read again."""
    text = clipped(command)
    found = _known.get(text)
    if found is None:
        if len(_known) >= _KEPT:
            _known.clear()
        found = _known[text] = _look(text)
    return found


def _look(text: str) -> Shell:
    text = _script(text) or text
    heads: list[str] = []
    roles: list[str] = []
    remote = odd = False
    bare = _bare(text)
    for step in bare.split("\n")[:_STEPS]:
        words = _unwrapped(step.lstrip("( \t{|").split())
        if not words or words[0] in SKIPPED or (step[:1] == "|" and words[0] in FILTERS and heads):
            continue
        head, sub = named(words)
        name = f"{head} {sub}" if sub else head
        if name in heads:
            continue
        what = role(head, sub, words)
        heads.append(name)
        roles.append(what)
        odd = odd or (what == "run" and head not in SEVERAL)
        remote = remote or leaves(head, name, words, text)
    found = marks(text, bare)
    return Shell(tuple(heads), tuple(roles), remote, (*found, "odd") if odd else found)


def _script(text: str) -> str:
    """What `bash -lc '...'` is told to run."""
    words = text[:40].split(None, 2)
    if len(words) < 3 or words[1] not in ("-c", "-lc", "-ic", "-Command", "/c"):
        return ""
    if words[0].rpartition("/")[2] not in _SHELLS:
        return ""
    rest = text.split(None, 2)[2].strip()
    return rest[1:].rstrip(rest[0]) if rest[:1] in ("'", '"') else rest


def _bare(text: str) -> str:
    """One step a line, without what is quoted and without heredocs."""
    if "<<" in text:
        text = _without_heredocs(text)
    if "#" in text:
        text = "\n".join(line for line in text.split("\n") if line.lstrip()[:1] != "#")
    text = _unquoted(text)
    if "&" in text:  # a single sign is looked for far faster than two, and most lines have none
        text = text.replace("2>&1", "").replace("&>", ">")
    if "=$(" in text:
        text = text.replace(") ", "\n")
    for sign, mark in _JOINTS:
        if sign in text:
            text = text.replace(mark, "\n")
    text = text.replace("|", "\n|")
    if "&" in text:
        text = text.replace(" & ", "\n")
    return text.replace(" (", " ") if "(" in text else text


def _unquoted(text: str) -> str:
    """The command without quoted texts; what is run inside of one follows as a step of its own."""
    if "\\" in text:
        text = text.replace('\\"', " ").replace("\\\n", " ")
    if '"' in text:
        parts = text.split('"')
        text = " Q ".join(parts[::2])
        if "$(" in "".join(parts[1::2]):
            asked = [part.partition("$(")[2] for part in parts[1::2] if "$(" in part]
            text += "\n" + "\n".join(one for one in asked if one[:3] != "cat")
    if "'" in text:
        text = " Q ".join(text.split("'")[::2])
    return text


def _without_heredocs(text: str) -> str:
    """The command without the texts that stand in it; one that is not closed takes all that follows."""
    at = text.find("<<")
    while at >= 0:
        word = text[at + 2 : at + 40].lstrip("<-~ ").split(None, 1)
        mark = word[0].strip("\"'\\);|&") if word else ""
        line = text.find("\n", at)
        if line < 0:
            break
        if not mark or text[at + 2 : at + 3] == "<":
            at = text.find("<<", at + 3)
            continue
        end = text.find("\n" + mark, line)
        after = text[end + len(mark) + 1 :] if end >= 0 else ""
        rest = text[at + 2 + text[at + 2 : line].find(mark) + len(mark) : line].lstrip("\"'")
        text = f"{text[:at]} {rest}\n{after}"
        at = text.find("<<", at)
    return text


def _unwrapped(words: list[str]) -> list[str]:
    """The words of a step from its program on."""
    at, end = 0, len(words)
    while at < end:
        word = words[at]
        if word in WRAPPERS:
            at += 1
            while at < end and (words[at][0] == "-" or words[at][0].isdigit()):
                at += 1
        elif "=" in word and not word.startswith(("-", "=")) and word.partition("=")[0].isidentifier():
            at += 1
        elif at + 1 < end and f"{word} {words[at + 1]}" in RUNNERS:
            at += 2
            while at < end and words[at][0] == "-":
                at += 2 if words[at] in _VALUED else 1
        else:
            break
    return words[at:]


_OPTION_VALUES = ("-C", "-c", "--git-dir", "--work-tree", "-n", "--namespace", "--context", "--kube-context",
                  "--prefix", "--filter", "-F", "-w", "--repo", "-R", "--cwd", "--dir")  # fmt: skip
_LISTS = ("list", "-v", "show", "get-url", "--get", "--list")
_ASKS = ("--merged", "--no-merged", "--contains", "--list", "-l", "--show-current", "--points-at")
_LONG = 180
_CHAIN = 3
_IN_TEXT = (
    ("<", "<<", "heredoc"), ("-", " -c ", "inline"), ("-", " -e ", "inline"), ("/", "/tmp/", "tmp"),  # noqa: S108
    ("-", "--version", "version"), ("-", "--help", "version"), ("x", "uvx ", "fetched"), ("-", "npx -y", "fetched"),
    ("@", "@latest", "fetched"), ("x", " dlx ", "fetched"), ("-", "--fix", "fix"), ("-", "--write", "fix"),
)  # fmt: skip
"""What a text may hold, behind a sign of it that is looked for faster, and the name of that."""


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
    found = [name for sign, part, name in _IN_TEXT if sign in text and part in text]
    if ">" in bare and any(
        mark in bare and "/dev/null" not in bare.partition(mark)[2][:12] for mark in (" > ", " >> ")
    ):
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
