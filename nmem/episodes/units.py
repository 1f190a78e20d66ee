"""Reads and writes episodes and the prompts in each: the tables `work_units` and `unit_prompts`.

Every user prompt of a session (not a subagent's) is in one episode. Prompts are ordered by (at, id). Writing functions
run inside the caller's transaction and keep both tables consistent. Plain slotted classes: hooks import this.
"""

from __future__ import annotations

from nmem.episodes.unit import (
    ACK,
    AGENT,
    CLOSED,
    COLUMNS,
    CONT,
    FIRST,
    INTENT,
    LLM,
    NEW,
    ONLINE,
    OPEN,
    PERSON,
    REVISED,
    Unit,
    UnitPrompt,
    Verdict,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = (  # of `unit`
    "ACK", "AGENT", "CLOSED", "CONT", "FIRST", "LLM", "NEW", "ONLINE", "OPEN", "PERSON", "REVISED", "Unit",
    "UnitPrompt", "Verdict",
)  # fmt: skip

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM work_units"  # noqa: S608 - our names


# reading


def get(db: Connection, unit_id: int) -> Unit | None:
    """One episode."""
    return _one(db, "id = ?", unit_id)


def _one(db: Connection, where: str, *values: object) -> Unit | None:
    row = db.execute(f"{_SELECT} WHERE {where} ORDER BY started_at DESC, id DESC LIMIT 1", values).fetchone()
    return Unit(tuple(row)) if row else None


def of_session(db: Connection, session_id: str) -> list[Unit]:
    """The episodes of a session, oldest first."""
    found = db.execute(f"{_SELECT} WHERE session_id = ? ORDER BY started_at, id", (session_id,))
    return [Unit(tuple(row)) for row in found]


def latest(db: Connection, session_id: str) -> Unit | None:
    """The newest episode of a session."""
    return _one(db, "session_id = ?", session_id)


def of_prompt(db: Connection, prompt_id: int) -> int | None:
    """The episode that a prompt is in."""
    row = db.execute("SELECT unit_id FROM unit_prompts WHERE prompt_id = ?", (prompt_id,)).fetchone()
    return int(row[0]) if row else None


def prompt(db: Connection, prompt_id: int) -> tuple[str, int, str]:
    """(session, at, beginning) of a prompt."""
    found = db.execute("SELECT session_id, at, content FROM prompts WHERE id = ?", (prompt_id,))
    session_id, at, content = found.fetchone()
    return session_id, at, content[:INTENT]  # SQLite's substr would end at a NUL


def said_of(db: Connection, prompt_id: int) -> Verdict | None:
    """What was decided about a prompt."""
    row = db.execute(f"{_PROMPTS} WHERE u.prompt_id = ?", (prompt_id,)).fetchone()
    return UnitPrompt(tuple(row)).verdict if row else None


def project_of(db: Connection, unit_id: int) -> int:
    """The project of an episode."""
    row = db.execute(
        "SELECT s.project_id FROM work_units u JOIN sessions s ON s.id = u.session_id WHERE u.id = ?", (unit_id,)
    ).fetchone()
    return int(row[0])


_PROMPTS = (
    "SELECT p.id, p.at, u.unit_id, u.label, u.score, u.reason, u.decided_by, u.offered"
    " FROM unit_prompts u JOIN prompts p ON p.id = u.prompt_id"
)


def prompts_of(db: Connection, unit_id: int) -> list[UnitPrompt]:
    """The prompts of an episode in the order of time."""
    found = db.execute(f"{_PROMPTS} WHERE u.unit_id = ? ORDER BY p.at, p.id", (unit_id,))
    return [UnitPrompt(tuple(row)) for row in found]


def prompts_of_session(db: Connection, session_id: str) -> list[UnitPrompt]:
    """All assigned prompts of a session in the order of time."""
    found = db.execute(f"{_PROMPTS} WHERE p.session_id = ? AND p.source = 'user' ORDER BY p.at, p.id", (session_id,))
    return [UnitPrompt(tuple(row)) for row in found]


def previous(db: Connection, unit: Unit) -> Unit | None:
    """The episode before this one in its session."""
    before = "session_id = ? AND id != ? AND (started_at, id) < (?, ?)"
    return _one(db, before, unit.session_id, unit.id, unit.started_at, unit.id)


def goal(db: Connection, unit_id: int) -> int:
    """The first episode of the goal that an episode belongs to: `resumes` followed back."""
    seen = {unit_id}
    while True:
        row = db.execute("SELECT resumes FROM work_units WHERE id = ?", (unit_id,)).fetchone()
        if not row or row[0] is None or row[0] in seen:
            return unit_id
        unit_id = row[0]
        seen.add(unit_id)


def others(db: Connection, session_id: str, prompt_id: int) -> int:
    """How many episodes of a session were not opened by this prompt."""
    row = db.execute(
        "SELECT count(*) FROM work_units WHERE session_id = ? AND first_prompt_id != ?", (session_id, prompt_id)
    ).fetchone()
    return int(row[0])


def decided_by_person(db: Connection, unit_id: int) -> bool:
    """Whether detection must leave this episode standing: a person opened, named or pinned it."""
    row = db.execute(
        "SELECT u.title IS NOT NULL OR u.pinned OR coalesce(p.decided_by = 'person', 0) FROM work_units u"
        " LEFT JOIN unit_prompts p ON p.prompt_id = u.first_prompt_id AND p.unit_id = u.id WHERE u.id = ?",
        (unit_id,),
    ).fetchone()
    return bool(row and row[0])


# writing

_OPENING = (
    f"(SELECT trim(substr(p.content, 1, {INTENT})) FROM unit_prompts u JOIN prompts p ON p.id = u.prompt_id"  # noqa: S608
    " WHERE u.unit_id = ? ORDER BY p.kind = 'command', p.at, p.id LIMIT 1)"
)
"""What an episode is about: its first prompt that is more than a command."""


def start(db: Connection, prompt_id: int, verdict: Verdict, resumes: int | None = None) -> int:
    """Open an episode with a prompt, which must be in none yet; the session's others are closed. Its id."""
    session_id, at, content = prompt(db, prompt_id)
    made = db.execute(
        "INSERT INTO work_units (session_id, thread_id, first_prompt_id, last_prompt_id, started_at, last_at, intent,"
        " resumes, cut_reason, cut_confidence, cut_by, turn_count) VALUES (?, (SELECT thread_id FROM session_threads"
        " WHERE session_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
        (session_id, session_id, prompt_id, prompt_id, at, at, content.strip(), resumes, verdict.reason,
         1.0 if verdict.score is None else verdict.score, verdict.by),
    ).lastrowid  # fmt: skip
    unit_id = int(made or 0)
    assign(db, prompt_id, unit_id, verdict)
    one_open(db, session_id)
    return unit_id


def assign(db: Connection, prompt_id: int, unit_id: int, verdict: Verdict) -> None:
    """Only the row that says where a prompt is; `tidy` must follow."""
    db.execute(
        "INSERT INTO unit_prompts (prompt_id, unit_id, label, score, reason, decided_by, offered)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (prompt_id, unit_id, verdict.label, verdict.score, verdict.reason, verdict.by, verdict.offered),
    )


def take_out(db: Connection, prompt_id: int) -> None:
    """Take a prompt out of its episode; it must be put into one again, and `tidy` must follow."""
    db.execute("DELETE FROM unit_prompts WHERE prompt_id = ?", (prompt_id,))


def put(db: Connection, prompt_id: int, unit_id: int) -> None:
    """Only where a prompt is, whatever was said of it; `tidy` must follow."""
    db.execute("UPDATE unit_prompts SET unit_id = ? WHERE prompt_id = ?", (unit_id, prompt_id))


def tidy(db: Connection, session_id: str, touched: set[int], where: dict[int, int]) -> None:
    """After prompts were put elsewhere: empty episodes are gone, the others fit their prompts, one at most is open.

    `where`: prompt -> its episode now; what referred to an episode that is gone refers to where its opening prompt is.
    """
    for unit_id in touched:
        refresh(db, unit_id)
    for unit_id in touched:
        if not _holds_any(db, unit_id):
            opening = db.execute("SELECT first_prompt_id FROM work_units WHERE id = ?", (unit_id,)).fetchone()
            if opening:
                forget(db, unit_id, where.get(opening[0], unit_id))
    if touched:
        one_open(db, session_id)


def _holds_any(db: Connection, unit_id: int) -> bool:
    return db.execute("SELECT 1 FROM unit_prompts WHERE unit_id = ? LIMIT 1", (unit_id,)).fetchone() is not None


def append(db: Connection, prompt_id: int, unit_id: int, verdict: Verdict) -> None:
    """Put a prompt that is in no episode yet into one, which is open again when the prompt is its newest."""
    assign(db, prompt_id, unit_id, verdict)
    at = prompt(db, prompt_id)[1]
    ahead = db.execute(
        "UPDATE work_units SET turn_count = turn_count + 1, last_prompt_id = ?, last_at = max(last_at, ?),"
        " state = 'open', ended_at = NULL WHERE id = ?"
        " AND (SELECT (at, id) < (?, ?) FROM prompts WHERE id = last_prompt_id)",
        (prompt_id, at, unit_id, at, prompt_id),
    ).rowcount
    if ahead:
        # an episode that was opened by a bare command is about what was said next
        db.execute(
            f"UPDATE work_units SET intent = {_OPENING} WHERE id = ? AND intent LIKE '/%'",  # noqa: S608 - our words
            (unit_id, unit_id),
        )
    else:
        refresh(db, unit_id)


def judge(db: Connection, prompt_id: int, verdict: Verdict) -> None:
    """Change what is said of a prompt and leave it where it is."""
    _say(db, prompt_id, verdict)
    db.execute(
        "UPDATE work_units SET cut_reason = ?, cut_confidence = ?, cut_by = ? WHERE first_prompt_id = ?",
        (verdict.reason, 1.0 if verdict.score is None else verdict.score, verdict.by, prompt_id),
    )


def _say(db: Connection, prompt_id: int, verdict: Verdict) -> None:
    db.execute(
        "UPDATE unit_prompts SET label = ?, score = ?, reason = ?, decided_by = ?, offered = ? WHERE prompt_id = ?",
        (verdict.label, verdict.score, verdict.reason, verdict.by, verdict.offered, prompt_id),
    )


def split(db: Connection, prompt_id: int, verdict: Verdict, resumes: int | None = None) -> int:
    """Cut an episode before one of its prompts, which opens a new one with all that follow in it. The new id.

    At the opening prompt of an episode there is nothing to cut: its verdict changes, and its id is returned.
    """
    old = of_prompt(db, prompt_id) or 0
    prompts = prompts_of(db, old)
    at = [one.id for one in prompts].index(prompt_id)
    if not at:
        judge(db, prompt_id, verdict)
        return old
    moving = prompts[at:]
    over = db.execute("SELECT state = 'closed' FROM work_units WHERE id = ?", (old,)).fetchone()[0]
    for one in moving:
        take_out(db, one.id)
    made = start(db, prompt_id, verdict, resumes)
    for one in moving[1:]:
        assign(db, one.id, made, one.verdict)
    refresh(db, old)
    refresh(db, made)
    if over:
        close(db, made)
    return made


def merge(db: Connection, unit_id: int, into: int, label: str = CONT, by: str = REVISED, reason: str = "") -> None:
    """Put the prompts of one episode into another of the same session; the first one is gone.

    Its opening prompt gets `label`. What referred to the episode refers to the other one.
    """
    opening, state = db.execute("SELECT first_prompt_id, state FROM work_units WHERE id = ?", (unit_id,)).fetchone()
    db.execute("UPDATE unit_prompts SET unit_id = ? WHERE unit_id = ?", (into, unit_id))
    db.execute("UPDATE unit_prompts SET label = ?, decided_by = ?, reason = ? WHERE prompt_id = ?",
               (label, by, reason, opening))  # fmt: skip
    forget(db, unit_id, into)
    refresh(db, into)
    if state == OPEN:
        db.execute("UPDATE work_units SET state = 'open', ended_at = NULL WHERE id = ?", (into,))


def move(db: Connection, prompt_id: int, unit_id: int, verdict: Verdict) -> None:
    """Put one prompt into another episode of its session; an episode left without prompts is gone.

    When a person moves it, the prompt after it stays where it is by the person's will: detection lets prompts follow
    the one before them.
    """
    old = of_prompt(db, prompt_id)
    put(db, prompt_id, unit_id)
    _say(db, prompt_id, verdict)
    if verdict.by == PERSON:
        _stay(db, prompt_id)
    refresh(db, unit_id)
    if old is not None and old != unit_id:
        refresh(db, old)
        if not _holds_any(db, old):
            forget(db, old, unit_id)


def resume(db: Connection, unit_id: int, resumes: int | None, by: str = PERSON) -> None:
    """Say that an episode goes on with an earlier goal, or with none; a person's word stands against detection."""
    db.execute("UPDATE work_units SET resumes = ? WHERE id = ?", (resumes, unit_id))
    if by == PERSON:
        db.execute(
            "UPDATE unit_prompts SET decided_by = 'person' WHERE prompt_id ="
            " (SELECT first_prompt_id FROM work_units WHERE id = ?)",
            (unit_id,),
        )


def straighten(db: Connection, session_id: str) -> None:
    """An episode of a session, or one that goes on with it, resumes only what began before it."""
    ours = "(SELECT id FROM work_units WHERE session_id = ?)"
    db.execute(
        "UPDATE work_units SET resumes = NULL WHERE resumes IS NOT NULL AND (session_id = ?"  # noqa: S608 - our words
        f" OR resumes IN {ours}) AND NOT EXISTS (SELECT 1 FROM work_units e WHERE e.id = work_units.resumes"
        " AND (e.started_at, e.id) < (work_units.started_at, work_units.id))",
        (session_id, session_id),
    )


def close(db: Connection, unit_id: int) -> None:
    """The episode is over; it ended with its last activity."""
    db.execute(
        "UPDATE work_units SET state = 'closed', ended_at = max(last_at, started_at) WHERE id = ? AND state = 'open'",
        (unit_id,),
    )


def annotated(db: Connection, unit_id: int, values: dict[str, object]) -> None:
    """Write columns that annotation, narration or a person gives; `values` names columns of work_units."""
    unknown = set(values) - set(COLUMNS)
    if unknown:
        raise ValueError(f"work_units has no {sorted(unknown)}")
    names = ", ".join(f"{column} = ?" for column in values)
    db.execute(f"UPDATE work_units SET {names} WHERE id = ?", (*values.values(), unit_id))  # noqa: S608 - checked


def refresh(db: Connection, unit_id: int) -> None:
    """What follows from the prompts of an episode, after these changed; its annotation starts again."""
    prompts = prompts_of(db, unit_id)
    if not prompts:
        return
    first, last = prompts[0], prompts[-1]
    db.execute(
        "UPDATE work_units SET first_prompt_id = ?, last_prompt_id = ?, started_at = ?, last_at = ?, turn_count = ?,"  # noqa: S608
        f" intent = coalesce(nullif({_OPENING}, ''), intent), heading = NULL, annotated_seq = 0, annotated_prompt = 0,"
        " traced_seq = 0"
        " WHERE id = ?",
        (first.id, last.id, first.at, last.at, len(prompts), unit_id, unit_id),
    )


def forget(db: Connection, unit_id: int, instead: int) -> None:
    """Remove an episode without prompts; what referred to it refers to another one."""
    db.execute("UPDATE work_units SET resumes = ? WHERE resumes = ? AND id != ?", (instead, unit_id, instead))
    db.execute("UPDATE work_units SET resumes = NULL WHERE resumes = ? AND id = ?", (unit_id, instead))
    db.execute("UPDATE threads SET primary_unit_id = ? WHERE primary_unit_id = ?", (instead, unit_id))
    db.execute("DELETE FROM narratives_fts WHERE rowid = ?", (unit_id,))
    db.execute("DELETE FROM work_units WHERE id = ?", (unit_id,))


def _stay(db: Connection, prompt_id: int) -> None:
    """The prompt after this one is where it is by a person's will."""
    db.execute(
        "UPDATE unit_prompts SET decided_by = 'person' WHERE prompt_id = (SELECT n.id FROM prompts n JOIN prompts p"
        " ON n.session_id = p.session_id AND n.source = 'user' AND (n.at, n.id) > (p.at, p.id) WHERE p.id = ?"
        " AND n.agent_id IS NULL ORDER BY n.at, n.id LIMIT 1)",
        (prompt_id,),
    )


def one_open(db: Connection, session_id: str) -> None:
    """Only the newest episode of a session is open."""
    db.execute(
        "UPDATE work_units SET state = 'closed', ended_at = max(last_at, started_at) WHERE session_id = ?"
        " AND state = 'open' AND id != (SELECT id FROM work_units WHERE session_id = ?"
        " ORDER BY started_at DESC, id DESC LIMIT 1)",
        (session_id, session_id),
    )


def forget_session(db: Connection, session_id: str) -> None:
    """Delete a session's episodes and what belongs to them; nothing where there are no tables of meaning.

    Inside a transaction, and before the session's prompts are deleted: these are referred to.
    """
    from nmem.tables import version  # on use: start-up stays short

    if not version(db):
        return
    threads = [
        row[0] for row in db.execute("SELECT thread_id FROM session_threads WHERE session_id = ?", (session_id,))
    ]
    ours = "(SELECT id FROM work_units WHERE session_id = ?)"
    db.execute(f"DELETE FROM narratives_fts WHERE rowid IN {ours}", (session_id,))  # noqa: S608 - our words
    db.execute(f"UPDATE threads SET primary_unit_id = NULL WHERE primary_unit_id IN {ours}", (session_id,))  # noqa: S608
    db.execute(f"UPDATE work_units SET resumes = NULL WHERE resumes IN {ours}", (session_id,))  # noqa: S608
    db.execute(f"DELETE FROM unit_prompts WHERE unit_id IN {ours}", (session_id,))  # noqa: S608
    db.execute(
        "DELETE FROM corrections WHERE iif(json_valid(payload), json_extract(payload, '$.session'), NULL) = ?"
        " OR target = 'session/' || ?",
        (session_id, session_id),
    )
    for table in ("work_units", "session_threads", "session_summaries", "session_signatures"):
        db.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))  # noqa: S608
    for thread_id in threads:
        if db.execute("SELECT 1 FROM session_threads WHERE thread_id = ? LIMIT 1", (thread_id,)).fetchone() is None:
            db.execute("DELETE FROM episode_links WHERE ? IN (earlier_thread_id, later_thread_id)", (thread_id,))
            db.execute("UPDATE work_units SET thread_id = NULL WHERE thread_id = ?", (thread_id,))
            db.execute("DELETE FROM threads WHERE id = ?", (thread_id,))
