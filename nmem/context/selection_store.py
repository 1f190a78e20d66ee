"""What is selected from for a session that may be told something: files, other sessions, episodes, what they left open.

Tables: context_files and what else settling prepared, moved_files, sessions, work_units, said_decisions, threads.
Loaded when a session starts and by a prompt that may be told something, not by any other.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Connection
    from typing import Literal

    File = tuple[int, str, float | None, float | None, float | None, float]
    """Number, path, heat of edits, long and of reads, and what the words of its name weigh."""
    Heard = tuple[int, str, bytes]
    """How many turns have a word, the word, the newest of these packed."""
    Named = tuple[str, int, bytes]
    """A word, files whose base name has it, the newest of these packed."""
    Unit = tuple[
        int, str, int, str, str | None, str, str | None, str | None, str | None, int, int, str | None, str | None
    ]
    Left = tuple[int, str, int, str | None, str, int, int | None]
    """An episode, what it was about, when, its next steps, its session, when they were told, and its thread."""
    Other = tuple[str, str | None, str, int]
    """A session: id, branch, folder, and when it ended."""
    Column = Literal["hot_files", "outcomes", "session_id"]
    Edited = tuple[str, str, str, int, str, str, int, str | None]
    """Session, client, state, project, checkout, file, when, and the checkout of the session that asks."""


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


# files, as settling prepared them


def standing(db: Connection, project_id: int) -> tuple[int, int, int] | None:
    """How many sessions, turns and files a project has; None where nothing may be told of them."""
    query = "SELECT sessions, turns, files FROM context_projects WHERE project_id = ? AND taken = known"
    found: tuple[int, int, int] | None = db.execute(query, (project_id,)).fetchone()
    return found


def roots(db: Connection, project_id: int) -> list[str]:
    """The other checkouts of a project."""
    row = db.execute("SELECT roots FROM context_projects WHERE project_id = ?", (project_id,)).fetchone()
    return row[0].split("\n") if row and row[0] else []


def heard(db: Connection, project_id: int, words: Sequence[str]) -> list[Heard]:
    """Those of some words that the project has spoken of."""
    return db.execute(
        f"SELECT turns_with, term, turns FROM context_terms WHERE project_id = ? AND term IN ({_marks(words)})",  # noqa: S608
        (project_id, *words),
    ).fetchall()


def turns(db: Connection, project_id: int, numbers: Sequence[int]) -> list[tuple[int, float, bytes]]:
    """Some turns: number, length, and the files that they edited packed."""
    return db.execute(
        f"SELECT turn, norm, edited FROM context_turns WHERE project_id = ? AND turn IN ({_marks(numbers)})",  # noqa: S608
        (project_id, *numbers),
    ).fetchall()


def names(db: Connection, project_id: int, words: Sequence[str]) -> list[Named]:
    """Those of some words that base names have, and their files; a whole base name is one behind a `=`."""
    return db.execute(
        f"SELECT word, files_with, files FROM context_names WHERE project_id = ? AND word IN ({_marks(words)})",  # noqa: S608
        (project_id, *words),
    ).fetchall()


def on_branches(db: Connection, project_id: int, words: Sequence[str], most: int) -> dict[int, float]:
    """File -> sessions that edited it on branches whose names have any of some words: those of most sessions."""
    return dict(
        db.execute(
            "SELECT file, sum(sessions) AS n FROM context_branches WHERE project_id = ?"  # noqa: S608
            f" AND word IN ({_marks(words)}) GROUP BY file ORDER BY n DESC, file LIMIT ?",
            (project_id, *words, most),
        ).fetchall()
    )


def hot(db: Connection, project_id: int, edited: int, read: int) -> list[int]:
    """The files edited, and read, lately and often: so many of each."""
    out = []
    for column, limit in (("edit_heat", edited), ("read_heat", read)):
        rows = db.execute(
            f"SELECT file FROM context_files WHERE project_id = ? AND {column} IS NOT NULL"  # noqa: S608
            f" ORDER BY {column} DESC LIMIT {limit}",
            (project_id,),
        )
        out += [row[0] for row in rows.fetchall()]
    return out


def files(db: Connection, project_id: int, numbers: Sequence[int]) -> list[File]:
    """Some files of a project."""
    return db.execute(
        "SELECT file, path, edit_heat, long_heat, read_heat, name_weight FROM context_files"  # noqa: S608
        f" WHERE project_id = ? AND file IN ({_marks(numbers)})",
        (project_id, *numbers),
    ).fetchall()


def last_work(db: Connection, project_id: int, session_id: str, paths: Sequence[str]) -> list[tuple[str, str, int]]:
    """The last episode of other sessions that edited each of some files: path, what it was about, when."""
    return db.execute(
        "SELECT f.path, coalesce(u.title, u.intent), u.last_at FROM context_files f JOIN context_turns t"  # noqa: S608
        " ON t.project_id = f.project_id AND t.turn = f.last_turn JOIN unit_prompts p ON p.prompt_id = t.prompt_id"
        " JOIN work_units u ON u.id = p.unit_id WHERE f.project_id = ? AND u.session_id != ?"
        f" AND f.path IN ({_marks(paths)})",
        (project_id, session_id, *paths),
    ).fetchall()


def touched_in(db: Connection, thread_id: int) -> set[str]:
    """The files that a thread touched."""
    rows = db.execute(
        "SELECT DISTINCT o.file_path FROM session_threads x CROSS JOIN observations o ON o.session_id ="
        " x.session_id WHERE x.thread_id = ? AND o.file_path IS NOT NULL",
        (thread_id,),
    )
    return {row[0] for row in rows.fetchall()}


def usefulness(db: Connection, project_id: int, items: Sequence[str]) -> list[tuple[str, int, int]]:
    """Those of some items that were given before: how often, and how often used."""
    return db.execute(
        f"SELECT item, given, used FROM context_usefulness WHERE project_id = ? AND item IN ({_marks(items)})",  # noqa: S608
        (project_id, *items),
    ).fetchall()


# files, as they lie in a checkout


def root(db: Connection, project_id: int, session_id: str) -> str:
    """The folder of the checkout that a session works in, else of its project; empty when neither is known."""
    (found,) = db.execute(
        "SELECT coalesce((SELECT f.root FROM sessions s JOIN project_folders f ON f.folder = s.cwd WHERE s.id = ?),"
        " (SELECT root FROM projects WHERE id = ?), '')",
        (session_id, project_id),
    ).fetchone()
    return str(found)


def edits(db: Connection, since: int, now: int, project_id: int, session_id: str) -> list[Edited]:
    """What sessions of a project (0: of all) that are not over edited since a time, the newest first."""
    rows = db.execute(
        "SELECT s.id, s.client, s.state, s.project_id, coalesce(f.root, p.root), o.file_path, max(o.at) AS at,"
        " (SELECT g.root FROM sessions m JOIN project_folders g ON g.folder = m.cwd WHERE m.id = ?4)"
        " FROM sessions s JOIN projects p ON p.id = s.project_id JOIN observations o ON o.session_id = s.id"
        " AND o.at > ?1 LEFT JOIN project_folders f ON f.folder = s.cwd"
        " WHERE s.last_at > ?1 AND s.last_at <= ?2 AND s.state != 'ended' AND (?3 = 0 OR s.project_id = ?3)"
        " AND o.obs_type IN ('file_edit', 'file_write') AND o.file_path IS NOT NULL"
        " GROUP BY s.id, o.file_path ORDER BY at DESC, s.id, o.file_path LIMIT 400",
        (since, now, project_id, session_id),
    )
    return [tuple(row) for row in rows.fetchall()]


def renamed(db: Connection, project_id: int, folder: str, paths: Sequence[str]) -> list[tuple[str, str]]:
    """Those of some files of a checkout that have another name now, and that name."""
    return db.execute(
        f"SELECT path, name FROM moved_files WHERE project_id = ? AND root = ? AND path IN ({_marks(paths)})"  # noqa: S608
        " AND change IN ('moved', 'renamed')",
        (project_id, folder, *paths),
    ).fetchall()


def moved(db: Connection, project_id: int, since: int, until: int, most: int) -> list[tuple[str, str, str, str]]:
    """Files that sessions edited and that git moved, renamed or deleted within a time, those edited last first."""
    return db.execute(
        "SELECT m.root, m.path, m.name, m.hash FROM moved_files m"
        " JOIN context_files f ON f.project_id = m.project_id AND f.path = m.path AND f.last_turn > 0"
        " WHERE m.project_id = ?1 AND m.change != 'new' AND m.at > ?2 AND m.at <= ?3"
        " ORDER BY f.last_turn DESC LIMIT ?4",
        (project_id, since, until, most),
    ).fetchall()


# sessions of the project


def has_past(db: Connection, project_id: int, but: str) -> bool:
    """Whether anything was said in the newest sessions of a project but one."""
    look = (
        "SELECT 1 FROM (SELECT id FROM sessions WHERE project_id = ? AND id != ? ORDER BY last_at DESC LIMIT 50) s"
        " WHERE EXISTS (SELECT 1 FROM prompts WHERE session_id = s.id AND source = 'user') LIMIT 1"
    )
    return db.execute(look, (project_id, but)).fetchone() is not None


def spoke(db: Connection, session_id: str) -> tuple[int | None, int | None, int | None]:
    """When a session was said something first and last, and when it began."""
    found: tuple[int | None, int | None, int | None] = db.execute(
        "SELECT min(p.at), max(p.at), s.started_at FROM sessions s LEFT JOIN prompts p ON p.session_id = s.id"
        " WHERE s.id = ?",
        (session_id,),
    ).fetchone()
    return found


def last_before(db: Connection, project_id: int, but: str, at: int = 1 << 62) -> int | None:
    """When another session of the project did something last, before a time."""
    query = "SELECT max(last_at) FROM sessions WHERE project_id = ? AND id != ? AND last_at < ?"
    found: int | None = db.execute(query, (project_id, but, at)).fetchone()[0]
    return found


def sessions(db: Connection, project_id: int, but: str, since: int, at: int, most: int) -> list[Other]:
    """The newest other sessions of a project within a time."""
    return db.execute(
        "SELECT id, branch, cwd, last_at FROM sessions WHERE project_id = ? AND id != ? AND last_at < ? AND last_at > ?"
        " ORDER BY last_at DESC LIMIT ?",
        (project_id, but, at, since, most),
    ).fetchall()


def worked_on(db: Connection, project_id: int, but: str, branch: str, most: int) -> bool:
    """Whether one of the project's newest sessions was on a branch."""
    look = (
        "SELECT 1 FROM (SELECT id, branch FROM sessions WHERE project_id = ? ORDER BY last_at DESC LIMIT ?)"
        " WHERE branch = ? AND id != ? LIMIT 1"
    )
    return db.execute(look, (project_id, most, branch, but)).fetchone() is not None


# episodes


def units(db: Connection, ids: Sequence[int], thread_id: int | None = None) -> list[Unit]:
    """The rows that episodes are told from; `thread_id`: only those of a thread."""
    if not ids:
        return []
    only = "" if thread_id is None else " AND u.thread_id = ?"
    return db.execute(
        "SELECT u.id, coalesce(u.title, u.intent), u.last_at, u.outcomes, u.next_steps, u.session_id, u.summary,"  # noqa: S608
        " d.result, s.branch, u.turn_count, min(u.last_at, coalesce(u.narrated_at, u.last_at)), u.hot_files, u.commits"
        " FROM work_units u JOIN sessions s ON s.id = u.session_id LEFT JOIN retrieval_docs d ON d.unit_id = u.id"
        f" WHERE u.id IN ({_marks(ids)}){only}",
        (*ids, *(() if thread_id is None else (thread_id,))),
    ).fetchall()


def of_units(db: Connection, column: Column, ids: Sequence[int]) -> list[tuple[int, str]]:
    """A column of some episodes, with their numbers."""
    return db.execute(f"SELECT id, {column} FROM work_units WHERE id IN ({_marks(ids)})", tuple(ids)).fetchall()  # noqa: S608


def has_others(db: Connection, session_id: str, but: int) -> bool:
    """Whether a session has episodes beside one."""
    look = "SELECT 1 FROM work_units WHERE session_id = ? AND id != ? LIMIT 1"
    return db.execute(look, (session_id, but)).fetchone() is not None


def latest_of_session(db: Connection, session_id: str) -> int | None:
    """The episode of a session that was worked on last."""
    query = "SELECT id FROM work_units WHERE session_id = ? ORDER BY last_at DESC, id DESC LIMIT 1"
    row = db.execute(query, (session_id,)).fetchone()
    return row[0] if row else None


def latest_of_thread(db: Connection, thread_id: int, but: str, at: int) -> int | None:
    """The episode of a thread that was worked on last, outside a session, of those begun before a time."""
    row = db.execute(
        "SELECT id FROM work_units WHERE thread_id = ? AND session_id != ? AND started_at < ?"
        " ORDER BY last_at DESC, id DESC LIMIT 1",
        (thread_id, but, at),
    ).fetchone()
    return row[0] if row else None


def latest_on(
    db: Connection, project_id: int, but: str, names: Sequence[str], since: int, at: int
) -> tuple[int, str] | None:  # fmt: skip
    """The latest episode within a time on one of some branches, outside a session, and that branch."""
    found: tuple[int, str] | None = db.execute(
        "SELECT u.id, s.branch FROM sessions s JOIN work_units u ON u.session_id = s.id WHERE s.project_id = ?"  # noqa: S608
        f" AND s.last_at > ? AND s.id != ? AND s.branch IN ({_marks(names)}) AND u.last_at < ?"
        " AND u.last_at > ? ORDER BY u.last_at DESC, u.id DESC LIMIT 1",
        (project_id, since, but, *names, at, since),
    ).fetchone()
    return found


def latest_sent(
    db: Connection, project_id: int, but: str, branch: str, since: int, at: int, of: int, sent: Sequence[str]
) -> int | None:  # fmt: skip
    """The latest episode within a time that pushed or ran one of some commands, where none are given that committed;
    of the newest `of` sessions but one; on a branch, where one is given."""
    held = "u.commits != '[]'"
    if sent:
        ran = " OR ".join("instr(o.content, ?) > 0" for _ in sent)
        held = (
            "EXISTS (SELECT 1 FROM unit_prompts p JOIN observations o ON o.prompt_id = p.prompt_id WHERE"  # noqa: S608
            f" p.unit_id = u.id AND o.outcome != 'failed' AND (o.obs_type = 'git_push' OR {ran}))"
        )
    row = db.execute(
        "SELECT u.id FROM (SELECT id, branch FROM sessions WHERE project_id = ? AND id != ? AND started_at < ?"  # noqa: S608
        " ORDER BY last_at DESC LIMIT ?) s JOIN work_units u ON u.session_id = s.id"
        f" WHERE u.last_at < ? AND u.last_at > ? AND ? IN ('', s.branch) AND {held}"
        " ORDER BY u.last_at DESC, u.id DESC LIMIT 1",
        (project_id, but, at, of, at, since, branch, *sent),
    ).fetchone()
    return row[0] if row else None


def since(db: Connection, project_id: int, but: str, at: int, most: int) -> list[tuple[int, str]]:
    """The newest episodes of other sessions since a time, and the files that each worked on."""
    return db.execute(
        "SELECT u.id, u.hot_files FROM (SELECT id FROM sessions WHERE project_id = ? AND id != ? AND last_at > ?"
        " ORDER BY last_at DESC LIMIT ?) s JOIN work_units u ON u.session_id = s.id WHERE u.last_at > ?"
        " ORDER BY u.last_at DESC LIMIT ?",
        (project_id, but, at, most, at, most),
    ).fetchall()


def editors(
    db: Connection, project_id: int, but: str, at: int, named: Sequence[tuple[str, float]], known: Iterable[int],
    most: int,
) -> list[tuple[int, int, float]]:  # fmt: skip
    """Episodes that edited some files, and how much that says: of those known, of the newest sessions, and the last
    each."""
    says = " + ".join("(max(instr(u.files_edited, ?), instr(u.files_edited, ?)) > 0) * ?" for _ in named)
    values = [each for path, worth in named for each in (f'/{path}"', f'"{path}"', worth)]
    ids, paths = f"[{','.join(map(str, known))}]", [path for path, _ in named]
    return db.execute(
        f"SELECT id, last_at, says FROM (SELECT u.id, u.last_at, {says} AS says FROM work_units u"  # noqa: S608 - placeholders
        " WHERE u.files_edited IS NOT NULL AND +u.last_at < ? AND u.session_id != ? AND"
        " (u.id IN (SELECT value FROM json_each(?) UNION SELECT id FROM work_units WHERE session_id IN"
        " (SELECT id FROM sessions WHERE project_id = ? ORDER BY last_at DESC LIMIT ?)"
        " UNION SELECT p.unit_id FROM context_files f JOIN context_turns t"
        " ON t.project_id = f.project_id AND t.turn = f.last_turn JOIN unit_prompts p ON p.prompt_id = t.prompt_id"
        f" WHERE f.project_id = ? AND f.path IN ({_marks(paths)})))) WHERE says > 0",
        (*values, at, but, ids, project_id, most, project_id, *paths),
    ).fetchall()


def prompts_with(db: Connection, unit_id: int, text: str) -> list[str]:
    """Prompts of an episode that hold a text."""
    rows = db.execute(
        "SELECT substr(p.content, 1, 4000) FROM unit_prompts u JOIN prompts p ON p.id = u.prompt_id"
        " WHERE u.unit_id = ? AND instr(p.content, ?) > 0 LIMIT 8",
        (unit_id, text),
    )
    return [str(row[0]) for row in rows.fetchall()]


# what was decided in episodes, and what they left open


def _quote(name: str, of: str) -> str:
    return (
        f"CASE WHEN length({of}.content) = d.{name}_size"
        f" THEN substr({of}.content, d.{name}_from + 1, d.{name}_to - d.{name}_from) ELSE '' END"
    )


def decided(db: Connection, ids: Sequence[int]) -> list[tuple[int, str, str | None, str | None, int, int]]:
    """Decisions said in episodes: episode, the person's words, what was asked, how the agent said it, the episode that
    replaced it or 0, whether the agent said it before."""
    return db.execute(
        f"SELECT x.unit_id, CASE WHEN d.wording != '' THEN d.wording ELSE {_quote('said', 'p')} END,"  # noqa: S608
        f" {_quote('asked', 'a')}, {_quote('restated', 'r')}, coalesce(y.unit_id, 0), coalesce(r.at <= p.at, 0)"
        " FROM unit_prompts x JOIN said_decisions d ON d.prompt_id = x.prompt_id JOIN prompts p ON p.id = d.prompt_id"
        " LEFT JOIN prompts a ON a.id = d.asked_id LEFT JOIN prompts r ON r.id = d.restated_id"
        " LEFT JOIN said_decisions n ON n.id = d.superseded_by AND n.state != 'dismissed'"
        " LEFT JOIN unit_prompts y ON y.prompt_id = n.prompt_id"
        f" WHERE d.state != 'dismissed' AND x.unit_id IN ({_marks(ids)}) ORDER BY d.at, d.id",
        tuple(ids),
    ).fetchall()


def followed(db: Connection, ids: Sequence[int]) -> list[tuple[int, int | None]]:
    """Episodes, and the one right after each in its session."""
    return db.execute(
        "SELECT x.id, (SELECT y.id FROM work_units y WHERE y.session_id = x.session_id"  # noqa: S608 - our names
        " AND y.started_at > x.started_at ORDER BY y.started_at LIMIT 1) FROM work_units x"
        f" WHERE x.id IN ({_marks(ids)})",
        tuple(ids),
    ).fetchall()


_LEFT = (
    "SELECT u.id, coalesce(u.title, u.summary, u.intent), u.last_at, u.next_steps, u.session_id,"
    " min(u.last_at, coalesce(u.narrated_at, u.last_at)), u.thread_id FROM "
)


def left_by(db: Connection, number: int) -> Left | None:
    """One episode, with its next steps."""
    found: Left | None = db.execute(f"{_LEFT} work_units u WHERE u.id = ?", (number,)).fetchone()
    return found


def newest_left(db: Connection, project_id: int, but: str, at: int, of: int) -> list[Left]:
    """The newest episodes since a time of the newest `of` sessions but one, with their next steps."""
    return db.execute(
        f"{_LEFT} (SELECT id FROM sessions"  # noqa: S608
        " WHERE project_id = ? AND id != ? ORDER BY last_at DESC LIMIT ?) s JOIN work_units u ON u.session_id = s.id"
        " WHERE u.last_at >= ? ORDER BY u.last_at DESC, u.id DESC LIMIT ?",
        (project_id, but, of, at, 2 * of),
    ).fetchall()


def left_among(db: Connection, project_id: int, but: str, at: int, ids: Sequence[int], of: int) -> list[Left]:
    """Episodes with next steps before a time, outside a session: of some, and of the newest `of` sessions."""
    return db.execute(
        f"{_LEFT} work_units u WHERE"  # noqa: S608
        f" u.id IN (SELECT id FROM work_units WHERE id IN ({_marks(ids)}) UNION"  # an OR reads them all
        " SELECT w.id FROM (SELECT id FROM sessions WHERE project_id = ? ORDER BY last_at DESC LIMIT ?) s"
        " CROSS JOIN work_units w ON w.session_id = s.id)"
        " AND u.session_id != ? AND +u.last_at < ? AND u.next_steps NOT IN ('', '[]')"
        " ORDER BY u.last_at DESC, u.id DESC",
        (*ids, project_id, of, but, at),
    ).fetchall()


def thread(db: Connection, number: int, but: str) -> tuple[str, str | None, int | None] | None:
    """A thread: its title, what was told of it, and when a session of it but one did something last."""
    found: tuple[str, str | None, int | None] | None = db.execute(
        "SELECT t.title, t.micro, (SELECT max(s.last_at) FROM session_threads x JOIN sessions s ON s.id = x.session_id"
        " WHERE x.thread_id = t.id AND s.id != ?) FROM threads t WHERE t.id = ?",
        (but, number),
    ).fetchone()
    return found
