"""The Narrative record of one episode: the fields that later sessions and screens read."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Narrative:
    """The story of an episode in short sentences; every list may be empty, every string may be ""."""

    intent: str = ""
    title: str = ""
    """What it is called, made of its records: see nmem.episodes.titles."""
    learned: list[str] = field(default_factory=list)
    """Causes, findings and decisions, quoted from what the agent said or from answered questions."""
    completed: list[str] = field(default_factory=list)
    """Work that stands at the end of the episode; nothing that was undone."""
    next_steps: list[str] = field(default_factory=list)
    files_read: list[str] = field(default_factory=list)
    files_edited: list[str] = field(default_factory=list)
    """Files whose change stands at the end, in the order of their first change."""
    notes: list[str] = field(default_factory=list)
    """What failed and what made it pass, corrections by the user, work that was given up."""
    outcome: str = ""
    obstacle: str = ""
    """The main one, or "" when the work met none."""
    marks: list[str] = field(default_factory=list)
    """How it ended, for a machine: committed pushed pull_request tests_passed tests_failed uncommitted abandoned
    interrupted cut_off unfinished commands answered confirmed."""
    narrator: str = "extractive"
