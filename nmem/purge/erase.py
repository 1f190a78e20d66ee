"""Deletes the rows a selection reaches, and all text derived from them (SQL), in the caller's transaction.

Facts go. What was made of the sessions that lose something (narratives, summaries, learnings, candidates for context,
words of the vocabulary) goes as well, and settling makes it anew of what is left; where a person cut or named an
episode stays. Foreign keys are followed wherever they lead, also from tables that this module does not know.

Chosen words are blanked in every text column of the rows that stay, also in unknown tables; of calls of which only a
trace is left, single entries go out of a session's traces, which are what episodes are counted from. What cannot be
read as a trace any more goes as a whole where it says the chosen words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from sqlite3 import Connection
from time import time_ns

from capture.jsonio import dumps
from nmem.episodes import annotate, units
from nmem.episodes.titles import of_prompt
from nmem.errors import NmemError
from nmem.learn import refresh as learned
from nmem.purge.journal import LEFT, Journal, Table, tables
from nmem.purge.reach import (
    AT,
    FACTS,
    ID,
    PATH,
    PROMPT,
    Reach,
    entries,
    entry_rows,
    entry_says,
    says_sql,
    stored_trace,
    text_columns,
    watch,
)
from nmem.purge.selection import Matcher, Selection
from nmem.search import index_store
from nmem.sessions.store import purge as purge_copies
from nmem.store import registry, taken_back, trace
from nmem.threads import store

_MOST_TEXTS = 3_000
"""Rows whose words are taken out of the vocabulary one by one; of more, it is emptied and counted anew."""
_TOLD = ("summary", "learned", "completed", "next_steps", "notes", "files_read", "files_edited", "narrator",
         "narrated_at", "checkpoint", "client_summary", "agent_title", "heading")  # fmt: skip
_HEIR = (
    "(SELECT q.id FROM prompts p JOIN prompts q ON q.session_id = p.session_id AND q.source = 'user'"
    " AND q.agent_id IS NULL AND q.id NOT IN (SELECT id FROM purge_p) WHERE p.id = {}"
    " ORDER BY (q.at, q.id) > (p.at, p.id), abs(q.at - p.at), q.id LIMIT 1)"
)
"""The prompt before one that goes, or else the next."""
_CALLED = ("path", "name", "root || '/' || path", "root || '/' || name")
"""A moved file's names, as recorded ones are: relative to the checkout or absolute."""
_STAY, _CANDIDATES = registry.names(lambda table: table.stays), sorted(registry.names(lambda table: table.candidate))


def erase(db: Connection, chosen: Selection, reach: Reach, journal: Journal) -> None:
    """Everything goes. Raises NmemError where something that runs must be stopped first."""
    db.execute("PRAGMA defer_foreign_keys=ON")
    _ids(db, reach)
    _tasks(db)
    _injections(db, chosen)
    _team(db)
    _corrections(db)
    learned.forget(db, sorted(reach.touched | reach.sessions))
    _learnings(db, reach)
    projects = [
        row[0]
        for row in db.execute(
            "SELECT DISTINCT project_id FROM sessions WHERE id IN (SELECT id FROM purge_t UNION SELECT id FROM purge_s)"
        )
    ]
    for session_id in sorted(reach.sessions):
        units.forget_session(db, session_id)
    heirs = _heirs(db)
    _facts(db)
    _swept(db, reach, heirs)
    _meaning(db, reach)
    purge_copies(db, reach.touched | reach.copies | reach.uncopied)
    _threads(db)
    _projects(db, reach)
    if chosen.everywhere:
        with journal.every():
            blank(db, chosen)
    follow_keys(db, journal)
    _pins(db)
    _search(db, chosen, reach, journal)
    _context(db, projects)


def remake(db: Connection, session_ids: set[str]) -> None:
    """Nothing that was made of sessions stays: their rows were changed. Inside the caller's transaction."""
    reach, nothing = Reach(touched=session_ids), Selection(before=0)
    _ids(db, reach)
    _injections(db, nothing)
    learned.forget(db, sorted(session_ids))
    _meaning(db, reach)
    _threads(db)
    projects = db.execute("SELECT DISTINCT project_id FROM sessions WHERE id IN (SELECT id FROM purge_t)").fetchall()
    _context(db, [row[0] for row in projects])


def _ids(db: Connection, reach: Reach) -> None:
    """What goes, in temporary tables: o, p and s go, t is touched, u are the episodes of both kinds of sessions."""
    given: dict[str, Iterable[object]] = {
        "o": reach.observations, "p": reach.prompts, "s": reach.sessions, "t": reach.touched, "l": reach.learnings,
        "j": reach.projects, "k": reach.tasks,
    }  # fmt: skip
    for name, values in given.items():
        db.execute(f"DROP TABLE IF EXISTS temp.purge_{name}")
        db.execute(f"CREATE TEMP TABLE purge_{name} (id PRIMARY KEY)")
        db.executemany(f"INSERT INTO purge_{name} VALUES (?)", [(value,) for value in values])  # noqa: S608
    for name, table in (("o", "observations"), ("p", "prompts")):
        db.execute(f"INSERT OR IGNORE INTO purge_{name} SELECT id FROM {table}"  # noqa: S608 - our names
                   " WHERE session_id IN (SELECT id FROM purge_s)")  # fmt: skip
    db.execute("DROP TABLE IF EXISTS temp.purge_u")
    db.execute("CREATE TEMP TABLE purge_u AS SELECT id FROM work_units WHERE session_id IN"
               " (SELECT id FROM purge_t UNION SELECT id FROM purge_s)")  # fmt: skip
    db.execute("DROP TABLE IF EXISTS temp.purge_h")
    db.execute("CREATE TEMP TABLE purge_h AS SELECT DISTINCT thread_id AS id FROM session_threads WHERE session_id IN"
               " (SELECT id FROM purge_t UNION SELECT id FROM purge_s)")  # fmt: skip


def _tasks(db: Connection) -> None:
    at_work = db.execute(
        "SELECT id FROM tasks WHERE id IN (SELECT id FROM purge_k) AND state IN ('running', 'needs-input')"
    ).fetchone()
    if at_work:
        raise NmemError(f"task/{at_work[0]} is running: `nmem task cancel {at_work[0]}` first")
    db.execute("DELETE FROM tasks WHERE id IN (SELECT id FROM purge_k)")
    # what a session answered is in the output of its task
    db.execute("UPDATE tasks SET output = '' WHERE session_id IN (SELECT id FROM purge_s UNION SELECT id FROM purge_t)"
               " AND output != ''")  # fmt: skip


def _moved(db: Connection, chosen: Selection) -> None:
    """What git did to chosen files, by either name; f is what they were called, for what was told of it.

    Files narrowed by words, sessions or single rows stand for these rows only: their names stay known.
    """
    db.execute("DROP TABLE IF EXISTS temp.purge_f")
    db.execute("CREATE TEMP TABLE purge_f (path PRIMARY KEY)")
    if not chosen.files:
        return
    db.executemany("INSERT OR IGNORE INTO purge_f VALUES (?)", [(path,) for path in chosen.files])
    files = "(SELECT value FROM json_each(?1))"
    where = f"({' OR '.join(f'{one} IN {files}' for one in _CALLED)})"
    given: list[object] = [json.dumps(chosen.files), chosen.since or 0, chosen.before]
    where += " AND at >= ?2 AND (?3 IS NULL OR at < ?3)"
    if chosen.projects:
        where += (
            " AND project_id IN (SELECT project_id FROM sessions"
            " WHERE id IN (SELECT id FROM purge_t UNION SELECT id FROM purge_s))"
        )
    db.execute(f"INSERT OR IGNORE INTO purge_f SELECT path FROM moved_files WHERE {where}", given)  # noqa: S608 - our words
    if not (chosen.by_words or chosen.ids or chosen.sessions):
        db.execute(f"DELETE FROM moved_files WHERE {where}", given)  # noqa: S608


def _injections(db: Connection, chosen: Selection) -> None:
    """What sessions were told of it: that they were told stays, the words go."""
    _moved(db, chosen)
    db.execute("DROP TABLE IF EXISTS temp.purge_i")
    of = "(SELECT id FROM purge_t UNION SELECT id FROM purge_s)"
    said = "prompt_id IN purge_p OR asked_id IN purge_p OR restated_id IN purge_p"
    db.execute(
        "CREATE TEMP TABLE purge_i AS SELECT kind.value || u.id AS item FROM purge_u u,"  # noqa: S608 - our words
        """ json_each('["episode/", "next/", "said/", "done/"]') AS kind UNION SELECT 'thread/' || id"""
        " FROM purge_h UNION SELECT 'prompt/' || id FROM purge_p UNION SELECT 'obs/' || id FROM purge_o"
        " UNION SELECT 'marker/' || id FROM purge_o"
        f" UNION SELECT 'decision/' || id FROM said_decisions WHERE {said}"
        f" UNION SELECT 'beside/' || id FROM {of} UNION SELECT 'moved/' || path FROM purge_f"
        " UNION SELECT 'learning/' || id FROM purge_l UNION SELECT 'learning/' || learning_id FROM learning_evidence"
        f" WHERE session_id IN {of}"
    )
    db.executemany("INSERT INTO purge_i VALUES ('file/' || ?)", [(path,) for path in chosen.files])
    db.execute("INSERT INTO purge_i SELECT 'pin/' || item FROM purge_i")
    # an item that a compaction dropped quotes prompts of its own session, one on moved files may name several
    tells = (
        "(item IN (SELECT item FROM purge_i) OR kind = 'dropped' AND injection_id IN"
        " (SELECT id FROM injections WHERE session_id IN (SELECT id FROM purge_t)) OR kind = 'moved' AND EXISTS"
        " (SELECT 1 FROM json_each(iif(json_valid(files), files, '[]')) WHERE value IN (SELECT path FROM purge_f)))"
    )
    told = f"SELECT injection_id FROM injection_items WHERE {tells}"  # noqa: S608
    db.execute(f"UPDATE injections SET text = '' WHERE id IN ({told}) OR prompt_id IN (SELECT id FROM purge_p)")  # noqa: S608
    db.execute(f"UPDATE injection_items SET text = '', reason = '', files = '[]', used_how = NULL WHERE {tells}")  # noqa: S608
    # how an item was of use is said in words of the session that was told: its files, commands and sayings
    db.execute("UPDATE injection_items SET used_how = NULL WHERE used_how IS NOT NULL AND injection_id IN"
               " (SELECT id FROM injections WHERE session_id IN (SELECT id FROM purge_t))")  # fmt: skip
    db.execute("DELETE FROM injections WHERE session_id IN (SELECT id FROM purge_s)")
    gone = "SELECT 'prompt/' || id FROM purge_p UNION SELECT 'obs/' || id FROM purge_o"
    db.execute(f"DELETE FROM context_choices WHERE item IN ({gone})")  # noqa: S608 - our words


def _corrections(db: Connection) -> None:
    """What a person changed carries rows as they were: it stays done, and cannot be taken back one by one any more.

    A pin carries no words: that of something that stays can be taken back as before.
    """
    db.execute(
        "DELETE FROM corrections WHERE (kind NOT IN ('pin', 'unpin', 'everywhere', 'here') AND ("
        " iif(json_valid(payload), json_extract(payload, '$.session'), NULL) IN"
        " (SELECT id FROM purge_t UNION SELECT id FROM purge_s)"
        " OR target IN (SELECT item FROM purge_i)))"
        " OR target IN (SELECT 'observation/' || id FROM purge_o UNION SELECT 'session/' || id FROM purge_s)"
    )


def _pins(db: Connection) -> None:
    """Pins of what went cannot be taken back, once all that goes is gone."""
    there = " UNION ALL ".join(
        f"SELECT '{kind}/' || id FROM {table}"  # noqa: S608 - our names
        for kind, table in (
            ("episode", "work_units"), ("thread", "threads"), ("learning", "learnings"), ("obs", "observations"),
            ("prompt", "prompts"),
        )
    )  # fmt: skip
    kinds = "'pin', 'unpin', 'everywhere', 'here'"
    db.execute(f"DELETE FROM corrections WHERE kind IN ({kinds}) AND target NOT IN ({there})")  # noqa: S608 - our names
    db.execute(f"DELETE FROM pins_everywhere WHERE item NOT IN ({there})")  # noqa: S608


def _learnings(db: Connection, reach: Reach) -> None:
    """Learnings that are named themselves: with all that was read for them."""
    for number in sorted(reach.learnings):
        row = db.execute("SELECT project_id, key FROM learnings WHERE id = ?", (number,)).fetchone()
        if row is None:
            continue
        db.execute("DELETE FROM learning_findings WHERE project_id = ? AND key = ?", tuple(row))
        db.execute("DELETE FROM corrections WHERE target = 'learning/' || ?", (number,))
        db.execute("DELETE FROM learnings WHERE id = ?", (number,))


def _facts(db: Connection) -> None:
    """The rows themselves. A call whose prompt goes and that stays belongs to the prompt before it."""
    db.execute("DELETE FROM unit_prompts WHERE prompt_id IN (SELECT id FROM purge_p)")
    db.execute("DELETE FROM observations WHERE id IN (SELECT id FROM purge_o)")
    db.execute(
        f"UPDATE observations SET prompt_id = {_HEIR.format('observations.prompt_id')}"  # noqa: S608 - our words
        " WHERE prompt_id IN (SELECT id FROM purge_p)"
    )
    db.execute("DELETE FROM prompts WHERE id IN (SELECT id FROM purge_p)")
    for table in tables(db):
        if "session_id" in table.columns and table.name not in _STAY:
            db.execute(f"DELETE FROM {table.name} WHERE session_id IN (SELECT id FROM purge_s)")  # noqa: S608 - our names
    db.execute("UPDATE sessions SET parent_id = NULL WHERE parent_id IN (SELECT id FROM purge_s)")
    # that it was read stays known, so that reading transcripts again does not bring it back
    db.execute("UPDATE transcript_cursors SET state = NULL WHERE session_id IN"
               " (SELECT id FROM purge_s UNION SELECT id FROM purge_t) AND state IS NOT NULL")  # fmt: skip
    db.execute("UPDATE usage_places SET state = NULL WHERE session_id IN (SELECT id FROM purge_s)")
    db.execute("DELETE FROM sessions WHERE id IN (SELECT id FROM purge_s)")


def _heirs(db: Connection) -> dict[int, int | None]:
    """To which prompt what answered a prompt that goes belongs from now on: the one before it, or the next."""
    found = db.execute(f"SELECT x.id, {_HEIR.format('x.id')} FROM purge_p x").fetchall()  # noqa: S608 - our words
    return {row[0]: row[1] for row in found}


def _swept(db: Connection, reach: Reach, heirs: dict[int, int | None]) -> None:
    """What a sweep left of the same calls."""
    for session_id in sorted(reach.touched):
        if trace.swept(db, session_id):
            thin(db, session_id, {number for of, number in reach.traced if of == session_id}, heirs)


def _meaning(db: Connection, reach: Reach) -> None:
    """The episodes of sessions that lose something: fewer prompts, counted again, to be told again."""
    db.execute("DELETE FROM narrations WHERE unit_id IN (SELECT id FROM purge_u)")
    db.execute("DELETE FROM decided_units WHERE unit_id IN (SELECT id FROM purge_u)")
    db.execute("DELETE FROM unit_warnings WHERE unit_id IN (SELECT id FROM purge_u)")
    db.execute("DELETE FROM llm_attempts WHERE subject IN (SELECT 'episode/' || id FROM purge_u UNION"
               " SELECT 'boundaries/' || id FROM purge_t UNION SELECT 'boundaries/' || id FROM purge_s)")  # fmt: skip
    db.execute("DELETE FROM session_summaries WHERE session_id IN (SELECT id FROM purge_t)")
    told = ", ".join(f"{name} = NULL" for name in _TOLD)
    db.execute(f"UPDATE work_units SET {told} WHERE id IN (SELECT id FROM purge_u)")  # noqa: S608 - our names
    for table in (
        "unit_prompts",
        "session_threads",
        "session_signatures",
    ):  # noted whole, so that undo knows them whole
        column = "prompt_id" if table == "unit_prompts" else "session_id"
        of = "SELECT prompt_id FROM unit_prompts WHERE unit_id IN (SELECT id FROM purge_u)"
        db.execute(f"UPDATE {table} SET {column} = {column} WHERE {column} IN"  # noqa: S608
                   f" ({of if table == 'unit_prompts' else 'SELECT id FROM purge_t'})")  # fmt: skip
    for session_id in sorted(reach.touched):
        own = {unit.id for unit in units.of_session(db, session_id)}
        units.tidy(db, session_id, own, {})
        units.straighten(db, session_id)
        for unit in units.of_session(db, session_id):
            annotate.recount(db, unit, trace=unit.state == units.CLOSED)
        db.execute("DELETE FROM session_signatures WHERE session_id = ?", (session_id,))
        annotate.sign_session(db, session_id)


def _threads(db: Connection) -> None:
    """Lines of work that go on: their summaries are made anew, their titles of what was said first."""
    ours = "IN (SELECT id FROM purge_h)"
    db.execute(
        f"UPDATE threads SET micro = NULL, meso = NULL, macro = NULL, compacted_at = NULL WHERE id {ours}"  # noqa: S608
    )
    db.execute(f"UPDATE threads SET primary_unit_id = NULL WHERE id {ours}"  # noqa: S608
               " AND primary_unit_id NOT IN (SELECT id FROM work_units)")  # fmt: skip
    db.execute(
        f"UPDATE episode_links SET summary = NULL, llm_reasoning = NULL WHERE earlier_thread_id {ours}"  # noqa: S608
        f" OR later_thread_id {ours}"
    )
    for (thread_id,) in db.execute("SELECT id FROM purge_h").fetchall():
        if db.execute("SELECT 1 FROM threads WHERE id = ?", (thread_id,)).fetchone() is None:
            continue
        opening = db.execute(
            "SELECT p.content FROM session_threads t JOIN prompts p ON p.session_id = t.session_id WHERE"
            " t.thread_id = ? AND p.source = 'user' AND p.agent_id IS NULL ORDER BY p.at, p.id LIMIT 1",
            (thread_id,),
        ).fetchone()
        title = of_prompt(opening[0]) if opening else ""
        db.execute("UPDATE threads SET title = ? WHERE id = ? AND title != ?", (title, thread_id, title))
        store.refresh(db, thread_id)


def _team(db: Connection) -> None:
    """What a team was told of these sessions and learnings is taken back: it is noted, and the next pass says so.

    Noted is whatever could have been said of them, also where nothing here tells that it was.
    """
    of = "SELECT id FROM purge_t UNION SELECT id FROM purge_s"
    learned = "SELECT 'learning/' || id FROM purge_l UNION SELECT item FROM purge_i WHERE item LIKE 'learning/%'"
    db.execute(f"DELETE FROM team_facts WHERE own = 1 AND (session_id IN ({of}) OR source IN ({learned}))")  # noqa: S608
    began = db.execute(
        f"SELECT session_id, at FROM prompts WHERE source = 'user' AND session_id IN ({of})"  # noqa: S608 - our words
        " UNION SELECT session_id, started_at FROM work_units WHERE id IN (SELECT id FROM purge_u) UNION"
        " SELECT u.session_id, p.at FROM work_units u JOIN prompts p ON p.id = u.first_prompt_id WHERE u.id IN"
        f" (SELECT id FROM purge_u) UNION SELECT session_id, at FROM said_decisions WHERE session_id IN ({of})"
    ).fetchall()
    things: list[tuple[str, ...]] = [
        (kind, str(row[0]), str(row[1])) for row in began for kind in ("episode", "decision")
    ]
    things += [("learning", *map(str, row)) for row in db.execute(
        "SELECT n.name, l.kind, l.key FROM learnings l JOIN (SELECT id AS project_id, remote AS name FROM projects"  # noqa: S608
        " UNION SELECT project_id, shared_as FROM team_projects) n USING (project_id) WHERE n.name != ''"
        f" AND ('learning/' || l.id IN ({learned}) OR l.project_id IN (SELECT id FROM purge_j))")]  # fmt: skip
    taken_back.take_away(db, things, time_ns() // 1_000_000)


def _projects(db: Connection, reach: Reach) -> None:
    """Whole projects; what refers to one without holding it by a key is found by its name."""
    for project_id in sorted(reach.projects):
        name = db.execute("SELECT name FROM projects WHERE id = ?", (project_id,)).fetchone()
        db.execute("DELETE FROM tasks WHERE project = ? AND state NOT IN ('running', 'needs-input')", tuple(name))
        for (number,) in db.execute("SELECT id FROM learnings WHERE project_id = ?", (project_id,)).fetchall():
            db.execute("DELETE FROM corrections WHERE target = 'learning/' || ?", (number,))
    db.execute("DELETE FROM projects WHERE id IN (SELECT id FROM purge_j)")


def _search(db: Connection, chosen: Selection, reach: Reach, journal: Journal) -> None:
    """The vocabulary loses the words of all that went or was changed; settling counts it anew."""
    texts = journal.texts(_MOST_TEXTS)
    if texts is None:
        index_store.clear(db)
    else:
        index_store.drop(db, [*texts, *reach.words, *chosen.texts])
    db.execute("UPDATE search_state SET done = 1 WHERE source = 'stale'")
    for table in ("observations", "prompts"):
        # a number that is used again is a new text
        db.execute(
            f"UPDATE search_state SET indexed = min(indexed, (SELECT coalesce(max(id), 0) FROM {table}))"  # noqa: S608
            f", done = min(done, (SELECT coalesce(max(id), 0) FROM {table})) WHERE source = ?",
            (table,),
        )
        db.execute("DELETE FROM search_blocks WHERE source = ? AND first_id > (SELECT indexed FROM search_state"
                   " WHERE source = ?)", (table, table))  # fmt: skip
        db.execute(
            "UPDATE search_blocks SET last_id = (SELECT indexed FROM search_state WHERE source = ?1) WHERE"
            " source = ?1 AND last_id > (SELECT indexed FROM search_state WHERE source = ?1)",
            (table,),
        )


def _context(db: Connection, projects: list[int]) -> None:
    """Candidates for what sessions are told: none, until settling has folded the projects anew."""
    for project_id in projects:
        for table in _CANDIDATES:
            db.execute(f"DELETE FROM {table} WHERE project_id = ?", (project_id,))  # noqa: S608 - our names
        db.execute("UPDATE context_projects SET taken = taken + 1 WHERE project_id = ?", (project_id,))


def follow_keys(db: Connection, journal: Journal) -> None:
    """What refers to a row that is gone no longer does: set free where it may be, else gone too."""
    known = {table.name: table for table in journal.tables}
    every = tables(db, ())
    again = True
    while again:
        again = False
        for table in every:
            for parent, column, target in _keys(db, table.name):
                if parent in known and parent not in LEFT:
                    again |= _loose(db, table, column, known[parent], target)


def _keys(db: Connection, name: str) -> list[tuple[str, str, str]]:
    """Foreign keys of one column: the other table, the column, and the column there."""
    return [(row[2], row[3], row[4] or "id") for row in db.execute(f"PRAGMA main.foreign_key_list({name})")]


def _loose(db: Connection, table: Table, column: str, parent: Table, target: str) -> bool:
    """Rows of a table that refer to what is gone; whether any went themselves."""
    same = " AND ".join(f"t.{key} IS g.{key}" for key in parent.key)
    gone = (
        f"SELECT g.{target} FROM temp.{parent.old} g"  # noqa: S608 - names of tables
        f" WHERE NOT EXISTS (SELECT 1 FROM main.{parent.name} t WHERE {same})"
    )
    if db.execute(f"{gone} LIMIT 1").fetchone() is None:
        return False
    bound = next(row[3] or row[5] for row in db.execute(f"PRAGMA main.table_info({table.name})") if row[1] == column)
    if not bound:
        db.execute(f"UPDATE main.{table.name} SET {column} = NULL WHERE {column} IN ({gone})")  # noqa: S608
        return False
    return db.execute(f"DELETE FROM main.{table.name} WHERE {column} IN ({gone})").rowcount > 0  # noqa: S608


GONE = "(purged)"


def blank(db: Connection, chosen: Selection) -> None:
    """Take the words out of all that is left. Raises NmemError for a task at work that has them."""
    watch(db, chosen)
    _blank_traces(db, chosen.matcher)
    for table in tables(db, {*FACTS, *registry.names(lambda table: table.ever)}):
        columns = text_columns(db, table.name)
        if columns:
            _table(db, table, columns, partial(says_sql, chosen, table.name))


def _table(
    db: Connection, table: Table, columns: dict[str, tuple[bool, str | None]], test: Callable[[str], str]
) -> None:
    hit = " OR ".join(map(test, columns))
    if db.execute(f"SELECT 1 FROM main.{table.name} WHERE {hit} LIMIT 1").fetchone() is None:  # noqa: S608
        return
    if table.name == "tasks":
        busy = db.execute(f"SELECT id FROM tasks WHERE state IN ('running', 'needs-input') AND ({hit})").fetchone()  # noqa: S608
        if busy:
            raise NmemError(f"task/{busy[0]} contains it and is running: `nmem task cancel {busy[0]}` first")
    if table.name in registry.names(lambda table: table.whole):
        db.execute(f"DELETE FROM main.{table.name} WHERE {hit}")  # noqa: S608
        return
    unique = _unique(db, table.name) | set(table.key) | {column for _, column, _ in _keys(db, table.name)}
    firm = [name for name in columns if name in unique]
    if firm and table.name != "projects":
        hard = " OR ".join(map(test, firm))
        db.execute(f"DELETE FROM main.{table.name} WHERE {hard}")  # noqa: S608
    for name, (bound, default) in columns.items():
        if name not in unique or table.name == "projects":
            value = _empty(name, bound, default, unique)
            db.execute(f"UPDATE main.{table.name} SET {name} = {value} WHERE {test(name)}")  # noqa: S608


def _empty(name: str, bound: bool, default: str | None, unique: set[str]) -> str:
    """What stands where the words stood, as SQL."""
    if name in unique:
        return f"'{GONE} ' || rowid"
    if not bound:
        return "NULL"
    if default is not None:
        return default
    return f"CASE substr({name}, 1, 1) WHEN '[' THEN '[]' WHEN '{{' THEN '{{}}' ELSE '{GONE}' END"


def _unique(db: Connection, name: str) -> set[str]:
    """Columns that are in an index without doubles."""
    return {
        column[2] for index in db.execute(f"PRAGMA main.index_list({name})").fetchall() if index[2]
        for column in db.execute(f"PRAGMA main.index_info({index[1]})").fetchall()
    }  # fmt: skip


def thin(db: Connection, session_id: str, gone: set[int], prompts: dict[int, int | None]) -> None:
    """Take entries out of the traces of a session; those that answered a prompt that goes are given to another one."""
    taken: set[str] = set()
    count = 0
    sql = "SELECT part, trace FROM swept_traces WHERE session_id = ?"
    for part, stored in db.execute(sql, (session_id,)).fetchall():
        told = stored_trace(stored)
        if told is None:
            continue
        rows = entry_rows(stored)
        kept = [row for row in rows if row[ID] not in gone]
        changed = len(kept) != len(rows)
        taken |= {row[PATH] for row in rows if row[ID] in gone and row[PATH]}
        count += len(rows) - len(kept)
        for row in kept:
            if row[PROMPT] in prompts:
                row[PROMPT], changed = prompts[row[PROMPT]], True
        if changed:
            trace.put(db, session_id, part, dumps({**told, "rows": kept}))
    if count:
        db.execute("UPDATE swept_sessions SET observations = max(0, observations - ?) WHERE session_id = ?",
                   (count, session_id))  # fmt: skip
        _files(db, session_id, taken)


def _blank_traces(db: Connection, matcher: Matcher) -> None:
    """Chosen words are in no trace: what says them goes, entry by entry. `purge_says` is known to the connection."""
    sql = f"SELECT session_id, part, trace FROM swept_traces WHERE {matcher.sql('trace')}"  # noqa: S608 - our words
    for session_id, part, stored in db.execute(sql).fetchall():
        thin(db, session_id, {row[ID] for row in entry_rows(stored) if entry_says(row, matcher)}, {})
        left = db.execute("SELECT trace FROM swept_traces WHERE session_id = ? AND part = ?", (session_id, part))
        if matcher(left.fetchone()[0]):
            trace.put(db, session_id, part, dumps({"rows": [], "said": []}))


def _files(db: Connection, session_id: str, paths: set[str]) -> None:
    """Which files the traces of a session still tell of."""
    left: dict[str, list[int]] = {}
    for _, row in entries(db, "t.session_id = ?", (session_id,)):
        if row[PATH] in paths:
            left.setdefault(row[PATH], []).append(row[AT])
    for path in sorted(paths):
        key = (session_id, path)
        if times := left.get(path):
            sets = "calls = ?, first_at = ?, last_at = ?"
            db.execute(f"UPDATE swept_files SET {sets} WHERE session_id = ? AND file_path = ?",  # noqa: S608
                       (len(times), min(times), max(times), *key))  # fmt: skip
        else:
            db.execute("DELETE FROM swept_files WHERE session_id = ? AND file_path = ?", key)
