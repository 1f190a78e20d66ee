"""What a screen says when there is nothing to show: what this is, why it is empty, the exact next command."""

from __future__ import annotations

from nmem.text import printable
from nmem_tui.model.line import Line

_TEXT: tuple[tuple[str, str, str], ...] = (
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
    ("D", "watch a recorded session first, in a temporary database", "key"),
    ("?", "every key", "key"),
    ("q", "leave", "key"),
)


_EPISODES: tuple[tuple[str, str, str], ...] = (
    ("No episode yet", "", "title"),
    ("", "", ""),
    ("An episode is one piece of work: from the prompt that opens it to the next", "", "text"),
    ("new intent. Here they stand by day and thread, each with its whole story.", "", "text"),
    ("", "", ""),
    ("nmem import", "find the episodes of the sessions that you already had", "key"),
    ("nmem init", "connect a client: its next prompt opens the first one", "key"),
    ("", "", ""),
    ("1", "the session that runs now", "key"),
    ("?", "every key", "key"),
)


_LEARNINGS: tuple[tuple[str, str, str], ...] = (
    ("No learning yet", "", "title"),
    ("", "", ""),
    ("A learning is what comes back: a command that fails again, an error met in", "", "text"),
    ("other sessions, something asked twice, work that goes round in circles.", "", "text"),
    ("The hottest stand on top, with what made them pass and where they were met.", "", "text"),
    ("", "", ""),
    ("nmem import", "find them in the sessions that you already had", "key"),
    ("nmem init", "connect a client: they are looked for when a session ends", "key"),
    ("", "", ""),
    ("What happened in one session is none: it takes two or three.", "", "quiet"),
    ("", "", ""),
    ("1", "the session that runs now", "key"),
    ("?", "every key", "key"),
)


_NO_LABELS: tuple[tuple[str, str, str], ...] = (
    ("No call is labelled yet", "", "title"),
    ("", "", ""),
    ("A stance is drawn from labelled calls: does the session think or act, does", "", "text"),
    ("it widen or narrow its search, does it meet friction?", "", "text"),
    ("", "", ""),
    ("nmem backfill", "label what is recorded already", "key"),
    ("", "", ""),
    ("New calls are labelled as they are stored: the first one draws this screen.", "", "quiet"),
    ("", "", ""),
    ("s", "another session", "key"),
    ("v", "all sessions of the project", "key"),
    ("?", "every key", "key"),
)


def nothing(cells: int, rows: int, project: str = "") -> list[Line]:
    """The empty database's screen, in the middle of the room there is."""
    return _middle(_TEXT, cells, rows, project)


def no_episodes(cells: int, rows: int, project: str = "") -> list[Line]:
    """The screen Episodes without any."""
    return _middle(_EPISODES, cells, rows, project)


def no_learnings(cells: int, rows: int) -> list[Line]:
    """The screen Learnings without any."""
    return _middle(_LEARNINGS, cells, rows, "")


def no_labels(cells: int, rows: int, calls: int) -> list[Line]:
    """The screen Stance for a session of so many calls, none of them labelled."""
    lines = _middle(_NO_LABELS, cells, rows, "")
    title = next(line for line in lines if len(line) > 1)
    title.append((f" of the {calls} in this session" if calls else ": the session has made none", "title"))
    return lines


def _middle(text: tuple[tuple[str, str, str], ...], cells: int, rows: int, project: str) -> list[Line]:
    indent = " " * max(1, (cells - 74) // 2)
    lines: list[Line] = []
    for first, second, tone in text:
        if second:
            lines.append([(indent, "text"), (f" {first} ", "key"), (" " * (13 - len(first)), "text"), (second, "text")])
        else:
            lines.append([(indent, "text"), (first, tone or "text")])
    if project:
        lines[0].append((f" in the project {printable(project)}", "title"))
    top: list[Line] = [[] for _ in range(max(0, (rows - len(lines)) // 3))] if rows < 90 else []
    return top + lines
