"""Finds commands that fail in the same way, and errors that recur, across sessions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from nmem.learn import commands
from nmem.learn.errors import RULE, USAGE, WORLD
from nmem.learn.find import COMMAND, ERROR, Finding
from nmem.learn.kinds import Kind
from nmem.learn.learning import FAILED_COMMAND, RECURRING_ERROR, WEAK, Remedy
from nmem.learn.patterns import SHORT, STRONG, THRESHOLD, Met, Pattern, Project
from nmem.learn.remedies import EDIT, RERUN, SPELLING, WITHOUT_CD, without_cd

ONE_COMMAND = 0.8
"""Share of an error's sessions in which one command had it: then it is that command which fails."""
RULES = 4
"""Distinct sessions that a linter's rule must have been broken in: that is put right at once, and mostly just work."""
UNHEALTHY = 0.6
"""Share of a command's sessions in which it fails, not counting work, that makes it a pattern whatever the error."""
SLIP = 0.1
"""Share of a project's sessions below which a wrong call of the client's own tools is a slip, not a pattern."""
BELIEVED = 0.25
"""Confidence below which nothing is called the remedy."""
_FILES = 8

Told = Sequence[tuple[str, Finding]]


def patterns(project: Project) -> list[Pattern]:
    """The failing commands and recurring errors of a project."""
    errors, runs = _grouped(project.findings, ERROR), _grouped(project.findings, COMMAND)
    out, weak = _errors(project, errors, runs)
    covered = _covered(out, errors)
    sure = [made for key, told in runs.items() if (made := _unhealthy(key, told, covered, project.enough))]
    covered |= _covered([*sure, *weak], errors)
    known = {one.command for one in sure}
    weak += [
        made
        for key, told in runs.items()
        if key not in known and (made := _unhealthy(key, told, covered, project.enough - SHORT))
    ]
    for one in weak:
        one.state = WEAK
    return [*out, *sure, *weak]


def _errors(
    project: Project, errors: dict[str, list[tuple[str, Finding]]], runs: dict[str, list[tuple[str, Finding]]]
) -> tuple[list[Pattern], list[Pattern]]:
    """The errors that come back: those that surely are patterns, and those just short of it."""
    out: list[Pattern] = []
    weak: list[Pattern] = []
    for key, told in errors.items():
        hit = [(session, one) for session, one in told if one.count]
        if len(hit) >= STRONG and not (key.startswith("client: ") and _slip(key, hit, project)):
            made = _error(key, hit, runs)
            enough = project.enough + (RULES - THRESHOLD if hit[0][1].nature == RULE else 0)
            if len(hit) >= enough or _strong(made, hit):
                out.append(made)
            elif len(hit) >= enough - SHORT:
                weak.append(made)
    return out, weak


def _covered(found: Sequence[Pattern], errors: dict[str, list[tuple[str, Finding]]]) -> set[tuple[str, str]]:
    """Commands and sessions whose failures are told by an error."""
    listed = {one.key.partition(" | ")[2] or one.key for one in found}
    return {
        (str(each["c"]), session) for key in listed for session, one in errors.get(key, ()) for each in one.failures
    }


def _strong(made: Pattern, hit: Told) -> bool:
    """Whether a wrong call or a gap of the machine was put right in the same way each time: then two sessions do."""
    known = hit[0][1].nature in (USAGE, WORLD) and not hit[0][1].key.startswith("client: ")
    return known and made.remedy is not None and made.remedy.times == len(hit)


def _grouped(findings: Told, kind: str) -> dict[str, list[tuple[str, Finding]]]:
    out: dict[str, list[tuple[str, Finding]]] = defaultdict(list)
    for session, one in findings:
        if one.kind == kind:
            out[one.key].append((session, one))
    return out


def _slip(key: str, hit: Told, project: Project) -> bool:
    named = key.startswith(
        ("client: does not exist", "client: unknown", "client: no skill", "client: mcp", "client: no tool")
    )
    return not named and len(hit) < SLIP * len(project.sessions)


def _error(key: str, hit: Told, runs: dict[str, list[tuple[str, Finding]]]) -> Pattern:
    """An error of several sessions; where it is always the same command's, that command."""
    by_command = Counter(
        command for _, one in hit for command in {str(each["c"]) for each in one.failures if each["c"]}
    )
    command, number = by_command.most_common(1)[0] if by_command else ("", 0)
    title = hit[-1][1].title
    nature = hit[-1][1].nature
    if nature in (USAGE, WORLD) and number >= ONE_COMMAND * len(hit) and not key.startswith(("client: ", "shell: cd ")):
        made = _pattern(FAILED_COMMAND, f"{command} | {key}"[:320], f"`{command}` fails: {title}", hit)
        made.command = command
    else:
        made = _pattern(RECURRING_ERROR, key, title, hit)
    if made.command:
        _later(made, runs.get(made.command, ()))
    return made


def _unhealthy(key: str, told: Told, covered: set[tuple[str, str]], enough: int) -> Pattern | None:
    """A command that has never passed, or fails the same way in most sessions that run it."""
    hit = [(session, one) for session, one in told if one.count and (key, session) not in covered]
    ran = [one for _, one in told if one.runs]
    unclear = sum(one.runs - one.passes - one.count - one.work for one in ran)
    if len(hit) < enough or unclear > sum(one.count for _, one in hit):
        return None
    said = Counter(text for _, one in hit for text in {str(each["s"]) for each in one.failures})
    same = said.most_common(1)[0][1] if said else 0
    if same < UNHEALTHY * len(hit) or (any(one.passes for _, one in told) and len(hit) < UNHEALTHY * len(ran)):
        return None
    made = _pattern(FAILED_COMMAND, key, f"`{key}` keeps failing", hit)
    made.command = key
    _later(made, told)
    return made


def _pattern(kind: str, key: str, title: str, hit: Told) -> Pattern:
    met = [as_met(session, each) for session, one in hit for each in one.failures]
    met.sort(key=lambda one: (one.at, one.observation_id or 0))
    made = Pattern(kind, key, title, met, sum(one.count for _, one in hit))
    made.files = _files(each for _, one in hit for each in one.failures)
    made.fixes, made.remedy = _remedy(hit)
    return made


def as_met(session: str, each: dict[str, object]) -> Met:
    return Met(session, _int(each["at"]), _int(each["id"]), _optional(each["p"]), str(each["x"]))


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _optional(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _files(failures: Iterable[dict[str, object]]) -> list[str]:
    counted: Counter[str] = Counter()
    for each in failures:
        if each["f"]:
            counted[str(each["f"])] += 1
        fix = each["fix"]
        if isinstance(fix, dict) and fix["kind"] == EDIT:
            counted.update(str(path) for path in fix["files"])
    return [path for path, _ in counted.most_common(_FILES)]


def _remedy(hit: Told) -> tuple[list[Met], Remedy | None]:
    """Where failures were put right, and what most often did it; no remedy when that was something else each time."""
    ways: dict[tuple[str, str], list[tuple[str, dict[str, object]]]] = defaultdict(list)
    fixes: list[Met] = []
    for session, one in hit:
        for each in one.failures:
            fix = each["fix"]
            if isinstance(fix, dict):
                fixes.append(_fixed(session, each, fix))
                if fix["kind"] != RERUN:
                    ways[_way(fix)].append((session, fix))
    if not ways:
        return fixes, None
    way = max(ways, key=lambda one: (len({session for session, _ in ways[one]}), one[0] != EDIT, len(ways[one])))
    times = len({session for session, _ in ways[way]})
    confidence = round(len(ways[way]) / len(fixes) * times / (times + 1), 2)
    if times < 2 and len(hit) > THRESHOLD:
        return fixes, None  # one of many
    if confidence < BELIEVED or (way[0] == EDIT and (times < 2 or hit[0][1].nature == RULE)):
        return fixes, None
    return fixes, as_remedy(_common([fix for _, fix in ways[way]]), confidence, times)


def _fixed(session: str, each: dict[str, object], fix: dict[str, object]) -> Met:
    ids = fix["ids"]
    last = ids[-1] if isinstance(ids, list) and ids else None
    return Met(session, _int(each["at"]) + 1, _optional(last), _optional(each["p"]), str(fix["text"]))


def _common(ways: Sequence[dict[str, object]]) -> dict[str, object]:
    """The newest of several ways that are the same; the words in which commands differ, branches say, left open."""
    newest = ways[-1]
    if without_cd(str(newest["text"])) and len({str(fix["text"]) for fix in ways}) > 1:
        return {**newest, "text": WITHOUT_CD}
    typed = [str(ran[0]) for fix in ways if isinstance(ran := fix["commands"], list) and len(ran) == 1]
    words = [each.split() for each in typed]
    if newest["kind"] != SPELLING or len(words) != len(ways) or len({len(each) for each in words}) != 1:
        return newest
    said = " ".join(column[0] if len(set(column)) == 1 else "…" for column in zip(*words, strict=True))
    return {**newest, "commands": [said], "text": str(newest["text"]).replace(typed[-1], said)}


def as_remedy(fix: dict[str, object], confidence: float, times: int) -> Remedy:
    """A stored fix as a remedy."""
    files, ran, ids = (found if isinstance(found := fix[name], list) else [] for name in ("files", "commands", "ids"))
    return Remedy(str(fix["kind"]), str(fix["text"]), tuple(files), tuple(ran), tuple(ids), confidence, times)


def _way(fix: dict[str, object]) -> tuple[str, str]:
    """What makes two fixes the same: the file, the words, or the command with its options."""
    files, ran = fix["files"], fix["commands"]
    if fix["kind"] == EDIT and isinstance(files, list) and files:
        return EDIT, str(files[0])
    if without_cd(str(fix["text"])):
        return SPELLING, WITHOUT_CD
    if fix["kind"] == SPELLING and isinstance(ran, list) and ran and str(fix["text"]).startswith("`"):
        normal = commands.normalise(str(ran[0]))
        options = [word.partition("=")[0] for word in str(ran[0]).split() if word.startswith("-")]
        return SPELLING, " ".join([normal.key if normal else str(ran[0]), *options])
    return str(fix["kind"]), str(fix["text"])


def _later(made: Pattern, told: Told) -> None:
    """Where no session put it right itself: the first later session in which the command passes."""
    if made.fixes or not made.met:
        return
    last = made.met[-1].at
    passing = [
        (session, one)
        for session, one in told
        if one.first_pass and _int(one.first_pass["at"]) > last and not one.count
    ]
    if not passing:
        return
    session, one = min(passing, key=lambda each: _int(each[1].first_pass["at"]) if each[1].first_pass else 0)
    first = one.first_pass
    assert first
    made.fixes = [Met(session, _int(first["at"]), _int(first["id"]), _optional(first["p"]), "it passes")]
    fix = first["fix"]
    if isinstance(fix, dict):
        made.remedy = as_remedy(fix, 0.3, 1)


KINDS = (Kind(FAILED_COMMAND, conclude=lambda project, _found: patterns(project)), Kind(RECURRING_ERROR))
"""Concluded together: an error that one command has is that command's."""
