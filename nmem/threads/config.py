"""Thread settings from the user's config.toml, without reading TOML in a hook.

    [threads]
    timeout_minutes = 30
    method = "fitted"                      # or "seed": the plain weights

    [threads.clients]
    codex = 60                             # a client's own timeout

What cannot be read leaves the defaults in force. A thread's own timeout (`nmem threads continue --timeout`) is in the
database and wins.
"""

from __future__ import annotations

from capture import config_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    Form = tuple[float, dict[str, float], str, list[str]]

TRUNKS = ("main", "master", "trunk", "develop", "dev", "HEAD")
"""Branches that belong to no line of work in particular."""
TIMEOUT_MINUTES = 30.0
LONGEST_MINUTES = 7 * 24 * 60.0
METHODS = ("fitted", "seed")


class Config:
    """Minutes of inactivity after which a new thread begins, by client, and how threads are compared."""

    __slots__ = ("clients", "method", "problems", "timeout_minutes")

    def __init__(self, timeout_minutes: float = TIMEOUT_MINUTES, clients: dict[str, float] | None = None,
                 method: str = "fitted", problems: list[str] | None = None) -> None:  # fmt: skip
        self.timeout_minutes = timeout_minutes
        self.clients = clients or {}
        self.method = method
        self.problems = problems or []

    def timeout(self, client: str, own: float | None = None) -> float:
        """Minutes for a client, in a thread whose own timeout is `own`."""
        return own if own is not None else self.clients.get(client, self.timeout_minutes)

    def longest(self, *own: float | None) -> float:
        """The longest of all timeouts, a bound for looking back."""
        return max([self.timeout_minutes, *self.clients.values(), *(each for each in own if each is not None)])


def load() -> Config:
    """The settings as they stand; never raises."""
    return Config(*config_table.load("threads", (float, {str: float}, str, [str]), form, _unread))


def _unread(trouble: str) -> Form:
    return TIMEOUT_MINUTES, {}, "fitted", [trouble]


def form(document: dict[str, object], file: str = "config.toml") -> Form:
    """The [threads] table of a document as (timeout, timeouts by client, method, what is wrong with it)."""
    section = document.get("threads", {})
    if not isinstance(section, dict):
        return TIMEOUT_MINUTES, {}, "fitted", [f"{file}: [threads] is not a table"]
    trouble = [
        f"{file}: threads.{key} is not known" for key in section if key not in ("timeout_minutes", "clients", "method")
    ]
    minutes = _minutes(section.get("timeout_minutes", TIMEOUT_MINUTES), f"{file}: threads.timeout_minutes", trouble)
    clients: dict[str, float] = {}
    own = section.get("clients", {})
    for name, value in own.items() if isinstance(own, dict) else ():
        found = _minutes(value, f"{file}: threads.clients.{name}", trouble)
        if found is not None:
            clients[str(name)] = found
    if not isinstance(own, dict):
        trouble.append(f"{file}: [threads.clients] is not a table")
    method = section.get("method", "fitted")
    if method not in METHODS:
        trouble.append(f"{file}: threads.method must be one of {', '.join(METHODS)}")
        method = "fitted"
    return TIMEOUT_MINUTES if minutes is None else minutes, clients, str(method), trouble


def _minutes(value: object, where: str, trouble: list[str]) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LONGEST_MINUTES:
        return float(value)
    trouble.append(f"{where} must be a number of minutes, at most {LONGEST_MINUTES:.0f}")
    return None
