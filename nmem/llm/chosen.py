"""Reads and changes who writes episode stories (nobody, the person's client, an endpoint), with its cost.

Reads the ledger, changes config.toml; asks no model.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.llm import book
from nmem.llm.connect import settings
from nmem.store import changed_settings
from nmem.store import corrections as log
from nmem.store.store import last_model_answered, last_model_result, model_calls_about_sessions, model_calls_of_day

ESTIMATED = 3_400
"""Tokens a session, question and answer, where nothing was asked yet: measured on 198 real sessions (docs/llm.md)."""
_LEAST = 5
"""Sessions from which the ledger's own mean is told."""
_SESSIONS = 500
"""The newest calls that the mean is taken of."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A person's client that can be asked, with the small model that suffices; "" is the client's own default."""

    name: str
    command: tuple[str, ...]
    model: str


CLIENTS = (
    Offer("claude", ("claude", "-p"), "haiku"),
    Offer("codex", ("codex", "exec"), ""),
    Offer("gemini", ("gemini", "-p"), "gemini-2.5-flash"),
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a screen says about models: who is set up, what it cost today, what was wrong last."""

    backend: str
    """Command and model, or model and place, as set; empty: whatever loopback offers."""
    enabled: bool
    spent: int
    cap: int
    problems: tuple[str, ...]
    last_failure: str
    """The newest call's kind of failure; empty when it went well."""
    session_tokens: int = ESTIMATED
    measured: bool = False
    """Whether `session_tokens` comes from the ledger."""
    asked_today: int = 0
    """Questions."""
    answered: str = ""
    """Who answered last; empty: nobody did yet."""

    @property
    def used(self) -> bool:
        """Whether a model may be asked: one is set, or one that was found on this machine has answered."""
        return self.enabled and bool(self.cap) and bool(self.backend or self.answered)

    @property
    def sessions_a_day(self) -> int:
        """How many sessions the day's cap covers."""
        return self.cap // max(1, self.session_tokens)

    def sentence(self) -> str:
        """The way that is at work, in one line."""
        if not self.used:
            return "without a model"
        about = "" if self.measured else "about "
        return (
            f"{self.backend or self.answered}, {about}{self.session_tokens:,} tokens a session,"
            f" {self.spent:,} of {self.cap:,} tokens today"
        )


def standing(db: Connection) -> Standing:
    """How things stand, from the settings and the ledger; asks nobody. Never raises NmemError."""
    used, asked = model_calls_of_day(db, book.today())
    last = last_model_result(db)
    failure = "" if last == "ok" else last
    try:
        chosen = settings()
    except NmemError as error:
        return Standing("", False, used, 0, (str(error),), failure)
    backend = " at ".join(part for part in (chosen.model, chosen.host) if part)
    if chosen.command:
        backend = " ".join((Path(chosen.command[0]).name, *chosen.command[1:], chosen.model)).strip()
    tokens, measured = session_tokens(db)
    return Standing(
        backend, chosen.enabled, used, chosen.daily_token_cap, tuple(chosen.warnings()), failure, tokens, measured,
        asked, last_model_answered(db),
    )  # fmt: skip


def session_tokens(db: Connection) -> tuple[int, bool]:
    """(tokens a session, whether the ledger says so): all that was asked about sessions, repairs included."""
    rows = model_calls_about_sessions(db, _SESSIONS)
    sessions = sum(purpose == "session_judgement" and result == "ok" for _, purpose, result in rows)
    if sessions < _LEAST:
        return ESTIMATED, False
    return round(sum(tokens for tokens, _, _ in rows) / sessions), True


def installed() -> list[Offer]:
    """The clients that could be asked, as they are found on the path."""
    return [one for one in CLIENTS if shutil.which(one.command[0])]


def offer(name: str) -> Offer:
    """One client. Raises NmemError where there is none of that name, or it is not installed."""
    found = next((one for one in CLIENTS if one.name == name), None)
    if found is None or not shutil.which(found.command[0]):
        known = ", ".join(one.name for one in installed()) or "none is installed"
        raise NmemError(f"{name} cannot be asked: {known}")
    return found


def use(db: Connection | None, now: int, *, one: Offer, model: str = "") -> None:
    """Ask this client from now on; one undo takes it back, where there is a database. Raises NmemError."""
    with log.together():
        changed_settings.put(db, ("llm", "command"), list(one.command), now)
        changed_settings.put(db, ("llm", "model"), model or one.model, now)
        switch(db, now, on=True)


def switch(db: Connection | None, now: int, *, on: bool) -> None:
    """Ask a model or none, whatever is set up; undo takes it back, where there is a database. Raises NmemError."""
    changed_settings.put(db, ("llm", "enabled"), on, now)
