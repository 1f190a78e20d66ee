"""A database with something on every screen of the cockpit."""

from __future__ import annotations

from typing import Any


def database(load: Any, path: str) -> dict[str, int]:
    """Writes it; ids of episodes, learnings and tasks by name."""
    seeds = load("cockpit_seed")
    db = seeds.database(path)
    seeds.story(db)
    made: dict[str, int] = seeds.history(db)
    seeds.label(db)
    made |= load("learnings_seed").fill(db, seeds, made)
    made |= load("tasks_seed").fill(db, seeds)
    load("context_seed").fill(db, seeds, made)
    load("context_seed").told(db, seeds)
    load("health_seed").fill(db, seeds)
    db.close()
    return made
