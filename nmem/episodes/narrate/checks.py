"""Follows tests, builds and failed commands of an episode: how often, why, passed later and after which edits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from nmem.conversation.cues import Cue
from nmem.episodes import open_ends
from nmem.episodes.narrate import cues, naming
from nmem.episodes.narrate.prose import clip, sentences
from nmem.episodes.narrate.records import FAILED, OK, Action, Episode
from nmem.names import reads_as_sentence
from nmem.text import whole

_CHECKS = frozenset(("test", "build", "lint"))
_BY_CALL = frozenset(("install", "git_push"))
"""What passes or fails by how it is called."""
FOLLOWED = _CHECKS | {"git_commit", "git_push", "install", "command", "github", "git_other"}
_NO_PROGRAM = (
    r"command not found|unrecognized subcommand|No module named|not recognized as|Script not found|Missing script"
    r"|no (?:such )?task \S* ?found|No rule to make target"
)
MISUSE = re.compile(
    rf"{_NO_PROGRAM}|unknown (?:option|command|flag)|Unknown JSON field|unexpected argument"
    r"|invalid (?:option|argument)|^Usage:|No such file or directory|unknown revision|cannot change to"
    r"|cannot find main module|can't open (?:input )?file|Cannot find module '/(?:private/)?tmp",
    re.IGNORECASE,
)
"""There is no such program, module, option or file: the call was wrong, or something is not installed."""
ABSENT = re.compile(rf"(?i){_NO_PROGRAM}|ImportError: (?!cannot import name)")
_PATH = re.compile(
    r"(?i)\bcd:.*(?:no such|not a) |can't open (?:(?:input )?file|')|cannot change to|directory not found"
    r"|no collectors for|unittest\.loader\._FailedTest|ERROR: (?:file )?not found: |not a valid editable requirement"
)
BY_PLACE = "path"
"""What is at fault for a call from another folder than the one it was meant for, or for a test that is not there."""
_SETUP = re.compile(
    rf"(?i){MISUSE.pattern}|(?:Syntax|Indentation|Tab|Import|ModuleNotFound)Error|cannot (?:import|find (?:mod|pack))"
)
"""What ran was not the work: the call, the interpreter, a package, or the script itself is at fault."""
_MANY = 3
"""Failures for one kind of reason that are no slip, although no edit of the work was needed to get past them."""
_SCRIPT = re.compile(
    r"(?:python|node|bun|deno|ruby|perl|php|bash|sh)[\d.]* (?:\(|\S+\.\w+\b)|(?:python[\d.]* (?:-m )?)?pytest \S+\.py\b"
)
_PYTHON = re.compile(r"^python[\d.]+ ")
_NUMBERS = re.compile(r"[\d\W_]+")
_PUSHING = re.compile(
    r"^(?:remote: |! \[rejected\]|.*failed to push|To (?:git@|https?:))", re.IGNORECASE | re.MULTILINE
)
"""What a push prints."""
_LOOKS = re.compile(
    r"(?:check|list|show|look|find|get|view|inspect|wait|see|read|search|monitor|poll|validate)\b", re.IGNORECASE
)
"""How a call describes itself that only looks."""
_NONE_RAN = re.compile(r"^(?:=+ )?(?:no tests ran|\d+ deselected(?:, \d+ warnings?)?) in [\d.]+s", re.MULTILINE)
_COMPARES = re.compile(r"\bgit stash(?: push| save)?\s*(?:-\S+ *)*[;&].*\bgit stash pop", re.DOTALL)
"""A command that stashes the work, runs something and restores the work: the result says nothing about the work."""


@dataclass(slots=True)
class Struggle:
    """One thing that was tried until it passed, or given up."""

    kind: str
    name: str
    failures: int = 0
    reasons: list[str] = field(default_factory=list)
    passed: bool = False
    """The newest run passed."""
    fixed_by: list[str] = field(default_factory=list)
    """Files edited between the newest failure and the run that passed."""
    first_at: int = 0
    last_at: int = 0
    failed_at: int = 0
    """Its first failure."""
    passed_at: int = 0
    """Its first run that passed after its newest failure."""
    counts: str = ""
    some: bool = False
    """Only tests of some names ran since its newest failure, or since an edit."""
    touched: bool = False
    """A file was edited after its newest run."""
    open: bool = False
    """It ran again after its newest failure, with a result that was not seen."""
    again: bool = False
    """That was a run of the same, or of all of it."""
    probe: bool = False
    """It only looks: its failure is an answer."""
    misused: bool = False
    """It failed because there is no such program or subcommand, not because of the work."""
    trial: bool = False
    """It runs a file that the episode made and took away again, or that the agent has done with: its failure is no end
    of the work."""
    cure: str = ""
    """The call or the interpreter that passed in the end, where that was another one and no edit explains it."""
    waited: str = ""
    """The question it waited for at its newest run."""
    got_past: bool = False
    """A probe whose turn the agent ended with an answer: what it did not show was seen otherwise or not needed."""
    settled: bool = False
    """After its newest run a check of the same code passed, or the work was committed."""
    red: bool = False
    """The check failed when it was last seen, and no later run of the same scope passed or has an unknown result."""
    end: str = ""
    """What became of it where its own newest run failed: how it goes on after "failed once"."""
    command: str = ""
    """Its newest run that failed."""
    said: str = ""
    """What that answered."""
    edited: list[str] = field(default_factory=list)
    faults: list[tuple[str, str]] = field(default_factory=list)
    """Each failure: what was at fault ("path", "setup", "own" for the script that ran, "" for the work), the reason."""
    broke: bool = False
    """The work had been edited before its newest failure."""
    at_first: bool = False
    """Nothing had been edited before its first failure."""
    undone: bool = False
    """It failed after the work had been edited, and it took another edit of the work to get past that."""
    made: bool = False
    """It runs a script that the episode made outside the folders of tests: no test of the project's."""

    @property
    def unable(self) -> bool:
        """Every failure says that nothing ran: no such program, module or file of tests."""
        return bool(self.faults) and all(how == BY_PLACE or ABSENT.search(reason) for how, reason in self.faults)

    @property
    def weighty(self) -> list[str]:
        """The reasons of the failures that are no slips: of the work, else of what failed often or to the end."""
        work = [reason for how, reason in self.faults if not how]
        got_by = self.passed or self.open
        by_call = self.kind == "install" and got_by and not self.fixed_by
        if work and got_by and not by_call:
            return work
        least, kinds = _MANY if self.passed or by_call else 1, [how for how, _ in self.faults]
        return [reason for how, reason in self.faults if how != BY_PLACE and kinds.count(how) >= least]

    def pass_(self, *, by_name: bool) -> None:
        """Take a run that passed; `by_name`: of tests, only those of some names ran."""
        self.some = by_name and self.kind == "test" and (self.some or not self.passed or self.touched)
        if not self.passed:
            self.passed_at = self.last_at
        self.passed, self.touched = True, False


def struggles(episode: Episode, trials: frozenset[str] = frozenset()) -> list[Struggle]:
    """Everything that ran as a check, and every other command that failed, in order of its first run.

    `trials`: the names of files that the episode made and took away again.
    """
    found: dict[tuple[str, str], Struggle] = {}
    files: dict[str, bool] = {}  # those edited so far, and whether the episode made them by writing them whole
    for action in episode.actions:
        if action.metadata and ((action.halted and not action.waited) or cues.CANCELLED.search(action.response[:300])):
            continue
        if action.obs_type in ("file_edit", "file_write") and action.outcome != FAILED and action.file_path:
            files.setdefault(action.file_path, action.obs_type == "file_write")
            for one in found.values():
                one.touched = True
                if not one.passed and one.failures:
                    one.edited.append(action.file_path)
            continue
        if action.obs_type not in FOLLOWED or _says_nothing(action):
            continue
        _note(found, action, judged(action), files)
    _judge(episode, list(found.values()), files, trials)
    return list(found.values())


def _judge(episode: Episode, found: list[Struggle], files: dict[str, bool], trials: frozenset[str]) -> None:
    """What became of each, and which of them run no check of the project but a script made for the moment."""
    for one in found if trials else ():
        one.trial = any(name in f"{one.name} {one.command}" for name in trials)
        one.probe |= one.trial
    if failed_ones := [one for one in found if one.failures]:
        _judge_ends(episode, failed_ones)
    outside = {path: made and not _IN_TESTS.search(path) for path, made in files.items()}
    for one in found:
        one.made = _runs_made(one, outside)
        one.red &= not one.made
    for one in found:
        if one.made and one.failures and not one.passed:
            meant = one.end == _VOUCHED or _content(episode, one.last_at)
            one.probe |= meant and one.faults[-1][0] != "setup"
            one.trial |= one.probe or _left_behind(one, found)


def _left_behind(one: Struggle, found: list[Struggle]) -> bool:
    """Whether another test passed after a script that failed; of one that could not run, no other script tells that."""
    later = [other for other in found if other.kind == "test" and other.passed and other.last_at > one.last_at]
    return any(not other.made or one.faults[-1][0] != "setup" for other in later)


def _content(episode: Episode, at: int) -> bool:
    """Whether the agent was content with what a run showed, right after it: a demonstration may have to fail."""
    return any(_PRAISES.match(said.text.strip()) for said in episode.said_after(at)[:1])


_PRAISES = re.compile(
    r"(?:perfect|excellent|great|the fix (?:works|is working)|this is (?:exactly )?what we want)\b", re.IGNORECASE
)
_IN_TESTS = re.compile(r"(?:^|/)(?:tests?|specs?|__tests__|testing)/")


def _judge_fault(one: Struggle | None, files: dict[str, bool]) -> None:
    """Decide by the edits between it and the next run what the newest failure was due to. `files`: see `struggles`."""
    if one is None or one.passed or not one.faults:
        return
    how, reason = one.faults[-1]
    work = any(not files[path] and not _named_in(one.command, path) for path in one.edited)
    if work and one.broke and how != BY_PLACE:
        how, one.undone = "", True
    elif not (how or work) and _runs_made(one, files):
        how = "own"
    one.faults[-1] = (how, reason)


def _runs_made(one: Struggle, files: dict[str, bool]) -> bool:
    """Whether a struggle runs a script that the episode made."""
    called = f"{one.name} {one.command}"
    return bool(_SCRIPT.match(one.name)) and any(_named_in(called, path) for path in files if files[path])


def _named_in(command: str, path: str) -> bool:
    """Whether a command names a file."""
    return re.search(rf"(?<![\w.-]){re.escape(path.rsplit('/', 1)[-1])}", command) is not None


def _judge_ends(episode: Episode, failed_ones: list[Struggle]) -> None:
    """What became of each that failed."""
    ends = [(episode.turn(one.at), one.at, bool(cues.NOT_DONE.search(one.text))) for one in episode.closings()]
    done = [one for one in episode.actions if not (one.halted or _says_nothing(one))]
    rows = [row(action) for action in done]
    runs = [one for one in done if one.obs_type in _CHECKS]
    for one in failed_ones:
        turn = episode.turn(one.last_at)
        failed = (one.last_at, one.kind, "", one.command, FAILED, one.said)
        after = [each for each in rows if each[0] > one.last_at]
        if one.kind == "lint":
            program = _program(one.name)
            after = [
                each for each in after
                if each[1] not in _CHECKS or (each[1] == "lint" and _program(naming.name(each[3], "lint")) == program)
            ]  # fmt: skip
        one.settled = one.kind in _CHECKS and open_ends.closed(failed, after)
        one.red = (
            one.kind in _CHECKS
            and not (one.passed or one.misused or one.probe or one.faults[-1][0] == BY_PLACE)
            and not any(action.at > one.last_at and _again(one, action) for action in runs)
        )
        if one.settled and any(open_ends.passes(failed, each) for each in after):
            one.end = "; a smaller run passed later" if one.red else ", then passed later"
        elif _FORGE.match(one.name):
            one.end = ", then passed by the agent's word" * vouched(episode, one.last_at, cues.CI_PASSES)
        elif one.kind in _CHECKS and not _explained(failed, after) and vouched(episode, one.last_at):
            ran = one.open or one.settled
            one.end = ", then passed by the agent's word" if ran else _VOUCHED
        elif one.settled:
            one.end = ", then the work was committed"
        one.got_past = one.probe and any(its == turn and at > one.last_at and not bad for its, at, bad in ends)


_VOUCHED = " and was not seen to pass; the agent said that tests do"
_FORGE = re.compile(r"gh (?:pr checks|run (?:watch|view))\b")
"""Commands that tell how checks on the forge went."""


def _again(one: Struggle, action: Action) -> bool:
    """Whether a run that was not seen to fail checks all that a failed one did."""
    kinds = {action.obs_type, *families(action)}
    if judged(action) is False or not (one.kind in kinds or (one.kind == "build" and "test" in kinds)):
        return False
    program = _program(one.name).removesuffix(":fix")
    scripted = " run " not in program and _LINTS.search(action.content)
    if one.kind == "lint" and not (program in action.content or scripted):
        return False
    those, these = open_ends.targets(one.command), open_ends.targets(action.content)
    return not these or (bool(those) and open_ends.same_code(one.command, action.content))


_LINTS = re.compile(r"\b(?:mise|npm|bun|pnpm|yarn|make|just|task|tox|nox|pre-commit)\b(?: run)? (?:lint|check|run)\b")
"""A project script that runs all linters."""


def _explained(failed: open_ends.Row, after: list[open_ends.Row]) -> bool:
    """Whether a run of fewer tests passed after it: the agent's word on tests is about those."""
    return failed[1] == "test" and any(one[1] == "test" and one[4] == OK for one in after)


def _program(name: str) -> str:
    """The program of a check, as it is called: of two linters one says nothing of the other."""
    words = name.split()
    if words[1:2] == ["run"] and words[0] in _SCRIPTS:
        return " ".join(words[:3])
    launched = bool(words) and words[0] in _LAUNCHERS
    return " ".join(words[: 1 + launched])


_SCRIPTS = frozenset(("bun", "mise", "npm", "pnpm", "yarn"))
_LAUNCHERS = frozenset(("python", "uv", "uvx", "poetry", "npx", "bunx", "pipx"))


def vouched(episode: Episode, since: int, cue: Cue = cues.PASSES) -> bool:
    """Whether the agent said after a moment that checks pass."""
    texts = (said.text for said in episode.closings() if said.at >= since and cue.search(said.text))
    rows = (one for text in texts for one in sentences(text))
    said = (f"{one.label.rsplit(' / ', 1)[-1]} {one.text}" if one.label else one.text for one in rows)
    return any(says_pass(text, cue) for text in said)


def says_pass(text: str, cue: Cue) -> bool:
    """Whether a sentence says that checks pass."""
    return bool(cue.search(text)) and not cues.PASSES_NOT.search(_NONE_FAILED.sub("", text))


_NONE_FAILED = re.compile(r"\b(?:0|no|zero|without) (?:test )?fail\w*", re.IGNORECASE)


def found_by_own_tool(action: Action, root: str) -> bool:
    """Whether a linter that the project itself makes ended as linters do that find something: no check of the work."""
    if action.obs_type != "lint" or action.outcome != FAILED or "Traceback (most" in action.response:
        return False
    called = naming.name(action.content, "lint").split()[:3]
    return root.rstrip("/").rsplit("/", 1)[-1] in called and not _SETUP.search(naming.why(action))


def row(action: Action) -> open_ends.Row:
    """An action as nmem.episodes.open_ends reads it; what its answer says of the tests counts first."""
    outcome = action.outcome
    if action.obs_type in _CHECKS and (verdict := judged(action)) is not None:
        outcome = OK if verdict else FAILED
    elif action.obs_type == "git_commit" and action.told("commit").get("hash"):
        outcome = OK
    said = str(dict(action.told("commit"))) if action.obs_type == "git_commit" else action.response
    return (action.at, action.obs_type, action.file_path, action.content, outcome, said)


def judged(action: Action) -> bool | None:
    """Whether a command passed; None when that is not to be known. Counts of tests say it before the exit status."""
    tests = action.told("tests")
    if any(whole(tests.get(key)) for key in ("failed", "errors", "packages_failed")):
        return False
    if action.outcome == FAILED or action.waited:
        return False
    if whole(tests.get("passed")) or whole(tests.get("packages")):
        return True
    return True if action.outcome == OK and not tests.get("failing") else None


def _note(found: dict[tuple[str, str], Struggle], action: Action, verdict: bool | None, files: dict[str, bool]) -> None:
    kind = _kind(action, verdict)
    if kind not in _CHECKS and verdict is not False and not any(known == kind for known, _ in found):
        return  # nothing of its kind has failed
    said = action.metadata.get("description")
    described = said if isinstance(said, str) else ""
    called = naming.name(action.content, kind, described)
    uncut = naming.name(action.content, kind, described, room=400) if called.endswith("…") else called
    key = (kind, naming.key(action.content, kind) or _PYTHON.sub("python ", uncut))
    same = (known for known, one in found.items() if known[0] == kind and one.command == action.content)
    key = next(same, key)  # described otherwise, but the very same line
    chain = _chained(action, kind)
    _judge_fault(found.get(key), files)
    if verdict is None:
        for known_key, known in found.items():
            again = known_key == key if kind not in _CHECKS else known.kind == kind
            known.again |= known_key == key or (
                again and open_ends.same_code(known.command, action.content, known.said)
            )
            known.open |= not known.passed and (again or known.kind in chain)
        return
    if key not in found and verdict and kind not in _CHECKS:
        return
    if key not in found:
        looks = naming.looks(called, action.content) or naming.throw_away(action.content)
        looks = looks or (kind == "command" and bool(_LOOKS.match(described)))
        found[key] = Struggle(kind, called, first_at=action.at, probe=looks)
    beside = _beside(action, chain) if verdict and chain else {}
    for known in found.values():
        if (by_name := beside.get((known.kind, known.name))) is not None:
            known.last_at, known.waited, known.counts = action.at, "", ""
            known.pass_(by_name=by_name)
    one = found[key]
    one.last_at, one.waited = action.at, action.waited
    if not verdict:
        _failed(one, action, files)
        return
    if one.failures and not one.passed:
        _cured(one, action)
    one.pass_(by_name=any(open_ends.by_name(argv) for argv in naming.steps_of(action.content[:4000], kind)[1]))
    one.counts = _counted(action)


def _kind(action: Action, verdict: bool | None) -> str:
    """What ran: of a commit and a push in one line the one that failed; a few lines for the moment test nothing."""
    made = action.obs_type == "git_commit" and verdict is False and action.told("commit").get("hash")
    pushing = (made and "push" in action.content) or (verdict is False and _PUSHING.search(action.response))
    if action.obs_type == "git_commit" and pushing:
        return "git_push"
    uncounted = action.obs_type == "test" and not action.told("tests")
    shows = _SHOWS.match(str(action.metadata.get("description") or ""))
    return "command" if uncounted and (shows or naming.inline(action.content)) else action.obs_type


_SHOWS = re.compile(r"(?:display|explain|print|document)\b", re.IGNORECASE)


def _failed(one: Struggle, action: Action, files: dict[str, bool]) -> None:
    """Note a failure and its reason, the newest last."""
    one.failures += 1
    one.at_first = not files if one.failures == 1 else one.at_first
    one.failed_at = one.failed_at or action.at
    one.command, one.said = action.content, action.response
    if _chained(action, one.kind):  # which part failed is not on record
        one.name = naming.chain(action.content, _CHECKS) or one.name
    one.passed, one.open, one.again, one.edited = False, False, False, []
    reason = f"it waited for an answer: {clip(action.waited, 90)}" if action.waited else naming.why(action)
    one.misused = bool(MISUSE.search(reason))
    one.broke = any(not made and not _named_in(action.content, path) for path, made in files.items())
    one.faults.append((BY_PLACE if _PATH.search(reason) else "setup" if _SETUP.search(reason) else "", reason))
    if reason in one.reasons:
        one.reasons.remove(reason)
    one.reasons.append(reason)


def _chained(action: Action, kind: str) -> frozenset[str]:
    """The other checks of a line whose parts ran one after the other, as long as each passed."""
    if "&&" not in action.content or ";" in action.content:
        return frozenset()
    return (_CHECKS & frozenset(families(action))) - {kind}


def _beside(action: Action, kinds: Iterable[str]) -> dict[tuple[str, str], bool]:
    """Checks of some kinds in a command line: (kind, name) -> whether the check runs only tests of some names."""
    return {
        (kind, naming.name(" ".join(argv), kind)): kind == "test" and open_ends.by_name(argv)
        for kind in kinds
        for argv in naming.steps_of(action.content[:4000], kind)[1]
    }


def families(action: Action) -> list[str]:
    """The families of a command line's steps; see `capture.shell`."""
    found = action.metadata.get("families")
    return found if isinstance(found, list) else []


def _says_nothing(action: Action) -> bool:
    """Whether a run is of the work as it was before, or of a test runner that chose no test."""
    chose_none = action.obs_type == "test" and not action.told("tests") and _NONE_RAN.search(action.response)
    return bool(chose_none or ("git stash" in action.content and _COMPARES.search(action.content)))


def _cured(one: Struggle, action: Action) -> None:
    """What made it pass: the files edited meanwhile, where it judges files or names them; else the call, if another."""
    edited = dict.fromkeys(one.edited)
    if one.kind not in _CHECKS:
        named = f"{one.command} {one.said}"
        edited = dict.fromkeys(path for path in edited if path.rsplit("/", 1)[-1] in named)
    one.fixed_by = list(edited)
    if _UNCHECKED in action.content and _UNCHECKED not in one.command:
        one.cure, one.fixed_by = f"{one.name} {_UNCHECKED}", []
        return
    if edited or not (one.kind in _BY_CALL or one.faults[-1][0] == "setup"):
        return
    lines = (action.content, one.command)
    by_call = one.kind in _BY_CALL
    now, then = (naming.call(line, one.kind) if by_call else "".join(_INTERPRETER.findall(line)[:1]) for line in lines)
    one.cure = now if now != then else ""


_INTERPRETER = re.compile(r"(?<![\w.-])((?:python|node|ruby|php)[\d.]*)(?= )")
"""An interpreter as it is called: `python3` is not `python`."""


_UNCHECKED = "--no-verify"
"""By which git leaves out the checks that refused."""


def _counted(action: Action) -> str:
    tests = action.told("tests")
    passed, packages = whole(tests.get("passed")), whole(tests.get("packages"))
    return f"{passed} passed" if passed else f"{packages} packages" if packages else ""


def once(ran: list[Struggle]) -> list[Struggle]:
    """Struggles without those that failed for the very reason of an earlier one, and passed or not like that."""
    seen: set[tuple[str, str, bool]] = set()
    out = []
    for one in ran:
        reason = one.reasons[-1] if one.failures and one.reasons else ""
        key = (one.kind, reason, one.passed)
        if not reason or key not in seen:
            out.append(one)
        seen.add(key)
    return out


def told(one: Struggle) -> str:
    """A struggle as one sentence, whatever the error says; files whose names are sentences are counted, not named."""
    reasons = one.weighty or [reason for _, reason in one.faults]
    times = "once" if len(reasons) == 1 else f"{len(reasons)} times"
    last = "the last time: " * (len({_NUMBERS.sub(" ", reason)[:40] for reason in reasons if reason}) > 1)
    reason = f" ({last}{reasons[-1].replace('. ', '; ')})" if reasons[-1] else ""
    if not one.passed:
        end = one.end or ("; it ran again, result not seen" if one.open and one.again else " and was not seen to pass")
        return f"{one.name} failed {times}{reason}{end}"
    by = f" after edits to {_named(one.fixed_by)}" if one.fixed_by else f" as `{one.cure}`" if one.cure else " later"
    return f"{one.name} failed {times}{reason}, then passed{by}"


def _named(paths: list[str]) -> str:
    """The last parts of a few paths, and how many more there are."""
    named = [path.rsplit("/", 1)[-1] for path in paths if not reads_as_sentence(path)][:3]
    left = len(paths) - len(named)
    if not named:
        return "1 file" if left == 1 else f"{left} files"
    return ", ".join(named) + (f" and {left} more" if left else "")
