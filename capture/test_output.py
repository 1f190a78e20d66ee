"""How many tests passed and failed, and which failed first, where test runners print it.

Knows pytest, unittest, cargo test and nextest, go test, jest, vitest, mocha, and the summary lines of a few others.
"""

from __future__ import annotations

_NAMES = 10
_WORDS = {
    "passed": "passed", "pass": "passed", "passing": "passed", "passes": "passed", "ok": "passed", "successes": "passed",
    "failed": "failed", "failing": "failed", "failures": "failed", "failure": "failed", "fail": "failed",
    "skipped": "skipped", "ignored": "skipped", "pending": "skipped", "todo": "skipped", "skip": "skipped", "deselected": "",
    "error": "errors", "errors": "errors", "xfailed": "skipped", "xpassed": "passed", "timed": "failed",
}  # fmt: skip
_LONG = 300


def summary(text: str) -> dict[str, object]:
    """passed failed skipped errors as far as they are printed, and names of the first failing tests; {} without any."""
    counts: dict[str, int] = {}
    names: list[str] = []
    go = {"passed": 0, "failed": 0, "skipped": 0}
    ran = -1
    for raw in text.split("\n"):
        line = raw.strip() if "\x1b" not in raw else _plain(raw).strip()
        if not line or len(line) > 1_000:
            continue
        found = _counts(line)
        if found:
            _merge(counts, found, line)
        elif line.startswith("--- "):
            _go(line, go, names)
        elif line.startswith("Ran ") and " test" in line:
            ran = _number(line[4:])
        elif ran >= 0 and line.startswith(("OK", "FAILED")):
            _unittest(line, ran, counts)
            ran = -1
        elif len(names) < _NAMES:
            _name(line, names)
    if not counts and (go["passed"] or go["failed"]):
        counts = {key: value for key, value in go.items() if value}
    out: dict[str, object] = dict(counts)
    if names:
        out["failing"] = names[:_NAMES]
    if "failed" not in counts and not counts.get("errors") and names and not counts:
        out["failed"] = len(names)
    return out


def _number(text: str) -> int:
    digits = text.strip().split(None, 1)[0] if text.strip() else ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else -1


def _counts(line: str) -> dict[str, int]:
    """A line that is a runner's tally, whoever prints it."""
    if line.startswith("test result:"):
        return _pairs(line[12:].partition(".")[2])
    if line.startswith("Tests:"):  # jest; Tests run: of maven is its own
        return _pairs(line[6:])
    if line.startswith("Tests run:"):
        return _surefire(line)
    if line.startswith(("Tests  ", "Tests\t")):
        return _pairs(line[5:].partition("(")[0].replace("|", ","))
    if line.startswith("Summary [") and "]" in line:
        return _pairs(line.partition("]")[2].partition(":")[2] or line.partition("]")[2])
    if line.startswith("# ") and line[2:].partition(" ")[0] in ("pass", "fail", "skipped"):  # node --test
        name, _, number = line[2:].partition(" ")
        return _pairs(f"{number} {name}")
    if line.startswith("ℹ ") and line[2:].partition(" ")[0] in ("pass", "fail", "skipped"):
        name, _, number = line[2:].partition(" ")
        return _pairs(f"{number} {name}")
    bare = line.strip("= ")
    if line.startswith("=") or (bare[:1].isdigit() and " in " in bare):
        return _pairs(bare.rpartition(" in ")[0]) if " in " in bare else {}
    if bare[:1].isdigit() and _mocha(bare):
        return _pairs(bare.partition("(")[0])
    return {}


def _mocha(line: str) -> bool:
    """`12 passing (30ms)`, `2 failing`, `12 passed (3.1s)` of playwright, `5 examples, 1 failure` of rspec."""
    number, _, rest = line.partition(" ")
    word = rest.partition(" ")[0].rstrip(",")
    if not number.isdigit():
        return False
    return (word in ("passing", "failing", "pending", "passed", "failed", "skipped", "pass", "fail") and len(rest) < 60
            and (rest in (word, word + ".") or "(" in rest or "," in rest)) or (word in ("examples", "example") and "failure" in rest)  # fmt: skip


def _pairs(text: str) -> dict[str, int]:
    """`3 passed, 1 failed; 0 ignored` and the like."""
    out: dict[str, int] = {}
    for part in text.replace(";", ",").split(","):
        words = part.split()
        if len(words) < 2 or len(words) > 6 or not words[0].isdigit() or len(words[0]) > 8:
            continue
        if words[1] in ("examples", "example", "tests", "test"):
            if words[1].startswith("example"):
                out["examples"] = int(words[0])
            continue
        key = _WORDS.get(words[1].strip("()").lower())
        if key:
            out[key] = out.get(key, 0) + int(words[0])
        elif key is None:
            return {}
    if "examples" in out:
        total = out.pop("examples")
        out["passed"] = max(0, total - out.get("failed", 0) - out.get("skipped", 0))
    return out


def _merge(counts: dict[str, int], found: dict[str, int], line: str) -> None:
    """Several tallies of one run: cargo prints one a binary, pytest only one; mocha one line a kind."""
    for key, value in found.items():
        counts[key] = (
            counts.get(key, 0) + value if not line.startswith("Tests run:") else max(counts.get(key, 0), value)
        )


def _surefire(line: str) -> dict[str, int]:
    """`Tests run: 5, Failures: 1, Errors: 0, Skipped: 0`."""
    found: dict[str, int] = {}
    for part in line.partition("-")[0].split(","):
        name, _, number = part.partition(":")
        count = _number(number)
        if count >= 0:
            found[name.strip().lower()] = count
    bad = found.get("failures", 0) + found.get("errors", 0)
    run = found.get("tests run", 0)
    return {"passed": max(0, run - bad - found.get("skipped", 0)), "failed": found.get("failures", 0), "errors": found.get("errors", 0),
            "skipped": found.get("skipped", 0)}  # fmt: skip


def _unittest(line: str, ran: int, counts: dict[str, int]) -> None:
    """`FAILED (failures=1, errors=2, skipped=3)` after `Ran 10 tests in 0.1s`."""
    names = {
        "failures": "failed",
        "errors": "errors",
        "skipped": "skipped",
        "expected failures": "",
        "unexpected successes": "failed",
    }
    found: dict[str, int] = {}
    for part in line.partition("(")[2].rstrip(")").split(","):
        name, _, number = part.strip().partition("=")
        if names.get(name) and number.isdigit():
            found[names[name]] = int(number)
    found["passed"] = max(0, ran - sum(found.values()))
    _merge(counts, found, line)


def _go(line: str, go: dict[str, int], names: list[str]) -> None:
    """`--- FAIL: TestX/sub (0.00s)`."""
    for mark, key in (("--- FAIL: ", "failed"), ("--- PASS: ", "passed"), ("--- SKIP: ", "skipped")):
        if line.startswith(mark):
            go[key] += 1
            if key == "failed" and len(names) < _NAMES:
                names.append(line[len(mark) :].partition(" ")[0][:_LONG])


def _name(line: str, names: list[str]) -> None:
    """A line that names a failing test."""
    name = ""
    if line.startswith(("FAILED ", "ERROR ")) and ("::" in line or ".py" in line):
        name = line.partition(" ")[2].partition(" - ")[0]
    elif line.startswith(("FAIL: ", "ERROR: ")) and "(" in line:
        name = line.partition(": ")[2]
    elif line.startswith("test ") and line.endswith("... FAILED"):
        name = line[5:].rpartition(" ... ")[0]
    elif line.startswith("FAIL [") and "]" in line:
        name = line.partition("]")[2]
    elif line.startswith(("● ", "✕ ", "× ", "FAIL  ")) and "›" not in line[:2]:
        name = line[2:].strip() if line[0] != "F" else line[6:]
        name = name.rpartition(" (")[0] if name.endswith("ms)") else name
    name = name.strip()[:_LONG]
    if name and name not in names:
        names.append(name)


def _plain(line: str) -> str:
    """The line without its colours."""
    parts = line.split("\x1b[")
    return parts[0] + "".join(part.partition("m")[2] for part in parts[1:])
