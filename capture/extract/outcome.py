"""Extracts the outcome of a call: success, exit code, and the output worth keeping."""

from __future__ import annotations

from capture.event import FAILED, OK, TOOL_ERROR, UNKNOWN, Event

WINDOW = 16_384
"""Characters of an output that are ever looked at: half of them from its head, half from its tail."""

_CODES = (
    "Exit code ", "Exit code: ", "Exit Code: ", "exit code: ", "Process exited with code ",
    "Command failed with exit code ",
)  # fmt: skip
_LINE = 600  # a longer line of an excerpt is left out rather than cut: half a secret is not recognised as one


def window(text: str) -> str:
    """The head and the tail of an output, cut at line ends."""
    if len(text) <= WINDOW:
        return text
    half = WINDOW // 2
    return f"{text[:half].rpartition(chr(10))[0]}\n…\n{_from_line(text, len(text) - half)}"


def _from_line(text: str, start: int) -> str:
    """The text from the first line that begins at or after `start`, and not inside a private key."""
    line = text.find("\n", start) + 1
    if not line:
        return ""
    opened = text.rfind("-----BEGIN", max(0, start - WINDOW), line)
    if opened >= 0 and text.find("-----END", opened, line) < 0:
        closed = text.find("-----END", line)
        line = text.find("\n", closed) + 1 if closed >= 0 else 0
    return text[line:] if line else ""


def exit_code(event: Event) -> int | None:
    """The exit code that the client gave or the output names in a line of its own."""
    if event.exit_code is not None or event.tool != "shell":
        return event.exit_code
    text = event.output_text
    for part in (text[:300], text[-300:] if len(text) > 300 else ""):
        for line in part.split("\n"):
            for prefix in _CODES:
                if line.startswith(prefix):
                    digits = line[len(prefix) :].strip().rstrip(".")
                    if digits.isdigit():
                        return int(digits)
    return None


def outcome(event: Event, code: int | None) -> str:
    """ok, failed or unknown, from what the client says; never from words like "error"."""
    if event.refused:
        return UNKNOWN  # it never ran
    if event.kind == TOOL_ERROR or event.interrupted:
        return FAILED
    if event.ok is not None:
        return OK if event.ok else FAILED
    if code is not None:
        return FAILED if code else OK
    return UNKNOWN


def excerpt(text: str, head: int, tail: int) -> str:
    """Whole lines from the beginning and the end of a text, at most about `head` + `tail` characters."""
    text = text.strip("\n")
    if len(text) <= head + tail:
        return text
    first = _lines(text[: head + _LINE].split("\n")[:-1], head)
    if not tail:
        return "\n".join([*first, "…"]) if first else ""
    behind = _from_line(text, max(len(text) - tail - _LINE, len("\n".join(first))))
    last = _lines(behind.split("\n")[::-1], tail)[::-1]
    return "\n".join([*first, "…", *last])


def _lines(lines: list[str], room: int) -> list[str]:
    kept = []
    for line in lines:
        shown = line if len(line) <= _LINE else f"(a line of {len(line)} characters)"
        room -= len(shown) + 1
        if room < 0:
            break
        kept.append(shown)
    return kept
