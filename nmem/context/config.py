"""Context settings from the user's config.toml, without reading TOML in a hook.

    [context]
    enabled = true
    ask = true                   # one line at the start: that the memory can be asked, and when to
    fixes = true                 # a command that fails in a way that was put right before is answered with how
    beside = true                # which files another session of the project edits now
    warn = true                  # before a command or an edit that went wrong here before, one line says so
    start_tokens = 1500          # when a session starts
    prompt_tokens = 800          # at a prompt, used as far as relevance reaches
    recovery_tokens = 900        # after a compaction or a clear
    deadline_ms = 60             # of selecting: later than that, nothing is said
    holdout = 0.0                # the fraction of sessions, up to 0.5, that are told nothing
    off = ["name, or root folder, of a project"]

A file or a [context] table that cannot be understood says nothing rather than too much: it may be what switches
telling off.
"""

from __future__ import annotations

from capture import config_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    Form = tuple[dict[str, float], list[str], list[str]]

DEFAULTS = {
    "enabled": 1.0,
    "ask": 1.0,
    "beside": 1.0,
    "fixes": 1.0,
    "warn": 1.0,
    "start_tokens": 1500.0,
    "prompt_tokens": 800.0,
    "recovery_tokens": 900.0,
    "deadline_ms": 60.0,
    "holdout": 0.0,
}
HIGHEST = 2400.0
"""Of a budget, in tokens: as much as the roomiest client takes."""
MOST_WITHHELD = 0.5
"""The largest part of sessions that may be told nothing, for comparison."""
_FLAGS = ("enabled", "ask", "beside", "fixes", "warn")
_HIGHEST = {"start_tokens": HIGHEST, "prompt_tokens": HIGHEST, "recovery_tokens": HIGHEST, "deadline_ms": 2000.0,
            "holdout": MOST_WITHHELD}  # fmt: skip


class Config:
    """Budgets in tokens, the deadline in milliseconds, the fraction held out, and projects that are left alone."""

    __slots__ = ("ask", "beside", "deadline_ms", "enabled", "fixes", "holdout", "off", "problems", "prompt_tokens",
                 "recovery_tokens", "start_tokens", "warn")  # fmt: skip

    def __init__(self, numbers: dict[str, float], off: list[str], problems: list[str]) -> None:
        self.enabled = numbers["enabled"] > 0
        self.ask = numbers["ask"] > 0
        self.beside = numbers["beside"] > 0
        self.fixes = numbers["fixes"] > 0
        self.warn = numbers["warn"] > 0
        self.start_tokens = int(numbers["start_tokens"])
        self.prompt_tokens = int(numbers["prompt_tokens"])
        self.recovery_tokens = int(numbers["recovery_tokens"])
        self.deadline_ms = numbers["deadline_ms"]
        self.holdout = numbers["holdout"]
        self.off = off
        self.problems = problems


def load() -> Config:
    """The settings as they stand; never raises."""
    numbers, off, problems = config_table.load("context", ({str: float}, [str], [str]), form, _unread)
    return Config({**DEFAULTS, **numbers}, off, problems)  # a form cached by an older nmem may lack a number


def _unread(trouble: str) -> Form:
    return {**DEFAULTS, "enabled": 0.0}, [], [f"{trouble}; no context is given"]


def form(document: dict[str, object], file: str = "config.toml") -> Form:
    """The [context] table of a document as (numbers, projects left alone, what is wrong with it)."""
    section = document.get("context", {})
    numbers = dict(DEFAULTS)
    if not isinstance(section, dict):
        return {**numbers, "enabled": 0.0}, [], [f"{file}: [context] is not a table; no context is given"]
    trouble = [f"{file}: context.{key} is not known" for key in section if key not in DEFAULTS and key != "off"]
    for name in _FLAGS:
        flag = section.get(name, DEFAULTS[name] > 0)
        numbers[name] = float(flag is True)
        if not isinstance(flag, bool):
            instead = "no context is given" if name == "enabled" else "false is assumed"
            trouble.append(f"{file}: context.{name} must be true or false; {instead}")
    for name, highest in _HIGHEST.items():
        value = section.get(name, numbers[name])
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= highest:
            numbers[name] = float(value)
        else:
            trouble.append(f"{file}: context.{name} must be a number from 0 to {highest:g}")
    off = section.get("off", [])
    if not isinstance(off, list) or not all(isinstance(each, str) for each in off):
        trouble.append(f"{file}: context.off must be a list of projects; no context is given")
        numbers["enabled"], off = 0.0, []
    return numbers, off, trouble


def withheld(session_id: str, fraction: float) -> bool:
    """Whether a session is one of the fraction that is told nothing: always the same answer for the same session."""
    if fraction <= 0.0:
        return False
    from _blake2 import blake2b  # on use: start-up stays short

    drawn = blake2b(session_id.encode("utf-8", "replace"), digest_size=8, person=b"nmem-holdout").digest()
    return int.from_bytes(drawn, "big") < min(fraction, MOST_WITHHELD) * 2.0**64
