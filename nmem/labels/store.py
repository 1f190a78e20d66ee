"""SQL of labels: walks a session's calls in order; writes their labels, and episodes' counts and traces from them.

At the end: what is due, what a person corrected, and calls as screens list them.

Counts follow in the transaction that writes the labels. A trace is rewritten once a session is done (`retrace`); until
then `traced_seq` is 0, by which settling knows an episode to annotate again, should nobody come back to it.

What came before a call is looked up as capture.labels.labeller does it: the agent's last calls among the session's last
rows. A session is read in pages, so that no reading transaction stays open.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from sqlite3 import Connection
from typing import Any, NamedTuple

from capture.labels import DIMENSIONS
from capture.labels.calls import NOT_CALLS, TEXT, WINDOW, Call, Seen
from capture.labels.labeller import COLUMNS, LOOKED
from capture.labels.model import Model
from capture.storage.store import transaction
from nmem.episodes.annotate import sign_session
from nmem.episodes.tally import LABELS
from nmem.labels import cards
from nmem.text import json_list, json_object

_WRITE = (
    "UPDATE observations SET phase = ?, scope = ?, locus = ?, novelty = ?, friction = ?, label_model = ?"
    " WHERE id = ? AND label_model IS ?"
)
Touched = dict[int, bool]
"""Episode -> whether its trace was whole, and has to follow."""
_WORDS = {name: (above, below) for name, above, below in LABELS}


class Change(NamedTuple):
    """One row's labels, before and after."""

    id: int
    seq: int
    prompt_id: int | None
    before: Scores
    after: Scores
    was: str | None
    """label_model as it was read: when it is another by now, the row is left alone."""
    model: str | None


class Overtaken(Exception):
    """A row was labelled by somebody else since it was read; nothing is written."""


def write(db: Connection, changes: Sequence[Change]) -> Touched:
    """Write labels of one session inside the caller's transaction; the episodes that are touched.

    Raises Overtaken and sqlite3.Error; then the transaction has to be rolled back.
    """
    done = db.executemany(_WRITE, [(*each.after, each.model, each.id, each.was) for each in changes])
    if done.rowcount != len(changes):
        raise Overtaken
    return _count(db, [each for each in changes if each.before != each.after])


def write_free(db: Connection, changes: Iterable[Change]) -> tuple[int, Touched]:
    """Write those that nobody has overtaken; how many, and the episodes that are touched."""
    kept = [each for each in changes if db.execute(_WRITE, (*each.after, each.model, each.id, each.was)).rowcount]
    return len(kept), _count(db, [each for each in kept if each.before != each.after])


def _count(db: Connection, changes: Sequence[Change]) -> Touched:
    """Move the counts of words of the episodes that have counted these rows."""
    prompts = sorted({each.prompt_id for each in changes if each.prompt_id is not None})
    if not prompts:
        return {}
    marks = ",".join("?" for _ in prompts)
    sql = f"SELECT prompt_id, unit_id FROM unit_prompts WHERE prompt_id IN ({marks})"  # noqa: S608 - only marks
    of = dict(db.execute(sql, prompts).fetchall())
    by_unit: dict[int, list[Change]] = {}
    for each in changes:
        if each.prompt_id in of:
            by_unit.setdefault(of[each.prompt_id], []).append(each)
    out: Touched = {}
    for unit_id, some in by_unit.items():
        signature, counted, until = db.execute(
            "SELECT phase_signature, annotated_seq, traced_seq FROM work_units WHERE id = ?", (unit_id,)
        ).fetchone()
        moved = _moved(signature, [each for each in some if each.seq <= counted])
        db.execute("UPDATE work_units SET phase_signature = ?, traced_seq = 0 WHERE id = ?", (moved, unit_id))
        out[unit_id] = 0 < until == counted
    return out


def _moved(signature: str, changes: Iterable[Change]) -> str:
    counts = {word: many for word, many in json_object(signature).items() if isinstance(many, int)}
    for each in changes:
        for name, old, new in zip(DIMENSIONS, each.before, each.after, strict=True):
            for score, by in ((old, -1), (new, 1)):
                if score:
                    word = _WORDS[name][score < 0]
                    counts[word] = counts.get(word, 0) + by
    return json.dumps({word: number for word, number in counts.items() if number > 0}, separators=(",", ":"))


def retrace(db: Connection, session_id: str, units: Touched) -> None:
    """Bring what is kept of a session's episodes up to the rows, each trace in a short transaction of its own."""
    for unit_id in sorted(unit_id for unit_id, whole in units.items() if whole):
        row = _known(db, unit_id)
        if row is not None:
            new = _traced(db, session_id, unit_id, row[0])
            with transaction(db):
                _keep(db, unit_id, row, new)
    if units:
        with transaction(db):
            sign_session(db, session_id)


def retrace_now(db: Connection, session_id: str, units: Touched) -> None:
    """The same inside the caller's transaction."""
    for unit_id in (unit_id for unit_id, whole in units.items() if whole):
        row = _known(db, unit_id)
        if row is not None:
            _keep(db, unit_id, row, _traced(db, session_id, unit_id, row[0]))
    if units:
        sign_session(db, session_id)


def _known(db: Connection, unit_id: int) -> tuple[str, int] | None:
    row = db.execute("SELECT obs_trace, annotated_seq FROM work_units WHERE id = ?", (unit_id,)).fetchone()
    return (row[0], row[1]) if row else None


def _keep(db: Connection, unit_id: int, known: tuple[str, int], new: str) -> None:
    """Store a trace unless the episode was annotated again meanwhile."""
    db.execute(
        "UPDATE work_units SET obs_trace = ?, traced_seq = annotated_seq"
        " WHERE id = ? AND obs_trace = ? AND annotated_seq = ?",
        (new, unit_id, *known),
    )


def _traced(db: Connection, session_id: str, unit_id: int, trace: str) -> str:
    """A trace with the scores that the rows have now; rows that are gone keep what is told of them."""
    found = db.execute(
        "SELECT id, phase, scope, locus, novelty, friction FROM observations WHERE session_id = ?"
        " AND prompt_id IN (SELECT prompt_id FROM unit_prompts WHERE unit_id = ?)",
        (session_id, unit_id),
    )
    scores = {row[0]: {name: score for name, score in zip(DIMENSIONS, row[1:], strict=True) if score is not None}
              for row in found}  # fmt: skip
    told = [each for each in json_list(trace) if isinstance(each, dict)]
    for each in told:
        if each.get("id") in scores:
            each.pop("scores", None)
            if scores[each["id"]]:
                each["scores"] = scores[each["id"]]
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False)


def met(db: Connection, db_path: str, model: Model, now: int) -> None:
    """Keep a model's name and card when it is first used here. Raises sqlite3.Error."""
    if db.execute("SELECT 1 FROM label_models WHERE name = ?", (model.name,)).fetchone():
        return
    source, card = cards.card_of(db_path, model.name)
    with transaction(db):
        db.execute("INSERT OR IGNORE INTO label_models VALUES (?, ?, ?, ?)",
                   (model.name, now, source, json.dumps(card, ensure_ascii=False)))  # fmt: skip


def known(db: Connection) -> dict[str, tuple[int, str, dict[str, Any]]]:
    """Name -> when it was first used, where it came from, and its card."""
    found = db.execute("SELECT name, at, source, card FROM label_models ORDER BY at").fetchall()
    return {row[0]: (row[1], row[2], json_object(row[3])) for row in found}


def looked_to(db: Connection) -> int:
    """The id up to which no row is without labels, as far as settling has looked."""
    row = db.execute("SELECT max(json_extract(card, '$.looked_to')) FROM label_models").fetchone()
    return int(row[0] or 0)


def looked(db: Connection, model: Model, to: int) -> None:
    """Note it with the model that gave the last of these labels."""
    with transaction(db):
        db.execute("UPDATE label_models SET card = json_set(card, '$.looked_to', ?) WHERE name = ?", (to, model.name))


PAGE = 2000
_FROM = (
    f"SELECT id, at, seq, prompt_id, label_model, phase, scope, locus, novelty, friction, coalesce(agent_id, ''), {COLUMNS}"  # noqa: S608, E501
    " FROM observations WHERE session_id = ?"
)
_ON = f"{_FROM} AND (at, seq) >= (?, ?) ORDER BY at, seq LIMIT ?"
_BEFORE = f"{_FROM} AND (at, seq) < (?, ?) ORDER BY at DESC, seq DESC LIMIT {LOOKED}"
_ASKED = f"SELECT substr(content, 1, {TEXT}) FROM prompts WHERE id = ?"  # noqa: S608

Row = tuple[Any, ...]
Scores = tuple[float | None, float | None, float | None, float | None, float | None]


class Stored(NamedTuple):
    """One stored call."""

    id: int
    at: int
    seq: int
    prompt_id: int | None
    label_model: str | None
    scores: Scores
    call: Call
    before: tuple[Call, ...]


class Walk:
    """The calls of one session from a moment on, each with what came before it."""

    def __init__(self, db: Connection, session_id: str, at: int = -(1 << 62), seq: int = 0, page: int = PAGE) -> None:
        self.db, self.session_id, self.page = db, session_id, page
        self._next = at, seq
        self._number = 0
        self._last: dict[str, deque[tuple[int, Call]]] = {}
        self._prompt: tuple[int | None, str] = (None, "")

    def __iter__(self) -> Iterator[Stored]:
        for row in reversed(self.db.execute(_BEFORE, (self.session_id, *self._next)).fetchall()):
            self._seen(row)
        while True:
            page = self.db.execute(_ON, (self.session_id, *self._next, self.page)).fetchall()
            for row in page:
                found = self._seen(row)
                if found is not None:
                    yield found
            if len(page) < self.page:
                return
            self._next = page[-1][1], page[-1][2] + 1

    def seen(self, stored: Stored) -> Seen:
        """What the classifiers are shown of it."""
        return Seen(stored.call, stored.before, self._asked(stored.prompt_id))

    def _seen(self, row: Row) -> Stored | None:
        """The row's call; None for what is none, which takes up a place all the same."""
        self._number += 1
        number, at, seq, prompt_id, model, *scores = row[:10]
        agent, kind, tool, path, text, failed = row[10:]
        if kind in NOT_CALLS:
            return None
        call = Call(kind, tool, path, text, bool(failed))
        last = self._last.setdefault(agent, deque(maxlen=WINDOW))
        while last and last[-1][0] < self._number - LOOKED:
            last.pop()
        before = tuple([one for _, one in last])
        last.appendleft((self._number, call))
        return Stored(number, at, seq, prompt_id, model, tuple(scores), call, before)

    def _asked(self, prompt_id: int | None) -> str:
        if prompt_id is None:
            return ""
        if self._prompt[0] != prompt_id:
            row = self.db.execute(_ASKED, (prompt_id,)).fetchone()
            self._prompt = prompt_id, row[0] if row else ""
        return self._prompt[1]


def one(db: Connection, observation_id: int) -> tuple[Stored, Seen] | None:
    """One stored call with what came before it; None when it is not there, or is no call."""
    row = db.execute("SELECT session_id, at, seq FROM observations WHERE id = ?", (observation_id,)).fetchone()
    if row is None:
        return None
    walk = Walk(db, row[0], row[1], row[2], page=1)
    for stored in walk:
        if stored.id == observation_id:
            return stored, walk.seen(stored)
        if (stored.at, stored.seq) > (row[1], row[2]):
            break
    return None


_CALLS = f"obs_type NOT IN ({', '.join(repr(kind) for kind in sorted(NOT_CALLS))})"
_OTHERS = "(label_model IS NULL OR (label_model != :model AND substr(label_model, 1, 13) != :model || '+'))"
_BARE = "(label_model IS NULL OR substr(label_model, 1, 1) IN ('+', '~'))"
_NAMED = ":project IN (p.name, p.key, p.root)"
_SESSIONS = f"SELECT s.id FROM sessions s JOIN projects p ON p.id = s.project_id WHERE {_NAMED}"  # noqa: S608
_SCORES = "phase, scope, locus, novelty, friction"


def newest(db: Connection) -> int:
    """The highest id of an observation."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM observations").fetchone()[0])


def has_project(db: Connection, project: str) -> bool:
    """Whether there is a project of this name, key or root."""
    sql = f"SELECT 1 FROM projects p WHERE {_NAMED}"  # noqa: S608 - our words
    return db.execute(sql, {"project": project}).fetchone() is not None


def due(
    db: Connection, model: str, *, everything: bool, bare: bool, project: str, after: int
) -> list[tuple[str, int, int]]:
    """(session, first moment, rows) where rows are due, the newest session first."""
    where = (
        f"{_CALLS} AND {'1' if everything else _BARE if bare else _OTHERS}"
        + (" AND id > :after" if after else "")
        + (f" AND session_id IN ({_SESSIONS})" if project else "")
    )
    return db.execute(
        f"SELECT session_id, min(at), count(*) FROM observations NOT INDEXED WHERE {where}"  # noqa: S608 - our words
        " GROUP BY session_id ORDER BY max(at) DESC, session_id", {"model": model, "after": after, "project": project}
    ).fetchall()  # fmt: skip


def bare(db: Connection, session_id: str) -> tuple[int | None, int]:
    """(first moment, rows) of what no model has labelled in a session."""
    first = f"SELECT min(at), count(*) FROM observations WHERE session_id = ? AND {_CALLS} AND {_BARE}"  # noqa: S608
    at, count = db.execute(first, (session_id,)).fetchone()
    return at, count


def fold_after(db: Connection, pages: int) -> int:
    """Fold the write-ahead log back by itself after so many pages, 0: never; how many these were before."""
    usual = int(db.execute("PRAGMA wal_autocheckpoint").fetchone()[0])
    db.execute(f"PRAGMA wal_autocheckpoint={pages}")
    return usual


def fold(db: Connection) -> None:
    """Fold it back now, as far as nobody is in the way."""
    db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()


def labels_of(db: Connection, observation_id: int) -> Row | None:
    """Session, kind, seq, prompt, giver and the five scores of an observation."""
    found = db.execute(
        f"SELECT session_id, obs_type, seq, prompt_id, label_model, {_SCORES} FROM observations WHERE id = ?",  # noqa: S608
        (observation_id,),
    ).fetchone()
    return None if found is None else tuple(found)


def befores(db: Connection, kind: str, observation_id: int) -> Iterator[dict[str, Any]]:
    """What was there before each correction of a call that stands, the newest first."""
    found = db.execute(
        "SELECT before FROM corrections WHERE target = ? AND kind = ? AND undone_at IS NULL ORDER BY id DESC",
        (f"observation/{observation_id}", kind),
    )
    return (json.loads(text) for (text,) in found.fetchall())


def call(db: Connection, observation_id: int) -> Row | None:
    """A call as it is shown, with its prompt, giver and scores."""
    row = db.execute(
        "SELECT o.session_id, o.at, o.obs_type, coalesce(o.tool_name, ''), coalesce(o.file_path, ''),"
        " substr(o.content, 1, 2000), o.outcome, coalesce((SELECT substr(content, 1, 400) FROM prompts p WHERE p.id ="
        " o.prompt_id), ''), o.label_model, o.phase, o.scope, o.locus, o.novelty, o.friction"
        " FROM observations o WHERE o.id = ?", (observation_id,),
    ).fetchone()  # fmt: skip
    return None if row is None else tuple(row)


def newest_calls(db: Connection, limit: int, *, unsure: bool) -> list[Row]:
    """The newest calls with their scores; `unsure`: those of which the model cannot tell one."""
    open_ = "substr(label_model, 1, 1) NOT IN ('+', '~') AND (phase + scope + locus + novelty + friction) IS NULL"
    where = f" AND {open_}" if unsure else ""
    found = db.execute(
        f"SELECT id, session_id, at, obs_type, substr(content, 1, 400), {_SCORES}"  # noqa: S608
        f" FROM observations WHERE {_CALLS}{where} ORDER BY at DESC, id DESC LIMIT ?", (limit,),
    ).fetchall()  # fmt: skip
    return list(map(tuple, found))


def decided(db: Connection, limit: int, session_id: str) -> list[Row]:
    """Calls of which a person has decided something that stands, those decided last first."""
    where = " AND o.session_id = :session" if session_id else ""
    found = db.execute(
        "SELECT o.id, o.session_id, o.at, o.obs_type, substr(o.content, 1, 400), o.label_model, o.phase, o.scope,"  # noqa: S608
        " o.locus, o.novelty, o.friction FROM (SELECT max(id) AS last, cast(substr(target, 13) AS INTEGER) AS number"
        " FROM corrections WHERE kind = 'label' AND undone_at IS NULL GROUP BY target) c"
        f" JOIN observations o ON o.id = c.number WHERE instr(o.label_model, '+'){where}"
        " ORDER BY c.last DESC LIMIT :limit",
        {"session": session_id, "limit": limit},
    ).fetchall()
    return list(map(tuple, found))


def givers(db: Connection) -> list[tuple[str | None, int]]:
    """Who gave the labels, with the number of rows; reads the whole table once."""
    sql = f"SELECT label_model, count(*) FROM observations NOT INDEXED WHERE {_CALLS} GROUP BY label_model"  # noqa: S608
    return db.execute(sql).fetchall()


def doubtful(db: Connection, limit: int, among: int) -> list[int]:
    """Calls of the newest `among` observations with a word too close to tell, of which no person said anything."""
    if limit <= 0:
        return []
    rows = db.execute(
        "SELECT id FROM (SELECT id, obs_type, label_model, phase + scope + locus + novelty + friction AS told"  # noqa: S608 -- our names
        f" FROM observations ORDER BY id DESC LIMIT ?) WHERE told IS NULL AND {_CALLS}"
        " AND label_model != '' AND substr(label_model, 1, 1) != '~' AND instr(label_model, '+') = 0 LIMIT ?",
        (among, limit),
    )
    return [int(row[0]) for row in rows]
