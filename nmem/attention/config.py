"""Reads [attention] of config.toml: how a person is called, and the hours in which they are not. On the hook's path.

    [attention]
    how = ["bell", "desktop"]              # off, bell, osc9, osc777, desktop, or a list of them
    quiet = "22:00-07:00"                  # empty: none

What cannot be understood calls nobody: it may be what switches calling off.
"""

from __future__ import annotations

from capture import config_table

OFF, BELL, OSC9, OSC777, DESKTOP = "off", "bell", "osc9", "osc777", "desktop"
WAYS = (BELL, OSC9, OSC777, DESKTOP)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Form = tuple[list[str], str, list[str]]


class Config:
    """How (empty: not at all), and the quiet hours as HH:MM-HH:MM, empty for none."""

    __slots__ = ("how", "problems", "quiet")

    def __init__(self, how: list[str], quiet: str, problems: list[str]) -> None:
        self.how, self.quiet, self.problems = tuple(how), quiet, tuple(problems)

    def silent(self, now: int) -> bool:
        """Whether nobody is called at a time (ms)."""
        from nmem import hours  # on use: only where somebody would be called

        return bool(self.quiet) and hours.within(self.quiet, now)


def load() -> Config:
    """The settings as they stand; never raises."""
    return Config(*config_table.load("attention", config_table.CALLING, form, _unread))


def _unread(trouble: str) -> Form:
    return [], "", [f"{trouble}; nobody is called"]


def form(document: dict[str, object], file: str = "config.toml") -> Form:
    """The [attention] table of a document as (how, quiet hours, what is wrong with it)."""
    section = document.get("attention", {})
    if not isinstance(section, dict):
        return _unread(f"{file}: [attention] is not a table")
    trouble = [f"{file}: attention.{key} is not known" for key in section if key not in ("how", "quiet")]
    given = section.get("how", OFF)
    how = given if isinstance(given, list) else [given]
    if not all(each in (OFF, *WAYS) for each in how):
        return _unread(f"{file}: attention.how must be one of {', '.join((OFF, *WAYS))}, or a list of them")
    quiet = section.get("quiet", "")
    if quiet:
        from nmem import hours  # on use: few have quiet hours
        from nmem.errors import NmemError

        try:
            quiet = hours.quiet(str(quiet))
        except NmemError as error:
            return _unread(f"{file}: attention.quiet: {error}")
    return [str(each) for each in dict.fromkeys(how) if each != OFF], str(quiet), trouble
