"""Invented episodes for the narrator's tests: a clock that ticks a second a record."""

from __future__ import annotations

from typing import Any

import pytest

from nmem.episodes.narrate.records import Action, Episode, Saying


class Story:
    """Collects records in the order they are told."""

    def __init__(self, before: str = "") -> None:
        self.clock = 1_700_000_000_000
        self.before = before
        self.prompts: list[Saying] = []
        self.sayings: list[Saying] = []
        self.actions: list[Action] = []
        self.stops: list[int] = []

    def tick(self) -> int:
        self.clock += 1000
        return self.clock

    def user(self, text: str) -> Story:
        self.prompts.append(Saying(self.tick(), "prompt", text))
        return self

    def agent(self, text: str, kind: str = "closing") -> Story:
        self.sayings.append(Saying(self.tick(), kind, text))
        return self

    def stop(self) -> Story:
        self.stops.append(self.tick())
        return self

    def act(
        self, obs_type: str, content: str = "", outcome: str = "ok", tool: str = "", path: str = "", **told: Any
    ) -> Story:
        self.actions.append(Action(self.tick(), obs_type, content, outcome, tool, path, None, told))
        return self

    def edit(self, path: str, content: str = "- old\n+ new", **told: Any) -> Story:
        return self.act("file_edit", content, tool="Edit", path=path, **told)

    def write(self, path: str, content: str = "+ text") -> Story:
        return self.act("file_write", content, tool="Write", path=path, created=True)

    def shell(self, command: str, obs_type: str = "command", outcome: str = "ok", **told: Any) -> Story:
        return self.act(obs_type, command, outcome, "Bash", **told)

    def commit(self, hash_: str, subject: str, command: str = "") -> Story:
        told = {"hash": hash_, "subject": subject, "branch": "main"}
        return self.shell(command or f'git commit -am "{subject}"', "git_commit", commit=told)

    def episode(self) -> Episode:
        return Episode(tuple(self.prompts), tuple(self.sayings), tuple(self.actions), "", self.before,
                       stops=tuple(self.stops))  # fmt: skip


@pytest.fixture(scope="session")
def begin() -> type[Story]:
    """Begins an invented episode."""
    return Story
