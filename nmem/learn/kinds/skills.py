"""Finds skills: sequences of passing commands after a change to files that recur across sessions.

What one session says of it are its stretches of work: the kinds of files that were changed, then the commands that
passed, each at its last place. What several sessions say is a skill where at least one of the commands is the project's
own: that tests are run and work is committed, everybody knows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from capture.redaction import redact
from capture.text import clean
from nmem.learn.find import Finding
from nmem.learn.kinds import Kind
from nmem.learn.learning import SKILL, Remedy
from nmem.learn.patterns import Met, Pattern, Project
from nmem.learn.rows import Row

STEPS = "steps"
"""The kind of what a session says of it."""
SHORTEST, LONGEST = 2, 5
"""Commands of a skill."""
KEPT = 5
"""Skills of a project."""
SHARE = 0.25
"""Part of the sessions with such changes that must have gone this way: a habit, not what happened thrice."""
SAME = 0.7
"""A part of a longer skill is told by itself only where that one was followed in less than this of its sessions."""
_STRETCHES, _COMMANDS = 12, 12
"""Of a session, and of a stretch."""
_TYPED = 80
_VERB = 10
"""Letters of what a program may be asked to do, `bd sync`."""
LIFT = 1.2
"""How much more often than usual files of an ending must have been changed for it to say when a skill is due."""
_INTERPRETERS = frozenset(
    ("python", "python3", "node", "deno", "ruby", "perl", "php", "lua", "bash", "sh", "zsh", "pwsh", "Rscript", "julia")
)
_NOTHING = frozenset(
    ("echo", "printf", "sed", "awk", "cat", "cd", "export", "source", "true", "sleep", "rm", "cp", "mv", "mkdir", "xxd",
     "jq", "sqlite3", "base64", "git add", "git checkout", "git switch", "git restore", "git stash", "git reset",
     "git fetch", "git pull", "git rebase", "git merge", "git worktree", "git config", "git clone", "git init",
     "git status", "git diff", "git log", "git show", "git branch", "git rev-parse", "git ls-files", "git blame",
     "git rm", "git mv", "git clean", "git cherry-pick", "git revert", "git am", "git apply", "git bisect")
)  # fmt: skip
"""Forms that are no step of a way to work."""
_LOOKS = frozenset(("show", "list", "ls", "status", "view", "ready", "info", "log", "logs", "diff", "get", "search",
                    "help", "version", "describe", "find", "wsl"))  # fmt: skip
"""What a program is asked where it only looks."""
_KNOWN = frozenset(
    ("git commit", "git push", "gh pr", "gh pr create", "glab mr", "go test", "go build", "go vet", "go run", "go mod",
     "cargo test", "cargo build", "cargo check", "cargo run", "npm test", "npm run test", "npm install", "npm ci",
     "npm run build", "npm start", "pnpm test", "pnpm install", "pnpm build", "pnpm run build", "pnpm run test",
     "yarn test", "yarn", "yarn install", "yarn build", "bun test", "bun run test", "bun install", "bun run build",
     "pytest", "python -m pytest", "python -m unittest", "unittest", "tsc", "npx tsc", "make", "make test",
     "make build", "mix test", "mix compile", "dotnet test", "dotnet build", "gradle test", "gradle build", "mvn test",
     "swift build", "swift test", "zig build", "docker build", "docker run", "docker compose up", "uv run pytest",
     "poetry run pytest", "npx vitest", "npx jest", "vitest", "jest")
)  # fmt: skip
"""Forms that anybody would run: a skill has at least one other."""
LAST = frozenset(("git commit", "git push", "gh pr create", "gh pr", "glab mr"))
"""What a stretch of work ends with."""
_VERBS = {"git commit": "commit", "git push": "push", "gh pr create": "open a pull request for",
          "gh pr": "open a pull request for", "glab mr": "open a merge request for"}  # fmt: skip
"""What somebody wants who is about to run it."""
_RUNNERS = frozenset(
    ("npm", "pnpm", "yarn", "bun", "cargo", "go", "git", "gh", "glab", "docker", "make", "just", "mise", "uv", "poetry",
     "kubectl", "terraform", "dotnet", "gradle", "mvn", "deno", "bundle", "rake", "mix", "composer", "swift", "zig",
     "npx", "bunx", "task", "nx", "turbo")
)  # fmt: skip
_ASKING = _RUNNERS - {"make", "yarn", "mix"}
"""Those that do nothing by themselves."""
_TWO = frozenset(("run", "pr", "mr", "issue", "exec", "compose", "tool"))
_BOTH = frozenset(("uv", "poetry", "bundle"))
"""Runners of other programs: what is run says more."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """One piece of work of a session."""

    session_id: str
    at: int
    observation_id: int
    prompt_id: int | None
    changed: tuple[str, ...]
    """Endings of the files that were changed before the first command, `.py`."""
    did: tuple[str, ...]
    """The forms of what passed, in the order of their last passing."""
    typed: dict[str, str]
    """Form -> as it was typed."""


def form(part: str) -> str:
    """A command without its particulars: program and what it is asked to do; empty when it is no step."""
    words = [word for word in part.split() if word[0] != "-"]
    if not words:
        return ""
    while len(words) > 1 and words[0] not in _RUNNERS and (words[1] in _RUNNERS or words[1] in _INTERPRETERS):
        words = words[1:]  # whatever wraps it
    program = words[0].rpartition("/")[2]
    if program in _INTERPRETERS:
        if program.startswith("python") and "-m" in part.split():
            return " ".join(["python -m", *words[1:2]])
        return f"{program} {words[1]}" if len(words) > 1 and "." in words[1] and "/" in words[1] else ""
    if program in _RUNNERS:
        many = 3 if words[1:2] and words[1] in _TWO else 2
        if program in _BOTH and words[1:2] == ["run"] and len(words) > 2 and words[2] in _INTERPRETERS:
            many = 4
        out = " ".join([program, *words[1:many]])
    else:
        verb = words[1] if len(words) > 1 and words[1].isascii() and words[1].isalpha() and words[1].islower() else ""
        out = f"{program} {verb}" if 1 < len(verb) <= _VERB else program
    looks = out in _NOTHING or out.rpartition(" ")[2] in _LOOKS or out in _ASKING
    return "" if looks else out[:60]


def finding(rows: Sequence[Row]) -> Finding | None:
    """The stretches of work of a session; None when it has none."""
    out = Finding(STEPS, STEPS, STEPS)
    out.failures = [each for each in _stretches(rows) if len(each["d"]) > 1][-_STRETCHES:]
    out.count = len(out.failures)
    return out if out.failures else None


def _stretches(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    changed: dict[str, None] = {}
    done: dict[str, str] = {}
    last: Row | None = None
    for row in rows:
        if row.edits:
            ending = _ending(row.path)
            if ending:
                changed[ending] = None
        elif row.outcome != "failed" and row.normal:
            for part in row.normal.parts:
                if step := form(part):
                    done.pop(step, None)
                    done[step] = part[:_TYPED]
                    last = row
            if last is row and not done.keys().isdisjoint(LAST):
                yield _stretch(changed, done, row)
                pushed = "git push" in done or not any(step.startswith("git") for step in done)
                changed, done = ({}, {}) if pushed else ({}, {"git commit": done["git commit"]})
                done = {}
    if last is not None and done:
        yield _stretch(changed, done, last)


def _stretch(changed: Iterable[str], done: dict[str, str], row: Row) -> dict[str, Any]:
    kept = list(done.items())[-_COMMANDS:]
    return {"at": row.at, "id": row.id, "p": row.prompt_id, "e": list(changed)[:8], "d": [list(each) for each in kept]}


def _ending(path: str) -> str:
    stem, dot, ending = path.rpartition("/")[2].rpartition(".")
    return f".{ending.lower()}" if dot and stem and len(ending) <= 8 else ""


def stretches(project: Project) -> list[Stretch]:
    """All that the sessions of a project say."""
    told: list[tuple[str, dict[str, Any]]] = [
        (session, each) for session, one in project.findings if one.kind == STEPS for each in one.failures
    ]
    return [
        Stretch(session, one["at"], one["id"], one["p"], tuple(one["e"]), tuple(step for step, _ in one["d"]),
                dict(one["d"]))
        for session, one in told
    ]  # fmt: skip


class _Told:
    """All stretches of a project, with what each skill is held against, counted once."""

    def __init__(self, told: Sequence[Stretch]) -> None:
        self.all = told
        self.sessions = frozenset(each.session_id for each in told)
        self.usual = Counter(ending for each in told for ending in each.changed)
        self.changing: dict[str, set[str]] = defaultdict(set)
        """Ending of a file -> the sessions that changed such files."""
        for each in told:
            for ending in each.changed:
                self.changing[ending].add(each.session_id)

    def chances(self, endings: Sequence[str]) -> frozenset[str]:
        """The sessions that changed files with one of some endings; of none all sessions."""
        return frozenset().union(*(self.changing[one] for one in endings)) if endings else self.sessions


def patterns(project: Project) -> list[Pattern]:
    """The skills of a project, the best founded first."""
    told = _Told(stretches(project))
    found = [made for run, of in _runs(told.all, project.enough) if (made := _skill(run, of, told))]
    found.sort(key=lambda one: (-len(one.sessions) * len(_particular(one)), one.key))
    out: list[Pattern] = []
    for one in found:
        mine = _particular(one)
        if len(out) < KEPT and all(2 * len(mine & _particular(each)) < len(mine) for each in out):
            out.append(one)
    return out


def _particular(one: Pattern) -> set[str]:
    """The steps of a skill that are the project's own."""
    return set(one.key.split(" > ")) - _KNOWN


def _runs(told: Sequence[Stretch], least: int) -> list[tuple[tuple[str, ...], list[Stretch]]]:
    """Sequences that at least so many sessions followed, others in between or not; no part of one nearly as common."""
    out: dict[tuple[str, ...], list[Stretch]] = {}

    def grow(run: tuple[str, ...], of: list[tuple[Stretch, int]]) -> None:
        after: dict[str, list[tuple[Stretch, int]]] = defaultdict(list)
        for stretch, place in of:
            for at in range(place, len(stretch.did)):
                after[stretch.did[at]].append((stretch, at + 1))
        for step, ends in after.items():
            if step not in run and len({stretch.session_id for stretch, _ in ends}) >= least:
                longer = (*run, step)
                if len(longer) >= SHORTEST and _own(longer):
                    out[longer] = [stretch for stretch, _ in ends]
                if len(longer) < LONGEST:
                    grow(longer, ends)

    grow((), [(stretch, 0) for stretch in told])
    size = {run: len({stretch.session_id for stretch in of}) for run, of in out.items()}
    having: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for run in out:
        for step in run:
            having[step].append(run)
    return [
        (run, of) for run, of in out.items()
        if not any(size[other] >= SAME * size[run] and _within(run, other) for other in having[run[0]])
    ]  # fmt: skip


def _own(run: Sequence[str]) -> bool:
    """Whether something of it is the project's own, and it is more than a commit with its push."""
    return any(step not in _KNOWN for step in run) and sum(step not in LAST for step in run) > 0


def _within(run: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a sequence is a part of a longer one, in its order."""
    if len(run) >= len(other):
        return False
    steps = iter(other)
    return all(step in steps for step in run)


def _skill(run: tuple[str, ...], of: Sequence[Stretch], told: _Told) -> Pattern | None:
    sessions = {each.session_id for each in of}
    counted = Counter(ending for each in of for ending in each.changed)
    many = len(of) * len(told.all)
    endings = [
        ending for ending, number in counted.most_common(3)
        if number >= 0.5 * len(of) and number * len(told.all) >= min(LIFT * told.usual[ending] * len(of), many)
    ][:2]  # fmt: skip
    share = len(sessions) / max(1, len(told.chances(endings) | sessions))
    if share < SHARE:
        return None
    typed = tuple(_common([each.typed[step] for each in of], step) for step in run)
    when = f" (after a change of {' or '.join(f'*{ending}' for ending in endings)})" if endings else ""
    title = f"{', then '.join(f'`{each}`' for each in typed)}{when}"
    met = [Met(each.session_id, each.at, each.observation_id, each.prompt_id, each.typed[run[-1]]) for each in of]
    made = Pattern(SKILL, " > ".join(run)[:320], _safe(title)[:300], sorted(met, key=lambda one: one.at), len(of))
    made.files = [f"*{ending}" for ending in endings]
    text = _safe(", then ".join(f"`{each}`" for each in typed))
    made.remedy = Remedy(STEPS, text, (), tuple(map(_safe, typed)), (), round(share, 2), len(sessions))
    return made


def _common(typed: Sequence[str], step: str) -> str:
    """How a step is mostly typed; its form where it is typed otherwise each time."""
    text, number = Counter(typed).most_common(1)[0]
    return text if 2 * number > len(typed) else step


def _safe(text: str) -> str:
    return redact(clean(text))


_ASKED_BY = {
    "git commit": ("commit this", "commit it", "commit the", "commit and", "commit everything", "commit all",
                   "and commit", "please commit", "then commit", "create a commit", "make a commit"),
    "git push": ("push it", "push this", "and push", "please push", "push the", "push to"),
    "gh pr create": ("open a pr", "create a pr", "make a pr", "open a pull", "create a pull", "draft pr"),
}  # fmt: skip
"""How people ask for what a skill ends with."""
_SELF = ("lint", "format", "typecheck", "migrate", "release", "deploy", "publish")
"""Work that is asked for by its name."""


def asked_by(commands: Sequence[str]) -> list[str]:
    """Phrases of a prompt that speak of a skill's situation: what it ends with, and what its commands do."""
    own = [each for each in commands if form(each) not in _KNOWN and " " in each]
    last = next((_ASKED_BY[form(each)] for each in commands[-1:] if form(each) in _ASKED_BY), ())
    named = [f"{how} {word}" for word in _SELF for how in ("run the", "run", "fix the", "fix")
             if any(word in each for each in own)]  # fmt: skip
    return [*last, *named]


def situation(commands: Sequence[str], files: Sequence[str]) -> str:
    """When a skill is due, as one would type it after /how: `commit changed go files`, `push changes with bd sync`."""
    forms = [form(each) for each in commands]
    verb = _VERBS.get(forms[-1], "check") if forms else "check"
    own = next((each for each in forms if each not in _KNOWN), "")
    kinds = " or ".join(each.removeprefix("*.") for each in files)
    told = f"{verb} changed {kinds} files" if kinds else f"{verb} changes with {own}"
    return " ".join("".join(char if char.isalnum() else " " for char in told).split())


def followed(steps: Sequence[str], did: Sequence[str]) -> bool:
    """Whether commands (their forms) hold all steps in their order."""
    rest = iter(did)
    return all(step in rest for step in steps)


KINDS = (
    Kind(
        SKILL,
        find=lambda rows, _said: [way] if (way := finding(rows)) else [],
        conclude=lambda project, _found: patterns(project),
    ),
)
