"""Promotes a skill to .claude/skills/NAME/SKILL.md or to a /how entry, with preview and undo.

Its file is nmem's own: made where there is none, taken away by undo or reopening as long as nobody has changed it.
"""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection

from nmem.errors import NmemError
from nmem.learn import accept, files, lifecycle, places, read, rules, skill_use
from nmem.learn.learning import SKILL, Learning
from nmem.recall import config, corpus, remember
from nmem.text import printable

FOLDER = ".claude/skills"
_STEP = 300


def text_of(one: Learning, name: str) -> str:
    """The file: its front matter says when, its body which commands in which order; each stands in a code span."""
    rule = one.rule or rules.rule(one)
    about = rule.replace("`", "").replace('"', "'").replace("\\", "/")
    return "\n".join(
        ["---", f"name: {name}", f'description: "{about}"', "---", "", f"{rule}.", "", *_numbered(one), "",
         f"Recorded by nmem: so done in {one.sessions} sessions of this project (learning {one.id}).", ""]
    )  # fmt: skip


def plan(db: Connection, learning_id: int, now: int, folder: str = "") -> accept.Plan:
    """What would be written where; reads only. Raises NmemError where it cannot be."""
    one = read.learning(db, learning_id, now)
    if one is None or one.kind != SKILL:
        raise NmemError(f"there is no skill {learning_id}: `nmem skills` lists them")
    lifecycle.allowed(lifecycle.standing(db, learning_id, now), lifecycle.ACCEPT)
    root, name = places.root(db, one.project_id, folder), skill_use.name_of(one)
    path = f"{FOLDER}/{name}/{files.SKILL}"
    found = files.read(root, path)
    if found.data is not None:
        raise NmemError(f"{printable(path)} exists already: edit it, or remove it first")
    return accept.Plan(one, one.rule or rules.rule(one), found, text_of(one, name).encode(), wrote=True, made=True)


def written(db: Connection, learning_id: int, trigger: str, now: int, folder: str = "") -> remember.Plan:
    """What /how entry a skill would become, and where; `nmem.recall.changes` writes it. Raises NmemError."""
    one = read.learning(db, learning_id, now)
    if one is None or one.kind != SKILL:
        raise NmemError(f"there is no skill {learning_id}: `nmem skills` lists them")
    root = places.root(db, one.project_id, folder)
    place = remember.place(root, *config.load())
    text = "\n".join(
        [f"{one.rule or rules.rule(one)}.", "", *(f"{n}. `{each}`" for n, each in enumerate(skill_use.steps(one), 1))]
    )
    found = corpus.read(place, None if Path(place.folder).is_dir() else [])
    return remember.plan(found, trigger or skill_use.situation(one), text, operator="how")


def _numbered(one: Learning) -> list[str]:
    return [f"{at}. {rules.neat(rules.code(each[:_STEP]))}" for at, each in enumerate(skill_use.steps(one), 1)]
