"""Reads success or failure from a build's, lint's or install's last lines, if a pipe hides the exit status.

Only whole sentences that tools close with count; a word like "error" says nothing.
"""

from __future__ import annotations

from capture.event import FAILED, OK, UNKNOWN

_BAD = (
    "nothing to commit", "nothing added to commit", "no changes added to commit",
    "error: could not compile", "BUILD FAILED", "Build FAILED", "[INFO] BUILD FAILURE", "FAILURE: Build failed",
    "Failed to compile", "ninja: build stopped", "make: ***", "gmake: ***", "npm ERR!", "npm error", "ERR_PNPM",
    "ERROR: No matching distribution", "ERROR: Could not find a version", "E: Unable to locate", "error Command failed",
    "✖ ", "ELIFECYCLE", "error: script ", "error during build:", "** BUILD FAILED **",
)  # fmt: skip
_GOOD = (
    "Finished ", "BUILD SUCCESSFUL", "[INFO] BUILD SUCCESS", "Build succeeded", "✓ built in", "Compiled successfully",
    "✓ Compiled successfully", "All checks passed!", "Success: no issues found", "0 issues.", "0 errors, 0 warnings",
    "All matched files use", "Successfully installed", "Requirement already satisfied", "found 0 vulnerabilities",
    "** BUILD SUCCEEDED **", "Successfully built ", "Successfully tagged ",
)  # fmt: skip


def verdict(text: str, command: str) -> str:
    """ok, failed, or unknown when the output does not say."""
    lines = [line.strip() for line in text[-4_000:].split("\n") if line.strip()]
    if "$?" in command and lines and (code := _echoed(lines[-1])) >= 0:
        return FAILED if code else OK
    if any((line.startswith(_BAD) and "(0 errors" not in line) or _found(line) > 0 for line in lines):
        return FAILED
    return OK if any(line.startswith(_GOOD) or _found(line) == 0 for line in lines) else UNKNOWN


def _echoed(line: str) -> int:
    """The status that `echo "exit: $?"` printed; -1 for any other line."""
    words = line.replace(":", " ").replace("=", " ").replace("-", " ").replace("(", " ").replace(")", " ").split()
    if len(words) > 3 or not words or not words[-1].isdigit() or len(words[-1]) > 3:
        return -1
    named = len(words) == 1 or words[0].lower().startswith(("exit", "rc", "status", "ret", "code"))
    return int(words[-1]) if named else -1


def _found(line: str) -> int:
    """The number in `Found 3 errors in 2 files`; -1 for any other line."""
    words = line.lower().removeprefix("found ").rstrip(".").split()
    counted = line.startswith("Found ") and len(words) > 1 and words[0].isdigit() and len(words[0]) < 9
    return int(words[0]) if counted and words[1].startswith(("error", "problem", "issue")) else -1
