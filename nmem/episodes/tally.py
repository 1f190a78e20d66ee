"""Counts an episode's observations one by one, in the order of their ids: files, tests, commits, active time.

Counting on from stored columns gives what counting from the start gives, as long as rows arrive in the order of time;
reads and searches that were counted on an earlier row (`repeats`) are one read here.
"""

from __future__ import annotations

from nmem.episodes.text import checkout_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from nmem.episodes.units import Unit

IDLE = 300_000
"""Milliseconds without a sign of life after which nobody is at it."""
INVESTIGATE = frozenset(("file_read", "search", "web_fetch", "web_search"))
EXECUTE = frozenset(
    ("file_edit", "file_write", "command", "test", "build", "lint", "install", "git_commit", "git_push", "git_other")
)
_CHANGES = frozenset(("file_edit", "file_write"))
_READS = frozenset(("file_read", "search"))
_KEPT_BACK = _CHANGES | {"file_read", "git_commit", "git_push", "git_other"}
"""Calls that touch nothing when they are refused."""
_PROSE = (".md", ".mdx", ".txt", ".rst", ".adoc")
"""Files that no test tells of."""
_EDIT_WEIGHT, _FAILURE_WEIGHT = 3, 2
_TESTED = ("=== RUN", "--- FAIL", "FAIL\t", "\nFAIL", "[build failed]", "[no test files]", "Tests:", " passed")
"""What test runners print once they run."""
_NEVER_BEGAN = (
    "command not found", "no such file or directory", "file has been modified since", "unrecognized subcommand",
    "missing script", "not recognized as", "does not contain main module", "permission denied",
)  # fmt: skip
"""What says, at the beginning of an answer, that the line broke off before any test ran."""
_TOLD = ('"commit":', '"push":', '"interrupted":', '"response":')
"""Keys of metadata that count."""
AGAIN = 300_000
"""Milliseconds within which a commit of the same words is one that was tried again."""
_TRIVIAL = frozenset(("trivial", "read", "search"))
LABELS = (
    ("phase", "act", "think"), ("scope", "converge", "diverge"), ("locus", "external", "internal"),
    ("novelty", "novel", "routine"), ("friction", "hard", "smooth"),
)  # fmt: skip
"""Column of a label, and the words for above and below nothing."""


class Seen:
    """The columns of one observation that count."""

    __slots__ = ("at", "content", "duration_ms", "file_path", "id", "labels", "metadata", "obs_type", "outcome", "seq")

    def __init__(self, row: tuple[Any, ...]) -> None:
        (self.seq, self.id, self.at, self.obs_type, self.file_path, self.outcome, self.duration_ms, self.metadata,
         self.content, *labels) = row  # fmt: skip
        self.labels = labels


class Tally:
    """The running count; `of` takes it up from an episode's columns, `columns` writes it back."""

    __slots__ = ("active_at", "active_ms", "commits", "count", "files", "outcomes", "phase", "prints", "seq")

    def __init__(self) -> None:
        self.count = 0
        self.seq = 0
        self.files: dict[str, list[int]] = {}
        """Path -> reads, edits, failures."""
        self.phase: dict[str, int] = {}
        self.prints: dict[str, int] = {}
        self.outcomes: dict[str, Any] = {
            "tests": None, "committed": 0, "pushed": 0, "reverted": 0, "uncommitted": 0, "untested": 0,
            "thrown_away": 0, "undone": 0, "interrupted": False, "abandoned": False,
        }  # fmt: skip
        """The state at the end: a commit or an edit after something was taken back leaves `reverted` and `thrown_away`
        at 0; `undone` counts how often something was."""
        self.commits: list[dict[str, object]] = []
        self.active_ms = 0
        self.active_at = 0

    @classmethod
    def of(cls, unit: Unit) -> Tally:
        """The count so far; empty when it has to start again. Raises ValueError, KeyError or TypeError when damaged."""
        from capture.jsonio import loads  # on use: start-up stays short

        out = cls()
        if not unit.annotated_seq and not unit.annotated_prompt:
            return out
        hot: Any = loads(unit.hot_files)
        phase: Any = loads(unit.phase_signature)
        prints: Any = loads(unit.fingerprint)
        commits: Any = loads(unit.commits)
        if not (isinstance(phase, dict) and isinstance(prints, dict) and isinstance(commits, list)):
            raise TypeError("a count is damaged")
        out.files = {each["path"]: [each["reads"] + 0, each["edits"] + 0, each["failures"] + 0] for each in hot}
        out.phase, out.prints = ({word: counts[word] + 0 for word in counts} for counts in (phase, prints))
        out.outcomes.update(loads(unit.outcomes))  # type: ignore[call-overload]
        out.commits = [one for one in commits if isinstance(one, dict)]
        out.count, out.seq = unit.obs_count, unit.annotated_seq
        out.active_ms, out.active_at = unit.active_ms, unit.active_at
        return out

    def add(self, seen: Seen) -> None:
        """Count one observation."""
        self.seq = max(self.seq, seen.seq)
        self.count += 1
        failed = seen.outcome == "failed" or (seen.obs_type in _KEPT_BACK and '"refused":' in (seen.metadata or ""))
        _more(self.prints, seen.obs_type)
        if seen.obs_type in INVESTIGATE:
            _more(self.phase, "investigate")
        elif seen.obs_type in EXECUTE:
            _more(self.phase, "execute")
        if failed:
            _more(self.phase, "failures")
        for (_, above, below), score in zip(LABELS, seen.labels, strict=True):
            if score:
                _more(self.phase, above if score > 0 else below)
        if seen.file_path:
            self._file(seen, failed)
        self._outcome(seen, failed)

    def _file(self, seen: Seen, failed: bool) -> None:
        counts = self.files.setdefault(checkout_path(seen.file_path), [0, 0, 0])
        if failed:
            counts[2] += 1
        elif seen.obs_type in _CHANGES:
            counts[1] += 1
        elif seen.obs_type in _READS:
            counts[0] += 1

    def _outcome(self, seen: Seen, failed: bool) -> None:
        told = _told(seen.metadata)
        out = self.outcomes
        out["interrupted"] = told.get("interrupted") is True
        if out["interrupted"]:
            _more(self.phase, "interruptions")
        if seen.obs_type == "test" and seen.outcome != "unknown" and (not failed or _ran(seen, told)):
            out["tests"] = "failed" if failed else "passed"
            out["untested"] = 0
        if seen.obs_type in _CHANGES and not failed:
            out["uncommitted"] += 1
            out["untested"] += not (seen.file_path or "").lower().endswith(_PROSE)
            out["reverted"] = out["thrown_away"] = 0
        self._git(seen, told, failed)
        self._left()

    def turn_over(self, *, stopped: bool) -> None:
        """The turn of the newest calls ended: with an answer, or because the user broke it off."""
        self.outcomes["interrupted"] = stopped
        if stopped:
            _more(self.phase, "interruptions")
        self._left()

    def _left(self) -> None:
        """Whether what was done stands uncommitted and was given up, or was taken back."""
        out = self.outcomes
        left = out["uncommitted"] and (out["interrupted"] or out["tests"] == "failed")
        out["abandoned"] = bool(not out["committed"] and (left or (out["thrown_away"] and not out["uncommitted"])))

    def _git(self, seen: Seen, told: dict[str, Any], failed: bool) -> None:
        out = self.outcomes
        commit, push = told.get("commit"), told.get("push")
        if not (commit or push or seen.obs_type.startswith("git_")):
            return
        from nmem.episodes.undone import elsewhere, undone  # on use: start-up stays short

        made = _has(commit, "hash") or (seen.obs_type == "git_commit" and seen.outcome == "ok")
        if made and not elsewhere(seen.content):
            self._committed(_commit(commit if isinstance(commit, dict) else {}, seen.at))
        if (isinstance(push, dict) and not push.get("rejected")) or (seen.obs_type == "git_push" and not failed):
            out["pushed"] += 1
        if seen.obs_type.startswith("git_") and not failed and seen.obs_type != "git_commit":
            self._taken_back(*undone(seen.content))

    def _committed(self, made: dict[str, object]) -> None:
        """Count a commit; one that was tried before, or that a copied record tells again, counts once."""
        out = self.outcomes
        out["uncommitted"] = out["reverted"] = out["thrown_away"] = 0
        tried = [
            one for one in self.commits
            if made["message"] and one.get("message") == made["message"] and _soon(one.get("at"), made["at"])
            and not (one.get("hash") and made["hash"] and one["hash"] != made["hash"])
        ]  # fmt: skip
        for one in tried:
            self.commits.remove(one)
        out["committed"] += not tried
        self.commits.append(made)

    def _taken_back(self, what: str, paths: list[str]) -> None:
        """Edits that a command of git throws away, or the commits that it takes back."""
        out = self.outcomes
        if what == "work" and out["uncommitted"]:
            edits = sum(counts[1] for path, counts in self.files.items() if _among(path, paths))
            lost = min(out["uncommitted"], edits) if paths else out["uncommitted"]
            out["uncommitted"] -= lost
            out["thrown_away"] += lost
            out["undone"] += bool(lost)
            out["reverted"] += bool(lost) and not out["uncommitted"] and not out["committed"]
        elif what == "commits":
            out["undone"] += 1
            out["reverted"] += 1
            out["thrown_away"] += out["uncommitted"]
            out["uncommitted"] = 0

    def live(self, moments: Iterable[tuple[int, int]]) -> None:
        """Signs of life (ms, ms that it took), in the order of time: what lies between near ones was work."""
        for at, took in moments:
            gap = at - self.active_at
            if self.active_at and gap > 0:
                self.active_ms += gap if gap <= max(IDLE, took) else min(took, gap)
            self.active_at = max(self.active_at, at)

    def hot_files(self) -> list[dict[str, object]]:
        """The files, the heaviest first: an edit weighs three reads, a failure two."""
        found: list[dict[str, object]] = []
        for path, (reads, edits, failures) in sorted(
            self.files.items(), key=lambda each: (-_weight(*each[1]), each[0])
        ):
            weight = _weight(reads, edits, failures)
            found.append({"path": path, "reads": reads, "edits": edits, "failures": failures, "weight": weight})
        return found

    def friction(self) -> float | None:
        """0 smooth .. 1: the share of failures, interruptions and reverts; None when nothing was done."""
        if not self.count:
            return None
        hard: int = self.phase.get("failures", 0) + self.phase.get("interruptions", 0) + self.outcomes["undone"]
        return round(min(1.0, hard / (self.count + 3)), 3)

    def columns(self) -> dict[str, object]:
        """The columns of work_units."""
        from capture.jsonio import dumps  # on use: start-up stays short

        return {
            "obs_count": self.count, "hot_files": dumps(self.hot_files()), "phase_signature": dumps(self.phase),
            "fingerprint": dumps(self.prints), "outcomes": dumps(self.outcomes), "commits": dumps(self.commits),
            "friction": self.friction(), "active_ms": self.active_ms, "active_at": self.active_at,
            "annotated_seq": self.seq,
        }  # fmt: skip


def _soon(first: object, then: object) -> bool:
    """Whether a moment follows another one so closely that a commit was tried again."""
    return isinstance(first, int) and isinstance(then, int) and then - first < AGAIN


def _weight(reads: int, edits: int, failures: int) -> int:
    return reads + _EDIT_WEIGHT * edits + _FAILURE_WEIGHT * failures


def _more(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1


def _told(metadata: str | None) -> dict[str, Any]:
    """The facts of an observation's metadata that count; most have none."""
    if not metadata or not any(mark in metadata for mark in _TOLD):
        return {}
    from capture.jsonio import BadJson, loads  # on use: start-up stays short

    try:
        found = loads(metadata)
    except BadJson:
        return {}
    return found if isinstance(found, dict) else {}


def _among(path: str, given: list[str]) -> bool:
    """Whether a path is one of those given to a command, or lies in one."""
    return any(path == one or path.startswith(one + "/") or path.endswith("/" + one) for one in given)


def _ran(seen: Seen, told: dict[str, Any]) -> bool:
    """Whether the tests of a failed line ran: a shell that finds no program, or a build before them, fails no test."""
    answer = told.get("response")
    if "tests" in told or not isinstance(answer, str) or any(sign in answer for sign in _TESTED):
        return True
    if any(word in answer[:400].lower() for word in _NEVER_BEGAN):
        return False
    from capture.shell import parse  # on use: start-up stays short

    command = parse(seen.content)
    before = command.steps[: command.steps.index(command.main)] if command.main else []
    return all(step.simple.after != "&&" or _TRIVIAL.issuperset(step.families) for step in before)


def _has(found: object, key: str) -> bool:
    return isinstance(found, dict) and bool(found.get(key))


def _commit(told: dict[str, Any], at: int) -> dict[str, object]:
    message = str(told.get("message") or told.get("subject") or "").partition("\n")[0]
    return {"hash": told.get("hash"), "message": message, "branch": told.get("branch"), "at": at}
