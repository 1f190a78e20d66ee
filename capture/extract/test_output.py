"""Parses test runners' output: counts of passed and failed tests, and the first failures.

Knows the closing lines of pytest, unittest, cargo test and nextest, go test, jest, vitest, mocha, node, bun, deno,
playwright, rspec, minitest, ExUnit, phpunit, surefire, gradle, dotnet and ctest.
"""

from __future__ import annotations

_NAMES = 10
_WORDS = {
    word: key
    for key, listed in (
        ("passed", "passed pass passing passes successes xpassed"),
        ("failed", "failed failing failures failure fail"),
        ("skipped", "skipped ignored pending todo skip skips xfailed"),
        ("errors", "error errors"),
        ("total", "tests test examples example runs"),
        ("", "warnings warning deselected assertions doctests doctest features"),
    )
    for word in listed.split()
}
_MARKS = (("--- FAIL: ", "failed"), ("--- PASS: ", "passed"), ("--- SKIP: ", "skipped"))
_UNITTEST = {"failures": "failed", "errors": "errors", "skipped": "skipped", "unexpected successes": "failed"}


class _Run:
    """What has been read of a run's output so far."""

    __slots__ = ("counts", "go", "names", "packages", "ran")

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.names: list[str] = []
        self.go = {"passed": 0, "failed": 0, "skipped": 0}
        self.packages = {"passed": 0, "failed": 0}
        self.ran = -1


def summary(text: str) -> dict[str, object]:
    """passed failed skipped errors as far as they are printed, `failing`: names of the first failing tests; or {}.

    go test prints no counts without -v: then `packages` and `packages_failed` are counted.
    """
    run = _Run()
    for raw in text.split("\n"):
        line = _plain(raw) if "\x1b" in raw else raw
        if line.strip() and len(line) < 1_000:
            _line(run, line)
    counts = run.counts
    if not counts and any(run.go.values()):
        counts = run.go
    out: dict[str, object] = {key: count for key, count in counts.items() if count or key in ("passed", "failed")}
    if not counts and any(run.packages.values()):
        out["packages"] = sum(run.packages.values())
        out["packages_failed"] = run.packages["failed"]
    if run.names:
        out["failing"] = run.names
    return out


def _line(run: _Run, raw: str) -> None:
    line = raw.strip()
    if line.startswith(("[INFO] ", "[ERROR] ", "[WARNING] ")):
        line = line.partition("] ")[2]
    found = _tally(line)
    if found:
        for key, count in found.items():
            run.counts[key] = run.counts.get(key, 0) + count
    elif line.startswith("--- "):
        _go_test(run, raw)
    elif raw.startswith(("ok  \t", "FAIL\t")):
        run.packages["passed" if raw[0] == "o" else "failed"] += 1
    elif line.startswith("Ran ") and " test" in line:
        run.ran = _number(line[4:])
    elif run.ran >= 0 and line.startswith(("OK", "FAILED")):
        _unittest(run, line)
    elif len(run.names) < _NAMES:
        _add(run, _name(line))


def _number(text: str) -> int:
    digits = text.split(None, 1)[0] if text.strip() else ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else -1


def _tally(line: str) -> dict[str, int]:
    """A runner's closing line as counts; {} for any other line."""
    if line.startswith(_PREFIXES):
        for start, read in _STARTS:
            if line.startswith(start):
                return read(line[len(start) :])
    bare = line.strip("= ")
    if not bare[:1].isdigit():
        return {}
    if "% tests passed, " in bare:
        return _ctest(bare)
    if " in " in bare and bare.endswith(("s", ")")):
        return _pairs(bare.rpartition(" in ")[0])
    found = _pairs(bare.partition(" (")[0])
    return found if line[:1] == "=" or set(found) != {"errors"} else {}  # a linter's errors are no tests


def _pairs(text: str) -> dict[str, int]:
    """`3 passed, 1 failed; 0 ignored`, `5 examples, 1 failure`; {} when a part of it is something else."""
    out: dict[str, int] = {}
    for part in text.replace(";", ",").replace("|", ",").split(","):
        number, _, what = part.strip().partition(" ")
        count, word = _number(number), what.partition(" ")[0].lower().rstrip(".")
        if count < 0 or word not in _WORDS or len(what) > 24:
            if not out:
                return {}
            continue
        key = _WORDS[word]
        if key and (key != "total" or key not in out):
            out[key] = out.get(key, 0) + count
    return _whole(out)


def _whole(out: dict[str, int]) -> dict[str, int]:
    """With a total instead of what passed, what passed is the rest."""
    total = out.pop("total", -1)
    if total >= 0 and out and "passed" not in out:
        out["passed"] = max(0, total - sum(out.values()))
    return out


def _named(text: str) -> dict[str, int]:
    """`Tests run: 5, Failures: 1`, `Failed: 0, Passed: 10, Total: 10`: the name before the number."""
    out: dict[str, int] = {}
    if "Time elapsed" in text:  # one class of a run that is summed up below
        return out
    for part in text.replace(" - ", ",").split(","):
        name, colon, number = part.strip().rpartition(":")
        word = name.strip().lower()
        key = "total" if word in ("tests run", "total", "tests") else _WORDS.get(word, "")
        count = _number(number.strip().rstrip("."))
        if colon and key and count >= 0:
            out[key] = count
    return _whole(out)


def _jest(text: str) -> dict[str, int]:
    """jest's `1 failed, 3 passed, 4 total`; phpunit's `10, Assertions: 20, Failures: 1.`"""
    return _pairs(text) or _named("Tests:" + text)


def _ctest(text: str) -> dict[str, int]:
    """`80% tests passed, 2 tests failed out of 10`."""
    failed, total = _number(text.partition(", ")[2]), _number(text.partition(" out of ")[2])
    return {"passed": total - failed, "failed": failed} if 0 <= failed <= total else {}


def _after_bracket(text: str) -> dict[str, int]:
    rest = text.partition("]")[2]
    return _pairs(rest.partition(":")[2] or rest)


def _swapped(text: str) -> dict[str, int]:
    """`pass 5` of node --test."""
    word, _, number = text.partition(" ")
    return _pairs(f"{number} {word}") if word in ("pass", "fail", "skipped") else {}


_STARTS = (
    ("test result:", lambda text: _pairs(text.partition(".")[2])),
    ("Tests:", _jest),
    ("Tests run:", lambda text: _named("Tests run:" + text)),
    ("Tests  ", lambda text: _pairs(text.partition("(")[0])),
    ("Summary [", _after_bracket),
    ("# ", _swapped),
    ("ℹ ", _swapped),
    ("ok | ", lambda text: _pairs(text.partition("(")[0])),
    ("FAILED | ", lambda text: _pairs(text.partition("(")[0])),
    ("OK (", lambda text: {"passed": max(0, _number(text))} if " test" in text[:16] else {}),
    ("Passed!", lambda text: _named(text.strip(" -"))),
    ("Failed!", lambda text: _named(text.strip(" -"))),
    ("Result: ", _pairs),
)
_PREFIXES = tuple(start for start, _ in _STARTS)


def _unittest(run: _Run, line: str) -> None:
    """`FAILED (failures=1, errors=2, skipped=3)` or `OK` after `Ran 10 tests in 0.1s`."""
    found: dict[str, int] = {}
    for part in line.partition("(")[2].rstrip(")").split(","):
        name, _, number = part.strip().partition("=")
        if name in _UNITTEST and _number(number) >= 0:
            found[_UNITTEST[name]] = _number(number)
    found["passed"] = max(0, run.ran - sum(found.values()))
    for key, count in found.items():
        run.counts[key] = run.counts.get(key, 0) + count
    run.ran = -1


def _go_test(run: _Run, raw: str) -> None:
    """`--- FAIL: TestX (0.00s)`; a subtest is indented, named, and not counted."""
    line = raw.strip()
    for mark, key in _MARKS:
        if line.startswith(mark):
            if raw[0] == "-":
                run.go[key] += 1
            if key == "failed":
                _add(run, line[len(mark) :].partition(" ")[0])


def _add(run: _Run, name: str) -> None:
    name = name.strip()  # cut by `seal` alone, which redacts first
    if name and name not in run.names and len(run.names) < _NAMES:
        run.names.append(name)


def _name(line: str) -> str:
    """The test that a line says has failed; nothing for other lines."""
    if line.startswith(("FAILED ", "ERROR ")) and ("::" in line or ".py" in line):
        return line.partition(" ")[2].partition(" - ")[0]
    if line.startswith(("FAIL: ", "ERROR: ")) and "(" in line:
        return line.partition(": ")[2]
    if line.startswith("test ") and line.endswith("... FAILED"):
        return line[5:].rpartition(" ... ")[0]
    if line.startswith("FAIL [") and "]" in line:
        return line.partition("]")[2]
    if line.startswith("FAIL  "):
        return line[6:]
    if line.startswith(("● ", "✕ ", "× ", "✗ ")):
        name = line[2:].strip()
        return name.rpartition(" (")[0] or name if name.endswith("ms)") else name
    return ""


def _plain(line: str) -> str:
    """The line without its colours."""
    parts = line.split("\x1b[")
    return parts[0] + "".join(part.partition("m")[2] for part in parts[1:])
