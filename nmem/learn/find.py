"""Extracts the commands, errors and stuck stretches of one session's observations, for learnings. Pure.

A failure counts when it says something of the project or the machine. A test that fails, code that does not compile,
while the code is being written, is work: it counts only where nobody had edited anything before, or where it passes
when it is merely run again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from nmem.learn import commands, remedies
from nmem.learn.errors import CODE, RULE, TEST, WORK, WORLD, Signature, refused, signatures
from nmem.learn.errors.normal import normal, plain, tail, within
from nmem.learn.errors.rules import KEY
from nmem.learn.remedies import EDIT, FAR, RERUN, Fix, Runs
from nmem.learn.rows import Row

VERSION = "3"
"""Changes whenever a session would be read otherwise; stored findings of another version are made again."""
COMMAND, ERROR, STRETCH, SAID = "command", "error", "stretch", "said"
LONG = 4
"""Failures in a row, with the same error, that make a stuck stretch."""
_OFTEN = 64
"""Observations after which it is asked whether to stop."""
_KEPT = 12
"""Failures of one pattern kept of a session; all are counted."""
_EXCERPT = 240
_HEAD = 400
"""Lines of an output in which what a line announces is looked for."""
_LOOKED = frozenset(("file_read", "search"))


@dataclass
class Finding:
    """What a session says of one pattern."""

    kind: str
    key: str
    title: str
    nature: str = ""
    runs: int = 0
    passes: int = 0
    passed_at: int = 0
    """When the command passed last; 0: never."""
    count: int = 0
    """Failures that count."""
    work: int = 0
    """Failures that are work: red while the code was being written."""
    failures: list[dict[str, object]] = field(default_factory=list)
    first_pass: dict[str, object] | None = None
    """The first passing run, and what the session had done before it."""


@dataclass(frozen=True)
class _Failure:
    row: Row
    signature: Signature | None
    fix: Fix | None
    work: bool


def findings(rows: Sequence[Row], stopped: Callable[[], bool] = lambda: False) -> list[Finding] | None:
    """What a session's observations say, in its order; None when it was stopped on the way."""
    found: dict[tuple[str, str], Finding] = {}
    edited = False
    failed: list[_Failure] = []
    for at, row in enumerate(rows):
        if at % _OFTEN == 0 and stopped():
            return None
        _ = row.normal
    runs = Runs(rows)
    for at, row in enumerate(rows):
        if at % _OFTEN == 0 and stopped():
            return None
        edited = edited or row.edits or bool(row.is_shell and {"edit", "write"}.intersection(row.families))
        if row.normal:
            _run(found, runs, at)
        if row.failed and not refused(row.response):
            failures = _failures(runs, at, edited)
            failed += failures
            for one in failures:
                _failed(found, one)
    for stuck in _stretches(runs, failed):
        found.setdefault((stuck.kind, stuck.key), stuck)
    return list(found.values())


def _of(found: dict[tuple[str, str], Finding], kind: str, key: str, title: str) -> Finding:
    one = found.get((kind, key))
    if one is None:
        one = found[kind, key] = Finding(kind, key, title)
    return one


def _run(found: dict[tuple[str, str], Finding], runs: Runs, at: int) -> None:
    row = runs.rows[at]
    normal = row.normal
    assert normal
    for key in (normal.key, *normal.parts) if row.outcome == "ok" and len(normal.parts) > 1 else (normal.key,):
        one = _of(found, COMMAND, key, key)
        one.runs += 1
        if row.outcome == "ok":
            one.passes += 1
            one.passed_at = row.at
            if one.first_pass is None:
                red = one.failures or one.work
                fix = None if red else remedies.between(runs, max(0, at - FAR), at)
                one.first_pass = {"id": row.id, "at": row.at, "p": row.prompt_id,
                                  "fix": fix.stored() if fix and fix.kind != RERUN else None}  # fmt: skip


def _failures(runs: Runs, at: int, edited: bool) -> list[_Failure]:
    """What a failed call says: an error each, or one without."""
    rows, row = runs.rows, runs.rows[at]
    found = [one for one in signatures(row.response) if not _of_looking(row, one)]
    out = []
    for one in (_whose(row, each) for each in found):
        fix = remedies.of_file(rows, at) if row.type in ("file_edit", "file_write") else None
        if one.key.startswith("client: does not exist"):
            fix = remedies.of_path(rows, at)
        elif row.is_shell:
            fix = remedies.of_command(runs, at, one.nature, one.key)
        out.append(_Failure(row, one, fix, _is_work(row, one, fix, edited)))
    if not found and row.normal:
        fix = remedies.of_command(runs, at, "")
        out.append(_Failure(row, None, fix, edited or (fix is not None and fix.kind == EDIT)))
    return out


def _is_work(row: Row, signature: Signature, fix: Fix | None, edited: bool) -> bool:
    """Whether the failure belongs to writing the code."""
    if signature.nature == WORK:
        return True
    if signature.nature not in (CODE, TEST) and not _told_by_a_test(row, signature):
        return False
    if signature.nature == CODE and row.is_shell and not row.normal:
        return True  # a script of the moment
    if fix is not None and fix.kind == RERUN:
        return signature.nature == CODE
    return edited or (fix is not None and fix.kind == EDIT)


def _told_by_a_test(row: Row, signature: Signature) -> bool:
    """Whether the error may be a test's own output: code that waits, connects and opens files is tested for that."""
    if "test" not in row.families:
        return False
    if signature.ecosystem in ("network", "database") or signature.key.startswith(
        ("shell: no file", "shell: permission")
    ):
        return True
    return signature.ecosystem == "program" and signature.nature == WORLD


def _of_looking(row: Row, signature: Signature) -> bool:
    """Whether the error only says that nothing was found where somebody looked, or is another call's."""
    if signature.ecosystem == "client":
        return row.is_shell  # a shell does not speak like that
    if not row.is_shell:
        return row.type in _LOOKED or signature.key.startswith("program: HTTP ")
    missing = signature.key.startswith("shell: no command ")
    return (
        not missing and not signature.key.startswith("shell: cd ") and commands.only_looks(row.content, row.powershell)
    )


def _whose(row: Row, signature: Signature) -> Signature:
    """An error that does not say whose it is, with the program or the file it is of."""
    key = signature.key
    if signature.ecosystem == "program":
        of = row.key if key.endswith(("time out", "killed")) and row.key else ""
        of = of or (commands.program_of(row.content, row.powershell) if row.is_shell else row.tool)
        return replace(signature, key=f"{of}{key[len('program') :]}"[:KEY], title=f"{of}: {signature.title}"[:KEY])
    if key == "client: file too large to read whole" and row.path:
        return replace(
            signature, key=f"{key}: {tail(row.path)}"[:KEY], title=f"{tail(row.path)} is too large to be read whole"
        )
    gone = key.startswith("client: does not exist")
    if gone and (of := _missing(row, key.removeprefix("client: does not exist").strip())):
        return replace(signature, key=f"client: does not exist {of}"[:KEY], title=f"{of} does not exist"[:KEY])
    return signature


def _missing(row: Row, named: str) -> str:
    """The file that is not there, as it is called from the project's folder; `named`: the end of it, as it was told."""
    told = row.response.partition("does not exist: ")[2].split()
    path = told[0].strip("`'\".,;") if told else row.path
    return within(path, row.root) or named


def _failed(found: dict[tuple[str, str], Finding], one: _Failure) -> None:
    row, signature = one.row, one.signature
    stored = _stored(one)
    if signature:
        _count(_of(found, ERROR, signature.key, signature.title), one, stored)
    if row.normal and not (signature and signature.key.startswith(("shell: cd ", "client: "))):
        _count(_of(found, COMMAND, row.key, row.key), one, stored)


def _stored(one: _Failure) -> dict[str, object]:
    """A failure as findings keep it."""
    row, signature = one.row, one.signature
    return {
        "id": row.id, "at": row.at, "p": row.prompt_id, "c": row.key, "x": _excerpt(one),
        "s": signature.key if signature else normal(_excerpt(one))[:120], "n": signature.nature if signature else "",
        "f": row.path, "fix": one.fix.stored() if one.fix else None,
    }  # fmt: skip


def _count(finding: Finding, one: _Failure, stored: dict[str, object]) -> None:
    finding.nature = finding.nature or (one.signature.nature if one.signature else "")
    if one.work or (finding.kind == COMMAND and finding.nature == RULE):
        finding.work += 1
        return
    if any(each["id"] == one.row.id for each in finding.failures):
        return
    finding.count += 1
    if len(finding.failures) < _KEPT:
        finding.failures.append(stored)


def _excerpt(one: _Failure) -> str:
    if one.signature:
        return _with_next(one.row.response, one.signature.line)[:_EXCERPT]
    return next((line.strip() for line in one.row.response.split("\n") if line.strip()), "")[:_EXCERPT]


def _with_next(response: str, line: str) -> str:
    """A line that ends in a colon with what it announces: git names the paths that it ignores below it."""
    if not line.endswith(":"):
        return line
    lines = [plain(each) for each in response.split("\n")[:_HEAD]]
    after = lines[lines.index(line) + 1 :] if line in lines else []
    return f"{line} {next((each for each in after if each), '')}".rstrip()


def _stretches(runs: Runs, failed: Sequence[_Failure]) -> list[Finding]:
    """The same command with the same error, or refused edits of one file, again and again with nothing coming of it."""
    out: list[Finding] = []
    groups: dict[tuple[str, str], list[_Failure]] = {}
    for one in failed:
        if one.signature is None or one.signature.nature == RULE:
            continue
        of = one.row.key if one.row.is_shell else one.row.path
        if of:
            groups.setdefault((of, one.signature.key), []).append(one)
    for (of, _), ours in groups.items():
        longest = _longest(runs, of, ours) if len(ours) >= LONG else []
        if len(longest) >= LONG:
            finding = Finding(STRETCH, of, of, longest[0].signature.nature if longest[0].signature else "")
            finding.count = len(longest)
            finding.failures = [{**_stored(one), "fix": None} for one in longest[:_KEPT]]
            out.append(finding)
    return out


def _longest(runs: Runs, of: str, ours: Sequence[_Failure]) -> list[_Failure]:
    """The longest run of these failures without anything between them that may have been a success."""
    places = runs.passed(of) if ours[0].row.is_shell else runs.edited(of)
    passed = sorted(runs.rows[place].seq for place in places)
    start = best = length = 0
    for at, one in enumerate(ours):
        before = ours[at - 1].row.seq if at else one.row.seq
        if bisect_right(passed, before) < bisect_left(passed, one.row.seq):
            start = at
        if at + 1 - start > length:
            best, length = start, at + 1 - start
    return list(ours[best : best + length])
