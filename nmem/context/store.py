"""What every hook asks: the session and its prompts, what it was told, what a person chose, pinned and noted.

Tables: sessions, prompts, injections, context_choices, context_learnings, pins_everywhere. Each prompt loads this
module: what only selecting asks lies in `nmem.context.selection_store`.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Connection

    from nmem.context.items import Item

    Session = tuple[int, str, str | None, str | None, str, str, int | None]
    """Project, client, why it started, branch, folder, the project's name, its thread."""
    Learning = tuple[int, float, str, str, str, str, str, int, int, int]
    """Number, heat, phrases, names, words, files, what is told, whether it has a remedy, sessions, whether a skill."""
    Marked = tuple[int, int, str]
    """A note or a decision: its observation, its time in ms, and its words."""

_PAGES = 128
"""Pages that SQLite keeps in memory while a hook selects: a hook reads most pages once, and fresh memory costs as much
as reading."""
AGAIN = 10_000
"""Milliseconds within which the same start told again is the same start: hooks may be registered twice."""
COMPACT = "compact"
"""The event of an injection after which whatever was told before is gone from the conversation."""
LATE = "late"
"""The reason of one that was not ready in time: nothing was told."""
EVERYTHING = "*"
"""Excluded, this stands for all of a project's context."""
FAILURE, CALL = "failure", "call"
"""The events of what is told at the point of action: each thing once, as long as the conversation has it."""
_TEXTS = {
    "episode": "SELECT id, title, agent_title, heading, summary, intent, completed, learned, next_steps"
    " FROM work_units",
    "next": "SELECT id, next_steps FROM work_units",
    "thread": "SELECT id, title, micro FROM threads",
    "learning": "SELECT l.id, l.title, l.rule, c.told FROM learnings l LEFT JOIN context_learnings c"
    " ON c.learning_id = l.id",
    "obs": "SELECT id, substr(content, 1, 500) FROM observations",
    "prompt": "SELECT id, substr(content, 1, 500) FROM prompts",
}


# the session and its prompts


def session(db: Connection, session_id: str) -> Session | None:
    """A session as it was begun, with its project and its thread; None when it is not known."""
    found: Session | None = db.execute(
        "SELECT s.project_id, s.client, s.source, s.branch, s.cwd, p.name, t.thread_id FROM sessions s"
        " JOIN projects p ON p.id = s.project_id LEFT JOIN session_threads t ON t.session_id = s.id WHERE s.id = ?",
        (session_id,),
    ).fetchone()
    return found


def newest_episode(db: Connection, session_id: str) -> int | None:
    """The episode that a session is in."""
    row = db.execute(
        "SELECT id FROM work_units WHERE session_id = ? ORDER BY started_at DESC, id DESC LIMIT 1", (session_id,)
    ).fetchone()
    return row[0] if row else None


def newest_prompt(db: Connection, session_id: str) -> tuple[int, int, str] | None:
    """What the person asked last: its number, its time, its text."""
    found: tuple[int, int, str] | None = db.execute(
        "SELECT id, at, content FROM prompts WHERE session_id = ? AND source = 'user' AND agent_id IS NULL"
        " ORDER BY at DESC, id DESC LIMIT 1",
        (session_id,),
    ).fetchone()
    return found


def prompts_before(db: Connection, session_id: str, at: int, prompt_id: int, most: int) -> list[tuple[str, int]]:
    """The newest prompts before one, since the conversation began anew, and whether answering each was too late."""
    return db.execute(
        "SELECT substr(p.content, 1, 400),"
        " EXISTS (SELECT 1 FROM injections j WHERE j.prompt_id = p.id AND j.reason = ?) FROM prompts p WHERE"
        " p.session_id = ? AND p.source = 'user' AND p.agent_id IS NULL AND (p.at, p.id) < (?, ?)"
        " AND p.at >= coalesce((SELECT max(at) FROM injections WHERE session_id = ? AND event = ?), 0)"
        " ORDER BY p.at DESC, p.id DESC LIMIT ?",
        (LATE, session_id, at, prompt_id, session_id, COMPACT, most),
    ).fetchall()


def opens_episode(db: Connection, prompt_id: int) -> bool:
    """Whether an episode begins with a prompt."""
    look = (
        "SELECT 1 FROM unit_prompts u JOIN work_units w ON w.id = u.unit_id AND w.first_prompt_id = u.prompt_id"
        " WHERE u.prompt_id = ?"
    )
    return db.execute(look, (prompt_id,)).fetchone() is not None


def failed_last(db: Connection, session_id: str, at: int) -> tuple[str, str] | None:
    """What failed last since the prompt before this one: its text and its type."""
    found: tuple[str, str] | None = db.execute(
        "SELECT content, obs_type FROM observations WHERE session_id = ?1 AND outcome = 'failed' AND agent_id IS NULL"
        " AND at >= coalesce((SELECT max(at) FROM prompts WHERE session_id = ?1 AND source = 'user' AND at < ?2), 0)"
        " AND at <= ?2 ORDER BY at DESC, seq DESC LIMIT 1",
        (session_id, at),
    ).fetchone()
    return found


def read_once(db: Connection) -> None:
    """Keep few pages in memory: selecting reads most of them once."""
    db.execute(f"PRAGMA cache_size={_PAGES}")


# what it was told


class Injection:
    """What is about to be told, to whom, and why now."""

    __slots__ = ("at", "client", "event", "items", "prompt_id", "reason", "session_id", "text", "unit_id", "until",
                 "withheld")  # fmt: skip

    def __init__(self, session_id: str, at: int, event: str, client: str) -> None:
        self.session_id = session_id
        self.at = at
        self.event = event
        """startup resume clear compact fork (why the session started), prompt, failure or call."""
        self.client = client
        self.prompt_id: int | None = None
        self.unit_id: int | None = None
        self.items: Sequence[Item] = ()
        self.text = ""
        self.withheld = False
        self.until = 0
        """When it must be decided, by the machine's clock in ns; 0: nobody waits."""
        self.reason = ""


def remember(db: Connection, one: Injection) -> bool:
    """Keep an injection with its items; False when it has been told already. Raises sqlite3.Error."""
    from capture.jsonio import dumps  # on use: start-up stays short
    from capture.storage.store import transaction
    from nmem.context.items import tokens

    with transaction(db):
        if _told(db, one):
            return False
        number = db.execute(
            "INSERT INTO injections (at, session_id, event, client, prompt_id, unit_id, text, tokens, withheld, reason)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (one.at, one.session_id, one.event, one.client, one.prompt_id, one.unit_id, one.text,
             tokens(one.text) if one.text else 0, int(one.withheld), one.reason),
        ).lastrowid  # fmt: skip
        db.executemany(
            "INSERT INTO injection_items (injection_id, position, item, kind, score, reason, text, files, tokens)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (number, at, item.id, item.kind, item.score, item.reason, item.text, dumps(list(item.files)),
                 item.tokens)
                for at, item in enumerate(one.items)
            ],
        )  # fmt: skip
    return True


def _told(db: Connection, one: Injection) -> bool:
    """Whether the same prompt, or the same start, was answered: by a hook that is registered twice; or a thing told."""
    if one.event in (FAILURE, CALL):
        row = db.execute(
            "SELECT 1 FROM injections j JOIN injection_items i ON i.injection_id = j.id"
            " WHERE j.session_id = ? AND j.id >= ? AND i.item = ?",
            (one.session_id, folded(db, one.session_id)[0], one.items[0].id),
        ).fetchone()
    elif one.prompt_id is not None:
        row = db.execute("SELECT 1 FROM injections WHERE prompt_id = ?", (one.prompt_id,)).fetchone()
    else:
        row = db.execute(
            "SELECT 1 FROM injections WHERE session_id = ? AND at > ? AND event = ? AND prompt_id IS NULL",
            (one.session_id, one.at - AGAIN, one.event),
        ).fetchone()
    return row is not None


def folded(db: Connection, session_id: str) -> tuple[int, int]:
    """The injection with which the conversation began anew, and when in ms; zeros when it never was folded."""
    row = db.execute(
        "SELECT max(id), at FROM injections WHERE session_id = ? AND event = ?", (session_id, COMPACT)
    ).fetchone()
    return int(row[0] or 0), int(row[1] or 0)


def given(db: Connection, session_id: str, since: int) -> tuple[frozenset[str], frozenset[str]]:
    """The items since an injection, and the files that they named. What was kept back counts, too."""
    from capture.jsonio import BadJson, loads  # on use: start-up stays short

    items: set[str] = set()
    files: set[str] = set()
    for item, named in db.execute(
        "SELECT i.item, i.files FROM injections j JOIN injection_items i ON i.injection_id = j.id"
        " WHERE j.session_id = ? AND j.id >= ?",
        (session_id, since),
    ).fetchall():
        items.add(item)
        if named != "[]":
            try:
                found = loads(named)
            except BadJson:
                continue
            files.update(str(path) for path in found if path) if isinstance(found, list) else None
    return frozenset(items), frozenset(files)


# what a person chose, and what is known of the project


def switched_off(db: Connection, project_id: int) -> bool:
    """Whether a person said that this project is told nothing."""
    row = db.execute(
        "SELECT 1 FROM context_choices WHERE project_id = ? AND item = ? AND choice = 'exclude'",
        (project_id, EVERYTHING),
    ).fetchone()
    return row is not None


def choices(db: Connection, project_id: int) -> dict[str, str]:
    """What a person said about items of this project, the newest last."""
    query = "SELECT item, choice FROM context_choices WHERE project_id = ? ORDER BY at, item"
    return dict(db.execute(query, (project_id,)).fetchall())


def excluded(db: Connection, project_id: int) -> list[str]:
    """The ids of what a person excluded in a project, the newest last."""
    return [item for item, choice in choices(db, project_id).items() if choice == "exclude"]


def texts(db: Connection, items: Iterable[str]) -> list[tuple[str, tuple[str | None, ...]]]:
    """What items say, by kind: the number and the texts of each that has its own row."""
    by_kind: dict[str, list[int]] = {}
    for item in items:
        kind, _, rest = item.partition("/")
        if kind in _TEXTS and rest.isascii() and rest.isdigit() and len(rest) < 19:
            by_kind.setdefault(kind, []).append(int(rest))
    out: list[tuple[str, tuple[str | None, ...]]] = []
    for kind, numbers in by_kind.items():
        where = f"{'l.id' if kind == 'learning' else 'id'} IN ({', '.join('?' * len(numbers))})"
        out += [(kind, row) for row in db.execute(f"{_TEXTS[kind]} WHERE {where}", numbers).fetchall()]
    return out


def names_of(db: Connection, project_id: int) -> tuple[str, str, str]:
    """A project's name, root and key; empty for one that is not known."""
    row = db.execute("SELECT name, root, key FROM projects WHERE id = ?", (project_id,)).fetchone()
    return row or ("", "", "")


def waits(db: Connection, project_id: int) -> bool:
    """Whether something was taken away that a project's candidates may hold: they are folded anew first."""
    row = db.execute("SELECT taken = known FROM context_projects WHERE project_id = ?", (project_id,)).fetchone()
    return row is not None and not row[0]


def others_spoke(db: Connection, project_id: int) -> bool:
    """Whether other members of a team said anything in the project: mostly not, and nothing is loaded for them."""
    look = "SELECT 1 FROM team_facts WHERE own = 0 AND gone = 0 AND project_id = ? LIMIT 1"
    return db.execute(look, (project_id,)).fetchone() is not None


def learnings(db: Connection, project_id: int) -> list[Learning]:
    """The open learnings that a session of a project may run into, the hottest first."""
    return db.execute(
        "SELECT c.learning_id, c.heat, c.phrases, c.names, c.words, c.files, c.told, l.remedy IS NOT NULL, l.sessions,"
        " l.kind = 'skill'"
        " FROM context_learnings c JOIN learnings l ON l.id = c.learning_id"
        " WHERE c.project_id = ? AND l.state = 'open' ORDER BY c.heat DESC, c.learning_id",
        (project_id,),
    ).fetchall()


# pins and notes; CROSS JOIN: from the few rows that are marked to their sessions, not through every observation


def pinned(db: Connection, project_id: int, most: int) -> list[str]:
    """Ids of what is pinned or was chosen to be told, the newest first; brought into order here, which is cheaper."""
    rows = db.execute(
        "SELECT * FROM (SELECT 'episode/' || u.id, u.last_at FROM work_units u CROSS JOIN sessions s"
        " ON s.id = u.session_id WHERE u.pinned = 1 AND s.project_id = ?1 ORDER BY u.last_at DESC LIMIT ?2)"
        " UNION ALL SELECT 'thread/' || id, last_at FROM threads WHERE pinned = 1 AND project_id = ?1"
        " UNION ALL SELECT * FROM (SELECT 'obs/' || o.id, o.at FROM observations o CROSS JOIN sessions s"
        " ON s.id = o.session_id WHERE o.pinned = 1 AND s.project_id = ?1 ORDER BY o.at DESC LIMIT ?2)"
        " UNION ALL SELECT item, at FROM context_choices WHERE project_id = ?1 AND choice IN ('include', 'pin')",
        (project_id, most),
    ).fetchall()
    rows.sort(key=lambda row: (-row[1], row[0]))
    return list(dict.fromkeys(row[0] for row in rows[:most]))


def everywhere(db: Connection, but: int, most: int) -> list[tuple[str, str]]:
    """Pins of other projects that are told in each, the newest first: id, name of the project.

    None of a project from which something was taken since it was folded: it is told nothing itself.
    """
    return db.execute(
        "SELECT e.item, p.name FROM pins_everywhere e JOIN projects p ON p.id = e.project_id"
        " LEFT JOIN context_projects c ON c.project_id = e.project_id"
        " WHERE e.project_id != ? AND coalesce(c.taken = c.known, 1) ORDER BY e.at DESC, e.item LIMIT ?",
        (but, most),
    ).fetchall()


PINS = {"obs": "observations", "episode": "work_units", "thread": "threads"}
"""Kinds whose rows carry their pin -> their tables."""


def pin_of(db: Connection, kind: str, number: int) -> int | None:
    """1 or 0 for something that carries its own pin; None for what is gone."""
    row = db.execute(f"SELECT pinned FROM {PINS[kind]} WHERE id = ?", (number,)).fetchone()  # noqa: S608
    return int(row[0]) if row else None


def is_pinned(db: Connection, item: str) -> bool:
    """Whether what is told everywhere still has its pin: taking that away ends it everywhere."""
    kind, _, number = item.partition("/")
    if kind in PINS:
        return bool(pin_of(db, kind, int(number)))
    look = (
        "SELECT 1 FROM pins_everywhere e JOIN context_choices c ON c.project_id = e.project_id AND c.item = e.item"
        " WHERE e.item = ? AND c.choice = 'pin'"
    )
    return db.execute(look, (item,)).fetchone() is not None


_SAID = {
    "obs": "SELECT at, obs_type, content, file_path FROM observations WHERE id = ?",
    "prompt": "SELECT at, source, content, NULL FROM prompts WHERE id = ?",
    "learning": "SELECT 0, 'learning', coalesce(rule, title), NULL FROM learnings WHERE id = ?",
}


def said(db: Connection, kind: str, number: int) -> tuple[int, str, str, str | None] | None:
    """An observation, a prompt or a learning: when, what it is, its words, its file; None where there is none."""
    if kind not in _SAID:
        return None
    found: tuple[int, str, str, str | None] | None = db.execute(_SAID[kind], (number,)).fetchone()
    return found


_DECIDED = "CASE WHEN json_valid(o.metadata) THEN json_extract(o.metadata, '$.kind') END IS 'decision'"


def notes(db: Connection, project_id: int, *, decided: bool, thread_id: int | None = None) -> list[Marked]:
    """The newest decisions that were marked in a project, or the newest other notes; `thread_id`: only of a thread."""
    only = "" if thread_id is None else " AND s.id IN (SELECT session_id FROM session_threads WHERE thread_id = ?)"
    return db.execute(
        "SELECT o.id, o.at, o.content FROM observations o CROSS JOIN sessions s ON s.id = o.session_id"  # noqa: S608
        f" WHERE o.obs_type = 'marker' AND s.project_id = ?{only} AND ({_DECIDED}) = {int(decided)}"
        f" ORDER BY o.at DESC{', o.id DESC' if decided else ''} LIMIT 60",
        (project_id, *(() if thread_id is None else (thread_id,))),
    ).fetchall()


def decided_in(db: Connection, session_id: str) -> set[int]:
    """The observations of the decisions that were marked in a session."""
    only = f"o.session_id = ? AND o.obs_type = 'marker' AND {_DECIDED}"
    return {row[0] for row in db.execute(f"SELECT o.id FROM observations o WHERE {only}", (session_id,))}  # noqa: S608


def marked_by_hand(db: Connection) -> set[str]:
    """The markers that a person set, by their observations; an agent's are not logged."""
    rows = db.execute("SELECT target FROM corrections WHERE kind = 'mark' AND undone_at IS NULL").fetchall()
    return {row[0] for row in rows}


def said_since(db: Connection, project_id: int, at: int) -> list[tuple[int, str, int]]:
    """Decisions said in conversation after a time: when, in what words, and whether they say that something held."""
    return db.execute(
        "SELECT d.at, CASE WHEN d.wording != '' THEN d.wording ELSE substr(p.content, d.said_from + 1, d.said_to -"
        " d.said_from) END, d.revises FROM said_decisions d CROSS JOIN sessions s ON s.id = d.session_id"
        " JOIN prompts p ON p.id = d.prompt_id WHERE d.at > ? AND s.project_id = ? AND d.state != 'dismissed'"
        " AND length(p.content) = d.said_size ORDER BY d.at DESC LIMIT 60",
        (at, project_id),
    ).fetchall()
