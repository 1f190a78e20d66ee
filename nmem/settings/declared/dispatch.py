"""[dispatch]: read by nmem.dispatch.config."""

from __future__ import annotations

from nmem.settings.setting import CHOICE, TEXT, WHOLE, WORDS, Setting

_CLIENTS = ("claude", "codex", "gemini")


def _quiet(value: object) -> str:
    from nmem.dispatch import hours
    from nmem.errors import NmemError

    try:
        hours.quiet(str(value))
    except NmemError:
        return "is hours such as 09:00-18:00 or 22:00-07:00, or none"
    return ""


def _called(value: object) -> str:
    fits = isinstance(value, list | tuple) and value and all(value)
    return "" if fits else 'is a list of words, none of them empty: ["claude", "-p", "{prompt}"]'


def _named(value: object) -> str:
    return "is a name without : . and /" if any(sign in str(value) for sign in ":./") else ""


SETTINGS = (
    Setting(
        "dispatch.concurrency", WHOLE, 1, "how many tasks run at once; those that wait for a person do not count",
        low=1, high=64,
    ),
    Setting("dispatch.client", CHOICE, "claude", "the client of a task that names none", choices=_CLIENTS),
    Setting(
        "dispatch.quiet_hours", TEXT, "", "hours in which no task is started, such as 09:00-18:00; empty: none",
        also=_quiet,
    ),
    Setting(
        "dispatch.time_limit", WHOLE, 120, "how long a task may run that names no limit; 0: as long as it likes",
        low=0, high=10_080, unit="minutes",
    ),
    Setting(
        "dispatch.how", CHOICE, "auto", "in panes of tmux, without a terminal, or in tmux where it is installed",
        choices=("auto", "tmux", "headless"),
    ),
    Setting("dispatch.tmux_session", TEXT, "nmem", "the session of tmux that tasks get their windows in", also=_named),
    Setting(
        "dispatch.tmux_socket", TEXT, "", "the name of tmux's socket, as its -L takes it; empty: its own default",
        also=_named,
    ),
    Setting("dispatch.worktrees", TEXT, "", "the folder for worktrees of tasks; empty: beside the database"),
    Setting(
        "dispatch.idle_seconds", WHOLE, 60, "how long an interactive client's screen is still before it seems to wait",
        low=5, high=3600, unit="seconds",
    ),
    Setting(
        "dispatch.agent_tasks", CHOICE, "ask", "a task that an agent queues waits for your approval, runs, or is"
        " refused", choices=("ask", "run", "off"),
    ),
    Setting(
        "dispatch.commands.*", WORDS, None, "the words a client is called with; {prompt} stands for the prompt, which"
        " is read from standard input where it does not occur", choices=_CLIENTS, also=_called,
    ),
    Setting(
        "dispatch.interactive_commands.*", WORDS, None, "the same for tasks whose client stays open; the prompt is"
        " the last word where {prompt} does not occur", choices=_CLIENTS, also=_called,
    ),
)  # fmt: skip
