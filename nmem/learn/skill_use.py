"""Whether a skill is of use (SQL): followed where it was told, and in the sessions since it was promoted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from sqlite3 import Connection

from nmem.learn import skills
from nmem.learn.learning import ACCEPTED, Learning


@dataclass(frozen=True, slots=True)
class Use:
    """How often a skill was told and followed then; since its promotion, sessions with such work and those that
    followed it. Zeros where it is not promoted."""

    told: int
    followed_when_told: int
    sessions_since: int
    followed_since: int


def of(db: Connection, one: Learning) -> Use:
    """The use of a skill, as settling has judged it and sessions were read."""
    told, used = db.execute(
        "SELECT count(*), total(i.used) FROM injection_items i JOIN injections j ON j.id = i.injection_id"
        " WHERE i.item = ? AND NOT j.withheld",
        (f"learning/{one.id}",),
    ).fetchone()
    since, followed = _since(db, one) if one.state == ACCEPTED and one.state_at else (0, 0)
    return Use(told, int(used), since, followed)


def _since(db: Connection, one: Learning) -> tuple[int, int]:
    """Sessions that began such work after the promotion, and those of them that followed the steps."""
    steps = [skills.form(each) for each in (one.remedy.commands if one.remedy else ())]
    endings = {each.removeprefix("*") for each in one.files}
    rows = db.execute(
        "SELECT f.session_id, f.data FROM learning_findings f JOIN sessions s ON s.id = f.session_id"
        " WHERE f.project_id = ? AND f.kind = ? AND s.started_at > ?",
        (one.project_id, skills.STEPS, one.state_at),
    ).fetchall()
    due, done = set(), set()
    for session_id, data in rows:
        for each in json.loads(data).get("failures", ()):
            if not endings or endings.intersection(each["e"]):
                due.add(session_id)
                if skills.followed(steps, [step for step, _ in each["d"]]):
                    done.add(session_id)
    return len(due), len(done)
