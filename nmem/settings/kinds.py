"""The Setting record, and the kinds of settings with their checks: a value in, the fault or nothing out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from nmem.settings import trial

FLAG = "flag"
WHOLE = "whole number"
NUMBER = "number"
TEXT = "text"
CHOICE = "choice"
TEXTS = "list of texts"
URL = "address"
WORDS = "words of a command"
PATTERNS = "patterns"
ALLOW = "allowances"
KEYS = "key or list of keys"
CHOICES = "choice or list of choices"
KINDS = (FLAG, WHOLE, NUMBER, TEXT, CHOICE, TEXTS, URL, WORDS, PATTERNS, ALLOW, KEYS, CHOICES)
ANY = "*"
"""A part of a name that a person chooses: a client, a project."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of config.toml."""

    name: str
    """Dotted: `context.start_tokens`; `*` stands for a part that a person chooses: `threads.clients.*`."""
    kind: str
    default: object
    """Of the kind's own type, lists as tuples; None: nothing is set."""
    meaning: str
    """One line."""
    low: float | None = None
    high: float | None = None
    above: float | None = None
    """As `low`, but not itself allowed."""
    choices: tuple[str, ...] = ()
    """What it may be; with parts to choose, and no choice itself, what the last of them may be."""
    unit: str = ""
    secret: bool = False
    """Never shown in a list."""
    also: Callable[[object], str] | None = None
    """What else is wrong with a value of its kind, as the rest of a sentence: what the reader itself would say."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The name, part by part."""
        return tuple(self.name.split("."))

    def matches(self, path: tuple[str, ...]) -> bool:
        """Whether a key of a document is this setting."""
        return len(path) == len(self.parts) and all(
            own in (ANY, given) for own, given in zip(self.parts, path, strict=True)
        )


_NAME = re.compile(r"[a-z0-9_-]+")


def wrong(setting: Setting, value: object) -> str:
    """What is wrong with a value, as the rest of a sentence that begins with the setting's name."""
    return _CHECKS[setting.kind](setting, value) or (setting.also(value) if setting.also else "")


def _flag(_: Setting, value: object) -> str:
    return "" if isinstance(value, bool) else "must be true or false"


def _number(setting: Setting, value: object) -> str:
    whole = setting.kind == WHOLE
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return f"must be a {span(setting)}"
    low, high, above = setting.low, setting.high, setting.above
    fits = (low is None or value >= low) and (high is None or value <= high) and (above is None or value > above)
    return "" if fits else f"must be a {span(setting)}"


def span(setting: Setting) -> str:
    """What a number may be, in words."""
    said = f"{setting.kind}{f' of {setting.unit}' if setting.unit else ''}"
    if setting.above is not None:
        said += f" above {setting.above:g}"
    if setting.low is not None:
        said += f" from {setting.low:.15g}"
    if setting.high is None:
        return said
    return f"{said}{' to' if setting.low is not None else ', at most'} {setting.high:.15g}"


def _text(_: Setting, value: object) -> str:
    if not isinstance(value, str):
        return "must be a text, in quotes"
    return "must be one line of text" if any(ord(char) < 32 for char in value) else ""


def _choice(setting: Setting, value: object) -> str:
    return "" if value in setting.choices else f"must be one of {', '.join(setting.choices)}"


def _texts(_: Setting, value: object) -> str:
    fits = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    return "" if fits else 'must be a list of texts: ["one", "two"]'


def _words(_: Setting, value: object) -> str:
    fits = isinstance(value, list | tuple) and all(isinstance(word, str) and "\0" not in word for word in value)
    return "" if fits else 'must be a list of words: ["claude", "-p"]'


def _url(setting: Setting, value: object) -> str:
    if said := _text(setting, value):
        return said

    url = str(value).strip()
    try:
        parts = urlsplit(url)
        usable = not url or (parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0)
    except ValueError:
        usable = False
    if usable and "@" not in parts.netloc:
        return ""
    return "must look like http://127.0.0.1:1234/v1, without a password in it"


def _patterns(_: Setting, value: object) -> str:
    if not isinstance(value, list | tuple):
        return "must be a list of { name, regex }"
    for number, item in enumerate(value):
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            return f"[{number}] needs a name of a-z, 0-9, - and _"
        if said := regex(item.get("regex")) or trial.broad(item["regex"]):
            return f"[{number}] {said}"
    return ""


def _allow(_: Setting, value: object) -> str:
    if not isinstance(value, list | tuple):
        return "must be a list of texts, or of { regex }"
    for number, item in enumerate(value):
        if isinstance(item, str):
            continue
        if said := regex(item.get("regex") if isinstance(item, dict) else None):
            return f"[{number}] {said}"
    return ""


def _keys(_: Setting, value: object) -> str:
    fits = isinstance(value, str) or (isinstance(value, list | tuple) and all(isinstance(key, str) for key in value))
    return "" if fits else 'must be a key or a list of keys: "x" or ["x", "ctrl+x"]; "" removes its keys'


def _choices(setting: Setting, value: object) -> str:
    given = value if isinstance(value, list | tuple) else [value]
    fits = bool(given) and all(each in setting.choices for each in given)
    return "" if fits else f"must be one of {', '.join(setting.choices)}, or a list of them"


def regex(value: object) -> str:
    """What is wrong with a regular expression, but none of it: it may describe a secret."""
    if not isinstance(value, str) or not value:
        return "needs a regex"
    try:
        empty = re.compile(value).match("") is not None
    except (re.error, RecursionError, OverflowError) as error:
        said = str(getattr(error, "msg", "") or type(error).__name__).partition(" '")[0]
        at = getattr(error, "pos", None)
        return f"is not a regular expression: {said}{'' if at is None else f' at position {at}'}"
    return "matches the empty text" if empty else trial.slow(value)


_CHECKS: dict[str, Callable[[Setting, object], str]] = {
    FLAG: _flag,
    WHOLE: _number,
    NUMBER: _number,
    TEXT: _text,
    CHOICE: _choice,
    TEXTS: _texts,
    WORDS: _words,
    URL: _url,
    PATTERNS: _patterns,
    ALLOW: _allow,
    KEYS: _keys,
    CHOICES: _choices,
}


PROMPT, REASONING, NOTIFICATION = "prompt", "reasoning", "notification"
SAYINGS = (PROMPT, REASONING, NOTIFICATION)
"""What was said: by the person, by the agent, by machines."""

DAYS: dict[str, float] = {
    "git_commit": 730, "git_push": 730,
    "file_edit": 365, "file_write": 365, "plan": 365, "question": 365,
    "session_start": 365, "session_resume": 365, "session_clear": 365, "session_compact": 365,
    "command": 180, "test": 180, "build": 180, "lint": 180, "install": 180, "git_other": 180, "github": 180,
    "file_read": 90, "search": 90, "web_fetch": 90, "web_search": 90, "mcp_call": 90, "task_spawn": 90, "skill": 90,
    "todo": 90, "tool_other": 90,
    PROMPT: 365, REASONING: 90, NOTIFICATION: 90,
}  # fmt: skip
"""Type -> days. Markers (notes, decisions, points to come back to) have no lifetime; nor has a type not named here."""

TYPES = tuple(DAYS)
FOREVER = 0.0
"""As a number of days: kept for ever."""
LEAST_DAYS = 7.0
"""Nothing is forgotten sooner, whatever is configured or mediated."""
