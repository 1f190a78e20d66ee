"""Parses the output of `git commit` and `git push`: hash, branch, subject, sizes; remote, branch, range."""

from __future__ import annotations

_HEX = frozenset("0123456789abcdef")


def commit(text: str, response: object, message: str) -> dict[str, object]:
    """The last commit that an output tells of: hash branch subject message files insertions deletions new_files.

    What the client has parsed itself stands in when the output is silent (`git commit -q`).
    """
    found: dict[str, object] = {}
    new: list[str] = []
    for line in text.split("\n"):
        if line.startswith("["):
            head = _bracket(line)
            if head:
                found, new = dict(head), []
        elif " changed" in line and found:
            found.update(sizes(line))
        elif line.startswith(" create mode ") and len(new) < 50:
            new.append(line[13:].partition(" ")[2])
    if new:
        found["new_files"] = new
    told = _told(response, "commit")
    for name, key in (("sha", "hash"), ("branch", "branch"), ("kind", "kind")):
        value = told.get(name)
        if isinstance(value, str) and value and (name != "kind" or value != "committed"):
            found.setdefault(key, value)
    if message:
        found["message"] = message
    return found


def _bracket(line: str) -> dict[str, object]:
    """`[main 1a2b3c4] subject`, `[main (root-commit) 1a2b3c4] subject`, `[detached HEAD 1a2b3c4] subject`."""
    inside, bracket, subject = line[1:].partition("] ")
    words = inside.split()
    if not bracket or len(words) < 2 or not hexadecimal(words[-1]):
        return {}
    return {"hash": words[-1], "branch": " ".join(w for w in words[:-1] if w != "(root-commit)"), "subject": subject}


def hexadecimal(word: str) -> bool:
    """Whether a word can be an abbreviated or whole object name."""
    return 4 <= len(word) <= 64 and _HEX.issuperset(word)


def sizes(line: str) -> dict[str, int]:
    """` 3 files changed, 10 insertions(+), 2 deletions(-)` as files, insertions, deletions."""
    out: dict[str, int] = {}
    for part in line.split(","):
        number, _, what = part.strip().partition(" ")
        if number.isdigit():
            for name in ("file", "insertion", "deletion"):
                if what.startswith(name):
                    out[name + "s"] = int(number)
    return out


def push(text: str, response: object) -> dict[str, object]:
    """Where a push went: remote, branch, range; new_branch, forced, rejected or up_to_date where it says so."""
    found: dict[str, object] = {}
    for line in text.split("\n"):
        if line.startswith("To ") and " " not in line[3:].strip():
            found["remote"] = line[3:].strip()
        elif " -> " in line and ("remote" in found or line.startswith((" ", "\t"))):
            found.update(_reference(line.strip()))
        elif line.startswith("Everything up-to-date"):
            found["up_to_date"] = True
    told = _told(response, "push").get("branch")
    if isinstance(told, str) and told:
        found.setdefault("branch", told)
    return found


def _reference(line: str) -> dict[str, object]:
    """One line of a push's report: `1a2b..3c4d  main -> main`, ` * [new branch] x -> x`, ` ! [rejected] ...`."""
    out: dict[str, object] = {}
    flag = line[0] if line[:2] in ("+ ", "* ", "! ", "- ", "= ") else ""
    rest = line[1:].strip() if flag else line
    first = rest.split(None, 1)[0]
    local, _, target = rest.rpartition(" -> ")
    branch = target.split()[0] if target.split() else ""
    if ".." in first and hexadecimal(first.partition("..")[0]):
        out["range"] = first
    elif not rest.startswith("["):
        return {}
    out["branch"] = branch or (local.split() or [""])[-1]
    if rest.startswith("[new "):
        out["new_branch"] = "tag" not in rest[:10]
    if flag == "+":
        out["forced"] = True
    if flag == "!":
        out["rejected"] = True
    return out


def _told(response: object, name: str) -> dict[str, object]:
    """What the client says of a git operation in its structured response."""
    operation = response.get("gitOperation") if isinstance(response, dict) else None
    told = operation.get(name) if isinstance(operation, dict) else None
    return told if isinstance(told, dict) else {}
