"""Skills: sequences of steps that went well in several episodes of a project, with a name, when to use them, evidence.

A step is a command or a change in its general form: `pytest`, `npm run build`, `edit *.py in src`. What failed is left
out, so a sequence is what worked in the end. Nothing is asked of a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from capture.redaction import redact
from capture.shell import parse
from capture.text import clean
from nmem.episodes.text import tokens
from nmem.threads import skill_rows

EPISODES = 2
"""Different episodes in which a sequence must have worked."""
SHORTEST, LONGEST = 2, 6
KEPT = 20
"""Skills of a project."""
_UNITS, _STEPS = 400, 300
_EDITS = ("file_edit", "file_write")
_COMMANDS = ("command", "test", "build", "lint", "install", "git_commit", "git_push", "git_other", "github")
_WEIGHTY = frozenset(("test", "build", "lint", "install", "git_commit", "git_push", "github"))
_RUNNERS = frozenset(("npm", "pnpm", "yarn", "bun", "cargo", "go", "git", "gh", "docker", "make", "just", "mise", "uv",
                      "poetry", "pip", "kubectl", "terraform", "dotnet", "gradle", "mvn", "deno", "bundle", "rake",
                      "mix", "composer", "swift", "zig"))  # fmt: skip
_VERBS = {"test": "test", "build": "build", "lint": "lint", "install": "install", "git_commit": "commit",
          "git_push": "push", "github": "open it on the forge", "file_edit": "edit", "file_write": "edit",
          "git_other": "git", "command": "run"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One step in its general form."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Episode:
    """What worked in one episode, in order."""

    id: int
    intent: str
    steps: tuple[Step, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Found:
    """A sequence that worked, and the episodes in which it did."""

    name: str
    use_when: str
    steps: tuple[str, ...]
    evidence: tuple[int, ...]
    last_at: int


def command_form(line: str) -> str:
    """A command without its particulars: program and subcommand; empty when it is nothing to repeat."""
    command = parse(line)
    step = command.main or (command.steps[0] if command.steps else None)
    if step is None or not step.argv:
        return ""
    argv = step.argv
    program = argv[0].rsplit("/", 1)[-1]
    if program.startswith("python") and argv[1:2] == ["-m"] and len(argv) > 2:
        program, argv = argv[2], argv[2:]
    if program not in _RUNNERS:
        return program[:40]
    rest = [word for word in argv[1:] if not word.startswith("-") and word.isascii()]
    more = rest[:2] if rest[:1] in (["run"], ["pr"], ["issue"], ["exec"], ["compose"]) else rest[:1]
    return " ".join([program, *(word[:30] for word in more)])


def edit_form(path: str) -> str:
    """A change without its particulars: the kind of file and the part of the project."""
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    stem, dot, extension = parts[-1].rpartition(".") if parts else ("", "", "")
    kind = f"*.{extension.lower()}" if dot and stem else (parts[-1] if parts else "a file")
    where = parts[0] if len(parts) > 1 and not path.startswith("/") else ""
    return f"edit {kind} in {where}" if where else f"edit {kind}"


def steps(rows: Iterable[tuple[str, str | None, str, str]]) -> tuple[Step, ...]:
    """Steps of (obs_type, file_path, content, outcome) in order: what did not fail, repetitions once."""
    out: list[Step] = []
    for obs_type, path, content, outcome in rows:
        if outcome == "failed":
            continue
        if obs_type in _EDITS and path:
            step = Step("file_edit", edit_form(path))
        elif obs_type in _COMMANDS:
            step = Step(obs_type, command_form(content))
        else:
            continue
        if step.text and (not out or out[-1] != step):
            out.append(step)
    return tuple(out)


def mine(episodes: Sequence[Episode], least: int = EPISODES) -> list[Found]:
    """Sequences of two to six steps that occur in at least `least` episodes; parts of longer ones are left out."""
    where: dict[tuple[Step, ...], list[Episode]] = {}
    for episode in episodes:
        for run in _runs(episode.steps):
            where.setdefault(run, []).append(episode)
    held = {run: of for run, of in where.items() if len(of) >= least and _useful(run)}
    inside = _inside(held)
    whole = [run for run in held if inside.get(run, 0) < len(held[run])]
    whole.sort(key=lambda run: (-len(held[run]) * (len(run) - 1), [step.text for step in run]))
    return [_found(run, held[run]) for run in whole[:KEPT]]


def _runs(of: Sequence[Step]) -> set[tuple[Step, ...]]:
    return {
        tuple(of[start : start + size]) for size in range(SHORTEST, LONGEST + 1) for start in range(len(of) - size + 1)
    }


def _useful(run: tuple[Step, ...]) -> bool:
    """Something is checked, built or delivered, by at least two different steps, and it ends with that."""
    kinds = {step.kind for step in run}
    return bool(kinds & _WEIGHTY) and len({step.text for step in run}) > 1 and run[-1].kind in _WEIGHTY


def _inside(held: Mapping[tuple[Step, ...], Sequence[Episode]]) -> dict[tuple[Step, ...], int]:
    """For each part of a longer sequence how often that one occurs, at most."""
    out: dict[tuple[Step, ...], int] = {}
    for longer, of in held.items():
        for size in range(SHORTEST, len(longer)):
            for at in range(len(longer) - size + 1):
                part = longer[at : at + size]
                out[part] = max(out.get(part, 0), len(of))
    return out


def _found(run: tuple[Step, ...], of: Sequence[Episode]) -> Found:
    return Found(
        name=_name(run),
        use_when=_use_when(run, of),
        steps=tuple(redact(clean(step.text)) for step in run),
        evidence=tuple(sorted({episode.id for episode in of})),
        last_at=max(episode.at for episode in of),
    )


def _name(run: tuple[Step, ...]) -> str:
    verbs: list[str] = []
    for step in run:
        verb = _VERBS[step.kind]
        if not verbs or verbs[-1] != verb:
            verbs.append(verb)
    tools = sorted({step.text for step in run if step.kind in _WEIGHTY and step.kind not in ("git_commit", "git_push")})
    named = f" ({', '.join(tools[:2])})" if tools else ""
    return redact(clean(", ".join(verbs) + named))[:120]


def _use_when(run: tuple[Step, ...], of: Sequence[Episode]) -> str:
    """The files it starts from, and the words that the goals of the episodes share."""
    edited = next((step.text.removeprefix("edit ") for step in run if step.kind == "file_edit"), "")
    counts = Counter(word for episode in of for word in set(tokens(episode.intent[:400])))
    shared = [word for word, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if number > 1][:4]
    parts = [f"changing {edited}"] if edited else []
    if shared:
        parts.append(f"the goal is about {', '.join(shared)}")
    return redact(clean(" and ".join(parts))) or "the same steps are due"


def extract(db: Connection, project_id: int, now: int, least: int = EPISODES) -> int:
    """Find the skills of a project anew and store them; how many. Inside the caller's transaction."""
    unique: dict[str, Found] = {}
    for each in mine(_episodes(db, project_id), least):
        unique.setdefault(each.name, each)
    for each in unique.values():
        skill_rows.keep(db, project_id, each.name, each.use_when, each.steps, each.evidence, each.last_at, now)
    skill_rows.keep_only(db, project_id, [*unique])
    return len(unique)


def _episodes(db: Connection, project_id: int) -> list[Episode]:
    return [
        Episode(unit_id, intent, steps(skill_rows.actions(db, unit_id, _STEPS)), last_at)
        for unit_id, intent, last_at in skill_rows.units(db, project_id, _UNITS)
    ]
