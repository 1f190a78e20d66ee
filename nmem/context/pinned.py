"""Items that a person pinned, noted or chose, and exclusions, applied to a session (SQL). On the hook's path.

CROSS JOIN: from the few rows that are marked to their sessions. The other way round every observation is looked at.
"""

from __future__ import annotations

from nmem.context import known
from nmem.context.items import FILE, LEARNING, MARKER, PIN, RECALL, Item, subject
from nmem.names import told
from nmem.retrieval.terms import ago, terms
from nmem.sanitize import quoted

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Collection
    from sqlite3 import Connection

    from nmem.context.present import Present

EXCLUDE, INCLUDE, PINNED = "exclude", "include", "pin"
MOST = 40
"""Pins looked at: the newest. As many are told as there is room for."""
ELSEWHERE = 10
"""Pins of other projects looked at: the newest that are told everywhere."""
MARKERS = 2
FRESH = 14 * 86_400_000
"""A marker as old as this is told only when the prompt speaks of it."""
DECISIONS = 3
"""Marked decisions that are told at once: the newest that hold."""
_KIND = "CASE WHEN json_valid(o.metadata) THEN json_extract(o.metadata, '$.kind') END"
_ALIKE, _SHORT = 2 / 3, 3
"""The share of the words of two decisions that makes them one matter; of a decision of so many words a prompt that has
one speaks of it."""
_ENDS = (" no longer ", " instead ", " rather than ", " superseded ", " supersedes ", " replaces ",
         " replaced ", " replacing ", " any more ", " anymore ", " nicht mehr ", " ya no ", " não mais ",
         "더 이상", "不再")  # fmt: skip
"""By which a decision says that something else held before it."""
_BEGINS = (" from now on ", " ab jetzt ", " désormais ")
"""By which it may say that; or that it holds still."""
_NOT = frozenset(("not", "never", "no", "nicht", "nie", "kein", "keine", "não", "nunca", "pas"))
_TEXT = 240
_ABROAD = 0.9
"""The score of a pin of another project: a project's own come first."""


def choices(db: Connection, project_id: int) -> dict[str, str]:
    """What a person said about items of this project."""
    return dict(
        db.execute(
            "SELECT item, choice FROM context_choices WHERE project_id = ? ORDER BY at, item", (project_id,)
        ).fetchall()
    )


def pins(db: Connection, present: Present, chosen: dict[str, str]) -> list[Item]:
    """What is pinned in the project, and whatever else was chosen to be told, the newest first."""
    out: dict[str, Item] = {}
    for item in _pinned(db, present.project_id):
        reason = "you chose that it is always told" if item in chosen else "it is pinned"
        if chosen.get(item) != EXCLUDE:
            for one in resolved(db, item, present, reason):
                out.setdefault(one.id, one)
    for item, reason, project in _elsewhere(db, present.project_id):
        for one in resolved(db, item, present, reason) if chosen.get(item) != EXCLUDE else ():
            out.setdefault(one.id, _abroad(one, project))
    return list(out.values())


def _elsewhere(db: Connection, project_id: int) -> list[tuple[str, str, str]]:
    """Pins of other projects that a person wants told everywhere, the newest first: id, reason, name of the project.

    None of a project from which something was taken since it was folded: it is told nothing itself.
    """
    rows = db.execute(
        "SELECT e.item, p.name FROM pins_everywhere e JOIN projects p ON p.id = e.project_id"
        " LEFT JOIN context_projects c ON c.project_id = e.project_id"
        " WHERE e.project_id != ? AND coalesce(c.taken = c.known, 1) ORDER BY e.at DESC, e.item LIMIT ?",
        (project_id, ELSEWHERE),
    ).fetchall()
    return [
        (item, f"it is pinned in every project; it is of {project}", project)
        for item, project in rows
        if _still_pinned(db, item)
    ]


_PIN_OF = {
    "obs": "SELECT pinned FROM observations WHERE id = ?",
    "episode": "SELECT pinned FROM work_units WHERE id = ?",
    "thread": "SELECT pinned FROM threads WHERE id = ?",
}


def _still_pinned(db: Connection, item: str) -> bool:
    """Whether what is told everywhere still has its pin: taking that away ends it everywhere."""
    kind, _, number = item.partition("/")
    if kind in _PIN_OF:
        row = db.execute(_PIN_OF[kind], (int(number),)).fetchone()
        return bool(row and row[0])
    found = db.execute(
        "SELECT 1 FROM pins_everywhere e JOIN context_choices c ON c.project_id = e.project_id AND c.item = e.item"
        " WHERE e.item = ? AND c.choice = 'pin'",
        (item,),
    ).fetchone()
    return found is not None


def _abroad(one: Item, project: str) -> Item:
    """A pin of another project: after those of one's own, and said to be of the other."""
    return Item(
        one.id, PIN, f"Of project {quoted(project, 60)}: {one.text}", files=(), score=_ABROAD, reason=one.reason
    )


def _pinned(db: Connection, project_id: int) -> list[str]:
    """Ids of what is pinned or was chosen to be told, the newest first; brought into order here, which is cheaper."""
    rows = db.execute(
        "SELECT * FROM (SELECT 'episode/' || u.id, u.last_at FROM work_units u CROSS JOIN sessions s"
        " ON s.id = u.session_id WHERE u.pinned = 1 AND s.project_id = ?1 ORDER BY u.last_at DESC LIMIT ?2)"
        " UNION ALL SELECT 'thread/' || id, last_at FROM threads WHERE pinned = 1 AND project_id = ?1"
        " UNION ALL SELECT * FROM (SELECT 'obs/' || o.id, o.at FROM observations o CROSS JOIN sessions s"
        " ON s.id = o.session_id WHERE o.pinned = 1 AND s.project_id = ?1 ORDER BY o.at DESC LIMIT ?2)"
        " UNION ALL SELECT item, at FROM context_choices WHERE project_id = ?1 AND choice IN ('include', 'pin')",
        (project_id, MOST),
    ).fetchall()
    rows.sort(key=lambda row: (-row[1], row[0]))
    return list(dict.fromkeys(row[0] for row in rows[:MOST]))


def resolved(db: Connection, item: str, present: Present, reason: str) -> list[Item]:
    """The item that an id stands for, told whatever the present is; none when it is there no more."""
    kind, _, rest = item.partition("/")
    if kind == "file":
        text = told(rest)
        return [Item(item, FILE, text, files=(rest,), score=1.0, reason=reason)] if text else []
    if kind == RECALL:
        return [Item(item, RECALL, quoted(f"/{rest}"), score=1.0, reason=reason)]
    if not (rest.isascii() and rest.isdigit() and len(rest) < 19):
        return []
    number = int(rest)
    if kind == "episode":
        from nmem.context import episodes  # on use: start-up stays short

        return [
            episodes.tell(row, present.at, 1.0, reason, f"pin/{item}", PIN, present.unsaid)
            for row in episodes.units(db, [number])
        ]
    if kind == "thread":
        from nmem.context import work  # on use: start-up stays short

        return work.of_thread(db, number, present, reason, f"pin/{item}", PIN, 1.0)
    if kind == "learning":
        row = db.execute("SELECT coalesce(rule, title) FROM learnings WHERE id = ?", (number,)).fetchone()
        return [Item(item, LEARNING, quoted(row[0], _TEXT), score=1.0, reason=reason)] if row else []
    return _said(db, kind, number, item, present, reason)


def _said(db: Connection, kind: str, number: int, item: str, present: Present, reason: str) -> list[Item]:
    """An observation or a prompt, quoted."""
    if kind == "obs":
        row = db.execute("SELECT at, obs_type, content, file_path FROM observations WHERE id = ?", (number,)).fetchone()
    elif kind == "prompt":
        row = db.execute("SELECT at, source, content, NULL FROM prompts WHERE id = ?", (number,)).fetchone()
    else:
        return []
    if row is None:
        return []
    at, what, content, path = row
    word = {"user": "You said", "agent": "The agent said", "marker": "Noted"}.get(what, what.replace("_", " "))
    about = f" of {named}" if path and (named := told(path)) else ""
    text = f"{word}{about}, {ago(present.at - at)}: {quoted(content, _TEXT)}"
    return [Item(f"pin/{item}", PIN, text, score=1.0, reason=reason)]


def markers(db: Connection, present: Present, thread_id: int | None = None) -> list[Item]:
    """Notes and decisions that a person or an agent set down: those that the prompt speaks of; at a start the newest.

    `thread_id`: only notes of a thread; decisions hold in the whole project. Those that a later one replaces are not
    told. Raises sqlite3.Error.
    """
    only = "" if thread_id is None else " AND s.id IN (SELECT session_id FROM session_threads WHERE thread_id = ?)"
    rows = db.execute(
        "SELECT o.id, o.at, o.content FROM observations o CROSS JOIN sessions s ON s.id = o.session_id"  # noqa: S608
        f" WHERE o.obs_type = 'marker' AND s.project_id = ?{only} AND {_KIND} IS NOT 'decision'"
        " ORDER BY o.at DESC LIMIT 60",
        (present.project_id, *(() if thread_id is None else (thread_id,))),
    ).fetchall()
    asked = terms(present.prompt) if rows and present.prompt else {}
    out = []
    for number, at, content in rows:
        shared = [word for word in terms(content) if word in asked]
        fresh = present.at - at < FRESH and not present.prompt
        if len(shared) >= 2 or fresh:
            reason = _spoken_of(shared) or "noted lately"
            text = f"{quoted(content, _TEXT)} (noted {ago(present.at - at)})"
            out.append(Item(f"marker/{number}", MARKER, text, score=0.8 if shared else 0.5, reason=reason))
    return [*decisions(db, present), *out[:MARKERS]]


def decided_in(db: Connection, session_id: str) -> set[int]:
    """The observations of the decisions that were marked in a session."""
    only = f"o.session_id = ? AND o.obs_type = 'marker' AND {_KIND} = 'decision'"
    return {row[0] for row in db.execute(f"SELECT o.id FROM observations o WHERE {only}", (session_id,))}  # noqa: S608


def decisions(db: Connection, present: Present, also: Collection[int] = ()) -> list[Item]:
    """Marked decisions: those that the prompt speaks of; at a start the newest fresh ones that the person marked, or
    that are of `also`, whoever did.

    None that a later decision replaces. Raises sqlite3.Error.
    """
    rows = db.execute(
        "SELECT o.id, o.at, o.content FROM observations o CROSS JOIN sessions s ON s.id = o.session_id"  # noqa: S608
        f" WHERE o.obs_type = 'marker' AND s.project_id = ? AND {_KIND} = 'decision' ORDER BY o.at DESC, o.id DESC"
        " LIMIT 60",
        (present.project_id,),
    ).fetchall()
    if not rows:
        return []
    own, asked, out = _by_hand(db), terms(present.prompt) if present.prompt else {}, []
    held = _holding(rows, _said_since(db, present.project_id, rows[-1][1]), own)
    theirs = {content.lower() for number, _, content in held if f"obs/{number}" in own}
    for number, at, content in held:
        words = terms(content)
        shared = [word for word in words if word in asked]
        person = f"obs/{number}" in own
        if not person and content.lower() in theirs:
            continue
        if asked and (len(shared) >= 2 or (shared and _SHORT * len(shared) >= len(words))):
            reason, score = f"a decision was marked, and {_spoken_of(shared)}", 0.9
        elif not present.prompt and (person or number in also) and present.at - at < FRESH:
            reason, score = f"a decision that {'you' if person else 'the agent'} marked lately", 0.9
        else:
            continue
        who = "The person decided" if person else "Marked as decided"
        text = f"{who}, {ago(present.at - at)}: {quoted(content, _TEXT)}"
        out.append(Item(f"marker/{number}", MARKER, text, score=score, reason=reason))
    return out[:DECISIONS]


def _spoken_of(shared: list[str]) -> str:
    return f"the prompt speaks of {', '.join(shared[:3])}" if shared else ""


def _by_hand(db: Connection) -> set[str]:
    """The markers that a person set, by their observations; an agent's are not logged."""
    rows = db.execute("SELECT target FROM corrections WHERE kind = 'mark' AND undone_at IS NULL").fetchall()
    return {row[0] for row in rows}


def _said_since(db: Connection, project_id: int, since: int) -> list[tuple[int, str, bool]]:
    """Decisions said in conversation after a time: when, in what words, and whether they say that something held."""
    return db.execute(
        "SELECT d.at, CASE WHEN d.wording != '' THEN d.wording ELSE substr(p.content, d.said_from + 1, d.said_to -"
        " d.said_from) END, d.revises FROM said_decisions d CROSS JOIN sessions s ON s.id = d.session_id"
        " JOIN prompts p ON p.id = d.prompt_id WHERE d.at > ? AND s.project_id = ? AND d.state != 'dismissed'"
        " AND length(p.content) = d.said_size ORDER BY d.at DESC LIMIT 60",
        (since, project_id),
    ).fetchall()


def _holding(
    rows: list[tuple[int, int, str]], said: list[tuple[int, str, bool]], own: set[str]
) -> list[tuple[int, int, str]]:  # fmt: skip
    """Of marked decisions, the newest first, those that no later decision replaces; an agent's (none of `own`) replaces
    only an agent's. One that is said again holds: only where it is marked again the newer stands for both."""
    later = [(at, text, bool(revises), True) for at, text, revises in said if text]
    marked, out = len(later), []
    for number, at, content in rows:
        person = f"obs/{number}" in own
        if not any(
            when >= at and by_person >= person and _replaces(text, content, revises, n >= marked)
            for n, (when, text, revises, by_person) in enumerate(later)
        ):
            out.append((number, at, content))
        words = _words(content)
        later.append((at, content, _ends(words) or any(cue in f" {' '.join(words)} " for cue in _BEGINS), person))
    return out


def _replaces(later: str, earlier: str, revises: bool, marked: bool) -> bool:
    """Whether a later decision is about the matter of an earlier one: nearly its words, or most of them and a word
    that says that something held before, plainly where these are few. Said again, and not `marked`, it replaces none.
    """
    new, old = frozenset(terms(later)), frozenset(terms(earlier))
    shared = len(new & old)
    if shared < min(2, len(old)) or not shared or (not marked and _repeats(_words(later), _words(earlier))):
        return False
    plain = len(old) >= _SHORT or _ends(_words(later)) or _denials(_words(later))
    most = shared > _SHORT or (shared > _ALIKE * len(old) and plain)
    return shared >= _ALIKE * max(len(new), len(old)) or bool(revises and most)


def _repeats(later: list[str], earlier: list[str]) -> bool:
    """Whether a text has all words of another in their order, and does not deny it."""
    left = iter(later)
    return not _ends(later) and _denials(later) <= _denials(earlier) and all(word in left for word in earlier)


def _words(text: str) -> list[str]:
    low = text.lower().replace("’", "'")
    return "".join([char if char.isalnum() or char == "'" else " " for char in low]).split()


def _ends(words: list[str]) -> bool:
    """Whether a text says that something else held, also by "replace that by this"."""
    low = f" {' '.join(words)} "
    bare = [word for word in words if word not in ("the", "our")]
    swaps = any(verb == "replace" and by in ("by", "with") for verb, by in zip(bare, bare[2:], strict=False))
    return swaps or any(cue in low for cue in _ENDS)


def _denials(words: list[str]) -> int:
    return sum(word in _NOT or word.endswith("n't") for word in words)


def chosen(db: Connection, present: Present) -> list[Item]:
    """What a person pinned or included, told whatever the session is about; and what they marked as decided."""
    said = heed(db, present)
    return heeded([*pins(db, present, said), *decisions(db, present)], present, said)


def warned(db: Connection, present: Present) -> list[Item]:
    """The learnings that a prompt runs into, nothing ranked."""
    return once(db, present, known.learnings(db, present, []))


def once(db: Connection, present: Present, items: list[Item]) -> list[Item]:
    """Without what a person excluded, and what the session was told before."""
    return heeded(items, present, heed(db, present))


def heed(db: Connection, present: Present) -> dict[str, str]:
    """What a person said about items of the project; whatever is told from now on leaves out what they excluded."""
    said = choices(db, present.project_id)
    out = [item for item, choice in said.items() if choice == EXCLUDE]
    if out and present.unsaid is None:
        from nmem.context import unsaid  # on use: start-up stays short

        present.unsaid = unsaid.read(db, out)
    return said


def heeded(items: list[Item], present: Present, chosen: dict[str, str]) -> list[Item]:
    """Without what a person excluded, what was told before, and what is there twice: a pin is the episode itself."""
    out: dict[str, Item] = {}
    for item in items:
        key = subject(item.id)
        told = item.id in present.given or key in present.given or f"pin/{key}" in present.given
        if key not in out and not told and chosen.get(key) != EXCLUDE:
            out[key] = item
    excluded = {key[5:] for key, choice in chosen.items() if choice == EXCLUDE and key.startswith("file/")}
    kept = [item for item in out.values() if not excluded.intersection(item.files)]
    return present.unsaid.told(kept) if present.unsaid else kept
