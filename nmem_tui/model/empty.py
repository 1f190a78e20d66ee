"""Texts of empty screens: what the screen shows, why it is empty, and the exact next command."""

from __future__ import annotations

from collections.abc import Mapping

from nmem.text import printable
from nmem_tui.model import actions
from nmem_tui.model.line import Line, wrap

_WIDEST = 74
"""Cells of the longest line."""
CONNECT = "nmem init"
NO_WARNING = "no warning here: no hot learning matches this episode"
Text = tuple[tuple[str, str, str], ...]
"""Rows: a sentence, or a key or command with what it does; and the tone."""
_CONNECTED = ("connected", "a coding client reports here: its next session is recorded", "key")
"""Stands where `nmem init` is told to whoever has not called it yet."""

_NOW: Text = (
    ("Nothing is recorded yet", "", "title"),
    ("", "", ""),
    ("nmem keeps what your coding sessions do: prompts, tool calls, failures.", "", "text"),
    ("This screen shows the running session live, beside it in another pane.", "", "text"),
    ("", "", ""),
    ("nmem init", "connect it to Claude Code, Codex, Gemini CLI ...", "key"),
    ("nmem import", "or load the sessions that you already had", "key"),
    ("", "", ""),
    ("Then work as usual: the first event brings this screen to life by itself.", "", "quiet"),
    ("", "", ""),
    ("{demo}", "watch a recorded session first, in a temporary database", "key"),
    ("{help}", "every key", "key"),
    ("{quit}", "leave", "key"),
)


_EPISODES: Text = (
    ("No episode yet", "", "title"),
    ("", "", ""),
    ("An episode is one piece of work: from the prompt that opens it to the next", "", "text"),
    ("new intent. This screen lists them by day and thread, each with its story.", "", "text"),
    ("", "", ""),
    ("nmem import", "find the episodes of the sessions that you already had", "key"),
    ("nmem init", "connect a client: its next prompt opens the first one", "key"),
    ("", "", ""),
    ("{show_now}", "the session that runs now", "key"),
    ("{help}", "every key", "key"),
)


_STANCE: Text = (
    ("No stance yet", "", "title"),
    ("", "", ""),
    ("The stance shows how a session works: does it think or act, does it widen", "", "text"),
    ("or narrow its search, does it meet friction? It is drawn call by call.", "", "text"),
    ("", "", ""),
    ("nmem import", "draw the sessions that you already had", "key"),
    ("nmem init", "connect a client: its first call draws this screen", "key"),
    ("", "", ""),
    ("{show_now}", "the session that runs now", "key"),
    ("{help}", "every key", "key"),
)


_LEARNINGS: Text = (
    ("No learning yet", "", "title"),
    ("", "", ""),
    ("A learning is a pattern that recurs: a command that fails again, an error of", "", "text"),
    ("earlier sessions, a question asked twice, work that goes round in circles.", "", "text"),
    ("The hottest come first, each with its fix and its evidence.", "", "text"),
    ("", "", ""),
    ("nmem import", "find them in the sessions that you already had", "key"),
    ("nmem init", "connect a client: learnings are found when a session ends", "key"),
    ("", "", ""),
    ("A pattern needs at least two sessions.", "", "quiet"),
    ("", "", ""),
    ("{show_now}", "the session that runs now", "key"),
    ("{help}", "every key", "key"),
)


_CONTEXT: Text = (
    ("Nothing to tell yet", "", "title"),
    ("", "", ""),
    ("This screen shows the exact text that a project's next session will be told:", "", "text"),
    ("earlier work on the same files, what often fails and what fixes it, what you", "", "text"),
    ("pinned, and which files it will likely edit. Nothing is recorded yet.", "", "text"),
    ("", "", ""),
    ("nmem import", "learn from the sessions that you already had", "key"),
    ("nmem init", "connect a client: its sessions are told at their first prompt", "key"),
    ("", "", ""),
    ("{show_now}", "the session that runs now", "key"),
    ("{help}", "every key", "key"),
)


_TASKS: Text = (
    ("No task yet", "", "title"),
    ("", "", ""),
    ("A task is work for a coding client to do later, without you:", "", "text"),
    ("written here, run in a pane of tmux, kept with its output and result.", "", "text"),
    ("", "", ""),
    ("{new_task}", "write the first one", "key"),
    ("nmem task add", '"..." does the same; --learning 3 makes one from a learning', "key"),
    ("{dispatch}", "on Learnings and Episodes: a task from the selected row", "key"),
    ("", "", ""),
    ("Nothing starts by itself: {run_task} starts one, `nmem task run` all that is due.", "", "quiet"),
    ("", "", ""),
    ("{help}", "every key", "key"),
)


_SEARCH: Text = (
    ("Nothing to search yet", "", "title"),
    ("", "", ""),
    ("One box searches everything recorded: your prompts, the agent's thoughts", "", "text"),
    ("and calls, output of failures, episodes, summaries, learnings.", "", "text"),
    ("", "", ""),
    ("nmem import", "bring in the sessions that you already had", "key"),
    ("nmem init", "connect a client: its work can be found at once", "key"),
    ("", "", ""),
    ("Type words to search, filters to narrow: type:test is:failed since:7d", "", "quiet"),
    ("", "", ""),
    ("{show_now}", "the session that runs now", "key"),
    ("{help}", "every key", "key"),
)


_NO_LABELS: Text = (
    ("No call is labelled yet", "", "title"),
    ("", "", ""),
    ("A stance is drawn from labelled calls: does the session think or act, does", "", "text"),
    ("it widen or narrow its search, does it meet friction?", "", "text"),
    ("", "", ""),
    ("nmem backfill", "label what is recorded already", "key"),
    ("", "", ""),
    ("New calls are labelled as they are stored: the first one draws this screen.", "", "quiet"),
    ("", "", ""),
    ("{sessions}", "another session", "key"),
    ("{over}", "all sessions of the project", "key"),
    ("{help}", "every key", "key"),
)


_HEALTH: Text = (
    ("Nothing to look after yet", "", "title"),
    ("", "", ""),
    ("This screen shows whether the memory is intact and does its job: findings", "", "text"),
    ("with fixes, cost of hooks, redacted secrets, storage, backups, purges.", "", "text"),
    ("", "", ""),
    ("nmem init", "connect a client: its first event begins the record", "key"),
    ("nmem import", "or load the sessions that you already had", "key"),
    ("nmem doctor", "says why nothing arrives from a client that is connected", "key"),
    ("", "", ""),
    ("{show_now}", "the session that runs now", "key"),
    ("{help}", "every key", "key"),
)


_SESSIONS: Text = (
    ("No session yet", "", "title"),
    ("", "", ""),
    ("This screen lists every session with its client, and whether it goes on, waits", "", "text"),
    ("for you, is done or failed. One key resumes one; names and tags are your own.", "", "text"),
    ("", "", ""),
    ("nmem init", "connect a client: its next session is listed", "key"),
    ("nmem import", "bring in the sessions that you already had", "key"),
    ("", "", ""),
    ("{show_now}", "the session that runs now", "key"),
    ("{help}", "every key", "key"),
)


_DEMO: Text = (
    ("The demo begins in a moment", "", "title"),
    ("", "", ""),
    ("A recorded session plays here, in a temporary database of its own.", "", "text"),
)
_TEXTS: Mapping[str, Text] = {
    "now": _NOW, "episodes": _EPISODES, "stance": _STANCE, "learnings": _LEARNINGS, "context": _CONTEXT,
    "search": _SEARCH, "tasks": _TASKS, "health": _HEALTH, "sessions": _SESSIONS,
}  # fmt: skip


def told(
    screen: str, cells: int, rows: int, project: str = "", *,
    connected: bool = False, writes: bool = True, demo: bool = False,
) -> list[Line]:  # fmt: skip
    """A screen without anything to show, in the middle of the room there is.

    `connected`: whether a coding client reports here; `writes`: whether keys that change something may be named;
    `demo`: a recorded session is about to play.
    """
    text = _DEMO if demo else _TEXTS.get(screen, _NOW)
    if not writes:
        text = tuple(row for row in text if not _changes(row[0]))
    return _middle(text, cells, rows, project, connected=connected)


def _changes(key: str) -> bool:
    """Whether a row is about a key that changes something."""
    action = actions.BY_ID.get(key.strip("{}"))
    return key.startswith("{") and action is not None and action.writes


def no_labels(cells: int, rows: int, calls: int) -> list[Line]:
    """The screen Stance for a session of so many calls, none of them labelled."""
    text = _NO_LABELS if calls else tuple(row for row in _NO_LABELS if row[0] != "nmem backfill")
    lines = _middle(text, cells, rows)
    title = next(line for line in lines if len(line) > 1)
    title.append((f" of the {calls} in this session" if calls else ": the session has made none", "title"))
    return lines


def _middle(text: Text, cells: int, rows: int, project: str = "", *, connected: bool = False) -> list[Line]:
    if connected:
        text = tuple(_CONNECTED if row[0] == CONNECT else row for row in text)
    room = cells - 2
    indent = " " * max(1, (cells - _WIDEST) // 2)
    lines: list[Line] = []
    for ours, second, tone in text if room >= _WIDEST else _joined(text):
        first = actions.fill_keys(ours)
        if second:
            lines += [[(indent, "text"), *line] for line in _key(first, second, room)]
        else:
            said = [first] if room >= _WIDEST or not first else wrap(first, room, 9)
            lines += [[(indent, "text"), (row, tone or "text")] for row in said]
    if project:
        lines[0].append((f" in the project {printable(project)}", "title"))
    if rows and len(lines) > rows:
        lines = [line for line in lines if any(text.strip() for text, _ in line)]
    top: list[Line] = [[] for _ in range(max(0, (rows - len(lines)) // 3))] if rows < 90 else []
    return top + lines


def _key(key: str, said: str, room: int) -> list[Line]:
    """A key or a command with what it does, over more lines where there is no room."""
    start = max(15, len(key) + 2)
    first, *rest = wrap(said, max(12, room - start), 3)
    line: Line = [(f" {key} ", "key"), (" " * (start - len(key) - 2), "text"), (first, "text")]
    return [line, *([(" " * start + row, "text")] for row in rest)]


def _joined(text: Text) -> Text:
    """Sentences that go on in the next line as one, to be wrapped anew."""
    out: list[tuple[str, str, str]] = []
    for first, second, tone in text:
        if out and first and tone == "text" == out[-1][2] and not out[-1][1] and out[-1][0]:
            out[-1] = (f"{out[-1][0]} {first}", "", tone)
        else:
            out.append((first, second, tone))
    return tuple(out)
