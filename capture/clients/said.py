"""Tells a user's prompts from a machine's, and strips the context blocks that nmem and clients add to texts."""

from __future__ import annotations

from capture.event import MACHINE, USER

BEGIN, END = "[nmem context]", "[/nmem context]"
"""What stands around everything that nmem tells a session. No angle brackets: a client may escape those."""
FIRST = "Recorded by nmem"
"""How it begins: by this it is known even where whoever repeats it leaves out its end."""

# Context that clients and editors put before what the user typed.
_WRAPPERS = ("hook_context", "system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics",
             "session_context", "environment_context")  # fmt: skip

_MACHINE = ("<task-notification", "<command-", "<local-command-", "<bash-", "<system-reminder", "<agent-notification",
            "<teammate-message", "<user-prompt-submit-hook", "<user_instructions", "<turn_aborted",
            "[Request interrupted", "Caveat: The messages below were generated", "# AGENTS.md instructions for",
            "This session is being continued from a previous conversation")  # fmt: skip

# An answer to nobody: nothing in them is worth a row.
_WORTHLESS = ("<system-reminder", "<local-command-caveat", "Caveat: The messages below were generated",
              "<user_instructions", "# AGENTS.md instructions for")  # fmt: skip

_HUMAN_SOURCES = ("", "user", "sdk", "typed")
_SHORT = 500


def without(value: str, tag: str) -> str:
    """The text without any closed `<tag ...>...</tag>` block; an unclosed one is the user's own words."""
    opening, closing = f"<{tag}", f"</{tag}>"
    start = value.find(opening)
    while start >= 0:
        after = start + len(opening)
        end = value.find(closing, after)
        if end < 0:
            break
        if value[after] in "> \n\t":
            value = value[:start] + value[end + len(closing) :]
            after = start
        start = value.find(opening, after)
    return value


def strip_own(value: str) -> str:
    """The text without what nmem told the session, or memory would feed on itself.

    A beginning without an end is somebody's own words about it, unless it goes on as ours do.
    """
    if BEGIN not in value:
        return value
    start = value.find(BEGIN)
    while start >= 0:
        end = value.find(END, start + len(BEGIN))
        if end < 0:
            value = _cut_off(value, start)
            break
        # of two beginnings the one next to the end is ours: what stands between them may be the user's
        start = value.rfind(BEGIN, start, end)
        value = value[:start] + value[end + len(END) :]
        start = value.find(BEGIN, start)
    return value.strip("\n")


def _cut_off(value: str, start: int) -> str:
    """The text before what we told and somebody cut."""
    while start >= 0:
        after = start + len(BEGIN)
        if FIRST in value[after : after + len(FIRST) + 8]:
            return value[:start]
        start = value.find(BEGIN, after)
    return value


def strip_tree(value: object) -> object:
    """The same of every string in a tool's arguments; those that are nested deeper than any tool's stay."""
    return _stripped(value, 12)


def _stripped(value: object, levels: int) -> object:
    if isinstance(value, str):
        return strip_own(value)
    if levels and isinstance(value, dict):
        return {key: _stripped(item, levels - 1) for key, item in value.items()}
    if levels and isinstance(value, list):
        return [_stripped(item, levels - 1) for item in value]
    return value


def inner(value: str, tag: str) -> str:
    """What stands inside the first `<tag>...</tag>`; empty when there is none."""
    start = value.find(f"<{tag}>")
    if start < 0:
        return ""
    start += len(tag) + 2
    end = value.find(f"</{tag}>", start)
    return value[start:end].strip() if end >= 0 else ""


def prompt(value: object, sender: object = "") -> tuple[str, str]:
    """What was said and by whom (user, machine); an empty text is nothing to keep.

    `sender` is the client's own word for where the prompt came from, when it gives one.
    """
    if not isinstance(value, str):
        return "", USER
    said = strip_own(value)
    said = _unwrapped(said.strip())
    if said.startswith(_MACHINE):
        return ("" if said.startswith(_WORTHLESS) else _short(said)), MACHINE
    if isinstance(sender, str) and sender not in _HUMAN_SOURCES:
        return _short(said), MACHINE
    return said, USER


def command(value: str) -> str:
    """The slash command behind a transcript's `<command-name>` text, as the user typed it; empty when it is none."""
    name = inner(value, "command-name")
    if not name:
        return ""
    name = name if name.startswith("/") else f"/{name}"
    return f"{name} {inner(value, 'command-args')}".rstrip()


def summary(value: object) -> str:
    """A compact summary without the model's analysis before it."""
    said = strip_own(value) if isinstance(value, str) else ""
    return inner(said, "summary") or said.strip()


def _unwrapped(said: str) -> str:
    """The text after the context blocks at its beginning; blocks further on are the user's own words."""
    while said.startswith("<"):
        tag = said[1 : said.find(">") if ">" in said[:200] else 1].partition(" ")[0]
        end = said.find(f"</{tag}>") if tag in _WRAPPERS else -1
        if end < 0:
            break
        said = said[end + len(tag) + 3 :].lstrip()
    return said


def _short(said: str) -> str:
    """A machine's text in a few words: its summary if it has one, else its beginning up to a space."""
    if said.startswith("<task-notification"):
        said = inner(said, "summary") or inner(said, "status") or said
    if len(said) <= _SHORT:
        return said
    # cut between words: half a secret would not be recognised as one
    return said[:_SHORT].rpartition(" ")[0]
