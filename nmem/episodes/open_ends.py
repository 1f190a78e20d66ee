"""Decides which failures, to-dos and questions of earlier work are still open. On the hook's path.

Stories, context, search and the cockpit ask here. An open end is a failure that no later run of the same code passed,
a to-do, a step that was left, a question. A later commit, a later passing run, a later edit of what the end names, or
a later prompt closes it; a later session of the project closes what an earlier one left.
"""

from __future__ import annotations

from nmem.episodes import store
from nmem.episodes.text import checkout_path, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from sqlite3 import Connection

    Row = store.Row

CHECKS = frozenset(("test", "build", "lint"))
RUNS = CHECKS | {"command", "install"}
EDITS = frozenset(("file_edit", "file_write"))
STILL_FAILS = " still fails"
"""How a story words a check that fails at the end, after the name of the check."""
UNANSWERED = "Asked last"
QUESTION = "Open question of the agent:"
ANSWERED = "Answered “"
"""How a story words what waits for somebody: a later prompt of the session ends it."""
ANSWER = "Answer: "
REPORTED = "The agent reported: "
CORRECTED = "User correction: "
"""What a story puts before the agent's own words, and before the person's."""
_COVERS = 0.6
"""The part of an open end's words that a commit message must have."""
_ASKED_AGAIN = 0.5
"""The part of an unanswered request's words that a prompt of a later session must have."""
_LEAST = 2
"""Words that they must share at least."""
_REMEMBERED = 500
_names: dict[str, tuple[set[str], set[str]]] = {}  # each row that may close an end asks what it names
_COMMANDS = 2000
_targets: dict[str, frozenset[str]] = {}
_plain: dict[str, str] = {}  # commands are compared with each other, so each is asked for again and again
_SHORT = 3
"""Characters of a name with a dot that is none of a file: e.g"""
_STOPS = ("&&", "||", ";", "|", "\n")
_RUNNERS = frozenset(("run", "exec", "test", "tests", "check", "pytest", "unittest", "discover", "vitest", "jest"))
_NARROWS = ("-k", "-t", "-run", "--run", "--filter", "--grep", "-g", "--only", "--testNamePattern")
_WHOLE = frozenset((".", "./", "./...", "...", "..", "tests", "test", "tests/", "test/"))


# one run against another


def by_name(argv: Sequence[str]) -> bool:
    """Whether a call of tests runs only tests of some names: `-k lid`, `-run=TestLid`; a bare "--run" means once."""
    for word in argv[1:]:
        option, _, given = word.partition("=")
        if option in ("--run", "-Dtest"):
            if given:
                return True
        elif (option in _NARROWS or option == "--tests") and (argv[0], option) not in _OTHERWISE:
            return True
    return False


_OTHERWISE = frozenset((
    ("docker", "-t"), ("podman", "-t"), ("kubectl", "-t"), ("ssh", "-t"), ("pnpm", "--filter"), ("yarn", "--filter"),
    ("turbo", "--filter"), ("nx", "--filter"), ("bun", "--filter"),
))  # fmt: skip
"""Programs that mean something else by an option."""


def targets(command: str) -> frozenset[str]:
    """The files, folders, modules or names that a check is narrowed to, in lower case; empty: all there is."""
    known = _targets.get(command)
    if known is None:
        if len(_targets) >= _COMMANDS:
            _targets.clear()
        known = _targets[command] = _targeted(command)
    return known


def _targeted(command: str) -> frozenset[str]:
    for stop in _STOPS:
        command = command.replace(stop, " \0 ")
    found: set[str] = set()
    for step in command.split("\0"):
        words = step.split()
        if words and words[0] not in ("cd", "export", "echo", "source", "tail", "head", "grep", "cat", "tee", "sed"):
            found |= _narrowed(words)
    return frozenset(found)


def _narrowed(words: Sequence[str]) -> set[str]:
    """What the words after a program narrow it to."""
    found: set[str] = set()
    program, after, labels = False, "", False
    for raw in words:
        word = raw.strip("'\"")
        if word.endswith(_LABELLED):
            labels = program = True
        elif after:
            found.add(word.lower())
            after = ""
        elif not program:
            program = "=" not in word
        elif word in _NARROWS:
            after = word
        elif word.startswith("-") or "=" in word or _redirects(word) or word in _WHOLE or word in _RUNNERS:
            continue
        elif "/" in word or "." in word or "::" in word or word.startswith("test_") or (labels and word.isidentifier()):
            found.add(word.removeprefix("./").rstrip("/").lower())
    return found


_LABELLED = ("runtests.py", "run_tests.py", "manage.py")
"""Scripts that run tests by plain labels: `runtests.py delete`."""


def _redirects(word: str) -> bool:
    return ">" in word or "<" in word or word.startswith(("/tmp", "/dev", "&"))  # noqa: S108 - a name, not a file


def same_code(failed: str, passed: str, said: str = "") -> bool:
    """Whether a check that passed covers what failed; `said`: what the failed run answered, where it names tests."""
    those, these = targets(failed), targets(passed)
    if not these:
        return True
    if not those:
        told = said.lower()
        return bool(told) and any(_stem(one) in told for one in these)
    return all(any(_within(one, other) for other in these) for one in those)


def _within(inner: str, outer: str) -> bool:
    """Whether a test's file, folder or name lies in another; a module is the file of its name."""
    inner, outer = inner.replace("::", "/"), outer.replace("::", "/")
    if inner.startswith(outer) or inner.endswith("/" + outer):
        return True
    return _stem(inner) == _stem(outer)


def _stem(target: str) -> str:
    """The name that a file, a module or one of its tests goes by: tests/test_a.py::b, tests.test_a -> test_a."""
    parts = [part for part in target.replace("::", "/").replace(".", "/").split("/") if part]
    named = [part for part in parts if part.startswith("test_") or part.endswith(("_test", "_spec"))]
    if named:
        return named[0]
    file = next((part for part in target.split("/") if "." in part), parts[-1] if parts else target)
    return file.split(".", 1)[0]


def plain(command: str) -> str:
    """A command without the way to its folder and what was done with its output: to tell whether it ran again."""
    known = _plain.get(command)
    if known is None:
        if len(_plain) >= _COMMANDS:
            _plain.clear()
        known = _plain[command] = _plained(command)
    return known


def _plained(command: str) -> str:
    text = " ".join(command.split())
    while text.startswith(("cd ", "source ", "export ")) and " && " in text:
        text = text.split(" && ", 1)[1]
    for end in (" 2>&1", " | tail", " | head", " | grep", " > ", "; echo"):
        text = text.split(end, 1)[0]
    return text.strip()


def passes(failed: Row, row: Row) -> bool:
    """Whether a later row shows that what failed works now: a run of the same code, or the same call again."""
    _, kind, path, command, _, said = failed
    _, other, where, content, outcome, _ = row
    if outcome != "ok":
        return False
    if kind not in RUNS:
        return other == kind and (content == command or (bool(path) and where == path))
    if kind == "test" or other == kind in CHECKS:
        return other == kind and same_code(command, content, said)
    if other == "test" and kind in CHECKS and not targets(content):
        return True  # tests run what was built
    return plain(content) == plain(command)


def closed(failed: Row, later: Iterable[Row]) -> bool:
    """Whether a failure is dealt with: it passed since, or the work was committed."""
    return any(passes(failed, row) or (row[1] == "git_commit" and row[4] == "ok") for row in later)


def failures(rows: Sequence[Row]) -> list[int]:
    """The places of the runs that failed and are still open, the newest first; `rows` in order of time."""
    out: list[int] = []
    seen: set[str] = set()
    later: list[Row] = []
    for place in range(len(rows) - 1, -1, -1):
        row = rows[place]
        _, kind, _, content, outcome, _ = row
        if kind == "git_commit" and outcome == "ok":
            break
        if kind not in RUNS:
            continue
        if outcome == "failed" and plain(content) not in seen:
            if not closed(row, later):
                out.append(place)
            seen.add(plain(content))
        elif outcome == "ok":
            later.append(row)
    return out


# to-dos and steps


def todos(rows: Sequence[Row]) -> tuple[int, list[str]]:
    """(place of the newest to-do list, its boxes that are still open); -1 where there is none. `rows` by time."""
    for place in range(len(rows) - 1, -1, -1):
        if rows[place][1] == "todo":
            lines = rows[place][3].split("\n")
            boxes = [line[3:].strip() for line in lines if line.startswith(("[ ]", "[>]"))]
            after = rows[place + 1 :]
            if any(row[1] == "git_commit" and row[4] == "ok" for row in after):
                return place, []
            return place, [box for box in boxes if box and not any(closes(box, row) for row in after)]
    return -1, []


def closes(end: str, row: Row) -> bool:
    """Whether an observation closes an open end: it passed it, committed it, or edited what it names."""
    _, kind, path, content, outcome, said = row
    if outcome == "failed":
        return False
    if kind in ("git_commit", "git_push") and end.startswith(UNANSWERED):
        return outcome == "ok"  # what was asked last came so far that it was kept
    if kind == "git_commit":
        return outcome == "ok" and (_of_the_tree(end) or _covered(end, f"{content} {said}"))
    if kind in CHECKS:
        name, found, reason = end.partition(STILL_FAILS)
        return bool(found) and outcome == "ok" and same_code(name, content, reason)
    return kind in EDITS and _edits(end, path, content)


def _of_the_tree(end: str) -> bool:
    """Whether an open end says how the working tree stood: a later commit leaves another one."""
    low = end.lower()
    return any(word in low for word in ("unstaged", "uncommitted", "not committed", "not yet committed", "unpushed"))


def _edits(end: str, path: str, content: str) -> bool:
    files, names = named(end)
    base = path.rpartition("/")[2].lower()
    if base and base in files:
        return True
    if not names or files:
        return False
    added = "\n".join(line for line in content.split("\n") if not line.startswith("- "))
    return any(name in added for name in names)


def named(text: str) -> tuple[set[str], set[str]]:
    """(base names of files in lower case, identifiers) that a text names: src/a.py, total(), some_name, someName."""
    found = _names.get(text)  # once: another thread may clear what is remembered
    if found is None:
        if len(_names) >= _REMEMBERED:
            _names.clear()
        found = _names[text] = _named(text)
    return found


def _named(text: str) -> tuple[set[str], set[str]]:
    files: set[str] = set()
    names: set[str] = set()
    for raw in text.replace("`", " ").replace("“", " ").replace("”", " ").replace("'", " ").split():
        word = raw.strip('.,;:!?[]{}"*-~<>').lstrip("(@#")
        called = word.endswith(("()", "(…)")) or "(" in word
        bare = word.split("(", 1)[0].rstrip(")")
        base = bare.rpartition("/")[2].split(":", 1)[0]
        _, dot, extension = base.rpartition(".")
        if dot and len(base) > _SHORT and not called and extension.isalnum() and not extension.isdigit():
            files.add(base.lower())
        elif called or _identifier(base):
            names.add(base.rpartition(".")[2])
    return files, {name for name in names if len(name) > 2}


def _identifier(word: str) -> bool:
    """Whether a word is plainly a name of code: joined by underscores, or with a capital after a small letter."""
    if not word.isascii() or not word.replace("_", "").isalnum():
        return False
    inner = "_" in word.strip("_")
    return inner or any(one.islower() and two.isupper() for one, two in zip(word, word[1:], strict=False))  # noqa: RUF007 - no import


def _covered(end: str, said: str, part: float = _COVERS) -> bool:
    """Whether nearly all that an open end speaks of is said."""
    mine = set(tokens(end))
    both = mine & set(tokens(said))
    return len(both) >= min(_LEAST, len(mine)) and len(both) >= part * len(mine) > 0


def waits(end: str) -> bool:
    """Whether an open end is a word of one side that waits for the other's."""
    return end.startswith((UNANSWERED, QUESTION, ANSWERED))


# what earlier episodes left, as of now


def left(
    db: Connection, session_id: str, at: int, ends: Sequence[str], besides: str = "",
    known: dict[str, list[Row]] | None = None,
) -> list[str]:  # fmt: skip
    """Those of an episode's open ends that nothing later closed; `at`: when the episode was last worked on, in ms.

    `besides`: a session that closes nothing, as the one that asks for an end to be taken up. Who asks for several
    episodes passes `known`, where what was read of sessions is kept. Raises sqlite3.Error.
    """
    if not ends:
        return []
    sessions = [one for one in store.went_on(db, session_id, at) if one != besides]
    if not sessions:
        return list(ends)
    rows = _later(db, sessions, at, known)
    asked = store.asked_since(db, sessions, at) if any(map(waits, ends)) else []
    same = [text for other, text in asked if other == session_id]
    others = [text for other, text in asked if other != session_id]
    out = []
    for end in ends:
        if any(closes(end, row) for row in rows):
            continue
        if waits(end) and (same or any(_covered(end.partition(":")[2], text, _ASKED_AGAIN) for text in others)):
            continue
        out.append(end)
    return out


def _later(db: Connection, sessions: Sequence[str], at: int, known: dict[str, list[Row]] | None) -> list[Row]:
    """What was run, edited and committed in some sessions since."""
    out: list[Row] = []
    known, since = ({}, at) if known is None else (known, 0)
    for session in sessions:
        if len(out) < store.ROWS:
            if session not in known:
                known[session] = store.closing(db, session, since)
            out += [row for row in known[session] if row[0] > at]
    return out


# how it ended


def ending(outcomes: Mapping[str, object]) -> tuple[str, str]:
    """(passed | failed | "" of the newest tests, how the work ended in a word or "") from an episode's `outcomes`.

    The last state counts: what was committed after something was taken back is committed.
    """
    told = outcomes.get("tests")
    tests = {True: "passed", False: "failed", "ok": "passed"}.get(told, told) if isinstance(told, bool | str) else ""
    held = ("reverted", "thrown_away", "abandoned", "pushed", "committed")
    state = {name: bool(outcomes.get(name)) for name in held}
    if outcomes.get("uncommitted"):
        state["thrown_away"] = state["reverted"] = False
    end = next((name.replace("_", " ") for name in held if state[name]), "")
    return (tests if tests in ("passed", "failed") else ""), end


def told(outcomes: Mapping[str, object]) -> str:
    """The same in words: `tests passed, committed`."""
    tests, end = ending(outcomes)
    return ", ".join(word for word in (f"tests {tests}" if tests else "", end) if word)


def touched(rows: Iterable[Row]) -> dict[str, bool]:
    """Files read or changed with success, the newest last -> whether they were changed since the last commit."""
    out: dict[str, bool] = {}
    for _, kind, path, _, outcome, _ in rows:
        if kind == "git_commit" and outcome == "ok":
            out = dict.fromkeys(out, False)
        elif path and outcome != "failed" and (kind in EDITS or kind == "file_read"):
            name = checkout_path(path)
            out[name] = out.pop(name, False) or kind in EDITS
    return out
